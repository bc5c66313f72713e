# SPDX-License-Identifier: MIT
"""An origin server for proxy_test.py: one that does as its path says, good or bad."""
import socket
import struct
import threading
import time


WORDS = b"".join(b"%07d " % i for i in range(1200000))


def pattern(n):
    """n bytes that reveal missing and reordered parts."""
    return WORDS[:n]


class Origin:
    """Threads, one per connection, each for one request. hits counts requests by path."""

    def __init__(self):
        self.lock = threading.Lock()
        self.hits = {}
        self.heads = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                self.answer(connection)
            except OSError:
                pass  # the proxy has closed, which some tests want

    def answer(self, connection):
        stream = connection.makefile("rwb")
        method, path, _ = stream.readline().decode().split()
        head = {}
        while (line := stream.readline().decode().strip()):
            name, value = line.split(":", 1)
            head[name.lower()] = value.strip()
        body = stream.read(int(head.get("content-length", 0)))
        with self.lock:
            self.hits[path] = self.hits.get(path, 0) + 1
            self.heads[path] = head
        kind, _, argument = path[1:].partition("/")
        getattr(self, "do_" + kind.partition("?")[0])(connection, stream, argument, method, body)
        stream.flush()

    @staticmethod
    def whole(stream, body, head="", status="200 OK", send=True):
        stream.write(f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode())
        if send:
            stream.write(body)

    def do_plain(self, _, stream, argument, method, __):
        self.whole(stream, f"plain {argument}".encode(), "Cache-Control: max-age=60\r\n"
                   "Connection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nKeep-Alive: timeout=5\r\n",
                   send=method != "HEAD")

    def do_unsaid(self, _, stream, argument, *__):
        self.whole(stream, f"unsaid {argument}".encode())

    def do_once(self, _, stream, argument, *__):
        rule = {"nostore": "Cache-Control: no-store\r\n", "private": "Cache-Control: private\r\n",
                "stale": "Cache-Control: max-age=0\r\n", "cookie": "Set-Cookie: a=b\r\n",
                "vary": "Vary: Accept\r\n", "expired": "Expires: 0\r\n",
                "past": "Expires: Thu, 01 Jan 1998 00:00:00 GMT\r\n"}[argument]
        self.whole(stream, b"once", rule)

    def do_second(self, _, stream, *__):
        self.whole(stream, b"second", "Cache-Control: max-age=1\r\n")

    def do_missing(self, _, stream, *__):
        self.whole(stream, b"missing", status="404 Not Here")

    def do_big(self, _, stream, argument, *__):
        self.whole(stream, pattern(int(argument)), "Cache-Control: max-age=60\r\n")

    def do_chunked(self, _, stream, argument, *__):
        body, at, size = pattern(int(argument)), 0, 1
        stream.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while at < len(body):
            part = body[at:at + size]
            stream.write(b"%x;note=1\r\n%s\r\n" % (len(part), part))
            at, size = at + size, size * 3 % 60013 + 1
        stream.write(b"0\r\nX-Trailer: 1\r\n\r\n")

    def do_close(self, _, stream, argument, *__):
        stream.write(b"HTTP/1.0 200 OK\r\n\r\n" + pattern(int(argument)))

    def do_cut(self, _, stream, argument, *__):
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + pattern(int(argument)))

    def do_cutchunk(self, _, stream, *__):
        stream.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhe")

    def do_badchunk(self, _, stream, *__):
        stream.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n0\r\n\r\n")

    def do_raw(self, _, stream, argument, *__):
        stream.write(RAW[argument])

    def do_nothing(self, *_):
        pass

    def do_reset(self, connection, stream, *_):
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome")
        stream.flush()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def do_slow(self, _, stream, argument, *__):
        time.sleep(float(argument))
        self.whole(stream, b"slow")

    def do_stall(self, _, stream, argument, *__):
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome")
        stream.flush()
        time.sleep(float(argument))

    def do_early(self, _, stream, *__):
        stream.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        self.whole(stream, b"after two")

    def do_empty(self, _, stream, argument, *__):
        stream.write(f"HTTP/1.1 {argument} Nothing\r\nX-End: 1\r\n\r\n".encode())

    def do_post(self, _, stream, argument, method, body):
        self.whole(stream, method.encode() + b" " + body)


RAW = {
    "garbage": b"\x00\xff\x13\x37" * 100 + b"\r\n\r\n",
    "version": b"HTTP/3.0 200 OK\r\n\r\n",
    "status": b"HTTP/1.1 20 OK\r\n\r\n",
    "zero": b"HTTP/1.1 000 OK\r\n\r\n",
    "switch": b"HTTP/1.1 101 Switching\r\n\r\n",
    "header": b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
    "folded": b"HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\n\r\n",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
    "lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "hugelength": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
    "coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nhello",
    "longhead": b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 200000 + b"\r\n\r\n",
    "manyheads": b"HTTP/1.1 200 OK\r\n" + b"X-Many: x\r\n" * 1000 + b"\r\n",
    "endless": b"x" * 100000,
    "half": b"HTTP/1.1 200 OK\r\nContent-",
}
