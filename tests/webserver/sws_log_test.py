# SPDX-License-Identifier: MIT
"""The access log of sws: formats, escaping, order, SIGUSR1, files that take nothing, the end:
sws_log_test.py SWS"""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from sws_lib import PATIENCE, Checks, Server, make_root, remove_root

check = Checks()
SWS = sys.argv[1]
LINE = re.compile(r'(\S+) - - \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+)'
                  r'(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?'
                  r'(?: host="((?:[^"\\]|\\.)*)" us=(\d+) bytes=(\d+) tls=(\S+) range=(yes|no) end=(complete|aborted))?')


def lines_of(path):
    with open(path, "rb") as f:
        data = f.read()
    check(data == b"" or data.endswith(b"\n"), "the last line has its end")
    return data.decode("utf-8").splitlines()


def eventually(what, test):
    """The log is written by a thread: wait for it, as long as a test may."""
    end = time.monotonic() + PATIENCE
    while not test():
        if time.monotonic() > end:
            check(False, what)
            return
        time.sleep(0.02)
    check(True, what)


def wait_for_lines(path, n, what):
    eventually("%s: %d lines" % (what, n),
               lambda: os.path.exists(path) and open(path, "rb").read().count(b"\n") >= n)


def ask(server):
    """One request of each kind; what each line must have: request, status, body, range, end."""
    wanted = []

    def one(c, path, status, body, request=None, **kw):
        r = c.get(path, **kw)
        check.equal(r.status, status, path)
        wanted.append((request or "%s %s HTTP/1.1" % (kw.get("method", "GET"), path), status, body,
                       len(r.head) + 4 + body, "yes" if status == 206 else "no"))
        return r

    with server.connect() as c:
        etag = one(c, "/page.html", 200, 1024)["etag"]
        one(c, "/page.html", 206, 3, range="bytes=1-3")
        one(c, "/page.html", 304, 0, if_none_match=etag)
        one(c, "/page.html?q=%22", 200, 0, method="HEAD")
        one(c, "/large.bin", 200, 3 << 20)
        one(c, "/nothing", 404, 68)
        several = one(c, "/page.html", 206, 0, range="bytes=0-1,9-10")
        wanted[-1] = wanted[-1][:2] + (len(several.body), wanted[-1][3] + len(several.body), "yes")
        one(c, "/sub", 301, 0, method="HEAD")
        one(c, "/page.html", 200, 1024, "GET /page.html HTTP/1.0", version="1.0", connection="close")
    return wanted


def formats(www, top):
    for name in ("common", "combined", "extended", "json"):
        path = os.path.join(top, name + ".log")
        with Server(SWS, www, "--access-log", path, "--log-format", name) as server:
            wanted = ask(server)
            wait_for_lines(path, len(wanted), name)
            lines = lines_of(path)
            check.equal(server.stop(), 0, "exit status")
        check.equal(len(lines), len(wanted), "lines, " + name)
        for line, (request, status, body, total, partial) in zip(lines, wanted):
            if name == "json":
                o = json.loads(line)
                got = ("%(method)s %(target)s %(protocol)s" % o, o["status"], o["body_bytes"], o["bytes"],
                       "yes" if o["range"] else "no")
                check.equal(got, (request, status, body, total, partial), line)
                check.equal((o["client"], o["tls"], o["complete"]), ("127.0.0.1", None, True), line)
                check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", o["time"]), line)
                check(0 <= o["duration_us"] < PATIENCE * 1e6, line)
                continue
            m = LINE.fullmatch(line)
            check(m, line)
            check.equal((m[1], m[3], int(m[4]), int(m[5])), ("127.0.0.1", request, status, body), line)
            check.equal(m[6] is not None, name != "common", line)
            if name == "extended":
                check.equal((int(m[10]), m[11], m[12], m[13]), (total, "-", partial, "complete"), line)


def hostile(www, top):
    path = os.path.join(top, "hostile.log")
    agent = b'a" 200 0 "x\\ \xff \xc3\xa4'
    with Server(SWS, www, "--access-log", path, "--log-format", "json") as server:
        for n, sent in enumerate((
                b"GET /page.html HTTP/1.1\r\nHost: a\r\nUser-Agent: " + agent +
                b"\r\nReferer: \r\nConnection: close\r\n\r\n",
                b'G"\x01ET /\xff\n HTTP/1.1\r\n\r\n', b"\x16\x03\x01\x02\x00\x01\r\n\r\n")):
            with server.connect() as c:
                c.send(sent)
                c.response()
            # Those of two connections may come in either order.
            wait_for_lines(path, n + 1, "hostile")
        good, bad, tls = [json.loads(line) for line in lines_of(path)]
    check.equal(good["user_agent"], 'a" 200 0 "x\\ \ufffd \u00e4', "the agent, escaped")
    check.equal((good["status"], good["referer"], good["host"]), (200, "", "a"), "the good one")
    check.equal((bad["status"], bad["method"]), (400, 'G"\x01ET'), "the bad one")
    check.equal((tls["status"], tls["host"]), (400, ""), "what is not HTTP")


def aborted(www, top):
    path = os.path.join(top, "aborted.log")
    with Server(SWS, www, "--access-log", path, "--log-format", "json") as server:
        with server.connect(rcvbuf=4096) as c:
            c.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\nGET /page.html HTTP/1.1\r\nHost: a\r\n\r\n")
            c.s.recv(1)
        wait_for_lines(path, 2, "aborted")
        large, page = [json.loads(line) for line in lines_of(path)]
    check.equal((large["status"], large["complete"]), (200, False), "the answer that was begun")
    check(0 < large["body_bytes"] < 3 << 20, "some of it was sent: %d" % large["body_bytes"])
    check.equal((page["complete"], page["bytes"]), (False, 0), "the one that was not")


def in_order(www, top):
    """Many connections on several cores; each must find its lines in its order, each once."""
    path = os.path.join(top, "order.log")
    clients, rounds, deep = 8, 20, 16
    with Server(SWS, www, "--access-log", path, "--cores", "3") as server:
        def client(k):
            with server.connect() as c:
                for r in range(rounds):
                    c.send(b"".join(b"GET /page.html?%d.%d HTTP/1.1\r\nHost: a\r\n\r\n" % (k, r * deep + i)
                                    for i in range(deep)))
                    for _ in range(deep):
                        c.response()
        threads = [threading.Thread(target=client, args=(k,)) for k in range(clients)]
        for t in threads:
            t.start()
        for i in range(5):
            time.sleep(0.02)
            os.rename(path, "%s.%d" % (path, i))
            os.kill(server.process.pid, signal.SIGUSR1)
            eventually("the log is there again", lambda: os.path.exists(path))
        for t in threads:
            t.join()
        check.equal(server.stop(), 0, "exit status")
    seen = {k: [] for k in range(clients)}
    for name in ["%s.%d" % (path, i) for i in range(5)] + [path]:
        for line in lines_of(name):
            k, n = re.search(r"\?(\d+)\.(\d+) ", line).groups()
            seen[int(k)].append(int(n))
    for k in range(clients):
        check.equal(seen[k], list(range(rounds * deep)), "the lines of client %d" % k)


def stuck(www, top):
    """A pipe without a reader, and then with one: the server answers all the time."""
    path = os.path.join(top, "fifo")
    os.mkfifo(path)
    with Server(SWS, www, "--access-log", path) as server:
        check.equal(server.get("/page.html").status, 200, "without a reader")
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        got = b""

        def more():
            nonlocal got
            server.get("/page.html?more")
            try:
                got += os.read(reader, 65536)
            except BlockingIOError:
                pass
            return b"?more " in got
        eventually("a reader gets lines", more)
        fcntl.fcntl(reader, 1031, 4096)  # F_SETPIPE_SZ
        with server.connect() as c:
            for _ in range(3000):
                c.send(b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n" * 8)
                for _ in range(8):
                    if not c.response():
                        check(False, "no answer while the log is stuck")
                        return
        check.equal(server.get("/page.html").status, 200, "with a reader that does not read")
        check.equal(server.stop(), 0, "exit status")
        os.close(reader)


def full(www):
    with Server(SWS, www, "--access-log", "/dev/full") as server:
        for _ in range(3):
            check.equal(server.get("/page.html").status, 200, "a full disk")
        check.equal(server.stop(), 0, "exit status")
        check("/dev/full: No space left on device" in server.stderr(), "it is said: " + server.stderr())


def at_start(www, top):
    missing = os.path.join(top, "missing/access.log")
    p = subprocess.run([SWS, "--port", "0", "--access-log", missing, www], capture_output=True, timeout=PATIENCE)
    check.equal((p.returncode, p.stderr.decode()),
                (1, "sws: cannot open the access log %s: No such file or directory\n" % missing), "a missing folder")
    p = subprocess.run([SWS, "--log-format", "xml", www], capture_output=True, timeout=PATIENCE)
    check.equal((p.returncode, p.stderr.decode()),
                (2, "sws: --log-format: 'xml' is none of common|combined|extended|json\n"), "no such format")


def to_stdout(www, top):
    with Server(SWS, www, "--access-log", "-") as server:
        server.get("/page.html?out")
        line = ""
        while "?out" not in line:
            line = server.process.stdout.readline().decode()
        check("?out HTTP/1.1\" 200 1024" in line, "on standard output: " + line)
    # The signal of the log is harmless without one.
    with Server(SWS, www) as server:
        os.kill(server.process.pid, signal.SIGUSR1)
        check.equal(server.get("/page.html").status, 200, "SIGUSR1 without a log")
        check.equal(server.stop(), 0, "exit status")


def streams(www, top):
    """A body without a length, which ends with the connection, has a line like any other."""
    path, folder = os.path.join(top, "stream.log"), os.path.join(www, "many")
    os.mkdir(folder)
    for i in range(1500):
        open(os.path.join(folder, "%d.txt" % i), "w").close()
    with Server(SWS, www, "--access-log", path, "--log-format", "json", "--listing",
                "html") as server:
        with server.connect() as c:
            c.send(b"GET /many/ HTTP/1.0\r\n\r\n")
            while c.fill():
                pass
            check(b"1499.txt" in c.data, "a large listing", len(c.data))
        wait_for_lines(path, 1, "a listing")
        line = json.loads(lines_of(path)[0])
        check.equal((line["target"], line["status"], line["body_bytes"] > 60000),
                    ("/many/", 200, True), "the line of a listing")


def other_addresses(www, top):
    path, sock = os.path.join(top, "addr.log"), os.path.join(top, "s.sock")
    with Server(SWS, www, "--access-log", path, "--log-format", "common", "--listen", "unix:" + sock) as server:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(sock)
            s.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
            while s.recv(65536):
                pass
        wait_for_lines(path, 1, "unix")
        check(lines_of(path)[0].startswith("unix: - - ["), "a Unix socket")
    # A proxy in front of a Unix socket names its clients if it is trusted.
    os.unlink(path)
    with Server(SWS, www, "--access-log", path, "--log-format", "common", "--listen",
                "unix:" + sock, "--trusted", "unix:"):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(sock)
            s.sendall(b"GET /page.html HTTP/1.0\r\nX-Forwarded-For: 9.9.9.9, 192.0.2.1\r\n\r\n")
            while s.recv(65536):
                pass
        wait_for_lines(path, 1, "a proxy at a Unix socket")
        check(lines_of(path)[0].startswith("192.0.2.1 - - ["), "its client", lines_of(path))


def main():
    root = make_root()
    top = tempfile.mkdtemp(prefix="mely-sws-log-")
    www = os.path.join(root, "www")
    try:
        formats(www, top)
        hostile(www, top)
        aborted(www, top)
        in_order(www, top)
        stuck(www, top)
        full(www)
        at_start(www, top)
        to_stdout(www, top)
        streams(www, top)
        other_addresses(www, top)
    finally:
        remove_root(root)
        shutil.rmtree(top, ignore_errors=True)
    check.finish()


main()
