# SPDX-License-Identifier: MIT
"""sws with very many idle connections, and after kill -9. Usage: sws_many_test.py PATH-TO-SWS"""
import os
import shutil
import signal
import socket
import sys
import tempfile

from sws_lib import PATIENCE, Checks, Client, Server, raise_descriptors

check = Checks()
IDLE = 20000
# Descriptors of the test and of the server for anything but connections.
SPARE = 200
REQUEST = b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n"


def ask_all(clients, body):
    """One request on each; how many answers are right."""
    good = 0
    for at in range(0, len(clients), 200):
        some = clients[at:at + 200]
        for c in some:
            c.send(REQUEST)
        for c in some:
            r = c.response()
            good += r is not None and (r.status, r.body) == (200, body)
    return good


class Elsewhere(Client):
    """A connection from one of many addresses: the kernel finds a free port sooner."""

    def __init__(self, port, number):
        self.s = socket.socket()
        self.s.settimeout(PATIENCE)
        self.s.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        self.s.bind(("127.0.1.%d" % (1 + number % 100), 0))
        self.s.connect(("127.0.0.1", port))
        self.data = b""


def idle(program, root, body):
    """Each connection has an answer, waits while all others come, and has another one."""
    hard = raise_descriptors()
    count = min(IDLE, hard - SPARE)
    if count < IDLE:
        print("%d idle connections, not %d: the limit is %d descriptors" % (count, IDLE, hard))
    with Server(program, root, "--max-clients", str(count), "--header-timeout", "3600",
                "--idle-timeout", "3600") as server:
        clients = []
        try:
            good = 0
            while len(clients) < count:
                some = [Elsewhere(server.port, len(clients) + i)
                        for i in range(min(200, count - len(clients)))]
                good += ask_all(some, body)
                clients += some
            check.equal(good, count, "first answers")
            check.equal(ask_all(clients, body), count, "answers after all the others")
            with open("/proc/%d/statm" % server.process.pid) as f:
                pages = int(f.read().split()[1])
            print("%d idle connections: %d MiB resident" % (
                count, pages * os.sysconf("SC_PAGE_SIZE") >> 20))
        finally:
            for c in clients:
                c.close()
        check.equal(server.stop(), 0, "exit status")
        check.equal(server.stderr(), "", "nothing on stderr")


def killed(program, root, body):
    """After kill -9, with answers on their way, a new server has the port at once."""
    port = "0"
    for turn in range(5):
        server = Server(program, root, "--port", port)
        port = str(server.port)
        with server:
            clients = [Client("127.0.0.1", server.port, 65536) for _ in range(50)]
            check.equal(ask_all(clients, body), 50, "turn %d: answers" % turn)
            for c in clients:
                c.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
                c.fill()
            server.signal(signal.SIGKILL)
            check.equal(server.wait(), -signal.SIGKILL, "turn %d: killed" % turn)
            for c in clients:
                check(c.response() is None, "turn %d: what was on its way is cut" % turn)
                c.close()


def main():
    root = tempfile.mkdtemp(prefix="mely-many-")
    body = b"x" * 1024
    try:
        for name, content in (("page.html", body), ("large.bin", b"y" * (16 << 20))):
            with open(os.path.join(root, name), "wb") as f:
                f.write(content)
        killed(sys.argv[1], root, body)
        if "thread" in os.environ.get("INSTRUMENT_FLAGS", ""):
            print("not tested: idle connections, each of them a thread for the color checker")
        else:
            idle(sys.argv[1], root, body)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    check.finish()


if __name__ == "__main__":
    main()
