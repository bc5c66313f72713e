# SPDX-License-Identifier: MIT
"""sws with TLS, from outside: sws_tls_test.py SWS. Needs the openssl command."""
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from sws_lib import PATIENCE, Checks, Client, Program, make_root, read, remove_root

check = Checks()
SWS = sys.argv[1]
REQUEST = b"GET %s HTTP/1.1\r\nHost: test\r\n\r\n"


# ---- certificates ------------------------------------------------------------------------------

def make_pair(folder, name, hosts, kind="ec"):
    """A certificate NAME.pem for these hosts that signs itself, and its key NAME.key."""
    cert, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    new = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[kind]
    names = ",".join("DNS:" + h for h in hosts)
    subprocess.run(["openssl", "req", "-x509", "-newkey", *new, "-nodes", "-keyout", key, "-out",
                    cert, "-days", "30", "-subj", "/CN=" + name, "-addext",
                    "subjectAltName=" + names], check=True, stderr=subprocess.DEVNULL)
    return cert, key


def make_expired(folder):
    """A certificate of the year 2020."""
    cert, key = make_pair(folder, "expired", ["expired.test"])
    request, config = os.path.join(folder, "ca.csr"), os.path.join(folder, "ca.conf")
    with open(config, "w") as f:
        f.write("[ca]\ndefault_ca=a\n[a]\ndatabase=%s/ca.db\nnew_certs_dir=%s\nserial=%s/ca.no\n"
                "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n" % ((folder,) * 3))
    for name, content in (("ca.db", ""), ("ca.no", "01\n")):
        with open(os.path.join(folder, name), "w") as f:
            f.write(content)
    for command in (["req", "-new", "-key", key, "-out", request, "-subj", "/CN=expired"],
                    ["ca", "-batch", "-config", config, "-selfsign", "-keyfile", key, "-in", request,
                     "-out", cert, "-notext", "-startdate", "20200101000000Z", "-enddate",
                     "20200201000000Z"]):
        subprocess.run(["openssl", *command], check=True, stderr=subprocess.DEVNULL)
    return cert, key


def context(**options):
    """What a client wants of TLS; it verifies nothing."""
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    for name, value in options.items():
        setattr(c, name, value)
    return c


V12 = {"minimum_version": ssl.TLSVersion.TLSv1_2, "maximum_version": ssl.TLSVersion.TLSv1_2}
V13 = {"minimum_version": ssl.TLSVersion.TLSv1_3}


class Secure(Program):
    """An sws with one endpoint that speaks TLS."""

    def __init__(self, root, pairs, *args, **options):
        command = [SWS, "--listen", "127.0.0.1:0 tls", *args]
        for pair in pairs:
            command += ["--tls-certificate", ",".join(pair)]
        super().__init__(command + [root], r"at https://127\.0\.0\.1:(\d+)/$", **options)
        self.port = int(self.ready.group(1))

    def connect(self, wants=None, name=None, rcvbuf=None, session=None):
        return SecureClient(self.port, wants or context(), name, rcvbuf, session)

    def subject(self, name, wants=None):
        """The common name of the certificate for a client that asks for a name."""
        with self.connect(wants, name) as c:
            return subject_of(c.s)


def subject_of(s):
    text = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject"],
                          input=s.getpeercert(True), capture_output=True, check=True).stdout
    return re.search(r"CN\s*=\s*(\S+)", text.decode()).group(1)


class SecureClient(Client):
    def __init__(self, port, wants, name=None, rcvbuf=None, session=None):
        super().__init__("127.0.0.1", port, rcvbuf)
        self.raw = self.s
        self.s = wants.wrap_socket(self.raw, server_hostname=name, session=session,
                                   suppress_ragged_eofs=False)

    def fill(self):
        try:
            return super().fill()
        except ssl.SSLEOFError:
            self.cut = True  # the stream ends without an end of TLS
            return False

    cut = False


def wait_for(done, what):
    end = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > end:
            return check(False, what)
        time.sleep(0.02)
    return check(True, what)


# ---- tests -------------------------------------------------------------------------------------

def versions(root, pairs):
    with Secure(root + "/www", pairs) as server:
        for wants, version in ((V12, "TLSv1.2"), (V13, "TLSv1.3")):
            with server.connect(context(**wants)) as c:
                check.equal(c.s.version(), version, "version")
                check.equal(c.get("/page.html").body, b"x" * 1024, "page over " + version)
                check.equal(c.get("/missing").status, 404, "404 over " + version)
                check.equal(c.get("/page.html", method="HEAD").body, b"", "HEAD")
                for name in ("medium.bin", "large.bin"):
                    body = c.get("/" + name).body
                    check(body == read(root, name), "%s over %s" % (name, version))
                part = c.get("/large.bin", Range="bytes=1000000-2000000")
                check(part.status == 206 and part.body == read(root, "large.bin")[1000000:2000001],
                      "a range over " + version)
        with server.connect() as c:
            answer = c.get("/page.html", Connection="close")
            check(answer is not None and c.at_end() and not c.cut, "close_notify at the end")
        check.equal(server.stop(), 0, "exit status")
    with Secure(root + "/www", pairs, "--tls-min-version", "1.3") as server:
        try:
            server.connect(context(**V12)).close()
            check(False, "1.2 is refused")
        except ssl.SSLError as e:
            check("ALERT" in str(e).upper(), "an alert for 1.2", e)
        check.equal(server.subject(None), "one", "1.3 is served")
        check("handshake has failed" in server.stderr(), "a notice", server.stderr())
        server.stop()


def protocols(root, pairs):
    with Secure(root + "/www", pairs) as server:
        for offered, wanted in ((["http/1.1"], "http/1.1"), (["spdy/3", "http/1.1"], "http/1.1"),
                                ([], None)):
            wants = context()
            if offered:
                wants.set_alpn_protocols(offered)
            with server.connect(wants) as c:
                check.equal(c.s.selected_alpn_protocol(), wanted, "ALPN %s" % offered)
        wants = context()
        wants.set_alpn_protocols(["spdy/3"])
        try:
            server.connect(wants).close()
            check(False, "no protocol in common")
        except ssl.SSLError as e:
            check("NO_APPLICATION_PROTOCOL" in str(e).upper().replace(" ", "_"), "its alert", e)
        server.stop()


def names(root, pairs, rsa, twin):
    with Secure(root + "/www", pairs + [rsa, twin]) as server:
        for name, wanted in ((None, "one"), ("one.test", "one"), ("TWO.test", "two"),
                             ("a.wild.test", "two"), ("a.b.wild.test", "one"),
                             ("wild.test", "one"), ("exact.wild.test", "one"),
                             ("unknown.test", "one"), ("three.test", "three")):
            check.equal(server.subject(name), wanted, "certificate for %s" % name)
        # The pair of the same name with another kind of key, for clients without elliptic ones.
        wants = context(**V12)
        wants.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
        check.equal(server.subject("one.test", wants), "twin", "the RSA certificate")
        server.stop()


def resumption(root, pairs):
    with Secure(root + "/www", pairs, "--cores", "2") as server:
        for wants in (V12, V13):
            wants = context(**wants)
            with server.connect(wants, "one.test") as c:
                c.get("/page.html")
                session = c.s.session
                check(not c.s.session_reused, "a new session")
            for i in range(8):
                if i == 4:
                    server.signal(signal.SIGHUP)
                    wait_for(lambda: "reloaded" in server.stderr(), "reloaded")
                with server.connect(wants, "one.test", session=session) as c:
                    check.equal(c.get("/page.html").status, 200, "resumed")
                    check(c.s.session_reused, "resumed %d" % i)
        server.stop()


class Pump:
    """A TLS client whose records we see: what it sends goes where and when we want."""

    def __init__(self, port, wants=None, rcvbuf=None):
        self.s = socket.socket()
        if rcvbuf:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.s.settimeout(PATIENCE)
        self.s.connect(("127.0.0.1", port))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = (wants or context()).wrap_bio(self.incoming, self.outgoing)

    def records(self):
        return self.outgoing.read()

    def fill(self):
        data = self.s.recv(65536)
        if data:
            self.incoming.write(data)
        return bool(data)

    def handshake(self, send):
        while True:
            try:
                self.tls.do_handshake()
                return
            except ssl.SSLWantReadError:
                send(self.records())
                if not self.fill():
                    raise EOFError("closed in the handshake")

    def read_all(self):
        """All that the server sends; the second value: did it say that this is all?"""
        data = b""
        while True:
            try:
                more = self.tls.read(65536)
                if not more:
                    return data, True
                data += more
            except ssl.SSLZeroReturnError:
                return data, True
            except ssl.SSLWantReadError:
                if not self.fill():
                    return data, False

    def in_pieces(self, data):
        for i in range(0, len(data), 100):
            self.s.sendall(data[i:i + 100])


def is_closed(s):
    """Does the server end this connection, whatever it sends before?"""
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def pipelining(root, pairs):
    with Secure(root + "/www", pairs) as server:
        names = ["page.html", "medium.bin", "n/7.txt", "large.bin", "missing", "sub/"]
        with server.connect() as c:
            count = 150
            todo = [names[i % len(names)] for i in range(count)]
            text = b"".join(REQUEST % ("/" + name).encode() for name in todo)
            c.send(text)  # it fits into buffers
            fine = 0
            for name in todo:
                answer = c.response()
                if answer is None:
                    break
                if name == "missing":
                    fine += answer.status == 404
                else:
                    file = name + "index.html" if name.endswith("/") else name
                    fine += answer.status == 200 and answer.body == read(root, file)
            check.equal(fine, count, "pipelined answers")
        # The handshake's end, and a request, in one piece, and all in pieces of 100 bytes.
        for wants in (V12, V13):
            pump = Pump(server.port, context(**wants))
            pump.handshake(pump.in_pieces)
            pump.tls.write(REQUEST % b"/page.html" + b"GET /medium.bin HTTP/1.0\r\n\r\n")
            pump.in_pieces(pump.records())
            data, ended = pump.read_all()
            check(ended and data.endswith(read(root, "medium.bin"))
                  and b"\r\n\r\n" + b"x" * 1024 in data, "input in pieces", len(data))
            pump.s.close()
        server.stop()


def slow_readers(root, pairs):
    large = read(root, "large.bin")
    with Secure(root + "/www", pairs, "--cache-file-size", "60k") as server:
        for wants in (V12, V13):
            clients = [server.connect(context(**wants), rcvbuf=4096) for _ in range(4)]
            for c in clients:
                c.send(REQUEST % b"/large.bin" + REQUEST % b"/medium.bin" * 20
                       + b"GET /large.bin HTTP/1.0\r\n\r\n")
            for c in clients:
                c.s.settimeout(PATIENCE)
                fine = c.response().body == large
                for _ in range(20):
                    fine = fine and c.response().body == read(root, "medium.bin")
                fine = fine and c.response().body == large
                check(fine and c.at_end() and not c.cut, "a slow reader gets all")
                c.close()
        server.stop()


def ends(root, pairs):
    with Secure(root + "/www", pairs) as server:
        # The client ends its side of TLS behind its request, which is answered.
        for with_fin in (False, True):
            pump = Pump(server.port)
            pump.handshake(pump.s.sendall)
            pump.tls.write(REQUEST % b"/large.bin")
            try:
                pump.tls.unwrap()
            except ssl.SSLError:
                pass
            pump.s.sendall(pump.records())
            if with_fin:
                pump.s.shutdown(socket.SHUT_WR)
            received = 0
            while (data := pump.s.recv(262144)):
                received += len(data)
            check(received > 3 << 20, "an answer after close_notify", received)
            pump.s.close()
        # A file becomes shorter while it is sent: the client must not hear that this was all.
        path = os.path.join(root, "www/shrinks.bin")
        with open(path, "wb") as f:
            f.write(b"s" * (16 << 20))
        os.utime(path, (1700000000, 1700000000))
        with server.connect(rcvbuf=4096) as c:
            c.send(b"GET /shrinks.bin HTTP/1.0\r\n\r\n")
            while b"\r\n\r\n" not in c.data:
                c.fill()
            os.truncate(path, 1 << 20)
            while c.fill():
                pass
            check(c.cut and len(c.data) < 16 << 20, "no close_notify in the middle", len(c.data))
        os.remove(path)
        # The server drains: an idle client hears the end of TLS.
        with server.connect() as c:
            c.get("/page.html")
            server.signal()
            check(c.at_end() and not c.cut, "close_notify of an idle connection")
        check.equal(server.wait(), 0, "exit status")


def strangers(root, pairs):
    with Secure(root + "/www", pairs) as server:
        for what in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 70000,
                     b"\0" * 1000, os.urandom(5000), b"\x16\x03\x01\0\x05\x01\0\0\x01\0",
                     b"\x15\x03\x01\0\x02\x02\x28", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
                try:
                    s.sendall(what)
                    s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                check(is_closed(s), "closed after %r" % what[:20])
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            data = s.recv(65536)
            check(not data.startswith(b"HTTP"), "no answer in clear text", data[:50])
        lines = [l for l in server.stderr().splitlines() if "handshake" in l]
        check(len(lines) == 1 and "http request" in lines[0], "one line for all", lines)
        # Bytes after the handshake that are not a record.
        for wants in (V12, V13):
            pump = Pump(server.port, context(**wants))
            pump.handshake(pump.s.sendall)
            pump.s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
            check(is_closed(pump.s), "clear text after the handshake")
            pump.s.close()
        check.equal(server.subject(None), "one", "still there")
        check.equal(server.stop(), 0, "exit status")


def deadlines(root, pairs):
    with Secure(root + "/www", pairs, "--header-timeout", "0.3") as server:
        hello = hello_of(Pump(server.port))
        silent = [socket.create_connection(("127.0.0.1", server.port), PATIENCE)
                  for _ in range(3)]
        silent[1].sendall(hello[:20])
        silent[2].sendall(hello)
        for i, s in enumerate(silent):
            check(is_closed(s), "a handshake that does not end: %d" % i)
            s.close()
        # Bytes that come one at a time do not prolong it.
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
            try:
                for i in range(len(hello) - 1):
                    s.sendall(hello[i:i + 1])
                    time.sleep(0.02)
                check(False, "a slow handshake is cut")
            except OSError:
                check(True, "a slow handshake is cut")
        # It counts from the handshake to the first request, too, and then for a head.
        with server.connect() as c:
            check(c.at_end() and not c.cut, "no request")
        with server.connect() as c:
            c.send(b"GET / HT")
            check.equal(c.response().status, 408, "half a head")
        server.stop()


def hello_of(pump):
    """What a client sends first."""
    try:
        pump.tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return pump.records()


def messages_of(s):
    """The messages of a server of TLS 1.2 up to its last one, which are in clear text."""
    records = s.makefile("rb")
    data = b""
    while True:
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[1:4], "big"):
            head = records.read(5)
            if len(head) < 5:
                return
            data += records.read(int.from_bytes(head[3:], "big"))
        size = 4 + int.from_bytes(data[1:4], "big")
        yield data[0], data[4:size]
        if data[0] == 14:
            return
        data = data[size:]


def long_chain(root, keys, rsa):
    """The handshake does not fit into the socket of a client that does not read."""
    chain = os.path.join(keys, "chain.pem")
    with open(rsa[0]) as f:
        cert = f.read()
    with open(chain, "w") as f:
        f.write(cert * 3000)
    der = ssl.PEM_cert_to_DER_cert(cert)
    whole = (len(der).to_bytes(3, "big") + der) * 3000
    with Secure(root + "/www", [(chain, rsa[1])], "--header-timeout", "3600") as server:
        pumps = [Pump(server.port, context(**V12), rcvbuf=2048) for _ in range(3)]
        for p in pumps:
            p.s.sendall(hello_of(p))
        time.sleep(0.2)
        for p in pumps:
            messages = list(messages_of(p.s))
            check.equal([m[0] for m in messages], [2, 11, 12, 14], "the messages of a handshake")
            check(messages[1][1] == len(whole).to_bytes(3, "big") + whole, "a long chain")
            p.s.close()
        check.equal(server.stop(), 0, "exit status")
    # One that never reads is cut.
    with Secure(root + "/www", [(chain, rsa[1])], "--header-timeout", "1") as server:
        pump = Pump(server.port, context(**V12), rcvbuf=2048)
        pump.s.sendall(hello_of(pump))
        wait_for(lambda: not is_open(server, pump.s), "a handshake that is not read")
        pump.s.close()
        check.equal(server.stop(), 0, "exit status")


def is_open(server, s):
    """Has the server this connection?"""
    ours = s.getsockname()[1]
    with open("/proc/net/tcp") as f:
        for line in f.readlines()[1:]:
            _, local, remote, state = line.split()[:4]
            if int(local.split(":")[1], 16) == server.port \
                    and int(remote.split(":")[1], 16) == ours and state == "01":
                return True
    return False


class OpenSSLClient:
    """The openssl command as a client, whose standard input we write."""

    def __init__(self, server, *args):
        self.p = subprocess.Popen(["openssl", "s_client", "-connect",
                                   "127.0.0.1:%d" % server.port, *args], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.said = b""

    def say(self, line):
        self.p.stdin.write(line)
        self.p.stdin.flush()

    def wait_for(self, text):
        while text not in self.said:
            more = os.read(self.p.stdout.fileno(), 65536)
            if not more:
                break
            self.said += more

    def end(self):
        while (more := os.read(self.p.stdout.fileno(), 65536)):
            self.said += more
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        self.p.stdout.close()
        return self.p.wait(PATIENCE)


def openssl_client(root, pairs):
    with Secure(root + "/www", pairs) as server:
        # Key updates of TLS 1.3: a few are fine, many are not.
        c = OpenSSLClient(server, "-tls1_3")
        c.wait_for(b"Verify return code")
        for _ in range(5):
            c.say(b"K\n")
            time.sleep(0.02)  # the command reads one line at a time
        c.say(b"GET /page.html HTTP/1.0\r\n\r\n")
        c.end()
        check(b"x" * 1024 in c.said, "after five key updates", c.said[-300:])
        check(b"Max Early Data: 0" in c.said, "no early data", c.said[-300:])
        c = OpenSSLClient(server, "-tls1_3")
        c.wait_for(b"Verify return code")
        sent = 0
        try:
            while sent < 3000:
                c.say(b"k\n")
                sent += 1
                time.sleep(0.005)
        except BrokenPipeError:
            pass
        check(30 < sent < 3000, "too many key updates end it", sent)
        c.p.kill()
        c.end()
        # Records that are as small as the client wants them.
        for length in ("512", "4096"):
            c = OpenSSLClient(server, "-tls1_2", "-maxfraglen", length)
            c.wait_for(b"Verify return code")
            c.say(b"GET /medium.bin HTTP/1.0\r\n\r\n")
            c.end()
            check(bytes(range(256)) * 200 in c.said, "records of " + length, len(c.said))
        # A second handshake in TLS 1.2.
        c = OpenSSLClient(server, "-tls1_2")
        c.wait_for(b"Verify return code")
        c.say(b"R\n")
        check(c.end() != 0 or b"no renegotiation" in c.said, "no second handshake", c.said[-300:])
        check.equal(server.stop(), 0, "exit status")


def replace(pair, by):
    """Files take the place of others, as tools for certificates do it."""
    for to, of in zip(pair, by):
        shutil.copy(of, to + ".new")
        os.replace(to + ".new", to)


def renewal(root, keys, one, two, three):
    pair = tuple(os.path.join(keys, "live" + end) for end in (".pem", ".key"))
    replace(pair, one)
    with Secure(root + "/www", [pair]) as server:
        held = server.connect()
        check.equal(subject_of(held.s), "one", "the first certificate")
        replace(pair, two)
        wait_for(lambda: server.subject(None) == "two", "new files are found")
        check.equal(held.get("/page.html").status, 200, "the connection stays")
        # The key of another certificate.
        replace(pair, (one[0], three[1]))
        wait_for(lambda: "before the change stay" in server.stderr(), "a line for a broken pair")
        check(pair[1] in server.stderr(), "it names the file", server.stderr())
        check.equal(server.subject(None), "two", "the pair before stays")
        server.signal(signal.SIGHUP)
        wait_for(lambda: "the one before it stays" in server.stderr(), "a reload fails")
        check.equal(server.subject(None), "two", "the pair before stays after SIGHUP")
        os.remove(pair[0])
        wait_for(lambda: server.stderr().count("before the change stay") == 2, "a line for none")
        replace(pair, three)
        wait_for(lambda: server.subject(None) == "three", "good files again")
        replace(pair, one)
        server.signal(signal.SIGHUP)
        wait_for(lambda: "sws: reloaded" in server.stderr(), "a reload")
        check.equal(server.subject(None), "one", "certificate after SIGHUP")
        check.equal(held.get("/page.html").status, 200, "the connection still stays")
        held.close()
        check.equal(server.stop(), 0, "exit status")


def configuration(root, keys, one, three):
    def sws(*args):
        p = subprocess.run([SWS, *args], capture_output=True, timeout=PATIENCE, text=True)
        return p.returncode, p.stderr

    config = os.path.join(keys, "sws.conf")
    both = os.path.join(keys, "both.pem")
    with open(both, "wb") as f:
        for name in one:
            with open(name, "rb") as part:
                f.write(part.read())

    def put(*certificates):
        with open(config, "w") as f:
            f.write('listen = "127.0.0.1:0 tls";\ntls-certificate = [%s];\nroot = "%s/www";\n' % (
                ", ".join('"%s"' % c for c in certificates), root))

    put(",".join(one), ",".join(three), both)
    check.equal(sws("--check", config), (0, ""), "a sound configuration")
    for certificates, file, why in (
            ([one[0] + "," + three[1]], three[1], "key"),
            ([",".join(three), one[0] + ",/none.key"], "/none.key", "No such file"),
            (["/none.pem," + one[1]], "/none.pem", "No such file"),
            ([one[0]], one[0], "no key in PEM"),
            ([one[0] + "," + config], config, "no key in PEM"),
            ([config], config, "no certificate in PEM")):
        put(*certificates)
        status, said = sws("--check", config)
        check(status == 2 and file in said and why in said and said.count("\n") == 1,
              "a broken pair: %s" % why, (status, said))
    status, said = sws("--listen", "127.0.0.1:0 tls", root)
    check(status != 0 and "needs a certificate" in said, "no certificate", (status, said))
    for wrong in (",key", "cert,", "a,b,c", ""):
        status, said = sws("--tls-certificate", wrong, root)
        check(status == 2 and "--tls-certificate" in said, "a wrong option", (status, said))
    status, said = sws("--tls-min-version", "1.1", root)
    check(status == 2 and "--tls-min-version" in said, "a wrong version", (status, said))
    old = make_expired(keys)
    with Secure(root + "/www", [old]) as server:
        check("has expired" in server.stderr(), "a certificate that has expired", server.stderr())
        check.equal(server.subject(None), "expired", "it is served")
        server.stop()


def many(root, pairs):
    """Short connections, with and without a session, some cut anywhere."""
    with Secure(root + "/www", pairs) as server:
        def work(seed):
            wants, session = context(), None
            for i in range(150):
                try:
                    with server.connect(wants, session=session) as c:
                        if i % 5 == 4:
                            c.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\nGET")
                            continue
                        good = c.get("/medium.bin").status == 200
                        session = c.s.session if i % 3 else None
                    if i % 5 == 3:
                        with socket.create_connection(("127.0.0.1", server.port)) as s:
                            s.sendall(b"\x16\x03\x01\x02\0\x01" + bytes(seed * i % 300))
                except OSError as e:
                    good = check(False, "a short connection", e)
                if not good:
                    check(False, "short connection %d" % i)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check.equal(server.stop(), 0, "exit status, and no leak")


def main():
    if shutil.which("openssl") is None:
        print("openssl not found: install openssl")
        sys.exit(77)
    p = subprocess.run([SWS, "--tls-certificate", "none", "/"], capture_output=True, text=True)
    if "without OpenSSL" in p.stderr:
        print("sws is built without OpenSSL")
        sys.exit(77)
    root = make_root()
    with tempfile.TemporaryDirectory(prefix="mely-tls-") as keys:
        one = make_pair(keys, "one", ["one.test", "localhost", "exact.wild.test"])
        two = make_pair(keys, "two", ["two.test", "*.wild.test"])
        three = make_pair(keys, "three", ["three.test"], "rsa")
        twin = make_pair(keys, "twin", ["one.test", "localhost", "exact.wild.test"], "rsa")
        try:
            versions(root, [one])
            protocols(root, [one])
            names(root, [one, two], three, twin)
            resumption(root, [one])
            pipelining(root, [one])
            slow_readers(root, [one])
            ends(root, [one])
            strangers(root, [one])
            deadlines(root, [one])
            long_chain(root, keys, three)
            openssl_client(root, [one])
            renewal(root, keys, one, two, three)
            configuration(root, keys, one, three)
            many(root, [one])
        finally:
            remove_root(root)
    check.finish()


main()
