#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The first hour of a new user, typed at a shell in tmux: clone, run, diff, apply, continue, approve, crash, evidence, prune.
# Each step checks the screen and the file system, because a user believes the screen.

load ../lib/suite.bash

setup() {
	suite_setup
	umask 022
}

teardown() {
	[ ! -S "${CUSTODY_HOME:-}/tmux" ] || tmux -S "$CUSTODY_HOME/tmux" kill-server
	custody_teardown
}

# shell_open: an interactive shell in a window of tmux, in the worktree, as CUSTODY_AS.  Each prompt signals the channel
# "prompt", so that the next line is typed when the one before has ended.
shell_open() {
	mkdir "$CUSTODY_HOME/bin"
	ln -s "$CUSTODY" "$CUSTODY_HOME/bin/custody"
	cat >"$CUSTODY_HOME/rc" <<-END
		PATH=$CUSTODY_HOME/bin:$PATH PS1='\$ ' NO_COLOR=1 PAGER=cat GIT_CONFIG_NOSYSTEM=1
		export PATH NO_COLOR PAGER GIT_CONFIG_NOSYSTEM
		${PROFILE:+export CUSTODY_PROFILE=$PROFILE}
		unset PROMPT_COMMAND HISTFILE
		PROMPT_COMMAND='echo "status \$?"; tmux -S $CUSTODY_HOME/tmux wait-for -S prompt'
	END
	chmod 0644 "$CUSTODY_HOME/rc"
	"${CUSTODY_AS[@]}" tmux -S "$CUSTODY_HOME/tmux" -f /dev/null new-session -d -x 140 -y 2000 -s hour \
		"exec bash --noprofile --rcfile $CUSTODY_HOME/rc -i" 3>&-
	at_prompt
}

tmux_() {
	"${CUSTODY_AS[@]}" tmux -S "$CUSTODY_HOME/tmux" "$@"
}

at_prompt() {
	timeout 120 "${CUSTODY_AS[@]}" tmux -S "$CUSTODY_HOME/tmux" wait-for prompt || {
		screen
		custody_fail "no prompt within 120 s; on the screen: $output"
	}
}

# screen: sets $output to the lines since the last line was typed, $status to the status of the last command.
screen() {
	output=$(tmux_ capture-pane -p -J -t hour: | sed '/^\$ *$/d')
	status=$(sed -n 's/^status \([0-9]*\)$/\1/p' <<<"$output" | tail -n 1)
}

# keys TEXT: types a line and does not wait.
keys() {
	tmux_ send-keys -t hour: -R
	tmux_ clear-history -t hour:
	tmux_ send-keys -t hour: -l "$1"
	tmux_ send-keys -t hour: Enter
}

# answer TEXT KEYS: types KEYS when the screen shows TEXT.
answer() {
	wait_until shows "$1"
	tmux_ send-keys -t hour: -l "$2"
	tmux_ send-keys -t hour: Enter
}

shows() {
	screen
	[[ $output == *"$1"* ]]
}

# types LINE STATUS TEXT...: LINE ends with STATUS, and the screen shows each TEXT.
types() {
	keys "$1"
	at_prompt
	ended "${@:2}"
}

ended() { # STATUS TEXT...
	local text
	screen
	assert_status "$1"
	for text in "${@:2}"; do
		[[ $output == *"$text"* ]] || custody_fail "the screen lacks '$text'"
	done
}

the_hour() {
	local project=$CUSTODY_HOME/work/app origin=$CUSTODY_HOME/work/origin
	"${CUSTODY_AS[@]}" git init -q -b main "$origin"
	printf 'all:\n\tcp in out\n' | "${CUSTODY_AS[@]}" tee "$origin/build.mk" >/dev/null
	echo one | "${CUSTODY_AS[@]}" tee "$origin/in" >/dev/null
	"${CUSTODY_AS[@]}" git -C "$origin" add .
	"${CUSTODY_AS[@]}" git -C "$origin" -c user.name=u -c user.email=u@example.org commit -qm first
	shell_open

	types "git clone -q $origin app && cd app" 0
	# Run, and the line that says where the result is.
	types 'custody run -- make -f build.mk' 0 'cp in out' 'custody: 1 file changed in a copy' 'custody diff' 'custody apply'
	[ ! -e "$project/out" ]
	types 'custody diff' 0 '+one' 'b/out'
	types 'custody apply' 0
	[ "$(cat "$project/out")" = one ]

	# Two runs that build on each other; nothing outside until apply.
	types "custody run -- sh -c 'echo two >in'" 0 '1 file changed'
	types 'custody run --continue -- make -f build.mk' 0 'cp in out'
	[ "$(cat "$project/in" "$project/out")" = "one
one" ]
	types 'custody diff' 0 '-one' '+two' 'b/in' 'b/out'
	types 'custody apply' 0
	[ "$(cat "$project/in" "$project/out")" = "two
two" ]

	# A command that deletes everything needs a person with a PIN.
	keys 'custody pin set'
	answer 'new PIN' 271828
	answer 'again' 271828
	at_prompt
	ended 0
	keys "custody run -- sh -c 'rm -rf *; ls'"
	answer 'Approve?' n
	at_prompt
	ended 114
	[ "$(cat "$project/in")" = two ]
	keys "custody run -- sh -c 'rm -rf *; ls'"
	answer 'Approve?' y
	answer 'PIN of' 271828
	at_prompt
	ended 0 'changed in a copy'
	[ "$(cat "$project/in")" = two ]
	types 'custody discard' 0

	# A crash, its evidence, and the worktree as it was.
	types "custody run -- sh -c 'echo wreck >state; kill -SEGV \$\$'" 139 'evidence'
	types 'custody evidence ls' 0 'signaled'
	types 'custody evidence show' 0 'signaled'
	types 'custody evidence restore last ../wreck' 0
	[ "$(cat "$project/../wreck/state")" = wreck ]
	[ ! -e "$project/state" ]

	types 'custody sessions' 0 'COMMAND' 'wreck'
	types 'custody df' 0
	types 'custody prune --all --dry-run' 0
	keys 'custody prune --all'
	answer '[y/N]' y
	at_prompt
	ended 0
	types 'custody evidence ls --json | grep -c wreck' 1 0
	types 'custody ledger verify' 0
	tmux_ kill-server
}

@test "ISO-3: the first hour in a terminal, as root: clone, run, diff, apply, continue, approve, crash, evidence, prune" {
	the_hour
}

@test "ISO-3: the first hour in a terminal, as an ordinary user" {
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	the_hour
}
