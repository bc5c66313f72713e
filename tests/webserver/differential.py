# SPDX-License-Identifier: MIT
"""The conformance table on other servers. Usage: differential.py PATH-TO-SWS [--write]

The bytes of each case go to sws, nginx, lighttpd and h2o, which serve the same tree. Where a peer
answers differently from sws, differential.txt has a line with what the peer does, whether the
section allows it, and a word that refers to an explanation above the lines. The run fails if the
disagreements are not those of the file. --write writes the file again, and keeps the words; a new
line gets a question mark, and the run fails until there is an explanation.
"""
import concurrent.futures
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from conformance_lib import (faults, is_like, learn_variables, make_tree, read_table, steps_of,
                             try_case)
from sws_lib import Server

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "differential.txt")
# What a peer has not done by then it does not do. Only disagreements depend on it.
PATIENCE = 4.0
LINE = re.compile(r"(nginx|lighttpd|h2o) +(allowed|wrong) +([a-z0-9?-]+) +(.*) -> (.*)")

NGINX = """
daemon off; pid {dir}/nginx.pid; error_log {dir}/nginx.log; {user}
worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off; sendfile on; gzip_static on;
  types {{ text/html html; text/plain txt; text/css css; }}
  client_body_temp_path {dir}/nginx-body; proxy_temp_path {dir}/nginx-proxy;
  fastcgi_temp_path {dir}/nginx-fcgi; uwsgi_temp_path {dir}/nginx-uwsgi;
  scgi_temp_path {dir}/nginx-scgi;
  server {{
    listen 127.0.0.1:{port}; root {root};
    location ~ /\\.(?!well-known/) {{ return 404; }}
  }}
}}
"""

LIGHTTPD = """
server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{dir}/lighttpd.log"
server.modules = ( "mod_access" )
index-file.names = ( "index.html" )
mimetype.assign = ( ".html" => "text/html", ".txt" => "text/plain", ".css" => "text/css" )
$HTTP["url"] =~ "/\\.(?!well-known/)" {{ url.access-deny = ( "" ) }}
"""

H2O = """
num-threads: 1
{user}
pid-file: {dir}/h2o.pid
error-log: {dir}/h2o.log
listen: {{ host: 127.0.0.1, port: {port} }}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
        file.send-compressed: ON
        file.dirlisting: OFF
"""

PEERS = {"nginx": (NGINX, ["-c", "{conf}", "-e", "{dir}/nginx.log"], "user root;"),
         "lighttpd": (LIGHTTPD, ["-D", "-f", "{conf}"], ""),
         "h2o": (H2O, ["-c", "{conf}"], "user: root")}


VERSION = re.compile(r"(?:nginx version: |h2o version |lighttpd/|nginx/)*([\d.]+)")


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def versions():
    """The versions of the peers, as the table has them."""
    out = []
    for name in PEERS:
        text = subprocess.run([find(name), "-v"], capture_output=True, text=True)
        out.append("%s/%s" % (name, VERSION.search(text.stdout + text.stderr).group(1)))
    return " ".join(out)


class Peer:
    """A peer that serves root on a free port, in a process group of its own."""

    def __init__(self, name, folder, root):
        text, args, user = PEERS[name]
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        conf = os.path.join(folder, name + ".conf")
        with open(conf, "w") as f:
            f.write(text.format(dir=folder, root=root, port=self.port,
                                user=user if os.geteuid() == 0 else ""))
        with open(os.path.join(folder, name + ".out"), "wb") as log:
            self.process = subprocess.Popen(
                [find(name)] + [a.format(conf=conf, dir=folder) for a in args],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError(name + " does not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def short(outcome):
    """Statuses and fate, with repetitions counted."""
    words, n = [], 0
    for i, s in enumerate(outcome.statuses):
        n += 1
        if i + 1 == len(outcome.statuses) or outcome.statuses[i + 1] != s:
            words.append(s if n == 1 else "%d*%s" % (n, s))
            n = 0
    return " ".join(words + [outcome.fate])


def try_all(port, cases, www, is_sws):
    """For each case: what the server does, and what is wrong with it."""
    variables = learn_variables(port, cases, PATIENCE)

    def one(case):
        steps = steps_of(case, variables)
        o = try_case(port, steps, case.want, PATIENCE)
        # A server that resets a connection may take its answer along: see whether it always does.
        for _ in range(3):
            if o.statuses or o.fate != "close":
                break
            o = try_case(port, steps, case.want, PATIENCE)
        return o, faults(case, o, www, variables, is_sws)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, cases))


def read_words():
    """The explanations at the top of the file, as they stand, and the lines behind them."""
    top, lines = "", {}
    with open(TABLE, encoding="ascii") as f:
        for line in f:
            m = LINE.fullmatch(line.rstrip("\n"))
            if m:
                lines[m.group(1), m.group(4)] = m.groups()
            elif not lines:
                top += line
    return top, lines


def disagreements(cases, sws, results):
    out = {}
    for name, peer in results.items():
        for case, (ours, _), (theirs, wrong) in zip(cases, sws, peer):
            same = ours.statuses == theirs.statuses and ours.fate == theirs.fate
            # With the statuses that are wanted, a field can still be wrong.
            detail = "" if not same and not is_like(theirs, case.want) else \
                "; ".join(w for w in wrong if w.startswith("answer"))
            if not same or wrong:
                what = short(theirs) + (" (%s)" % detail if detail else "")
                out[name, case.name] = (name, "wrong" if wrong else "allowed", case.name, what)
    return out


def main():
    program, write = sys.argv[1], "--write" in sys.argv[2:]
    missing = [name for name in PEERS if not find(name)]
    if missing:
        print("not found: %s: install the peers (microbench/install-peers)" % ", ".join(missing),
              file=sys.stderr)
        sys.exit(77)
    cases = read_table(os.path.join(HERE, "conformance.txt"))
    folder = tempfile.mkdtemp(prefix="mely-differential-")
    os.chmod(folder, 0o755)
    www = os.path.join(folder, "www")
    os.mkdir(www)
    make_tree(www)
    time.sleep(0.1)
    results, peers = {}, []
    try:
        with Server(program, www) as server:
            sws = try_all(server.port, cases, www, True)
        for name in PEERS:
            peer = Peer(name, folder, www)
            peers.append(peer)
            results[name] = try_all(peer.port, cases, www, False)
    finally:
        for peer in peers:
            peer.stop()
        shutil.rmtree(folder, ignore_errors=True)
    found = disagreements(cases, sws, results)
    top, lines = read_words()
    print(", ".join("%s %d" % (name, sum(1 for _, wrong in r if not wrong))
                    for name, r in [("sws", sws)] + list(results.items())),
          "of %d cases as their sections ask" % len(cases))
    print("%d disagreements with sws" % len(found))
    if write:
        with open(TABLE, "w", encoding="ascii") as f:
            f.write(top)
            for key, (name, verdict, case, what) in found.items():
                word = lines[key][2] if key in lines else "?"
                f.write("%-8s %-7s %-11s %s -> %s\n" % (name, verdict, word, case, what))
        return
    if "\n# versions: %s\n" % versions() not in top:
        print("the table is of other versions than %s" % versions(), file=sys.stderr)
        sys.exit(77)
    failed = 0
    for key in {**found, **lines}:
        new = found.get(key)
        old = lines.get(key)
        if new is None or old is None or (old[0], old[1], old[3], old[4]) != new:
            print("FAIL: found %s, the table has %s" % (new, old))
            failed += 1
        elif old[2] == "?" or "\n# %s: " % old[2] not in top:
            print("FAIL: not explained: %s" % (old,))
            failed += 1
    print("%d differences to the table" % failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
