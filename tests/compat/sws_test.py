# SPDX-License-Identifier: MIT
"""sws_test.py PROGRAM: a web server of compat/examples from end to end. What is answered is
compared byte by byte with the files; nothing is said about how fast it comes."""
import os
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 60
random.seed(5)
FILES = {
    "index.html": b"<h1>front</h1>\n",
    "small.txt": b"0123456789" * 10,
    "empty.txt": b"",
    "big.bin": random.randbytes(3000000),
    "with space.txt": b"blank",
    "below/index.html": b"below",
    "below/deep/er.css": b"p {}",
}
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAIL:", what)


class Server:
    """A running server; connections counts those that were made."""

    def __init__(self, folder, *options):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([sys.argv[1], *options, "0", folder],
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else ""
        found = re.fullmatch(r"sws on 127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            sys.exit(f"the server said {line!r}")
        self.port = int(found[1])

    def connect(self, receive=None):
        s = socket.socket()
        s.settimeout(PATIENCE)
        if receive:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        s.connect(("127.0.0.1", self.port))
        return s

    def end(self):
        self.process.kill()
        self.process.wait()
        self.look()

    def look(self):
        """Nothing has been reported by a sanitizer, the color checker included."""
        self.errors.seek(0)
        text = self.errors.read()
        check("Sanitizer" not in text, f"a report:\n{text[:3000]}")


class Client:
    """A connection that reads responses one by one."""

    def __init__(self, server, **options):
        self.socket, self.rest = server.connect(**options), b""

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        return self

    def more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.rest += data
        return len(data) > 0

    def response(self, head=False):
        """status, header fields, body; None at the end of the connection."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        top, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = top.decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        length = 0 if head else int(fields["Content-Length"])
        while len(self.rest) < length:
            if not self.more():
                return None
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(lines[0].split()[1]), fields, body

    def ended(self):
        while self.more():
            pass
        return self.rest == b""

    def close(self):
        self.socket.close()


def get(path, version="1.1", more="", method="GET"):
    return f"{method} {path} HTTP/{version}\r\nHost: here\r\n{more}\r\n"


def ask(server, text, head=False):
    """The one answer to text, and whether the connection ended then."""
    c = Client(server).send(text)
    c.socket.shutdown(socket.SHUT_WR)
    answer = c.response(head)
    check(c.ended(), f"more than an answer to {text[:60]!r}")
    c.close()
    return answer


def test_files(server):
    for path, status, body in [
            ("/small.txt", 200, FILES["small.txt"]), ("/", 200, FILES["index.html"]),
            ("/index.html", 200, FILES["index.html"]), ("/empty.txt", 200, b""),
            ("/big.bin", 200, FILES["big.bin"]), ("/below/", 200, b"below"),
            ("/below/deep/er.css?x=1", 200, b"p {}"), ("/with%20space.txt", 200, b"blank"),
            ("/%73mall.txt", 200, FILES["small.txt"]), ("/none", 404, None),
            ("/below", 404, None), ("/.hidden", 404, None), ("/link", 404, None),
            ("/below/../small.txt", 403, None), ("/../etc/passwd", 403, None),
            ("/%2e%2e/etc/passwd", 403, None), ("/below/..", 403, None),
            ("/..%2f..%2fetc/passwd", 403, None), ("/%zz", 400, None), ("/%0", 400, None),
            ("/a%00b", 400, None), ("small.txt", 400, None), ("*", 400, None),
            ("http://here/small.txt", 200, FILES["small.txt"]),
            ("http://here?a=/nothing", 200, FILES["index.html"])]:
        answer = ask(server, get(path))
        check(answer is not None and answer[0] == status, f"GET {path}: {answer and answer[0]}")
        check(body is None or (answer and answer[2] == body), f"GET {path}: another body")
        answer = ask(server, get(path, method="HEAD"), head=True)
        check(answer is not None and answer[0] == status, f"HEAD {path}: {answer and answer[0]}")
        if body is not None and answer:
            check(answer[1]["Content-Length"] == str(len(body)), f"HEAD {path}: length")


def test_errors(server):
    good = "GET /small.txt HTTP/1.1\r\nHost: a\r\n"
    for text, status in [
            (get("/", method="POST"), 405), (get("/", method="DELETE"), 405),
            (get("/", "2.0"), 505), (get("/", "3.1"), 505), (get("/", "1.10"), 400),
            (get("/", "1.x"), 400), (get("/ x"), 400), ("GET /\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("\0\1\2\r\n\r\n", 400),
            ("G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("nonsense\n\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400), (good + "Host: b\r\n\r\n", 400),
            (good + "no colon\r\n\r\n", 400), (good + "blank : x\r\n\r\n", 400),
            (good + " folded: x\r\n\r\n", 400), (good + "X: a\0b\r\n\r\n", 400),
            (good + "Content-Length: 5\r\n\r\nabcde", 400),
            (good + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            (good + "Content-Length: 0\r\n\r\n", 200), ("\r\n\n" + good + "\n", 200),
            (get("/" + "x" * 7000), 404), (get("/" + "x" * 9000), 431),
            (get("/", more="X: " + "y" * 20000 + "\r\n"), 431), ("x" * 8192, 431)]:
        answer = ask(server, text)
        check(answer is not None and answer[0] == status,
              f"{text[:60]!r}: {answer and answer[0]}, not {status}")
        if answer and status == 405:
            check(answer[1].get("Allow") == "GET, HEAD", "405 without Allow")


def test_keep_alive(server):
    for version, more, kept in [("1.1", "", True), ("1.1", "Connection: close\r\n", False),
                                ("1.1", "Connection: x, Close\r\n", False), ("1.0", "", False),
                                ("1.1", "Connection: close\r\nConnection: keep-alive\r\n", False),
                                ("1.0", "Connection: Keep-Alive\r\n", True)]:
        c = Client(server)
        for path, body in (("/small.txt", FILES["small.txt"]), ("/none", None)):
            answer = c.send(get(path, version, more)).response()
            check(answer is not None, f"{version} {more}: no answer for {path}")
            if answer:
                check(body is None or answer[2] == body, "another body")
                said = answer[1]["Connection"]
                check(said == ("keep-alive" if kept else "close"), f"{version} {more}: {said}")
            if not kept:
                break
        if not kept:
            check(c.ended(), f"{version} {more}: goes on")
        c.close()


def test_pipeline(server):
    paths = ["/small.txt", "/none", "/", "/below/", "/big.bin", "/empty.txt"] * 8
    c = Client(server, receive=4096)
    text = "".join(get(p) for p in paths)
    sender = threading.Thread(target=c.send, args=(text + get("/", more="Connection: close\r\n"),))
    sender.start()
    for path in paths:
        answer = c.response()
        name = {"/": "index.html", "/below/": "below/index.html"}.get(path, path[1:])
        check(answer is not None and answer[0] == (404 if path == "/none" else 200) and
              (path == "/none" or answer[2] == FILES[name]), f"pipelined {path}")
        if answer is None:
            break
    sender.join()
    check(c.response() is not None and c.ended(), "the end of a pipeline")
    c.close()
    # What follows an error that ends the connection is not answered.
    c = Client(server).send("junk\r\n\r\n" + get("/small.txt") * 2000)
    answer = c.response()
    check(answer is not None and answer[0] == 400, "junk in front of requests")
    c.close()


def test_slow(server):
    c = Client(server)
    for byte in get("/small.txt"):
        c.send(byte)
        time.sleep(0.002)
    check(c.response()[2] == FILES["small.txt"], "a request byte by byte")
    c.close()
    c = Client(server, receive=2048).send(get("/big.bin"))
    time.sleep(0.2)
    check(c.response()[2] == FILES["big.bin"], "a reader that begins late")
    c.close()
    for text in ("GET /big.bin HT", get("/big.bin"), get("/big.bin") * 50):
        Client(server).send(text).close()  # gone in the middle


def test_garbage(server):
    for _ in range(40):
        s = server.connect()
        try:
            s.sendall(random.randbytes(random.randrange(1, 12000)))
            if random.random() < 0.5:
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
        except (ConnectionResetError, BrokenPipeError):
            pass
        s.close()


def test_many(server):
    """More connections at a time than the server takes: the rest wait their turn."""
    def one(number):
        c = Client(server)
        for _ in range(5):
            answer = c.send(get("/small.txt")).response()
            check(answer is not None and answer[2] == FILES["small.txt"], f"client {number}")
        c.close()

    threads = [threading.Thread(target=one, args=(i,)) for i in range(60)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_timeout(folder):
    """A client is left when it says nothing, or too little, or does not read."""
    server = Server(folder, "-t", "1")
    silent, slow, deaf = (Client(server, receive=2048) for _ in range(3))
    deaf.send(get("/big.bin") * 30)
    until = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < until:
            slow.send("G")
            time.sleep(0.1)
    except (ConnectionResetError, BrokenPipeError):
        pass
    check(time.monotonic() < until, "a slow client is kept for ever")
    check(silent.ended(), "a silent client is answered")
    total = 0
    while deaf.more():
        total, deaf.rest = total + len(deaf.rest), b""
    check(total < 30 * 3000000, "a client that does not read gets all")
    check(ask(server, get("/small.txt"))[2] == FILES["small.txt"], "after the time-outs")
    server.end()


def test_count(folder):
    """-n: the count of connections is exact, whatever their colors."""
    server = Server(folder, "-n", "50", "-c", "7")
    for _ in range(2):
        group = [Client(server) for _ in range(7)]
        for c in group:
            c.send(get("/small.txt"))
        for c in group:
            check(c.response()[0] == 200, "one of 7")
            c.close()
    for _ in range(36):
        check(ask(server, get("/"))[0] == 200, "one of 50")
    try:
        said, _ = server.process.communicate(timeout=PATIENCE)
        check(server.process.returncode == 0 and said == "50 connections\n",
              f"status {server.process.returncode}, {said!r}")
        server.look()
    except subprocess.TimeoutExpired:
        check(False, "no end after 50 connections")
        server.end()


def test_options(folder):
    for args in ([], ["0"], ["-c", "0", "0", folder], ["-x", "0", folder], ["0", folder, "x"]):
        got = subprocess.run([sys.argv[1], *args], capture_output=True, timeout=PATIENCE)
        check(got.returncode == 2 and b"usage" in got.stderr, f"{args}: {got.returncode}")
    for port in ("x", "", "1x", "-1", "65536", "99999999999999999999"):
        got = subprocess.run([sys.argv[1], "--", port, folder], capture_output=True,
                             timeout=PATIENCE)
        check(got.returncode == 1 and got.stderr.count(b"\n") == 1 and b"PORT" in got.stderr,
              f"port {port}: {got}")
    got = subprocess.run([sys.argv[1], "0", folder + "/none"], capture_output=True,
                         timeout=PATIENCE)
    check(got.returncode == 1 and got.stderr, "a folder that is not there")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, body in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(body)
        with open(os.path.join(folder, ".hidden"), "wb") as f:
            f.write(b"x")
        os.symlink("/etc/passwd", os.path.join(folder, "link"))
        server = Server(folder, "-c", "20")
        for test in (test_files, test_errors, test_keep_alive, test_pipeline, test_slow,
                     test_garbage, test_many, test_files):
            test(server)
        check(server.process.poll() is None, "the server has ended")
        server.end()
        for test in (test_timeout, test_count, test_options):
            test(folder)
    sys.exit(1 if failures else 0)


main()
