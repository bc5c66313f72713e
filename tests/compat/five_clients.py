# SPDX-License-Identifier: MIT
"""five_clients.py COMMAND...: run a server that prints its port, connect five clients at a time,
have each answered, close them; print what the server prints, end with its status. A server that has
lost count of them, which is what a color is for, is told to end."""
import os
import re
import socket
import subprocess
import sys
import threading
import time

server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
found = None
while not found:
    line = server.stdout.readline()
    if not line:
        sys.exit(99)
    found = re.search(r"on 127\.0\.0\.1:(\d+)$", line)
clients = [socket.create_connection(("127.0.0.1", int(found[1])), 60) for _ in range(5)]
for turn in range(2):
    for c in clients:
        c.sendall(b"GET /sws.cc HTTP/1.1\r\nHost: here\r\n\r\n")
    for c in clients:
        if not c.recv(100000):
            sys.exit("no answer")
for c in clients:
    c.close()
    time.sleep(0.1)
end = threading.Timer(float(os.environ.get("PATIENCE", 100)), server.terminate)
end.start()
print(server.stdout.read(), end="")
status = server.wait()
end.cancel()
sys.exit(status)
