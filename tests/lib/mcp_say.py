# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of custody-mcp that says what it is told, for tests/integration/mcp.bats."""
import json
import subprocess

META = "io.modelcontextprotocol/"


class Server:
    def __init__(self, *command):
        command = command or ("/run/custody/custody-mcp",)
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n = 0

    def raw(self, text):
        """Sends TEXT and a line's end."""
        self.p.stdin.write((text if isinstance(text, bytes) else text.encode()) + b"\n")
        self.p.stdin.flush()

    def read(self):
        """The next message; None: the server has ended."""
        line = self.p.stdout.readline()
        return json.loads(line) if line else None

    def send(self, method, params=None, **more):
        self.n += 1
        q = {"jsonrpc": "2.0", "id": self.n, "method": method, **more}
        if params is not None:
            q["params"] = params
        self.raw(json.dumps(q))
        return self.n

    def ask(self, method, params=None, **more):
        n = self.send(method, params, **more)
        r = self.read()
        assert r["id"] == more.get("id", n), r
        return r.get("result", r.get("error"))

    def start(self, revision="2025-11-25"):
        r = self.ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        self.raw('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return r

    def call(self, name, arguments=None, **more):
        """The text of the result, or its error."""
        r = self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})
        if "code" in r:
            return [r["code"], r["message"]]
        text = r["content"][0]["text"]
        return ["ERROR", text] if r["isError"] else text

    def end(self):
        self.p.stdin.close()
        return self.p.wait(60)


def meta(revision="2026-07-28"):
    return {"_meta": {META + "protocolVersion": revision, META + "clientCapabilities": {}}}
