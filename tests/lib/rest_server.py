# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of a forge on loopback, for tests of tools of kind rest: rest_server.py DIR NAME...

One server per NAME: with DIR/NAME.crt and DIR/NAME.key, or without TLS if there is no such file; "tls11" has TLS 1.1 alone.  Writes their ports to
stdout as one line, and each request that arrives to DIR/requests.
"""
import gzip
import html
import http.server
import json
import os
import socketserver
import ssl
import sys
import threading

DIR = sys.argv[1]
LOCK = threading.Lock()
SLOW = threading.Event()
GONE = threading.Event()
FLOOD = 4 * 1024 * 1024


class Forge(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def note(self, body):
        with LOCK, open(os.path.join(DIR, "requests"), "a", encoding="utf-8") as f:
            f.write(json.dumps({"server": self.server.name, "method": self.command, "path": self.path,
                                "headers": {k.lower(): v for k, v in self.headers.items()},
                                "body": body.decode()}) + "\n")

    def answer(self, status, body, kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "session=kept")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def flood(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(FLOOD // 65536):
            self.wfile.write(b"x" * 65536)
        self.close_connection = True

    def raw(self, *parts):
        """As it is, until the client is gone if the last part has no end."""
        self.close_connection = True
        for part in parts:
            self.wfile.write(part)

    def endless(self, start, part):
        self.raw(start)
        while True:
            self.raw(part)

    def html(self):
        """The credential as a page of templates has it."""
        self.answer(401, "<p>".join(["".join("&#x%x;" % ord(c) if c in "/=`'" else html.escape(c)
                                             for c in self.headers.get("Authorization", ""))] * 2).encode(), "text/html")

    def wait_for_end(self):
        """Sends nothing until the client is gone."""
        SLOW.set()
        self.connection.recv(1)
        GONE.set()
        self.close_connection = True

    def answer_after(self, event):
        event.wait()
        self.answer(200, {})

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.note(body)
        path = self.path.split("?")[0]
        special = {
            "/text": lambda: self.answer(200, "gr\u00fc\u00dfe\n".encode(), "text/plain"),
            "/bytes": lambda: self.answer(200, b"\xff\x00", "application/octet-stream"),
            "/missing": lambda: self.answer(404, {"message": "Not Found"}),
            "/redirect": lambda: self.answer(302, {}, Location="/text"),
            "/echo": lambda: self.answer(200, {"got": self.headers.get("Authorization", "")}),
            "/flood": self.flood,
            "/html": self.html,
            "/headers": lambda: self.endless(b"HTTP/1.1 200 OK\r\n", b"X-H: " + b"x" * 1000 + b"\r\n"),
            "/header": lambda: self.endless(b"HTTP/1.1 200 OK\r\nX-H: ", b"x" * 1000),
            "/informed": lambda: self.endless(b"", b"HTTP/1.1 103 Early Hints\r\nX-H: y\r\n\r\n"),
            "/trailers": lambda: self.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-T: x\r\n"),
            "/chunks": lambda: self.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"e" * 1000 + b"\r\nx\r\n"),
            "/bomb": lambda: self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", gzip.compress(bytes(FLOOD * 16))),
            "/twice": lambda: self.raw(b"HTTP/1.1 103 Early Hints\r\netag: zero\r\n\r\nHTTP/1.1 200 OK\r\netag: one\r\nETag: two\r\n"
                                       b"Content-Length: 2\r\n\r\n{}"),
            "/upgrade": lambda: self.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nbytes"),
            "/old": lambda: self.raw(b"plain text without a status\n"),
            "/slow": self.wait_for_end,
            "/after-slow": lambda: self.answer_after(SLOW),
            "/after-gone": lambda: self.answer_after(GONE),
        }
        if path in special:
            special[path]()
        elif self.command == "GET":
            self.answer(200, {"number": int(path.rsplit("/", 1)[1]), "title": "It fails"}, ETag="\"1\"")
        else:
            self.answer(201, {"id": 1, "state": "open"})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    name = ""

    def handle_error(self, request, client_address):
        pass  # A client that refuses the certificate.


def start(name):
    s = Server((os.environ.get("REST_ADDRESS", "127.0.0.1"), 0), Forge)
    s.name = name
    if os.path.exists(os.path.join(DIR, name + ".crt")):
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(os.path.join(DIR, name + ".crt"), os.path.join(DIR, name + ".key"))
        if name == "tls11":
            c.set_ciphers("DEFAULT@SECLEVEL=0")
            c.minimum_version = c.maximum_version = ssl.TLSVersion.TLSv1_1
        s.socket = c.wrap_socket(s.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    return s.server_address[1]


print(" ".join(str(start(n)) for n in sys.argv[2:]), flush=True)
threading.Event().wait()
