# SPDX-License-Identifier: MIT
"""/metrics and /health of sws: the format, counters that agree with what was asked, the drain:
sws_metrics_test.py SWS"""
import os
import re
import shutil
import signal
import sys
import tempfile
import time

from sws_lib import PATIENCE, Checks, Client, Program, make_root, remove_root

check = Checks()
SWS = sys.argv[1]
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"(%s)(?:\{((?:%s)(?:,%s)*)\})? (\S+)" % (NAME, LABEL, LABEL))
TYPES = ("counter", "gauge", "histogram", "untyped", "summary")


class Server(Program):
    def __init__(self, root, *args):
        super().__init__([SWS, "--port", "0", "--metrics-listen", "127.0.0.1:0", *args, root], r"at http://.*:(\d+)/$")
        self.port = int(self.ready.group(1))
        line = self.process.stdout.readline().decode()
        self.inside = int(re.search(r"serving metrics at http://127.0.0.1:(\d+)/$", line).group(1))

    def connect(self, **kw):
        return Client("127.0.0.1", self.port, **kw)

    def ask(self, path, **kw):
        with Client("127.0.0.1", self.inside) as c:
            return c.get(path, **kw)

    def metrics(self):
        r = self.ask("/metrics")
        check.equal(r.status, 200, "/metrics")
        check.equal(r["content-type"], "text/plain; version=0.0.4; charset=utf-8", "its type")
        return parse(r.body.decode("utf-8"))


def base_of(name, types):
    for end in ("_bucket", "_sum", "_count"):
        if name.endswith(end) and types.get(name[:-len(end)]) == "histogram":
            return name[:-len(end)]
    return name


def parse(text):
    """The samples of a text in the format 0.0.4, read strictly: {(name, labels): value}."""
    types, helps, samples, current, done = {}, set(), {}, None, set()
    check(text.endswith("\n"), "the text ends with a line")
    for line in text.splitlines():
        m = re.fullmatch(r"# HELP (%s) (.*)" % NAME, line)
        if m:
            check(m[1] not in helps, "one HELP: " + line)
            helps.add(m[1])
            continue
        m = re.fullmatch(r"# TYPE (%s) (\w+)" % NAME, line)
        if m:
            check(m[1] not in types and m[2] in TYPES, "one TYPE: " + line)
            check(m[1] in helps, "HELP before TYPE: " + line)
            types[m[1]] = m[2]
            continue
        m = SAMPLE.fullmatch(line)
        if not check(m, "a sample: " + line):
            continue
        base = base_of(m[1], types)
        check(base in types, "a TYPE before: " + line)
        if base != current:
            check(base not in done, "the lines of a family are together: " + line)
            done.add(base)
            current = base
        if types[base] == "counter":
            check(base.endswith("_total"), "the name of a counter: " + line)
        key = (m[1], m[2] or "")
        check(key not in samples, "one sample: " + line)
        samples[key] = float(m[3])
    histograms(types, samples)
    samples["types"] = types
    return samples


def histograms(types, samples):
    rows = {}
    for (name, labels), value in samples.items():
        if name.endswith("_bucket") and types.get(name[:-7]) == "histogram":
            rest = ",".join(part for part in labels.split(",") if not part.startswith("le="))
            rows.setdefault((name[:-7], rest), []).append(
                (float(re.search(r'le="([^"]*)"', labels)[1].replace("+Inf", "inf")), value))
    for (name, rest), buckets in rows.items():
        check.equal(buckets, sorted(buckets), "rising buckets of " + name)
        check.equal([v for _, v in buckets], sorted(v for _, v in buckets), "added up: " + name)
        check.equal(buckets[-1], (float("inf"), samples[name + "_count", rest]), "the count of " + name)


def answers(samples, method, status):
    return samples["sws_requests_total", 'method="%s",status="%s"' % (method, status)]


def agree(www):
    """Ask for some, and compare the differences."""
    with Server(www, "--cores", "2") as server:
        before = server.metrics()
        total = n = 0
        for _ in range(5):
            with server.connect() as c:
                etag = None
                for path, kw in (("/page.html", {}), ("/large.bin", {}), ("/none", {}),
                                 ("/page.html", {"method": "HEAD"}), ("/page.html", {"range": "bytes=1-3"})):
                    r = c.get(path, **kw)
                    total += len(r.head) + 4 + len(r.body)
                    etag = etag or r["etag"]
                r = c.get("/page.html", if_none_match=etag)
                total += len(r.head) + 4
                c.send(b"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n")
                r = c.response()
                total += len(r.head) + 4 + len(r.body)
                n += 7
        after = server.metrics()

        def grown(name, labels=""):
            return after[name, labels] - before[name, labels]
        check.equal(answers(after, "get", "2xx") - answers(before, "get", "2xx"), 15, "GET, 2xx")
        check.equal(answers(after, "get", "3xx"), 5, "GET, 3xx")
        check.equal(answers(after, "get", "4xx"), 5, "GET, 4xx")
        check.equal(answers(after, "head", "2xx"), 5, "HEAD, 2xx")
        check.equal(answers(after, "other", "4xx"), 5, "others, 4xx")
        check.equal(sum(v for k, v in after.items() if k[0] == "sws_requests_total"), n, "all requests")
        check.equal(grown("sws_sent_bytes_total"), total, "bytes")
        check.equal(grown("sws_connections_total"), 6, "connections")
        check.equal(after["sws_request_duration_seconds_count", ""], n, "times")
        check.equal(grown("sws_aborted_total"), 0, "aborted")
        check.equal(grown("sws_inside_total"), 1, "requests for metrics")
        check.equal(after["sws_cache_pages", ""], 1, "pages")
        check(after["sws_cache_bytes", ""] > 1024, "bytes of pages")
        check(grown("sws_cache_hits_total") >= 14, "hits")
        check(after['mely_events_total', 'core="0"'] + after['mely_events_total', 'core="1"'] > 0
              if ('mely_events_total', 'core="0"') in after else True, "events of the runtime")
        check(any(k[0].startswith("mely_") for k in after if isinstance(k, tuple)), "the runtime")
        for key, value in before.items():
            if isinstance(key, tuple) and after["types"].get(base_of(key[0], after["types"])) in ("counter", "histogram"):
                check(after[key] >= value, "it does not fall: %s %s" % key)
        check.equal(server.stop(), 0, "exit status")


def where(www):
    with Server(www) as server:
        for path in ("/metrics", "/health"):
            with server.connect() as c:
                check.equal(c.get(path).status, 404, "not on the public port: " + path)
        check.equal((server.ask("/health").status, server.ask("/health").body), (200, b"ok\n"), "/health")
        head = server.ask("/health", method="HEAD")
        check.equal((head.status, head["content-length"], head.body), (200, "3", b""), "HEAD")
        check.equal(server.ask("/page.html").status, 404, "no files there")
        check.equal(server.ask("/metrics?x=1").status, 200, "with a query")
        with Client("127.0.0.1", server.inside) as c:
            for _ in range(3):
                check.equal(c.get("/health").status, 200, "keep-alive")


def drains(www):
    """While an answer is on its way, a new connection learns that the server ends."""
    with Server(www) as server:
        with server.connect(rcvbuf=4096) as slow:
            slow.send(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
            slow.s.recv(1)
            server.signal()
            end = time.monotonic() + PATIENCE
            while True:
                r = server.ask("/health")
                if r.status == 503 or time.monotonic() > end:
                    break
                time.sleep(0.02)
            check.equal((r.status, r.body, r["connection"]), (503, b"draining\n", "close"), "in a drain")
            check.equal(server.metrics()["sws_draining", ""], 1, "the metric")
            idle = Client("127.0.0.1", server.inside)
            while slow.fill():
                slow.data = b""
        check.equal(server.wait(), 0, "the drain does not wait for its observer")
        idle.close()


def reloads(www, top):
    path = os.path.join(top, "sws.conf")

    def write(text):
        with open(path, "w") as f:
            f.write(text)

    def count(result):
        return server.metrics()["sws_reloads_total", 'result="%s"' % result]

    write('sites = ( { root = "%s"; } );\n' % www)
    with Server(www, "--config", path) as server:
        for text, result in (('sites = ( { root = "%s"; } );\n' % www, "success"), ("sites = (", "failure")):
            check.equal(count(result), 0, "none yet")
            write(text)
            os.kill(server.process.pid, signal.SIGHUP)
            end = time.monotonic() + PATIENCE
            while count(result) != 1 and time.monotonic() < end:
                time.sleep(0.05)
            check.equal(count(result), 1, "a reload: " + result)


def main():
    root = make_root()
    top = tempfile.mkdtemp(prefix="mely-sws-metrics-")
    www = os.path.join(root, "www")
    try:
        agree(www)
        where(www)
        drains(www)
        reloads(www, top)
    finally:
        remove_root(root)
        shutil.rmtree(top, ignore_errors=True)
    check.finish()


main()
