# SPDX-License-Identifier: MIT
"""HTTP/2 of sws as clients use it: h2_test.py SWS"""
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from h2_lib import (DATA, END_HEADERS, END_STREAM, H2, NO_ERROR, PREFACE, PRIORITY, frame,
                    get_fields, headers, rst, settings, skip_without_h2, window_update)
from sws_lib import PATIENCE, Checks, Program, Server, make_root, read, remove_root

SWS = sys.argv[1]
skip_without_h2(SWS)
check = Checks()
STREAMS_MAX, WINDOW, HEADER_LIST = 3, 4, 6


def ordinary(server, root):
    with server.connect() as one, H2(server.port) as c:
        for path, wanted in (("/page.html", 200), ("/", 200), ("/nothing", 404), ("/sub", 301),
                             ("/link-out", 403), ("/large.bin", 200), ("/empty.txt", 200),
                             ("/a%20b.txt", 200), ("/sub/../page.html", 200), ("/.secret", 404),
                             ("/medium.bin", 200), ("/fifo", 403)):
            old, a = one.get(path), c.get(path)
            check.equal(a.status, wanted, "status of " + path)
            check.equal(a.body, old.body, "body of " + path)
            names = [n for n, _ in a.fields]
            check(names == [n.lower() for n in names], "names in lower case", names)
            ours = {n: v for n, v in a.fields if n not in (":status", "date")}
            theirs = {n: v for n, v in old.headers.items() if n not in ("date", "connection")}
            check.equal(ours, theirs, "the fields of HTTP/1.1: " + path)
            check(abs(len(a["date"]) - 29) == 0, "a date", a["date"])
        old = one.get("/page.html")
        for fields, wanted in (
                ([("if-none-match", old["etag"])], 304),
                ([("if-none-match", '"x"'), ("if-none-match", old["etag"])], 304),
                ([("if-modified-since", old["last-modified"])], 304),
                ([("if-match", '"x"')], 412),
                ([("range", "bytes=0-9")], 206), ([("range", "bytes=1-2,5-6")], 206),
                ([("range", "bytes=99999-")], 416)):
            a = c.get("/page.html", more=fields)
            check.equal(a.status, wanted, "status of %r" % fields)
            if wanted == 304:
                check(a.body == b"" and a["etag"] == old["etag"] and a["content-length"] is None,
                      "a 304", a.fields)
        a = c.get("/large.bin", more=[("range", "bytes=1000000-1099999")])
        check.equal((a.status, a["content-range"], a["content-length"]),
                    (206, "bytes 1000000-1099999/3145728", "100000"), "a range of a file")
        check.equal(a.body, read(root, "large.bin")[1000000:1100000], "... and its bytes")
        a = c.get("/large.bin", more=[("range", "bytes=0-9,3000000-3000009")])
        check(a["content-type"].startswith("multipart/byteranges") and int(a["content-length"])
              == len(a.body) and read(root, "large.bin")[3000000:3000010] in a.body, "two ranges")
        for path in ("/page.html", "/large.bin", "/nothing"):
            a = c.get(path, method="HEAD")
            check(a.body == b"" and a.ended, "HEAD has no body: " + path)
            check.equal(a["content-length"], c.get(path)["content-length"], "HEAD: the length")
        for method, wanted in (("POST", 405), ("BREW", 501), ("A" * 40, 501)):
            check.equal(c.get("/page.html", method=method).status, wanted, method)
        for path in ("/%zz", "/../..", "/a%00b"):
            check.equal(c.get(path).status, 400, "a path that is wrong: " + path)
        check.equal(c.get("/", scheme="https").status, 421, "https in clear text")
        check.equal(c.get("/?" + "q" * 9000).status, 414, "a long target")
        check.equal(c.get("/", more=[("x%d" % i, "y") for i in range(101)]).status, 431, "fields")
        check.equal(c.get("/", more=[("x", "y" * 17000)]).status, 431, "a long field")
        check.equal(c.get("/", flags=END_HEADERS, more=[("content-length", "70000")]).status, 413,
                    "a long body")
        check(c.settings[STREAMS_MAX] >= 100 and c.settings[HEADER_LIST] == 16384, "settings",
              c.settings)
        check(c.ping() and not c.closed, "the connection survives all of it")


def bodies(server):
    """Bodies of requests are discarded, and do not hold up the answers."""
    with H2(server.port) as c:
        s = c.request("/page.html", flags=END_HEADERS, method="GET")
        c.send(frame(DATA, 0, s, b"x" * 10000))
        check.equal(c.answer(s).status, 200, "answered before the body ends")
        c.send(frame(DATA, END_STREAM, s, b"x" * 10))
        check.equal(c.get("/page.html").status, 200, "after a body")
        s = c.request("/page.html", flags=END_HEADERS)
        c.answer(s)
        for _ in range(8):
            c.send(frame(DATA, 0, s, b"x" * 10000))
            c.ping()
        check.equal(c.answers[s].reset, NO_ERROR, "a body without end is cut off")
        check.equal(c.get("/page.html").status, 200, "... and the connection goes on")
        s = c.request("/page.html", flags=END_HEADERS)
        c.send(headers(s, [("x-trailer", "y")]))
        check.equal(c.answer(s).status, 200, "a request with trailers")


def many(server, root):
    large = read(root, "large.bin")
    with H2(server.port) as c:
        for _ in range(5):
            streams = [c.request("/n/%d.txt" % (i % 50)) for i in range(100)]
            for i, s in enumerate(streams):
                a = c.answer(s)
                check(a.status == 200 and a.body == b"%d\n" % (i % 50) * (i % 50 + 1),
                      "one of 100 streams", (i, a.status, a.body))
        first = c.request("/large.bin")
        c.until(lambda: first in c.answers and len(c.answers[first].body) > 0)
        small = [c.request("/page.html") for _ in range(20)]
        check(all(c.answer(s).body == b"x" * 1024 for s in small), "small ones beside a large one")
        check(not c.answers[first].ended, "a large answer does not hold up small ones")
        check(c.answer(first).body == large, "the large one is complete")
        streams = [c.request("/large.bin") for _ in range(4)]
        check(all(c.answer(s).body == large for s in streams), "four large ones")
        at = [c.order.index(s) for s in streams]
        last = [len(c.order) - c.order[::-1].index(s) for s in streams]
        check(max(at) < min(last), "they take turns", (at, last))
    with H2(server.port) as c:
        streams = [c.request("/large.bin") for _ in range(8)]
        c.until(lambda: all(s in c.answers for s in streams))
        for s in streams[::2]:
            c.send(rst(s))
        check(all(c.answer(s).body == large for s in streams[1::2]), "others are given up")
        check.equal(c.get("/page.html").status, 200, "after streams that were given up")


def windows(server, root):
    large = read(root, "large.bin")
    with H2(server.port, pairs=[(WINDOW, 10)]) as c:
        c.updates = False
        s = c.request("/page.html")
        c.until(lambda: s in c.answers and len(c.answers[s].body) >= 10)
        c.ping()
        check.equal(len(c.answers[s].body), 10, "the window of a stream is kept to")
        c.send(window_update(s, 5))
        c.until(lambda: len(c.answers[s].body) >= 15)
        c.ping()
        check.equal(len(c.answers[s].body), 15, "... and widened")
        c.send(settings((WINDOW, 2000)))
        check.equal(c.answer(s).body, b"x" * 1024, "... and by SETTINGS")
        s = c.request("/large.bin")
        t = c.request("/empty.txt")
        check.equal(c.answer(t).status, 200, "no window is needed for an empty body")
        c.send(window_update(s, 1 << 30))
        c.until(lambda: sum(len(a.body) for a in c.answers.values()) == 65535)
        c.ping()
        check.equal(sum(len(a.body) for a in c.answers.values()), 65535, "that of the connection")
        c.send(window_update(0, 1 << 30))
        check.equal(c.answer(s).body, large, "a file through small windows")
    with H2(server.port, rcvbuf=4096, pairs=[(WINDOW, 1 << 30)]) as c:
        c.updates = False
        c.send(window_update(0, 1 << 30))
        streams = [c.request("/large.bin" if i % 2 else "/medium.bin") for i in range(10)]
        time.sleep(0.2)  # the server blocks; a test that is too fast tests less
        medium = read(root, "medium.bin")
        check(all(c.answer(s).body == (large if i % 2 else medium)
                  for i, s in enumerate(streams)), "a slow reader gets all")


def beginnings(server):
    """The preface in pieces, and what is none."""
    with H2(server.port, preface=False) as c:
        text = PREFACE + settings() + headers(1, get_fields("/page.html"))
        for i in range(len(text)):
            c.send(text[i:i + 1])
            if i in (5, 15, 20, 30):
                time.sleep(0.02)
        check.equal(c.answer(1).body, b"x" * 1024, "byte by byte")
    for text in (b"PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", b"PRI /x HTTP/2.0\r\n\r\nSM\r\n\r\n",
                 b"GET / HTTP/2.0\r\n\r\n"):
        with server.connect() as c:
            c.send(text)
            check.equal(c.response().status, 505, "no preface: %r" % text)
    with server.connect() as c:
        check.equal(c.get("/").status, 200, "a request of HTTP/1.1")
        c.send(PREFACE)
        check.equal(c.response().status, 505, "the preface is only at the beginning")
    with H2(server.port, preface=False) as c:
        c.send(PREFACE + frame(PRIORITY, 0, 1, b"\0\0\0\0\x10"))
        check(c.error() is not None, "SETTINGS comes first")
    with H2(server.port) as c:
        c.s.shutdown(socket.SHUT_WR)
        check(c.error() is None, "a client that says nothing")


def off(root):
    with Server(SWS, os.path.join(root, "www"), "--http2", "off") as server:
        with server.connect() as c:
            c.send(PREFACE)
            check.equal(c.response().status, 505, "--http2 off")
        check.equal(server.stop(), 0, "exit status")


def hosts(root):
    www = os.path.join(root, "www")
    path = os.path.join(root, "sws.conf")
    with open(path, "w") as f:
        f.write('sites = ({name = "a.test"; root = "%s";}, {name = "b.test"; root = "%s/sub";});'
                % (www, www))
    with Server(SWS, www, "--config", path) as server, H2(server.port) as c:
        for kw, wanted in (({"authority": "b.test"}, b"sub\n"), ({"authority": "B.test:80"},
                           b"sub\n"), ({"authority": "a.test"}, b"<h1>root</h1>\n")):
            check.equal(c.get("/", **kw).body, wanted, "the site of %r" % kw)
        s = c.next
        c.next += 2
        c.send(headers(s, [(":method", "GET"), (":scheme", "http"), (":path", "/"),
                           ("host", "b.test")]))
        check.equal(c.answer(s).body, b"sub\n", "the site of a Host")


def deadlines(root):
    www = os.path.join(root, "www")
    with Server(SWS, www, "--idle-timeout", "0.3", "--header-timeout", "0.6") as server:
        with H2(server.port) as c:
            c.get("/page.html")
            check.equal(c.error(), NO_ERROR, "an idle connection ends with GOAWAY")
        with H2(server.port) as c:
            c.get("/page.html")
            c.send(headers(3, get_fields(), flags=END_STREAM))
            check.equal(c.error(), NO_ERROR, "fields without an end")
        with H2(server.port) as c:
            check.equal(c.error(), NO_ERROR, "no request at all")


def drain(root):
    www = os.path.join(root, "www")
    with Server(SWS, www) as server, H2(server.port) as idle, H2(server.port) as c:
        idle.get("/page.html")
        c.updates = False
        c.get("/page.html")
        s = c.request("/large.bin")
        c.until(lambda: s in c.answers and c.answers[s].body)
        server.signal()
        c.until(lambda: c.goaways)
        check.equal(c.goaways, [(0x7fffffff, NO_ERROR)], "the first GOAWAY allows all")
        late = c.request("/empty.txt")
        check.equal(c.answer(late).status, 200, "a request that was on its way")
        c.until(lambda: len(c.goaways) == 2)
        check.equal(c.goaways[1:], [(late, NO_ERROR)], "the second one names the last stream")
        check.equal(idle.error(), NO_ERROR, "an idle connection")
        check.equal(idle.goaways, [(0x7fffffff, NO_ERROR), (1, NO_ERROR)], "... in two steps")
        c.send(window_update(s, 1 << 24) + window_update(0, 1 << 24))
        check.equal(c.answer(s).body, read(root, "large.bin"), "the answer is complete")
        check.equal(c.error(), NO_ERROR, "then the connection ends")
        check.equal(server.wait(), 0, "the server ends after its last stream")


def listings_given_up(root):
    """Clients that go away while their listing is made: the server goes on, and loses no place."""
    folder = os.path.join(root, "www", "many")
    os.makedirs(folder)
    for i in range(300):
        open(os.path.join(folder, "%d.txt" % i), "w").close()
    with Server(SWS, os.path.join(root, "www"), "--listing", "html", "--http2-resets", "100000") \
            as server:
        for _ in range(100):
            with H2(server.port) as c:
                c.send(b"".join(headers(i, get_fields("/many/")) + rst(i) for i in (1, 3, 5)))
        with H2(server.port) as c:
            # Helpers may still make those that are not wanted: there are places for 64.
            end = time.monotonic() + PATIENCE
            while (a := c.get("/many/")).status == 503 and time.monotonic() < end:
                time.sleep(0.01)
            check.equal((a.status, b"299.txt" in a.body), (200, True), "a listing after all that")
        check.equal(server.stop(), 0, "exit status")


def end_at_once(root):
    """A second signal ends streams in flight, and leaks nothing (with ASan)."""
    with Server(SWS, os.path.join(root, "www")) as server, H2(server.port) as c:
        c.updates = False
        streams = [c.request("/large.bin") for _ in range(20)]
        c.until(lambda: all(s in c.answers for s in streams))
        server.signal(signal.SIGTERM)
        c.until(lambda: c.goaways)
        server.signal(signal.SIGTERM)
        check.equal(server.wait(), 0, "exit status")


def tools(server, root):
    """Other clients, where they are installed."""
    url = "http://127.0.0.1:%d" % server.port
    if shutil.which("curl"):
        p = subprocess.run(["curl", "-s", "--noproxy", "*", "--http2-prior-knowledge", "-w",
                            "%{http_version}", url + "/page.html"], capture_output=True,
                           timeout=PATIENCE)
        check.equal(p.stdout, b"x" * 1024 + b"2", "curl")
    if shutil.which("nghttp"):
        p = subprocess.run(["nghttp", url + "/large.bin", url + "/page.html"],
                           capture_output=True, timeout=PATIENCE)
        check.equal(sorted(p.stdout), sorted(read(root, "large.bin") + b"x" * 1024), "nghttp")
    if shutil.which("h2load"):
        p = subprocess.run(["h2load", "-n", "2000", "-c", "4", "-m", "100", url + "/page.html"],
                           capture_output=True, timeout=PATIENCE)
        check(b"2000 succeeded, 0 failed" in p.stdout, "h2load", p.stdout[-800:])


def alpn(root):
    """With TLS the client chooses."""
    if not shutil.which("openssl"):
        return
    www, folder = os.path.join(root, "www"), tempfile.mkdtemp(dir=root)
    pem = os.path.join(folder, "pair.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", pem + ".key", "-out", pem,
                    "-days", "3", "-subj", "/CN=test"], check=True, stderr=subprocess.DEVNULL)
    command = [SWS, "--listen", "127.0.0.1:0 tls", "--tls-certificate",
               pem + "," + pem + ".key", www]

    def wrap(protocols):
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
        c.set_alpn_protocols(protocols)
        return lambda s: c.wrap_socket(s)

    try:
        server = Program(command, r"at https://127\.0\.0\.1:(\d+)/$")
    except RuntimeError as e:
        check("TLS" in str(e) or "OpenSSL" in str(e), "a build without TLS says so", e)
        return
    with server:
        port = int(server.ready.group(1))
        large = read(root, "large.bin")
        for protocols in (["h2"], ["http/1.1", "h2"]):
            with H2(port, wrap=wrap(protocols)) as c:
                check.equal(c.s.selected_alpn_protocol(), "h2", "ALPN of %s" % protocols)
                check.equal(c.get("/page.html", scheme="https").body, b"x" * 1024, "h2 over TLS")
                streams = [c.request("/large.bin", scheme="https") for _ in range(5)]
                check(all(c.answer(s).body == large for s in streams), "large ones over TLS")
        with H2(port, wrap=wrap(["h2"]), rcvbuf=4096) as c:
            c.updates = False
            c.send(settings((WINDOW, 1 << 30)) + window_update(0, 1 << 30))
            streams = [c.request("/large.bin", scheme="https") for _ in range(5)]
            time.sleep(0.2)
            check(all(c.answer(s).body == large for s in streams), "a slow reader over TLS")
        with H2(port, wrap=wrap(["http/1.1"]), preface=False) as c:
            check.equal(c.s.selected_alpn_protocol(), "http/1.1", "HTTP/1.1 if the client wants it")
            c.send(b"GET /page.html HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
            check(c.s.recv(100).startswith(b"HTTP/1.1 200"), "... is HTTP/1.1")
        check.equal(server.stop(), 0, "exit status")
    with Program([*command, "--http2", "off"], r":(\d+)/$") as server:
        with H2(int(server.ready.group(1)), wrap=wrap(["h2", "http/1.1"]), preface=False) as c:
            check.equal(c.s.selected_alpn_protocol(), "http/1.1", "--http2 off, and ALPN")


def main():
    root = make_root()
    try:
        with Server(SWS, os.path.join(root, "www")) as server:
            ordinary(server, root)
            bodies(server)
            many(server, root)
            windows(server, root)
            beginnings(server)
            tools(server, root)
            check.equal(server.stop(), 0, "exit status")
            check(server.stderr().count("\n") <= 1, "nothing on standard error", server.stderr())
        off(root)
        alpn(root)
        hosts(root)
        deadlines(root)
        drain(root)
        end_at_once(root)
        listings_given_up(root)
    finally:
        remove_root(root)
    check.finish()


main()
