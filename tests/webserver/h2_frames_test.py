# SPDX-License-Identifier: MIT
"""What sws does with frames and fields that break the rules of HTTP/2, section by section of
RFC 9113 and RFC 7541: h2_frames_test.py SWS"""
import os
import struct
import sys

from h2_lib import (ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM,
                    FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GOAWAY, H2, HEADERS, NO_ERROR, PADDED,
                    PING, PRIO, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE, REFUSED_STREAM,
                    RST_STREAM, SETTINGS, STREAM_CLOSED, WINDOW_UPDATE, block, field, frame,
                    get_fields, headers, integer, rst, settings, skip_without_h2, window_update)
from sws_lib import Checks, Server, make_root, remove_root

SWS = sys.argv[1]
skip_without_h2(SWS)
check = Checks()
GET = get_fields("/page.html")


def u32(n):
    return struct.pack(">I", n)


# ---- errors of connections ----------------------------------------------------------------------
# (section, what is wrong, frames after the preface, the errors that are right)

CONNECTION = [
    ("4.2", "a frame above the limit", frame(PING, 0, 0, b"x" * 16385), [FRAME_SIZE_ERROR]),
    ("4.2", "a large HEADERS", frame(HEADERS, 5, 1, b"\0" * 16385), [FRAME_SIZE_ERROR]),
    ("4.3", "fields that cannot be decoded", frame(HEADERS, 5, 1, b"\xff" * 20),
     [COMPRESSION_ERROR]),
    ("4.3", "a cut field", frame(HEADERS, 5, 1, b"\0\x05ab"), [COMPRESSION_ERROR]),
    ("5.1", "DATA on an idle stream", frame(DATA, 1, 1, b"x"), [PROTOCOL_ERROR, STREAM_CLOSED]),
    ("5.1", "RST_STREAM on an idle stream", rst(1), [PROTOCOL_ERROR]),
    ("5.1", "WINDOW_UPDATE on an idle stream", window_update(1, 5), [PROTOCOL_ERROR]),
    ("5.1", "CONTINUATION on an idle stream", frame(CONTINUATION, 4, 1, block(GET)),
     [PROTOCOL_ERROR]),
    ("5.1.1", "a stream with an even number", headers(2, GET), [PROTOCOL_ERROR]),
    ("5.1.1", "a lower number than before", headers(5, GET) + headers(3, GET),
     [PROTOCOL_ERROR, STREAM_CLOSED]),
    ("6.1", "DATA on stream 0", frame(DATA, 0, 0, b"x"), [PROTOCOL_ERROR]),
    ("6.1", "DATA of padding only, and too much",
     headers(1, GET, END_HEADERS) + frame(DATA, PADDED, 1, b"\x06x"), [PROTOCOL_ERROR]),
    ("6.2", "HEADERS on stream 0", headers(0, GET), [PROTOCOL_ERROR]),
    ("6.2", "HEADERS with too much padding", frame(HEADERS, 5 | PADDED, 1, b"\xff" + block(GET)),
     [PROTOCOL_ERROR]),
    ("6.2", "DATA between HEADERS and CONTINUATION",
     headers(1, GET, END_STREAM) + frame(DATA, 0, 1, b"x"), [PROTOCOL_ERROR]),
    ("6.2", "HEADERS of another stream in between",
     headers(1, GET, END_STREAM) + headers(3, GET), [PROTOCOL_ERROR]),
    ("6.2", "PING in between", headers(1, GET, END_STREAM) + frame(PING, 0, 0, b"x" * 8),
     [PROTOCOL_ERROR]),
    ("6.3", "PRIORITY on stream 0", frame(PRIORITY, 0, 0, b"\0\0\0\0\x10"), [PROTOCOL_ERROR]),
    ("6.4", "RST_STREAM on stream 0", rst(0), [PROTOCOL_ERROR]),
    ("6.4", "RST_STREAM of another length", headers(1, GET) + frame(RST_STREAM, 0, 1, b"\0" * 3),
     [FRAME_SIZE_ERROR]),
    ("6.5", "SETTINGS on a stream", frame(SETTINGS, 0, 1), [PROTOCOL_ERROR]),
    ("6.5", "SETTINGS ACK with a payload", frame(SETTINGS, ACK, 0, b"\0" * 6),
     [FRAME_SIZE_ERROR]),
    ("6.5", "SETTINGS of another length", frame(SETTINGS, 0, 0, b"\0" * 5), [FRAME_SIZE_ERROR]),
    ("6.5.2", "ENABLE_PUSH of 2", settings((2, 2)), [PROTOCOL_ERROR]),
    ("6.5.2", "INITIAL_WINDOW_SIZE above 2^31-1", settings((4, 1 << 31)), [FLOW_CONTROL_ERROR]),
    ("6.5.2", "MAX_FRAME_SIZE below 2^14", settings((5, 16383)), [PROTOCOL_ERROR]),
    ("6.5.2", "MAX_FRAME_SIZE above 2^24-1", settings((5, 1 << 24)), [PROTOCOL_ERROR]),
    ("6.6", "PUSH_PROMISE of a client", frame(PUSH_PROMISE, 4, 1, u32(2) + block(GET)),
     [PROTOCOL_ERROR]),
    ("6.7", "PING on a stream", frame(PING, 0, 1, b"x" * 8), [PROTOCOL_ERROR]),
    ("6.7", "PING of another length", frame(PING, 0, 0, b"x" * 7), [FRAME_SIZE_ERROR]),
    ("6.8", "GOAWAY on a stream", frame(GOAWAY, 0, 1, b"\0" * 8), [PROTOCOL_ERROR]),
    ("6.9", "WINDOW_UPDATE of 0 on the connection", window_update(0, 0), [PROTOCOL_ERROR]),
    ("6.9", "WINDOW_UPDATE of another length", frame(WINDOW_UPDATE, 0, 0, b"\0\0\1"),
     [FRAME_SIZE_ERROR]),
    ("6.9.1", "the connection's window above 2^31-1", window_update(0, 0x7fffffff),
     [FLOW_CONTROL_ERROR]),
    ("6.10", "CONTINUATION on stream 0", frame(CONTINUATION, 4, 0, block(GET)), [PROTOCOL_ERROR]),
    ("6.10", "CONTINUATION after the end of fields",
     headers(1, GET, END_HEADERS) + frame(CONTINUATION, 4, 1, block(GET)), [PROTOCOL_ERROR]),
    ("RFC 7541, 2.3.3", "an index that does not exist", frame(HEADERS, 5, 1, b"\xfe"),
     [COMPRESSION_ERROR]),
    ("RFC 7541, 6.1", "index 0", frame(HEADERS, 5, 1, b"\x80"), [COMPRESSION_ERROR]),
    ("RFC 7541, 4.2", "a table above the limit", frame(HEADERS, 5, 1, integer(1 << 20, 5, 0x20)
                                                       + block(GET)), [COMPRESSION_ERROR]),
    ("RFC 7541, 4.2", "a change of the table after a field",
     frame(HEADERS, 5, 1, block(GET) + b"\x20"), [COMPRESSION_ERROR]),
    ("RFC 7541, 5.2", "Huffman padding with EOS",
     frame(HEADERS, 5, 1, block(GET) + b"\0\x01x\x84\xff\xff\xff\xff"), [COMPRESSION_ERROR]),
]

# ---- errors of streams --------------------------------------------------------------------------

STREAM = [
    ("5.3.1", "a stream that depends on itself: ignored", frame(PRIORITY, 0, 1, u32(1) + b"\x10")
     + headers(1, GET), 200),
    ("6.3", "PRIORITY of another length", headers(1, GET, END_HEADERS)
     + frame(PRIORITY, 0, 1, b"\0" * 4), [FRAME_SIZE_ERROR]),
    ("6.9", "WINDOW_UPDATE of 0 on a stream", headers(1, get_fields("/large.bin"))
     + window_update(1, 0), [PROTOCOL_ERROR]),
    ("6.9.1", "a stream's window above 2^31-1", headers(1, get_fields("/large.bin"))
     + window_update(1, 0x7fffffff), [FLOW_CONTROL_ERROR]),
    # An error of the connection, says the RFC; nghttp2 makes it one of each such stream.
    ("6.9.2", "a window above 2^31-1 by SETTINGS",
     headers(1, get_fields("/large.bin")) + window_update(1, 0x7fffffff - 65535 - 100)
     + settings((4, 0x7fffffff)), [FLOW_CONTROL_ERROR]),
    ("8.1.1", "content-length and no body", headers(1, GET + [("content-length", "5")]),
     [PROTOCOL_ERROR]),
    ("8.1.1", "more than content-length", headers(1, GET + [("content-length", "1")], END_HEADERS)
     + frame(DATA, END_STREAM, 1, b"xx"), [PROTOCOL_ERROR, 200]),
    ("8.1", "a second HEADERS that is not the end", headers(1, GET, END_HEADERS)
     + headers(1, [("x", "y")], END_HEADERS), [PROTOCOL_ERROR, 200]),
    ("8.1", "a pseudo-field in trailers", headers(1, GET, END_HEADERS)
     + headers(1, [(":method", "GET")]), [PROTOCOL_ERROR, 200]),
]

# Fields of a request: all but those of the second table are malformed.
MALFORMED = [
    ("8.2.1", "a name in upper case", GET + [("X-Test", "y")]),
    ("8.2.1", "a space in a name", GET + [("x test", "y")]),
    ("8.2.1", "a colon in a name", GET + [("x:test", "y")]),
    ("8.2.1", "an empty name", GET + [("", "y")]),
    ("8.2.1", "a control byte in a name", GET + [("x\x01", "y")]),
    ("8.2.1", "a byte above 127 in a name", GET + [(b"x\xe9", "y")]),
    ("8.2.1", "NUL in a value", GET + [("x", "a\0b")]),
    ("8.2.1", "CR in a value", GET + [("x", "a\rb")]),
    ("8.2.1", "LF in a value", GET + [("x", "a\nb: c")]),
    ("8.2.1", "a space before a value", GET + [("x", " y")]),
    ("8.2.1", "a tab after a value", GET + [("x", "y\t")]),
    ("8.2.2", "connection", GET + [("connection", "close")]),
    ("8.2.2", "keep-alive", GET + [("keep-alive", "5")]),
    ("8.2.2", "proxy-connection", GET + [("proxy-connection", "close")]),
    ("8.2.2", "transfer-encoding", GET + [("transfer-encoding", "chunked")]),
    ("8.2.2", "upgrade", GET + [("upgrade", "h2c")]),
    ("8.2.2", "te with gzip", GET + [("te", "gzip")]),
    ("8.3", "an unknown pseudo-field", GET + [(":test", "x")]),
    ("8.3", "one of answers", GET + [(":status", "200")]),
    ("8.3", "a pseudo-field after a field", GET[:3] + [("x", "y")] + GET[3:]),
    ("8.3.1", "no method", GET[1:]),
    ("8.3.1", "no scheme", GET[:1] + GET[2:]),
    ("8.3.1", "no path", GET[:2] + GET[3:]),
    ("8.3.1", "no authority and no host", GET[:3]),
    ("8.3.1", "two methods", GET[:1] + GET),
    ("8.3.1", "two paths", GET[:3] + GET[2:]),
    ("8.3.1", "two schemes", GET[:2] + GET[1:]),
    ("8.3.1", "two authorities", GET + GET[3:]),
    ("8.3.1", "an empty path", get_fields("")),
    ("8.3.1", "a path without a slash", get_fields("page.html")),
    ("8.3.1", "an asterisk for GET", get_fields("*")),
    ("8.3.1", "a host that is not the authority", GET + [("host", "other")]),
    ("8.3.1", "a second host that is not", GET + [("host", "test"), ("host", "other")]),
    ("8.3.1", "user information", get_fields("/", authority="user@test")),
    ("8.5", "CONNECT with a path", get_fields("/", method="CONNECT")),
    ("8.1.1", "two lengths", GET + [("content-length", "0"), ("content-length", "0")]),
    ("8.1.1", "a length that is not a number", GET + [("content-length", "-1")]),
    ("8.3.1", "a space in the method", get_fields("/", method="G ET")),
    ("8.3.1", "an empty method", get_fields("/", method="")),
    ("8.3.1", "a space in the path", get_fields("/a b")),
    ("8.3.1", "a version in the path", get_fields("/ HTTP/1.1")),
    ("8.3.1", "CR LF in the path", get_fields("/ HTTP/1.1\r\nx: y")),
    ("8.3.1", "a space in the authority", get_fields("/", authority="te st")),
    ("8.3.1", "a fragment in the path", get_fields("/page.html#x")),
]

FINE = [
    ("8.2.2", "te: trailers", GET + [("te", "trailers")], 200),
    ("8.2.3", "cookies in pieces", GET + [("cookie", "a=1"), ("cookie", "b=2")], 200),
    ("8.3.1", "the same host", GET + [("host", "TEST")], 200),
    ("8.3.1", "only a host", GET[:3] + [("host", "test")], 200),
    ("8.3.1", "pseudo-fields in another order", GET[::-1], 200),
    ("8.3.1", "another scheme", get_fields("/page.html", scheme="ftp"), 200),
    ("8.3.1", "OPTIONS of the whole", get_fields("*", method="OPTIONS"), 405),
    ("8.2.1", "an empty value", GET + [("x", "")], 200),
    ("8.2.1", "a value with bytes above 127", GET + [("x", b"\xc3\xa9")], 200),
    ("8.5", "CONNECT", [(":method", "CONNECT"), (":authority", "test:80")], 405),
    ("8.1.1", "a length of 0", GET + [("content-length", "0")], 200),
    ("RFC 9110, 10.1.1", "expect", GET + [("expect", "100-continue")], 200),
]


def outcome(c, stream=1):
    """The error of a stream or a connection, or the status."""
    def over():
        a = c.answers.get(stream)
        return c.goaways or (a and (a.ended or a.reset is not None))
    c.until(over)
    if c.goaways:
        return "connection", c.goaways[0][1]
    a = c.answers.get(stream)
    if a is None:
        return "closed", None
    return ("stream", a.reset) if a.reset is not None else ("status", a.status)


def connections(server):
    for section, name, text, errors in CONNECTION:
        with H2(server.port) as c:
            c.send(text)
            check(c.error() in errors, "%s: %s" % (section, name), c.goaways)


def streams(server):
    for section, name, text, wanted in STREAM:
        with H2(server.port) as c:
            c.updates = False
            c.send(text)
            kind, got = outcome(c)
            wanted = wanted if isinstance(wanted, list) else [wanted]
            check(got in wanted, "%s: %s" % (section, name), (kind, got))
            if kind == "stream":
                check(c.ping(), "%s: %s: the connection goes on" % (section, name))


def fields(server):
    with H2(server.port) as c:
        for section, name, lines in MALFORMED:
            s, c.next = c.next, c.next + 2
            c.send(headers(s, lines))
            kind, got = outcome(c, s)
            # The parser of HTTP/1 finds what nghttp2 does not mind.
            check((kind, got) in (("stream", PROTOCOL_ERROR), ("status", 400)),
                  "%s: %s" % (section, name), (kind, got))
        for section, name, lines, wanted in FINE:
            s, c.next = c.next, c.next + 2
            c.send(headers(s, lines))
            check.equal(outcome(c, s), ("status", wanted), "%s: %s" % (section, name))
        check(c.ping(), "the connection goes on")


def states(server):
    """Frames on streams that are closed."""
    with H2(server.port) as c:
        c.get("/page.html")
        c.send(window_update(1, 5) + rst(1) + frame(PRIORITY, 0, 1, b"\0\0\0\0\x10"))
        check(c.ping(), "5.1: late frames on a closed stream are fine")
        check.equal(c.get("/page.html").status, 200, "... and others go on")
        c.send(headers(1, GET))
        check(c.error() in (STREAM_CLOSED, PROTOCOL_ERROR), "5.1: HEADERS on a closed stream",
              c.goaways)
    with H2(server.port) as c:
        c.send(headers(1, get_fields("/large.bin")) + frame(DATA, 0, 1, b"x"))
        kind, got = outcome(c)
        check((kind, got) in (("stream", STREAM_CLOSED), ("connection", STREAM_CLOSED)),
              "5.1: DATA after the end of a request", (kind, got))
    with H2(server.port) as c:
        c.updates = False
        c.until(lambda: c.settings)
        most = c.settings[3]
        for _ in range(most):
            c.request("/large.bin")
        extra = c.request("/large.bin")
        kind, got = outcome(c, extra)
        check((kind, got) in (("stream", REFUSED_STREAM), ("connection", PROTOCOL_ERROR)),
              "5.1.2: too many streams", (kind, got))


def harmless(server):
    """What must be ignored, or is just unusual."""
    with H2(server.port) as c:
        c.send(frame(0xbe, 0xff, 0, b"unknown") + frame(0x10, 0, 0, u32(1) + b"u=1"))
        c.send(settings((0x99, 5), (1, 0), (1, 100), (6, 100)))
        check(c.send(frame(PING, 0xfe, 0, b"\0" * 8)) and c.until(lambda: c.pings),
              "6.7: PING with unknown flags")
        c.send(window_update(0, 1000))
        check(c.ping(b"abcdefgh") and c.pings[-1] == b"abcdefgh", "6.7: PING is answered")
        check.equal(c.settings_acks, 2, "6.5.3: SETTINGS are acknowledged")
        acks = len(c.pings)
        c.send(frame(PING, ACK, 0, b"zzzzzzzz"))
        check(c.ping() and len(c.pings) == acks + 1, "6.7: an ACK is not answered")
        s = c.next
        c.next += 2
        c.send(frame(HEADERS, 5 | PADDED | PRIO, s, b"\x04" + u32(0) + b"\x10" + block(GET)
                     + b"\0" * 4))
        check.equal(c.answer(s).status, 200, "6.2: padding and a priority")
        s = c.next
        c.next += 2
        text = block(GET)
        c.send(frame(HEADERS, 1, s, text[:5]) + frame(CONTINUATION, 0, s, b"")
               + frame(CONTINUATION, 0, s, text[5:9]) + frame(CONTINUATION, 4, s, text[9:]))
        check.equal(c.answer(s).status, 200, "6.10: fields in four frames")
        s = c.next
        c.next += 2
        c.send(headers(s, GET, END_HEADERS) + frame(DATA, PADDED, s, b"\x03abc\0\0\0")
               + frame(DATA, END_STREAM | PADDED, s, b"\0"))
        check.equal(c.answer(s).status, 200, "6.1: padded DATA")
        for n in (0, 4096, 100):
            c.send(settings((1, n)))
            check.equal(c.get("/page.html").status, 200, "6.5.2: a table of %d bytes" % n)
        indexed = b"".join(b"\x40" + field(n, v)[1:] for n, v in GET)
        for text in (indexed, b"\xc1\xc0\xbf\xbe"):
            s = c.next
            c.next += 2
            c.send(frame(HEADERS, 5, s, text))
            check.equal(outcome(c, s), ("status", 200), "RFC 7541: fields of the table")
        a = c.get("/page.html", more=[("priority", "u=0, i")])
        check.equal(a.status, 200, "RFC 9218: a priority")
    with H2(server.port) as c:
        c.get("/page.html")
        c.send(frame(GOAWAY, 0, 0, u32(0) + u32(NO_ERROR)))
        c.error()
        check(c.closed, "6.8: after the GOAWAY of a client the connection ends")
    with H2(server.port) as c:
        c.updates = False
        s = c.request("/medium.bin")
        c.send(frame(GOAWAY, 0, 0, u32(0) + u32(NO_ERROR)))
        check.equal(len(c.answer(s).body), 51200, "6.8: ... when the last answer is sent")


def main():
    root = make_root()
    try:
        with Server(SWS, os.path.join(root, "www")) as server:
            connections(server)
            streams(server)
            fields(server)
            states(server)
            harmless(server)
            check.equal(server.stop(), 0, "exit status")
            check("assert" not in server.stderr(), "nothing on standard error", server.stderr())
    finally:
        remove_root(root)
    check.finish()


main()
