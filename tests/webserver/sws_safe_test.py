# SPDX-License-Identifier: MIT
"""The sandbox of sws, its user and its root directory: sws_safe_test.py SWS"""
import ctypes
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from sws_lib import PATIENCE, Checks, Server, make_root, read, remove_root

check = Checks()
SWS = sys.argv[1]


def run(*args, **options):
    p = subprocess.run([SWS, *args], capture_output=True, timeout=PATIENCE, **options)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def status_of(server):
    with open("/proc/%d/status" % server.process.pid) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def wait_for(server, text):
    end = time.monotonic() + PATIENCE
    while text not in server.stderr() and time.monotonic() < end:
        time.sleep(0.005)
    return check(text in server.stderr(), "stderr has %r" % text, server.stderr())


def can_sandbox():
    """Why there can be none here, or None."""
    root = tempfile.mkdtemp(prefix="mely-safe-")
    try:
        with Server(SWS, root, "--sandbox=require") as server:
            server.stop()
    except RuntimeError as e:
        return str(e)
    finally:
        os.rmdir(root)
    return None


def line_about(server):
    return server.process.stdout.readline().decode()


def serves(server, root, what):
    for name in ("page.html", "medium.bin", "large.bin", "empty.txt"):
        r = server.get("/" + name)
        check(r and r.status == 200 and r.body == read(root, name), "%s: %s" % (what, name), r)
    check.equal(server.get("/").body, b"<h1>root</h1>\n", "%s: index" % what)
    check.equal(server.get("/none").status, 404, "%s: 404" % what)


def modes(root):
    www = os.path.join(root, "www")
    with Server(SWS, www, "--sandbox=require") as server:
        line = line_about(server)
        check(re.match(r"sws: sandbox: Landlock ABI \d+, seccomp", line), "the line", line)
        status = status_of(server)
        check.equal(status["NoNewPrivs"], "1", "no new privileges")
        check.equal(status["Seccomp"], "2", "a filter")
        threads = os.listdir("/proc/%d/task" % server.process.pid)
        for thread in threads:
            with open("/proc/%d/task/%s/status" % (server.process.pid, thread)) as f:
                check("\nSeccomp:\t2\n" in f.read(), "a filter for every thread")
        serves(server, root, "require")
        check.equal(server.stop(), 0, "exit status")
        check.equal(server.stderr(), "", "nothing on stderr")
    with Server(SWS, www) as server:
        check(line_about(server).startswith("sws: sandbox: Landlock ABI "), "auto")
    with Server(SWS, www, "--sandbox=off") as server:
        check(line_about(server).startswith("sws: sandbox: off"), "off")
        check.equal(status_of(server)["Seccomp"], "0", "no filter")
    code, out, err = run("--sandbox=partly", www)
    check.equal((code, err), (2, "sws: --sandbox: 'partly' is none of auto|require|off\n"),
                "not a mode")


def links(root):
    """Where the policy for links would allow it, the sandbox does not."""
    www = os.path.join(root, "www")
    for mode, status in (("off", 200), ("require", 403)):
        with Server(SWS, www, "--symlinks", "follow", "--sandbox", mode) as server:
            for name in ("/link-abs", "/link-out"):
                r = server.get(name)
                check.equal(r.status, status, "%s with the sandbox %s" % (name, mode))
            check.equal(server.get("/link-in").status, 200, "a link within the root")
    with Server(SWS, www, "--symlinks", "follow", "--sandbox=require", "--sandbox-read", root) as s:
        check.equal(s.get("/link-out").status, 200, "a link to what --sandbox-read names")
        check.equal(s.get("/link-abs").status, 403, "another link")


def reload(root):
    conf = os.path.join(root, "conf")
    other = tempfile.mkdtemp(prefix="mely-safe-")
    os.mkdir(conf)
    file = os.path.join(conf, "sws.conf")

    def write(text):
        # As editors do: another file takes the place of this one.
        with open(file + ".new", "w") as f:
            f.write(text)
        os.rename(file + ".new", file)

    def say(server, text):
        count = server.stderr().count("\n")
        server.signal(signal.SIGHUP)
        wait_for(server, text)
        return server.stderr().split("\n")[count:]

    with open(os.path.join(other, "index.html"), "w") as f:
        f.write("other")
    one = 'sites = ({ root = "%s/www"; field = "X-Round: %%d"; });\n' % root
    try:
        write(one % 1)
        args = ("--sandbox=require", "--config", file)
        with Server(SWS, os.path.join(root, "www"), *args) as server:
            write('@include "%s/more.conf"\n' % conf + one % 2)
            with open(os.path.join(conf, "more.conf"), "w") as f:
                f.write("header-timeout = 5;\n")
            say(server, "reloaded")
            check.equal(server.get("/page.html").status, 200, "after a reload")
            write('sites = ({ root = "%s"; });\n' % other)
            lines = say(server, "the one before it stays")
            check(any(re.search("cannot serve .*: Permission denied", line) for line in lines),
                  "a root outside", lines)
            check.equal(server.get("/page.html").status, 200, "the old root stays")
            check.equal(server.stop(), 0, "exit status")
        write(one % 1)
        with Server(SWS, os.path.join(root, "www"), "--sandbox-read", other, *args) as server:
            write('sites = ({ root = "%s"; name = "o.example"; });\n' % other)
            say(server, "reloaded")
            with server.connect() as c:
                check.equal(c.get("/", host="o.example").body, b"other", "a root that was named")
    finally:
        shutil.rmtree(other)


def user():
    """For root only: another user, and another root directory."""
    root = make_root()
    www = os.path.join(root, "www")
    os.chmod(root, 0o755)
    daemon = pwd.getpwnam("daemon")
    ids = "\t".join([str(daemon.pw_uid)] * 4)
    try:
        for name in ("daemon", str(daemon.pw_uid), "daemon:%d" % daemon.pw_gid):
            with Server(SWS, www, "--user", name, "--sandbox=off") as server:
                status = status_of(server)
                check.equal(status["Uid"], ids, "--user %s: the user" % name)
                check.equal(status["Gid"], "\t".join([str(daemon.pw_gid)] * 4), "the group")
                check("0" not in status["Groups"].split(), "not in the group of root")
                check.equal(int(status["CapEff"], 16), 0, "no capabilities")
                serves(server, root, "as daemon")
                server.signal(signal.SIGHUP)
                wait_for(server, "reloaded")
                serves(server, root, "as daemon, after a reload")
                check.equal(server.stop(), 0, "exit status")
        with Server(SWS, www, "--user", "12345:54321") as server:
            check.equal(status_of(server)["Uid"], "\t".join(["12345"] * 4), "a number")
            check.equal(status_of(server)["Gid"], "\t".join(["54321"] * 4), "of a group")
            check.equal(status_of(server)["Groups"].strip(), "54321", "and no other group")
        os.chmod(os.path.join(www, "page.html"), 0o600)
        with Server(SWS, www, "--user", "daemon") as server:
            check.equal(server.get("/page.html").status, 403, "a file of root only")
            check("root" not in line_about(server), "it does not say that it is root")
        os.chmod(os.path.join(www, "page.html"), 0o644)
        for name, why in (("no-such-user", "there is no such user"), ("root", "that is root"),
                          ("0", "there is no such user"), ("", "a value is missing"),
                          ("daemon:no-such-group", "there is no such group but that of root"),
                          ("12345", "a number that has no name needs a group, too")):
            code, _, err = run("--user", name, www)
            check(code in (1, 2) and why in err and err.count("\n") == 1, "--user %s" % name, err)
        for more in ([], ["--user", "daemon"]):
            with Server(SWS, "/www", "--chroot", root, *more) as server:
                check.equal(os.readlink("/proc/%d/root" % server.process.pid), root, "the root")
                check.equal(os.readlink("/proc/%d/cwd" % server.process.pid), root, "and here")
                serves(server, root, "beneath --chroot")
                server.signal(signal.SIGHUP)
                wait_for(server, "reloaded")
                serves(server, root, "after a reload")
        code, _, err = run("--chroot", root, "--port", "0", www)
        check(code == 1 and err.startswith("sws: cannot serve"), "a root outside of --chroot", err)
        code, _, err = run("--chroot", root + "/none", "--port", "0", www)
        check.equal((code, err), (1, "sws: --chroot: %s/none: No such file or directory\n" % root),
                    "nowhere")
    finally:
        remove_root(root)


def hand_over(root, *args):
    """The next process begins with the rights that this one began with, and gives them up, too."""
    with Server(SWS, os.path.join(root, "www"), *args) as server:
        before = status_of(server)
        server.signal(signal.SIGUSR2)
        wait_for(server, "has taken over")
        pid = int(re.search(r"process (\d+) has taken over", server.stderr()).group(1))
        with open("/proc/%d/status" % pid) as f:
            after = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        for name in ("Uid", "Gid", "Groups", "Seccomp", "NoNewPrivs", "CapEff"):
            check.equal(after[name], before[name], "%s after a hand-over" % name)
        serves(server, root, "after a hand-over")
        os.kill(pid, signal.SIGTERM)
        check.equal(server.wait(), 0, "exit status of the first")


def not_root(root):
    """The options that only root can have."""
    www = os.path.join(root, "www")
    options = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    os.chmod(root, 0o755)
    for option, value in (("--user", "daemon"), ("--chroot", www)):
        try:
            code, _, err = run(option, value, "--port", "0", www, **options)
        except PermissionError:
            print("not tested: another user may not start sws here")
            return
        if code == 127:
            return
        check(code == 1 and "only root can" in err and err.count("\n") == 1,
              "%s for another user" % option, (code, err))


def low_port(root):
    """A port below 1024 is bound before the user changes."""
    if ctypes.CDLL(None).unshare(0x40000000) != 0:  # CLONE_NEWNET
        print("not tested: no network namespace for a port below 1024")
        return
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    server = subprocess.Popen([SWS, "--port", "80", "--user", "daemon", os.path.join(root, "www")],
                              stdout=subprocess.PIPE)
    try:
        line = server.stdout.readline().decode()
        check(":80/" in line, "port 80", line)
    finally:
        server.kill()
        server.wait()


top = make_root()
os.chmod(top, 0o755)
why_not = can_sandbox()
try:
    if why_not:
        print("no sandbox here: %s" % why_not)
    else:
        modes(top)
        links(top)
        reload(top)
        hand_over(top, "--sandbox=require")
    not_root(top)
    if os.geteuid() == 0:
        user()
        hand_over(top, "--user", "daemon")
        low_port(top)
    else:
        print("not tested, for want of root: --user, --chroot")
finally:
    remove_root(top)
check.finish()
