# SPDX-License-Identifier: MIT
"""sws-load from outside: load_test.py SWS-LOAD SWS. All runs are of a number of requests, so that
what they count does not depend on time."""
import csv
import json
import math
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from sws_lib import PATIENCE, Checks, Program, Server  # noqa: E402
from client import read_all  # noqa: E402

LOAD, SWS = sys.argv[1:3]
check = Checks()
scratch = tempfile.mkdtemp(prefix="mely-load-")


class Run:
    """A finished run: its exit status, its output, its JSON."""

    def __init__(self, *args):
        path = os.path.join(scratch, "result.json")
        if os.path.exists(path):
            os.unlink(path)
        environment = dict(os.environ, MELY_STALL_MS="0", MELY_AGE_MS="0")
        done = subprocess.run([LOAD, "--quiet", "--json", path, *args], capture_output=True,
                              text=True, timeout=10 * PATIENCE, env=environment)
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.json = {}
        if os.path.exists(path):
            with open(path) as f:
                self.json = json.load(f)

    def __str__(self):
        return "status %d\n%s%s" % (self.status, self.out, self.err)


def url(server, path="/k"):
    return "http://127.0.0.1:%d%s" % (server.port, path)


def check_sums(run, name, requests):
    """All numbers of a run without errors agree."""
    j = run.json
    if not check(run.status == 0 and j, name, run):
        return
    check.equal(j["responses"], requests, name + ": responses")
    check.equal(j["requests"], requests + j["retried"], name + ": requests")
    check.equal(j["latency_us"]["count"], requests, name + ": latencies")
    check.equal(sum(j["statuses"].values()), requests, name + ": statuses")
    check.equal(sum(s["responses"] for s in j["seconds"]), requests, name + ": seconds")
    check.equal(sum(s["bytes"] for s in j["seconds"]), j["bytes"], name + ": bytes")
    check.equal(j["errors_sum"], 0, name + ": errors")
    order = [j["latency_us"][p] for p in ("min", "p50", "p75", "p90", "p95", "p99", "p99.9",
                                          "p99.99", "max")]
    check(order == sorted(order) and order[0] > 0, name + ": percentiles", order)


def closed(server):
    run = Run("--requests", "5003", "--clients", "7", url(server))
    check_sums(run, "closed loop", 5003)
    check.equal(run.json["connects"], 7, "one connection per client")
    check.equal(run.json["body_bytes"], 5003 * 1024, "bodies")
    run = Run("--requests", "5003", "--clients", "10", "--cores", "3", url(server))
    check_sums(run, "three cores", 5003)
    run = Run("--requests", "3000", "--clients", "2", "--requests-per-connection", "150",
              url(server))
    check_sums(run, "150 per connection", 3000)
    # Which client takes the last requests is open.
    check(20 <= run.json["connects"] <= 22, "20 connections of 150", run.json["connects"])
    run = Run("--requests", "500", "--clients", "3", "--requests-per-connection", "1",
              url(server))
    check_sums(run, "one per connection", 500)
    check(500 <= run.json["connects"] <= 503, "500 connections", run.json["connects"])
    run = Run("--requests", "10000", "--pipeline", "16", url(server))
    check_sums(run, "pipelined by 16", 10000)
    run = Run("--requests", "1000", "--method", "HEAD", url(server, "/big"))
    check_sums(run, "HEAD", 1000)
    check.equal(run.json["body_bytes"], 0, "HEAD: no bodies")
    run = Run("--requests", "100", "--clients", "4", url(server, "/big"))
    check_sums(run, "long bodies", 100)
    check.equal(run.json["body_bytes"], 100 * 700000, "long bodies: bytes")


def timed(server):
    run = Run("--duration", "0.5", "--warmup", "0.3", "--clients", "4", url(server))
    check(run.status == 0, "by time", run)
    check.equal(run.json["duration_s"], 0.5, "by time: the duration")
    check.equal(sum(s["responses"] for s in run.json["seconds"]), run.json["responses"],
                "by time: seconds")
    check.equal(run.json["latency_us"]["count"], run.json["responses"], "by time: latencies")


def interrupted(server):
    """A signal ends a run, which reports what it has. The progress line says when to send it."""
    path = os.path.join(scratch, "interrupted.json")
    p = subprocess.Popen([LOAD, "--duration", "1000", "--clients", "3", "--json", path,
                          url(server)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True)
    with p:
        line = p.stderr.readline()
        check("responses/s" in line and "0 errors" in line, "a progress line", line)
        p.send_signal(signal.SIGINT)
        check.equal(p.wait(PATIENCE), 0, "interrupted: status")
    with open(path) as f:
        j = json.load(f)
    check(0 < j["duration_s"] < 1000, "interrupted: the duration", j["duration_s"])
    check.equal(j["latency_us"]["count"], j["responses"], "interrupted: latencies")
    check.equal(len(j["seconds"]), math.ceil(j["duration_s"]), "interrupted: a row a second")


def opened(server):
    run = Run("--rate", "4000", "--requests", "2000", "--clients", "9", "--cores", "2",
              url(server))
    check_sums(run, "open loop", 2000)
    # The last request is due after 0.49975 s, however slow or fast the machine is.
    check(run.json["duration_s"] >= 0.49975, "not faster than the rate", run.json["duration_s"])
    run = Run("--rate", "4000", "--requests", "2000", "--clients", "4", "--pipeline", "4",
              "--requests-per-connection", "10", url(server))
    check_sums(run, "open loop, pipelined", 2000)


def coordinated():
    """A server that answers each request after 50 ms and one at a time: at a rate of 100/s, the
    hundredth request has waited for four seconds, whatever was sent before it."""
    release = threading.Semaphore(0)

    def serve(c):
        while c.recv(65536):
            release.acquire(timeout=0.05)
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    with Fake(serve) as fake:
        run = Run("--rate", "100", "--requests", "20", "--clients", "1", fake.url)
    check_sums(run, "slow server", 20)
    check(run.json["late"] >= 18, "slow server: sends are late", run.json.get("late"))
    # Request i is due at 10 i ms and answered at 50 (i + 1) ms or later.
    check(run.json["latency_us"]["max"] >= 800000, "slow server: waiting counts",
          run.json["latency_us"])
    check(run.json["latency_us"]["p50"] >= 400000, "slow server: the median waits too",
          run.json["latency_us"])


class Fake:
    """A server of our own: serve(connection) for each connection, one after the other."""

    def __init__(self, serve):
        self.s = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/x" % self.s.getsockname()[1]
        self.serve = serve
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            with c:
                try:
                    self.serve(c)
                except OSError:
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.s.shutdown(socket.SHUT_RDWR)
        self.s.close()
        self.thread.join(PATIENCE)


def answers(text, count=1):
    """Answer count requests with that text, then close."""
    def serve(c):
        data = b""
        for _ in range(count):
            while b"\r\n\r\n" not in data:
                more = c.recv(65536)
                if not more:
                    return
                data += more
            data = data.split(b"\r\n\r\n", 1)[1]
            c.sendall(text)
    return serve


def servers():
    """What servers do: each body form, and each way to close."""
    one = b"HTTP/1.1 200 OK\r\n"
    good = {
        "chunked": answers(one + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 9),
        "until close": answers(one + b"\r\nabc"),
        "close": answers(one + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc"),
        "HTTP/1.0": answers(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
        "idle close": answers(one + b"Content-Length: 3\r\n\r\nabc", 3),
    }
    for name, serve in good.items():
        with Fake(serve) as fake:
            # A server that closes without notice may do so when a request is on its way.
            allowed = ["--errors-max", "20"] if name in ("chunked", "idle close") else []
            run = Run("--requests", "20", "--clients", "1", *allowed, fake.url)
        check(run.status == 0 and run.json["responses"] + run.json["errors_sum"] == 20, name, run)
        check.equal(run.json["body_bytes"], 3 * run.json["responses"], name + ": bodies")
    # Answers that a close cuts off are asked for again.
    with Fake(answers(one + b"Connection: close\r\nContent-Length: 1\r\n\r\nx")) as fake:
        run = Run("--requests", "20", "--clients", "1", "--pipeline", "4", fake.url)
    check_sums(run, "pipelined, closed", 20)
    check(run.json["retried"] > 0, "pipelined, closed: retried", run)

    bad = {
        "protocol": answers(b"SSH-2.0-x\r\n\r\n"),
        "broken": answers(one + b"Content-Length: 3\r\n\r\nab"),
        "status": answers(b"HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    }
    for name, serve in bad.items():
        with Fake(serve) as fake:
            run = Run("--requests", "5", "--clients", "1", fake.url)
            more = Run("--requests", "5", "--clients", "1", "--errors-max", "5", fake.url)
        check.equal(run.status, 1, name + " is an error")
        check.equal(run.json["errors"][name], 5, name + ": errors")
        check.equal(run.json["errors_sum"], 5, name + ": no other errors")
        check("error: for example:" in run.out, name + " is shown", run)
        # With a response, 5 errors may be allowed.
        check.equal(more.status, 0 if name == "status" else 1, name + ": allowed")
    with Fake(lambda c: c.recv(65536) and c.recv(65536)) as fake:
        run = Run("--requests", "2", "--clients", "1", "--timeout", "0.2", fake.url)
    check(run.status == 1 and run.json["errors"]["timeout"] == 2, "a timeout is an error", run)
    # No server at all.
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    run = Run("--duration", "0.1", "http://127.0.0.1:%d/" % port)
    check(run.status == 1 and run.json["errors"]["connect"] > 0, "nothing listens", run)


def verify(server, root):
    run = Run("--requests", "200", "--verify", root, url(server))
    check_sums(run, "verified", 200)
    check.equal(run.json["verified"], 200, "each body is compared")
    run = Run("--requests", "50", "--clients", "4", "--verify", root, url(server, "/big"))
    check_sums(run, "verified long bodies", 50)
    # Canaries: another byte, a byte less, a byte more.
    other = os.path.join(scratch, "other")
    os.makedirs(other)
    with open(os.path.join(root, "k"), "rb") as f:
        text = f.read()
    first, last = bytes([text[0] ^ 1]), bytes([text[-1] ^ 128])
    for name, content in (("first byte", first + text[1:]), ("last byte", text[:-1] + last),
                          ("shorter", text[:-1]), ("longer", text + b"x"), ("empty", b"")):
        with open(os.path.join(other, "k"), "wb") as f:
            f.write(content)
        run = Run("--requests", "20", "--clients", "2", "--verify", other, url(server))
        check(run.status == 1 and run.json["errors"]["mismatch"] == 20,
              "canary: %s is seen" % name, run)
        check("/k: the body is not the file" in run.out, "canary: %s is shown" % name, run)
    run = Run("--requests", "20", "--verify", other, url(server, "/big"))
    check(run.status == 1 and "No such file" in run.err, "a file that is not there", run)


def mixes(root):
    subprocess.run([LOAD, "--make-specweb", root, "--specweb", "2"], check=True)
    with Server(SWS, root) as server:
        run = Run("--requests", "3000", "--specweb", "2", "--verify", root, url(server, "/"))
        check_sums(run, "specweb", 3000)
        check.equal(run.json["verified"], 3000, "specweb: verified")
        again = Run("--requests", "3000", "--specweb", "2", url(server, "/"))
        check.equal(again.json["body_bytes"], run.json["body_bytes"], "the same seed, the same mix")
        other = Run("--requests", "3000", "--specweb", "2", "--seed", "2", url(server, "/"))
        check(other.json["body_bytes"] != run.json["body_bytes"], "another seed", other)
        paths = os.path.join(scratch, "paths")
        with open(paths, "w") as f:
            f.write("# two files\n/file_set/dir00000/class0_0\n/file_set/dir00000/class0_1\n")
        run = Run("--requests", "1000", "--list", paths, "--verify", root, url(server, "/"))
        check_sums(run, "list", 1000)
        check.equal(run.json["body_bytes"], 500 * (102 + 204), "list: in turn")
        run = Run("--requests", "1000", "--list", paths, "--zipf", "1", url(server, "/"))
        check_sums(run, "zipf", 1000)
        check(run.json["body_bytes"] < 500 * (102 + 204), "zipf: the first more often", run)


def files(server):
    table, plot = os.path.join(scratch, "a.csv"), os.path.join(scratch, "a.svg")
    run = Run("--requests", "2000", "--csv", table, "--svg", plot, url(server, "/k?<&>"))
    check_sums(run, "files", 2000)
    with open(table, newline="") as f:
        rows = list(csv.DictReader(f))
    check.equal(sum(int(r["responses"]) for r in rows), 2000, "CSV: responses")
    tree = xml.etree.ElementTree.parse(plot).getroot()
    check(tree.tag.endswith("svg") and any(e.tag.endswith("polyline") for e in tree.iter()),
          "SVG: a curve")
    check(any("<&>" in (e.text or "") for e in tree.iter()), "SVG: the URL is escaped")
    out = subprocess.run([LOAD, "--quiet", "--requests", "10", "--clients", "1", "--json", "-",
                          url(server)], capture_output=True, text=True)
    check.equal(json.loads(out.stdout)["responses"], 10, "JSON alone on standard output")
    run = Run("--requests", "10", "--csv", "/nonexistent/x", url(server))
    check(run.status == 1 and "/nonexistent/x" in run.err, "a file that cannot be written", run)


def slaves(server, root):
    ready = r"slave at (127\.0\.0\.1:\d+)$"
    with Program([LOAD, "--slave", "0"], ready) as one, \
            Program([LOAD, "--slave", "0"], ready) as two:
        both = one.ready.group(1) + "," + two.ready.group(1)
        run = Run("--master", both, "--requests", "3001", "--clients", "5", "--verify", root,
                  "--field", "X-Y: a b", url(server))
        check_sums(run, "two slaves", 3001)
        check.equal(run.json["verified"], 3001, "two slaves: verified")
        check.equal(run.json["connects"], 5, "two slaves: connections")
        paths = os.path.join(scratch, "slave-paths")
        with open(paths, "w") as f:
            f.write("/k\n/k?1\n")
        run = Run("--master", both, "--requests", "1000", "--rate", "4000", "--list", paths,
                  "--pipeline", "2", url(server))
        check_sums(run, "two slaves, open loop, list", 1000)
        run = Run("--master", both, "--requests", "100", url(server, "/none"))
        check(run.status == 1 and run.json["errors"]["status"] == 100
              and run.json["statuses"] == {"404": 100}, "errors of slaves are summed", run)
        run = Run("--master", both, "--requests", "100", "--verify", "/nonexistent", url(server))
        check(run.status == 1 and "cannot begin" in run.err, "a slave that cannot", run)
        # It is not a slave's fault when a stranger calls.
        with socket.create_connection(one.ready.group(1).split(":")) as s:
            s.sendall(b"GET / HTTP/1.1\r\n\r\n")
            s.settimeout(PATIENCE)
            check(not read_all(s), "a stranger is sent away")
        run = Run("--master", both, "--requests", "100", url(server))
        check_sums(run, "the slaves go on", 100)
    run = Run("--master", both, "--requests", "100", url(server))
    check.equal(run.status, 1, "no slave")


def make_certificate():
    """(certificate, key), or None without the tool."""
    names = os.path.join(scratch, "cert.pem"), os.path.join(scratch, "key.pem")
    if not shutil.which("openssl"):
        print("openssl not found: TLS is not tested")
        return None
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-keyout", names[1], "-out", names[0]], check=True,
                   stderr=subprocess.DEVNULL)
    return names


def tls(certificate):
    """TLS against the one of Python: answers 5 requests on each connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    plain = answers(b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + 40000 * b"x", 5)
    seen = []

    def serve(c):
        with context.wrap_socket(c, server_side=True) as t:
            seen.append((t.version(), t.session_reused))
            plain(t)

    def run(*args):
        del seen[:]
        with Fake(serve) as fake:
            return Run("--requests", "20", "--clients", "1", "--requests-per-connection", "5",
                       *args, fake.url.replace("http:", "https:"))

    result = run()
    check_sums(result, "TLS", 20)
    check.equal(result.json["handshakes"], 4, "TLS: handshakes")
    check.equal(result.json["resumed"], 0, "TLS: none resumed")
    check.equal(result.json["body_bytes"], 20 * 40000, "TLS: bodies")
    for version in ("1.2", "1.3"):
        result = run("--tls-version", version)
        check_sums(result, "TLS " + version, 20)
        check.equal(seen, 4 * [("TLSv" + version, False)], "TLS %s: version" % version)
        result = run("--tls-version", version, "--tls-resume")
        check_sums(result, "TLS %s resumed" % version, 20)
        check.equal(seen, [("TLSv" + version, False)] + 3 * [("TLSv" + version, True)],
                    "TLS %s: resumed" % version)
        check.equal(result.json["resumed"], 3, "TLS %s: counted" % version)
    with Fake(lambda c: c.recv(1000) and c.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")) as fake:
        result = Run("--requests", "2", "--clients", "1", fake.url.replace("http:", "https:"))
    check(result.status == 1 and result.json["errors"]["connect"] == 2, "no TLS there", result)
    check("TLS: error:" in result.out, "no TLS there: why", result)


NGINX = """
daemon off; worker_processes 1; pid %(dir)s/pid; error_log %(dir)s/error; %(user)s
events { worker_connections 256; }
http {
  access_log off; keepalive_requests 100;
  client_body_temp_path %(dir)s/t1; proxy_temp_path %(dir)s/t2; fastcgi_temp_path %(dir)s/t3;
  uwsgi_temp_path %(dir)s/t4; scgi_temp_path %(dir)s/t5;
  ssl_certificate %(certificate)s; ssl_certificate_key %(key)s;
  server { listen 127.0.0.1:%(plain)d http2; listen 127.0.0.1:%(tls)d ssl http2; root %(root)s; }
}
"""


def ask_http2(name, address, root):
    """What HTTP/2 must do with any server; the first run."""
    first = Run("--http2", "--requests", "3000", "--clients", "4", "--streams", "10", "--verify",
                root, "--field", "X-Y: Z", address + "/k")
    check_sums(first, name, 3000)
    check.equal(first.json["verified"], 3000, name + ": verified")
    run = Run("--http2", "--requests", "40", "--clients", "2", "--streams", "3", "--verify", root,
              address + "/big")
    check_sums(run, name + ": long bodies", 40)
    run = Run("--http2", "--requests", "500", "--rate", "5000", "--streams", "4",
              "--requests-per-connection", "7", address + "/k")
    check_sums(run, name + ": open loop", 500)
    run = Run("--http2", "--requests", "50", address + "/none")
    check(run.status == 1 and run.json["statuses"] == {"404": 50}, name + ": 404", run)
    run = Run("--http2", "--requests", "50", "--method", "HEAD", address + "/k")
    check_sums(run, name + ": HEAD", 50)
    return first


def http2_nginx(root, certificate):
    """HTTP/2 against nginx, which refuses streams after 100 requests on a connection."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if not program:
        print("nginx not found: HTTP/2 is not tested against it")
        return
    with socket.create_server(("127.0.0.1", 0)) as a, socket.create_server(("127.0.0.1", 0)) as b:
        ports = a.getsockname()[1], b.getsockname()[1]
    where = os.path.join(scratch, "nginx")
    os.makedirs(where)
    os.chmod(scratch, 0o755)
    with open(where + "/conf", "w") as f:
        f.write(NGINX % {"dir": where, "root": root, "certificate": certificate[0],
                         "key": certificate[1], "plain": ports[0], "tls": ports[1],
                         "user": "user root;" if os.geteuid() == 0 else ""})
    nginx = subprocess.Popen([program, "-e", where + "/error", "-c", where + "/conf"])
    try:
        for _ in range(int(PATIENCE * 20)):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", ports[1])) == 0:
                    break
            time.sleep(0.05)
        for name, address in (("nginx h2c", "http://127.0.0.1:%d" % ports[0]),
                              ("nginx h2", "https://127.0.0.1:%d" % ports[1])):
            run = ask_http2(name, address, root)
            # 100 a connection, and those that were open at the end.
            check(run.json["connects"] >= 30, name + ": connections", run)
    finally:
        nginx.terminate()
        nginx.wait(PATIENCE)


def http2(root, certificate):
    with Secure(root, certificate) as server:
        ask_http2("sws h2", server.url, root)
    http2_nginx(root, certificate)
    # A server of HTTP/1.1.
    with Fake(answers(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")) as fake:
        run = Run("--http2", "--requests", "2", "--clients", "1", fake.url)
    check(run.status == 1 and run.json["errors_sum"] >= 2, "not HTTP/2", run)


def lacks(*args):
    """True, and a line, if this build lacks what the arguments want."""
    run = Run("--requests", "1", "--clients", "1", *args)
    if "this build has no" in run.err:
        print(run.err.strip())
        check(run.status == 1 and run.err.count("\n") == 1, "one line says what is missing", run)
    return "this build has no" in run.err


class Secure(Program):
    """An sws with TLS."""

    def __init__(self, root, certificate):
        super().__init__([SWS, "--listen", "127.0.0.1:0 tls", "--tls-certificate",
                          ",".join(certificate), root], r"at (https://.*:\d+)/$")
        self.url = self.ready.group(1)


def tls_sws(root, certificate):
    with Secure(root, certificate) as server:
        address = server.url + "/k"
        run = Run("--requests", "2000", "--verify", root, address)
        check_sums(run, "sws with TLS", 2000)
        run = Run("--requests", "300", "--clients", "5", "--requests-per-connection", "1",
                  "--tls-resume", address)
        check_sums(run, "sws, a handshake per request", 300)
        check.equal(run.json["handshakes"], run.json["connects"], "sws: handshakes")
        check(run.json["resumed"] > 0, "sws: sessions are resumed", run)


def secure(root):
    certificate = make_certificate()
    with socket.create_server(("127.0.0.1", 0)) as s:
        nothing = "127.0.0.1:%d/" % s.getsockname()[1]
    has_http2 = not lacks("--timeout", "0.1", "--http2", "http://" + nothing)
    if has_http2:
        with Server(SWS, root) as server:
            ask_http2("sws h2c", url(server, ""), root)
    if certificate and not lacks("--timeout", "0.1", "https://" + nothing):
        tls(certificate)
        tls_sws(root, certificate)
        if has_http2:
            http2(root, certificate)


def usage(server):
    for args in ([], ["ftp://x/"], ["--bogus", "http://x/"], ["--clients", "0", "http://x/"],
                 ["--clients", "2x", "http://x/"], ["http://x/", "http://y/"],
                 ["--requests", "5", "--duration", "1", "http://x/"],
                 ["--zipf", "1", "http://x/"], ["--streams", "2", "http://x/"],
                 ["--tls-resume", "http://x/"], ["--method", "PUT", "http://x/"],
                 ["--field", "no colon", "http://x/"], ["--cores", "3", "--clients", "2",
                                                        "http://x/"]):
        run = Run(*args)
        check(run.status == 2 and run.err.startswith("sws-load: ") and run.err.count("\n") == 1,
              "refused: %s" % args, run)
    out = subprocess.run([LOAD, "--help"], capture_output=True, text=True)
    check(out.returncode == 0 and out.stdout.startswith("usage:"), "--help")
    out = subprocess.run([LOAD, "--version"], capture_output=True, text=True)
    check(out.returncode == 0 and out.stdout.startswith("sws-load "), "--version")


def main():
    root = os.path.join(scratch, "root")
    os.makedirs(root)
    with open(os.path.join(root, "k"), "wb") as f:
        f.write(os.urandom(1024))
    with open(os.path.join(root, "big"), "wb") as f:
        f.write(os.urandom(700000))
    with Server(SWS, root) as server:
        closed(server)
        timed(server)
        interrupted(server)
        opened(server)
        verify(server, root)
        files(server)
        slaves(server, root)
        usage(server)
    coordinated()
    servers()
    secure(root)
    mixes(os.path.join(scratch, "specweb"))


try:
    main()
finally:
    shutil.rmtree(scratch, ignore_errors=True)
check.finish()
