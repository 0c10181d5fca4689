#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What real shells run, policy must have seen.

Random shell texts around an `rm -rf /` are given to dash and bash, in a bubblewrap sandbox (or one of custody's own) in which the only
program is an `rm` that writes down its words.  Where it was called with "/", `custody check` of the same text must
say level C with a writable worktree, and in an overlay too, unless the shell computed the target: then the verdict
must have seen a delete of unknown names.  Not part of `make check`: it takes minutes, and a seed that was tried once
says nothing new.

    tests/fuzz/shell-oracle.py [--seed N] [--count N] [--profile FILE] CUSTODY
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FRAGMENTS = """' " ` $( ) ( {_ ;_} ${x:- } \\ ^J ;_ _&&_ _||_ _|_ _&_ # _#_ $' <<E^J ^JE^J <<'E'^J $(( )) [[_ _]] case_a_in_a)_
_;;_esac if_true;_then_ ;_fi while_true;_do_ ;_break;_done for_i_in_1;_do_ ;_done f()_ f eval_ command_ exec_ x= _$x_ "$@" !_
time_ \\^J ^I $IFS {a,b} > < 2>&1 &> >& <<< <( [ ]_ * ? ~ - = a=( _echo_ _true_ _:_ \\" \\' \\` function_g_{_ until_false;_do_ coproc_
"${x:- "${x# "${x+ '}" "}" '} "} ${x:-' '))" )) $((' $((" "$(( ))" ${x:-" }"} "${x:-`echo_ `}" ((x= ${x:-$(( "${x:-"
x=/;_ y=rm;_ $y_ z=-rf;_ $z_ $x; "$x" ${x} ${y:-rm} d=;_ $d/ read_x_<<<_/;_ $(echo_/) $(echo_rm) $(printf_%s_/) `echo_/` {,/} {/,a} {a,{b,/}}
for_x_in_/;_do_ g()_{_ ;_};_g_/ "$1" $1 set_--_/;_ eval_"$( )" x+=/ a=(/);_ "${a[@]}" rm_-rf_ -rf_ / ~
trap_ _EXIT set_--_ alias_z= unset_ ${#x} $# % + @ ^ ;; ;& |& elif_true;_then_ else_ then_ do_ done_ fi_ esac_ in_ }_ { ((""".split()
DELETES = ["rm -rf /", "rm -r -f /", 'r""m -rf /', "\\rm -rf /", "rm -rf '/'"]

# Runs inside: texts (NUL between) -> standard output, a line per text: letters of the shells that called rm with "/".
INSIDE = r"""
import os, resource, signal, subprocess, sys
os.mkdir("/tmp/bin"); os.mkdir("/tmp/w")
with open("/tmp/bin/rm", "w") as f:
    f.write('#!/bin/dash\nfor a; do printf "%s\\001" "$a"; done >> /tmp/calls\nprintf "\\002" >> /tmp/calls\n')
os.chmod("/tmp/bin/rm", 0o755)
def limit():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_NPROC, (64, 64))
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
def deletes(shell, text):
    if os.path.exists("/tmp/calls"):
        os.unlink("/tmp/calls")
    quiet = subprocess.DEVNULL
    p = subprocess.Popen([shell, "-c", text], env={"PATH": "/tmp/bin", "HOME": "/tmp/w"}, cwd="/tmp/w", stdin=quiet,
                         stdout=quiet, stderr=quiet, preexec_fn=limit)
    try:
        p.wait(0.7)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()
    if not os.path.exists("/tmp/calls"):
        return False
    calls = open("/tmp/calls", "rb").read().split(b"\2")
    return any(b"/" in c.split(b"\1") and any(w.startswith(b"-r") for w in c.split(b"\1")) for c in calls)
for text in open(sys.argv[1], "rb").read().split(b"\0")[:-1]:
    print("".join(s[5] for s in ("/bin/dash", "/bin/bash") if deletes(s, text)))
"""


def plain(fragment):
    return fragment.replace("_", " ").replace("^J", "\n").replace("^I", "\t")


def seeds():
    for name in ("commands.txt", "evasions.txt", "unbounded.txt", "everyday.txt"):
        with open(os.path.join(HERE, "../data/policy", name), encoding="utf-8") as f:
            for line in f:
                parts = line.rstrip("\n").split("\t")
                if line.strip() and line[0] != "#":
                    yield parts[min(len(parts) - 1, 1)].replace("^J", "\n").replace("^I", "\t")


def make_text(rng, known):
    pick = lambda: plain(rng.choice(FRAGMENTS))
    if rng.random() < 0.6:
        before, after = rng.randint(1, 5), rng.randint(0, 3)
        return "".join(pick() for _ in range(before)) + rng.choice(DELETES) + "".join(pick() for _ in range(after))
    text = rng.choice(known)
    for _ in range(rng.randint(0, 3)):
        i = rng.randint(0, len(text))
        text = text[:i] + pick() + text[i:]
    i = rng.randint(0, len(text))
    sep = rng.choice(["", "\n", ";", " "])
    return text[:i] + sep + rng.choice(DELETES) + sep + text[i:]


def called(custody, profile, texts):
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory() as root:
        with open(d + "/texts", "wb") as f:
            f.write(b"".join(t.encode() + b"\0" for t in texts))
        with open(d + "/inside.py", "w", encoding="ascii") as f:
            f.write(INSIDE)
        if shutil.which("bwrap"):
            run = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
                   "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
                   "--tmpfs", "/tmp", "--ro-bind", d, "/in", "--chdir", "/in"]
        else:
            run = [custody, "run", "--profile", profile, "--"]
        r = subprocess.run(run + ["/usr/bin/python3", "inside.py", "texts"], cwd=d, env=dict(os.environ, CUSTODY_ROOT=root),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, check=True)
        return r.stdout.decode().split("\n")[:-1]


def level(custody, profile, root, text):
    env = dict(os.environ, CUSTODY_ROOT=root)
    r = subprocess.run([custody, "check", "--json", "--profile", profile, "--", "sh", "-c", text], env=env,
                       capture_output=True, check=False)
    try:
        verdict = json.loads(r.stdout)["verdict"]
        return verdict["level"], {x["id"] for x in verdict["reasons"]}
    except ValueError:
        sys.exit("shell-oracle: custody check failed: " + r.stderr.decode())


def main():
    p = argparse.ArgumentParser(description="compare policy with what dash and bash run")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--profile", default=os.path.join(HERE, "../../profiles/offline.json"), help="with an overlay")
    p.add_argument("custody")
    a = p.parse_args()
    rng, known = random.Random(a.seed), list(seeds())
    texts = [make_text(rng, known) for _ in range(a.count)]
    # A text that begins with a dash is an option; "." runs the script that stands in for rm, never the real one.
    texts = [t for t in texts if t[:1] not in "-+" and ". " not in t and "source " not in t]
    calls = called(a.custody, os.path.realpath(a.profile), texts)
    missed, hits, computed = 0, 0, 0
    with tempfile.TemporaryDirectory() as root:
        writable = os.path.join(root, "writable.json")
        with open(writable, "w", encoding="ascii") as f:
            f.write('{"schema":1,"name":"writable","extends":"offline","workspace":{"mode":"rw"}}')
        os.chmod(writable, 0o600)
        for text, shells in zip(texts, calls):
            if not shells:
                continue
            hits += 1
            overlay, reasons = level(a.custody, os.path.realpath(a.profile), root, text)
            rw, _ = level(a.custody, writable, root, text)
            computed += overlay != "C" and "unknown-delete" in reasons
            if rw != "C" or (overlay != "C" and "unknown-delete" not in reasons):
                missed += 1
                print("missed (%s, %s in an overlay, %s writable): %r" % (shells, overlay, rw, text))
    print("%d texts, %d deleted, %d with a computed target, %d missed" % (len(texts), hits, computed, missed))
    return 1 if missed or not hits else 0


if __name__ == "__main__":
    sys.exit(main())
