#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A hostile program inside a sandbox that may reach a few hosts.  Each command prints what it got, one line.

dns NAME [TYPE [tcp]]      code and addresses of a question to the stub
ask ADDRESS NAME           the same to another resolver
tls NAME SNI [ADDRESS]     a request over TLS; SNI "-": none
raw HOST PORT              sends stdin, prints the first line that comes, or how the connection ended
all HOST PORT              sends stdin, prints everything that comes
hello NAME TYPE            a ClientHello with an extension of this type more; 0: a second name
keep HOST PORT             sends stdin, prints every line that starts with HTTP/
open FAMILY ADDRESS PORT   connects only
udp ADDRESS PORT           sends one datagram
slow HOST PORT             a head of one byte per 100 ms, until the end
names NAME N               N questions for names below NAME, prints how often each code came
flood HOST PORT N          N connections, all that fit kept open; then prints how many were made
"""

import errno
import os
import resource
import socket
import ssl
import struct
import sys

WAIT_S = 60


def name_of(error):
    if isinstance(error, socket.timeout):
        return "timeout"
    if isinstance(error, ssl.SSLError):
        return "alert" if "ALERT" in str(error) else "tls-error"
    if isinstance(error, socket.gaierror):
        return "no-name"
    return errno.errorcode.get(error.errno, str(error)) if error.errno else type(error).__name__


def question(name, kind):
    labels = b"".join(bytes([len(part)]) + part.encode("latin-1") for part in name.split(".") if part)
    return b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, 1)


def say_answer(query, reply):
    code, count, at, found = reply[3] & 15, reply[7], len(query), []
    for _ in range(count):
        size = int.from_bytes(reply[at + 10 : at + 12], "big")
        found.append(socket.inet_ntoa(reply[at + 12 : at + 16]) if size == 4 else "other")
        at += 12 + size
    print(" ".join([str(code)] + found))


def ask(address, name, kind=1, tcp=False):
    query = question(name, int(kind))
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
    sock.settimeout(WAIT_S)
    sock.connect((address, 53))
    sock.send((struct.pack(">H", len(query)) if tcp else b"") + query)
    reply = sock.recv(4096)
    say_answer(query, reply[2:] if tcp else reply)


def connect(host, port):
    return socket.create_connection((host, int(port)), timeout=WAIT_S)


def tls(name, sni, address=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    conn = context.wrap_socket(connect(address or name, 443), server_hostname=None if sni == "-" else sni)
    conn.sendall(b"GET / HTTP/1.1\r\nHost: " + name.encode() + b"\r\n\r\n")
    print(conn.recv(4096).split(b"\r\n")[0].decode())


def received(conn, end=None):
    """All until the end, or until END is in it."""
    data = b""
    try:
        while not end or end not in data:
            more = conn.recv(65536)
            if not more:
                break
            data += more
    except ConnectionResetError:
        pass
    return data


def raw(host, port):
    conn = connect(host, port)
    conn.sendall(sys.stdin.buffer.read())
    data = received(conn, b"\n")
    if data[:1] == b"\x15":
        print("alert")
    else:
        print(data.split(b"\n")[0].decode("latin-1").strip() or "closed")


def keep(host, port):
    conn = connect(host, port)
    conn.sendall(sys.stdin.buffer.read())
    for line in received(conn).split(b"\n"):
        if line.startswith(b"HTTP/"):
            print(line.decode("latin-1").strip())


def all_(host, port):
    conn = connect(host, port)
    conn.sendall(sys.stdin.buffer.read())
    sys.stdout.write(received(conn).decode("latin-1"))


def vector(size, data):
    return len(data).to_bytes(size, "big") + data


def hello(name, kind):
    server = struct.pack(">H", 0) + vector(2, vector(2, b"\0" + vector(2, name.encode())))
    more = server if kind == "0" else struct.pack(">H", int(kind)) + vector(2, b"\0")
    body = b"\3\3" + bytes(32) + b"\0" + vector(2, b"\x13\x01") + vector(1, b"\0") + vector(2, server + more)
    conn = connect(name, 443)
    conn.sendall(b"\x16\3\1" + vector(2, b"\1" + vector(3, body)))
    print("alert" if received(conn)[:1] == b"\x15" else "closed")


def open_(family, address, port):
    sock = socket.socket(getattr(socket, "AF_" + family), socket.SOCK_STREAM)
    sock.settimeout(WAIT_S)
    sock.connect((address, int(port)))
    print("connected")


def udp(address, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(WAIT_S)
    sock.connect((address, int(port)))
    sock.send(b"x")
    sock.recv(1)
    print("answered")


def slow(host, port):
    conn = connect(host, port)
    conn.settimeout(0.1)
    head, data = b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\nX: " + b"a" * 100000, b""
    for byte in head:
        try:
            conn.send(bytes([byte]))
            data = conn.recv(4096)
            break
        except socket.timeout:
            continue
    print(data.split(b"\n")[0].decode("latin-1").strip() or "closed")


def names(below, n):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(WAIT_S)
    sock.connect(("127.0.0.1", 53))
    codes = {}
    for i in range(int(n)):
        sock.send(question("n%d.%s" % (i, below), 1))
        code = sock.recv(4096)[3] & 15
        codes[code] = codes.get(code, 0) + 1
    print(" ".join("%d:%d" % pair for pair in sorted(codes.items())))


def flood(host, port, n):
    address = (socket.gethostbyname(host), int(port))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kept, made = [], 0
    for _ in range(int(n)):
        conn = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        conn.settimeout(WAIT_S)
        conn.connect(address)
        made += 1
        kept.append(conn)
        if len(kept) > min(most, 4096) - 64:
            kept.pop(0).close()
    print("made", made)


COMMANDS = {
    "dns": lambda name, kind=1, tcp="": ask("127.0.0.1", name, kind, bool(tcp)),
    "ask": ask,
    "tls": tls,
    "raw": raw,
    "all": all_,
    "hello": hello,
    "keep": keep,
    "open": open_,
    "udp": udp,
    "slow": slow,
    "names": names,
    "flood": flood,
}


def main():
    try:
        COMMANDS[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print(name_of(error))
    sys.stdout.flush()
    os._exit(0)


main()
