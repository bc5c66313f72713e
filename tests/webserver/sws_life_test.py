# SPDX-License-Identifier: MIT
"""The life cycle of sws: socket activation, the service manager, hand-over, drain:
sws_life_test.py SWS"""
import ctypes
import multiprocessing
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

from sws_lib import PATIENCE, Checks, Client, Program, Server, make_root, read, remove_root

check = Checks()
SWS = sys.argv[1]
RESTARTS = 20
# Connections that at least are made and answered between two restarts.
BETWEEN = 50
INSTRUMENTED = bool(os.environ.get("INSTRUMENT_FLAGS"))


def wait_until(condition, name):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return check(condition(), name)


def runs(pid):
    """Does this process, a child of us or not, still run?"""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Family:
    """A server and those that take over from it."""

    def __init__(self, server):
        self.server = server
        self.pids = [server.process.pid]

    def successors(self):
        return [int(n) for n in re.findall(r"process (\d+) has taken over", self.server.stderr())]

    def hand_over(self):
        """Ask the newest one to hand over; the next one's pid."""
        os.kill(self.pids[-1], signal.SIGUSR2)
        wait_until(lambda: len(self.successors()) >= len(self.pids), "a process takes over")
        self.pids += self.successors()[len(self.pids) - 1:]
        return self.pids[-1]

    def end(self):
        """SIGTERM to the newest; all must end."""
        os.kill(self.pids[-1], signal.SIGTERM)
        for pid in self.pids[:-1]:
            # They may still wait for idle connections, if they are there.
            if runs(pid):
                os.kill(pid, signal.SIGTERM)
        check.equal(self.server.wait(), 0, "exit status of the first")
        wait_until(lambda: not any(runs(p) for p in self.pids), "all have ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.pids + self.successors():
            if pid != self.server.process.pid and runs(pid):
                os.kill(pid, signal.SIGKILL)


# ---- a client that counts ------------------------------------------------------------------------

OK, REFUSED, RESET, SHORT, OTHER = range(5)
OUTCOMES = "answered", "refused", "reset", "cut", "other"


def load(address, body, keep, counts, stop):
    """Connect, ask, compare, again; with keep, up to 20 times on a connection."""
    ask = b"GET /page.html HTTP/1.1\r\nHost: a\r\n%s\r\n" % (
        b"" if keep else b"Connection: close\r\n")
    tls = None
    if address[0] == "tls":
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE

    def connect():
        s = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        try:
            s.settimeout(PATIENCE)
            s.connect(address[1] if tls else address)
            return tls.wrap_socket(s) if tls else s
        except OSError:
            s.close()
            raise

    def one():
        with connect() as s:
            data = b""
            for _ in range(20 if keep else 1):
                s.sendall(ask)
                while True:
                    at = data.find(b"\r\n\r\n")
                    if at >= 0 and len(data) >= at + 4 + len(body):
                        break
                    more = s.recv(65536)
                    if not more:
                        return SHORT
                    data += more
                if data[:12] != b"HTTP/1.1 200" or data[at + 4:] != body:
                    return OTHER
                closes = b"\r\nConnection: close" in data[:at]
                data = b""
                if closes:
                    break
            if not keep and s.recv(1) != b"":
                return OTHER
        return OK

    while not stop.value:
        try:
            outcome = one()
        except ConnectionRefusedError:
            outcome = REFUSED
        except (ConnectionResetError, BrokenPipeError):
            outcome = RESET
        except OSError:
            outcome = OTHER
        counts[outcome] += 1


class Load:
    def __init__(self, addresses, body, clients):
        self.stop = multiprocessing.Value(ctypes.c_int, 0, lock=False)
        self.counts = []
        self.processes = []
        for i in range(clients):
            counts = multiprocessing.Array(ctypes.c_long, len(OUTCOMES), lock=False)
            self.counts.append(counts)
            # One in four keeps its connections.
            self.processes.append(multiprocessing.Process(target=load, args=(
                addresses[i % len(addresses)], body, i % 4 == 3, counts, self.stop)))
        self.begun = time.monotonic()
        for p in self.processes:
            p.start()

    def total(self):
        return [sum(c[i] for c in self.counts) for i in range(len(OUTCOMES))]

    def least(self):
        return min(sum(c) for c in self.counts)

    def end(self):
        self.stop.value = 1
        took = time.monotonic() - self.begun
        for p in self.processes:
            p.join()
        print("%d connections in %.1f s, %.0f/s: %s" % (sum(self.total()), took, sum(self.total())
              / took, ", ".join("%d %s" % (n, o) for n, o in zip(self.total(), OUTCOMES))))
        return self.total()


# ---- hand-over -----------------------------------------------------------------------------------

def hand_over_under_load(www, top):
    """Twenty restarts, at one port and a Unix socket: not one client notices."""
    path = os.path.join(top, "load.sock")
    body = b"x" * 1024
    for cores in ("2",) if INSTRUMENTED else ("2", "1"):
        with Server(SWS, www, "--listen", "unix:" + path, "--cores", cores) as server, \
                Family(server) as family:
            clients = Load([("127.0.0.1", server.port)] * 3 + [path], body, 8)
            for i in range(RESTARTS):
                least = clients.least() + BETWEEN // 8
                wait_until(lambda: clients.least() >= least, "every client goes on")
                family.hand_over()
            least = clients.least() + BETWEEN // 8
            wait_until(lambda: clients.least() >= least, "every client goes on")
            total = clients.end()
            check.equal(total[1:], [0] * 4, "none of %d connections failed in %d restarts"
                        % (sum(total), RESTARTS))
            check(total[OK] >= RESTARTS * BETWEEN, "connections were made", total)
            check.equal(len(set(family.pids)), RESTARTS + 1, "each is another process")
            check(os.path.exists(path), "the file of the Unix socket stays")
            family.end()
            said = server.stderr().replace("has taken over\n", "")
            check(re.fullmatch(r"(sws: process \d+ )*", said), "nothing else on stderr", said)
            check(not os.path.exists(path), "... until the last one ends")


def hand_over_tls(www, top):
    """The same with TLS: a handshake that the old process has begun, it ends."""
    pair = [os.path.join(top, n) for n in ("tls.key", "tls.crt")]
    if shutil.which("openssl") is None:
        print("openssl not found: no hand-over with TLS")
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", pair[0], "-out", pair[1],
                    "-subj", "/CN=localhost"], check=True, stderr=subprocess.DEVNULL)
    command = [SWS, "--listen", "127.0.0.1:0 tls", "--tls-certificate",
               ",".join(reversed(pair)), "--cores", "2", www]
    if "has no TLS" in subprocess.run([*command, "--check", "/dev/null"], capture_output=True,
                                      check=False).stderr.decode():
        return
    with Program(command, r"at https://.*:(\d+)/$") as server, Family(server) as family:
        port = int(server.ready.group(1))
        clients = Load([("tls", ("127.0.0.1", port))], b"x" * 1024, 4)
        for i in range(5):
            least = clients.least() + 3
            wait_until(lambda: clients.least() >= least, "every client goes on")
            family.hand_over()
        least = clients.least() + 3
        wait_until(lambda: clients.least() >= least, "every client goes on")
        check.equal(clients.end()[1:], [0] * 4, "none failed, with TLS")
        family.end()


def hand_over_keeps(www, root):
    """What is under way ends well; idle connections have time for one more request."""
    large = read(root, "large.bin")
    with Server(SWS, www) as server, Family(server) as family:
        busy, idle = server.connect(rcvbuf=4096), server.connect()
        check.equal(idle.get("/").status, 200, "before")
        busy.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
        while len(busy.data) < 10000:
            busy.fill()
        family.hand_over()
        check.equal(server.get("/").status, 200, "the next one serves at the same port")
        check(server.process.poll() is None, "the first one is still there")
        r = busy.response()
        check(r is not None and r.body == large, "a running answer is finished")
        r = idle.get("/page.html")
        check.equal([r and r.status, r and r["connection"]], [200, "close"],
                    "an idle connection's next request")
        check(idle.at_end(), "... is its last")
        busy.close()
        # Only what belongs to the new process: nothing of the old one's clients or files.
        fds = [os.readlink("/proc/%d/fd/%s" % (family.pids[-1], n))
               for n in os.listdir("/proc/%d/fd" % family.pids[-1])]
        listening = server_sockets(family.pids[-1])
        check.equal(len([f for f in fds if f.startswith("socket:")]), len(listening) + 1,
                    "its sockets all listen, but that of the launcher")
        check.equal(server.wait(), 0, "the first one has ended by itself")
        family.end()


def launcher(www):
    """The process beside the server has none of its descriptors, and ends with it."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        with Server(SWS, www) as server:
            pid = server.process.pid
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                children = [int(n) for n in f.read().split()]
            check.equal(len(children), 1, "one process beside it")
            fds = os.listdir("/proc/%d/fd" % children[0])
            check.equal(len(fds), 4, "it has one descriptor more than standard input and output")
            # What a terminal sends to all of a group is the server's.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(children[0], number)
            check.equal(server.get("/").status, 200, "serves")
            check(runs(children[0]), "signals are not for it")
            server.signal(end)
            server.wait()
            wait_until(lambda: not runs(children[0]), "it ends with the server")
    with Server(SWS, www) as server:
        pid = server.process.pid
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            os.kill(int(f.read()), signal.SIGKILL)
        wait_until(lambda: "the launcher has ended" in server.stderr(), "its end is said")
        server.signal(signal.SIGUSR2)
        wait_until(lambda: "SIGUSR2: cannot ask" in server.stderr(), "... and what that means")
        check.equal(server.get("/").status, 200, "serves without it")
        check.equal(server.stop(), 0, "exit status")
    with Server(SWS, www, "--hand-over=off") as server:
        pid = server.process.pid
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            check.equal(f.read(), "", "no process beside it with --hand-over=off")
        server.signal(signal.SIGUSR2)
        wait_until(lambda: "SIGUSR2: --hand-over is off" in server.stderr(), "it says so")
        check.equal(server.get("/").status, 200, "and serves")
        check.equal(server.stop(), 0, "exit status")


def server_sockets(pid):
    """The inodes of the sockets of a process that listen."""
    with open("/proc/%d/net/tcp" % pid) as f:
        inodes = {l.split()[9] for l in f.readlines()[1:] if l.split()[3] == "0A"}
    mine = set()
    for n in os.listdir("/proc/%d/fd" % pid):
        m = re.match(r"socket:\[(\d+)\]", os.readlink("/proc/%d/fd/%s" % (pid, n)))
        if m and m.group(1) in inodes:
            mine.add(m.group(1))
    return mine


def hand_over_fails(www, top):
    """A new version that does not start, or is not there, changes nothing."""
    copy = os.path.join(top, "sws-copy")
    config = os.path.join(top, "sws.conf")
    shutil.copy(SWS, copy)
    with open(config, "w") as f:
        f.write("idle-timeout = 50;\n")
    command = [copy, "--config", config, "--port", "0", www]
    with Program(command, r"at http://.*:(\d+)/$") as server, Family(server) as family:
        port = int(server.ready.group(1))

        def fails(said):
            before = server.stderr().count("goes on")
            server.signal(signal.SIGUSR2)
            wait_until(lambda: server.stderr().count("goes on") > before, "says that it goes on")
            check(said in server.stderr(), "says why: " + said, server.stderr())
            with Client("127.0.0.1", port) as c:
                r = c.get("/")
                check.equal([r and r.status, r and r["connection"]], [200, None], "and goes on")

        with open(config, "w") as f:
            f.write("nonsense = 1;\n")
        fails("did not start (exit status 2)")
        check("nonsense: unknown setting" in server.stderr(), "the new one's reason")
        with open(config, "w") as f:
            f.write("idle-timeout = 51;\n")
        with open(copy + ".new", "w") as f:
            f.write("#!/bin/sh\nkill -9 $$\n")
        os.chmod(copy + ".new", 0o755)
        os.rename(copy + ".new", copy)
        fails("did not start (signal 9)")
        os.unlink(copy)
        fails("cannot start another process: No such file")
        # And then a new version, by the name of the old one.
        shutil.copy(SWS, copy)
        pid = family.hand_over()
        check.equal(os.readlink("/proc/%d/exe" % pid), copy, "the new file of the program runs")
        with Client("127.0.0.1", port) as c:
            check.equal(c.get("/").status, 200, "the new version serves")
        family.end()


# ---- the service manager -------------------------------------------------------------------------

class Manager:
    """What systemd has: a socket that sws sends its state to."""

    def __init__(self, name):
        self.name = name
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.s.bind("\0" + name[1:] if name.startswith("@") else name)
        self.s.settimeout(PATIENCE)

    def next(self):
        return dict(l.split("=", 1) for l in self.s.recv(4096).decode().split("\n"))

    def wait_for(self, key):
        """The next message with this key. Signs of life come all the time, so they do not count."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            said = self.next()
            if key in said:
                return said
        raise TimeoutError("no " + key)

    def close(self):
        self.s.close()


def notifications(www, top):
    for name in (os.path.join(top, "notify.sock"), "@mely-sws-test-%d" % os.getpid()):
        manager = Manager(name)
        with Program([SWS, "--port", "0", www], r"at http://.*:(\d+)/$",
                     env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "40000"}) as server, \
                Family(server) as family:
            said = manager.next()
            check.equal([said.get("READY"), said.get("MAINPID")], ["1", str(server.process.pid)],
                        "ready")
            for _ in range(3):
                check.equal(manager.next(), {"WATCHDOG": "1"}, "a sign of life")
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            server.signal(signal.SIGHUP)
            said = manager.wait_for("RELOADING")
            check.equal(said["RELOADING"], "1", "reloading")
            check(before <= int(said["MONOTONIC_USEC"])
                  <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000, "its time", said)
            check.equal(manager.wait_for("READY")["READY"], "1", "reloaded")
            pid = family.hand_over()
            pids = {manager.wait_for("MAINPID")["MAINPID"] for _ in range(2)}
            check.equal(pids, {str(pid)}, "the main process after a hand-over")
            os.kill(pid, signal.SIGTERM)
            check.equal(manager.wait_for("STOPPING")["STOPPING"], "1", "stopping")
            family.end()
        manager.close()
    # One that has no room for a while misses signs of life, and nothing else.
    name = os.path.join(top, "busy.sock")
    manager = Manager(name)
    with Program([SWS, "--port", "0", www], r"at http://.*:(\d+)/$",
                 env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000"}) as server:
        for i in range(3):
            server.signal(signal.SIGHUP)
            wait_until(lambda: server.stderr().count("sws: reloaded") > i, "a reload")
        for i in range(3):
            check.equal(manager.wait_for("RELOADING")["RELOADING"], "1", "reloading, late")
            check.equal(manager.wait_for("READY")["READY"], "1", "... and ready again")
        check.equal(server.stop(), 0, "after a busy service manager")
    manager.close()
    # A service manager that is not there is no reason not to start.
    with Program([SWS, "--port", "0", www], r"at http://.*:(\d+)/$",
                 env={"NOTIFY_SOCKET": "/nonexistent"}) as server:
        check.equal(server.stop(), 0, "without a service manager")
        check("sws: NOTIFY_SOCKET=/nonexistent: " in server.stderr(), "... it says so")


def activated(sockets, names, args, ready=r" at (\S+)$"):
    """An sws that gets these sockets as systemd hands them over."""
    fds = [s.fileno() for s in sockets]
    code = ("import os, sys\n"
            "fds = [os.dup(int(f)) for f in sys.argv[1].split(',')]\n"
            "tmp = [os.dup2(f, 100 + i) for i, f in enumerate(fds)]\n"
            "for i in range(len(fds)): os.dup2(100 + i, 3 + i, True)\n"
            "os.closerange(3 + len(fds), 200)\n"
            "os.environ['LISTEN_PID'] = str(os.getpid())\n"
            "os.execv(sys.argv[2], sys.argv[2:])\n")
    env = {"LISTEN_FDS": str(len(fds)), "LISTEN_FDNAMES": names}
    return Program([sys.executable, "-c", code, ",".join(map(str, fds)), SWS, *args], ready,
                   env=env, pass_fds=fds)


def listening(family=socket.AF_INET, where=("127.0.0.1", 0)):
    s = socket.socket(family)
    s.bind(where)
    s.listen(100)
    return s


def get_at(s, path="/"):
    with socket.socket(s.family) as c:
        c.settimeout(PATIENCE)
        c.connect(s.getsockname())
        c.sendall(b"GET %s HTTP/1.0\r\n\r\n" % path.encode())
        data = b""
        while more := c.recv(65536):
            data += more
        return data


def activation(www, top):
    path = os.path.join(top, "act.sock")
    web, more, local = listening(), listening(), listening(socket.AF_UNIX, path)
    # A client that has connected before there is a server.
    early = socket.create_connection(web.getsockname())
    early.settimeout(PATIENCE)
    early.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
    with activated([web, more, local], "web:web:local", [www]) as server, Family(server) as family:
        check.equal(server.ready.group(1), "http://127.0.0.1:%d/" % web.getsockname()[1], "ready")
        check(early.recv(65536).startswith(b"HTTP/1.1 200"), "an early client")
        for _ in range(2):
            for s in (web, more, local):
                check(get_at(s).startswith(b"HTTP/1.1 200"), "all sockets serve", s)
            family.hand_over()
        os.kill(family.pids[-1], signal.SIGTERM)
        family.end()
        check(os.path.exists(path), "the manager's file stays")
    # The manager has the sockets, so a client that comes now waits for the next server.
    late = socket.create_connection(web.getsockname())
    late.settimeout(PATIENCE)
    late.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
    with activated([web, local], "web:local", ["--listen", "fd:local", "--listen", "127.0.0.1:0",
                                               "--listen", "fd:web", www]) as server:
        check(late.recv(65536).startswith(b"HTTP/1.1 200"), "a client between two servers")
        check(get_at(local).startswith(b"HTTP/1.1 200"), "by name")
        check.equal(server.stop(), 0, "exit status")
    # With --port, the sockets are not asked for; and a name that is not there is an error.
    with activated([web], "web", ["--port", "0", www]) as server:
        check(server.ready.group(1) != "http://127.0.0.1:%d/" % web.getsockname()[1], "--port")
        check.equal(server.stop(), 0, "exit status")
    plain = socket.socket()
    for sockets, names, args, said in (
            ([web], "web", ["--listen", "fd:other", www], "no such socket was handed over"),
            ([plain], "web", [www], "descriptor 3 (fd:web) is not a stream socket that listens")):
        try:
            activated(sockets, names, args)
            check(False, "does not start: " + said)
        except RuntimeError as e:
            check(said in str(e), "does not start: " + said, str(e))
    for s in (early, late, web, more, local, plain):
        s.close()


# ---- drain ---------------------------------------------------------------------------------------

def drain_at_limit(www):
    """Clients that wait in the kernel's queue for a place are served, not reset."""
    for cores in ("1", "2"):
        with Server(SWS, www, "--max-clients", "4", "--cores", cores) as server:
            inside = [server.connect() for _ in range(4)]
            for c in inside:
                check.equal(c.get("/").status, 200, "within the limit")
            queued = [server.connect() for _ in range(150)]
            for c in queued:
                c.send(b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n")
            server.signal()
            for c in inside:
                check(c.at_end(), "an idle connection ends")
                c.close()
            good, waiting = 0, {c.s: c for c in queued}
            while waiting:
                ready = select.select(list(waiting), [], [], PATIENCE)[0]
                if not ready:
                    break
                for s in ready:
                    # The close makes room for the next one.
                    with waiting.pop(s) as c:
                        r = c.response()
                        good += (r is not None and r.status == 200
                                 and r["connection"] == "close")
            check.equal(good, len(queued), "all that had connected are served")
            check.equal(server.wait(), 0, "exit status")


def no_reset(www):
    """A request that crosses the end of an idle connection meets no reset."""
    def outcome(c):
        """What a client sees that asks whatever happens: an answer, the end, or a reset."""
        try:
            c.s.sendall(b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n")
            return "answer" if c.s.recv(65536) else "end"
        except (ConnectionResetError, BrokenPipeError):
            return "reset"

    for args, end in (([], signal.SIGTERM), (["--idle-timeout", "0.5"], None)):
        seen = {"answer": 0, "end": 0, "reset": 0}
        with Server(SWS, www, *args) as server:
            clients = [server.connect() for _ in range(100)]
            for c in clients:
                check.equal(c.get("/").status, 200, "before")
            if end:
                server.signal(end)
            # The first to see its end; some of the others are just before theirs.
            check.equal(clients[0].s.recv(1), b"", "an idle connection ends")
            for c in clients[1:]:
                seen[outcome(c)] += 1
                c.close()
            clients[0].close()
            check.equal(seen["reset"], 0, "no reset beside the end of idle connections")
            if not end:
                server.signal()
            check.equal(server.wait(), 0, "exit status")


def main():
    top = make_root()
    www = os.path.join(top, "www")
    try:
        hand_over_keeps(www, top)
        hand_over_fails(www, top)
        launcher(www)
        notifications(www, top)
        activation(www, top)
        drain_at_limit(www)
        no_reset(www)
        hand_over_tls(www, top)
        hand_over_under_load(www, top)
    finally:
        remove_root(top)
    check.finish()


if __name__ == "__main__":
    main()
