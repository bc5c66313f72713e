# SPDX-License-Identifier: MIT
"""What the end-to-end tests of sws share: counted checks, a server under test, a raw client."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

# How long to wait for what must come. Never a criterion: only a hang ends here.
PATIENCE = 60.0


class Checks:
    """Counts checks; a failed one is printed and remembered, and the rest goes on."""

    def __init__(self):
        self.done = 0
        self.failed = 0

    def __call__(self, ok, name, detail=""):
        self.done += 1
        if not ok:
            self.failed += 1
            print("FAIL: %s %s" % (name, detail), flush=True)
        return ok

    def equal(self, got, wanted, name):
        return self(got == wanted, name, "got %r, wanted %r" % (short(got), short(wanted)))

    def finish(self):
        print("%d checks, %d failed" % (self.done, self.failed), flush=True)
        sys.exit(1 if self.failed else 0)


def short(value):
    text = value
    if isinstance(value, (bytes, str)) and len(value) > 200:
        text = value[:200]
    return text


class Server:
    """An sws on a free port of its own, serving root."""

    def __init__(self, program, root, *args, nofile=None, bind=None):
        self.errors = tempfile.TemporaryFile()
        command = [program, "--port", "0", *args]
        if bind:
            command += ["--bind", bind]

        def limit():
            if nofile:
                resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))

        environment = dict(os.environ)
        # On a busy machine a handler may well be called stalled, or a queue old: not what is asked.
        environment.setdefault("MELY_STALL_MS", "0")
        environment.setdefault("MELY_AGE_MS", "0")
        self.process = subprocess.Popen(command + [root], stdout=subprocess.PIPE,
                                        stderr=self.errors, preexec_fn=limit,
                                        env=environment)
        line = self.process.stdout.readline().decode()
        match = re.search(r"at http://.*:(\d+)/$", line.strip())
        if not match:
            self.process.kill()
            raise RuntimeError("sws did not start: %r %r" % (line, self.stderr()))
        self.ready_line = line
        self.port = int(match.group(1))

    def connect(self, host="127.0.0.1", rcvbuf=None):
        return Client(host, self.port, rcvbuf)

    def get(self, path, **kw):
        with self.connect() as c:
            return c.get(path, **kw)

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "hangs"

    def stop(self):
        self.signal()
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


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
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        status = int(lines[0].split(" ")[1])
        length = 0 if no_body or status == 304 else int(headers.get("content-length", "0"))
        while len(self.data) < length:
            if not self.fill():
                return None
        body, self.data = self.data[:length], self.data[length:]
        return Response(status, headers, body, head)

    def get(self, path, method="GET", version="1.1", **fields):
        text = "%s %s HTTP/%s\r\n" % (method, path, version)
        if version == "1.1" or "host" in fields:
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
