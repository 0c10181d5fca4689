#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal with a script: terminal.py STEP... -- CMD...

  size=ROWSxCOLS   set the window size (before the start, or in a later step: SIGWINCH)
  expect=TEXT      wait until TEXT has been printed after what earlier steps matched
  send=TEXT        type TEXT; \\n and \\xNN are understood

Prints everything the command printed; exits with its status, or 99 when a step does not come true within 60 s."""
import fcntl, os, select, signal, struct, sys, termios, time


def set_size(fd, text):
    rows, cols = text.split("x")
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(cols), 0, 0))


def type_in(master, slave, data, end):
    """Key by key, each once the one before it was read: podman knows its detach keys only so."""
    for n in range(len(data)):
        os.write(master, data[n:n + 1])
        while struct.unpack("i", fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4))[0] and time.monotonic() < end:
            select.select([], [], [], 0.001)


def main():
    cut = sys.argv.index("--")
    steps = [s.split("=", 1) for s in sys.argv[1:cut]]
    master, slave = os.openpty()
    while steps and steps[0][0] == "size":
        set_size(slave, steps.pop(0)[1])
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        os.closerange(3, 100)
        os.execvp(sys.argv[cut + 1], sys.argv[cut + 1:])
    # The slave stays open: the end is the command's exit, because after a detach conmon keeps the terminal as well.
    child = os.pidfd_open(pid)
    seen, matched, end = b"", 0, time.monotonic() + 60
    failed = None
    while True:
        while steps and not (steps[0][0] == "expect" and steps[0][1].encode() not in seen[matched:]):
            what, text = steps.pop(0)
            if what == "expect":
                matched = seen.index(text.encode(), matched) + len(text)
            elif what == "send":
                type_in(master, slave, text.encode().decode("unicode_escape").encode("latin-1"), end)
            elif what == "size":
                set_size(master, text)
        left = end - time.monotonic()
        if left <= 0:
            failed = "no %r" % (steps[0][1] if steps else "end")
            os.kill(pid, signal.SIGKILL)
            break
        ready = select.select([master, child], [], [], left)[0]
        if master in ready:
            seen += os.read(master, 65536)
        elif child in ready:
            break
    _, status = os.waitpid(pid, 0)
    sys.stdout.write(seen.decode("utf-8", "replace").replace("\r\n", "\n"))
    if steps and not failed:
        failed = "it ended before %r" % (steps[0][1],)
    if failed:
        sys.stderr.write("terminal.py: %s\n" % failed)
        return 99
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


sys.exit(main())
