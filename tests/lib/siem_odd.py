# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver on loopback that is none: siem_odd.py MODE CERT KEY.  Writes its port to stdout as one line.

MODE: silent (takes connections and says nothing), garbage (answers with bytes that are no TLS), endless (a TLS handshake, then bytes without
end), old (TLS 1.1 at most), closing (hangs up behind the handshake).
"""
import socket
import ssl
import sys
import threading
import warnings

warnings.simplefilter("ignore")
mode, cert, key = sys.argv[1:4]
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(cert, key)
if mode == "old":
    c.set_ciphers("ALL:@SECLEVEL=0")
    c.minimum_version, c.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)


def serve(plain):
    try:
        if mode == "silent":
            while plain.recv(65536):
                pass
        elif mode == "garbage":
            plain.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + b"\0\xff" * 100000)
        else:
            s = c.wrap_socket(plain, server_side=True)
            while mode == "endless":
                s.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 60000)
        plain.close()
    except (ssl.SSLError, OSError):
        pass


kept = []
while True:
    kept.append(listening.accept()[0])
    threading.Thread(target=serve, args=(kept[-1],), daemon=True).start()
