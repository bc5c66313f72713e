#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The live socket and mely-top, against a program in which every core is in a handler that does not
return: requests are answered, garbage is refused, and the program is not disturbed."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import client  # noqa: E402
from client import PATIENCE  # noqa: E402

BUILD = os.environ["top_builddir"]
BUSY = os.path.join(BUILD, "tests/live/busy")
TOP = os.path.join(BUILD, "mely-top/mely-top")

CLIENTS = 8  # as in mely/look/live/serve.h

check = client.Checks()


class Program(client.Program):
    """A busy program with a socket in this test's directory."""

    def __init__(self, run, *args, env=None, cwd=None):
        env = {"XDG_RUNTIME_DIR": run, "MELY_SOCKET": "1", "MELY_STALL_MS": "0",
               "MELY_AGE_MS": "0", **(env or {})}
        super().__init__([BUSY, *args], r"^ready (\d+) (\S+)$", env=env,
                         stdin=subprocess.PIPE, cwd=cwd)
        self.pid, self.path = int(self.ready.group(1)), self.ready.group(2)

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.path)  # waits where the backlog is full
        s.settimeout(PATIENCE)
        return s

    def ask(self, request, s=None):
        """The status and the answer."""
        mine = s is None
        s = s or self.connect()
        s.sendall(request)
        answer = read_answer(s)
        if mine:
            s.close()
        return answer

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


def read_exactly(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece:
            return None
        data += piece
    return data


def read_answer(s):
    """(status, bytes), or None when the connection was closed."""
    try:
        head = read_exactly(s, 24)
        if head is None:
            return None
        match = re.fullmatch(rb"mely/1 (ok|error) +(\d+)\n", head)
        if not match:
            return ("garbage", head)
        body = read_exactly(s, int(match.group(2)))
        return None if body is None else (match.group(1).decode(), body)
    except ConnectionError:
        return None


def closed(s):
    """Has the other end closed it?"""
    try:
        while s.recv(65536):
            pass
        return True
    except ConnectionError:
        return True


def top(run, *args, env=None):
    return subprocess.run([TOP, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE * 2, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, XDG_RUNTIME_DIR=run, **(env or {})))


# ---- the socket -----------------------------------------------------------------------------


def answers(program):
    for request, begins in ((b"version\n", b""), (b"stats\n", b""), (b"stats colors 10\n", b""),
                            (b"stats colors 10 longest\n", b""), (b"json\n", b"{"),
                            (b"json colors 3\n", b"{"), (b"prometheus\n", b"# "),
                            (b"dump\n", b"mely ")):
        status, body = program.ask(request) or ("closed", b"")
        check(status == "ok" and len(body) > 0 and body.startswith(begins),
              "answer to %r" % request, (status, body[:80]))
    json.loads(program.ask(b"json colors 3\n")[1])
    # One connection, many requests.
    with program.connect() as s:
        for i in range(50):
            status, body = program.ask(b"version\n", s) or ("closed", b"")
            check(status == "ok" and re.fullmatch(rb"\d+\.\d+\.\d+\n", body), "request %d" % i)
        # In pieces.
        for byte in b"version\n":
            s.sendall(bytes([byte]))
            time.sleep(0.002)
        check((read_answer(s) or "closed")[0] == "ok", "a request byte by byte")


def dump(program, text):
    for i in range(2):
        check("core %d: runs on_spin of color %d (occupier %d)" % (i, 1000 + i, i) in text,
              "the dump tells what core %d runs" % i, text)
    for i in range(5):
        check(re.search(r"color %d \(waiting %d\): core \d+, 3 events waiting" % (2000 + i, i),
                        text), "the dump lists color %d" % (2000 + i), text)
    check("mely " in text and "process %d" % program.pid in text, "the dump's first line", text)


def garbage(program):
    bad = [b"\n", b"stat\n", b"stats \n", b"stats colors\n", b"stats colors x\n",
           b"stats colors -1\n", b"stats colors 1001\n", b"stats colors 99999999999999999999\n",
           b"stats colors 5 shortest\n", b"stats colors 5 longest \n", b"dump dump\n",
           b" dump\n", b"DUMP\n", b"dump\r\n", b"dump\0\n", b"\xff\xfe\n", b"x" * 64, b"x" * 5000,
           b"version\nversion\n", b"GET / HTTP/1.1\r\n\r\n", bytes(range(256))]
    for request in bad:
        with program.connect() as s:
            try:
                s.sendall(request)
            except ConnectionError:
                pass
            answer = read_answer(s)
            # With bytes left unread the error may be lost with the connection.
            check(answer is None or answer[0] == "error", "refuses %r" % request[:40], answer)
            check(closed(s), "closes after %r" % request[:40])
    check((program.ask(b"version\n") or "closed")[0] == "ok", "answers after garbage")


def half_requests(program):
    with program.connect() as s:
        s.sendall(b"stats col")
        s.shutdown(socket.SHUT_WR)
        check(closed(s), "half a request and an end")
    s = program.connect()
    s.sendall(b"stats col")
    t = program.connect()
    # The program does not wait for the rest: it answers others, and drops this one in the end.
    check((program.ask(b"version\n") or "closed")[0] == "ok", "answers beside half a request")
    check(closed(s), "half a request is dropped")
    check(closed(t), "a client that says nothing is dropped")
    s.close()
    t.close()


def many_clients(program):
    clients = [program.connect() for _ in range(40)]
    good = busy = 0
    for s in clients:
        try:
            s.sendall(b"version\n")
        except ConnectionError:
            pass
    for s in clients:
        answer = read_answer(s)
        if answer and answer[0] == "ok":
            good += 1
        else:
            busy += 1
    check(good >= CLIENTS, "as many clients as there is room for", (good, busy))
    check(good + busy == 40, "the others learn that it is busy", (good, busy))
    for s in clients:
        s.close()
    # It may still be closing their connections, and says so: busy.
    end = time.monotonic() + 30
    while (answer := (program.ask(b"version\n") or ["closed"])[0]) != "ok" and \
            time.monotonic() < end:
        time.sleep(0.05)
    check(answer == "ok", "answers after many clients", answer)


def never_reads(program):
    """Requests long answers again and again, and reads none of them."""
    s = program.connect()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.setblocking(False)
    try:
        for _ in range(100000):
            s.send(b"dump\n")
    except (BlockingIOError, ConnectionError):
        pass
    began = time.monotonic()
    for i in range(20):
        check((program.ask(b"version\n") or "closed")[0] == "ok", "answers beside one that "
              "does not read, %d" % i)
    print("20 answers beside a client that does not read: %.0f ms" %
          (1000 * (time.monotonic() - began)))
    s.setblocking(True)
    s.settimeout(PATIENCE)
    time.sleep(6)  # longer than the time limit of a client
    check(closed(s), "one that does not read is dropped")
    s.close()


def no_descriptors(program):
    """The program has no free descriptor: a new client waits until there is one."""
    fds = os.listdir("/proc/%d/fd" % program.pid)
    soft, hard = resource.prlimit(program.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (max(map(int, fds)) + 1, hard))
    held = [program.connect() for _ in range(3)]  # in what holes there may be, and the backlog
    s = program.connect()
    s.sendall(b"version\n")
    time.sleep(0.7)
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (soft, hard))
    check((read_answer(s) or "closed")[0] == "ok", "answers once there is a descriptor")
    for c in held + [s]:
        c.close()


def signals(program):
    os.kill(program.pid, signal.SIGUSR1)
    deadline = time.monotonic() + PATIENCE
    while "waiting 4" not in program.stderr() and time.monotonic() < deadline:
        time.sleep(0.02)
    dump(program, program.stderr())


def file(program):
    st = os.stat(program.path)
    check(stat.S_ISSOCK(st.st_mode) and st.st_mode & 0o777 == 0o600, "mode of the socket",
          oct(st.st_mode))
    check(os.stat(os.path.dirname(program.path)).st_mode & 0o777 == 0o700, "of its directory")


# ---- mely-top -------------------------------------------------------------------------------


def once(run, program):
    result = top(run, "--once", "--interval", "0.2", str(program.pid))
    check(result.returncode == 0 and result.stderr == "", "--once", result)
    for i in range(2):
        check(re.search(r"^ +%d \[#+ *\] *\d+%% .* on_spin +[0-9.]+m?s$" % i, result.stdout, re.M),
              "the handler of core %d is drawn" % i, result.stdout)
    check(re.search(r"^on_spin +0 .* \d+\.\d%", result.stdout, re.M),
          "a handler that has never ended is listed", result.stdout)
    check("2000 waiting 0" in result.stdout, "a waiting color is drawn", result.stdout)
    for _ in range(20):
        result = top(run, "--once", "--json", "--interval", "0.2", str(program.pid))
        check(result.returncode == 0 and result.stderr == "", "--once --json", result)
        told = json.loads(result.stdout)
        if all(core["busy"] > 0.9 for core in told["rates"]["cores"]):
            break  # otherwise the program was held up between reading two clocks
    check(told["mely_top"] == 1 and not told["since_start"] and told["seconds"] >= 0.2,
          "what the JSON says of itself", result.stdout[:200])
    check(len(told["rates"]["cores"]) == 2, "cores in the JSON")
    for core in told["rates"]["cores"]:
        check(core["busy"] > 0.9, "a core in a handler is busy", core)
    check(isinstance(told["stats"], dict), "the look in the JSON")
    result = top(run, "--once", "--json", "--interval", "0", program.path)
    told = json.loads(result.stdout)
    check(told["since_start"], "since the start", result)
    total, rates = told["stats"]["total"], told["rates"]["total"]
    check(total["posts_remote"] > 0, "threads outside post", total)
    for name in ("events", "posts_remote", "refused"):
        check(abs(rates[name + "_per_s"] * told["seconds"] - total[name]) < 0.5,
              "the rate of %s is that of the sum" % name, (rates, total))
    result = top(run, "--dump", str(program.pid))
    check(result.returncode == 0, "--dump", result)
    dump(program, result.stdout)
    result = top(run, "--prometheus", str(program.pid))
    check(result.returncode == 0 and result.stdout.startswith("# "), "--prometheus",
          result.stdout[:200])
    # With only one program running, mely-top finds it without a name.
    result = top(run, "--dump")
    check(result.returncode == 0 and "process %d" % program.pid in result.stdout, "finds it",
          result)


def is_error(result, *words):
    check(result.returncode == 1 and result.stdout == "", "exit status 1", result)
    check(result.stderr.startswith("mely-top: ") and result.stderr.count("\n") == 1,
          "one line on stderr", result)
    for word in words:
        check(word in result.stderr, "the line has %r" % word, result.stderr)


def errors(run, program):
    gone = subprocess.Popen(["true"])
    gone.wait()
    is_error(top(run, "--once", str(gone.pid)), str(gone.pid), "no such process")
    is_error(top(run, "--once", str(os.getpid())), "MELY_SOCKET=1")
    is_error(top(run, "--once", os.path.join(run, "none")), "no such socket")
    is_error(top(run, "--once", __file__), "not a socket")
    is_error(top(run, str(program.pid)), "--once")  # no terminal here
    for args in (["--bogus"], ["--json"], ["--once", "--dump"], ["--interval", "x", "--once"],
                 ["--interval", "0"], ["--colors", "1001"], ["1", "2"]):
        result = top(run, *args)
        check(result.returncode == 2 and "mely-top" in result.stderr and result.stdout == "",
              "usage error %s" % args, result)
    result = top(run, "--help")
    check(result.returncode == 0 and result.stdout.startswith("usage: "), "--help", result)
    result = top(run, "--version")
    check(result.returncode == 0 and re.fullmatch(r"mely-top \d+\.\d+\.\d+\n", result.stdout),
          "--version", result)
    result = subprocess.run([TOP, "--dump", str(program.pid)], stdout=open("/dev/full", "w"),
                            stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                            env=dict(os.environ, XDG_RUNTIME_DIR=run))
    check(result.returncode == 1 and "standard output" in result.stderr, "a full disk", result)
    # A socket of another program, and one on which no program listens.
    with tempfile.TemporaryDirectory() as scratch, socket.socket(socket.AF_UNIX) as other:
        path = os.path.join(scratch, "s")
        other.bind(path)
        is_error(top(run, "--once", path), "no program listens there any more")
        other.listen()
        if os.fork() == 0:
            s, _ = other.accept()
            s.recv(100)
            s.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            s.close()
            os._exit(0)
        is_error(top(run, "--once", path), "not the socket of a Mely program")
        os.wait()


def other_user(run, program):
    if os.geteuid() != 0:
        print("skipped: another user (needs root)")
        return
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        result = top(run, "--once", str(program.pid))
        os._exit(0 if result.returncode == 1 and "belongs to another user" in result.stderr else 1)
    check(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "another user learns so")


def squatted():
    """mely-top ignores a directory that another user has made under the name of this user's."""
    directory = "/tmp/mely-65534"
    if os.geteuid() != 0 or os.path.lexists(directory):
        print("skipped: a squatted directory (needs root, and that there is none)")
        return
    os.mkdir(directory, 0o755)
    try:
        os.chown(directory, 1, 1)
        with socket.socket(socket.AF_UNIX) as s:
            path = os.path.join(directory, "%d.sock" % os.getpid())
            s.bind(path)
            os.chmod(path, 0o666)
            s.listen(5)
            s.settimeout(0)
            result = subprocess.run([TOP, "--once"], capture_output=True, text=True, timeout=60,
                                    user=65534, group=65534, extra_groups=[], env={})
            check(result.returncode == 1, "nothing of a stranger's is taken", result)
            try:
                s.accept()
                check(False, "a stranger's socket is left alone")
            except BlockingIOError:
                check(True, "a stranger's socket is left alone")
    finally:
        shutil.rmtree(directory)


def places(run):
    """mely-top finds a path that the program chose, relative or not, by the process' number."""
    with tempfile.TemporaryDirectory() as scratch:
        for path in (os.path.join(scratch, "own.sock"), "relative.sock"):
            with Program(run, "--cores", "1", "--waiting", "0", env={"MELY_SOCKET": path},
                         cwd=scratch) as program:
                result = top(run, "--dump", str(program.pid))
                check(result.returncode == 0 and "process %d" % program.pid in result.stdout,
                      "found by number: %s" % path, result)
                with Program(run, "--cores", "1", "--waiting", "0", env={"MELY_SOCKET": path},
                             cwd=scratch) as second:
                    check(second.path == "-" and path in second.stderr()
                          and second.stderr().count("\n") == 1, "a path in use", second.stderr())
                    check(second.end() == 0, "... and the program goes on")
                check(program.end() == 0, "exit status")
            check(not os.path.exists(os.path.join(scratch, path)), "removed at the end")
        # Another program takes over the socket of a killed one.
        path = os.path.join(scratch, "left.sock")
        for _ in range(2):
            with Program(run, "--cores", "1", "--waiting", "0",
                         env={"MELY_SOCKET": path}) as program:
                check(program.path == path and program.stderr() == "", "takes over what is left",
                      program.stderr())
                program.process.kill()
                program.process.wait()
                program.process.stdout.close()
            check(os.path.exists(path), "a killed program leaves its socket")
        for bad, why in ((os.path.join(scratch, "no", "dir"), "No such file"),
                         ("/" + "x" * 120, "longer"), (__file__, "not a socket")):
            with Program(run, "--cores", "1", "--waiting", "0", env={"MELY_SOCKET": bad}) as program:
                check(program.path == "-" and bad in program.stderr() and why in program.stderr()
                      and program.stderr().count("\n") == 1, "a bad path", program.stderr())
                check(program.end() == 0, "... and the program goes on")


def several(run):
    with Program(run, "--idle", "--runtimes", "2") as program:
        check(os.path.exists(program.path.replace(".sock", ".2.sock")), "two runtimes, two names")
        result = top(run, "--once", "--interval", "0")
        check(result.returncode == 2 and result.stdout.count(str(program.pid)) >= 2,
              "several are listed", result)
        result = top(run, "--once", "--interval", "0", str(program.pid))
        check(result.returncode == 0, "the first of several", result)
        check(program.end() == 0, "exit status")
        check(os.listdir(os.path.dirname(program.path)) == [], "nothing is left")


def main():
    have_top = os.path.exists(TOP)
    with tempfile.TemporaryDirectory() as run:
        with Program(run, env={"MELY_DUMP_SIGNAL": "USR1"}) as program:
            file(program)
            answers(program)
            dump(program, program.ask(b"dump\n")[1].decode())
            garbage(program)
            half_requests(program)
            many_clients(program)
            no_descriptors(program)
            signals(program)
            if have_top:
                once(run, program)
                errors(run, program)
                other_user(run, program)
            check(program.process.poll() is None, "the program runs on")
            check(program.end() == 0, "its exit status")
            check(not os.path.exists(program.path), "the socket is removed")
        with Program(run, "--cores", "1", "--waiting", "3000") as program:
            never_reads(program)
            text = program.ask(b"dump\n")[1].decode()
            check(re.search(r"^  and \d+ more$", text, re.M), "a long dump is cut", text[-300:])
            check(program.end() == 0, "its exit status")
            check(program.stderr() == "", "nothing on stderr", program.stderr())
        if have_top:
            places(run)
            squatted()
            several(run)
        else:
            print("skipped: mely-top was not built")
    check.finish()


if __name__ == "__main__":
    main()
