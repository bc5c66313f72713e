# SPDX-License-Identifier: MIT
"""What sws makes of a directory: indexes, links, dot names: sws_content_test.py SWS"""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from sws_lib import PATIENCE, Checks, Server, parse_head

check = Checks()
SWS = sys.argv[1]
OLD = 1700000000


class Place:
    """A folder; what is in www is served."""

    def __init__(self):
        # Many files are made, which takes long on some disks.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
        self.top = tempfile.mkdtemp(prefix="mely-content-", dir=memory)
        self.www = os.path.join(self.top, "www")
        os.mkdir(self.www)

    def put(self, name, content, time=OLD):
        path = os.path.join(self.www, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        os.utime(path, (time, time))
        return content

    def link(self, name, target):
        os.symlink(target, os.path.join(self.www, name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)


def refused(*args):
    """The line with which sws refuses a command line."""
    p = subprocess.run([SWS, *args, "/"], capture_output=True, timeout=PATIENCE)
    check(p.returncode == 2 and p.stderr.count(b"\n") == 1, args, (p.returncode, p.stderr))
    return p.stderr.decode()


def tagged(server, path, **fields):
    """The answer as soon as it has a tag: not in the first moments of a file."""
    r = server.get(path, **fields)
    while r["etag"] is None:
        r = server.get(path, **fields)
    return r


def indexes(place):
    place.put("both/index.html", b"html")
    place.put("both/index.htm", b"htm")
    place.put("second/index.htm", b"htm")
    place.put("text/index.txt", b"txt")
    place.put("none/other.html", b"other")
    # A coded file beside a name that comes later is of another file.
    place.put("beside/index.htm", b"htm")
    place.put("beside/index.htm.gz", b"coded htm")
    place.put("beside/index.html.gz", b"coded html")
    # That of a name that comes first has its type.
    place.put("first/index.html", b"html")
    place.put("first/index.html.gz", b"coded html")
    with Server(SWS, place.www, "--index", "index.html  index.htm index.txt") as s:
        r = s.get("/first/", accept_encoding="gzip")
        check.equal((r.body, r["content-type"]), (b"coded html", "text/html; charset=utf-8"),
                    "the type of a coded index")
        for path, body, kind in (("/both/", b"html", "text/html"),
                                 ("/second/", b"htm", "text/html"),
                                 ("/text/", b"txt", "text/plain")):
            for _ in range(2):
                r = s.get(path)
                check.equal((r.status, r.body), (200, body), "index of " + path)
                check.equal(r["content-type"], kind + "; charset=utf-8", "type of " + path)
        check.equal(s.get("/none/").status, 404, "no index")
        r = s.get("/second")
        check.equal((r.status, r["location"]), (301, "/second/"), "a slash is added")
        r = s.get("/beside/", accept_encoding="gzip")
        check.equal((r.body, r["content-encoding"]), (b"coded htm", "gzip"), "coded index")
        check.equal(s.get("/beside/").body, b"htm", "the same without a coding")
        # A name that comes earlier appears.
        place.put("second/index.html", b"new")
        while s.get("/second/").body != b"new":
            pass
        check.equal(s.stop(), 0, "exit")
    with Server(SWS, place.www) as s:
        check.equal(s.get("/second/").body, b"new", "the usual name")
        check.equal(s.get("/text/").status, 404, "not the usual name")
    check("not a list of names" in refused("--index", " "), "no names")
    check("has a slash" in refused("--index", "a/b"), "a path as index")
    check("begins with a dot" in refused("--index", "index.html .."), "dots as index")


def links(place):
    place.put("real/file.txt", b"inside")
    place.put("coded.txt", b"plain")
    with open(os.path.join(place.top, "outside.txt"), "w") as f:
        f.write("outside")
    place.link("in.txt", "real/file.txt")
    place.link("in", "real")
    place.link("out.txt", "../outside.txt")
    place.link("absolute.txt", os.path.join(place.top, "outside.txt"))
    place.link("up", "..")
    place.link("coded.txt.gz", "../outside.txt")
    place.link("loop", "loop")
    table = (  # path, and the status with beneath, none, follow
        ("/real/file.txt", 200, 200, 200), ("/in.txt", 200, 404, 200),
        ("/in/file.txt", 200, 404, 200), ("/out.txt", 403, 404, 200),
        ("/absolute.txt", 403, 404, 200), ("/up/outside.txt", 403, 404, 200),
        ("/loop", 404, 404, 404), ("/../outside.txt", 400, 400, 400),
        ("/up/../../outside.txt", 400, 400, 400))
    for column, which in enumerate(("beneath", "none", "follow")):
        with Server(SWS, place.www, "--symlinks", which, "--sandbox-read", place.top) as s:
            for row in table:
                check.equal(s.get(row[0]).status, row[1 + column], "%s: %s" % (which, row[0]))
            r = s.get("/coded.txt", accept_encoding="gzip")
            check.equal(r.body, b"outside" if which == "follow" else b"plain",
                        which + ": a coded file that is a link")
    check("is none of" in refused("--symlinks", "some"), "unknown policy")


def dots(place):
    place.put(".env", b"hidden")
    place.put(".git/config", b"hidden")
    place.put(".well-known/acme", b"known")
    place.put("a/.b/c", b"hidden")
    for what, status in (("hide", 404), ("serve", 200)):
        with Server(SWS, place.www, "--dotfiles", what) as s:
            for path in ("/.env", "/.git/config", "/a/.b/c", "/%2eenv", "//.env", "/x/../.env"):
                for _ in range(2):
                    check.equal(s.get(path).status, status, "%s: %s" % (what, path))
            check.equal(s.get("/.well-known/acme").body, b"known", what + ": .well-known")
            check.equal(s.get("/.none").status, 404, what + ": not there")
            check.equal(s.get("/..").status, 400, what + ": out")
            check.equal(s.get("/a/..").status, 404, what + ": the root has no index")


def types(place):
    """Text has a charset, what is unknown has no type that a browser would guess from."""
    place.put("types.map", b"")
    for name, kind in (("a.html", "text/html; charset=utf-8"), ("a.CSS", "text/css; charset=utf-8"),
                       ("a.js", "text/javascript; charset=utf-8"),
                       ("a.json", "application/json; charset=utf-8"), ("a.svg", "image/svg+xml"),
                       ("a.wasm", "application/wasm"), ("a.zzyzx", "application/octet-stream"),
                       ("plain", "application/octet-stream"), ("a.", "application/octet-stream"),
                       ("html", "application/octet-stream")):
        place.put("types/" + name, b"x")
        with Server(SWS, place.www, "--mime-types", "/nonexistent") as s:
            r = s.get("/types/" + name)
            check.equal(r["content-type"], kind, name)
            check.equal(r["x-content-type-options"], "nosniff", name)


def sidecars(place):
    """A coded file counts if it is as new as the plain one, and a regular file."""
    for name, time, counts in (("newer", OLD + 1, True), ("same", OLD, True),
                               ("older", OLD - 1, False)):
        place.put(name + ".txt", b"plain")
        place.put(name + ".txt.br", b"coded", time)
        with Server(SWS, place.www) as s:
            r = tagged(s, "/" + name + ".txt", accept_encoding="br")
            check.equal(r.body, b"coded" if counts else b"plain", "a coded file that is " + name)
            check.equal(r["vary"], "Accept-Encoding" if counts else None, name + ": Vary")
            plain = s.get("/" + name + ".txt", accept_encoding="abbr, br;q=0")
            check.equal(plain.body, b"plain", name + ": not accepted")
            if counts:
                check(plain["etag"] != r["etag"] and r["etag"], name + ": tags", r["etag"])
                same = s.get("/" + name + ".txt", accept_encoding="br", if_none_match=r["etag"])
                for field in ("etag", "vary", "cache-control"):
                    check.equal(same[field], r[field], "%s: %s of a 304" % (name, field))
                check.equal(same.status, 304, name + ": 304")
    place.put("odd.txt", b"plain")
    os.mkfifo(os.path.join(place.www, "odd.txt.gz"))
    os.mkdir(os.path.join(place.www, "odd.txt.br"))
    place.link("odd.txt.zst", "/dev/zero")
    with Server(SWS, place.www) as s:
        r = s.get("/odd.txt", accept_encoding="gzip, br, zstd")
        check.equal((r.body, r["vary"]), (b"plain", None), "only files count")


def parts_of(r):
    """The parts of a multipart answer: (from, to, size, body) of each, strictly."""
    kind, boundary = r["content-type"].split("; boundary=")
    check.equal(kind, "multipart/byteranges", "type of several ranges")
    pieces = (b"\r\n" + r.body).split(b"\r\n--" + boundary.encode())
    check.equal((pieces[0], pieces[-1]), (b"", b"--\r\n"), "begin and end of several ranges")
    parts = []
    for piece in pieces[1:-1]:
        head, body = piece.split(b"\r\n\r\n", 1)
        match = re.fullmatch(r"\r\nContent-Type: (\S+)\r\nContent-Range: bytes (\d+)-(\d+)/(\d+)",
                             head.decode())
        check(match, "head of a part", head)
        parts.append((int(match[2]), int(match[3]), int(match[4]), body))
    return parts


def ranges(place):
    """Several ranges, of a page in memory and of a file; also for a client that is slow to read."""
    bodies = {"/small.bin": place.put("small.bin", os.urandom(20000)),
              "/large.bin": place.put("large.bin", os.urandom(3 << 20))}
    place.put("coded.bin", b"plain" * 1000)
    bodies["/coded.bin"] = place.put("coded.bin.gz", os.urandom(5000))
    with Server(SWS, place.www) as s:
        for path, whole in bodies.items():
            size, coded = len(whole), {"accept_encoding": "gzip"}
            for asked, wanted in (
                    ("0-0,-1", [(0, 1), (size - 1, size)]),
                    ("1000-1999, 300-399", [(1000, 2000), (300, 400)]),
                    ("0-99,4000-", [(0, 100), (4000, size)]),
                    (",".join("%d-%d" % (200 * i, 200 * i + i) for i in range(16)),
                     [(200 * i, 200 * i + i + 1) for i in range(16)])):
                r = s.get(path, range="bytes=" + asked, **coded)
                check.equal(r.status, 206, path + " " + asked)
                check.equal(r["content-range"], None, "no range of the whole")
                check.equal(parts_of(r), [(a, b - 1, size, whole[a:b]) for a, b in wanted],
                            path + " " + asked)
            first = tagged(s, path, **coded)
            r = s.get(path, range="bytes=0-0,500-500", if_range=first["etag"], **coded)
            check.equal((r.status, r["etag"], r["vary"], r["cache-control"],
                         r["content-encoding"], r["last-modified"]),
                        (206, first["etag"], first["vary"], first["cache-control"],
                         first["content-encoding"], first["last-modified"]), path + ": fields")
            boundaries = {s.get(path, range="bytes=0-0,500-500")["content-type"]
                          for _ in range(5)}
            check.equal(len(boundaries), 5, "boundaries differ")
            for name, fields, status, length in (
                    ("another version", {"if_range": '"x"'}, 200, size),
                    ("weak", {"if_range": "W/" + first["etag"]}, 200, size),
                    ("date", {"if_range": first["last-modified"]}, 206, None),
                    ("not modified", {"if_none_match": first["etag"]}, 304, None),
                    ("failed", {"if_match": '"x"'}, 412, None)):
                r = s.get(path, range="bytes=0-0,500-500", **fields, **coded)
                check.equal(r.status, status, "%s: %s" % (path, name))
                check(length is None or len(r.body) == length, name, len(r.body))
            r = s.get(path, range="bytes=0-99,50-149,100-199", **coded)
            check.equal((r.status, r["content-range"], r.body),
                        (206, "bytes 0-199/%d" % size, whole[:200]), "ranges that overlap")
            r = s.get(path, range="bytes=%d-,%d-" % (size, size + 9), **coded)
            check.equal(r.status, 416, "none exists")
            many = ",".join("%d-%d" % (200 * i, 200 * i) for i in range(17))
            check.equal(s.get(path, range="bytes=" + many, **coded).body, whole, "too many")
            r = s.get(path, method="HEAD", range="bytes=0-0,500-500", **coded)
            check.equal((r.status, r["content-length"]), (200, str(size)), "HEAD has no ranges")
        # Pipelined, and with a window that is full again and again.
        whole, request = bodies["/large.bin"], b"".join(
            b"GET /%s HTTP/1.1\r\nHost: a\r\nRange: bytes=%s\r\n\r\n" % x for x in (
                (b"large.bin", b"0-1500000,1600000-"), (b"small.bin", b"0-9,15000-"),
                (b"large.bin", b"5-6"), (b"large.bin", b"1-2000000,2500000-2500001")))
        with s.connect(rcvbuf=4096) as c:
            c.send(request)
            for path, wanted in (("/large.bin", [(0, 1500001), (1600000, 3 << 20)]),
                                 ("/small.bin", [(0, 10), (15000, 20000)]), (None, None),
                                 ("/large.bin", [(1, 2000001), (2500000, 2500002)])):
                r = c.response()
                if path is None:
                    check.equal(r.body, whole[5:7], "one range between several")
                    continue
                check.equal([p[3] for p in parts_of(r)], [bodies[path][a:b] for a, b in wanted],
                            "slow client " + path)
        # A client that goes away while it is sent.
        for _ in range(20):
            with s.connect(rcvbuf=4096) as c:
                c.send(request)
                c.fill()
        check.equal(s.stop(), 0, "exit")


class Chunked:
    """An answer of HTTP/1.1 in chunks, read strictly."""

    def __init__(self, client):
        while b"\r\n\r\n" not in client.data and client.fill():
            pass
        head, client.data = client.data.split(b"\r\n\r\n", 1)
        self.status, self.headers = parse_head(head)
        check.equal((self.headers.get("transfer-encoding"), self.headers.get("content-length")),
                    ("chunked", None), "framing of a listing in pieces")
        self.body, self.chunks, self.whole = b"", 0, False
        while self.chunk(client):
            self.chunks += 1

    def chunk(self, client):
        while b"\r\n" not in client.data:
            if not client.fill():
                return False
        line, client.data = client.data.split(b"\r\n", 1)
        length = int(line, 16)
        while len(client.data) < length + 2:
            if not client.fill():
                return False
        self.body += client.data[:length]
        check.equal(client.data[length:length + 2], b"\r\n", "end of a chunk")
        client.data = client.data[length + 2:]
        self.whole = length == 0
        return length > 0


def listings(place):
    place.put("a/one.txt", b"1")
    place.put("a/two.txt", b"22")
    place.put("a/<&>.txt", b"")
    place.put("a/.dot", b"")
    place.put("a/sub/index.html", b"index")
    place.put("fallback.html", b"fallback")
    place.link("a/out", "/etc/passwd")
    place.link("a/in", "one.txt")
    with Server(SWS, place.www) as s:
        check.equal(s.get("/a/").status, 404, "no listing unless asked for")
    with Server(SWS, place.www, "--listing", "auto", "--fallback", "/fallback.html") as s:
        r = s.get("/a/")
        check.equal((r.status, r["content-type"], r["cache-control"], r["vary"]),
                    (200, "text/html; charset=utf-8", "no-cache", "Accept"), "HTML")
        check("default-src 'none'" in r["content-security-policy"], "nothing is loaded")
        check.equal(re.findall(r'<a href="([^"?]+)"', r.body.decode())[1:],
                    ["../", "sub/", "%3C%26%3E.txt", "in", "one.txt", "two.txt"], "links")
        for link in ("sub/", "%3C%26%3E.txt", "in", "one.txt", "two.txt"):
            check.equal(s.get("/a/" + link).status, 200, "the link " + link)
        check.equal(s.get("/a/sub/").body, b"index", "an index comes first")
        check.equal(s.get("/a/nowhere/").body, b"fallback", "a fallback comes last")
        check.equal(s.get("/a").status, 301, "a slash is added")
        for path, fields in (("/a/?format=json", {}), ("/a/", {"accept": "application/json"}),
                             ("/a/?x&format=json&sort=name", {"accept": "text/html"})):
            r = s.get(path, **fields)
            check.equal(r["content-type"], "application/json; charset=utf-8", path)
            entries = json.loads(r.body)
            check.equal([e["name"] for e in entries],
                        ["sub", "<&>.txt", "in", "one.txt", "two.txt"], path)
            check.equal(entries[3], {"name": "one.txt", "type": "file", "size": 1,
                                     "mtime": "2023-11-14T22:13:20Z", "url": "one.txt"}, path)
        r = s.get("/a/?format=json&sort=size&order=desc")
        check.equal([e["name"] for e in json.loads(r.body)],
                    ["sub", "two.txt", "in", "one.txt", "<&>.txt"], "sorted by size")
        check.equal(s.get("/a/", if_none_match=s.get("/a/")["etag"]).status, 304, "not modified")
        head = s.get("/a/", method="HEAD")
        check.equal(head["content-length"], str(len(s.get("/a/").body)), "HEAD")
        check.equal(s.get("/a/", method="POST").status, 405, "POST")
        place.put("a/three.txt", b"333")
        check(b"three.txt" in s.get("/a/").body, "a listing is never old")
        check.equal(s.stop(), 0, "exit")
    for which, kind in (("html", "text/html"), ("json", "application/json")):
        with Server(SWS, place.www, "--listing", which, "--list-dotfiles") as s:
            r = s.get("/a/?format=" + ("json" if which == "html" else "html"))
            check.equal((r["content-type"], r["vary"]), (kind + "; charset=utf-8", None), which)
            check(b".dot" in r.body, which + ": dot names")
            check.equal(s.get("/a/.dot").status, 404, which + ": not served")
    check("is none of" in refused("--listing", "some"), "unknown listing")


def large_listing(place):
    """100,000 entries: in pieces, each entry once, while others are answered."""
    count = 100000
    os.mkdir(os.path.join(place.www, "big"))
    for i in range(count):
        os.close(os.open(os.path.join(place.www, "big/%d" % i), os.O_CREAT | os.O_WRONLY))
    place.put("page.html", b"page")
    with Server(SWS, place.www, "--listing", "auto", "--cores", "1") as s:
        answered, done = [], threading.Event()

        def others():
            with s.connect() as c:
                while not done.is_set():
                    begin = time.monotonic()
                    check.equal(c.get("/page.html").body, b"page", "beside a large listing")
                    answered.append(time.monotonic() - begin)

        thread = threading.Thread(target=others)
        with s.connect() as c:
            thread.start()
            for _ in range(2):
                c.send(b"GET /big/?format=json HTTP/1.1\r\nHost: a\r\n\r\n")
                r = Chunked(c)
                names = {e["name"] for e in json.loads(r.body)}
                check.equal((r.status, r.whole, len(names)), (200, True, count), "all entries")
                check(r.chunks > 50, "in pieces", r.chunks)
        done.set()
        thread.join()
        check(len(answered) > 10, "others were answered meanwhile", len(answered))
        answered.sort()
        print("beside a listing of %d entries: %d answers, p50 %.2f ms, p99 %.2f ms" % (
            count, len(answered), 1e3 * answered[len(answered) // 2],
            1e3 * answered[len(answered) * 99 // 100]))
        # HTTP/2 has frames of its own. Without it in curl or sws, this is HTTP/1.1 once more.
        for _ in range(5):
            p = subprocess.run(["curl", "-s", "--http2-prior-knowledge",
                                "http://127.0.0.1:%d/big/?format=json" % s.port],
                               capture_output=True, timeout=PATIENCE)
            if p.returncode not in (1, 2, 56):
                names = {e["name"] for e in json.loads(p.stdout)}
                check.equal((p.returncode, len(names)), (0, count), "HTTP/2: all entries")
        # HTTP/1.0: the end of the connection is the end; nothing follows.
        for fields in (b"", b"Connection: keep-alive\r\n"):
            with s.connect() as c:
                request = b"GET /big/ HTTP/1.0\r\n" + fields + b"\r\n"
                c.send(request + request)
                while c.fill():
                    pass
                head, body = c.data.split(b"\r\n\r\n", 1)
                check(b"onnection: close" in head and b"ransfer-" not in head, "HTTP/1.0", head)
                check.equal(body.count(b"<tr><td><a"), count, "HTTP/1.0: all entries")
                check(body.endswith(b"</html>\n"), "HTTP/1.0: the end")
        # HEAD, and then another request on the same connection.
        with s.connect() as c:
            r = c.get("/big/", method="HEAD")
            check.equal((r.status, r["content-length"]), (200, None), "HEAD")
            check.equal(c.get("/page.html").body, b"page", "after HEAD")
        # Clients that go away, more of them than there may be listings; and one that waits.
        waiting = []
        for _ in range(80):
            c = s.connect(rcvbuf=4096)
            c.send(b"GET /big/ HTTP/1.1\r\nHost: a\r\n\r\n")
            waiting.append(c)
        statuses = []
        for c in waiting:
            c.fill()
            statuses.append(c.data[9:12])
            check.equal(s.get("/page.html").body, b"page", "beside many listings")
        check(b"503" in statuses and statuses.count(b"200") >= 64, "at most 64 at once",
              statuses)
        for c in waiting:
            c.close()
        while s.get("/big/", method="HEAD").status != 200:
            pass
        with s.connect(rcvbuf=4096) as c:
            c.send(b"GET /big/ HTTP/1.1\r\nHost: a\r\n\r\n")
            c.fill()
            s.signal(signal.SIGHUP)
            r = Chunked(c)
            check.equal((r.whole, r.body.count(b"<tr><td><a")), (True, count), "over a reload")
        check.equal(s.stop(), 0, "exit")
    with Server(SWS, place.www, "--listing", "html") as s, s.connect(rcvbuf=4096) as c:
        # The end, while a listing is sent.
        c.send(b"GET /big/ HTTP/1.1\r\nHost: a\r\n\r\n")
        c.fill()
        s.signal()
        s.signal()
        check.equal(s.wait(), 0, "exit in the middle")


def coded(server, path, coding, plain):
    """The answer in a coding that sws makes, which it does after the first request; until then the
    plain one comes."""
    while True:
        r = server.get(path, accept_encoding=coding)
        if r["content-encoding"] is not None:
            return r
        check.equal((r.status, r.body), (200, plain), "the plain one, while it is made")
        check.equal(r["vary"], "Accept-Encoding", "Vary, while it is made")


def compressing(place):
    text = b"".join(b"line %d of a text\n" % i for i in range(3000))
    noise = os.urandom(5000)
    for name in ("page.html", "app.js", "data.json", "index.html", "beside.css"):
        place.put(name, text)
    large = place.put("large.txt", text * 30)
    place.put("small.txt", b"a" * 1023)
    place.put("noise.txt", noise)
    place.put("photo.jpg", text)
    place.put("beside.css.gz", gzip.compress(b"beside"))
    place.put("404.html", text)
    # A coded file that is older than the plain one does not count, also where sws makes the coding.
    place.put("stale.css", text)
    place.put("stale.css.gz", gzip.compress(b"stale"), OLD - 100)
    with Server(SWS, place.www) as s:
        check.equal(s.get("/page.html", accept_encoding="gzip")["vary"], None, "off by default")
    if b"built without" in subprocess.run([SWS, "--compress", "gz", "--port", "x", "/"],
                                          capture_output=True, timeout=PATIENCE).stderr:
        print("this sws is built without zlib")
        return
    with Server(SWS, place.www, "--compress", "gz", "--error-page", "404 /404.html") as s:
        for path in ("/page.html", "/app.js", "/data.json", "/", "/beside.css", "/stale.css"):
            plain = tagged(s, path)
            check.equal((plain.body, plain["content-encoding"], plain["vary"]),
                        (text, None, "Accept-Encoding"), path + ": not asked for")
            r = coded(s, path, "gzip", text)
            while r["etag"] is None:
                r = s.get(path, accept_encoding="gzip")
            check.equal(r["content-encoding"], "gzip", path)
            check.equal(gzip.decompress(r.body), b"beside" if "beside" in path else text, path)
            check.equal((r["vary"], r["content-type"]), ("Accept-Encoding", plain["content-type"]),
                        path + ": fields")
            check(r["etag"] and r["etag"] != plain["etag"], path + ": tags", r["etag"])
            same = s.get(path, accept_encoding="gzip", if_none_match=r["etag"])
            check.equal((same.status, same["etag"], same["vary"]),
                        (304, r["etag"], "Accept-Encoding"), path + ": 304")
            part = s.get(path, accept_encoding="gzip", range="bytes=5-9", if_range=r["etag"])
            check.equal((part.status, part.body, part["content-range"]),
                        (206, r.body[5:10], "bytes 5-9/%d" % len(r.body)), path + ": 206")
            check.equal(s.get(path, accept_encoding="gzip, *;q=0.1").body, r.body, path + ": kept")
            check.equal(s.get(path, accept_encoding="gzip;q=0").body, text, path + ": refused")
            head = s.get(path, method="HEAD", accept_encoding="gzip")
            check.equal(head["content-length"], str(len(r.body)), path + ": HEAD")
        check.equal(gzip.decompress(coded(s, "/large.txt", "gzip", large).body), large, "large")
        check.equal(s.get("/large.txt").body, large, "large, not asked for")
        for path, body, varies in (("/small.txt", b"a" * 1023, False), ("/photo.jpg", text, False),
                                   ("/noise.txt", noise, True)):
            for _ in range(50):
                r = s.get(path, accept_encoding="gzip")
                check.equal((r.body, r["content-encoding"], r["vary"] is not None),
                            (body, None, varies), path + ": not worth it")
        missing = s.get("/missing", accept_encoding="gzip")
        while missing["content-encoding"] is None:
            missing = s.get("/missing", accept_encoding="gzip")
        check.equal((missing.status, gzip.decompress(missing.body)), (404, text), "an error page")
        # The file changes: what was made of it is not sent any more once the plain one is new.
        place.put("page.html", text[::-1], OLD + 5)
        while s.get("/page.html").body == text:
            pass
        r = s.get("/page.html", accept_encoding="gzip")
        while r["content-encoding"] is None:
            check.equal(r.body, text[::-1], "changed")
            r = s.get("/page.html", accept_encoding="gzip")
        while gzip.decompress(r.body) == text:
            r = s.get("/page.html", accept_encoding="gzip")
        while r["content-encoding"] is None:
            r = s.get("/page.html", accept_encoding="gzip")
        check.equal(gzip.decompress(r.body), text[::-1], "changed, and made again")
        # A file in the coding appears: it counts more than the one that sws makes.
        place.put("app.js.gz", gzip.compress(b"from the file"))
        while gzip.decompress(s.get("/app.js", accept_encoding="gzip").body
                              if s.get("/app.js", accept_encoding="gzip")["content-encoding"]
                              else gzip.compress(b"")) != b"from the file":
            pass
        check.equal(s.stop(), 0, "exit")
    # Many at once, some of which end the server in the middle.
    for i in range(200):
        place.put("many/%d.txt" % i, text * 20)
    with Server(SWS, place.www, "--compress", "gz", "--cache-size", "2m") as s:
        for i in range(400):
            check.equal(s.get("/many/%d.txt" % (i % 200), accept_encoding="gzip").status, 200, "many")
        s.signal(signal.SIGHUP)
        for i in range(200):
            check.equal(s.get("/many/%d.txt" % i, accept_encoding="gzip").status, 200, "reloaded")
        check.equal(s.stop(), 0, "exit while pages are made")
    check("is neither off nor a list" in refused("--compress", "lz4"), "unknown coding")


def freshness(place):
    """A change is seen, with inotify and without; the kernel's report only makes it sooner."""
    for how in ("on", "off"):
        stale = 0
        with Server(SWS, place.www, "--inotify=" + how) as s:
            def becomes(path, status, body, what, **fields):
                nonlocal stale
                while True:
                    r = s.get(path, **fields)
                    if (r.status, r.body) == (status, body):
                        return
                    stale += 1

            place.put("f/page.html", b"0")
            place.put("f/index.html", b"index 0")
            becomes("/f/page.html", 200, b"0", "at first")
            becomes("/f/", 200, b"index 0", "at first")
            for i in range(1, 4):
                place.put("f/page.html", b"%d" % i, OLD + i)
                becomes("/f/page.html", 200, b"%d" % i, "written")
                place.put("f/new.html", b"renamed %d" % i, OLD + i)
                os.rename(os.path.join(place.www, "f/new.html"),
                          os.path.join(place.www, "f/page.html"))
                becomes("/f/page.html", 200, b"renamed %d" % i, "replaced")
                place.put("f/index.html", b"index %d" % i, OLD + i)
                becomes("/f/", 200, b"index %d" % i, "an index")
            place.put("f/page.html.gz", b"coded", OLD + 10)
            becomes("/f/page.html", 200, b"coded", "a coding", accept_encoding="gzip")
            os.unlink(os.path.join(place.www, "f/page.html"))
            becomes("/f/page.html", 404, s.get("/none").body, "removed")
            os.rename(os.path.join(place.www, "f"), os.path.join(place.www, "g" + how))
            becomes("/f/", 404, s.get("/none").body, "a directory is renamed")
            check.equal(s.stop(), 0, "exit")
        print("inotify %s: 12 changes, %d answers were old" % (how, stale))
    check("is none of" in refused("--inotify=perhaps"), "neither on nor off")


def main():
    for test in (indexes, links, dots, types, sidecars, ranges, listings, large_listing,
                 compressing, freshness):
        with Place() as place:
            test(place)
    check.finish()


main()
