# SPDX-License-Identifier: MIT
"""sws against the conformance table, over raw sockets. Usage: conformance_test.py PATH-TO-SWS [NAME...]

Each case of conformance.txt is tried four times: in one piece; in pieces of a byte (or, when it is
long, a hundred pieces); behind another request; and with the next request close behind it. Names
restrict the run to the cases whose names contain one of them.
"""
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile

from conformance_lib import (EOF, WAIT, Outcome, faults, learn_variables, make_tree, read_table,
                             steps_of, try_case)
from sws_lib import PATIENCE, TLS, Checks, Server

HERE = os.path.dirname(os.path.abspath(__file__))
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
check = Checks()


def unsound(outcome):
    """What no answer of sws may lack or have (RFC 9110, 6.6.1, 8.6, 10.2.1, 14.4, 15)."""
    last = len(outcome.answers) - 1
    for i, a in enumerate(outcome.answers):
        if a.status in ("raw", "cut"):
            return "no answer"
        if not DATE.fullmatch(a.headers.get("date", "")):
            return "no date"
        if a.status != "304" and not a.headers.get("content-length", "").isdigit():
            return "no length"
        if a.status == "405" and not a.headers.get("allow"):
            return "405 without Allow"
        if a.status in ("206", "416") and not a.headers.get("content-range") \
                and "multipart/byteranges" not in a.headers.get("content-type", ""):
            return a.status + " without Content-Range"
        says_close = a.headers.get("connection", "").lower() == "close"
        if says_close and (i < last or outcome.fate != "close"):
            return "says close and goes on"
    return None


def ways_of(steps):
    size = sum(len(s) for s in steps if isinstance(s, bytes))
    yield "whole", {}
    yield "in pieces", {"piece": 1 if size < 1500 else size // 100}
    yield "behind another", {"before": True}
    if WAIT not in steps and EOF not in steps:
        yield "before another", {"at_once": True}


def try_ways(server, case, variables, www):
    steps = steps_of(case, variables)
    for way, options in ways_of(steps):
        what = "line %d, %s, %s" % (case.line, case.name, way)
        o = try_case(server.port, steps, case.want, PATIENCE, **options)
        if options.get("before"):
            check(o.answers and o.answers[0].body == b"first\n", what + ": the request before")
            o = Outcome(o.statuses[1:], o.fate, o.answers[1:])
        found = faults(case, o, www, variables, True)
        check(not found, what, "; ".join(found))
        fault = unsound(o)
        check(not fault, what, fault)


def canaries(server, cases, variables, www):
    """A wrong expectation fails, whichever part of it is wrong."""
    case = next(c for c in cases if c.name == "GET of a file")
    steps = steps_of(case, variables)
    o = try_case(server.port, steps, case.want, PATIENCE)
    check.equal(faults(case, o, www, variables, True), [], "canary: the case as it is")
    for change in ({"want": (["404"], "open")}, {"want": (["200"], "close")},
                   {"want": (["200", "200"], "open")}, {"want": ([], "open")},
                   {"fields": [(False, 0, "body", "/page.html")]},
                   {"fields": [(True, 0, "content-length", "7")]},
                   {"fields": [(False, 0, "etag", "-")]}, {"fields": [(False, 0, "x-no", "+")]},
                   {"fields": [(False, 0, "content-length", "!6")]},
                   {"fields": [(False, 0, "content-type", "~^image/")]}):
        check(faults(case._replace(**change), o, www, variables, True), "canary: %r" % change)


def main():
    cases = read_table(os.path.join(HERE, "conformance.txt"))
    # With TLS, what is to be refused in clear text is right.
    cases = [c for c in cases if not (TLS and c.says.endswith("on a connection of clear text"))]
    chosen = [c for c in cases if not sys.argv[2:] or any(n in c.name for n in sys.argv[2:])]
    check(len(cases) >= 200, "200 cases", len(cases))
    folder = tempfile.mkdtemp(prefix="mely-conformance-")
    www = os.path.join(folder, "www")
    os.mkdir(www)
    make_tree(www)
    try:
        with Server(sys.argv[1], www) as server:
            variables = learn_variables(server.port, cases, PATIENCE)
            check(all(v.startswith('"') for k, v in variables.items() if k.startswith("etag")),
                  "tags", variables)
            canaries(server, cases, variables, www)
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                list(pool.map(lambda c: try_ways(server, c, variables, www), chosen))
            check.equal(server.stop(), 0, "exit status")
            check.equal(server.stderr(), "", "nothing on stderr")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d cases" % len(chosen))
    check.finish()


if __name__ == "__main__":
    main()
