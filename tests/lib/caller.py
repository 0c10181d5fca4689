#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command as a caller would that left odd things behind.

usage: caller.py [ignore=SIG[,SIG...]] [block=SIG[,SIG...]] [deaf=FD[,FD...]] [STATE=NUMBER...] [LIMIT=NUMBER...] -- COMMAND...

ignore, block: signals that are ignored or blocked; deaf: descriptors that are pipes whose reader is gone; STATE: umask (octal),
nice, sched (real-time priority), ioprio, oom (score adjustment), personality (hexadecimal), slack (ns of timers), timer (seconds),
pdeath (signal), groups (one id), keyring (any number: a session keyring of its own); LIMIT: nofile, fsize, as, nproc, rtprio; nice=limit:NUMBER is RLIMIT_NICE.
"""
import ctypes
import os
import resource
import signal
import sys


def call(number, *words):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(w) for w in words]) < 0:
        raise OSError(ctypes.get_errno(), "call %d" % number)


def numbers(x86_64, aarch64):
    return aarch64 if os.uname().machine == "aarch64" else x86_64


def write_oom(value):
    with open("/proc/self/oom_score_adj", "w") as f:
        f.write(value)


STATE = {
    "umask": lambda v: os.umask(int(v, 8)),
    "nice": lambda v: os.setpriority(os.PRIO_PROCESS, 0, int(v)),
    "sched": lambda v: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(int(v))),
    "ioprio": lambda v: call(numbers(251, 30), 1, 0, int(v)),
    "oom": write_oom,
    "personality": lambda v: call(numbers(135, 92), int(v, 16)),
    "slack": lambda v: call(numbers(157, 167), 29, int(v), 0, 0, 0),
    "pdeath": lambda v: call(numbers(157, 167), 1, int(v), 0, 0, 0),
    "timer": lambda v: signal.setitimer(signal.ITIMER_PROF, int(v)),
    "groups": lambda v: os.setgroups([int(v)]),
    "keyring": lambda v: call(numbers(250, 219), 1, 0),
}


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
        elif key == "block":
            signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, "SIG" + name) for name in value.split(",")])
        elif key == "nice" and value.startswith("limit:"):
            limits.append((getattr(resource, "RLIMIT_NICE", 13), int(value[6:])))
        elif key in STATE:
            STATE[key](value)
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
