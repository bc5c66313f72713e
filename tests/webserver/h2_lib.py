# SPDX-License-Identifier: MIT
"""An HTTP/2 client of raw frames, for the tests of sws. It encodes fields without compression and
decodes those of the server with the HPACK decoder of libnghttp2."""
import ctypes
import ctypes.util
import socket
import struct
import subprocess
import sys

from sws_lib import PATIENCE

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, \
    CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIO = 1, 1, 4, 8, 32
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, \
    FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, \
    ENHANCE_YOUR_CALM = range(12)


def speaks_h2(sws):
    """Is this program built with HTTP/2?"""
    return b"--http2" in subprocess.run([sws, "--help"], capture_output=True).stdout


def skip_without_h2(sws):
    if not ctypes.util.find_library("nghttp2"):
        print("libnghttp2 not found: install libnghttp2-dev", file=sys.stderr)
        sys.exit(77)
    if not speaks_h2(sws):
        print("this sws has no HTTP/2: build it with libnghttp2-dev", file=sys.stderr)
        sys.exit(77)


# ---- HPACK ---------------------------------------------------------------------------------------


class NV(ctypes.Structure):
    _fields_ = [("name", ctypes.POINTER(ctypes.c_uint8)),
                ("value", ctypes.POINTER(ctypes.c_uint8)),
                ("name_len", ctypes.c_size_t), ("value_len", ctypes.c_size_t),
                ("flags", ctypes.c_uint8)]


class Decoder:
    """The decoder of libnghttp2."""
    lib = None

    def __init__(self):
        if Decoder.lib is None:
            Decoder.lib = ctypes.CDLL(ctypes.util.find_library("nghttp2"))
            Decoder.lib.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
            Decoder.lib.nghttp2_hd_inflate_hd2.argtypes = [
                ctypes.c_void_p, ctypes.POINTER(NV), ctypes.POINTER(ctypes.c_int),
                ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
        self.state = ctypes.c_void_p()
        self.lib.nghttp2_hd_inflate_new(ctypes.byref(self.state))

    def close(self):
        if self.state:
            self.lib.nghttp2_hd_inflate_del(self.state)
            self.state = None

    def decode(self, block):
        fields = []
        while True:
            nv, flags = NV(), ctypes.c_int(0)
            n = self.lib.nghttp2_hd_inflate_hd2(self.state, ctypes.byref(nv), ctypes.byref(flags),
                                                block, len(block), 1)
            if n < 0:
                raise ValueError("the fields of the server cannot be decoded")
            block = block[n:]
            if flags.value & 2:
                fields.append((ctypes.string_at(nv.name, nv.name_len).decode(),
                               ctypes.string_at(nv.value, nv.value_len).decode("latin-1")))
            if flags.value & 1:
                self.lib.nghttp2_hd_inflate_end_headers(self.state)
                return fields
            if not block and not flags.value & 2:
                return fields


def integer(n, bits, first=0):
    most = (1 << bits) - 1
    if n < most:
        return bytes([first | n])
    out, n = bytes([first | most]), n - most
    while n >= 128:
        out, n = out + bytes([n % 128 + 128]), n // 128
    return out + bytes([n])


def field(name, value):
    """A literal without indexing, without Huffman."""
    name = name if isinstance(name, bytes) else name.encode("latin-1")
    value = value if isinstance(value, bytes) else value.encode("latin-1")
    return b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value


def block(fields):
    return b"".join(field(n, v) for n, v in fields)


def get_fields(path="/", method="GET", authority="test", scheme="http", more=()):
    return [(":method", method), (":scheme", scheme), (":path", path),
            (":authority", authority), *more]


# ---- frames --------------------------------------------------------------------------------------


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) \
        + struct.pack(">I", stream) + payload


def headers(stream, fields, flags=END_STREAM | END_HEADERS):
    """HEADERS, and CONTINUATION if the fields need it."""
    text = block(fields)
    parts = [text[at:at + 16384] for at in range(0, len(text), 16384)]
    if len(parts) < 2:
        return frame(HEADERS, flags, stream, text)
    return frame(HEADERS, flags & ~END_HEADERS, stream, parts[0]) \
        + b"".join(frame(CONTINUATION, 0, stream, p) for p in parts[1:-1]) \
        + frame(CONTINUATION, flags & END_HEADERS, stream, parts[-1])


def window_update(stream, n):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", n))


def rst(stream, error=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", k, v) for k, v in pairs))


class Answer:
    def __init__(self):
        self.fields = []
        self.body = b""
        self.frames = 0
        self.ended = False
        self.reset = None

    @property
    def status(self):
        return int(self.fields[0][1]) if self.fields else None

    def __getitem__(self, name):
        values = [v for n, v in self.fields if n == name]
        return values[0] if values else None


class H2:
    """A connection. Answers are gathered by stream; order has the streams as their frames came."""

    def __init__(self, port, preface=True, pairs=(), rcvbuf=None, wrap=None):
        self.s = socket.socket()
        if rcvbuf:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.s.settimeout(PATIENCE)
        self.s.connect(("127.0.0.1", port))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if wrap:
            self.s = wrap(self.s)
        self.data = b""
        self.decoder = Decoder()
        self.answers = {}
        self.order = []
        self.ended = []
        self.settings = {}
        self.goaways = []
        self.pings = []
        self.settings_acks = 0
        self.next = 1
        self.closed = False
        self.updates = True      # give back what is read to the windows
        if preface:
            self.send(PREFACE + settings(*pairs))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.decoder.close()
        self.s.close()

    def send(self, data):
        """False: the server has closed."""
        try:
            self.s.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def request(self, path="/", flags=END_STREAM | END_HEADERS, **kw):
        stream, self.next = self.next, self.next + 2
        self.send(headers(stream, get_fields(path, **kw), flags))
        return stream

    def read_frame(self):
        """(kind, flags, stream, payload), or None at the end of the stream."""
        while len(self.data) < 9 or len(self.data) < 9 + int.from_bytes(self.data[:3], "big"):
            try:
                more = self.s.recv(262144)
            except ConnectionResetError:
                more = b""
            if not more:
                self.closed = True
                return None
            self.data += more
        n = int.from_bytes(self.data[:3], "big")
        head, payload, self.data = self.data[:9], self.data[9:9 + n], self.data[9 + n:]
        return head[3], head[4], int.from_bytes(head[5:9], "big"), payload

    def step(self):
        """Take the next frame; False at the end of the stream."""
        got = self.read_frame()
        if got is None:
            return False
        kind, flags, stream, payload = got
        a = self.answers.setdefault(stream, Answer()) if stream else None
        if kind == HEADERS:
            assert flags & END_HEADERS
            a.fields = self.decoder.decode(payload)
            self.order.append(stream)
        elif kind == DATA:
            a.body += payload
            a.frames += 1
            self.order.append(stream)
            if self.updates and payload:
                self.send(window_update(0, len(payload)) + window_update(stream, len(payload)))
        elif kind == RST_STREAM:
            a.reset = int.from_bytes(payload, "big")
        elif kind == GOAWAY:
            self.goaways.append((int.from_bytes(payload[:4], "big"),
                                 int.from_bytes(payload[4:8], "big")))
        elif kind == PING and flags & ACK:
            self.pings.append(payload)
        elif kind == SETTINGS and flags & ACK:
            self.settings_acks += 1
        elif kind == SETTINGS:
            for at in range(0, len(payload), 6):
                k, v = struct.unpack(">HI", payload[at:at + 6])
                self.settings[k] = v
            self.send(frame(SETTINGS, ACK))
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            a.ended = True
            self.ended.append(stream)
        return True

    def until(self, true):
        """Take frames until the condition holds; False: the connection ended before."""
        while not true():
            if not self.step():
                return true()
        return True

    def answer(self, stream):
        self.until(lambda: stream in self.answers and (self.answers[stream].ended or
                                                       self.answers[stream].reset is not None))
        return self.answers.get(stream, Answer())

    def get(self, path="/", **kw):
        return self.answer(self.request(path, **kw))

    def ping(self, payload=b"12345678"):
        """Has the server answered a PING, and so all that was sent before?"""
        before = len(self.pings)
        self.send(frame(PING, 0, 0, payload))
        return self.until(lambda: len(self.pings) > before)

    def error(self):
        """Read to the end: the error of the last GOAWAY; None: there was none."""
        while self.step():
            pass
        return self.goaways[-1][1] if self.goaways else None
