#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""notify.py listen SOCKET FILE: writes the first datagram that holds READY=1 to FILE, closes passed descriptors.
notify.py send TEXT: sends TEXT to $NOTIFY_SOCKET."""
import array, os, socket, sys

s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if sys.argv[1] == "send":
    s.sendto(sys.argv[2].encode(), os.environ["NOTIFY_SOCKET"])
    sys.exit(0)
s.bind(sys.argv[2])
s.settimeout(30)
ready = None
while not ready:
    data, control, _, _ = s.recvmsg(4096, socket.CMSG_SPACE(4 * 8))
    for level, kind, payload in control:
        fds = array.array("i")
        fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
        for fd in fds:
            os.close(fd)
    if b"READY=1" in data:
        ready = data
with open(sys.argv[3], "wb") as f:
    f.write(ready)
