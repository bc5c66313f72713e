# SPDX-License-Identifier: MIT
"""sws without memory, with a disk that fails, and without threads: sws_scarce_test.py SWS

An answer may then be an error, or missing together with its connection; it is never wrong, and the
server serves on."""
import ctypes
import errno
import mmap
import os
import shutil
import subprocess
import sys
import tempfile

from sws_lib import Checks, Client, Program, make_root, read, remove_root

check = Checks()
SWS = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
FIELDS = ("memory_at", "memory_all", "memory_failed", "disk_error", "disk_failed", "no_threads",
          "threads_failed")


class Control(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]


def build(folder):
    """The library to preload, or None and why."""
    shim = os.path.join(folder, "shim.so")
    compiler = os.environ.get("CC", "cc").split()
    try:
        p = subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", shim,
                            os.path.join(HERE, "scarce_shim.c"), "-ldl"], capture_output=True)
    except FileNotFoundError:
        return None, "no compiler"
    return (shim, "") if p.returncode == 0 else (None, p.stderr.decode())


class Scarce(Program):
    """An sws whose resources fail on demand."""

    def __init__(self, folder, root, *args):
        name = os.path.join(folder, "control")
        with open(name, "wb") as f:
            f.write(b"\0" * ctypes.sizeof(Control))
        with open(name, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)
        self.control = Control.from_buffer(self.map)
        super().__init__([SWS, *([] if "--listen" in args else ["--port", "0"]), *args, root], r"at https?://.*:(\d+)/$",
                         env={"LD_PRELOAD": os.path.join(folder, "shim.so"), "SCARCE": name})
        self.port = int(self.ready.group(1))

    def connect(self):
        return Client("127.0.0.1", self.port)


class Rounds:
    """Requests of all kinds, among them one for a file that no request has named."""

    def __init__(self, root):
        self.root = root
        self.number = 0
        self.large = read(root, "large.bin")
        self.medium = read(root, "medium.bin")

    def new_file(self):
        self.number += 1
        name = "new-%d.txt" % self.number
        with open(os.path.join(self.root, "www", name), "w") as f:
            f.write(name * 10)
        return "/" + name, (name * 10).encode()

    def ask(self, server, path, body, statuses=(200,), **fields):
        """One request; True if it got its answer."""
        try:
            with server.connect() as c:
                r = c.get(path, **fields)
        except ConnectionError:
            return False
        if r is None:
            return False
        if r.status in (500, 503):
            return False
        check(r.status in statuses, "%s: status" % path, r.head)
        if body is not None:
            check.equal(r.body, body, "%s: body" % path)
        return True

    def all(self, server):
        path, body = self.new_file()
        return [
            self.ask(server, "/page.html", b"x" * 1024),
            self.ask(server, path, body),
            self.ask(server, path, body),
            self.ask(server, "/large.bin", self.large),
            self.ask(server, "/large.bin", self.large[5:100], (206,), range="bytes=5-99"),
            self.ask(server, "/medium.bin", self.medium[:3], (206,), range="bytes=0-2"),
            self.ask(server, "/sub", None, (301,)),
            self.ask(server, "/none", None, (404,)),
            self.pipelined(server),
        ]

    def pipelined(self, server):
        """Several at once, of which any may be an error, and the rest may be missing."""
        try:
            with server.connect() as c:
                c.send(b"GET /page.html HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
                for _ in range(20):
                    r = c.response()
                    if r is None or r.status in (500, 503):
                        return False
                    check.equal((r.status, r.body), (200, b"x" * 1024), "pipelined")
        except ConnectionError:
            return False
        return True


def serves(server, rounds, name):
    check(server.process.poll() is None, "%s: it runs" % name, server.stderr())
    check.equal(rounds.all(server), [True] * 9, "%s: it serves" % name)


def memory(folder, root):
    rounds = Rounds(root)
    www = os.path.join(root, "www")
    failed = 0
    with Scarce(folder, www, "--cores", "1") as server:
        c = server.control
        serves(server, rounds, "before")
        # The next allocation fails, the second, and so on, until a round has no more.
        for at in range(1, 100000):
            before = c.memory_failed
            c.memory_at = at
            rounds.all(server)
            c.memory_at = 0
            if not check(server.process.poll() is None, "allocation %d" % at, server.stderr()):
                return
            if c.memory_failed == before:
                break
            failed += 1
        serves(server, rounds, "after %d failures" % failed)
        check(failed > 10, "failures", failed)
        # All fail from one on.
        for at in [*range(1, 30), *range(30, failed, 7)]:
            c.memory_all = 1
            c.memory_at = at
            rounds.all(server)
            c.memory_at = 0
            c.memory_all = 0
            if not check(server.process.poll() is None, "all from %d on" % at, server.stderr()):
                return
            serves(server, rounds, "after all from %d on" % at)
        print("%d allocations failed one by one, %d in all" % (failed, c.memory_failed))
        check.equal(server.stop(), 0, "exit status")


def make_certificate(folder):
    """Files of a certificate and its key, or None."""
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    try:
        p = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert,
                            "-days", "9", "-subj", "/CN=localhost"], capture_output=True)
    except FileNotFoundError:
        return None
    return "%s,%s" % (cert, key) if p.returncode == 0 else None


def memory_of(folder, root, name, step, args, curl):
    """As memory, for one request by curl: of HTTP/2, and of TLS, whose libraries need memory."""
    body = read(root, "medium.bin")
    www = os.path.join(root, "www")

    def ask(server):
        p = subprocess.run(["curl", "-s", "-k", "-m", "60", "-w", "%{http_code}", *curl[:-1],
                            "%s:%d/medium.bin" % (curl[-1], server.port)], capture_output=True)
        if p.returncode != 0 or p.stdout[-3:] in (b"500", b"503"):
            return False
        return check.equal(p.stdout, body + b"200", "%s: body" % name)

    try:
        server = Scarce(folder, www, "--cores", "1", *args)
    except RuntimeError as e:
        print("not tested: %s: %s" % (name, e))
        return
    with server:
        c = server.control
        if not ask(server):
            print("not tested: %s: sws or curl has not got it" % name)
            return
        at, failed = 1, 0
        for at in range(1, 1000000, step):
            before = c.memory_failed
            c.memory_at = at
            ask(server)
            c.memory_at = 0
            if not check(server.process.poll() is None, "%s: allocation %d" % (name, at),
                         server.stderr()):
                return
            if c.memory_failed == before:
                break
            failed += 1
        check(ask(server), "%s: after failures" % name)
        for first in range(1, at, max(1, at // 20)):
            c.memory_all = 1
            c.memory_at = first
            ask(server)
            c.memory_at = 0
            c.memory_all = 0
            if not check(server.process.poll() is None, "%s: all from %d on" % (name, first),
                         server.stderr()):
                return
            check(ask(server), "%s: after all from %d on" % (name, first))
        print("%s: %d of %d allocations failed one by one, %d in all" %
              (name, failed, at, c.memory_failed))
        check.equal(server.stop(), 0, "%s: exit status" % name)


def disk(folder, root):
    rounds = Rounds(root)
    www = os.path.join(root, "www")
    with Scarce(folder, www, "--cores", "1") as server:
        c = server.control
        serves(server, rounds, "before")
        for error in (errno.EIO, errno.ENOMEM, errno.ESTALE):
            c.disk_error = error
            got = rounds.all(server)
            c.disk_error = 0
            # What is in memory is served; what is only on the disk is not.
            check.equal(got[0], True, "a page in memory, with errno %d" % error)
            check.equal(got[1:4], [False] * 3, "files on the disk, with errno %d" % error)
            serves(server, rounds, "after errno %d" % error)
        check(c.disk_failed > 0, "reads failed")
        # It fails in the middle of a body: the connection ends, and the body is not whole.
        with server.connect() as client:
            client.send(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            client.fill()
            c.disk_error = errno.EIO
            r = client.response()
            check(r is None or r.body == rounds.large, "an error inside a body", r)
        c.disk_error = 0
        serves(server, rounds, "after an error inside a body")
        check.equal(server.stop(), 0, "exit status")


def threads(folder, root):
    """No helper can be made: the cores read the files."""
    rounds = Rounds(root)
    www = os.path.join(root, "www")
    with Scarce(folder, www, "--cores", "1") as server:
        server.control.no_threads = 1
        for name in ("large.bin", "medium.bin"):
            fd = os.open(os.path.join(www, name), os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)
        serves(server, rounds, "without threads")
        check.equal(server.stop(), 0, "exit status")


top = make_root()
place = tempfile.mkdtemp(prefix="mely-scarce-")
try:
    library, why = build(place)
    if os.environ.get("INSTRUMENT_FLAGS"):
        print("not tested: a build with a sanitizer has its own malloc")
    elif library is None:
        print("not tested: %s" % why)
    else:
        memory(place, top)
        memory_of(place, top, "HTTP/2", 1, [], ["--http2-prior-knowledge", "http://127.0.0.1"])
        pair = make_certificate(place)
        if pair:
            tls = ["--listen", "127.0.0.1:0 tls", "--tls-certificate", pair]
            memory_of(place, top, "TLS 1.3", 11, tls, ["--http1.1", "https://127.0.0.1"])
            memory_of(place, top, "TLS 1.2 and HTTP/2", 13, tls,
                      ["--tls-max", "1.2", "--http2", "https://127.0.0.1"])
        disk(place, top)
        threads(place, top)
finally:
    shutil.rmtree(place)
    remove_root(top)
check.finish()
