# SPDX-License-Identifier: MIT
"""What the tests in Python share: counted checks, a program under test, raw sockets."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

# Seconds to wait for what must come. Never a criterion: only a hang ends here.
PATIENCE = 60.0


class Checks:
    """Counts checks, from any thread. A failed check is printed, and the test goes on."""

    def __init__(self):
        self.done = 0
        self.failed = 0
        self.lock = threading.Lock()

    def __call__(self, ok, name, detail=""):
        with self.lock:
            self.done += 1
            if not ok:
                self.failed += 1
                print("FAIL: %s %s" % (name, str(detail)[:2000]), flush=True)
        return ok

    def equal(self, got, wanted, name):
        return self(got == wanted, name, "got %r, wanted %r" % (short(got), short(wanted)))

    def finish(self):
        print("%d checks, %d failed" % (self.done, self.failed), flush=True)
        sys.exit(1 if self.failed else 0)


def short(value):
    if isinstance(value, (bytes, str)) and len(value) > 200:
        return value[:200]
    return value


class Program:
    """A program that runs. Its first line on standard output must match the expression ready; the
    match is self.ready. The rest of the output is in self.process.stdout, as bytes; standard error
    goes to a file. An environment value of None removes the variable."""

    def __init__(self, command, ready, env=None, **options):
        environment = dict(os.environ)
        # Other work on the machine may stall a handler: no reason to report on standard error.
        environment.setdefault("MELY_STALL_MS", "0")
        environment.setdefault("MELY_AGE_MS", "0")
        for name, value in (env or {}).items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        # The program shares the position of this file: it appends, and stderr reads from a place.
        self.errors = tempfile.TemporaryFile("a+b", buffering=0)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=environment, **options)
        self.ready_line = self.process.stdout.readline().decode()
        self.ready = re.search(ready, self.ready_line.strip())
        if not self.ready:
            self.process.kill()
            raise RuntimeError("%s did not start: %r %r" %
                               (command[0], self.ready_line, self.stderr()))

    def stderr(self):
        size = os.fstat(self.errors.fileno()).st_size
        return os.pread(self.errors.fileno(), size, 0).decode(errors="replace")

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "hangs"

    def stop(self):
        """Send SIGTERM; the exit status."""
        self.signal()
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def read_all(s):
    """The bytes until the end of the stream; None after a reset."""
    parts = []
    try:
        while (part := s.recv(65536)):
            parts.append(part)
    except ConnectionResetError:
        return None
    return b"".join(parts)


def parse_head(head):
    """(status, headers) of an HTTP answer; the names of the headers in lower case."""
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, value = line.split(":", 1)
        headers[name.lower()] = value.strip()
    return int(lines[0].split(" ")[1]), headers
