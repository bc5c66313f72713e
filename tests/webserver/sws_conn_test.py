# SPDX-License-Identifier: MIT
"""sws, end to end: connections, limits, start and end. Usage: sws_conn_test.py PATH-TO-SWS"""
import email.utils
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time

from sws_lib import Checks, Server, make_root, raise_descriptors, read, remove_root

check = Checks()
IDLE = 5000
INSTRUMENTED = bool(os.environ.get("INSTRUMENT_FLAGS"))


def request(path):
    return b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode()


def send_behind(client, data):
    """Send from a thread of its own, so that neither side waits for the other."""
    def run():
        try:
            client.s.sendall(data)
        except OSError:
            pass
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def pipelined(server, root):
    """1,000 requests at once: all answers, in order."""
    names = ["n/%d.txt" % (i * 7 % 50) for i in range(1000)]
    with server.connect() as c:
        thread = send_behind(c, b"".join(request("/" + n) for n in names))
        for i, name in enumerate(names):
            r = c.response()
            if not check(r is not None and r.body == read(root, name), "pipelined %d" % i):
                break
        thread.join()
    mixed = ["medium.bin", "nothing", "n/4.txt", "large.bin", "empty.txt", "page.html"] * 8
    with server.connect() as c:
        thread = send_behind(c, b"".join(request("/" + n) for n in mixed))
        for i, name in enumerate(mixed):
            r = c.response()
            if name == "nothing":
                check.equal(r and r.status, 404, "mixed %d" % i)
            else:
                check(r is not None and r.body == read(root, name), "mixed %d %s" % (i, name))
        thread.join()


def slow_readers(server, root):
    """Clients that take little at a time delay no other client, and lose nothing."""
    count, medium, large = 200, read(root, "medium.bin"), read(root, "large.bin")
    slow = [server.connect(rcvbuf=4096) for _ in range(4)]
    threads = [send_behind(c, request("/medium.bin") * count) for c in slow]
    files = [server.connect(rcvbuf=4096) for _ in range(4)]
    for c in files:
        c.send(request("/large.bin"))
    for i in range(20):
        check.equal(server.get("/n/%d.txt" % i).status, 200, "served beside slow readers")
    for c in files:
        while len(c.data) < 20000:
            c.data += c.s.recv(512)
        r = c.response()
        check(r is not None and r.body == large, "a slow reader's large file")
        c.close()
    for c, thread in zip(slow, threads):
        while len(c.data) < 20000:
            c.data += c.s.recv(100)
        good = sum(1 for _ in range(count) if (lambda r: r and r.body == medium)(c.response()))
        check.equal(good, count, "a slow reader's pipelined answers")
        thread.join()
        c.close()


def gone_clients(server):
    """Clients that vanish in the middle of everything."""
    for i in range(50):
        c = server.connect(rcvbuf=4096)
        c.send(request("/large.bin") * 3 + b"GET / HT")
        if i % 2:
            c.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
    check.equal(server.get("/").status, 200, "serves after clients have gone")


def half_closed(server):
    """The end of a client's requests, seen while the answers are on their way: it is not lost."""
    for count in (1, 65, 600):
        with server.connect(rcvbuf=4096) as c:
            c.send(request("/n/1.txt") * count)
            c.s.shutdown(socket.SHUT_WR)
            good = 0
            for _ in range(count):
                r = c.response()
                good += r is not None and r.status == 200
            check.equal(good, count, "%d requests and a half-close" % count)
            check(c.at_end(), "... and closed")


def slow_and_changed(program, root):
    """Answers made long after their request are dated, and compared with their file, when made."""
    path = os.path.join(root, "www", "changes.bin")
    old, new = b"o" * 40000, b"n" * 40000
    with open(path, "wb") as f:
        f.write(old)
    with Server(program, os.path.join(root, "www"), "--cores", "1") as server:
        with server.connect(rcvbuf=4096) as c:
            c.send(request("/changes.bin") * 250)
            check.equal(c.response().body, old, "the first answer")
            with open(path + ".new", "wb") as f:
                f.write(new)
            os.rename(path + ".new", path)
            time.sleep(2.5)
            read_at = time.time()
            for _ in range(248):
                c.response()
            r = c.response()
            check(r is not None and r.body == new, "the last of 250 has the new file")
            date = r and email.utils.parsedate_to_datetime(r["date"]).timestamp()
            check(date and date >= read_at - 1, "... and the date of its answer",
                  str(date and date - read_at))
        check.equal(server.stop(), 0, "exit status")
    os.unlink(path)


def no_descriptor_to_compare(program, root):
    """A page that cannot be compared with its file for want of descriptors stays."""
    with Server(program, os.path.join(root, "www"), "--cores", "1") as server:
        with server.connect() as c:
            check.equal(c.get("/page.html").status, 200, "before")
            soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            # New descriptors have the lowest free number, and that is below all of these.
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (0, hard))
            time.sleep(1.2)
            check.equal(c.get("/page.html").status, 200, "without descriptors: what is there")
            check.equal(c.get("/n/1.txt").status, 503, "... and not what is not")
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
            check.equal(c.get("/n/1.txt").status, 200, "with descriptors")
        check.equal(server.stop(), 0, "exit status")


def huge_file(program, root):
    """A length over 32 bits keeps its framing, however large the cache is."""
    path = os.path.join(root, "www", "huge.bin")
    size = (4 << 30) + 10
    with open(path, "wb") as f:
        f.truncate(size)
    with Server(program, os.path.join(root, "www"), "--cache-size", "16g", "--cache-file-size",
                "8g") as server:
        with server.connect() as c:
            c.send(request("/huge.bin") + request("/n/1.txt"))
            while len(c.data) < 1 << 20:
                if not c.fill():
                    break
            head, body = c.data.split(b"\r\n\r\n", 1)
            check(b"Content-Length: %d" % size in head, "huge file: its length", str(head))
            check(len(body) > 1000000 and body.count(0) == len(body), "... and only its bytes")
        check.equal(server.stop(), 0, "exit status")
    os.unlink(path)


def has_helper(server):
    """Does the server have a helper thread for files?"""
    for task in os.listdir("/proc/%d/task" % server.process.pid):
        try:
            with open("/proc/%d/task/%s/comm" % (server.process.pid, task)) as f:
                if f.read().startswith("mely/file"):
                    return True
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return False


def cold(path):
    """Write a file's bytes to its disk and drop them from memory; False if that is not seen."""
    with open(path, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            os.preadv(f.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)
        except BlockingIOError:
            return True
        except OSError:
            pass
    return False


def accepts(server):
    """Does the server take another connection?"""
    try:
        server.connect().close()
    except ConnectionError:
        return False
    return True


def helpers_read(program, root):
    """What a core would wait for is read by a helper: large pages, and files on disk."""
    www = os.path.join(root, "www")
    names, bodies = ["big-%d.bin" % i for i in range(4)], {}
    for name in names:
        bodies[name] = os.urandom(1 << 16) * 80
        with open(os.path.join(www, name), "wb") as f:
            f.write(bodies[name])
    time.sleep(0.1)  # younger files have no tag
    cases = [("8m", "64m", False), ("8m", "6m", False), ("64k", "64m", True)]
    for file_size, cache, on_disk in cases:
        with Server(program, www, "--cache-file-size", file_size, "--cache-size", cache, "--cores",
                    "2") as server:
            name = "cached up to %s of %s" % (file_size, cache)
            check.equal(server.get("/n/1.txt").body, b"1\n" * 2, name + ": a small file")
            # A small file can be on disk only, too, when the test starts.
            helped = has_helper(server)
            seen = not on_disk or all([cold(os.path.join(www, n)) for n in names])
            clients = [server.connect() for _ in range(12)]
            for i, c in enumerate(clients):
                c.send(b"".join(request("/" + names[(i + k) % 4]) + request("/n/2.txt")
                                for k in range(4)))
            for i, c in enumerate(clients):
                right = 0
                for k in range(4):
                    large, small = c.response(), c.response()
                    # An idle helper ends after some seconds: look while they work.
                    helped = helped or has_helper(server)
                    right += (large is not None and large.body == bodies[names[(i + k) % 4]]
                              and small is not None and small.body == b"2\n" * 3)
                check.equal(right, 4, name + ": all answers, in order")
            check(helped or not seen, name + ": by a helper")
            with server.connect() as c:
                r = c.get("/big-1.bin")
                check.equal(c.get("/big-1.bin", If_None_Match=r["etag"]).status, 304, name)
                check.equal(c.get("/big-2.bin", method="HEAD")["content-length"],
                            str(len(bodies["big-2.bin"])), name + ": HEAD")
            check.equal(server.stop(), 0, name + ": exit status")
    # A helper's work is left when the server ends at once.
    with Server(program, www, "--cache-file-size", "8m") as server:
        clients = [server.connect() for _ in range(30)]
        for i, c in enumerate(clients):
            c.send(request("/" + names[i % 4]))
        server.signal()
        # Two signals that come at once are one: wait until the first has closed the listener.
        while accepts(server):
            time.sleep(0.01)
        server.signal()
        check.equal(server.wait(), 0, "ended while helpers read")
    for name in names:
        os.unlink(os.path.join(www, name))


def idle_connections(server):
    """Thousands of idle connections, all of them alive."""
    count = min(IDLE, raise_descriptors() - 200)
    check(count >= 1000, "enough descriptors for the test", str(count))
    clients = [server.connect() for _ in range(count)]
    for c in clients[::5]:
        c.send(request("/n/1.txt"))
    good = sum(1 for c in clients[::5] if c.response().status == 200)
    check.equal(good, len(clients[::5]), "a fifth of %d asks" % count)
    for c in clients:
        c.send(request("/n/2.txt"))
    good = sum(1 for c in clients if c.response().body == b"2\n" * 3)
    check.equal(good, count, "all of %d ask at once" % count)
    for c in clients:
        c.close()


def shrinking(program, root):
    """A file that is cut off while it is sent: the connection ends, nothing is filled up."""
    path = os.path.join(root, "www", "shrinks.bin")
    size = 64 << 20
    with open(path, "wb") as f:
        for i in range(size >> 20):
            f.write(bytes([i]) * (1 << 20))
    with Server(program, os.path.join(root, "www")) as server:
        with server.connect(rcvbuf=65536) as c:
            c.send(request("/shrinks.bin"))
            while len(c.data) < 100000:
                c.fill()
            os.truncate(path, 1 << 20)
            while c.fill():
                pass
            body = c.data.split(b"\r\n\r\n", 1)[1]
            check(len(body) < size, "a file that shrinks: cut off")
            check(all(body[i] == i >> 20 for i in range(0, len(body), 4096)),
                  "... and every byte was of the file")
        check.equal(len(server.get("/shrinks.bin").body), 1 << 20, "... and then the new size")
        check.equal(server.stop(), 0, "... and a good end")
    os.unlink(path)


def deadlines(program, root):
    """Long beside what a loaded machine holds a request up; the end of each is waited for."""
    with Server(program, os.path.join(root, "www"), "--header-timeout", "1",
                "--idle-timeout", "3") as server:
        with server.connect() as c:
            c.send(b"GET / HTTP/1.1\r\nHost:")
            r = c.response()
            check.equal(r and (r.status, r["connection"]), (408, "close"), "half a head: 408")
            check(c.at_end(), "... and closed")
        with server.connect() as c:
            c.send(b"GET / HTTP/1.1\r\n")
            try:
                for i in range(2000):
                    c.send(b"X-%d: y\r\n" % i)
                    if select.select([c.s], [], [], 0.3)[0]:
                        break
            except OSError:
                pass
            r = c.response()
            check(r is None or r.status == 408, "a head that trickles", str(r and r.status))
            check(i < 99, "... ends by time, not by its size", str(i))
        with server.connect() as c:
            check(c.at_end(), "a connection that asks nothing is closed without a word")
        with server.connect() as c:
            check.equal(c.get("/").status, 200, "a request")
            check(c.at_end(), "... and a long silence: closed without a word")
        with server.connect() as c:
            for i in range(5):
                r = c.get("/")
                check.equal(r and r.status, 200, "a connection in use stays")
                time.sleep(0.8)
        check.equal(server.stop(), 0, "deadlines: exit status")


def client_limit(program, root):
    for cores in ("1", "4"):
        with Server(program, os.path.join(root, "www"), "--max-clients", "3", "--cores",
                    cores) as server:
            clients = [server.connect() for _ in range(3)]
            for c in clients:
                check.equal(c.get("/").status, 200, "within the limit")
            late = [server.connect() for _ in range(4)]
            for c in late:
                c.send(request("/n/1.txt"))
            check.equal(select.select([c.s for c in late], [], [], 0.3)[0], [],
                        "above the limit: not served")
            for c in clients:
                check.equal(c.get("/").status, 200, "the others are")
            served = []
            for gone in clients + late[:1]:
                (gone if gone in clients else served[0]).close()
                ready = select.select([c.s for c in late if c not in served], [], [], 60)[0]
                check(len(ready) >= 1, "one leaves, one is served")
                for c in [c for c in late if c.s in ready]:
                    check.equal(c.response().body, b"1\n" * 2, "... with its answer")
                    served.append(c)
                if len(served) == len(late):
                    break
            check.equal(len(served), len(late), "all are served in the end, %s cores" % cores)
            for c in late:
                c.close()
            check.equal(server.get("/").status, 200, "and new ones")
            check.equal(server.stop(), 0, "client limit: exit status")


def out_of_descriptors(program, root):
    """EMFILE: said once, and those who are there are served."""
    with Server(program, os.path.join(root, "www"), "--max-clients", "1000",
                "--cores", "2", nofile=60) as server:
        begun = time.monotonic()
        clients = [server.connect() for _ in range(80)]
        waiting, served = {c.s: c for c in clients}, 0
        for c in clients:
            c.send(request("/n/1.txt"))
        while True:
            # The first answer comes for sure; the last one, when no more has arrived for a while.
            ready = select.select(list(waiting), [], [], 1 if served else 60)[0]
            if not ready:
                break
            for s in ready:
                served += waiting.pop(s).response() is not None
        check(0 < served < 80, "some are served without descriptors", str(served))
        while "cannot accept" not in server.stderr() and time.monotonic() - begun < 60:
            time.sleep(0.05)
        said = server.stderr().count("cannot accept")
        # Once in ten seconds; this has taken one or two.
        check(1 <= said <= 1 + (time.monotonic() - begun) // 10, "said once", str(said))
        for c in clients:
            c.close()
        # The last answers may still find no descriptor free for a moment.
        end = time.monotonic() + 30
        status = None
        while status != 200 and time.monotonic() < end:
            r = server.get("/page.html")
            status = r and r.status
        check.equal(status, 200, "all are served again")
        check.equal(server.stop(), 0, "exit status")


def signal_and_ask(server, client, number=signal.SIGTERM):
    """The answer to a request behind the signal, and how long it took."""
    begun = time.monotonic()
    server.signal(number)
    answer = client.get("/page.html")
    return answer, time.monotonic() - begun


def in_grace(attempt, name):
    """On a machine that is held up the half second of grace can be over; then once more."""
    for _ in range(5):
        r, took = attempt()
        if (r and r.status == 200) or took < 0.4:
            break
    check.equal(r and r.status, 200, name)


def drain_all_kinds(program, root, number):
    large = read(root, "large.bin")
    with Server(program, os.path.join(root, "www")) as server:
        busy, idle, quiet = (server.connect(rcvbuf=4096), server.connect(), server.connect())
        idle.get("/")
        quiet.get("/")
        busy.send(request("/large.bin") + request("/n/1.txt"))
        while len(busy.data) < 10000:
            busy.fill()
        asked = signal_and_ask(server, idle, number)
        refused = False
        for _ in range(1000):
            try:
                server.connect().close()
                time.sleep(0.05)
            except OSError:
                refused = True
                break
        check(refused, "drain: no new connections")
        r = busy.response()
        check(r is not None and r.body == large, "drain: a running answer is finished")
        check(quiet.at_end(), "drain: idle connections are closed")
        for c in (busy, idle):
            while c.fill():
                pass
        check.equal(server.wait(), 0, "drain: exit status 0")
        check.equal(server.stderr(), "", "drain: nothing on stderr")
    return asked


def drain_idle(program, root):
    with Server(program, os.path.join(root, "www")) as server:
        idle = [server.connect() for _ in range(10)]
        for c in idle:
            c.get("/")
        asked = signal_and_ask(server, idle[0])
        # The signal may come behind the request; the close must come in any case.
        check(idle[0].at_end(), "drain: one more request, and closed")
        check.equal(server.wait(), 0, "drain: exit status 0 again")
    return asked


def second_signal(program, root):
    """Two signals at any distance: exit status 0."""
    for pause in (0, 0.003, 0.01, 0.01):
        server = Server(program, os.path.join(root, "www"))
        server.process.send_signal(signal.SIGTERM)
        time.sleep(pause)
        server.process.send_signal(signal.SIGINT)
        check.equal(server.wait(), 0, "SIGTERM, %g s, SIGINT" % pause)


def drain(program, root):
    for number in (signal.SIGTERM, signal.SIGINT):
        in_grace(lambda: drain_all_kinds(program, root, number),
                 "drain: a request on its way is answered")
    with Server(program, os.path.join(root, "www")) as server:
        c = server.connect(rcvbuf=4096)
        c.send(request("/large.bin") * 10)
        c.fill()
        server.signal()
        time.sleep(0.3)
        check(server.process.poll() is None, "a blocked answer holds the drain")
        server.signal()
        check.equal(server.wait(), 0, "a second signal ends at once")
    with Server(program, os.path.join(root, "www"), "--drain-timeout", "0.5") as server:
        c = server.connect(rcvbuf=4096)
        c.send(request("/large.bin") * 10)
        c.fill()
        server.signal()
        check.equal(server.wait(), 0, "the drain ends at its deadline")
    in_grace(lambda: drain_idle(program, root), "drain: one more request")


def addresses(program, root):
    www = os.path.join(root, "www")
    for bind, hosts in [("::1", ["::1"]), ("[::1]", ["::1"]), ("0.0.0.0", ["127.0.0.1"]),
                        ("*", ["127.0.0.1", "::1"]), ("[::]", ["127.0.0.1", "::1"]),
                        ("localhost", ["127.0.0.1"])]:
        with Server(program, www, bind=bind) as server:
            for host in hosts:
                with server.connect(host) as c:
                    check.equal(c.get("/").status, 200, "bind %s, connect %s" % (bind, host))
            check.equal(server.stop(), 0, "bind %s: exit status" % bind)


def run(program, *args):
    return subprocess.run([program, *args], capture_output=True, timeout=300)


def starts(program, root):
    """What sws does with an invalid command line; one line each."""
    www = os.path.join(root, "www")
    with Server(program, www) as server:
        out = run(program, "--port", str(server.port), www)
        check.equal((out.returncode, out.stderr.count(b"\n")), (1, 1), "port in use")
        check(b"in use" in out.stderr, "... says so", out.stderr)
        check.equal(server.get("/").status, 200, "... and the first is not disturbed")
    for args, code in [((os.path.join(root, "nowhere"),), 1),
                       ((os.path.join(www, "page.html"),), 1),
                       (("--bind", "no.such.address.example", www), 2),
                       (("--bind", "192.0.2.1", www), 1),
                       ((), 2), ((www, www), 2), (("--port", "x", www), 2),
                       (("--port", "65536", www), 2), (("--cores", "0", www), 2),
                       (("--max-clients", "-1", www), 2), (("--cache-size", "1x", www), 2),
                       (("--idle-timeout", "", www), 2)]:
        out = run(program, *args)
        check.equal((out.returncode, out.stderr.count(b"\n"), out.stdout), (code, 1, b""),
                    "sws %s" % " ".join(args))
    for option, said in [("--nonsense", b"sws: invalid option '--nonsense' (try --help)\n"),
                         ("-x", b"sws: invalid option '-x' (try --help)\n")]:
        out = run(program, option, www)
        check.equal((out.returncode, out.stderr), (2, said), "sws %s" % option)
    out = run(program, "--port", "65536", www)
    check.equal(out.stderr, b"sws: --port: '65536' is not a number between 0 and 65535\n",
                "a port out of range")
    out = run(program, "--help")
    check(out.returncode == 0 and out.stdout.startswith(b"usage: sws"), "--help")
    out = run(program, "--version")
    check(out.returncode == 0 and out.stdout.startswith(b"sws "), "--version")


def large_tree(program):
    """/usr: starts without looking at it, and stays small whatever is asked for."""
    with Server(program, "/usr", "--cache-size", "8m", "--cores", "2") as server:
        asked = 0
        with server.connect() as c:
            for folder, _, names in os.walk("/usr/share"):
                for name in names[:20]:
                    path = os.path.join(folder, name)[4:]
                    if not all(ch.isalnum() or ch in "/-_" for ch in path.replace(".", "")) \
                            or "/." in path:
                        continue
                    r = c.get(path)
                    # Links may lead out of /usr or nowhere; everything else is a file.
                    full = os.path.join(folder, name)
                    plain = os.path.realpath(full) == full and os.path.isfile(full)
                    check(r is not None and r.status in ((200,) if plain else (200, 403, 404)),
                          full, str(r and r.status))
                    asked += 1
                if asked > 3000:
                    break
        if not INSTRUMENTED:
            with open("/proc/%d/status" % server.process.pid) as f:
                rss = int([l for l in f if l.startswith("VmRSS")][0].split()[1])
            check(rss < 40 * 1024, "resident size stays small", "%d kB" % rss)
        check.equal(server.stop(), 0, "/usr: exit status")


def main():
    program = sys.argv[1]
    raise_descriptors()
    root = make_root()
    try:
        # Thousands of connections take their time before they all have asked for something.
        with Server(program, os.path.join(root, "www"), "--header-timeout", "600",
                    "--idle-timeout", "600") as server:
            pipelined(server, root)
            slow_readers(server, root)
            gone_clients(server)
            half_closed(server)
            idle_connections(server)
            check.equal(server.get("/").status, 200, "still serves at the end")
            check.equal(server.stop(), 0, "exit status")
            check.equal(server.stderr(), "", "nothing on stderr")
        for cores in ("1", "8"):
            with Server(program, os.path.join(root, "www"), "--cores", cores) as server:
                pipelined(server, root)
                slow_readers(server, root)
                check.equal(server.stop(), 0, "%s cores: exit status" % cores)
        shrinking(program, root)
        huge_file(program, root)
        helpers_read(program, root)
        slow_and_changed(program, root)
        no_descriptor_to_compare(program, root)
        deadlines(program, root)
        client_limit(program, root)
        out_of_descriptors(program, root)
        drain(program, root)
        second_signal(program, root)
        addresses(program, root)
        starts(program, root)
        large_tree(program)
    finally:
        remove_root(root)
    check.finish()


if __name__ == "__main__":
    main()
