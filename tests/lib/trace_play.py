# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands under observation do: trace_play.py ACTION [ARGUMENT], for tests/integration/trace.bats."""
import ctypes
import ctypes.util
import errno
import os
import platform
import signal
import struct
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
SECCOMP, EXECVE, PTRACE, MOUNT = (317, 59, 101, 165) if X86 else (277, 221, 117, 40)
ALLOW, KILL, NOTIFY = 0x7FFF0000, 0x80000000, 0x7FC00000


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


def call(*args):
    """The errno of a system call; 0: it succeeded."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return ctypes.get_errno() if libc.syscall(*words) == -1 else 0


def filter_of(nr, action):
    """A filter with ACTION for call NR; all others pass."""
    rows = (Instruction * 4)((0x20, 0, 0, 0), (0x15, 0, 1, nr), (0x06, 0, 0, action), (0x06, 0, 0, ALLOW))
    return Program(4, rows), rows


def install(nr, action, flags):
    program, rows = filter_of(nr, action)
    err = call(SECCOMP, 1, flags, ctypes.byref(program))
    return err


def spawn(*argv):
    return os.posix_spawn(argv[0], argv, os.environ)


def names(*errs):
    print(" ".join(errno.errorcode.get(e, str(e)) for e in errs), flush=True)


def deny():
    names(call(PTRACE, 16, 0, 0, 0), call(PTRACE, 16, 0, 0, 0), call(MOUNT, 0, 0, 0, 0, 0))


def listener():
    names(install(MOUNT, NOTIFY, 8), install(MOUNT, NOTIFY, 8 | 32))
    # Without a listener a filter may ask, and gets ENOSYS; nothing becomes possible by it.
    names(install(MOUNT, NOTIFY, 0), call(MOUNT, 0, 0, 0, 0, 0))


def own_filter():
    pid = os.fork()
    if pid == 0:
        if install(EXECVE, KILL, 0) == 0:
            os.execv("/bin/true", ["true"])
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def unreadable():
    here = ctypes.create_string_buffer(b"/bin/true")
    names(call(EXECVE, 1, 0, 0), call(EXECVE, here, 8, 0), call(EXECVE, -4096, -4096, -4096))


def long_list():
    status = os.waitpid(spawn("/bin/true", *(["a" * 100000] * 20)), 0)[1]
    print(os.waitstatus_to_exitcode(status), flush=True)


def long_path():
    names(call(EXECVE, ctypes.c_char_p(b"/" + b"a" * 6000), 0, 0))


def same(n):
    for _ in range(int(n)):
        os.waitpid(spawn("/bin/true"), 0)


def killed(n):
    """Children that are killed at any moment before, in and after their execve."""
    for i in range(int(n)):
        pid = os.fork()
        if pid == 0:
            os.execv("/bin/true", ["true", str(i)])
        if i % 3:
            time.sleep((i % 7) * 0.0001)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    print("done", flush=True)


def exits(n):
    """A thread that waits for an answer while its process exits."""
    for _ in range(int(n)):
        pid = os.fork()
        if pid == 0:
            threading.Thread(target=lambda: os.execv("/bin/true", ["true"]), daemon=True).start()
            os._exit(0)
        os.waitpid(pid, 0)
    print("done", flush=True)


def alarms(n):
    """SIGALRM every millisecond, in every execve."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    good = 0
    for i in range(int(n)):
        pid = os.fork()
        if pid == 0:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            os.execv("/bin/true", ["true", str(i)])
        while True:
            try:
                # Handlers do not survive the execve, the timer does: a slow program dies of it.
                good += os.waitpid(pid, 0)[1] in (0, signal.SIGALRM)
                break
            except InterruptedError:
                continue
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(good, flush=True)


def bomb(n):
    """Processes that execute themselves as fast as they can."""
    line = 'i=0; while [ $i -lt %s ]; do /bin/true $i; i=$((i + 1)); done' % n
    pids = [spawn("/bin/sh", "-c", line) for _ in range(8)]
    for pid in pids:
        os.waitpid(pid, 0)
    print("done", flush=True)


def forever():
    print("ready", flush=True)
    while True:
        try:
            os.waitpid(spawn("/bin/true", str(time.monotonic_ns())), 0)
        except OSError as e:
            names(e.errno)
            time.sleep(0.01)


def waits():
    """Input and output would pass through the supervisor."""
    print("ready", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)
    with open("answer.new", "w") as f:
        sys.stdout = f
        deny()
    os.rename("answer.new", "answer")
    time.sleep(1000)


def child(*args):
    pid = os.fork()
    if pid == 0:
        call(*args)
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def by_descriptor():
    """Programs whose path says nothing: an empty one, one in memory, and one below a directory."""
    execveat, argv = 322 if X86 else 281, (ctypes.c_char_p * 2)(b"innocent", None)
    memory = os.memfd_create("unseen")
    with open("/bin/true", "rb") as f:
        os.write(memory, f.read())
    child(execveat, os.open("/bin/true", os.O_PATH), ctypes.c_char_p(b""), argv, 0, 0x1000)
    child(execveat, memory, ctypes.c_char_p(b""), argv, 0, 0x1000)
    child(execveat, os.open("/bin", os.O_PATH), ctypes.c_char_p(b"true"), argv, 0, 0)


def open_for_writing():
    """Below a descriptor, with flags that cannot be read, and with flags that only their own process can read."""
    os.makedirs("below", exist_ok=True)
    os.close(os.open("by-descriptor", os.O_WRONLY | os.O_CREAT, dir_fd=os.open("below", os.O_PATH)))
    names(call(437, -100, ctypes.c_char_p(b"bad-flags"), 8, 24))
    secret = libc.syscall(447, 0)
    if secret < 0:
        print("no memfd_secret", flush=True)
        return
    import mmap
    os.ftruncate(secret, 4096)
    memory = mmap.mmap(secret, 4096)
    memory[0:24] = struct.pack("QQQ", os.O_WRONLY | os.O_CREAT, 0o600, 0)
    how = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fd = libc.syscall(437, -100, ctypes.c_char_p(b"hidden-flags"), ctypes.c_void_p(how), 24)
    print("made" if fd >= 0 and os.path.exists("hidden-flags") else "refused", flush=True)


def connect(path):
    import socket
    for address in (path, ("127.0.0.1", 9), ("::1", 9)):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        with socket.socket(family) as s:
            print(errno.errorcode[s.connect_ex(address)], flush=True)


globals()[sys.argv[1]](*sys.argv[2:])
