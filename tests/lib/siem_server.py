# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of syslog over TLS (RFC 5425) on loopback: siem_server.py CERT KEY FILE [N]

Writes its port to stdout as one line, then each message that arrives to FILE, one line each.  With N it writes
"reached" to stdout behind N messages of a connection, and reads on.
"""
import socket
import ssl
import sys

cert, key, path = sys.argv[1:4]
limit = int(sys.argv[4]) if len(sys.argv) > 4 else None
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(cert, key)
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)


def messages(stream):
    """Each complete message: its length as digits, a blank, its bytes."""
    while True:
        digits = b""
        while not digits.endswith(b" "):
            part = stream.read(1)
            if not part:
                return
            digits += part
        text = stream.read(int(digits))
        if len(text) < int(digits):
            return
        yield text


while True:
    plain = listening.accept()[0]
    try:
        s = c.wrap_socket(plain, server_side=True)
        with open(path, "ab", buffering=0) as f:
            for n, text in enumerate(messages(s.makefile("rb")), 1):
                f.write(text + b"\n")
                if n == limit:
                    print("reached", flush=True)
    except (ssl.SSLError, OSError):
        pass  # A client that refuses the certificate, or is killed.
