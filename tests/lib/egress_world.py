#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sandbox must reach only through its rules: a DNS server and servers for TLS, HTTP, SSH.

egress_world.py LOG world CERT KEY    in the network namespace of the internet
egress_world.py LOG decoy             services of the host that runs the sandbox

Each event is one line of JSON in LOG.  Prints "ready".
"""

import json
import os
import socket
import ssl
import sys
import threading
import time

WORLD = "45.33.32.10"
# Answers of DNS: the first, the second, ... and the last for ever.
A = {
    "good.test": [WORLD],
    "plain.test": [WORLD],
    "other.test": [WORLD],
    "a.wild.test": [WORLD],
    "mozilla.cloudflare-dns.com": [WORLD],
    "rebind.test": [WORLD, "127.0.0.1"],
    "loop.test": ["127.0.0.1"],
    "zero.test": ["0.0.0.0"],
    "private.test": ["10.200.0.2"],
    "meta.test": ["169.254.169.254"],
    "azure.test": ["168.63.129.16"],
    "own.test": ["45.33.32.99"],
    "both.test": ["127.0.0.1", WORLD],
    "good.test.corp.test": [WORLD],
    "missing.test.corp.test": [WORLD],
}
AAAA = {
    "mapped.test": "::ffff:127.0.0.1",
    "nat64.test": "64:ff9b::7f00:1",
    "sixtofour.test": "2002:7f00:1::1",
    "loop6.test": "::1",
}
# Both addresses in one answer.
TOGETHER = {"both.test"}

log_fd = -1
lock = threading.Lock()
asked = {}


def log(**event):
    os.write(log_fd, (json.dumps(event) + "\n").encode())


def name_of(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    return ".".join(labels).lower(), at + 1


def addresses(name, kind):
    if kind == 28 and name in AAAA:
        return [socket.inet_pton(socket.AF_INET6, AAAA[name])]
    if kind != 1 or name not in A:
        return []
    if name in TOGETHER:
        return [socket.inet_aton(a) for a in A[name]]
    with lock:
        n = asked[name] = asked.get(name, -1) + 1
    return [socket.inet_aton(A[name][min(n, len(A[name]) - 1)])]


def answer(query):
    name, end = name_of(query)
    kind = int.from_bytes(query[end : end + 2], "big")
    log(event="dns", name=name, type=kind)
    found = addresses(name, kind)
    known = name in A or name in AAAA
    head = query[:2] + (b"\x81\x80" if known else b"\x81\x83") + b"\0\1" + len(found).to_bytes(2, "big") + b"\0\0\0\0"
    body = b"".join(
        b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\1\0\0\0\0" + len(a).to_bytes(2, "big") + a for a in found
    )
    return head + query[12 : end + 4] + body


def serve_dns(sock):
    while True:
        query, peer = sock.recvfrom(4096)
        sock.sendto(answer(query), peer)


def serve_requests(conn, port):
    """As careless as a server can be: everything between two empty lines is a request, also behind the last one."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = conn.recv(65536)
            if not more:
                return
            data += more
        head, data = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        hosts = [line.split(":", 1)[1].strip() for line in lines[1:] if line.lower().startswith("host:")]
        log(event="request", port=port, line=lines[0], hosts=hosts)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nworld\n")
        if "connection: close" in [line.lower() for line in lines]:
            conn.shutdown(socket.SHUT_WR)


def on_name(tls, name, context):
    log(event="sni", name=name)


def serve(conn, port, context):
    try:
        if context:
            conn = context.wrap_socket(conn, server_side=True)
        if port == 22:
            conn.sendall(b"SSH-2.0-world\r\n")
        serve_requests(conn, port)
    except (OSError, UnicodeError):
        pass
    finally:
        conn.close()


def accept(sock, port, context):
    while True:
        conn, _ = sock.accept()
        log(event="connect", port=port, to=conn.getsockname()[0])
        threading.Thread(target=serve, args=(conn, port, context), daemon=True).start()


def listen(port, context=None):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::", port))
    sock.listen(512)
    threading.Thread(target=accept, args=(sock, port, context), daemon=True).start()


def main():
    global log_fd
    log_fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    if sys.argv[2] == "world":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        context.sni_callback = on_name
        dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dns.bind(("0.0.0.0", 53))
        threading.Thread(target=serve_dns, args=(dns,), daemon=True).start()
        listen(443, context)
    else:
        listen(443)
    for port in (22, 80):
        listen(port)
    print("ready", flush=True)
    while True:
        time.sleep(3600)


main()
