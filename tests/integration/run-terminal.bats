#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A command on a terminal.  tests/lib/terminal.py types the input.

load ../lib/suite.bash

setup() {
	suite_setup
}

teardown() {
	custody_teardown
}

# setup_as suite_setup|suite_setup_user: RUN is `custody run` of root or of an ordinary user.
setup_as() {
	custody_teardown
	"$1"
	suite_profile terminal '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	[ "$1" = suite_setup ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$PROFILE"
	RUN=("${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE")
}

on_terminal() {
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" "$@"
}

@test "terminal: one on all three descriptors gives the command one of its own" {
	on_terminal -- "$CUSTODY" run -- sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && echo ALL; exit 3'
	assert_status 3
	assert_output_has /dev/pts/0
	assert_output_has ALL
	assert_output_has "mode cooked"
}

# assert_kinds KINDS REDIRECTIONS: inside, descriptors 0, 1 and 2 are T (the terminal) or - (none), and /dev/tty is T.
assert_kinds() {
	# shellcheck disable=SC2016 # for the inside
	local inside='k=; for fd in 0 1 2; do if [ -t $fd ]; then k=${k}T; else k=$k-; fi; done
		if (: </dev/tty) 2>/dev/null; then k=$k:T; else k=$k:-; fi; echo "kinds $k"; echo "kinds $k" >&2' out
	out=$CUSTODY_HOME/kinds
	rm -f "$out"*
	INSIDE=$inside OUT=$out on_terminal -- sh -c "\"\$@\" -- sh -c \"\$INSIDE\" $2" sh "${RUN[@]}"
	assert_status 0
	[[ $output$(cat "$out"* 2>/dev/null) == *"kinds $1"* ]] || custody_fail "$2: not $1: $output $(cat "$out"*)"
	assert_output_has "mode cooked"
}

@test "terminal: each of stdin, stdout and stderr keeps its own kind" {
	local as
	for as in suite_setup suite_setup_user; do
		setup_as "$as"
		assert_kinds TTT:T ''
		assert_kinds T-T:T '| cat'
		assert_kinds T-T:T '>"$OUT"'
		assert_kinds TT-:T '2>"$OUT"'
		assert_kinds -TT:T '</dev/null'
		assert_kinds T--:T '2>&1 | cat'
		assert_kinds --T:T '</dev/null | cat'
		assert_kinds -T-:T '</dev/null 2>"$OUT"'
		assert_kinds ---:- '</dev/null >"$OUT" 2>"$OUT.2"'
	done
}

@test "terminal: output to a file or a pipe arrives there unchanged, and only there" {
	on_terminal -- sh -c '"$CUSTODY" run -- sh -c "printf \"one\\ntwo\\n\"; echo three >&2" >"$CUSTODY_HOME/out"'
	assert_status 0
	[ "$(od -c "$CUSTODY_HOME/out")" = "$(printf 'one\ntwo\n' | od -c)" ] || custody_fail "$(od -c "$CUSTODY_HOME/out")"
	assert_output_has three
	[[ $output != *one* ]]
	on_terminal -- sh -c '"$CUSTODY" run -- sh -c "printf \"one\\n\"; printf \"two\\n\" >&2" 2>"$CUSTODY_HOME/err"'
	[ "$(od -c "$CUSTODY_HOME/err")" = "$(printf 'two\n' | od -c)" ] || custody_fail "$(od -c "$CUSTODY_HOME/err")"
	assert_output_has one
	[[ $output != *two* ]]
}

@test "terminal: lines typed before a pipe arrive, are shown once, and Ctrl-D is the end" {
	on_terminal expect:ready 'send:hello\n' 'expect:got hello' 'send:\x04' expect:end -- \
		sh -c '"$CUSTODY" run -- sh -c "echo ready >&2; read x; echo got \$x >&2; cat >&2; echo end >&2" | cat'
	assert_status 0
	[ "$(grep -o hello <<<"$output" | wc -l)" -eq 2 ] || custody_fail "$output"
	assert_output_has "mode cooked"
}

@test "terminal: Ctrl-C before a pipe ends both ends of it, as without custody" {
	on_terminal expect:ready 'send:\x03' -- \
		sh -c '"$CUSTODY" run --result "$CUSTODY_HOME/r.json" -- sh -c "echo ready >&2; exec sleep 60" | cat'
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/r.json")
	assert_reason cancelled
	assert_output_has "mode cooked"
}

@test "terminal: a program that reads keys from /dev/tty gets them although stdin is no terminal" {
	local as
	for as in suite_setup suite_setup_user; do
		setup_as "$as"
		on_terminal expect:ready send:q 'expect:got q' -- sh -c '"$@" </dev/null' sh "${RUN[@]}" -- sh -c '
			stty -icanon -echo min 1 </dev/tty; echo ready; k=$(dd bs=1 count=1 </dev/tty 2>/dev/null); echo got $k'
		assert_status 0
		assert_output_has "mode cooked"
	done
}

@test "terminal: keys belong to a pager behind the pipe, not to custody" {
	# shellcheck disable=SC2016
	local pager='
import os, sys, termios, tty
fd = os.open("/dev/tty", os.O_RDWR)
saved = termios.tcgetattr(fd)
tty.setraw(fd)
os.write(fd, b"pager\r\n")
got = b""
while len(got) < 40:
    got += os.read(fd, 1)
termios.tcsetattr(fd, termios.TCSANOW, saved)
os.write(fd, b"read " + got + b"\r\n")'
	PAGER=$pager on_terminal expect:pager send:0123456789 send:0123456789 send:0123456789 send:0123456789 'expect:read 0123' -- \
		sh -c '"$CUSTODY" run -- sh -c "while echo x; do sleep 0.1; done" | python3 -c "$PAGER"'
	assert_output_has "read 0123456789012345678901234567890123456789"
	assert_output_has "mode cooked"
}

@test "terminal: a run in the background is not stopped by the terminal, and gets the keys in the foreground" {
	local as
	for as in suite_setup suite_setup_user; do
		setup_as "$as"
		{ declare -p RUN | sed 's/^declare/& -g/'; echo 'PS1="P> "'; } >"$CUSTODY_HOME/rc"
		on_terminal 'expect:P> ' 'send:"${RUN[@]}" -- sh -c "echo u""p; read x; echo got \$x" &\n' expect:up \
			'send:jobs\n' expect:Running 'send:fg\n' 'expect:"${RUN[@]}"' 'send:hello\n' 'expect:got hello' 'expect:P> ' 'send:exit 7\n' -- \
			bash --rcfile "$CUSTODY_HOME/rc" -i
		assert_status 7
		[[ $output != *Stopped* ]] || custody_fail "$output"
		assert_output_has "mode cooked"
	done
}

@test "terminal: -t gives one to a command that has pipes" {
	run --separate-stderr sh -c 'echo input | "$CUSTODY" run -t -- sh -c "test -t 0 && test -t 1 && echo TTY; read x; echo got \$x" | cat'
	assert_output_has TTY
	assert_output_has "got input"
}

@test "terminal: typed input arrives, and Ctrl-D is the end" {
	on_terminal expect:ready 'send:hello\n' expect:hello 'send:\x04' -- "$CUSTODY" run -- sh -c 'echo ready; cat; echo end; exit 4'
	assert_status 4
	assert_output_has end
	assert_output_has "mode cooked"
}

@test "ROOT-7: terminal: Ctrl-C reaches the command, not custody" {
	on_terminal expect:ready 'send:\x03' -- "$CUSTODY" run --result "$CUSTODY_HOME/r.json" -- \
		sh -c 'trap "echo interrupted; exit 7" INT; echo ready; while :; do sleep 0.1; done'
	assert_status 7
	assert_output_has interrupted
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/r.json")
	assert_reason exited
	on_terminal expect:ready 'send:\x03' -- "$CUSTODY" run -- sh -c 'echo ready; exec sleep 60'
	assert_status 130
}

# Result and evidence of a run that a person interrupted.
assert_cancelled() {
	assert_status 130
	assert_output_has "mode cooked"
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/r.json")
	assert_reason cancelled
	[ -z "$(ls -A "$CUSTODY_ROOT/forensics" 2>/dev/null)" ] || custody_fail "evidence was kept: $(ls "$CUSTODY_ROOT/forensics")"
	[[ $output != *evidence:* ]] || custody_fail "evidence was announced: $output"
}

@test "ROOT-7: terminal: Ctrl-C is cancelled and keeps no evidence, also of a shell that reports its child's end" {
	local as
	for as in suite_setup suite_setup_user; do
		setup_as "$as"
		on_terminal expect:ready 'send:\x03' -- "${RUN[@]}" --result "$CUSTODY_HOME/r.json" -- \
			sh -c 'echo x >new; echo ready; exec sleep 60'
		assert_cancelled
		on_terminal expect:ready 'send:\x03' -- "${RUN[@]}" --result "$CUSTODY_HOME/r.json" -- \
			sh -c 'trap "exit 130" INT; echo ready; read x'
		assert_cancelled
	done
	on_terminal expect:ready 'send:\x1c' -- "${RUN[@]}" --result "$CUSTODY_HOME/r.json" -- sh -c 'echo ready; exec sleep 60'
	assert_status 131
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/r.json")
	assert_reason cancelled
}

@test "ISO-4: terminal: a signal that was not typed is no Ctrl-C: evidence is kept" {
	on_terminal -- "$CUSTODY" run --result "$CUSTODY_HOME/r.json" -- sh -c 'kill -INT $$'
	assert_status 130
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/r.json")
	assert_reason signaled
	[ -n "$(ls -A "$CUSTODY_ROOT/forensics")" ] || custody_fail "no evidence"
}

@test "ROOT-7: terminal: three Ctrl-C end a command that ignores them, two do not" {
	local as
	for as in suite_setup suite_setup_user; do
		setup_as "$as"
		on_terminal expect:ready 'send:\x03\x03' 'expect:Ctrl-C again within 2 seconds ends the command' 'send:go\n' expect:went -- \
			"${RUN[@]}" -- sh -c 'trap "" INT; echo ready; read x; echo went; exit 3'
		assert_status 3
		rm -r "$CUSTODY_ROOT/forensics"
		on_terminal expect:ready 'send:\x03\x03\x03' -- "${RUN[@]}" --result "$CUSTODY_HOME/r.json" -- \
			sh -c 'trap "" INT TERM; echo ready; while :; do sleep 60; done'
		assert_cancelled
	done
}

@test "ROOT-7: terminal: Ctrl-C at the prompt of a shell never ends it" {
	on_terminal 'expect:P> ' 'send:\x03\x03\x03\x03\n' 'expect:P> ' 'send:\necho $((40+2))\n' expect:42 'send:exit 6\n' -- \
		"$CUSTODY" run -e "PS1=P> " -- bash --norc -i
	assert_status 6
	[[ $output != *"Ctrl-C again"* ]]
	on_terminal 'send:sh -c "trap \\"\\" INT; echo rea\\"\\"dy; read x"\n' expect:ready 'send:\x03\x03\x03\x03\n' 'send:\necho $((40+2))\n' expect:42 'send:exit 6\n' -- \
		"$CUSTODY" shell
	assert_status 6
}

@test "terminal: the window's size is the command's, also when it changes" {
	on_terminal size:33x101 expect:33\ 101 size:44x111 expect:44\ 111 'send:\x03' -- \
		"$CUSTODY" run -- sh -c 'trap "stty size" WINCH; stty size; while :; do sleep 0.1; done'
	[ "$status" -ne 1 ] || custody_fail "the size did not arrive"
	assert_output_has "44 111"
}

@test "terminal: set back after a signal to custody, and after its death" {
	on_terminal expect:ready kill:TERM -- "$CUSTODY" run -- sh -c 'echo ready; exec sleep 60'
	assert_status 143
	assert_output_has "mode cooked"
	on_terminal expect:ready kill:KILL -- "$CUSTODY" run -- sh -c 'echo ready; exec sleep 60'
	assert_status 137
	assert_output_has "mode cooked"
	custody_run -- true
	assert_status 0
}

@test "terminal: job control works: own session, own foreground group" {
	on_terminal 'expect:P> ' 'send:sh -c "sleep 50 & echo \$((40+2)); wait"\n' expect:42 'send:\x1a' expect:Stopped 'expect:P> ' \
		'send:kill -9 %1; fg; exit 5\n' -- "$CUSTODY" run -e "PS1=P> " -- bash --norc -i
	assert_status 5
	assert_output_has "mode cooked"
}

@test "terminal: custody shell is a shell on a terminal" {
	on_terminal 'send:echo $((6*7)); tty; exit 9\n' expect:42 -- "$CUSTODY" shell
	assert_status 9
	assert_output_has /dev/pts/0
}

@test "terminal: the prompt of custody shell names the sandbox, and -e PS1 replaces it" {
	on_terminal 'expect:(custody) ' 'send:exit\n' -- "$CUSTODY" shell
	assert_status 0
	on_terminal 'expect:(custody box) ' 'send:exit\n' -- "$CUSTODY" shell --sandbox box --disposable
	assert_status 0
	on_terminal 'expect:own> ' 'send:exit\n' -- "$CUSTODY" shell -e 'PS1=own> '
	assert_status 0
	[[ $output != *'(custody'* ]]
}

@test "terminal: a shell without a terminal is refused, it would wait for ever" {
	run --separate-stderr timeout 60 "$CUSTODY" shell </dev/null
	assert_status 125
	assert_stderr_has "stdin is not a terminal"
	assert_stderr_has "custody run -- sh FILE"
	"$CUSTODY" ledger show --kind session.refused --json | grep -q "stdin is not a terminal"
}

@test "terminal: the command cannot type into the caller's terminal" {
	on_terminal -- "$CUSTODY" run -- python3 -c '
import fcntl, termios
try:
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    print("TYPED")
except OSError as e:
    print("refused", e.errno)'
	[[ $output != *TYPED* ]]
	assert_output_has refused
}
