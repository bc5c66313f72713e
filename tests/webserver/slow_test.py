# SPDX-License-Identifier: MIT
"""sws under slow clients. Usage: slow_test.py PATH-TO-SWS [--seconds N] [--p99 MS]

slowhttptest attacks in its four modes (slow heads, slow bodies, many ranges, slow reading), in clear
text and with TLS, while a probe connects and asks again and again. Every probe must be answered.
The latencies are printed; only with --p99 must their 99th percentile be below that.
"""
import argparse
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from sws_lib import Checks, Client, Program

check = Checks()
CONNECTIONS = 400
MODES = (("slow heads", ["-H", "-i", "1"], "/page.html"),
         ("slow bodies", ["-B", "-i", "1", "-s", "8192", "-t", "GET"], "/page.html"),
         ("many ranges", ["-R", "-a", "5", "-b", "3000"], "/large.bin"),
         ("slow reading", ["-X", "-w", "64", "-y", "256", "-z", "16", "-n", "1"], "/large.bin"))


class SlowServer(Program):
    def __init__(self, program, root, pair):
        command = [program, "--listen", "127.0.0.1:0" + (" tls" if pair else ""), root]
        if pair:
            command[1:1] = ["--tls-certificate", ",".join(pair)]
        super().__init__(command, r"at https?://.*:(\d+)/$")
        self.port = int(self.ready.group(1))


def sockets_of(port):
    """The connections of a server on this port: bytes that each holds for its client."""
    out = []
    with open("/proc/net/tcp", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[1].endswith(":%04X" % port) and words[3] == "01":
                out.append(int(words[4].split(":")[0], 16))
    return out


def unread(program, root):
    """A client does not read: the kernel holds little of what it has asked for."""
    with SlowServer(program, root, None) as server, Client("127.0.0.1", server.port, 65536) as c:
        c.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n" * 8)
        most = 0
        for _ in range(20):
            time.sleep(0.05)
            most = max(sockets_of(server.port) + [most])
        check(most < 1 << 20, "bytes of a client that does not read", most)
        for i in range(8):
            r = c.response()
            check(r is not None and r.body == b"y" * (4 << 20), "... and it gets them", i)


class Probe(threading.Thread):
    """Asks on new connections, one after the other, with a pause; keeps the times."""

    def __init__(self, port, secure):
        super().__init__()
        self.port, self.secure = port, secure
        self.stop = threading.Event()
        self.times, self.wrong = [], 0

    def ask(self):
        with Client("127.0.0.1", self.port) as c:
            if self.secure:
                wants = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                wants.check_hostname, wants.verify_mode = False, ssl.CERT_NONE
                c.s = wants.wrap_socket(c.s)
            r = c.get("/page.html")
            return r is not None and r.status == 200 and r.body == b"x" * 1024

    def run(self):
        while not self.stop.wait(0.01):
            start = time.monotonic()
            try:
                good = self.ask()
            except OSError:
                good = False
            self.times.append(1000 * (time.monotonic() - start))
            self.wrong += not good


def attack(server, secure, name, options, path, seconds, limit):
    probe = Probe(server.port, secure)
    probe.start()
    url = "%s://127.0.0.1:%d%s" % ("https" if secure else "http", server.port, path)
    attacker = subprocess.Popen(["slowhttptest", "-c", str(CONNECTIONS), "-r", str(CONNECTIONS), "-l",
                                 str(seconds), "-v", "0", "-u", url] + options,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    connected = 0
    while attacker.poll() is None:
        connected = max(connected, len(sockets_of(server.port)))
        time.sleep(0.1)
    probe.stop.set()
    probe.join()
    what = "%s, %s" % (name, "TLS" if secure else "clear text")
    times = sorted(probe.times)
    p99 = times[len(times) * 99 // 100] if times else 0
    print("%-26s %4d connections, %4d probes: p50 %5.1f ms, p99 %5.1f ms, longest %5.1f ms" % (
        what, connected, len(times), times[len(times) // 2] if times else 0, p99,
        times[-1] if times else 0), flush=True)
    check(times and probe.wrong == 0, what + ": each probe is answered", probe.wrong)
    if limit:
        check(p99 < limit, what + ": p99", p99)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--p99", type=float, help="in ms")
    options = parser.parse_args()
    missing = [tool for tool in ("slowhttptest", "openssl") if not shutil.which(tool)]
    root = tempfile.mkdtemp(prefix="mely-slow-")
    try:
        with open(os.path.join(root, "page.html"), "wb") as f:
            f.write(b"x" * 1024)
        with open(os.path.join(root, "large.bin"), "wb") as f:
            f.write(b"y" * (4 << 20))
        # At rest, so that sendfile may be used.
        os.utime(os.path.join(root, "large.bin"), (1700000000, 1700000000))
        unread(options.program, root)
        if missing:
            print("not found: " + ", ".join(missing), file=sys.stderr)
            sys.exit(1 if check.failed else 77)
        pair = [os.path.join(root, ".cert.pem"), os.path.join(root, ".cert.key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", pair[1], "-out", pair[0],
                        "-days", "2", "-subj", "/CN=test"], check=True, stderr=subprocess.DEVNULL)
        for secure in (False, True):
            with SlowServer(options.program, root, pair if secure else None) as server:
                for name, mode, path in MODES:
                    attack(server, secure, name, mode, path, options.seconds, options.p99)
                check.equal(server.stop(), 0, "exit status")
                check.equal(server.stderr(), "", "nothing on stderr")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    check.finish()


if __name__ == "__main__":
    main()
