#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command on a pty and plays a person in front of it.

terminal.py STEP... -- COMMAND...     steps, in order:
	expect:TEXT     until the screen showed TEXT (fails after 60 s)
	send:TEXT       types TEXT; \\xNN and \\n are understood
	size:RxC        changes the window
	kill:SIGNAL     sends a signal to the command
	do:TEXT         runs TEXT in a shell outside of the terminal
Prints the terminal's output; the last line is "mode cooked" or "mode raw", as the terminal was left.  Exits like the command.
"""
import codecs, fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

cut = sys.argv.index("--")
steps, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, master = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, seen = b"", 0


def resize(text):
    rows, columns = map(int, text.split("x"))
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def pull(timeout):
    """One piece of output; False at the end."""
    global shown
    if not select.select([master], [], [], timeout)[0]:
        return True
    try:
        piece = os.read(master, 65536)
    except OSError:
        return False
    shown += piece
    return bool(piece)


def expect(text):
    global seen
    end, want = time.monotonic() + 60, text.encode()
    while want not in shown[seen:]:
        if time.monotonic() > end or not pull(0.1):
            sys.stdout.write(shown.decode(errors="replace"))
            sys.exit("waited in vain for: " + text)
    seen = shown.index(want, seen) + len(want)


def mode():
    flags = termios.tcgetattr(master)[3]
    return "cooked" if flags & termios.ICANON and flags & termios.ECHO else "raw"


for step in steps:
    what, _, text = step.partition(":")
    if what == "expect":
        expect(text)
    elif what == "send":
        os.write(master, codecs.escape_decode(text.replace("\\$", "\\\\$").encode())[0])
    elif what == "size":
        resize(text)
    elif what == "kill":
        os.kill(pid, getattr(signal, "SIG" + text))
    elif what == "do":
        subprocess.run(["sh", "-c", text], check=True)
status, deadline = None, time.monotonic() + 90
while status is None:
    if time.monotonic() > deadline:
        sys.stdout.write(shown.decode(errors="replace"))
        os.kill(pid, signal.SIGTERM)
        sys.exit("the command did not end")
    pull(0.05)
    done, code = os.waitpid(pid, os.WNOHANG)
    status = code if done else None
while select.select([master], [], [], 0)[0] and pull(0):
    pass
end = time.monotonic() + 30
while mode() == "raw" and time.monotonic() < end:
    time.sleep(0.02)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
print("\nmode " + mode())
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
