#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# broker_say.py SOCKET TOKEN: one call of ping; prints the reply.
import json
import socket
import sys

s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
s.sendall(json.dumps({"token": sys.argv[2], "tool": "ping"}).encode() + b"\n")
print(s.makefile().readline())
