# SPDX-License-Identifier: MIT
"""How many connections, how slow they may be, and how fast: sws_limits_test.py SWS"""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from sws_lib import PATIENCE, Checks, Client, Server, make_root, read, remove_root

check = Checks()
SWS = sys.argv[1]


def from_address(server, source):
    """A connection that comes from an address of the loopback network."""
    c = Client.__new__(Client)
    c.s = socket.socket()
    c.s.settimeout(PATIENCE)
    c.s.bind((source, 0))
    c.s.connect(("127.0.0.1", server.port))
    c.data = b""
    return c


def is_refused(c):
    """Has the server closed it without a word?"""
    try:
        return not c.fill()
    except ConnectionError:
        return True


def until(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def clients_per_address(root):
    www = os.path.join(root, "www")
    with Server(SWS, www, "--max-clients-per-address", "3", "--bind", "127.0.0.1") as server:
        held = [server.connect() for _ in range(3)]
        check(all(c.get("/page.html").status == 200 for c in held), "three clients")
        for _ in range(5):
            with server.connect() as c:
                check(is_refused(c), "a fourth one")
        for i in range(2, 6):
            with from_address(server, "127.0.0.%d" % i) as c:
                check.equal(c.get("/page.html").status, 200, "another address")
        check(all(c.get("/page.html").status == 200 for c in held), "the three are still there")
        held.pop().close()

        def has_room():
            c = server.connect()
            try:
                c.send(b"GET /page.html HTTP/1.1\r\nHost: x\r\n\r\n")
                r = c.response()
            except ConnectionError:
                r = None
            if r:
                held.append(c)
            return r is not None

        check(until(has_room), "a place that is free again")
        with server.connect() as c:
            check(is_refused(c), "and taken again")
        # Many times over the count stays exact.
        for c in held:
            c.close()
        def one():
            with server.connect() as c:
                try:
                    return c.get("/empty.txt") is not None
                except ConnectionError:
                    return False

        for _ in range(100):
            check(until(one), "one by one")
        check.equal(server.stderr().count("refused a connection of an address: "), 1,
                    "one line for all")
        check.equal(server.stop(), 0, "exit status")
    with Server(SWS, www, "--max-clients-per-address", "1") as server:
        held = server.connect()
        check.equal(held.get("/page.html").status, 200, "a client at the end")
        check.equal(server.stop(), 0, "exit status with a client")


def dribble(server, first, byte, name):
    """A client that sends bytes one by one must not be let go on."""
    with server.connect() as c:
        c.send(first)
        c.s.settimeout(0.1)
        end = time.monotonic() + PATIENCE
        answer = b""
        while time.monotonic() < end:
            try:
                c.send(byte)
                part = c.s.recv(65536)
                answer += part
                if not part:
                    break
            except socket.timeout:
                pass
            except ConnectionError:
                break
        check(time.monotonic() < end, "%s ends" % name)
        return answer


def deadlines(root):
    args = ("--header-timeout", "1.5", "--idle-timeout", "1000")
    with Server(SWS, os.path.join(root, "www"), *args) as server:
        def head():
            a = dribble(server, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a", "a head byte by byte")
            check(a.startswith(b"HTTP/1.1 408 "), "408", a)

        def second_head():
            a = dribble(server, b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nX: ",
                        b"a", "a second head")
            check(b"HTTP/1.1 408 " in a, "408 for the second", a)

        def lines():
            dribble(server, b"", b"\r\n", "empty lines")

        def body():
            a = dribble(server, b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n",
                        b"a", "a body byte by byte")
            check(a.startswith(b"HTTP/1.1 200 "), "the answer before the body", a)

        def silent_body():
            a = dribble(server, b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n",
                        b"", "a body that does not come")
            check(a.startswith(b"HTTP/1.1 200 "), "the answer before the silence", a)

        def last_body():
            dribble(server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    b"Content-Length: 60000\r\n\r\n", b"a", "the body of a last request")

        run_all(head, second_head, lines, body, silent_body, last_body)
        # Bodies that come whole end nothing.
        with server.connect() as c:
            for _ in range(40):
                c.send(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
                time.sleep(0.05)
                c.send(b"cde")
                check.equal(c.response().status, 200, "a body in two pieces")
            check.equal(c.get("/page.html").status, 200, "after 40 bodies")
        check.equal(server.stop(), 0, "exit status")


def min_rate(root):
    """A client that reads, but more slowly than it must; and one where it need not. The next client
    gets its answer when the one before has been disconnected, since there may be one only."""
    www = os.path.join(root, "www")

    def slow(rate, ends):
        with Server(SWS, www, "--max-clients", "1", "--min-rate", rate) as server, \
             server.connect(rcvbuf=4096) as c:
            c.send(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            c.s.recv(2048)
            other = server.connect()
            other.send(b"GET /page.html HTTP/1.1\r\nHost: x\r\n\r\n")
            # Without an end the test is as long as the measure, which is 30 seconds, and a bit.
            end = time.monotonic() + (PATIENCE if ends else 35)
            other.s.settimeout(0.5)
            answered = False
            while not answered and time.monotonic() < end:
                c.s.recv(2048)
                try:
                    answered = len(other.s.recv(2048)) > 0
                except socket.timeout:
                    pass
            other.close()
            check.equal(answered, ends, "--min-rate %s" % rate)

    run_all(lambda: slow("1m", True), lambda: slow("0", False))


def run_all(*functions):
    threads = [threading.Thread(target=f) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def rates(root):
    """Whatever the limit is for, nothing is sent sooner than it allows, and all of it arrives."""
    www = os.path.join(root, "www")
    large = read(root, "large.bin")
    small = read(root, "page.html")

    def fetch(server, source, count=1):
        with from_address(server, source) as c:
            for _ in range(count):
                r = c.get("/large.bin")
                check(r and r.body == large, "large.bin whole")

    def fetch_small(server, source, count):
        with from_address(server, source) as c:
            c.send(b"GET /page.html HTTP/1.1\r\nHost: x\r\n\r\n" * count)
            for _ in range(count):
                r = c.response()
                check(r and r.body == small, "page.html whole")

    def fetch_h2(server):
        got = subprocess.run(["curl", "-s", "--http2-prior-knowledge",
                              "http://127.0.0.1:%d/large.bin" % server.port],
                             capture_output=True, timeout=PATIENCE).stdout
        check(got == large, "large.bin by HTTP/2")

    def measure(option, rate, nbytes, *clients):
        with Server(SWS, www, option, str(rate)) as server:
            begin = time.monotonic()
            run_all(*[lambda c=c: c[0](server, *c[1:]) for c in clients])
            took = time.monotonic() - begin
            # A burst of a tenth of a second, and a turn of half of that, come early.
            least = nbytes / rate - 0.16
            check(took >= least, "%s %d" % (option, rate), "%.3f s, at least %.3f" % (took, least))
            print("%s=%d: %d bytes in %.3f s, %.1f %% of the rate" %
                  (option, rate, nbytes, took, 100 * nbytes / rate / took), flush=True)
            check.equal(server.stop(), 0, "exit status")

    size = len(large)
    measure("--rate-per-connection", size // 2, size, (fetch, "127.0.0.1"), (fetch, "127.0.0.1"))
    measure("--rate-per-address", size, 2 * size, (fetch, "127.0.0.1"), (fetch, "127.0.0.1"),
            (fetch, "127.0.0.2", 2))
    measure("--rate", 2 * size, 4 * size, (fetch, "127.0.0.1"), (fetch, "127.0.0.2"),
            (fetch, "127.0.0.3", 2))
    measure("--rate", 100000, 2 * 100 * 1024, (fetch_small, "127.0.0.1", 100),
            (fetch_small, "127.0.0.2", 100))
    if has_http2(www):
        measure("--rate", size, 2 * size, (fetch_h2,), (fetch_h2,))
        measure("--rate-per-address", size, 2 * size, (fetch_h2,), (fetch_h2,))
        measure("--rate-per-connection", size // 2, size, (fetch_h2,), (fetch_h2,))
    with Server(SWS, www, "--rate", "1000") as server:
        # A client that goes while its connection waits; one that stays for the end.
        with server.connect() as c:
            c.send(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            c.s.recv(100)
        with server.connect() as c:
            c.send(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            c.s.recv(100)
            server.signal()
            server.signal()
            check.equal(server.wait(), 0, "exit status with a client that waits")


def has_http2(www):
    """Have sws and curl HTTP/2?"""
    with Server(SWS, www) as server:
        p = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "-w", "%{http_version}", "-o",
                            "/dev/null", "http://127.0.0.1:%d/page.html" % server.port],
                           capture_output=True, timeout=PATIENCE)
    return p.stdout == b"2"


def reload_rate(root):
    """A rate that a reload brings, for a connection that is there."""
    conf = os.path.join(root, "sws.conf")
    www = os.path.join(root, "www")

    def write(text):
        with open(conf, "w") as f:
            f.write(text)

    write('rate = "1g";\n')
    with Server(SWS, www, "--config", conf) as server:
        with server.connect() as c:
            check.equal(len(c.get("/large.bin").body), 3 << 20, "at the old rate")
            write('rate = "1m";\n')
            server.signal(signal.SIGHUP)
            check(until(lambda: "reloaded" in server.stderr()), "reloaded")
            begin = time.monotonic()
            check.equal(len(c.get("/large.bin").body), 3 << 20, "at the new rate")
            check(time.monotonic() - begin >= 2.8, "the new rate holds")
        write("max-clients-per-address = 5;\n")
        server.signal(signal.SIGHUP)
        check(until(lambda: "a restart is needed for the new value of max-clients-per-address"
                    in server.stderr()), "what needs a restart")
    for option, value in (("--rate", "fast"), ("--min-rate", "-1"),
                          ("--max-clients-per-address", "x")):
        p = subprocess.run([SWS, option, value, www], capture_output=True, timeout=PATIENCE)
        check(p.returncode == 2 and p.stderr.startswith(b"sws: " + option.encode()),
              "%s %s" % (option, value), p.stderr)


top = make_root()
try:
    run_all(lambda: clients_per_address(top), lambda: deadlines(top), lambda: min_rate(top),
            lambda: rates(top), lambda: reload_rate(top))
finally:
    remove_root(top)
check.finish()
