# SPDX-License-Identifier: MIT
"""sws, end to end: what it answers. Usage: sws_http_test.py PATH-TO-SWS"""
import email.utils
import os
import shutil
import subprocess
import sys
import threading
import time

from sws_lib import TLS, Checks, Server, make_root, read, remove_root

check = Checks()
HOST = b"Host: a\r\n"


def files(server, root):
    """Plain answers: bodies, types, directories, decoding."""
    for path, name, kind in [
            ("/", "index.html", "text/html; charset=utf-8"),
            ("/page.html", "page.html", "text/html; charset=utf-8"),
            ("/page.html?a=/../b", "page.html", "text/html; charset=utf-8"),
            ("/empty.txt", "empty.txt", "text/plain; charset=utf-8"),
            ("/a%20b.txt", "a b.txt", "text/plain; charset=utf-8"),
            ("/50%25.txt", "50%.txt", "text/plain; charset=utf-8"),
            ("/%70age.html", "page.html", "text/html; charset=utf-8"),
            ("//page.html", "page.html", "text/html; charset=utf-8"),
            ("/sub/../page.html", "page.html", "text/html; charset=utf-8"),
            ("/./sub/deep//file.css", "sub/deep/file.css", "text/css; charset=utf-8"),
            ("/sub/", "sub/index.html", "text/html; charset=utf-8"),
            ("/medium.bin", "medium.bin", "application/octet-stream"),
            ("/large.bin", "large.bin", "application/octet-stream"),
            ("/unknown.zzyzx", "unknown.zzyzx", "application/octet-stream"),
            ("/link-in", "page.html", "application/octet-stream"),
            ("/self/self/page.html", "page.html", "text/html; charset=utf-8"),
            ("/.well-known/acme", ".well-known/acme", "application/octet-stream"),
            ("http://other/page.html", "page.html", "text/html; charset=utf-8")]:
        for turn in ("first", "again"):
            r = server.get(path)
            body = read(root, name)
            check.equal(r.status, 200, "%s %s: status" % (turn, path))
            check(r.body == body, "%s %s: body" % (turn, path))
            check.equal(r["content-length"], str(len(body)), "%s %s: length" % (turn, path))
            if not name.endswith(".bin"):
                check.equal(r["content-type"], kind, "%s %s: type" % (turn, path))
            check(r["date"].endswith(" GMT") and r["etag"] and r["last-modified"],
                  "%s %s: fields" % (turn, path), r.head)
    for path, where in [("/sub", "/sub/"), ("/sub?q=1", "/sub/?q=1"), ("//sub", "/sub/"),
                        ("/self", "/self/"), ("/%73ub", "/sub/")]:
        r = server.get(path)
        check.equal((r.status, r["location"]), (301, where), "redirect " + path)


def refusals(server):
    """Everything that is not served, and with which status."""
    for path, status in [
            ("/nothing", 404), ("/bare/", 404), ("/page.html/", 404), ("/page.html/x", 404),
            ("/.secret", 404), ("/%2esecret", 404), ("/.git/config", 404), ("/.git", 404),
            ("/sub/..%2f.secret", 404), ("/.well-known", 301), ("/.well-known/", 404),
            ("/loop-a", 404), ("/loop-b/x", 404),
            ("/link-out", 403), ("/link-abs", 403), ("/link-up/outside.txt", 403), ("/fifo", 403),
            ("/../outside.txt", 400), ("/%2e%2e/outside.txt", 400), ("/..%2foutside.txt", 400),
            ("/sub/../../outside.txt", 400), ("/%2e%2e%2foutside.txt", 400),
            ("/%252e%252e/outside.txt", 404), ("/..;/outside.txt", 404),
            ("/..\\outside.txt", 404), ("/%00", 400), ("/page.html%00.txt", 400), ("/%", 400),
            ("/%zz", 400), ("/" + "x" * 300, 404), ("/" + "d/" * 3000, 404)]:
        r = server.get(path)
        check.equal(r and r.status, status, "refused " + path[:60])
    with server.connect() as c:
        check.equal(c.get("/nothing").status, 404, "404 on a connection")
        check.equal(c.get("/page.html").status, 200, "... that goes on")
        check.equal(c.get("/fifo").status, 403, "403 on a connection")
        check.equal(c.get("/page.html").status, 200, "... that goes on")
        r = c.get("/nothing", method="HEAD")
        check.equal((r.status, c.get("/").status), (404, 200), "HEAD of nothing has no body")
    for head in (b"HEAD /%zz HTTP/1.1\r\n" + HOST + b"\r\n", b"HEAD / HTTP/1.1\r\n\r\n"):
        with server.connect() as c:
            c.send(head)
            check.equal(c.response(no_body=True).status, 400, "a bad HEAD")
            check(c.at_end(), "... has no body", short_data(c))


BAD_HEADS = [
    (400, b"GET / HTTP/1.1\nHost: a\r\n\r\n", "bare LF after the request line"),
    (400, b"GET / HTTP/1.1\r\nHost: a\n\r\n", "bare LF after a field"),
    (400, b"GET / HTTP/1.1\r\nHost: a\r\n\n", "bare LF at the end"),
    (400, b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "space before the colon"),
    (400, b"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", "obs-fold"),
    (400, b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "space before the first field"),
    (400, b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n", "NUL"),
    (400, b"GET / HTTP/1.1\r\nHost: a\r\nX: \x0b\r\n\r\n", "control"),
    (400, b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", "control in the target"),
    (400, b"GET / HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n", "bare CR"),
    (400, b"GET / HTTP/1.1\r\n\r\n", "no Host"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", "two Hosts"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
     "duplicate Content-Length"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
     "mismatched Content-Length"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 3, 3\r\n\r\n", "list Content-Length"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", "negative length"),
    (400, b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "Transfer-Encoding on a GET"),
    (400, b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"
     b"\r\n0\r\n\r\n", "length and coding"),
    (400, b"GET /\r\n\r\n", "HTTP/0.9"),
    (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "a TLS hello"),
    (400, b"GET x HTTP/1.1\r\n" + HOST + b"\r\n", "no slash"),
    (400, b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n", "space after the version"),
    (405, b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc", "POST"),
    (405, b"DELETE / HTTP/1.1\r\n" + HOST + b"\r\n", "DELETE"),
    (405, b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", "OPTIONS"),
    (413, b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\n", "a long body"),
    (414, b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", "a long target"),
    (414, b"GET /" + b"x" * 20000, "a longer target"),
    (431, b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 20000, "a long field"),
    (431, b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 101 + b"\r\n", "many fields"),
    (501, b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n", "an unknown method"),
    (501, b"get / HTTP/1.1\r\n" + HOST + b"\r\n", "a method in lower case"),
    (505, b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", "HTTP/2.0"),
    (505, b"PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n", "nearly the preface of HTTP/2"),
]


def framing(server):
    """Each bad head: one answer that can be read, then the end; nothing behind it is a request."""
    smuggled = b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n"
    good = b"GET /n/3.txt HTTP/1.1\r\nHost: a\r\n\r\n"
    for status, head, name in BAD_HEADS:
        with server.connect() as c:
            c.send(head)
            r = c.response()
            check.equal(r and r.status, status, name)
            check.equal(r and r["connection"], "close", name + ": says close")
            check(c.at_end(), name + ": closes")
        if status == 405:
            check(r["allow"] == "GET, HEAD", name + ": Allow")
        with server.connect() as c:
            c.send(good + head + smuggled)
            first, second = c.response(), c.response()
            check.equal(first and first.status, 200, name + ": the request before is answered")
            check.equal(second and second.status, status, name + ": then the error")
            check(c.at_end(), name + ": the request behind is never parsed", short_data(c))


def short_data(client):
    return repr(client.data[:100])


def bodies(server):
    """A GET with a body: thrown away, also when it comes late, and never read as a request."""
    inner = b"GET /page.html HTTP/1.1\r\nHost: a\r\n\r\n"
    head = b"GET /n/1.txt HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(inner)
    after = b"GET /n/2.txt HTTP/1.1\r\nHost: a\r\n\r\n"
    with server.connect() as c:
        c.send(head + inner + after)
        check.equal([c.response().body, c.response().body], [b"1\n" * 2, b"2\n" * 3],
                    "a body is skipped")
        c.send(head)
        check.equal(c.response().body, b"1\n" * 2, "answer before the body")
        for i in range(len(inner)):
            c.send(inner[i:i + 1])
        c.send(after)
        check.equal(c.response().body, b"2\n" * 3, "a late body is skipped")
    with server.connect() as c:
        c.send(b"GET /n/1.txt HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
               b"Content-Length: 5\r\n\r\n")
        r = c.response()
        check.equal((r.status, r["connection"]), (200, "close"), "Expect with a body closes")
        check(c.at_end(), "... really")


def keep_alive(server):
    with server.connect() as c:
        for i in range(20):
            r = c.get("/n/%d.txt" % i)
            check.equal((r.status, r["connection"]), (200, None), "keep-alive request %d" % i)
        r = c.get("/", Connection="close")
        check.equal((r.status, r["connection"]), (200, "close"), "close when asked")
        check(c.at_end(), "... and closed")
    with server.connect() as c:
        r = c.get("/", version="1.0")
        check.equal((r.status, r["connection"]), (200, "close"), "HTTP/1.0 closes")
        check(c.at_end(), "... really")
    with server.connect() as c:
        for i in range(3):
            r = c.get("/", version="1.0", Connection="keep-alive")
            check.equal((r.status, r["connection"]), (200, "keep-alive"), "HTTP/1.0 keep-alive")
    with server.connect() as c:
        r = c.get("/large.bin", method="HEAD")
        check.equal((r.status, r["content-length"]), (200, str(3 << 20)), "HEAD of a large file")
        r = c.get("/page.html", method="HEAD")
        check.equal((r.status, r["content-length"]), (200, "1024"), "HEAD has no body")
        check.equal(c.get("/n/1.txt").body, b"1\n" * 2, "... as the next answer shows")


def conditions(server):
    r = server.get("/page.html")
    etag, modified = r["etag"], r["last-modified"]
    for fields, status in [
            ({"If_None_Match": etag}, 304), ({"If_None_Match": "W/" + etag}, 304),
            ({"If_None_Match": '"x", W/"y", ' + etag}, 304), ({"If_None_Match": "*"}, 304),
            ({"If_None_Match": '"x"'}, 200), ({"If_None_Match": "nonsense"}, 200),
            ({"If_Modified_Since": modified}, 304),
            # The file is older than what the client has, so that is another version.
            ({"If_Modified_Since": "Wed, 15 Nov 2023 00:00:00 GMT"}, 200),
            ({"If_Modified_Since": "Fri, 31 Dec 9999 23:59:59 GMT"}, 200),
            ({"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
            ({"If_Modified_Since": "Sunday, 06-Nov-94 08:49:37 GMT"}, 200),
            ({"If_Modified_Since": "yesterday"}, 200),
            ({"If_None_Match": '"x"', "If_Modified_Since": modified}, 200),
            ({"If_None_Match": etag, "If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 304),
            ({"If_None_Match": '"x"\r\nIf-None-Match: ' + etag}, 304),
            ({"If_None_Match": '"x"\r\nIf-None-Match: "y"'}, 200),
            ({"If_None_Match": ""}, 200),
            ({"If_Match": etag}, 200), ({"If_Match": "*"}, 200),
            ({"If_Match": '"x", ' + etag}, 200), ({"If_Match": '"x"'}, 412),
            # RFC 9110, 13.1.1: by strong comparison.
            ({"If_Match": "W/" + etag}, 412), ({"If_Match": ""}, 412),
            ({"If_Match": '"x"\r\nIf-Match: ' + etag}, 200),
            ({"If_Match": etag, "If_None_Match": etag}, 304),
            ({"If_Unmodified_Since": modified}, 200),
            ({"If_Unmodified_Since": "Fri, 31 Dec 9999 23:59:59 GMT"}, 200),
            ({"If_Unmodified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 412),
            ({"If_Unmodified_Since": "yesterday"}, 200),
            ({"If_Match": etag, "If_Unmodified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200)]:
        for method in ("GET", "HEAD"):
            with server.connect() as c:
                r = c.get("/page.html", method=method, **fields)
                check.equal(r.status, status, "%s %r" % (method, fields))
                if status == 304:
                    check.equal((r["etag"], r["last-modified"]), (etag, modified),
                                "304 has the validators of the 200")
                check.equal(c.get("/n/1.txt").body, b"1\n" * 2, "a 304 has no body")
    etag = server.get("/large.bin")["etag"]
    with server.connect() as c:
        r = c.get("/large.bin", If_None_Match=etag)
        check.equal((r.status, c.get("/").status), (304, 200), "304 of a large file")


def ranges(server, root):
    """Parts of a file in memory, of one that is sent from the disk, and of an empty one."""
    for path in ("/medium.bin", "/large.bin"):
        whole = server.get(path)
        body, size = read(root, path[1:]), len(read(root, path[1:]))
        etag, modified = whole["etag"], whole["last-modified"]
        check.equal(whole["accept-ranges"], "bytes", path + ": Accept-Ranges")
        old = "Thu, 01 Jan 1970 00:00:00 GMT"
        for fields, part in [
                ({"Range": "bytes=0-0"}, (0, 1)), ({"Range": "bytes=-100"}, (size - 100, size)),
                ({"Range": "bytes=0-999999999"}, (0, size)), ({"Range": "bytes=200-"}, (200, size)),
                ({"Range": "bytes=5000-45000"}, (5000, 45001)),
                ({"Range": "bytes=%d-" % (size - 1)}, (size - 1, size)),
                ({"Range": "bytes=%d-" % size}, 416), ({"Range": "bytes=-0"}, 416),
                ({"Range": "bytes=a"}, 200), ({"Range": "bytes=9-8"}, 200),
                ({"Range": "lines=0-1"}, 200), ({"Range": "bytes=0-1,5-6"}, (0, 7)),
                ({"Range": "bytes=0-1\r\nRange: bytes=5-6"}, 200),
                ({"Range": "bytes=0-9", "If_Range": etag}, (0, 10)),
                ({"Range": "bytes=0-9", "If_Range": "W/" + etag}, 200),
                ({"Range": "bytes=0-9", "If_Range": '"x"'}, 200),
                ({"Range": "bytes=0-9", "If_Range": "*"}, 200),
                ({"Range": "bytes=0-9", "If_Range": modified}, (0, 10)),
                ({"Range": "bytes=0-9", "If_Range": old}, 200),
                ({"Range": "bytes=%d-" % size, "If_Range": '"x"'}, 200),
                ({"Range": "bytes=0-9", "If_None_Match": etag}, 304),
                ({"Range": "bytes=0-9", "If_Match": '"x"'}, 412),
                ({"Range": "bytes=0-9", "If_Match": etag}, (0, 10)),
                ({"If_Range": etag}, 200)]:
            what = "%s %r" % (path, fields)
            with server.connect() as c:
                r = c.get(path, **fields)
                if isinstance(part, tuple):
                    check.equal(r.status, 206, what)
                    check(r.body == body[part[0]:part[1]], what + ": the bytes")
                    check.equal(r["content-range"], "bytes %d-%d/%d" % (part[0], part[1] - 1, size),
                                what)
                    check.equal((r["etag"], r["last-modified"], r["content-type"]),
                                (etag, modified, whole["content-type"]), what + ": validators")
                    check.equal(r["accept-ranges"], "bytes", what)
                else:
                    check.equal(r.status, part, what)
                    check.equal(r["content-range"], "bytes */%d" % size if part == 416 else None,
                                what)
                    if part == 200:
                        check(r.body == body, what + ": the whole")
                check.equal(c.get("/n/1.txt").body, b"1\n" * 2, what + ": the next answer")
            # Only GET has ranges (RFC 9110, 14.2).
            with server.connect() as c:
                r = c.get(path, method="HEAD", **fields)
                check.equal(r.status, part if part in (304, 412) else 200, "HEAD " + what)
    check.equal(server.get("/empty.txt", Range="bytes=0-").status, 416, "a range of nothing")
    check.equal(server.get("/empty.txt", Range="bytes=-5").status, 200, "the end of nothing")
    # A file that is too young to announce a date still has one.
    young = os.path.join(root, "www/young.txt")
    with open(young, "wb") as f:
        f.write(b"young")
    os.utime(young, (time.time() + 3600,) * 2)
    r = server.get("/young.txt", If_Unmodified_Since=server.get("/page.html")["last-modified"])
    check.equal((r.status, r["last-modified"]), (412, None), "If-Unmodified-Since, young file")
    r = server.get("/young.txt", If_Modified_Since=email.utils.formatdate(
        os.stat(young).st_mtime, usegmt=True))
    check.equal(r.status, 200, "If-Modified-Since, young file")
    os.unlink(young)
    check.equal(server.get("/nowhere", Range="bytes=0-1").status, 404, "a range of no file")
    # Pipelined: parts and wholes in order.
    with server.connect() as c:
        for i in range(60):
            c.send(b"GET /n/40.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=%d-%d\r\n\r\n" % (i, i + i % 7))
        wanted = read(root, "n/40.txt")
        good = [c.response().body == wanted[i:i + i % 7 + 1] for i in range(60)]
        check(all(good), "pipelined ranges", good)


def codings(server, root):
    """Files that are there in other codings: the client's choice, validators, changes."""
    www = os.path.join(root, "www")
    plain, coded = b"body { color: red }\n" * 50, {}
    os.mkdir(os.path.join(www, "z"))

    def put(name, content, age=100):
        path = os.path.join(www, "z", name)
        with open(path + ".new", "wb") as f:
            f.write(content)
        os.utime(path + ".new", (time.time() - age,) * 2)
        os.rename(path + ".new", path)

    def until(path, wanted, what, **fields):
        """Changes are seen within a second, or two on a slow machine."""
        end = time.time() + 30
        while True:
            r = server.get(path, **fields)
            if (r.status, r["content-encoding"], r.body) == wanted:
                break
            if time.time() > end:
                break
            time.sleep(0.05)
        check.equal((r.status, r["content-encoding"], r.body), wanted, what)
        return r

    put("a.css", plain)
    r = server.get("/z/a.css", Accept_Encoding="gzip, br, zstd")
    check.equal((r["content-encoding"], r["vary"], r.body), (None, None, plain), "no sidecars")
    for name, suffix in (("gzip", ".gz"), ("br", ".br"), ("zstd", ".zst")):
        coded[name] = name.encode() * 30
        put("a.css" + suffix, coded[name])
    until("/z/a.css", (200, "zstd", coded["zstd"]), "sidecars are seen",
          Accept_Encoding="gzip, br, zstd")
    # Old enough for a tag.
    time.sleep(2.5)
    tags = {}
    for accepted, coding in [("gzip, deflate, br, zstd", "zstd"), ("gzip, br", "br"),
                             ("gzip", "gzip"), ("br;q=0.1, gzip;q=0.9", "gzip"),
                             ("br;q=0, zstd;q=0, gzip", "gzip"), ("abbr", None), ("*", "zstd"),
                             ("gzip;q=0", None), ("identity", None), ("", None),
                             ("br\r\nAccept-Encoding: gzip;q=0.5", "br")]:
        until("/z/a.css", (200, coding, coded.get(coding, plain)), "Accept-Encoding: " + accepted,
              Accept_Encoding=accepted)
        for method in ("GET", "HEAD"):
            r = server.get("/z/a.css", method=method, Accept_Encoding=accepted)
            what = "%s, Accept-Encoding: %s" % (method, accepted)
            check.equal((r.status, r["vary"], r["content-type"]),
                        (200, "Accept-Encoding", "text/css; charset=utf-8"), what)
            check.equal(r["content-length"], str(len(coded.get(coding, plain))), what)
        tags.setdefault(coding, set()).add(r["etag"])
    check(all(len(t) == 1 and None not in t for t in tags.values()), "one tag each", tags)
    check.equal(len(set().union(*tags.values())), 4, "a tag of its own for each")
    gzip = tags["gzip"].pop()
    r = server.get("/z/a.css", Accept_Encoding="gzip", If_None_Match=gzip)
    check.equal((r.status, r["etag"], r["vary"]), (304, gzip, "Accept-Encoding"), "304")
    r = server.get("/z/a.css", Accept_Encoding="br", If_None_Match=gzip)
    check.equal((r.status, r.body), (200, coded["br"]), "the tag of another coding")
    r = server.get("/z/a.css", Accept_Encoding="gzip", Range="bytes=1-5", If_Range=gzip)
    check.equal((r.status, r.body, r["content-encoding"], r["vary"]),
                (206, coded["gzip"][1:6], "gzip", "Accept-Encoding"), "206 of a coding")
    # A sidecar that is older than its file does not count.
    newer = plain + b"/* new */\n"
    put("a.css", newer, age=50)
    until("/z/a.css", (200, None, newer), "older sidecars", Accept_Encoding="gzip, br, zstd")
    put("a.css.br", b"br again", age=50)
    until("/z/a.css", (200, "br", b"br again"), "a new sidecar", Accept_Encoding="gzip, br, zstd")
    os.unlink(os.path.join(www, "z/a.css.br"))
    until("/z/a.css", (200, None, newer), "a sidecar that has gone", Accept_Encoding="br")
    # Only regular files beneath the root count.
    put("b.txt", b"plain b")
    os.symlink("/etc/passwd", os.path.join(www, "z/b.txt.gz"))
    os.mkfifo(os.path.join(www, "z/b.txt.br"))
    os.mkdir(os.path.join(www, "z/b.txt.zst"))
    r = server.get("/z/b.txt", Accept_Encoding="gzip, br, zstd")
    check.equal((r.status, r["content-encoding"], r.body), (200, None, b"plain b"), "no files")
    # An index, a large file that is sent from the disk, and a file without the plain one.
    put("index.html", b"<p>index")
    put("index.html.gz", b"gz index")
    put("big.js", b"x" * 300000)
    put("big.js.gz", b"y" * 200000)
    put("only.txt.gz", b"only")
    for path, wanted in (("/z/", (200, "gzip", b"gz index")),
                         ("/z/big.js", (200, "gzip", b"y" * 200000)),
                         ("/z/only.txt.gz", (200, None, b"only"))):
        for turn in ("first", "again"):
            r = server.get(path, Accept_Encoding="gzip")
            check.equal((r.status, r["content-encoding"]), wanted[:2], "%s %s" % (turn, path))
            check(r.body == wanted[2], "%s %s: body" % (turn, path))
    check.equal(server.get("/z/only.txt", Accept_Encoding="gzip").status, 404, "no plain file")
    shutil.rmtree(os.path.join(www, "z"))


def fields(program, root):
    """--field: the defaults, replaced, removed, added; on all answers with a file."""
    www = os.path.join(root, "www")
    for args, wanted in (
            ([], {"cache-control": "no-cache", "x-content-type-options": "nosniff",
                  "referrer-policy": "strict-origin-when-cross-origin"}),
            (["--field", "cache-control: max-age=60, public", "--field", "X-A:b", "--field",
              "X-Content-Type-Options:", "--field", "X-A:  c d "],
             {"cache-control": "max-age=60, public", "x-a": "c d", "x-content-type-options": None}),
            (["--field", "X-Long: " + "x" * 3900], {"x-long": "x" * 3900})):
        with Server(program, www, *args) as server:
            etag = server.get("/page.html")["etag"]
            for path, extra, status in (
                    ("/page.html", {}, 200), ("/page.html", {"If_None_Match": etag}, 304),
                    ("/page.html", {"Range": "bytes=0-1"}, 206), ("/large.bin", {}, 200),
                    ("/", {}, 200)):
                for method in ("GET", "HEAD"):
                    r = server.get(path, method=method, **extra)
                    check(r.status == status or method == "HEAD", "%r %s" % (args, path), r.status)
                    check.equal({name: r[name] and r[name].strip() for name in wanted}, wanted,
                                "%s %s %r" % (method, path, extra))
            # Pipelined with long heads.
            with server.connect() as c:
                c.send(b"GET /n/3.txt HTTP/1.1\r\nHost: a\r\n\r\n" * 64)
                check(all(c.response().body == b"3\n" * 4 for _ in range(64)), "64 pipelined")
            check.equal(server.stop(), 0, "exit status")
            check.equal(server.stderr(), "", "nothing on stderr")
    for wrong in ("X", "", ": a", "X a: b", "X: a\r\nY: b", "X: \1", "Content-Length: 5", "etag: a",
                  "Date: now", "X: " + "x" * 5000):
        out = subprocess.run([program, "--field", wrong, root], capture_output=True, timeout=60)
        check.equal((out.returncode, out.stderr.startswith(b"sws: --field: ")), (2, True),
                    "--field %r" % wrong[:20])


def pieces(server):
    """Requests byte by byte, and cut at every place."""
    text = (b"GET /n/7.txt HTTP/1.1\r\nHost: a\r\nUser-Agent: test\r\n\r\n"
            b"HEAD /n/7.txt HTTP/1.1\r\nHost: a\r\n\r\n")
    with server.connect() as c:
        for i in range(len(text)):
            c.send(text[i:i + 1])
        check.equal(c.response().body, b"7\n" * 8, "byte by byte: GET")
        check.equal(c.response(no_body=True).status, 200, "byte by byte: HEAD")
    for cut in range(1, len(text)):
        with server.connect() as c:
            c.send(text[:cut])
            time.sleep(0.001)
            c.send(text[cut:])
            ok = c.response().body == b"7\n" * 8 and c.response(no_body=True).status == 200
            check(ok, "cut at %d" % cut)


def half_close(server):
    """A client that says it will send no more still gets all its answers."""
    import socket
    for count in (1, 3, 100):
        with server.connect() as c:
            c.send(b"GET /n/9.txt HTTP/1.1\r\nHost: a\r\n\r\n" * count)
            c.s.shutdown(socket.SHUT_WR)
            good = sum(1 for _ in range(count) if (c.response() or c).__dict__.get("status") == 200)
            check.equal(good, count, "half-close after %d requests" % count)
            check(c.at_end(), "half-close: then the end")
    with server.connect() as c:
        c.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
        c.s.shutdown(socket.SHUT_WR)
        r = c.response()
        check.equal(r and len(r.body), 3 << 20, "half-close: a large file")
    with server.connect() as c:
        c.send(b"GET /n/9.txt HTTP/1.1\r\nHost:")
        c.s.shutdown(socket.SHUT_WR)
        check(c.at_end(), "half-close in a head: no answer, the end")


def edits(server, root):
    """Changed, replaced, removed and new files are seen; each body is one version as a whole."""
    path = os.path.join(root, "www", "edited.txt")

    def until(condition):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if condition(server.get("/edited.txt")):
                return True
            time.sleep(0.05)
        return False

    check.equal(server.get("/edited.txt").status, 404, "not there yet")
    for content in (b"one", b"two", b"three and more", b"3"):
        with open(path, "wb") as f:
            f.write(content)
        check(until(lambda r: r.body == content), "edit is served: %r" % content)
    with open(path + ".new", "wb") as f:
        f.write(b"X")
    os.rename(path + ".new", path)
    check(until(lambda r: r.body == b"X"), "a replaced file is served")
    os.unlink(path)
    check(until(lambda r: r.status == 404), "a removed file is not found")
    os.mkdir(path)
    check(until(lambda r: r.status == 301), "a directory in its place")
    os.rmdir(path)

    versions = [bytes([65 + v]) * (v * 3001 + 7) for v in range(8)]
    stop = threading.Event()

    def writer():
        v = 0
        while not stop.is_set():
            with open(path + ".new", "wb") as f:
                f.write(versions[v % 8])
            os.rename(path + ".new", path)
            v += 1
            # Most versions are too short-lived to get a tag; some are not.
            if v % 50 == 0:
                time.sleep(0.2)

    with open(path, "wb") as f:
        f.write(versions[0])
    thread = threading.Thread(target=writer)
    thread.start()
    tags, end, wrong = {}, time.monotonic() + 3, 0
    with server.connect() as c:
        while time.monotonic() < end:
            r = c.get("/edited.txt")
            if r is None or r.status != 200 or r.body not in versions \
                    or (r["etag"] and tags.setdefault(r["etag"], r.body) != r.body):
                wrong += 1
    stop.set()
    thread.join()
    check.equal(wrong, 0, "every body is one version, and its tag always the same")
    check(until(lambda r: r["etag"] and r["last-modified"]), "after a while it has both validators")


def quick_edits(server, root):
    """A second version, as long as the first and in the same tick: no validator names both."""
    first = {}
    for i in range(20):
        path = "/quick-%d.txt" % i
        with open(os.path.join(root, "www" + path), "wb") as f:
            f.write(b"A")
            f.flush()
            first[path] = server.get(path)
            f.seek(0)
            f.write(b"B")
        check.equal(first[path].body, b"A", "the first version")
    end = time.monotonic() + 30
    for path, a in first.items():
        b = server.get(path)
        while b.body != b"B" and time.monotonic() < end:
            time.sleep(0.05)
            b = server.get(path)
        check.equal(b.body, b"B", "the second version is seen")
        check(a["etag"] is None or a["etag"] != b["etag"], "it has a tag of its own", a["etag"])
        if a["last-modified"]:
            r = server.get(path, If_Modified_Since=a["last-modified"])
            check.equal(r.status, 200, "... and a date of its own")


def curl(server, root):
    """A client that is not ours."""
    url = "%s://127.0.0.1:%d" % ("https" if TLS else "http", server.port)
    out = subprocess.run(["curl", "-ksS", "--max-time", "60", url + "/large.bin"],
                         capture_output=True)
    check(out.returncode == 0 and out.stdout == read(root, "large.bin"), "curl: a large file",
          out.stderr)
    out = subprocess.run(["curl", "-ksS", "--max-time", "60", "-L", "-o", "/dev/null", "-w",
                          "%{http_code} %{num_redirects}", url + "/sub"], capture_output=True)
    check.equal(out.stdout, b"200 1", "curl: follows the redirect")
    out = subprocess.run(["curl", "-ksS", "--max-time", "60", "-o", "/dev/null", "-w",
                          "%{http_code}", "--compressed", "-z", server.get("/")["last-modified"],
                          url + "/"], capture_output=True)
    check.equal(out.stdout, b"304", "curl: -z")
    part = os.path.join(root, "part")
    with open(part, "wb") as f:
        f.write(read(root, "large.bin")[:1234567])
    out = subprocess.run(["curl", "-ksS", "--max-time", "60", "-C", "-", "-o", part,
                          url + "/large.bin"], capture_output=True)
    with open(part, "rb") as f:
        check(out.returncode == 0 and f.read() == read(root, "large.bin"),
              "curl: continues a download", out.stderr)


def main():
    program = sys.argv[1]
    root = make_root()
    try:
        with Server(program, os.path.join(root, "www")) as server:
            files(server, root)
            refusals(server)
            framing(server)
            bodies(server)
            keep_alive(server)
            conditions(server)
            ranges(server, root)
            codings(server, root)
            pieces(server)
            half_close(server)
            edits(server, root)
            quick_edits(server, root)
            curl(server, root)
            check.equal(server.get("/").status, 200, "still serves at the end")
            check.equal(server.stop(), 0, "exit status")
            check.equal(server.stderr(), "", "nothing on stderr")
        # With next to no room for prebuilt responses everything is still right.
        with Server(program, os.path.join(root, "www"), "--cache-size", "20k",
                    "--cache-file-size", "8k", "--cores", "3") as server:
            files(server, root)
            conditions(server)
            ranges(server, root)
            codings(server, root)
            check.equal(server.stop(), 0, "small cache: exit status")
        with Server(program, os.path.join(root, "www"), "--cache-size", "0") as server:
            files(server, root)
            codings(server, root)
            check.equal(server.stop(), 0, "no cache: exit status")
        fields(program, root)
        gz = os.path.join(root, "www/page.html.gz")
        for args, coding in ((["--precompressed", "off"], None), (["--precompressed", "br,gz"], "gzip"),
                             (["--precompressed", "br"], None)):
            with open(gz, "wb") as f:
                f.write(b"gz page")
            with Server(program, os.path.join(root, "www"), *args) as server:
                r = server.get("/page.html", Accept_Encoding="gzip, br")
                check.equal(r["content-encoding"], coding, " ".join(args))
                check.equal(server.stop(), 0, "exit status")
            os.unlink(gz)
        for wrong in ("lzma", "gz,", "gz,gz", ""):
            out = subprocess.run([program, "--precompressed", wrong, root], capture_output=True)
            check.equal((out.returncode, out.stderr.count(b"\n")), (2, 1), "--precompressed " + wrong)
    finally:
        remove_root(root)
    check.finish()


if __name__ == "__main__":
    main()
