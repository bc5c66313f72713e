# SPDX-License-Identifier: MIT
"""What sws makes of a directory: indexes, links, dot names: sws_content_test.py SWS"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from sws_lib import PATIENCE, Checks, Server

check = Checks()
SWS = sys.argv[1]
OLD = 1700000000


class Place:
    """A folder; what is in www is served."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="mely-content-")
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
    with Server(SWS, place.www, "--index", "index.html  index.htm index.txt") as s:
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


def main():
    for test in (indexes, links, dots, types, sidecars, ranges):
        with Place() as place:
            test(place)
    check.finish()


main()
