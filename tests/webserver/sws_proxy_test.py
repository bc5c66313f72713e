# SPDX-License-Identifier: MIT
"""The PROXY protocol on sws: clients, pieces, what is refused: sws_proxy_test.py SWS"""
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from sws_lib import PATIENCE, Checks, Client, Program, make_root, remove_root

check = Checks()
SWS = sys.argv[1]
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
GET = b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n"
V1 = b"PROXY TCP4 192.0.2.7 198.51.100.1 1234 80\r\n"


def v2(command, kind, body):
    return SIGNATURE + bytes([0x20 | command, kind]) + struct.pack("!H", len(body)) + body


V2 = v2(1, 0x21, socket.inet_pton(socket.AF_INET6, "2001:db8::7") + bytes(15) + b"\1" + struct.pack("!HH", 1, 2) +
        b"\4\0\2xy")


class Server(Program):
    def __init__(self, root, *args, trusted="127.0.0.0/8"):
        command = [SWS, "--listen", "127.0.0.1:0 proxy", "--trusted", trusted, *args, root]
        super().__init__(command, r"at http://.*:(\d+)/$")
        self.port = int(self.ready.group(1))

    def connect(self):
        return Client("127.0.0.1", self.port)


def line_of(path, n):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with open(path) as f:
            lines = f.read().split("\n")[:-1]
        if len(lines) >= n:
            return json.loads(lines[n - 1])
        time.sleep(0.02)
    return {"client": "no line"}


def clients(www, top):
    path = os.path.join(top, "access.log")
    n = 0
    with Server(www, "--access-log", path, "--log-format", "json") as server:
        for header, client in ((V1, "192.0.2.7"), (V2, "2001:db8::7"), (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
                               (v2(0, 0, b""), "127.0.0.1"), (v2(1, 0x31, b"x" * 216), "unix:")):
            for step in (1, 7, len(header), 10000):
                with server.connect() as c:
                    data = header + GET
                    for i in range(0, len(header), step):
                        c.send(data[i:i + step])
                        if step < 10000 and (step == len(header) or i % 5 == 0):
                            time.sleep(0.001)
                    c.send(data[len(header) + (-len(header)) % step:])
                    r = c.response()
                    check.equal(r and (r.status, len(r.body)), (200, 1024), "%r by %d" % (header[:20], step))
                    check.equal(c.get("/page.html").status, 200, "a second request")
                n += 2
                check.equal(line_of(path, n)["client"], client, "the client of %r" % header[:30])
        check.equal(server.stop(), 0, "exit status")


def limited(www):
    """The limits of an address are those of the client, not of its proxy."""
    other = V1.replace(b"192.0.2.7", b"192.0.2.8")
    with Server(www, "--max-clients-per-address", "2") as server:
        def ask(header):
            c = server.connect()
            c.send(header + GET)
            return c, c.response()

        held = [ask(h) for h in (V1, V1, other, other, b"PROXY UNKNOWN\r\n", v2(0, 0, b""))]
        check.equal([r and r.status for _, r in held], [200] * 6, "two of each, and all of none")
        for header in (V1, other):
            check.equal(ask(header)[1], None, "no third one")
        held.pop(0)[0].close()
        end = time.monotonic() + PATIENCE
        while (r := ask(V1)[1]) is None and time.monotonic() < end:
            time.sleep(0.01)
        check(r and r.status == 200, "another one when one has ended")
        for c, _ in held:
            c.close()
        check.equal(server.stop(), 0, "exit status")


def forwarded(www, top):
    """Of X-Forwarded-For the last address counts that is not a trusted proxy's."""
    path = os.path.join(top, "forwarded.log")
    rows = ((V1, "203.0.113.9", "192.0.2.7"),
            (b"PROXY UNKNOWN\r\n", "203.0.113.9", "203.0.113.9"),
            (b"PROXY UNKNOWN\r\n", "spoofed, 203.0.113.9:77, 127.0.0.2", "203.0.113.9"),
            (b"PROXY UNKNOWN\r\n", "1.1.1.1, [2001:db8::5]:1, 127.0.0.2, 127.0.0.3", "2001:db8::5"),
            (b"PROXY UNKNOWN\r\n", "1.1.1.1\r\nX-Forwarded-For: 127.0.0.9", "1.1.1.1"),
            (b"PROXY UNKNOWN\r\n", '203.0.113.9, x" 200', "127.0.0.1"),
            (b"PROXY UNKNOWN\r\n", "127.0.0.4", "127.0.0.4"))
    with Server(www, "--access-log", path, "--log-format", "json") as server:
        for n, (header, value, client) in enumerate(rows):
            with server.connect() as c:
                c.send(header + b"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + value.encode() + b"\r\n\r\n")
                check.equal(c.response().status, 200, value)
            check.equal(line_of(path, n + 1)["client"], client, "the client of %r" % value)


def refused(www):
    with Server(www, "--metrics-listen", "127.0.0.1:0", "--header-timeout", "0.5") as server:
        inside = int(re.search(r":(\d+)/$", server.process.stdout.readline().decode().strip()).group(1))
        wrong = (GET, b"PROXY TCP4 1.2.3.4\r\n" + GET, b"PROXY " + b"x" * 200, b"\x16\x03\x01" + bytes(100),
                 v2(1, 0x12, bytes(12)) + GET, v2(2, 0x11, bytes(12)) + GET, v2(1, 0x11, bytes(11)) + GET,
                 v2(0, 0, bytes(1025)) + GET)
        for data in wrong:
            with server.connect() as c:
                c.send(data)
                check(c.at_end(), "closed without an answer: %r" % data[:30])
        with server.connect() as c:
            c.send(V1[:-1])
            check(c.at_end(), "a header that does not end has a deadline")
        with server.connect() as c:
            c.send(V1 + GET)
            check.equal(c.response().status, 200, "the others go on")
        with Client("127.0.0.1", inside) as c:
            text = c.get("/metrics").body.decode()
        check("\nsws_proxies_refused_total %d\n" % len(wrong) in text, "they are counted")
    with Server(www, trusted="192.0.2.0/24") as server:
        with server.connect() as c:
            c.send(V1 + GET)
            check(c.at_end(), "from another than a proxy")


def usage(www):
    for args, error in ((("--listen", "127.0.0.1:0 proxy"),
                         "sws: '127.0.0.1:0 proxy' needs the networks of its proxies: trusted\n"),
                        (("--trusted", "10.0.0.0/33"),
                         "sws: --trusted: '10.0.0.0/33': not ADDRESS, ADDRESS/BITS or unix:\n")):
        p = subprocess.run([SWS, *args, www], capture_output=True, timeout=PATIENCE)
        check.equal((p.returncode, p.stderr.decode()), (2, error), str(args))


def main():
    root = make_root()
    top = tempfile.mkdtemp(prefix="mely-sws-proxy-")
    www = os.path.join(root, "www")
    try:
        clients(www, top)
        limited(www)
        forwarded(www, top)
        refused(www)
        usage(www)
    finally:
        remove_root(root)
        shutil.rmtree(top, ignore_errors=True)
    check.finish()


main()
