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

@test "terminal: with any descriptor elsewhere, no terminal is allocated" {
	on_terminal -- sh -c '"$CUSTODY" run -- sh -c "test -t 0 || echo NOTTY" </dev/null'
	assert_output_has NOTTY
	on_terminal -- sh -c '"$CUSTODY" run -- sh -c "test -t 1 || echo NOTTY >&2" | cat'
	assert_output_has NOTTY
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
	on_terminal 'send:trap : INT; echo re""ady; cat\n' expect:ready 'send:\x03\x03\x03\x03\n' 'send:\necho $((40+2))\n' expect:42 'send:exit 6\n' -- \
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
