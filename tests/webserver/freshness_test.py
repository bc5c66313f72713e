# SPDX-License-Identifier: MIT
"""sws, while the files change. Usage: freshness_test.py PATH-TO-SWS

Writers replace, rewrite, cut and extend files, small ones and large ones, while clients fetch them,
some slowly. Every body is one version as a whole, or the connection ends before its end: it is
never filled up, and never of two versions. At the end the last version is seen.
"""
import os
import shutil
import sys
import tempfile
import threading
import time

from sws_lib import PATIENCE, Checks, Server, parse_head

check = Checks()
CHANGES = 25
# More than the time for which a file must be at rest (SWS_REST_NS).
PAUSE = 0.07
# A file that has not changed for this time may be sent by sendfile, which lends the pages of the
# file, and a write that takes longer than this may be seen by halves: sws.1, FILES THAT CHANGE.
SETTLED, SLOW_WRITE = 1.0, 0.03
LARGE, SMALL = 1 << 20, 1 << 14


def record(version):
    return b"%015d\n" % version


class Writer(threading.Thread):
    """Changes one file again and again; knows what it may contain."""

    def __init__(self, www, how, size):
        super().__init__()
        self.how, self.size = how, size
        self.name = "%s-%d.bin" % (how, size)
        self.path = os.path.join(www, self.name)
        self.version = 0
        self.appended = {size // 16}
        # Versions whose change may be seen by halves.
        self.excused = set()
        self.write_whole(self.path, 0)

    def records(self, version):
        """The length of a version, in records."""
        return self.size // 16 + (0 if self.how in ("rewrite", "append") else version * 37 % 100)

    def content(self, version):
        return record(version) * self.records(version)

    def write_whole(self, path, version):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(fd, self.content(version))
        os.close(fd)

    def change(self, version):
        if self.how == "replace":
            self.write_whole(self.path + ".new", version)
            os.rename(self.path + ".new", self.path)
        elif self.how == "truncate":
            self.write_whole(self.path, version)
        elif self.how == "rewrite":
            fd = os.open(self.path, os.O_WRONLY)
            os.pwrite(fd, self.content(version), 0)
            os.close(fd)
        else:
            self.appended.add(max(self.appended) + version)
            with open(self.path, "ab", buffering=0) as f:
                f.write(record(0) * version)

    def run(self):
        end = time.monotonic()
        for version in range(1, CHANGES + 1):
            time.sleep(PAUSE)
            start = time.monotonic()
            self.version = version
            if start - end > SETTLED:
                self.excused.update((version - 1, version))
            self.change(version)
            end = time.monotonic()
            if end - start > SLOW_WRITE:
                self.excused.update((version - 1, version))

    def is_version(self, body):
        if self.how == "append":
            return len(body) % 16 == 0 and len(body) // 16 in self.appended \
                and body == record(0) * (len(body) // 16)
        if self.how == "truncate" and body == b"":
            return True
        try:
            return body == self.content(int(body[:15]))
        except ValueError:
            return False

    def is_excused(self, body):
        found = {int(body[i:i + 15]) for i in range(0, len(body) // 16 * 16, 16)
                 if body[i:i + 15].isdigit()}
        return self.how != "replace" and bool(found & self.excused)

    def last(self):
        return record(0) * max(self.appended) if self.how == "append" else self.content(self.version)


class Tally:
    def __init__(self):
        self.whole, self.ended, self.wrong = {}, {}, []

    def add(self, writer, response):
        if response is None:
            self.ended[writer.name] = self.ended.get(writer.name, 0) + 1
        elif response.status != 200 or (not writer.is_version(response.body)
                                        and not writer.is_excused(response.body)):
            self.wrong.append((writer.name, response.status, len(response.body),
                               sorted(set(response.body.split(b"\n")))[:4]))
        else:
            self.whole[writer.name] = self.whole.get(writer.name, 0) + 1


def slow_response(c, pause):
    """The next answer; the client takes a part of it, and the rest later."""
    c.fill()
    time.sleep(pause)
    return c.response()


def is_whole(c):
    """Does an answer that ends the connection arrive with all its bytes?"""
    while b"\r\n\r\n" not in c.data and c.fill():
        pass
    head, body = c.data.split(b"\r\n\r\n", 1)
    wanted, n = int(parse_head(head)[1]["content-length"]), len(body)
    while True:
        c.data = b""
        if not c.fill():
            return n == wanted
        n += len(c.data)


def fetch(server, writers, number, stop, tally):
    slow = number % 3 == 0
    turn = number
    c = server.connect(rcvbuf=65536 if slow else None)
    while not stop.is_set():
        w = writers[turn % len(writers)]
        turn += 1
        c.send(b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % w.name.encode())
        r = slow_response(c, 0.02) if slow and w.size == LARGE else c.response()
        tally.add(w, r)
        if r is None or turn % 16 == 0:
            c.close()
            c = server.connect(rcvbuf=65536 if slow else None)
    c.close()


def under_load(program, *args):
    what = " ".join(args) or "defaults"
    www = tempfile.mkdtemp(prefix="mely-fresh-")
    try:
        with Server(program, www, *args) as server:
            writers = [Writer(www, how, size) for how in ("replace", "rewrite", "truncate", "append")
                       for size in (SMALL, LARGE)]
            stop, tallies = threading.Event(), [Tally() for _ in range(12)]
            clients = [threading.Thread(target=fetch, args=(server, writers, i, stop, tally))
                       for i, tally in enumerate(tallies)]
            for t in writers + clients:
                t.start()
            for w in writers:
                w.join()
            stop.set()
            for t in clients:
                t.join()
            wrong = sum((t.wrong for t in tallies), [])
            check(not wrong, what + ": each body is one version", wrong[:5])
            for w in writers:
                whole = sum(t.whole.get(w.name, 0) for t in tallies)
                ended = sum(t.ended.get(w.name, 0) for t in tallies)
                print("%-10s %-20s %5d whole, %4d ended early" % (what, w.name, whole, ended))
                check(whole > 0, "%s, %s: some are whole" % (what, w.name))
                if w.how == "replace":
                    check.equal(ended, 0, "%s, %s: a replaced file is sent to its end" %
                                (what, w.name))
                end = time.monotonic() + PATIENCE
                while (r := server.get("/" + w.name)) is None or r.body != w.last():
                    if time.monotonic() > end:
                        break
                    time.sleep(0.05)
                check(r is not None and r.body == w.last(), "%s, %s: the last version is seen" %
                      (what, w.name))
            check.equal(server.stop(), 0, what + ": exit status")
            check.equal(server.stderr(), "", what + ": nothing on stderr")
    finally:
        shutil.rmtree(www, ignore_errors=True)


def in_the_middle(program):
    """A large file that has long been at rest changes when a client has a part of it."""
    www = tempfile.mkdtemp(prefix="mely-fresh-")
    # More than the buffers of two sockets hold.
    size = 32 << 20
    path = os.path.join(www, "f.bin")

    def rewrite():
        with open(path, "r+b") as f:
            f.write(b"new")

    def extend():
        with open(path, "ab") as f:
            f.write(b"more")

    def replace():
        with open(path + ".new", "wb") as f:
            f.write(b"new")
        os.rename(path + ".new", path)

    try:
        with Server(program, www) as server:
            for name, change, whole in (("nothing", lambda: None, True), ("rename", replace, True),
                                        ("unlink", lambda: os.unlink(path), True),
                                        ("rewrite", rewrite, False), ("extend", extend, False),
                                        ("truncate", lambda: os.truncate(path, size - 5000), False),
                                        ("empty", lambda: os.truncate(path, 0), False)):
                for fields in (b"", b"Range: bytes=1-\r\n",
                               b"Range: bytes=0-%d,%d-\r\n" % (size // 2, size - 1000)):
                    with open(path, "wb") as f:
                        f.truncate(size)
                    os.utime(path, (1700000000, 1700000000))
                    with server.connect(rcvbuf=65536) as c:
                        c.send(b"GET /f.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + fields
                               + b"\r\n")
                        c.fill()
                        change()
                        check.equal(is_whole(c), whole, "half sent: %s %r" % (name, fields))
            check.equal(server.stop(), 0, "exit status")
            check.equal(server.stderr(), "", "nothing on stderr")
    finally:
        shutil.rmtree(www, ignore_errors=True)


def by_halves(program):
    """A file that is just being written is served when that has ended."""
    www = tempfile.mkdtemp(prefix="mely-fresh-")
    try:
        with Server(program, www) as server:
            for size in (SMALL, LARGE):
                good = 0
                # The machine may hold us up longer than sws waits, but not every time.
                for i in range(10):
                    name = "half-%d-%d.bin" % (size, i)
                    with open(os.path.join(www, name), "wb", buffering=0) as f, \
                            server.connect() as c:
                        f.write(b"a" * size)
                        c.send(b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % name.encode())
                        time.sleep(0.01)
                        f.write(b"b" * size)
                        good += c.response().body == b"a" * size + b"b" * size
                check(good > 0, "a file that is being written, %d bytes" % size, good)
                print("written in halves, %d bytes: %d of 10 whole" % (size, good))
            check.equal(server.stop(), 0, "exit status")
    finally:
        shutil.rmtree(www, ignore_errors=True)


def main():
    by_halves(sys.argv[1])
    in_the_middle(sys.argv[1])
    under_load(sys.argv[1])
    under_load(sys.argv[1], "--sendfile=off")
    check.finish()


if __name__ == "__main__":
    main()
