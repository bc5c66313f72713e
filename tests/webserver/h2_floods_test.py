# SPDX-License-Identifier: MIT
"""Clients that ask an HTTP/2 server for work without end: h2_floods_test.py SWS"""
import os
import socket
import sys

from h2_lib import (CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, H2, HEADERS,
                    INTERNAL_ERROR, PING, PRIORITY, PROTOCOL_ERROR, block, field, frame,
                    get_fields, headers, integer, rst, settings, skip_without_h2, window_update)
from sws_lib import Checks, Server, make_root, read, remove_root

SWS = sys.argv[1]
skip_without_h2(SWS)
check = Checks()
LARGE = get_fields("/large.bin")


def resets(i):
    return headers(2 * i + 1, LARGE) + rst(2 * i + 1)


def overflows(i):
    return headers(2 * i + 1, LARGE) + window_update(2 * i + 1, 0x7fffffff)


def malformed(i):
    return headers(2 * i + 1, LARGE + [("X", "y")])


# (name, what is sent before, what is sent as number i)
FLOODS = [
    ("resets of the client", b"", resets),
    ("resets of the server: a window that is too large", b"", overflows),
    ("resets of the server: malformed requests", b"", malformed),
    ("PING", b"", lambda i: frame(PING, 0, 0, b"x" * 8)),
    ("SETTINGS", b"", lambda i: settings((4, 65535 + i % 2))),
    ("empty SETTINGS", b"", lambda i: settings()),
    ("PRIORITY", b"", lambda i: frame(PRIORITY, 0, 2 * i + 1, b"\0\0\0\0\x10")),
    ("WINDOW_UPDATE", b"", lambda i: window_update(0, 1)),
    ("empty DATA", headers(1, LARGE, END_HEADERS), lambda i: frame(DATA, 0, 1)),
]


def budgets(server, limit):
    for name, first, one in FLOODS:
        with H2(server.port) as c:
            c.updates = False
            c.send(first)
            for i in range(limit // 2):
                c.send(one(i))
            check(c.ping(), "half of a flood: " + name, c.goaways)
        with H2(server.port) as c:
            c.updates = False
            c.send(first)
            # The server may close before all is sent.
            for i in range(20 * limit):
                if not c.send(one(i)):
                    break
            got = c.error()
            check(got in (ENHANCE_YOUR_CALM, None) and c.closed, "a flood: " + name, c.goaways)
        with H2(server.port) as c:
            check.equal(c.get("/page.html").status, 200, "another client is served: " + name)


def fields(server):
    """Fields without end, small on the wire or large."""
    def error(text):
        with H2(server.port) as c:
            c.send(text)
            return c.error()

    name = b"n" * 10
    bomb = b"\x40" + integer(10, 7) + name + integer(3000, 7) + b"v" * 3000
    text = block(LARGE) + bomb + b"\xbe" * 8000
    check.equal(error(frame(HEADERS, END_STREAM | END_HEADERS, 1, text)), ENHANCE_YOUR_CALM,
                "a few bytes that decode to 24 MB")
    got = error(headers(1, LARGE + [("x", "y" * 1000)] * 200))
    check(got in (ENHANCE_YOUR_CALM, PROTOCOL_ERROR, INTERNAL_ERROR), "200 KB of fields", got)
    text = frame(HEADERS, END_STREAM, 1, block(LARGE)) + frame(CONTINUATION, 0, 1) * 5000
    check(error(text) is not None, "CONTINUATION without end")
    text = frame(HEADERS, END_STREAM, 1, block(LARGE)) \
        + frame(CONTINUATION, 0, 1, field("x", "y" * 100)) * 5000
    check(error(text) is not None, "CONTINUATION with fields without end")


def unread(server):
    """A client that asks and reads nothing is not read from either."""
    with H2(server.port, rcvbuf=4096) as c:
        c.s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        c.send(settings((4, 0x7fffffff)) + window_update(0, 0x7fff0000 - 65535))
        for i in range(50):
            c.send(headers(2 * i + 1, LARGE))
        c.s.settimeout(0.5)
        sent = 0
        try:
            # Once it has said why, the server discards input for up to two seconds.
            while sent < 2 << 30:
                sent += c.s.send(frame(PING, 0, 0, b"x" * 8) * 1000)
        except (socket.timeout, ConnectionError):
            pass
        check(sent < 2 << 30, "PING without reading", sent)
    with H2(server.port) as c:
        check.equal(c.get("/page.html").status, 200, "others are served")


def fair(root, www):
    """A client that downloads, or gives up now and then, is not stopped."""
    with Server(SWS, www, "--http2-frames", "200", "--http2-resets", "50") as server:
        with H2(server.port) as c:
            large = read(root, "large.bin")
            for _ in range(4):
                check(c.get("/large.bin").body == large, "a download with window updates")
            check(not c.goaways, "... does not count as a flood", c.goaways)
        check.equal(server.stop(), 0, "exit status")
    with Server(SWS, www) as server, H2(server.port) as c:
        c.updates = False
        for i in range(900):
            c.send(resets(i))
        check(c.ping(), "900 resets are fine by default")
        c.send(b"".join(resets(i) for i in range(900, 2000)))
        check(c.error() in (ENHANCE_YOUR_CALM, None) and c.closed, "2000 are not")
        check.equal(server.stop(), 0, "exit status")


def main():
    root = make_root()
    try:
        www = os.path.join(root, "www")
        with Server(SWS, www, "--http2-frames", "100", "--http2-resets", "100") as server:
            budgets(server, 100)
            fields(server)
            unread(server)
            check.equal(server.stop(), 0, "exit status")
        fair(root, www)
    finally:
        remove_root(root)
    check.finish()


main()
