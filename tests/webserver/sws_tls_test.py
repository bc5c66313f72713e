# SPDX-License-Identifier: MIT
"""sws with TLS, from outside: sws_tls_test.py SWS. Needs the openssl command."""
import os
import re
import resource
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

def make_pair(folder, name, hosts, kind="ec", days=30):
    """A certificate NAME.pem for these hosts that signs itself, and its key NAME.key."""
    cert, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    new = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}[kind]
    names = ",".join("DNS:" + h for h in hosts)
    subprocess.run(["openssl", "req", "-x509", "-newkey", *new, "-nodes", "-keyout", key, "-out",
                    cert, "-days", str(days), "-subj", "/CN=" + name, "-addext",
                    "subjectAltName=" + names], check=True, stderr=subprocess.DEVNULL)
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
        self.s = wants.wrap_socket(self.raw, server_hostname=name, session=session)

    def fill(self):
        try:
            return super().fill()
        except ssl.SSLEOFError:
            self.cut = True
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


def main():
    if shutil.which("openssl") is None:
        print("openssl not found: install openssl")
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
        finally:
            remove_root(root)
    check.finish()


main()
