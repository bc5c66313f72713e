# SPDX-License-Identifier: MIT
"""Web servers to measure: sws in several configurations, a bare epoll loop, and peers that are
configured for the same work. Used by microbench/http and webserver/figures/run."""
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time

NGINX = """
daemon off; pid {dir}/nginx.pid; error_log {dir}/nginx.log;
{user}
worker_processes {cores};
events {{ worker_connections {connections}; }}
worker_rlimit_nofile {descriptors};
http {{
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  types {{ text/html html; }}
  keepalive_requests 100000000;
  open_file_cache max=1000 inactive=20s;
  client_body_temp_path {dir}/nginx-body; proxy_temp_path {dir}/nginx-proxy;
  fastcgi_temp_path {dir}/nginx-fcgi; uwsgi_temp_path {dir}/nginx-uwsgi;
  scgi_temp_path {dir}/nginx-scgi;
  server {{ listen 127.0.0.1:{port} {ssl} reuseport backlog=4096; root {root}; {tls} }}
}}
"""
NGINX_TLS = """ssl_certificate {certificate}; ssl_certificate_key {key};
  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:SSL:10m;"""

LIGHTTPD = """
server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.max-worker = {cores}
server.max-keep-alive-requests = 100000000
server.max-connections = {connections}
server.max-fds = {descriptors}
server.errorlog = "{dir}/lighttpd.log"
mimetype.assign = ( ".html" => "text/html" )
{tls}
"""
LIGHTTPD_TLS = """server.modules += ("mod_openssl")
ssl.engine = "enable"
ssl.pemfile = "{certificate}"
ssl.privkey = "{key}"
"""

H2O = """
num-threads: {cores}
max-connections: {connections}
{user}
pid-file: {dir}/h2o.pid
error-log: {dir}/h2o.log
listen: {{ host: 127.0.0.1, port: {port} {tls} }}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
"""
H2O_TLS = ", ssl: {{ certificate-file: {certificate}, key-file: {key} }}"

APACHE = """
ServerRoot {dir}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {dir}/{name}.pid
ErrorLog {dir}/{name}.log
LoadModule mpm_{mpm}_module {modules}/mod_mpm_{mpm}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
{user}
TypesConfig /etc/mime.types
StartServers {cores}
ServerLimit {cores}
ThreadLimit {threads}
ThreadsPerChild {threads}
MaxRequestWorkers {workers}
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot {root}
<Directory {root}>
  Options FollowSymLinks
  AllowOverride None
  Require all granted
</Directory>
"""
# A worker of Apache serves one connection: there must be one for each client.
APACHE_THREADS = 256

# What runs sws: the program, more options, the environment.
SWS = {
    "mely": ("sws", [], {}),
    "mely-1": ("sws", ["--cores", "1"], {}),
    "mely-paper": ("sws", ["--coloring", "paper"], {}),
    "mely-no-steal": ("sws", [], {"MELY_STEAL": "0"}),
    "libasync": ("sws-libasync", ["--coloring", "paper"], {"MELY_STEAL": "0"}),
    "libasync-ws": ("sws-libasync", ["--coloring", "paper"],
                    {"MELY_STEAL": "1", "MELY_LIBASYNC_SCAN": "full"}),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def make_certificate(folder):
    """A key and a self-signed certificate; (certificate, key)."""
    certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    os.chmod(key, 0o644)
    return certificate, key


class Server:
    """One contender; its processes are all those in the process session (setsid) of the first."""

    def __init__(self, name, command, port, environment=None, tls=False):
        self.name, self.command, self.port, self.process = name, command, port, None
        self.environment, self.tls = environment or {}, tls

    def url(self, path="/file.html"):
        return "%s://127.0.0.1:%d%s" % ("https" if self.tls else "http", self.port, path)

    def ask(self):
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            c = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=context)
        else:
            c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        c.request("GET", "/file.html")
        r = c.getresponse()
        return r.status, len(r.read())

    def start(self, log):
        """Start it; the size of its answer."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, start_new_session=True,
                                        env=dict(os.environ, **self.environment))
        for _ in range(200):
            try:
                status, size = self.ask()
                if status == 200:
                    return size
                raise RuntimeError("%s answers %d" % (self.name, status))
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(self.name + " does not start")

    def pids(self):
        """The processes of its session, each with its ticks of CPU time."""
        out = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open("/proc/%s/stat" % entry) as f:
                        fields = f.read().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if int(fields[3]) == self.process.pid:
                    out.append((int(entry), int(fields[11]) + int(fields[12])))
        return out

    def cpu_us(self):
        return sum(t for _, t in self.pids()) * 1e6 / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        for pid, _ in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()


def sws_contenders(options, root, tls):
    out = {}
    for name, (program, more, environment) in SWS.items():
        where = ["--listen", "127.0.0.1:{port} tls", "--tls-certificate", ",".join(tls)] if tls \
            else ["--port", "{port}"]
        cores = [] if "--cores" in more else ["--cores", str(options.cores)]
        out[name] = (os.path.join(options.builddir, "webserver", program), None,
                     [*where, *cores, *more, root], {}, environment)
    return out


def peer_contenders(options, folder, tls):
    files = {"certificate": tls[0], "key": tls[1]} if tls else {}

    def tls_text(text):
        return {"tls": text.format(**files) if tls else ""}

    bare = os.path.join(options.builddir, "microbench", "http_bare")
    threads = ["--port", "{port}", "--threads", str(options.cores)]
    apache = ["-DFOREGROUND", "-f", "{conf}"]
    root_user = os.geteuid() == 0
    out = {
        "nginx": (find("nginx"), NGINX, ["-c", "{conf}", "-e", folder + "/nginx.log"],
                  {"user": "user root;" if root_user else "", "ssl": "ssl" if tls else "",
                   **tls_text(NGINX_TLS)}, {}),
        "lighttpd": (find("lighttpd"), LIGHTTPD, ["-D", "-f", "{conf}"],
                     tls_text(LIGHTTPD_TLS), {}),
        "h2o": (find("h2o"), H2O, ["-c", "{conf}"],
                {"user": "user: root" if root_user else "", **tls_text(H2O_TLS)}, {}),
    }
    if not tls:
        user = {"user": "User www-data" if root_user else ""}
        out.update({
            "bare": (bare, None, threads, {}, {}),
            "bare-edge": (bare, None, threads + ["--edge"], {}, {}),
            "apache": (find("apache2"), APACHE, apache, {"mpm": "event", **user}, {}),
            "apache-worker": (find("apache2"), APACHE, apache, {"mpm": "worker", **user}, {}),
        })
    return out


def contenders(options, folder, root, wanted, tls=None):
    """Write the configuration of every installed server that is wanted; returns these and the names
    of the missing ones. options has builddir and cores; tls is that of make_certificate."""
    here, missing = [], []
    values = {"dir": folder, "root": root, "cores": options.cores, "connections": 8192,
              "descriptors": 20000, "modules": "/usr/lib/apache2/modules",
              "threads": APACHE_THREADS, "workers": APACHE_THREADS * options.cores}
    table = {**sws_contenders(options, root, tls), **peer_contenders(options, folder, tls)}
    for name in wanted:
        if name not in table:
            missing.append(name)
            continue
        program, text, args, more, environment = table[name]
        if program is None or not os.path.exists(program):
            missing.append(name)
            continue
        port = free_port()
        conf = os.path.join(folder, name + ("-tls.conf" if tls else ".conf"))
        if text:
            with open(conf, "w") as f:
                f.write(text.format(port=port, name=name, **values, **more))
        command = [program] + [a.format(port=port, conf=conf) for a in args]
        here.append(Server(name, command, port, environment, tls is not None))
    return here, missing
