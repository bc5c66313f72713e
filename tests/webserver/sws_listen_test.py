# SPDX-License-Identifier: MIT
"""Where sws listens: several endpoints, Unix sockets, both kinds of IP: sws_listen_test.py SWS"""
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time

from sws_lib import PATIENCE, Checks, Client, Program, Server, make_root, remove_root

check = Checks()
SWS = sys.argv[1]


def run(*args):
    p = subprocess.run([SWS, *args], capture_output=True, timeout=PATIENCE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


class Listening(Program):
    """An sws with --listen for each endpoint; self.urls has what it says of each."""

    def __init__(self, root, endpoints, *args, **options):
        command = [SWS, *args]
        for e in endpoints:
            command += ["--listen", e]
        super().__init__(command + [root], r" at (\S+)$", **options)
        self.urls = [self.ready.group(1)]
        for _ in endpoints[1:]:
            line = self.process.stdout.readline().decode().strip()
            self.urls.append(re.search(r" at (\S+)$", line).group(1))

    def port(self, i=0):
        return int(re.search(r":(\d+)/$", self.urls[i]).group(1))


class UnixClient(Client):
    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(PATIENCE)
        self.s.connect(path)
        self.data = b""


def status_at(host, port):
    with Client(host, port) as c:
        return c.get("/").status


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError:
        return False
    return True


def several(www, top):
    path = os.path.join(top, "s.sock")
    v6 = ["[::1]:0"] if has_ipv6() else []
    for cores in ("1", "3"):
        with Listening(www, ["127.0.0.1:0", "unix:" + path, "unix:@%s" % path, "localhost:0", *v6],
                       "--cores", cores) as server:
            check.equal(server.urls[1:3], ["unix:" + path, "unix:@" + path], "Unix sockets are said")
            check.equal(status_at("127.0.0.1", server.port(0)), 200, "the first endpoint")
            check.equal(status_at("127.0.0.1", server.port(3)), 200, "localhost, IPv4")
            if v6:
                check.equal(status_at("::1", server.port(3)), 200, "localhost, IPv6")
                check.equal(status_at("::1", server.port(4)), 200, "IPv6")
            for name in (path, "\0" + path):
                with UnixClient(name) as c:
                    for _ in range(3):
                        check.equal(c.get("/page.html").body, b"x" * 1024, "over a Unix socket")
                    with open(os.path.join(www, "large.bin"), "rb") as f:
                        check.equal(c.get("/large.bin").body, f.read(), "a file over a Unix socket")
            check.equal(server.stop(), 0, "exit status")
            check(not os.path.exists(path), "the file of the socket is removed")


def one_limit(www, top):
    """All endpoints share one limit of clients."""
    path = os.path.join(top, "l.sock")
    with Listening(www, ["127.0.0.1:0", "unix:" + path], "--max-clients", "2", "--cores",
                   "2") as server:
        first, second = Client("127.0.0.1", server.port()), UnixClient(path)
        for c in (first, second):
            check.equal(c.get("/").status, 200, "within the limit")
        for _ in range(20):
            third, fourth = UnixClient(path), Client("127.0.0.1", server.port())
            for c in (third, fourth):
                c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            # Each waits at a listener of its own; both get a place when both are free.
            first.close()
            second.close()
            for c in (third, fourth):
                r = c.response()
                check.equal(r and r.status, 200, "served when there is room")
            first, second = third, fourth
        check.equal(server.stop(), 0, "exit status")


def short_form(www):
    """--bind and --port are one endpoint, also beside others."""
    with Server(SWS, www, "--listen", "127.0.0.1:0") as server:
        line = server.process.stdout.readline().decode()
        other = int(re.search(r":(\d+)/$", line.strip()).group(1))
        check(other != server.port, "two ports", line)
        check.equal(status_at("127.0.0.1", server.port), 200, "that of --port")
        check.equal(status_at("127.0.0.1", other), 200, "that of --listen")
        check.equal(server.stop(), 0, "exit status")
    with Server(SWS, www, bind="localhost") as server:
        for host in ["127.0.0.1"] + (["::1"] if has_ipv6() else []):
            check.equal(status_at(host, server.port), 200, "localhost is " + host)
        check.equal(server.stop(), 0, "exit status")


def files(www, top):
    """A file that a server has left is replaced, no other is, and the mode is that asked for."""
    path = os.path.join(top, "f.sock")
    endpoint = "unix:" + path
    with Listening(www, [endpoint + " mode=0620"]) as server:
        check.equal(stat.S_IMODE(os.stat(path).st_mode), 0o620, "mode of the file")
        status, out, err = run("--listen", endpoint, www)
        check.equal([status, out, err], [1, "", "sws: cannot listen on %s: Address already in use\n"
                                         % endpoint], "a socket in use stays")
        with UnixClient(path) as c:
            check.equal(c.get("/").status, 200, "... and serves")
        server.signal(signal.SIGKILL)
        server.wait()
    check(stat.S_ISSOCK(os.stat(path).st_mode), "a killed server leaves its file")
    with Listening(www, [endpoint]) as server:
        with UnixClient(path) as c:
            check.equal(c.get("/").status, 200, "... which the next one replaces")
        # What another has put in its place is not ours to remove.
        os.unlink(path)
        with open(path, "w") as f:
            f.write("precious")
        check.equal(server.stop(), 0, "exit status")
    with open(path) as f:
        check.equal(f.read(), "precious", "another's file stays")
    status, _, err = run("--listen", endpoint, www)
    check(status == 1 and "Address already in use" in err, "... and is not replaced", err)
    os.unlink(path)
    # A second SIGTERM removes it, too.
    with Listening(www, [endpoint]) as server:
        with UnixClient(path) as c:
            check.equal(c.get("/").status, 200, "before")
            server.signal()
            server.signal(signal.SIGINT)
            check.equal(server.wait(), 0, "ended at once")
    check(not os.path.exists(path), "no file is left")


def watched(server):
    """How many descriptors each of the server's pollers watches."""
    place = "/proc/%d/" % server.process.pid
    counts = []
    for n in os.listdir(place + "fd"):
        try:
            if os.readlink(place + "fd/" + n) == "anon_inode:[eventpoll]":
                with open(place + "fdinfo/" + n) as f:
                    counts.append((int(n), sum(l.startswith("tfd:") for l in f)))
        except FileNotFoundError:
            pass  # that of a client that has left
    return dict(counts)


def accepting(www, top):
    """--accept: how many sockets listen, and on which core connections begin."""
    path = os.path.join(top, "a.sock")
    for accept, cores, sockets, placed in (("core", 4, 4, [1]), ("least", 4, 1, [0, 1]),
                                           ("single", 4, 1, []), ("least", 1, 1, [])):
        with Listening(www, ["127.0.0.1:0", "unix:" + path], "--accept", accept, "--cores",
                       str(cores)) as server:
            with open("/proc/net/tcp") as f:
                wanted = ":%04X 00000000:0000 0A" % server.port()
                check.equal(sum(wanted in l for l in f), sockets, "sockets with " + accept)
            for i in range(2):
                before = watched(server)
                clients = [UnixClient(path) if i else Client("127.0.0.1", server.port())
                           for _ in range(10 * cores)]
                end = time.monotonic() + PATIENCE
                while time.monotonic() < end:
                    now = watched(server)
                    if sum(now.values()) - sum(before.values()) >= len(clients):
                        break
                more = sorted(now[n] - before[n] for n in now if now[n] > before[n])
                check.equal(sum(more), len(clients), "all are watched, " + accept)
                if i in placed:
                    check.equal(more, [10] * cores, "each core has as many, %s %d" % (accept, i))
                for c in clients:
                    check.equal(c.get("/").status, 200, "served, " + accept)
                    c.close()
                # They are no longer counted, so the next ones are spread as the first.
                while sum(watched(server).values()) > sum(before.values()):
                    time.sleep(0.01)
            check.equal(server.stop(), 0, "exit status")


def errors(www):
    for args, code, said in (
            (("--listen", "127.0.0.1"), 2, "sws: --listen: '127.0.0.1': not HOST:PORT, unix:PATH"),
            (("--listen", "example.org:80"), 2, "its host is not an IPv4 address"),
            (("--listen", "127.0.0.1:99999"), 2, "its port is not a number between 0 and 65535"),
            (("--listen", "127.0.0.1:0 nonsense"), 2, "not HOST:PORT"),
            (("--listen", "unix:/%s" % ("x" * 200)), 2, "longer than a Unix socket may have"),
            (("--listen", "unix:/nonexistent/s"), 1, "cannot listen on unix:/nonexistent/s: No such"),
            (("--listen", "192.0.2.1:0"), 1, "cannot listen on 192.0.2.1:0: Cannot assign"),
            (("--listen", "fd:web"), 1, "cannot listen on fd:web: no such socket was handed over"),
            (("--bind", "example.org"), 2, "sws: --bind: 'example.org': not an IP address")):
        status, out, err = run(*args, www)
        check.equal([status, out, err.count("\n")], [code, "", 1], "sws %s" % " ".join(args))
        check(said in err, "message of %s" % " ".join(args), err)
    # One that fails keeps none of the others.
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        s.listen()
        status, _, err = run("--listen", "127.0.0.1:0", "--listen", "127.0.0.1:%d" % port, www)
        check(status == 1 and "cannot listen on 127.0.0.1:%d: Address already in use" % port in err,
              "one of two in use", err)


def main():
    top = make_root()
    www = os.path.join(top, "www")
    try:
        several(www, top)
        one_limit(www, top)
        short_form(www)
        files(www, top)
        accepting(www, top)
        errors(www)
    finally:
        remove_root(top)
    check.finish()


main()
