# SPDX-License-Identifier: MIT
"""The configuration file of sws, its sites and rules, and SIGHUP: sws_config_test.py SWS"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from sws_lib import PATIENCE, Checks, Server

check = Checks()
SWS = sys.argv[1]


def run(*args):
    p = subprocess.run([SWS, *args], capture_output=True, timeout=PATIENCE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


class Place:
    """A folder with two roots and a configuration file."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="mely-config-")
        self.file = os.path.join(self.top, "sws.conf")
        for name, text in (("a/index.html", "a"), ("a/app.html", "app"), ("a/page.html", "page"),
                           ("a/style.css", "css"), ("a/sub/x.html", "x"), ("b/index.html", "b"),
                           ("b/404.html", "nothing here"), ("c/index.html", "c")):
            path = os.path.join(self.top, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)

    def write(self, text):
        with open(self.file, "w") as f:
            f.write(text.replace("TOP", self.top))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)


GOOD = """# two sites
cache-size = "32m";
idle-timeout = 5.5;
sites = (
  { root = "TOP/a"; name = ["a.example", "*.a.example"]; fallback = "/app.html";
    redirect = ["/old/* /new/* 308", "/gone https://b.example/x 302"];
    field-for = ["*.css Cache-Control: max-age=9", "/sub/* X-Sub: yes"];
    field = "X-All: 1"; },
  { root = "TOP/b"; name = "b.example"; error-page = "404 /404.html";
    redirect = "/404* /elsewhere"; }
);
"""


def errors(place):
    """Each error is one line, which names the file and the line in it."""
    for text, wanted in (
            ("port = 70000;", ":1: port: '70000' is not a number between 0 and 65535"),
            ("\n\nbogus = 1;", ":3: bogus: unknown setting"),
            ("port = 1", ":"),
            ("port = = 1;", ":1: syntax error"),
            ("port = [1, 2];", ":1: port: takes one value"),
            ("port = { a = 1; };", ":1: port: a text or a number is expected"),
            ("sites = { root = \"/\"; };", ":1: sites: a list is expected"),
            ("sites = ( 1 );", ":1: sites: each site is a group"),
            ("sites = ( {\n name = \"x\"; } );", ":1: sites: a site has no root"),
            ("sites = ( {\n root = \"/tmp\";\n port = 1; } );",
             ":3: port: a setting of the server, not of a site"),
            ("sites = ( { root = \"/tmp\"; name = \"A\"; } );", ":1: name: 'A': not the name"),
            ("sites = ( { root = \"/tmp\"; redirect = \"x y\"; } );", ":1: redirect: 'x y': not"),
            ("sites = ( { root = \"/tmp\"; field = \"Date: now\"; } );",
             ":1: field: Date is a field that sws writes itself"),
            ("coloring = \"red\";", ":1: coloring: 'red' is none of connection|paper|file"),
            ("cache-size = \"lots\";", ":1: cache-size: 'lots' is not a size"),
            ("fallback = \"relative\";", ":1: fallback: 'relative': not a path")):
        place.write(text)
        status, out, err = run("--check", place.file)
        check.equal(status, 2, "status of %r" % text)
        check(err.count("\n") == 1 and (place.file + wanted in err or wanted == ":"),
              "message for %r" % text, err)
        check.equal(out, "", "output for %r" % text)
    # Two sites with one name, and a root that is not there.
    place.write("sites = ( { root = \"TOP/a\"; name = \"x\"; }, { root = \"TOP/b\"; name = \"x\"; } );")
    check("is the name of two sites" in run("--check", place.file)[2], "one name of two sites")
    place.write("sites = ( { root = \"TOP/none\"; } );")
    check("cannot serve %s/none: No such" % place.top in run("--check", place.file)[2], "no root")
    check("No such file" in run("--check", place.top + "/missing")[2], "no file")
    check.equal(run("--config", place.top + "/missing")[0], 2, "status without the file")


def sites(place):
    place.write(GOOD)
    status, out, err = run("--check", place.file)
    check(status == 0 and "is sound: 2 sites" in out and err == "", "a sound file", (out, err))
    with Server(SWS, place.top + "/c", "--config", place.file) as server:
        # DIR is the first site, that of unknown hosts.
        for host, wanted in (("a.example", b"a"), ("A.Example:99", b"a"), ("x.y.a.example.", b"a"),
                             ("b.example", b"b"), ("xa.example", b"c"), ("[::1]:80", b"c")):
            check.equal(server.get("/", host=host).body, wanted, "site of " + host)
        with server.connect() as c:
            c.send(b"GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
            check.equal(c.response().body, b"b", "an absolute target names the site")
        # One connection may ask all sites.
        with server.connect() as c:
            check.equal([c.get("/", host=h).body for h in ("a.example", "b.example", "z") * 2],
                        [b"a", b"b", b"c"] * 2, "sites of one connection")
        rules(server)
        check.equal(server.stop(), 0, "exit status")


def rules(server):
    def ask(path, host="a.example", **fields):
        return server.get(path, host=host, **fields)

    check.equal([ask("/old/b%20c?q").status, ask("/old/b%20c?q")["location"]],
                [308, "/new/b%20c?q"], "a redirect of all beneath")
    check.equal([ask("/gone").status, ask("/gone")["location"]],
                [302, "https://b.example/x"], "a redirect of one path")
    check.equal(ask("/style.css")["cache-control"], "max-age=9", "a field for a suffix")
    check.equal(ask("/page.html")["cache-control"], "no-cache", "... and not for others")
    check.equal(ask("/sub/x.html")["x-sub"], "yes", "a field for a folder")
    check.equal(ask("/page.html")["x-sub"], None, "... and not outside")
    check.equal(ask("/page.html")["x-all"], "1", "a field of the site")
    check.equal(server.get("/", host="b.example")["x-all"], None, "... and not of others")
    # The fallback is for pages, with 200, and no client keeps it.
    r = ask("/some/view")
    check.equal([r.status, r.body, r["cache-control"]], [200, b"app", "no-cache"], "fallback")
    check.equal(ask("/some/view", method="HEAD")["content-length"], "3", "fallback, HEAD")
    check.equal(ask("/missing.css").status, 404, "no fallback for a style sheet")
    r = server.get("/missing", host="b.example")
    check.equal([r.status, r.body, r["etag"], r["last-modified"]],
                [404, b"nothing here", None, None], "error page")
    check.equal(server.get("/missing", host="b.example", if_none_match="*").status, 404,
                "an error page has no conditions")
    check.equal(server.get("/404.html", host="b.example").status, 301, "the file itself has moved")


def wait_for(server, line, count=1):
    end = time.monotonic() + PATIENCE
    while server.stderr().count(line) < count and time.monotonic() < end:
        time.sleep(0.01)
    return check(server.stderr().count(line) >= count, "stderr says " + line, server.stderr())


def reload(place):
    place.write(GOOD)
    with Server(SWS, place.top + "/c", "--config", place.file) as server:
        with server.connect() as c:
            check.equal(c.get("/", host="b.example").body, b"b", "before the reload")
            place.write(GOOD.replace("b.example", "d.example").replace("TOP/b", "TOP/c"))
            server.signal(signal.SIGHUP)
            wait_for(server, "sws: reloaded")
            check.equal(c.get("/", host="b.example").body, b"c", "the name has gone")
            check.equal(c.get("/", host="d.example").body, b"c", "the connection stays")
            # An error keeps what is in force.
            place.write("sites = ( { rot = \"/\"; } );")
            server.signal(signal.SIGHUP)
            wait_for(server, "the one before it stays")
            check(place.file + ":1: rot: unknown setting" in server.stderr(), "the error",
                  server.stderr())
            check.equal(c.get("/", host="a.example").body, b"a", "after an error")
            # What only a restart changes is said.
            place.write(GOOD + "max-clients = 7;\n")
            server.signal(signal.SIGHUP)
            wait_for(server, "sws: reloaded", 2)
            check("a restart is needed for the new value of max-clients" in server.stderr(),
                  "what needs a restart", server.stderr())
        check.equal(server.stop(), 0, "exit status")


def reload_under_load(place):
    """No request fails, nor gets another site's file, while the sites are replaced again and again."""
    place.write(GOOD)
    with Server(SWS, place.top + "/c", "--config", place.file, "--cores", "4") as server:
        ends = threading.Event()
        counts = [0] * 4

        def client(i):
            with server.connect() as c:
                while not ends.is_set():
                    host, body = (("a.example", b"a"), ("b.example", b"b"))[counts[i] % 2]
                    r = c.get("/", host=host)
                    if not check(r and r.status == 200 and r.body == body, "under reload", r):
                        return
                    counts[i] += 1

        threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for i in range(20):
            before = server.stderr().count("sws: reloaded")
            server.signal(signal.SIGHUP)
            wait_for(server, "sws: reloaded", before + 1)
            wanted = [n + 5 for n in counts]
            end = time.monotonic() + PATIENCE
            while any(n < w for n, w in zip(counts, wanted)) and time.monotonic() < end:
                time.sleep(0.002)
        ends.set()
        for t in threads:
            t.join()
        check(all(n >= 100 for n in counts), "requests beside 20 reloads", counts)
        check.equal(server.stop(), 0, "exit status")


with Place() as place:
    errors(place)
    sites(place)
    reload(place)
    reload_under_load(place)
check.finish()
