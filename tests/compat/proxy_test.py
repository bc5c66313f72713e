# SPDX-License-Identifier: MIT
"""The web proxy of compat/examples, from outside: proxy_test.py PROGRAM [OPTION]...

Each case talks through a proxy to proxy_origin.py, or sends it what it should refuse. Only the
cases about waiting use time, and only as "not before".
"""
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import client  # noqa: E402
from client import PATIENCE, parse_head, read_all  # noqa: E402

import proxy_origin  # noqa: E402
from proxy_origin import pattern  # noqa: E402

ESTABLISHED = 1  # a state of TCP
check = client.Checks()


class Proxy(client.Program):
    def __init__(self, program, *options):
        super().__init__([*program, *options, "0"], r"^webproxy on 127\.0\.0\.1:(\d+)$")
        self.port = int(self.ready.group(1))

    def end(self):
        """By SIGTERM, with status 0 and no output."""
        with self:
            check.equal(self.stop(), 0, "the status after SIGTERM")
            check.equal(self.stderr(), "", "standard error")

    def connect(self, buffer=0):
        s = socket.socket()
        if buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        s.settimeout(PATIENCE)
        s.connect(("127.0.0.1", self.port))
        return s

    def raw(self, data, end=False):
        """Send, and return all that comes; None: a reset."""
        with self.connect() as s:
            try:
                s.sendall(data)
                if end:
                    s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it may have answered already
            return read_all(s)

    def get(self, url, method="GET", extra="", body=b"", version="1.1"):
        return Answer(self.raw(f"{method} {url} HTTP/{version}\r\nHost: x\r\n{extra}\r\n"
                               .encode() + body))


def tcp_state(s):
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]


class Answer:
    def __init__(self, data):
        self.cut = data is None
        self.status, self.head, self.body = 0, {}, b""
        if not data:
            return
        top, _, self.body = data.partition(b"\r\n\r\n")
        self.status, self.head = parse_head(top)


# ---- relaying -----------------------------------------------------------------------------------

def relays(proxy, origin, base):
    a = proxy.get(base + "/plain/a?b=c", extra="X-Mine: 1\r\nConnection: X-Drop, close\r\n"
                  "X-Drop: 1\r\nProxy-Connection: close\r\nTE: trailers\r\nUpgrade: h2c\r\n"
                  "Proxy-Authorization: secret\r\n")
    check(a.status == 200 and a.body == b"plain a?b=c", f"plain: {a.status} {a.body}")
    seen = origin.heads["/plain/a?b=c"]
    check(seen.get("x-mine") == "1", "a header is lost on the way to the origin")
    for name in ("x-drop", "proxy-connection", "te", "upgrade", "proxy-authorization"):
        check(name not in seen, f"{name} reaches the origin")
    check(seen["host"] == base[7:], f"Host is {seen['host']}")
    check(seen["connection"] == "close" and seen["via"].startswith("1.1 webproxy"), str(seen))
    check(a.head.get("x-end") == "2" and "x-hop" not in a.head and "keep-alive" not in a.head and
          a.head.get("connection") == "close" and "via" in a.head, str(a.head))
    check(a.head.get("content-length") == "11", str(a.head))

    a = Answer(proxy.raw(f"GET /plain/own HTTP/1.1\r\nHost: {base[7:]}\r\n\r\n".encode()))
    check(a.body == b"plain own", f"a path and a Host: {a.status}")
    a = Answer(proxy.raw(f"\r\nGET {base}/plain/old HTTP/1.0\r\n\r\n".encode()))
    check(a.body == b"plain old", f"HTTP/1.0 without a Host: {a.status}")
    a = Answer(proxy.raw(f"GET {base}/plain/lf HTTP/1.0\n\n".encode()))
    check(a.body == b"plain lf", f"bare newlines: {a.status}")
    a = proxy.get(base.replace("127.0.0.1", "LOCALHOST") + "/plain/name")
    check(a.body == b"plain name", f"the name of a host: {a.status}")
    a = proxy.get(base + "/plain/h", method="HEAD")
    check(a.status == 200 and a.body == b"" and a.head.get("content-length") == "7", str(a.head))
    check(proxy.get(base + "/missing/x").status == 404, "404 is relayed")
    check(proxy.get(base + "/early/x").body == b"after two", "two answers before the answer")
    for status in ("204", "304"):
        a = proxy.get(base + "/empty/" + status)
        check(a.status == int(status) and a.body == b"", f"{status}: {a.status} {a.body}")


def posts(proxy, origin, base):
    for n in (0, 5, 300000):
        body = pattern(n)
        a = proxy.get(base + f"/post/{n}", "POST", f"Content-Length: {n}\r\n", body)
        check(a.body == b"POST " + body, f"POST of {n}: {a.status}, {len(a.body)} bytes")
    with proxy.connect() as s:
        s.sendall(f"POST {base}/post/e HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                  "Expect: 100-continue\r\n\r\n".encode())
        check(s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n", "no 100 Continue")
        s.sendall(b"a")
        time.sleep(0.05)
        s.sendall(b"bc")
        check(read_all(s).endswith(b"POST abc"), "POST after 100 Continue")
    check("expect" not in origin.heads["/post/e"], "Expect reaches the origin")
    with proxy.connect() as s: # HTTP/1.0 knows of no 100, and is not asked to wait for one
        s.sendall(f"POST {base}/post/o HTTP/1.0\r\nContent-Length: 3\r\n"
                  "Expect: 100-continue\r\n\r\nabc".encode())
        a = Answer(read_all(s))
        check(a.status == 200 and a.body == b"POST abc", f"Expect in HTTP/1.0: {a.status}")
    for path, method in (("/unsaid/p", "GET"), ("/unsaid/p", "POST"), ("/unsaid/p", "GET")):
        proxy.get(base + path, method, "Content-Length: 0\r\n" if method == "POST" else "")
    check(origin.hits["/unsaid/p"] == 3, f"POST leaves the cached: {origin.hits['/unsaid/p']}")


def bodies(proxy, _, base):
    for n in (0, 1, 100000, 9000000):
        for kind in ("big", "chunked", "close"):
            a = proxy.get(base + f"/{kind}/{n}")
            check(a.status == 200 and a.body == pattern(n), f"{kind} {n}: {len(a.body)} bytes")
            check("transfer-encoding" not in a.head and "x-trailer" not in a.head, str(a.head))
    with proxy.connect(65536) as s: # one that does not read for a while
        s.sendall(f"GET {base}/big/9000001 HTTP/1.0\r\n\r\n".encode())
        time.sleep(0.3)
        check(read_all(s).endswith(pattern(9000001)[-100:]), "a slow reader")


def many(proxy, origin, base):
    """Many connections at once, each with an answer of its own; some give up."""
    wrong = []

    def client(i):
        for j in range(5):
            kind = ("plain", "unsaid", "chunked", "big")[(i + j) % 4]
            n = i * 1000 + j
            a = proxy.get(base + f"/{kind}/{n}")
            expected = pattern(n) if kind in ("chunked", "big") else f"{kind} {n}".encode()
            if a.body != expected:
                wrong.append((kind, n, a.status, len(a.body)))
            s = proxy.connect()
            s.sendall(f"GET {base}/big/500000 HTTP/1.0\r\n\r\n".encode())
            if j % 2:
                s.recv(10)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(40)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, f"many: {wrong}")


# ---- the cache ----------------------------------------------------------------------------------

def caches(proxy, origin, base):
    def twice(path, extra=""):
        before = origin.hits.get(path, 0)
        answers = [proxy.get(base + path, extra=extra) for _ in range(2)]
        check(answers[0].body == answers[1].body, f"{path} changes")
        return origin.hits[path] - before, answers[1]

    hits, a = twice("/plain/cache")
    check(hits == 1, f"/plain/cache is asked for {hits} times")
    check(a.head.get("x-cache") == "hit" and "age" in a.head and a.head.get("x-end") == "2" and
          a.head.get("content-length") == "11", str(a.head))
    a = proxy.get(base + "/plain/cache", method="HEAD")
    check(a.head.get("x-cache") == "hit" and a.body == b"", "HEAD from the cache")
    check(twice("/unsaid/cache")[0] == 1, "an answer that does not say for how long")
    check(twice("/chunked/50000")[0] == 1, "a chunked answer")
    check(twice("/close/50001")[0] == 1, "an answer until the end")
    for why in ("nostore", "private", "stale", "cookie", "vary", "expired", "past"):
        check(twice("/once/" + why)[0] == 2, f"{why} is cached")
    check(twice("/missing/cache")[0] == 2, "404 is cached")
    for extra in ("Cache-Control: no-cache\r\n", "Pragma: no-cache\r\n", "Range: bytes=0-1\r\n",
                  "Authorization: x\r\n", "If-None-Match: x\r\n"):
        check(twice("/plain/cache", extra)[0] == 2, f"cached in spite of {extra}")
    proxy.get(base + "/second/x")
    proxy.get(base + "/second/x")
    began = time.monotonic()
    while origin.hits["/second/x"] < 2 and time.monotonic() - began < PATIENCE:
        time.sleep(0.1)
        proxy.get(base + "/second/x")
    check(origin.hits["/second/x"] >= 2, "an answer outlives its second")
    # More answers than fit: the cache drops the first ones and keeps the last one.
    for i in range(15):
        proxy.get(base + f"/big/{50000 + i}")
    check(twice("/big/50014")[0] == 0, "the last of many is not cached")
    check(twice("/big/50000")[0] == 1, "the first of many is cached still")
    check(twice("/big/70000")[0] == 2, "one that is too large is cached")


# ---- failures -----------------------------------------------------------------------------------

def origins(proxy, origin, base):
    for what in proxy_origin.RAW:
        a = proxy.get(base + "/raw/" + what)
        check(a.status == 502, f"raw {what}: {a.status}, cut {a.cut}")
    check(proxy.get(base + "/nothing/x").status == 502, "an origin that says nothing")
    for path in ("/cut/50000", "/cut/0", "/cutchunk/x", "/badchunk/x", "/reset/x"):
        for _ in range(2):
            a = proxy.get(base + path)
            check(a.cut, f"{path}: {a.status} and {len(a.body)} bytes")
        check(origin.hits[path] == 2, f"{path} is cached")
    with socket.create_server(("127.0.0.1", 0)) as s:
        dead = s.getsockname()[1]
    a = proxy.get(f"http://127.0.0.1:{dead}/")
    check(a.status == 502 and b"refused" in a.body, f"a dead origin: {a.status} {a.body}")
    a = proxy.get("http://no.such.host.invalid/")
    check(a.status in (502, 504), f"a host that is none: {a.status}")
    a = proxy.get(f"http://127.0.0.1:{proxy.port}/x")
    check(a.status == 508, f"the proxy through itself: {a.status} {a.body}")


REFUSED = [
    (400, b"GARBAGE\r\n\r\n"), (400, b"\x00\x01\x02\r\n\r\n"), (400, b"GET  HTTP/1.0\r\n\r\n"),
    (400, b"GET http://x/ FTP/1.0\r\n\r\n"), (505, b"GET http://x/ HTTP/2.0\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.1 x\r\n\r\n"), (400, b"GET http://x/ HTTP/1.1\r\n\r\n"),
    (400, b"GET / HTTP/1.0\r\n\r\n"), (400, b"GET ftp://x/ HTTP/1.0\r\n\r\n"),
    (400, b"GET http:// HTTP/1.0\r\n\r\n"), (400, b"GET http://:80/ HTTP/1.0\r\n\r\n"),
    (400, b"GET http://x:0/ HTTP/1.0\r\n\r\n"), (400, b"GET http://x:65536/ HTTP/1.0\r\n\r\n"),
    (400, b"GET http://x:y/ HTTP/1.0\r\n\r\n"), (400, b"GET http://a@b/ HTTP/1.0\r\n\r\n"),
    (400, b"GET http://[::1]/ HTTP/1.0\r\n\r\n"), (400, b"GET http://x/#a HTTP/1.0\r\n\r\n"),
    (400, b"GET http://x/\xff HTTP/1.0\r\n\r\n"), (400, b"GET http://x/ HTTP/1.0\r\nno\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\n: x\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\na : x\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\na: x\r\n y\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\na: x\x00y\r\n\r\n"),
    (400, b"GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    (501, b"CONNECT x:443 HTTP/1.0\r\n\r\n"), (501, b"DELETE http://x/ HTTP/1.0\r\n\r\n"),
    (411, b"POST http://x/ HTTP/1.0\r\n\r\n"),
    (411, b"POST http://x/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    (400, b"POST http://x/ HTTP/1.0\r\nContent-Length: 1, 2\r\n\r\nx"),
    (400, b"POST http://x/ HTTP/1.0\r\nContent-Length: x\r\n\r\nx"),
    (400, b"POST http://x/ HTTP/1.0\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx"),
    (413, b"POST http://x/ HTTP/1.0\r\nContent-Length: 99999999\r\n\r\nx"),
    (400, b"GET http://x/" + b"y" * 100000 + b" HTTP/1.0\r\n\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\n" + b"a: b\r\n" * 1000 + b"\r\n"),
    (400, b"GET http://x/ HTTP/1.0\r\nA: " + b"b" * 20000 + b"\r\n\r\n"),
    (400, b"GET / HTTP/1.0\r\nHost: " + b"z" * 300 + b"\r\n\r\n"),
    (400, b"z" * 1000000),
]


def refuses(proxy, *_):
    for status, data in REFUSED:
        a = Answer(proxy.raw(data))
        check(a.status == status and a.body.startswith(b"webproxy: "),
              f"{data[:60]}: {a.status}, not {status}; cut {a.cut}")
    check(proxy.raw(b"", end=True) == b"", "a client that says nothing")
    check(proxy.raw(b"GET http://x/ HT", end=True) == b"", "a client that leaves in a head")
    check(proxy.raw(b"POST http://x/ HTTP/1.0\r\nContent-Length: 9\r\n\r\nx", end=True) == b"",
          "a client that leaves in a body")
    for i in range(200): # bytes from nowhere, the same each time
        data = bytes((i * 7919 + j * j * 31 + (j >> 3)) & 0xff for j in range(i * 3))
        proxy.raw(data + b"\r\n\r\n", end=True)


# Each waits for a proxy with "--timeout 1"; they do not affect one another.

def waits_for_client(proxy, _):
    began = time.monotonic()
    check(proxy.raw(b"") == b"", "a silent client gets something")
    check(time.monotonic() - began >= 0.9, "a silent client is dropped at once")


def waits_for_head(proxy, _):
    check(Answer(proxy.raw(b"GET http://x/ HTTP/1.0\r\nA:")).status == 408, "half a head: not 408")


def waits_for_body(proxy, _):
    data = b"POST http://x/ HTTP/1.0\r\nContent-Length: 9\r\n\r\nx"
    check(Answer(proxy.raw(data)).status == 408, "half a body: not 408")


def waits_for_origin(proxy, base):
    check(proxy.get(base + "/slow/20").status == 504, "a slow origin")
    for _ in range(20):
        began = time.monotonic()
        a = proxy.get(base + "/slow/0.1")
        if a.status != 504 or time.monotonic() - began < 0.9:
            break # otherwise the origin has not got a processor in time
    check(a.body == b"slow", "an origin that is not as slow")


def waits_for_rest(proxy, base):
    check(proxy.get(base + "/stall/20").cut, "an origin that stalls")


def waits_for_connection(proxy, _):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as s: # its queue is full: no answer
        held = [socket.socket() for _ in range(4)]
        for h in held:
            h.setblocking(False)
            h.connect_ex(s.getsockname())
        a = proxy.get(f"http://127.0.0.1:{s.getsockname()[1]}/")
        check(a.status == 504, f"an origin that does not accept: {a.status}")
        for h in held:
            h.close()


def waits_for_reader(proxy, base):
    with proxy.connect(4096) as s: # reads nothing of much
        s.sendall(f"GET {base}/big/9000002 HTTP/1.0\r\n\r\n".encode())
        began = time.monotonic()
        while tcp_state(s) == ESTABLISHED and time.monotonic() - began < PATIENCE:
            time.sleep(0.05)
        got = read_all(s)
        check(got is None or len(got) < 9000000, "a client that does not read is waited for")


def waits(program, base):
    """A proxy that waits for a second: for a request, an origin, a connection."""
    proxy = Proxy(program, "--timeout", "1")
    cases = (waits_for_client, waits_for_head, waits_for_body, waits_for_origin, waits_for_rest,
             waits_for_connection, waits_for_reader)
    with ThreadPoolExecutor(len(cases)) as all_at_once:
        for done in [all_at_once.submit(case, proxy, base) for case in cases]:
            done.result()
    proxy.end()


def limits(program, base):
    """Of connections: those above wait. And of the command line."""
    proxy = Proxy(program, "--connections", "2", "--cache", "0")
    held = [proxy.connect() for _ in range(2)]
    time.sleep(0.2)
    with proxy.connect() as s:
        s.sendall(f"GET {base}/plain/limit HTTP/1.0\r\n\r\n".encode())
        s.settimeout(0.5)
        try:
            check(s.recv(10) == b"", "a third connection is served")
            check(False, "a third connection is closed")
        except socket.timeout:
            pass
        s.settimeout(PATIENCE)
        for h in held:
            h.close()
        check(read_all(s).endswith(b"plain limit"), "a third connection is not served later")
    check("x-cache" not in proxy.get(base + "/plain/limit").head, "a cache of no bytes")
    proxy.end()
    for arguments in ([], ["x"], ["65536"], ["--ttl", "x", "0"], ["--what", "0"], ["0", "0"],
                      ["--address", "nowhere", "0"], ["--timeout", "0", "0"]):
        r = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=PATIENCE)
        check(r.returncode == 2 and "usage: " in r.stderr, f"{arguments}: {r}")
    r = subprocess.run([*program, "--help"], capture_output=True, text=True, timeout=PATIENCE)
    check(r.returncode == 0 and "--timeout" in r.stdout, f"--help: {r}")


def run(case, *arguments):
    began = time.monotonic()
    case(*arguments)
    print(f"{case.__name__}: {time.monotonic() - began:.1f} s, {check.failed} failures so far",
          flush=True)


def main():
    program = sys.argv[1:]
    origin = proxy_origin.Origin()
    base = f"http://127.0.0.1:{origin.port}"
    proxy = Proxy(program, "--cache", "500000")
    for case in (relays, posts, bodies, caches, origins, refuses, many):
        run(case, proxy, origin, base)
    check(proxy.get(base + "/plain/end").body == b"plain end", "the end")
    proxy.end()
    run(waits, program, base)
    run(limits, program, base)
    check.finish()


if __name__ == "__main__":
    main()
