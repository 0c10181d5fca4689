#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command as a caller would that left odd things behind.

usage: caller.py [ignore=SIG[,SIG...]] [deaf=FD[,FD...]] [LIMIT=NUMBER...] -- COMMAND...

ignore: signals that are ignored; deaf: descriptors that are pipes whose reader is gone; LIMIT: nofile, fsize, as, nproc.
"""
import os
import resource
import signal
import sys


def main():
    words = sys.argv[1:]
    split = words.index("--")
    # Python ignores some by itself.
    for sig in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(sig, signal.SIG_DFL)
    limits = []
    for word in words[:split]:
        key, value = word.split("=", 1)
        if key == "ignore":
            for name in value.split(","):
                signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
        elif key == "deaf":
            reader, writer = os.pipe()
            for fd in value.split(","):
                os.dup2(writer, int(fd))
            os.close(reader)
            os.close(writer)
        else:
            limits.append((getattr(resource, "RLIMIT_" + key.upper()), int(value)))
    for limit, number in limits:
        resource.setrlimit(limit, (number, number))
    os.execvp(words[split + 1], words[split + 1:])


main()
