# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the broker inside a session, for tests/integration/broker*.bats: one that may misbehave."""
import json
import socket

DIR = "/run/custody"


def token(directory=DIR):
    with open(directory + "/token", encoding="ascii") as f:
        return f.read()


def connect(directory=DIR):
    s = socket.socket(socket.AF_UNIX)
    s.connect(directory + "/broker.sock")
    s.settimeout(60)
    return s


def line(tool, params=None, tok=None):
    q = {"token": token() if tok is None else tok, "tool": tool, "params": params or {}}
    return json.dumps(q).encode() + b"\n"


def reply(s):
    """The next reply; None at the end of the connection."""
    text = b""
    while not text.endswith(b"\n"):
        try:
            part = s.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return None
        text += part
    return json.loads(text)


def ask(s, request):
    try:
        s.sendall(request)
    except BrokenPipeError:
        pass
    return reply(s)


def call(tool, params=None, tok=None):
    """One call with a connection of its own: its data, or the code of the refusal in brackets."""
    with connect() as s:
        r = ask(s, line(tool, params, tok))
    return r["data"] if r["ok"] else [r["code"]]
