#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scope-client.py CUSTODY-SCOPE: asks the user's systemd through custody-scope, as a supervisor does (src/cgroup/scope-proto.h)."""
import os
import signal
import socket
import struct
import subprocess
import sys

ID = "20260101T000000Z-00000001"


def ask(pid):
    bus = socket.socket(socket.AF_UNIX)
    bus.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], "systemd/private"))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    def place():
        os.dup2(theirs.fileno(), 100)
        os.dup2(bus.fileno(), 101)
        os.dup2(100, 3)
        os.dup2(101, 4)
    holder = subprocess.Popen([sys.argv[1], ID], preexec_fn=place, close_fds=False)
    theirs.close()
    ours.send(struct.pack("<i", pid))
    code, text = struct.unpack("<i256s", ours.recv(4096))
    return holder, ours, code, text.split(b"\0")[0].decode()


def cgroup(pid):
    with open("/proc/%d/cgroup" % pid) as f:
        return [line[3:].strip() for line in f if line.startswith("0::")][0]


member = subprocess.Popen(["sleep", "1000"])
holder, control, code, text = ask(member.pid)
assert code == 0, text
assert cgroup(member.pid) == cgroup(holder.pid), (cgroup(member.pid), cgroup(holder.pid))
scope = cgroup(member.pid)
print("both in", scope, flush=True)
# The unit exists.
other, end, code, text = ask(member.pid)
print("refused:", text, flush=True)
end.close()
assert other.wait(60) == 0
# A signal to stop does not end the holder; the end of the supervisor does.
holder.send_signal(signal.SIGTERM)
holder.send_signal(signal.SIGINT)
member.kill()
member.wait()
assert holder.poll() is None
control.close()
assert holder.wait(60) == 0
while os.path.exists("/sys/fs/cgroup" + scope):
    subprocess.run(["systemctl", "--user", "list-units"], stdout=subprocess.DEVNULL, timeout=60)
print("gone", flush=True)
# A process that has exited cannot be moved.
other, end, code, text = ask(member.pid)
print("refused:" if code else "moved:", text, flush=True)
