# SPDX-License-Identifier: MIT
"""The conformance table: reading it, and trying its cases on a server.

A case of conformance.txt is a block of lines:

    == name                   begins a case
    9112 5.1: what the section asks for, and what is accepted
    > text                    sent, with a CR LF behind it
    + text                    sent as it stands
    ...                       wait for an answer before the rest is sent
    eof                       send no more, and say so
    want 200 404 open         what sws answers: a status for each answer, then whether the
                              connection stays open or is closed
    also 400 close            what the section allows, too; "raw" is an answer without a head,
                              and a connection that "waits" does nothing
    1 Name: value             answer 1 has this field (when it is answered as wanted)
    sws 1 Name: value         as well, but only sws promises it

Of a status, 200|206 are alternatives, 9*200 is a repetition, and 200h is an answer without a body, to a HEAD. A value is
`+` (any), `-` (the field is absent), `!text` (another), `~expression`, or the text itself. The name
`body` compares the body, with `-`, "text", or a file or a part of one: /a.txt[0:3]. In texts, \\r \\n
\\t \\s (space) \\xHH and \\\\ are escapes; \\{9*text} repeats; \\etag(/path) and \\date(/path) are the
validators of a file.
"""
import collections
import os
import re
import socket
import time

from sws_lib import TLS, secure

PROBE = "/probe.txt"
PROBE_BODY = b"probe\n"
PROBE_REQUEST = b"GET /probe.txt HTTP/1.1\r\nHost: a\r\n\r\n"
FIRST_REQUEST = b"GET /first.txt HTTP/1.1\r\nHost: a\r\n\r\n"
WAIT, EOF = "wait", "eof"

Case = collections.namedtuple("Case", "name section says line send want also fields")
Answer = collections.namedtuple("Answer", "status headers body complete")
# statuses: one text for each answer; fate: open, close, or waits (neither within the patience)
Outcome = collections.namedtuple("Outcome", "statuses fate answers")


def make_tree(www):
    """The files that the cases ask for."""
    def put(name, content, time=1700000000):
        path = os.path.join(www, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        os.utime(path, (time, time))

    put("probe.txt", PROBE_BODY)
    put("first.txt", b"first\n")
    put("a.txt", b"alpha\n")
    put("page.html", b"".join(b"line %4d\n" % i for i in range(100)))
    put("big.bin", b"".join(b"%08d\n" % i for i in range(40000)))
    put("empty.txt", b"")
    put("index.html", b"root\n")
    put("dir/index.html", b"dir\n")
    put("dir/deep/f.txt", b"deep\n")
    put("bare/x.txt", b"x\n")
    put(".hidden", b"hidden\n")
    put(".well-known/x.txt", b"known\n")
    put("sp ace.txt", b"space\n")
    put("p%41.txt", b"percent\n")
    put("pA.txt", b"not this\n")
    put("semi;colon.txt", b"semicolon\n")
    put("plus+sign.txt", b"plus\n")
    put("tilde~.txt", b"tilde\n")
    put("col:on.txt", b"colon\n")
    put("caf\u00e9.txt", b"cafe\n")
    put("old.txt", b"before 1970\n", 3600)
    put("enc.css", b"plain { }\n" * 20)
    for suffix in ("gz", "br", "zst"):
        put("enc.css." + suffix, suffix.encode() * 20)


def unescape(text, variables):
    def one(m):
        if m.group("times"):
            return unescape(m.group("what"), variables) * int(m.group("times"))
        if m.group("variable"):
            return variables[m.group("variable")].encode("latin-1")
        c = m.group(0)[1]
        return bytes([int(m.group(0)[2:], 16)]) if c == "x" else \
            {"r": b"\r", "n": b"\n", "t": b"\t", "s": b" ", "\\": b"\\"}[c]

    pattern = re.compile(r"\\(?:\{(?P<times>\d+)\*(?P<what>[^}]*)\}|(?P<variable>(?:etag|date)"
                         r"\([^)]*\))|x[0-9a-fA-F]{2}|[rnts\\])")
    out, at = b"", 0
    for m in pattern.finditer(text):
        out += text[at:m.start()].encode("latin-1") + one(m)
        at = m.end()
    rest = text[at:]
    if "\\" in re.sub(pattern, "", text):
        raise ValueError("an unknown escape: " + text)
    return out + rest.encode("latin-1")


def parse_want(words):
    *parts, fate = words.split()
    statuses = []
    if fate not in ("open", "close", "waits"):
        raise ValueError("neither open nor close: " + words)
    for part in parts:
        m = re.fullmatch(r"(?:(\d+)\*)?(\d{3}(\|\d{3})*h?|raw)", part)
        if not m:
            raise ValueError("no status: " + part)
        statuses += [m.group(2)] * int(m.group(1) or 1)
    return statuses, fate


def read_table(path):
    """All cases; an error names the line."""
    cases, case, number = [], None, 0
    names = set()

    def end():
        if case is None:
            return
        if not case["send"] or not case["want"] or not case["section"]:
            raise ValueError("the case before lacks its section, bytes or want")
        cases.append(Case(**case))

    try:
        with open(path, encoding="ascii") as f:
            for number, line in enumerate(f, 1):
                line = line.rstrip("\n")
                if not line or line.startswith("#"):
                    continue
                if line.startswith("== "):
                    end()
                    case = dict(name=line[3:], section="", says="", line=number, send=[], want=None,
                                also=[], fields=[])
                    if case["name"] in names:
                        raise ValueError("a second case of this name")
                    names.add(case["name"])
                elif m := re.match(r"(9110|9112|3986) ([\dA-C.]+): (.*)", line):
                    case["section"], case["says"] = m.group(1) + " " + m.group(2), m.group(3)
                elif line == ">" or line.startswith("> "):
                    case["send"].append(line[2:] + "\\r\\n")
                elif line.startswith("+ "):
                    case["send"].append(line[2:])
                elif line in ("...", "eof"):
                    case["send"].append((WAIT if line == "..." else EOF,))
                elif line.startswith("want "):
                    case["want"] = parse_want(line[5:])
                elif line.startswith("also "):
                    case["also"].append(parse_want(line[5:]))
                elif m := re.match(r"(sws )?(\d+) ([\w-]+): (.*)", line):
                    case["fields"].append((bool(m.group(1)), int(m.group(2)) - 1,
                                           m.group(3).lower(), m.group(4)))
                else:
                    raise ValueError("what is this: " + line)
            end()
    except (ValueError, TypeError) as e:
        raise SystemExit("%s:%d: %s" % (path, number, e))
    return cases


def steps_of(case, variables):
    """What to send: bytes, WAIT and EOF in turn."""
    steps = []
    for item in case.send:
        if isinstance(item, tuple):
            steps.append(item[0])
        elif steps and isinstance(steps[-1], bytes):
            steps[-1] += unescape(item, variables)
        else:
            steps.append(unescape(item, variables))
    return steps


# ---- a connection ------------------------------------------------------------------------------

class Wire:
    """A connection to a server, and a reader of answers that expects the worst."""

    def __init__(self, port, patience):
        self.s = socket.create_connection(("127.0.0.1", port))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS:
            self.s = secure(self.s)
        self.s.settimeout(patience)
        self.data = b""
        self.ended = self.waits = False

    def send(self, data, piece=None):
        try:
            for at in range(0, len(data), piece or len(data) or 1):
                self.s.sendall(data[at:at + (piece or len(data))])
        except OSError:
            pass  # the server has closed already: reading shows why

    def half_close(self):
        try:
            self.s.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def fill(self):
        if self.ended or self.waits:
            return False
        try:
            more = self.s.recv(262144)
        except socket.timeout:
            self.waits = True
            return False
        except OSError:
            more = b""
        self.data += more
        self.ended = not more
        return bool(more)

    def need(self, n):
        while len(self.data) < n:
            if not self.fill():
                return False
        return True

    def until(self, mark):
        while mark not in self.data:
            if not self.fill():
                return None
        text, self.data = self.data.split(mark, 1)
        return text

    def take(self, n):
        complete = self.need(n)
        body, self.data = self.data[:n], self.data[n:]
        return body, complete

    def chunked(self):
        body = b""
        while (line := self.until(b"\r\n")) is not None:
            size = int(line.split(b";")[0] or b"0", 16)
            if size == 0:
                while (line := self.until(b"\r\n")):
                    pass
                return body, line is not None
            part, complete = self.take(size)
            body += part
            if not complete or self.until(b"\r\n") is None:
                break
        return body, False

    def answer(self, no_body):
        """The next answer; None: there is none."""
        if not self.need(5):
            if not self.data:
                return None
        if not self.data.startswith(b"HTTP/"):
            while self.fill():
                pass
            body, self.data = self.data, b""
            return Answer("raw", {}, body, True)
        head = self.until(b"\r\n\r\n")
        if head is None:
            self.data = b""
            return Answer("cut", {}, b"", False)
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        status = lines[0].split(" ")[1]
        if no_body or status in ("204", "304") or status.startswith("1"):
            return Answer(status, headers, b"", True)
        if "chunked" in headers.get("transfer-encoding", ""):
            return Answer(status, headers, *self.chunked())
        if "content-length" in headers:
            return Answer(status, headers, *self.take(int(headers["content-length"])))
        while self.fill():
            pass
        body, self.data = self.data, b""
        return Answer(status, headers, body, True)


def try_case(port, steps, want, patience, piece=None, before=False, at_once=False):
    """Send a case and see what comes. before: behind another request; at_once: with the next
    request close behind it, which shows what the server takes for one."""
    wire = Wire(port, patience)
    heads = [s.endswith("h") for s in want[0]]
    answers = []

    def next_answer():
        n = len(answers)
        a = wire.answer(n < len(heads) and heads[n])
        if a is not None:
            answers.append(a)
        return a

    if before:
        wire.send(FIRST_REQUEST)
        heads = [False] + heads
    half = False
    for step in steps:
        if step == WAIT:
            if next_answer() is None:
                break
        elif step == EOF:
            wire.half_close()
            half = True
        else:
            wire.send(step, piece)
    if at_once:
        wire.send(PROBE_REQUEST)
    while len(answers) < len(heads) and next_answer() is not None:
        pass
    wire.waits = False
    if not half and not at_once:
        wire.send(PROBE_REQUEST)
    fate = None
    while fate is None:
        a = next_answer()
        if a is None:
            fate = "waits" if wire.waits else "close"
        elif a.status == "200" and a.body == PROBE_BODY:
            answers.pop()
            fate = "open"
    wire.s.close()
    return Outcome([a.status for a in answers], fate, answers)


# ---- judging -----------------------------------------------------------------------------------

def is_like(outcome, pattern):
    statuses, fate = pattern
    return outcome.fate == fate and len(outcome.statuses) == len(statuses) and all(
        got in want.rstrip("h").split("|") for got, want in zip(outcome.statuses, statuses))


def is_allowed(case, outcome):
    """May another server do this? It may also close a connection at any time (9112 9.5)."""
    return any(is_like(outcome, p) or (p[1] == "open" and is_like(outcome, (p[0], "close")))
               for p in [case.want] + case.also)


def wrong_body(body, wanted, www):
    if wanted == "-":
        return body != b""
    if wanted.startswith('"'):
        return body != unescape(wanted[1:-1], {})
    m = re.fullmatch(r"(/[^\[]*)(?:\[(\d*):(\d*)\])?", wanted)
    with open(os.path.join(www, m.group(1)[1:]), "rb") as f:
        content = f.read()
    return body != content[int(m.group(2) or 0):int(m.group(3) or len(content))]


def wrong_field(answer, name, wanted, www, variables):
    """What is wrong with a field of an answer; None: nothing."""
    if name == "body":
        return "body: got %r" % answer.body[:60] if wrong_body(answer.body, wanted, www) else None
    got = answer.headers.get(name)
    if wanted in ("+", "-"):
        good = (got is None) == (wanted == "-")
    elif wanted.startswith("!"):
        good = got != wanted[1:]
    elif wanted.startswith("~"):
        good = got is not None and re.search(wanted[1:], got)
    else:
        good = got == unescape(wanted, variables).decode("latin-1")
    return None if good else "%s: got %r, wanted %s" % (name, got, wanted)


def faults(case, outcome, www, variables, is_sws):
    """Why an outcome is not what the case wants; an empty list: it is."""
    if not (is_like(outcome, case.want) if is_sws else is_allowed(case, outcome)):
        return ["got %s %s" % (" ".join(outcome.statuses), outcome.fate)]
    if not is_like(outcome._replace(fate=case.want[1]), case.want):
        return []
    found = []
    for only_sws, number, name, wanted in case.fields:
        if only_sws and not is_sws:
            continue
        fault = wrong_field(outcome.answers[number], name, wanted, www, variables)
        if fault:
            found.append("answer %d: %s" % (number + 1, fault))
    if not all(a.complete for a in outcome.answers):
        found.append("an answer is cut")
    return found


def learn_variables(port, cases, patience):
    """The validators of the files that the cases name."""
    names = set(re.findall(r"(?:etag|date)\(([^)]*)\)", "\n".join(
        item for c in cases for item in c.send if isinstance(item, str))
        + "\n".join(f[3] for c in cases for f in c.fields)))
    variables = {}
    for name in names:
        # A file that has just changed has no tag yet.
        for _ in range(int(20 * patience)):
            wire = Wire(port, patience)
            wire.send(b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % name.encode())
            a = wire.answer(False)
            wire.s.close()
            if "etag" in a.headers:
                break
            time.sleep(0.05)
        variables["etag(%s)" % name] = a.headers.get("etag", '"none"')
        variables["date(%s)" % name] = a.headers.get("last-modified", "none")
    return variables
