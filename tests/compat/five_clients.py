# SPDX-License-Identifier: MIT
"""five_clients.py COMMAND...: run an echo server, connect five clients at a time, exchange two lines
with each and close them. Print the output of the server and end with its status. A server that does
not count them all, because its colors are wrong, gets SIGTERM after $PATIENCE seconds."""
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from client import Program  # noqa: E402

server = Program(sys.argv[1:], r"on 127\.0\.0\.1:(\d+)$")
clients = [socket.create_connection(("127.0.0.1", int(server.ready[1])), 60) for _ in range(5)]
for turn in range(2):
    for c in clients:
        c.sendall(b"a line\n")
    for c in clients:
        if not c.recv(100000):
            sys.exit("no answer")
for c in clients:
    c.close()
    time.sleep(0.1)
end = threading.Timer(float(os.environ.get("PATIENCE", 100)), server.signal)
end.start()
print(server.process.stdout.read().decode(), end="")
status = server.process.wait()
end.cancel()
sys.stderr.write(server.stderr())
sys.exit(status)
