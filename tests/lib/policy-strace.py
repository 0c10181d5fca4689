#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What policy lets start at level A, run under strace: it writes, deletes and executes only what its row says.

    tests/lib/policy-strace.py [--full] [--seed N] [--count N] [--share I/N] [--row NAME]... BUILD-DIRECTORY
    tests/lib/policy-strace.py --command 'TEXT' ...

Commands come from the rows of the grammar (each option in each spelling, with the values and operands below) and from the lists
in tests/data/policy.  policy-levels gives their level at a terminal with a writable worktree; those with level A run in a root
of their own, without network, in a small tree with files that a mistake would execute or obey.  Violations are printed, one per
line.  With --command the texts run whatever policy says, and the violations are the result.
"""
import argparse
import collections
import ctypes
import fnmatch
import hashlib
import json
import os
import random
import re
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE, HOME = "/work", "/home/user"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
ENV = {"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8"}
LIMIT_S, START_S = 3, 60  # a command that runs longer has shown what it does; until strace has started it, others have the CPU

# --- commands -----------------------------------------------------------------------------------------------------------------

# Values per kind (command-grammar.h).  "new" would be created, ./evil executed, a.txt overwritten.
VALUES = {
    ":": ["1", "new", "./evil", "a.txt", "%p,1:x"], "#": ["1", "0", "new"], "<": ["a.txt", "-", "missing", "opts"],
    ">": ["new", "a.txt"], "/": ["dir"], "!": ["a.tar", "a.tgz", "new.tar"], "&": ["1p", "s/o/x/w new", "1e ./evil"],
    "=": ["user.name=x", "core.pager=./evil"], "^": ["errexit", "pipefail"],
}
ATTACHED = {"?": ["1", "new", "./evil", "always"], "~": [".bak", "dir/x"], "%": ["oneline", "format:%H", "new"]}
PAIRS = {'"': [["x", "1"]], "$": [["true", ";"], ["./evil", ";"]]}
KINDS = ":#<>?\"/$!&~=%^"
FILES = [["a.txt"], ["dir"], ["missing"], ["-"], ["link"], ["a.txt", "b.txt"], ["b.txt", "new"], ["--", "-o"], ["--", "--output=new"],
         ["a.txt", "link", "dir"], ["out"], ["@opts"], ["a.gz"], ["evil"], ["program"], []]
OPERANDS = {
    "<": FILES, "1": FILES, ">": FILES + [["new"], ["new/er"], ["/tmp/new"], ["a.txt", "dir"]],
    ":": [["1"], ["a.txt"], ["1", "2"], ["new"], ["./evil"], []], "b": [["1"], ["dir"], []], "0": [[]],
    "$": [["true"], ["ls"], ["cat", "a.txt"], ["touch", "new"], ["sort", "-o", "new"], ["./evil"], []], "+": [["+%s"], []],
    "i": [["x"], ["x", "y"]], "v": [["x"], ["x=1"], ["x=new"]], "t": [["-f", "a.txt"], ["x", "=", "y"], ["-x", "evil"]],
    "T": [["-f", "a.txt", "]]"], ["a", "==", "b", "]]"]],
    "s": [["1p", "a.txt"], ["s/o/x/", "a.txt"], ["$d", "link"], ["s/o/x/w new", "a.txt"], ["1e ./evil", "a.txt"], ["w new", "a.txt"]],
    "a": [["{print}", "a.txt"], ["/o/ {print $1}", "a.txt"], ["{print > \"new\"}", "a.txt"], ["BEGIN{system(\"./evil\")}"]],
    "d": [["if=a.txt"], ["if=a.txt", "of=new"]], "n": [["kernel.ostype"], ["kernel.hostname=x"]], "k": [["-l"], ["999999"]],
    "f": [["."], ["dir", "-name", "*.txt"], [".", "-type", "f", "-print"], [".", "-delete"], [".", "-exec", "./evil", ";"],
          [".", "-fprint", "new"], ["-L", "."]],
    "p": [["addr", "show"], ["link"], ["route"], ["link", "set", "lo", "up"], ["-batch", "opts"]],
    "h": [["-c", "true"], ["-c", "cat a.txt"], ["-c", "./evil"], ["a.txt"], ["evil"]], "S": [[], ["--", "a"]],
    "B": [["-tf", "a.tar"], ["tf", "a.tgz"], ["-cf", "new.tar", "dir"], ["-xf", "a.tar"]], "H": [["localhost"]], "x": [["localhost", "true"]],
    "g": [["status"]], "P": [["%s"], ["%s%%\\n", "a.txt"], ["abc%n", "PATH"], ["%-5d", "1"]],
}
BUILTINS = (": [ [[ break builtin cd command continue declare dirs eval exec exit export hash jobs local logout popd pushd read readonly "
            "return set shift test times trap type typeset ulimit umask unset wait").split()
GIT_OPERANDS = [[], ["HEAD"], ["a.txt"], ["HEAD", "--", "a.txt"], ["--", "."], ["main"], ["new"], ["HEAD", "HEAD"], ["list"], ["dir"], ["-m", "x"]]


def spellings(option, value, rng, first, words):
    """OPTION VALUE and OPTION=VALUE; both for the first value, else one of them."""
    apart, joined = [option, value], [option + ("=" if option[:2] == "--" else "") + value]
    return [apart] if words else [apart, joined] if first else [rng.choice((apart, joined))]


def options_of(row, rng):
    """The words of each listed option with each value."""
    words = "words" in row["flags"]
    listed = []
    for i, c in enumerate(row["shorts"]):
        if c not in KINDS or i == 0:
            after = row["shorts"][i + 1:i + 2]
            listed.append(("-" + c, after if after and after in KINDS else ""))
    for name in row["longs"]:
        kind = name[-1] if name[-1] in KINDS else ""
        listed.append((("-" if words else "--") + name[:len(name) - len(kind)], kind))
    for option, kind in listed:
        if row["operands"] == "d":
            yield from ([option[2:] + "=" + value] for value in VALUES[kind])
            continue
        for i, value in enumerate(VALUES.get(kind, [])):
            yield from spellings(option, value, rng, i == 0, words)
        for value in ATTACHED.get(kind, []):
            yield [option + ("=" if option[:2] == "--" else "") + value]
        for values in PAIRS.get(kind, []):
            yield [option] + values
        if not kind or kind in ATTACHED:
            yield [option]


def read_rows(build):
    out = subprocess.run([build + "/tests/unit/test-command-options", "--rows"], check=True, capture_output=True, text=True).stdout
    empty = lambda s: "" if s == "-" else s
    for line in out.splitlines():
        name, flags, operands, shorts, longs, words, _ = line.split("\t")
        yield {"name": name, "flags": flags, "operands": operands, "shorts": empty(shorts), "longs": empty(longs).split(),
               "words": empty(words).split()}


def words_of(row, rng):
    name = row["name"].split()
    operands = GIT_OPERANDS if len(name) > 1 else OPERANDS[row["operands"]]
    if row["words"]:
        operands = [[w] + o for w in row["words"] for o in ([], ["a.txt"])]
    if name[0] == "timeout":
        operands = [["1"] + o for o in operands]
    if name[0] == "[":
        operands = [o + ["]"] for o in operands]
    options = list(options_of(row, rng))
    for o in operands:
        yield name + o
    for option in options:
        yield name + option + operands[0]
        yield name + option + rng.choice(operands)
        if "posix" not in row["flags"] and rng.random() < 0.3:
            yield name + rng.choice(operands) + option
    letters = [o[0][1] for o in options if len(o) == 1 and len(o[0]) == 2]
    for _ in range(len(options) // 3):
        yield name + rng.choice(options) + rng.choice(options) + rng.choice(operands)
        if len(letters) > 1 and "words" not in row["flags"]:
            yield name + ["-" + "".join(rng.sample(letters, 2))] + rng.choice(operands)
    if row["operands"] in "<1>:":
        for option in [[]] + rng.sample(options, min(3, len(options))):
            for pattern in ("*", "*.txt", "dir/*", "-- *", "$x", '"$HOME"'):
                yield ["bash", "-c", " ".join(name + option) + " " + pattern]


def commands_of(row, rng):
    builtin = not shutil.which(row["name"].split()[0], path=PATH) and row["name"] in BUILTINS
    for words in words_of(row, rng):
        quoted = words[1:] if words[0] == "[[" else map(shlex.quote, words[1:])
        yield ["bash", "-c", " ".join([words[0], *quoted])] if builtin and words[0] != "bash" else words


def texts_of_lists():
    for file, column in (("commands.txt", 1), ("everyday.txt", 1), ("hostile.txt", 1), ("evasions.txt", 1), ("unbounded.txt", 0)):
        with open(os.path.join(HERE, "../data/policy", file), encoding="utf-8") as f:
            for line in f:
                parts = line.rstrip("\n").split("\t")
                if line[0] != "#" and len(parts) > column and parts[column]:
                    yield ["sh", "-c", parts[column].replace("^J", "\n").replace("^I", "\t")]


def levels_of(build, commands):
    text = b"".join(b"".join(w.encode() + b"\t" for w in c) + b"\0" for c in commands)
    out = subprocess.run([build + "/tests/lib/policy-levels"], input=text, check=True, capture_output=True).stdout
    levels = out.decode().split()
    if len(levels) != len(commands):
        sys.exit("policy-levels: %d answers to %d commands" % (len(levels), len(commands)))
    return levels


def all_commands(build, rng, only):
    """{row name: [command]} of level A, and how many were judged."""
    sets = collections.OrderedDict()
    for row in read_rows(build):
        if not only or row["name"] in only:
            sets[row["name"]] = list(commands_of(row, rng))
    if not only:
        sets["(lists)"] = list(texts_of_lists())
    flat = [(n, c) for n, cs in sets.items() for c in cs if not any("\t" in w for w in c)]
    allowed, seen = collections.OrderedDict(), set()
    for (name, c), level in zip(flat, levels_of(build, [c for _, c in flat])):
        if level == "A" and tuple(c) not in seen:
            seen.add(tuple(c))
            allowed.setdefault(name, []).append(c)
    return allowed, len(flat)


# --- the root in which they run -------------------------------------------------------------------------------------------------

def mount(source, target, kind=None, flags=0, data=None):
    text = [x.encode() if x is not None else None for x in (source, target, kind)]
    if LIBC.mount(*text, flags, data.encode() if data else None) != 0:
        raise OSError(ctypes.get_errno(), "mount " + target)


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
SYS_MOUNT_SETATTR, AT_RECURSIVE = 442, 0x8000
PR_CAPBSET_DROP = 24
KEPT_CAPS = {0, 1, 3, 4, 5, 6, 7, 19}  # files and strace; not the clock, the kernel's log, the power


def bind(source, root):
    target = root + source
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="ascii"):
            pass
    mount(source, target, None, MS_BIND | MS_REC)


def enter_root():
    """The system's programs read-only; the tree, the home and /tmp are new and empty."""
    root = "/mnt"
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs")
    for name in os.listdir("/"):
        if re.fullmatch("s?bin|lib(32|64|x32)?", name) and os.path.islink("/" + name):
            os.symlink(os.readlink("/" + name), root + "/" + name)
        elif re.fullmatch("s?bin|lib(32|64|x32)?|usr|etc|sys", name):
            bind("/" + name, root)
    for path in ["/dev/" + n for n in ("null", "zero", "full", "random", "urandom", "tty")] + ["/var/lib/dpkg", "/var/spool/cron"]:
        if os.path.exists(path):
            bind(path, root)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + target, root + "/dev/" + name)
    os.mkdir(root + "/proc")
    mount("proc", root + "/proc", "proc")
    writable = [TREE, HOME, "/tmp", "/run", "/var/tmp"]
    for path in writable:
        os.makedirs(root + path, exist_ok=True)
    attr = (ctypes.c_uint64 * 4)(1, 0, 0, 0)  # MOUNT_ATTR_RDONLY
    if LIBC.syscall(SYS_MOUNT_SETATTR, -100, root.encode(), AT_RECURSIVE, attr, 32) != 0:
        raise OSError(ctypes.get_errno(), "mount_setattr")
    for path in writable:
        mount("tmpfs", root + path, "tmpfs")
    os.chroot(root)
    for cap in set(range(64)) - KEPT_CAPS:
        LIBC.prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def make_template(at):
    write(at + "/a.txt", "one\ntwo words\n1 2 3\n")
    write(at + "/b.txt", "one\n1 2 4\n./evil\n")
    write(at + "/dir/c.txt", "three\n")
    write(at + "/dir/sub/d.c", "int main(void) { return 0; }\n")
    for name in ("evil", "dir/evil", "true"):
        write(at + "/" + name, "#!/bin/sh\ntouch %s/executed\n" % TREE, 0o755)
    # Files that are options where a pattern expands to their name, and options where a file is obeyed.
    for name in ("-o", "--output=new", "--compress-program=evil", "-delete", "out"):
        write(at + "/" + name, "x\n")
    write(at + "/opts", "--output=new\nlink set lo up\n")
    os.symlink("a.txt", at + "/link")
    os.symlink("dir", at + "/dirlink")
    shutil.copy("/usr/bin/true", at + "/program")
    script = """tar -cf a.tar dir && tar -czf a.tgz dir && gzip -kc a.txt >a.gz || exit
        git init -q -b main . && rm -f .git/hooks/*.sample && git config user.name x && git config user.email x@localhost || exit
        git add a.txt b.txt dir link && git commit -qm one && echo four >>b.txt && git commit -qam two && git tag v1 && git branch other
        echo five >>b.txt && echo six >>dir/c.txt && git add dir/c.txt"""
    subprocess.run(["sh", "-c", script], cwd=at, env=ENV, check=True, stdout=subprocess.DEVNULL)


# --- before and after -------------------------------------------------------------------------------------------------------------

PLACES = (TREE, HOME, "/tmp", "/var/tmp")


def entry(path, st):
    kind = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}.get(stat.S_IFMT(st.st_mode), "special")
    content = ""
    if kind == "link":
        content = os.readlink(path)
    elif kind == "file":
        with open(path, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()
    xattrs = {n: os.getxattr(path, n, follow_symlinks=False).hex() for n in os.listxattr(path, follow_symlinks=False)}
    return (kind, stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid, st.st_nlink if kind == "file" else 0, content, str(xattrs))


def snapshot():
    """{path: state}; the state ends with the time of the last change of anything."""
    found = {}
    for place in PLACES:
        for base, dirs, files in os.walk(place):
            for name in dirs + files:
                path = os.path.join(base, name)
                st = os.lstat(path)
                found[path] = entry(path, st) + (st.st_ctime_ns if not stat.S_ISDIR(st.st_mode) else 0,)
    return found


def reset():
    for place in PLACES:
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
    shutil.copytree("/run/template", TREE, symlinks=True, dirs_exist_ok=True)
    write("/tmp/other", "of another program\n")
    write(HOME + "/notes", "of the user\n")
    # Where a change of the copy is older than the index, git reads all files again: once here, so that it is not a finding.
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=TREE, env=ENV, check=False, stdout=subprocess.DEVNULL)


# --- one command -------------------------------------------------------------------------------------------------------------------

TRACED = ("chdir,fchdir,clone,clone3,fork,vfork,execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
          "mknod,mknodat,mkdir,mkdirat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,fallocate,setxattr,"
          "lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,utime,utimes,utimensat,futimesat,connect,bind,listen,sendto,"
          "kill,ptrace,process_vm_writev,mount,umount2,pivot_root,chroot,mount_setattr,move_mount,fsopen,open_tree,swapon,swapoff,"
          "reboot,sethostname,setdomainname,settimeofday,clock_settime,adjtimex,clock_adjtime,init_module,finit_module,"
          "delete_module,bpf,keyctl,add_key,io_uring_setup,setns,unshare,quotactl,iopl,ioperm,syslog")


def run_traced(argv):
    """(lines of strace, whether the time limit ended it)"""
    trace_r, trace_w = os.pipe()
    out_r, out_w = os.pipe()
    in_r, in_w = os.pipe()
    os.close(in_w)
    p = subprocess.Popen(["strace", "-f", "--seccomp-bpf", "-y", "-qqq", "-s", "200", "-e", "signal=none", "-e", "trace=?" + TRACED.replace(",", ",?"),
                          "-o", "/proc/self/fd/%d" % trace_w, "--"] + argv, cwd=TREE, env=ENV, stdin=in_r, stdout=out_w,
                         stderr=out_w, pass_fds=[trace_w], start_new_session=True)
    for fd in (trace_w, out_w, in_r):
        os.close(fd)
    chunks, left, out_left, end, late = [], {trace_r, out_r}, 1 << 18, time.monotonic() + START_S, False
    while trace_r in left:
        ready, _, _ = select.select(list(left), [], [], max(0, end - time.monotonic()) if not late else 5)
        if not ready:
            if late:
                break
            late = True
            os.kill(-1, signal.SIGKILL)  # all but this process, which is init of its namespace
        for fd in ready:
            data = os.read(fd, 1 << 16)
            if fd == trace_r:
                end = end if chunks else time.monotonic() + LIMIT_S
                chunks.append(data)
            else:
                out_left -= len(data)
            if not data or (fd == out_r and out_left < 0):
                left.discard(fd)
                os.close(fd)
    for fd in left:
        os.close(fd)
    p.wait()
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return b"".join(chunks).decode("utf-8", "replace").splitlines(), late


def calls_of(lines):
    """(working directory, name, arguments, result) of each call, with the halves of interrupted ones joined."""
    pending, cwds = {}, {}
    for line in lines:
        m = re.match(r"(\d+) +(.*)", line)
        if not m:
            continue
        pid, text = m.groups()
        if text.endswith("<unfinished ...>"):
            pending[pid] = text[:-len("<unfinished ...>")].rstrip()
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = pending.pop(pid, "") + resumed.group(1)
        m = re.match(r"(\w+)\((.*)\) += (.*)$", text)
        if not m:
            continue
        name, args, result = m.groups()
        cwd = cwds.setdefault(pid, TREE)
        if name in ("clone", "clone3", "fork", "vfork"):
            cwds[result] = cwd
        elif name in ("chdir", "fchdir"):
            if result == "0":
                cwds[pid] = path_of(cwd, name, args, result)
        else:
            yield cwd, name, args, result
    for pid, text in pending.items():  # ended within the call
        m = re.match(r"(\w+)\((.*)", text)
        if m and m.group(1) not in ("clone", "clone3", "fork", "vfork", "chdir", "fchdir"):
            yield cwds.get(pid, TREE), m.group(1), m.group(2), "?"


def path_of(cwd, name, args, result):
    """The path that a call names; an open file by its real path."""
    real = re.match(r"\d+<(.*)>$", result)
    if name.startswith("open") and real:
        return real.group(1)
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', args)
    dirfds = re.findall(r"(?:AT_FDCWD|\d+)<([^>]*)>", args)
    text = strings[-1] if name in ("symlink", "symlinkat", "link", "linkat", "rename", "renameat", "renameat2") and strings else \
        strings[0] if strings else ""
    text = re.sub(r"\\([0-7]{1,3}|.)", lambda m: chr(int(m[1], 8)) if m[1].isdigit() else {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
    if text.startswith("/"):
        return os.path.normpath(text)
    if not dirfds and strings:
        return os.path.normpath(os.path.join(cwd, text))
    return os.path.normpath(os.path.join(dirfds[-1], text)) if dirfds else text


QUIET_PATHS = re.compile(r"/dev/(null|tty|zero|full|stdout|stderr|fd/\d+)$|pipe:|/proc/self/fd/\d+$|/proc/\d+/fd/pipe:|socket:|anon_inode:")
SYSTEM_DIRS = tuple(d + "/" for d in PATH.split(":")) + ("/usr/lib/git-core/",)

# What rows say.  Programs that a program is made of, and paths that it may change besides its operands.
RUNS = {
    "git": r"/usr/lib/git-core/git[\w-]*|/usr/bin/git", "tar": r"/bin/(gzip|bzip2|xz|zstd)", "egrep": r"/bin/(grep|sh|dash|bash)",
    "fgrep": r"/bin/(grep|sh|dash|bash)", "which": r"/bin/(sh|dash|bash)", "gunzip": r"/bin/(gzip|sh|dash|bash)",
    "sh": r"/bin/(dash|bash)", "awk": r"/bin/[gm]awk", "xargs": r"/bin/echo",
}
# Programs that create what they are given, or change the times of it; they change no content and remove nothing.
CREATES = {"touch": {"file"}, "mkdir": {"dir"}, "mkfifo": {"special"}, "mktemp": {"file", "dir"}}
EMPTY = hashlib.sha256(b"").hexdigest()
CREATING = {"open", "openat", "mkdir", "mkdirat", "mknod", "mknodat", "utimensat", "chmod", "fchmodat"}
SERVICES = {"crontab": r"/dev/log", "systemctl": r"/run/(systemd|dbus)/", "journalctl": r"/run/systemd/"}


class Judge:
    """What one command may do by its own words."""

    def __init__(self, argv):
        text = " ".join(argv)
        self.words = set(re.split(r"""[\s;|&(){}<>"'`$=]+""", text)) | set(argv)
        self.login = re.match(r"(ba|da)?sh (-\w+ )*(-\w*l|--login)", text)  # runs the profile of the system
        self.programs = {os.path.basename(w) for w in self.words} | {"bash" if argv[0] == "bash" else "sh"}
        self.creates = self.programs & set(CREATES)
        self.subs = {argv[1]} if argv[0] == "git" and argv[1:] else self.programs
        self.git = self.git_paths() if "git" in self.programs else None

    def git_paths(self):
        """A regular expression of the paths that git may change: a read refreshes the index, the others add to .git."""
        if self.subs & {"stash", "checkout"}:  # git can undo their changes of files
            return TREE + "/"
        if self.subs & {"add", "commit", "init", "branch", "tag"}:
            return TREE + "/.git(/|$)"
        return TREE + r"/\.git/index(\.lock)?$"

    def may_run(self, path):
        if not path.startswith(SYSTEM_DIRS):
            return False
        if self.login or os.path.basename(path) in self.programs:
            return True
        return any(re.search("(?:%s)$" % RUNS[p], path) for p in self.programs & set(RUNS))

    def names(self, path):
        """Is PATH, or a directory above a word, one of the words?"""
        if "mktemp" in self.creates and re.match(r"/tmp/tmp\.\w+$", path):
            return True
        for w in self.words:
            real = os.path.realpath(os.path.join(TREE, w))
            if fnmatch.fnmatchcase(path, os.path.join(TREE, w)) or path in (os.path.normpath(os.path.join(TREE, w)), real) or real.startswith(path + "/") or \
                    ("XXX" in w and path.startswith(os.path.join(TREE, w.split("XXX")[0]))):
                return True
        return False

    def may_write(self, name, args, path):
        if QUIET_PATHS.match(path):
            return True
        # A temporary file of its own; the comparison finds one that stays, and a change of another one.
        if name and path.startswith(("/tmp/", "/var/tmp/")):
            return True
        if self.git and (re.match(self.git, path) or ("init" in self.subs and self.names(path.split("/.git")[0]))):
            return True
        if self.creates and name in CREATING and "O_TRUNC" not in args:
            return self.names(path)
        return False

    def may_create(self, state):
        kind, content = state[0], state[5]
        return any(kind in CREATES[p] for p in self.creates) and (kind != "file" or content == EMPTY)

    def may_connect(self, args):
        if "AF_NETLINK" in args or "nscd" in args or "userdb" in args:
            return True
        if "getent" in self.programs and "htons(53)" in args:  # policy says that it uses the network
            return bool(self.programs & {"hosts", "ahosts", "ahostsv4", "ahostsv6", "networks"})
        if "curl" in self.programs and re.search(r'inet_addr\("127\.|"::1"', args):
            return True
        return any(re.search(SERVICES[p], args) for p in self.programs & set(SERVICES))


def violation_of(judge, cwd, name, args, result):
    if name in ("execve", "execveat"):
        path = path_of(cwd, name, args, result)
        tried = result.startswith("-1") and not path.startswith((TREE + "/", "/tmp/", HOME + "/"))
        return None if tried or judge.may_run(path) else "executes " + path
    if name in ("connect", "bind", "listen", "sendto"):
        if name == "listen" or not (judge.may_connect(args) or (name == "sendto" and "NULL, 0" in args)):
            return "%s %s" % (name, args)
        return None
    if name == "kill":
        return None if "timeout" in judge.programs or re.match(r"0, 0|\d+, 0", args) else "kill %s" % args
    if name == "syslog":
        return None if re.search("SYSLOG_ACTION_(READ|READ_ALL|OPEN|CLOSE|SIZE_BUFFER|SIZE_UNREAD) ", args) else "syslog " + args
    path = path_of(cwd, name, args, result)
    if name.startswith("open"):
        if not re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE", args) or result.startswith("-1 ENOENT"):
            return None
    return None if judge.may_write(name, args, path) else "%s %s %s" % (name, path, result if result[:2] == "-1" else "")


def differences(judge, before, after):
    for path in sorted(set(before) | set(after)):
        old, new = before.get(path), after.get(path)
        if old == new or judge.may_write("", "", path):
            continue
        if judge.creates and judge.names(path):
            if judge.may_create(new) if not old else new and old[:-1] == new[:-1]:  # or other times
                continue
        yield "%s %s" % ("removed" if not new else "created" if not old else "changed", path)


def try_command(argv, before):
    judge = Judge(argv)
    lines, late = run_traced(argv)
    found = [violation_of(judge, *call) for call in calls_of(lines)]
    after = snapshot()
    if not lines:
        found.append("strace saw nothing")
    found += list(differences(judge, before, after))
    return sorted({f for f in found if f}), late, after != before


def inside():
    """Commands on stdin, one JSON array per line; results on stdout."""
    commands = [json.loads(line) for line in sys.stdin]
    enter_root()
    os.mkdir("/run/template")
    make_template("/run/template")
    dirty = True
    for argv in commands:
        if dirty:
            reset()
            before = snapshot()
        found, late, dirty = try_command(argv, before)
        print(json.dumps([argv, found, late]), flush=True)


# --- outside -----------------------------------------------------------------------------------------------------------------------

def run_all(commands, jobs):
    """[(argv, violations, late)]"""
    ns = ["unshare", "-m", "-n", "-u", "-i", "-p", "--fork", "--kill-child"] + (["-r"] if os.geteuid() != 0 else [])
    workers = []
    for i in range(jobs):
        source, sink = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        source.writelines(json.dumps(c) + "\n" for c in commands[i::jobs])
        source.seek(0)
        workers.append((subprocess.Popen(ns + [sys.executable, os.path.abspath(__file__), "--inside"], stdin=source, stdout=sink), sink))
    results, bad = [], 0
    for p, sink in workers:
        bad |= p.wait()
        sink.seek(0)
        results += [json.loads(line) for line in sink]
    if bad or len(results) != len(commands):
        sys.exit("policy-strace: %d of %d commands ran" % (len(results), len(commands)))
    return results


def is_installed(argv):
    return shutil.which(argv[0], path=PATH) is not None


def sample_of(allowed, count, rng):
    """One command of each row, and others up to COUNT."""
    rows = {n: rng.sample(cs, len(cs)) for n, cs in allowed.items()}
    first = [cs[0] for cs in rows.values()]
    rest = [c for cs in rows.values() for c in cs[1:]]
    return (rng.sample(first, len(first)) + rng.sample(rest, len(rest)))[:count]


def main():
    p = argparse.ArgumentParser(description="run what policy judges A and look at what it does")
    p.add_argument("--full", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--share", default="1/1")
    p.add_argument("--row", action="append")
    p.add_argument("--command", action="store_true")
    p.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    p.add_argument("--inside", action="store_true")
    p.add_argument("rest", nargs="*")
    a = p.parse_args()
    if a.inside:
        return inside()
    if a.command:
        commands = [["sh", "-c", text] for text in a.rest]
    else:
        rng = random.Random(a.seed)
        allowed, judged = all_commands(a.rest[0], rng, a.row)
        missing = {n for n, cs in allowed.items() if not any(map(is_installed, cs))}
        runnable = {n: [c for c in cs if is_installed(c)] for n, cs in allowed.items() if n not in missing}
        total = sum(map(len, runnable.values()))
        share, shares = map(int, a.share.split("/"))
        commands = sample_of(runnable, total if a.full else a.count, rng)[share - 1::shares]
        print("# %d commands judged, %d of level A can run here, %d run; not installed: %s" %
              (judged, total, len(commands), " ".join(sorted(missing)) or "none"))
    results = run_all(commands, min(a.jobs, len(commands)))
    bad = [(c, found) for c, found, _ in results if found]
    for argv, found in bad:
        print("%s: %s" % (json.dumps(argv), "; ".join(found if a.command else found[:6])))
    print("# %d commands, %d with a violation, %d ended by the time limit" % (len(results), len(bad), sum(r[2] for r in results)))
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
