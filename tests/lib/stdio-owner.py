# SPDX-License-Identifier: GPL-2.0-or-later
"""stdio-owner.py DIR COMMAND...: runs COMMAND once per kind of standard input, output and error, all three of that kind:
a device, a file, a FIFO, a socket, a terminal.  Prints a line for each that changed owner, group or mode, and for each
command that failed.  The device is a node in DIR, never one of the host's /dev."""

import os
import pty
import socket
import stat
import subprocess
import sys

where, command = sys.argv[1], sys.argv[2:]


def look(fd):
    s = os.fstat(fd)
    return "%d:%d:%o" % (s.st_uid, s.st_gid, s.st_mode)


def device():
    path = os.path.join(where, "null")
    if not os.path.exists(path):
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(path, 0o666)
    return [os.open(path, os.O_RDWR)]


def regular():
    return [os.open(os.path.join(where, "file"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o640)]


def fifo():
    path = os.path.join(where, "fifo")
    if not os.path.exists(path):
        os.mkfifo(path, 0o640)
    return [os.open(path, os.O_RDWR | os.O_NONBLOCK)]


def pair():
    ends = socket.socketpair()
    return [e.detach() for e in ends]


def terminal():
    master, slave = pty.openpty()
    return [slave, master]


KINDS = [device, regular, fifo, pair, terminal]
if os.geteuid() != 0:
    KINDS.remove(device)
for kind in KINDS:
    fds = kind()
    before = look(fds[0])
    r = subprocess.run(command, stdin=fds[0], stdout=fds[0], stderr=fds[0], timeout=60, check=False)
    if r.returncode != 0:
        print(f"{kind.__name__}: status {r.returncode}")
    if look(fds[0]) != before:
        print(f"{kind.__name__}: {before} became {look(fds[0])}")
    for fd in fds:
        os.close(fd)
