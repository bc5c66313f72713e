# SPDX-License-Identifier: MIT
"""What the end-to-end tests of sws share: a server under test, a raw client (and lib/client.py)."""
import os
import resource
import shutil
import socket
import ssl
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from client import PATIENCE, Checks, Program, parse_head, short  # noqa: E402,F401


# SWS_TLS=CERT,KEY: the servers and clients of a test speak TLS.
TLS = os.environ.get("SWS_TLS")


class SecureSocket(ssl.SSLSocket):
    """A socket whose shutdown is that of TCP beneath."""

    def shutdown(self, how):
        socket.socket.shutdown(self, how)


def secure(s):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = SecureSocket
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(s)


class Server(Program):
    """An sws that serves root on a free port."""

    def __init__(self, program, root, *args, nofile=None, bind=None):
        # More options for all servers of a test: SWS_ARGS="--coloring file" python3 ...
        command = [program, *os.environ.get("SWS_ARGS", "").split(), *args]
        if TLS:
            command += ["--listen", "127.0.0.1:0 tls", "--tls-certificate", TLS]
        else:
            command += ["--port", "0"]
        if bind:
            command += ["--bind", bind]

        def limit():
            if nofile:
                resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))

        super().__init__(command + [root], r"at https?://.*:(\d+)/$", preexec_fn=limit)
        self.port = int(self.ready.group(1))

    def connect(self, host="127.0.0.1", rcvbuf=None):
        return Client(host, self.port, rcvbuf)

    def get(self, path, **kw):
        with self.connect() as c:
            return c.get(path, **kw)


class Response:
    def __init__(self, status, headers, body, head):
        self.status = status
        self.headers = headers
        self.body = body
        self.head = head

    def __getitem__(self, name):
        return self.headers.get(name.lower())


class Client:
    """A connection; requests are bytes, responses are read strictly by their length."""

    def __init__(self, host, port, rcvbuf=None):
        self.s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if rcvbuf:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.s.settimeout(PATIENCE)
        self.s.connect((host, port))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS:
            self.s = secure(self.s)
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.s.close()

    def close(self):
        self.s.close()

    def send(self, data):
        self.s.sendall(data)

    def fill(self):
        """More input; False at the end of the stream (a reset counts as one)."""
        try:
            more = self.s.recv(262144)
        except ConnectionResetError:
            return False
        self.data += more
        return bool(more)

    def response(self, no_body=False):
        """The next response, or None when the stream ends before it does."""
        while b"\r\n\r\n" not in self.data:
            if not self.fill():
                return None
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        status, headers = parse_head(head)
        length = 0 if no_body or status == 304 else int(headers.get("content-length", "0"))
        while len(self.data) < length:
            if not self.fill():
                return None
        body, self.data = self.data[:length], self.data[length:]
        return Response(status, headers, body, head)

    def get(self, path, method="GET", version="1.1", **fields):
        text = "%s %s HTTP/%s\r\n" % (method, path, version)
        if version == "1.1" and "host" not in fields:
            text += "Host: test\r\n"
        for name, value in fields.items():
            text += "%s: %s\r\n" % (name.replace("_", "-"), value)
        self.send(text.encode("latin-1") + b"\r\n")
        return self.response(no_body=method == "HEAD")

    def at_end(self):
        """Has the server closed, with nothing more to read?"""
        while self.fill():
            pass
        return self.data == b""


def make_root():
    """A directory to serve; the caller removes it."""
    root = tempfile.mkdtemp(prefix="mely-sws-")

    def put(name, content):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        return content

    put("www/index.html", b"<h1>root</h1>\n")
    put("www/page.html", b"x" * 1024)
    put("www/empty.txt", b"")
    put("www/a b.txt", b"space\n")
    put("www/50%.txt", b"percent\n")
    put("www/sub/index.html", b"sub\n")
    put("www/sub/deep/file.css", b"body {}\n")
    put("www/bare/other.html", b"no index\n")
    put("www/.secret", b"hidden\n")
    put("www/.git/config", b"hidden\n")
    put("www/.well-known/acme", b"known\n")
    put("www/medium.bin", bytes(range(256)) * 200)
    put("www/large.bin", os.urandom(3 << 20))
    put("www/unknown.zzyzx", b"?\n")
    put("outside.txt", b"outside\n")
    for i in range(50):
        put("www/n/%d.txt" % i, b"%d\n" % i * (i + 1))
    www = os.path.join(root, "www")
    os.symlink("../outside.txt", os.path.join(www, "link-out"))
    os.symlink("/etc/passwd", os.path.join(www, "link-abs"))
    os.symlink("page.html", os.path.join(www, "link-in"))
    os.symlink("..", os.path.join(www, "link-up"))
    os.symlink("loop-b", os.path.join(www, "loop-a"))
    os.symlink("loop-a", os.path.join(www, "loop-b"))
    os.symlink(".", os.path.join(www, "self"))
    os.mkfifo(os.path.join(www, "fifo"))
    # Old enough to have a date, and soon to have a tag.
    for folder, _, names in os.walk(www):
        for name in names:
            os.utime(os.path.join(folder, name), (1700000000, 1700000000), follow_symlinks=False)
    time.sleep(0.1)
    return root


def remove_root(root):
    shutil.rmtree(root, ignore_errors=True)


def read(root, name):
    with open(os.path.join(root, "www", name), "rb") as f:
        return f.read()


def raise_descriptors():
    """As many descriptors as we may have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
