#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The question at a terminal.  tests/lib/terminal.py types the answers.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	approval_setup
}

teardown() {
	custody_teardown
}

@test "card: yes starts it, once" {
	on_terminal 'expect:Approve?' 'send:y\n' -- "$CUSTODY" run -- echo ask yes
	assert_status 0
	assert_output_has $'\nask yes'
	assert_output_has "mode cooked"
	[ "$(records approval.grant)" = 1 ]
	[ "$(grants '.grants[0].state')" = consumed ]
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- echo ask yes
	assert_status 114
}

@test "card: No is the answer of Enter, of anything else, and of the end of input" {
	for answer in '\n' 'n\n' 'yep\n' 'y' '\x04'; do
		case $answer in y) keys='y\x04\x04' ;; *) keys=$answer ;; esac
		on_terminal 'expect:Approve?' "send:$keys" -- "$CUSTODY" run -- echo ask "not $answer"
		assert_status 114
		[[ $output != *$'\nask not'* ]]
		assert_output_has "mode cooked"
	done
	[ "$(grants '.grants | length')" = 0 ]
	[ "$(records approval.deny)" -ge 3 ]
}

@test "card: Ctrl-C and signals are No, and the terminal is as it was" {
	on_terminal 'expect:Approve?' 'send:\x03' -- "$CUSTODY" run -- echo ask interrupted
	assert_status 130
	assert_output_has "mode cooked"
	on_terminal 'expect:Approve?' kill:TERM -- "$CUSTODY" run -- echo ask terminated
	assert_status 143
	assert_output_has "mode cooked"
	on_terminal 'expect:Approve?' kill:HUP -- "$CUSTODY" run -- echo ask hung
	assert_status 129
	[ "$(grants '.grants | length')" = 0 ]
	[ "$(records session.start)" = 0 ]
}

@test "card: input typed before the question does not answer it" {
	on_terminal expect:ready 'send:y\ny\ny\n' 'expect:Approve?' 'send:\n' -- \
		sh -c 'echo ready; python3 -c "import select; select.select([0], [], [])"; exec "$CUSTODY" run -- echo ask typed'
	assert_status 114
	[[ $output != *$'\nask typed'* ]]
	[ "$(grants '.grants | length')" = 0 ]
}

@test "card: nothing in the command can forge it" {
	# Not the question that the command shows.
	on_terminal 'expect:  digest' 'expect:Approve?' 'send:n\n' -- env LC_ALL=C.UTF-8 "$CUSTODY" run -- echo ask \
		$'\e[2J\e[H' $'x\n  level      A: harmless\nApprove? [y/N/v] y' $'\xe2\x80\xaegpj.sh' $'\r\xc2\x9b1A' 'a b'
	assert_status 114
	[[ $output != *$'\e'* ]]
	[[ $output != *$'\xe2\x80\xae'* ]]
	[ "$(grep -c '^  level ' <<<"$output")" = 1 ]
	assert_output_has "\\x1b[2J"
	assert_output_has "\\u202e"
}

@test "card: forty columns, and color only where it is wanted" {
	on_terminal 'expect:Approve?' 'send:n\n' -- sh -c 'stty cols 40; exec "$CUSTODY" run -- echo ask a/very/long/path/that/does/not/fit/into/a/line x'
	assert_status 114
	[ "$(sed '/Approve?/,$d' <<<"$output" | awk 'length($0) > 40' | wc -l)" = 0 ]
	on_terminal 'expect:Approve?' 'send:n\n' -- env -u NO_COLOR TERM=xterm "$CUSTODY" run -- echo ask color
	[[ $output == *$'\e[1m'* ]]
	on_terminal 'expect:Approve?' 'send:n\n' -- env -u NO_COLOR TERM=dumb "$CUSTODY" run -- echo ask dumb
	[[ $output != *$'\e'* ]]
}

@test "card: cut text is marked, and v shows all of it" {
	long=$(printf 'word%04d ' {1..600})
	# shellcheck disable=SC2086 # many words
	on_terminal 'expect:Approve?' 'send:v\n' 'expect:word0300' 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- echo ask $long
	assert_status 114
	assert_output_has "bytes are not shown here"
	first=${output%%Approve\?*}
	[[ $first != *word0300* ]]
	[[ $first == *word0001* && $first == *word0600* ]]
}

@test "card: it shows changes since the last approval" {
	on_terminal 'expect:Approve?' 'send:y\n' -- "$CUSTODY" run -- echo ask before
	assert_status 0
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- echo ask after
	assert_output_has "'argv[2]': was before, is after"
}

@test "card: --yes is an answer at a terminal, for level B" {
	on_terminal -- "$CUSTODY" run --yes -- echo ask quick
	assert_status 0
	assert_output_has "ask quick"
	set_pin 271828
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run --yes -- sh -c 'rm -rf *'
	assert_status 114
}

@test "GOV-10: level C asks for the PIN, does not show it, and starts once" {
	touch keep
	set_pin 271828
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:271828\n' -- "$CUSTODY" run -- sh -c 'rm -rf *; echo gone'
	assert_status 0
	assert_output_has gone
	[[ $output != *271828* ]]
	assert_output_has "mode cooked"
	[ -e keep ]
	[ "$(grants '.grants[0].level')" = C ]
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- sh -c 'rm -rf *; echo gone'
	assert_status 114
	! grep -r 271828 "$CUSTODY_ROOT" || custody_fail "the PIN is in a file"
}

@test "GOV-10: three wrong PINs lock it, and a restart does not help" {
	set_pin 271828
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN of' 'send:111111\n' 'expect:2 tries left' 'expect:PIN of' 'send:222222\n' \
		'expect:1 try left' 'expect:PIN of' 'send:333333\n' -- "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	[[ $output != *333333* ]]
	assert_output_has locked
	on_terminal -- "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	assert_output_has locked
	on_terminal -- "$CUSTODY" approve "$(pending '.requests[0].id')"
	assert_status 125
	assert_output_has locked
	[ "$(records pin.try)" = 3 ]
	[ "$(grants '.grants | length')" = 0 ]
}

@test "GOV-10: no PIN: 114, and the command that sets one" {
	on_terminal -- "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	assert_output_has "custody pin set"
	[[ $output != *Approve\?* ]]
}

@test "GOV-10: a PIN is asked for twice, checked, and its old one comes first" {
	on_terminal 'expect:6 to 64 digits' 'expect:new PIN: ' 'send:123456\n' 'expect:new PIN: ' 'send:12\n' \
		'expect:new PIN: ' 'send:271828\n' 'expect:again' 'send:271829\n' -- "$CUSTODY" pin set
	assert_status 125
	assert_output_has 'the two PINs differ; nothing was changed'
	on_terminal 'expect:new PIN: ' 'send:123456\n' 'expect:new PIN: ' 'send:314159\n' 'expect:again' 'send:314159\n' -- "$CUSTODY" pin set
	assert_status 0
	on_terminal 'expect:old PIN: ' 'send:314159\n' 'expect:new PIN: ' 'send:111111\n' 'expect:new PIN: ' 'send:111111\n' \
		'expect:new PIN: ' 'send:111111\n' -- "$CUSTODY" pin set
	assert_status 125
	# The old one still holds.
	on_terminal 'expect:old PIN: ' 'send:314159\n' \
		'expect:new PIN: ' 'send:271828\n' 'expect:again' 'send:271828\n' -- "$CUSTODY" pin set
	assert_status 0
	[[ $output != *271828* ]]
	on_terminal 'expect:old PIN: ' 'send:999999\n' 'expect:new PIN: ' 'send:314159\n' 'expect:again' 'send:314159\n' -- "$CUSTODY" pin set
	assert_status 1
	run --separate-stderr set_pin 314159 271828
	assert_status 0
	run --separate-stderr set_pin 271828 271828
	assert_status 1
	run --separate-stderr alone "$CUSTODY" pin set
	assert_status 125
}

@test "card: killed while the PIN is typed, the terminal echoes again" {
	set_pin 271828
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN of' kill:KILL -- "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 137
	assert_output_has "mode cooked"
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN of' 'send:\x03' -- "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 130
	assert_output_has "mode cooked"
}

@test "card: a process in the background does not stop for it" {
	on_terminal -- bash -c 'set -m; "$CUSTODY" run -- echo ask background & wait $!'
	assert_status 114
	assert_output_has background
	assert_output_has "custody approve"
}

@test "card: a program that has the terminal in raw mode keeps it" {
	on_terminal -- sh -c 'stty -icanon; "$CUSTODY" run -- echo ask raw; s=$?; stty icanon; exit $s'
	assert_status 114
	assert_output_has "raw mode"
}

@test "card: not more questions than prompt_rate allows" {
	approval_config '"prompt_rate":1'
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- echo ask one
	assert_status 114
	on_terminal -- "$CUSTODY" run -- echo ask two
	assert_status 114
	assert_output_has prompt_rate
	[[ $output != *Approve\?* ]]
	# On request the card is shown again.
	on_terminal 'expect:Approve?' 'send:y\n' -- "$CUSTODY" approve "$(pending '.requests[] | select(.state == "open") | .id')"
	assert_status 0
}

@test "card: approve asks, No leaves the request" {
	ask later
	on_terminal 'expect:Approve?' 'send:\n' -- "$CUSTODY" approve "$request"
	assert_status 1
	[ "$(pending '.requests[0].state')" = open ]
	on_terminal 'expect:Approve?' 'send:\x03' -- "$CUSTODY" approve "$request"
	assert_status 130
	on_terminal 'expect:Approve?' 'send:y\n' -- "$CUSTODY" approve "$request"
	assert_status 0
	[ "$(pending '.requests | length')" = 0 ]
}

@test "card: approved in a second terminal while the first waits" {
	local socket=$CUSTODY_HOME/tmux shown=$CUSTODY_HOME/shown
	# Names of their own and a colon: a bare "t" is also how a window begins that is still called after its tmux.
	tmux -S "$socket" -f /dev/null new-session -d -x 100 -y 50 -s people -n first "exec cat" 3>&-
	alone "$CUSTODY" run --wait -- echo ask tmux >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	waiter=$!
	wait_until grep -q 'custody approve' "$CUSTODY_HOME/err"
	line=$(grep -o 'CUSTODY_ROOT=.*custody approve .*' "$CUSTODY_HOME/err")
	tmux -S "$socket" new-window -t people: -n second "PATH=$PATH $line; exec cat" 3>&-
	sees() {
		tmux -S "$socket" capture-pane -p -t people:second >"$shown" && grep -q "$1" "$shown"
	}
	wait_until sees 'Approve?'
	[ ! -s "$CUSTODY_HOME/out" ]
	tmux -S "$socket" send-keys -t people:second y Enter
	wait "$waiter"
	[ "$(cat "$CUSTODY_HOME/out")" = "ask tmux" ]
	wait_until sees approved
	tmux -S "$socket" kill-server
}

@test "card: the same for an ordinary user, and a PIN does not keep the run from starting" {
	approval_setup_user
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/p.json"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/p.json"
	as_user=("${CUSTODY_AS[@]}" "$CUSTODY")
	on_terminal 'expect:Approve?' 'send:y\n' -- "${as_user[@]}" run --profile "$CUSTODY_HOME/p.json" -- echo ask user
	assert_status 0
	assert_output_has $'\nask user'
	printf '271828\n' | "${as_user[@]}" pin set --pin-fd 0
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN of' 'send:271828\n' -- \
		"${as_user[@]}" run --profile "$CUSTODY_HOME/p.json" -- sh -c 'rm -rf *; echo gone'
	assert_status 0
	assert_output_has gone
}
