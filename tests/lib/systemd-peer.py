#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A peer in place of the user's systemd, at RUNTIME_DIR/systemd/private, for tests of bad answers.

	systemd-peer.py RUNTIME_DIR MODE [CGROUP]

It prints "ready" when it listens, then one line for each request.  MODE:

	hang	accepts and never answers	full	the queue of connections is full
	garbage	answers with other bytes	noise	the same after the greeting
	close	disconnects after the greeting
	error	refuses the request		failed	the job of the scope fails
	other	only another unit's job ends	silent	the reply comes, the end of the job does not
	lie	reports success, does nothing	move	makes the scope in CGROUP and moves the processes
"""
import os
import signal
import socket
import struct
import sys


class Message:
    """The body of a message, of the types that StartTransientUnit has."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def align(self, n):
        self.at = (self.at + n - 1) // n * n

    def number(self):
        self.align(4)
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def string(self):
        n = self.number()
        self.at += n + 1
        return self.data[self.at - n - 1 : self.at - 1].decode()

    def variant(self):
        n = self.data[self.at]
        kind = self.data[self.at + 1 : self.at + 1 + n].decode()
        self.at += n + 2
        if kind == "s":
            return self.string()
        if kind == "b":
            return bool(self.number())
        if kind == "au":
            return [self.number() for _ in range(self.number() // 4)]
        raise ValueError(kind)

    def properties(self):
        end, found = self.number(), {}
        self.align(8)
        end += self.at
        while self.at < end:
            self.align(8)
            key = self.string()
            found[key] = self.variant()
        return found


def put_string(text):
    return struct.pack("<I", len(text)) + text.encode() + b"\0"


def pad(data, n):
    return data + b"\0" * (-len(data) % n)


def message(kind, fields, body):
    head = b""
    for code, signature, value in fields:
        head = pad(head, 8) + bytes([code, len(signature)]) + signature.encode() + b"\0"
        head = pad(head, 4)
        if signature == "u":
            head += struct.pack("<I", value)
        elif signature == "g":
            head += bytes([len(value)]) + value.encode() + b"\0"
        else:
            head += put_string(value)
    first = struct.pack("<cBBBII", b"l", kind, 0, 1, len(body), 7) + struct.pack("<I", len(head))
    return pad(first + head, 8) + body


def read_message(peer):
    first = peer.recv(16, socket.MSG_WAITALL)
    if len(first) < 16:
        return None, b""
    body, serial, head = struct.unpack_from("<III", first, 4)
    peer.recv((head + 7) // 8 * 8, socket.MSG_WAITALL)
    return serial, peer.recv(body, socket.MSG_WAITALL)


def greet(peer):
    """The peer sends its whole greeting at once and needs three lines."""
    got = b""
    while b"BEGIN\r\n" not in got:
        piece = peer.recv(1, 0)
        if not piece:
            return False
        got += piece
    answers = [b"OK 0123456789abcdef0123456789abcdef\r\n"]
    if b"NEGOTIATE_UNIX_FD" in got:
        answers.append(b"AGREE_UNIX_FD\r\n")
    if b"DATA" in got:
        answers.insert(0, b"DATA\r\n")
    peer.sendall(b"".join(answers))
    return True


JOB = "/org/freedesktop/systemd1/job/1"


def job_removed(unit, result, job=JOB):
    body = struct.pack("<I", 1) + put_string(job)
    body = pad(body, 4) + put_string(unit)
    body = pad(body, 4) + put_string(result)
    fields = [(1, "o", "/org/freedesktop/systemd1"), (2, "s", "org.freedesktop.systemd1.Manager"), (3, "s", "JobRemoved"), (8, "g", "uoss")]
    return message(4, fields, body)


def move(cgroup, unit, pids):
    scope = os.path.join(cgroup, unit)
    os.mkdir(scope)
    for pid in pids:
        with open(os.path.join(scope, "cgroup.procs"), "w") as f:
            f.write(str(pid))


def answer(peer, mode, cgroup):
    serial, body = read_message(peer)
    if serial is None:
        return
    m = Message(body)
    unit, _, properties = m.string(), m.string(), m.properties()
    print("asked", unit, properties["Delegate"], len(properties["PIDs"]), properties["Description"], flush=True)
    if mode == "error":
        text = put_string("the unit \x1b[31mexists\nalready")
        peer.sendall(message(3, [(5, "u", serial), (4, "s", "org.freedesktop.systemd1.UnitExists"), (8, "g", "s")], text))
        return
    if mode == "move":
        move(cgroup, unit, properties["PIDs"])
    reply = message(2, [(5, "u", serial), (8, "g", "o")], put_string(JOB))
    if mode == "silent":
        peer.sendall(reply)
    elif mode == "other":
        peer.sendall(reply + job_removed("other.scope", "done", JOB + "0"))
    else:
        # The end of the job may overtake the reply.
        peer.sendall(job_removed(unit, "failed" if mode == "failed" else "done") + reply if mode == "failed" else reply + job_removed(unit, "done"))


def main():
    directory, mode = sys.argv[1], sys.argv[2]
    path = os.path.join(directory, "systemd", "private")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(0 if mode == "full" else 8)
    held = []
    if mode == "full":
        try:
            while True:
                held.append(socket.socket(socket.AF_UNIX))
                held[-1].setblocking(False)
                held[-1].connect(path)
        except BlockingIOError:
            pass
    print("ready", flush=True)
    while mode == "full":
        signal.pause()
    while True:
        peer, _ = server.accept()
        held.append(peer)
        if mode == "hang":
            continue
        if mode == "garbage":
            peer.sendall(b"\xff\0GARBAGE\r\n" * 512)
            continue
        if not greet(peer):
            continue
        if mode == "noise":
            peer.sendall(b"\xff\0GARBAGE\r\n" * 512)
        elif mode == "close":
            peer.close()
        else:
            answer(peer, mode, sys.argv[3] if len(sys.argv) > 3 else "")


main()
