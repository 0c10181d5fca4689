#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # texts for shells inside
#
# Commands that policy lets start at level A with a writable worktree run under strace, in a root of their own without
# network: tests/lib/policy-strace.py.  200 of them, always the same ones; all with CUSTODY_TEST_FULL=1.

load ../lib/suite.bash

SHARES=4

setup_file() {
	make -s -C "${CUSTODY_BUILD:?a finished build directory}" tests/lib/policy-levels tests/unit/test-command-options >/dev/null
}

# strace_policy WORDS...: no violation.
strace_policy() {
	run python3 "$BATS_TEST_DIRNAME/../lib/policy-strace.py" --seed "${CUSTODY_TEST_SEED:-1}" "$@"
	echo "$output"
	echo "$output" | grep '^# ' >&3
	[ "$status" -eq 0 ]
}

share() {
	local full=()
	[ "${CUSTODY_TEST_FULL:-0}" != 1 ] || full=(--full)
	strace_policy --share "$1/$SHARES" "${full[@]}" "$CUSTODY_BUILD"
}

@test "GOV-5: level A writes, deletes and executes only what its row says (1 of 4)" {
	share 1
}

@test "GOV-5: level A writes, deletes and executes only what its row says (2 of 4)" {
	share 2
}

@test "GOV-5: level A writes, deletes and executes only what its row says (3 of 4)" {
	share 3
}

@test "GOV-5: level A writes, deletes and executes only what its row says (4 of 4)" {
	share 4
}

@test "GOV-5: no listed option of sort writes or executes" {
	strace_policy --full --row sort "$CUSTODY_BUILD"
}

@test "GOV-5: a write, delete, execution or connection is seen by the test itself" {
	local text effect missed=0
	local -A seen=(
		['sort -o new a.txt']='created /work/new'
		['sed -i s/o/x/ a.txt']='changed /work/a.txt'
		['env ./evil']='executes /work/evil'
		["sed '1e ./evil' a.txt"]='executes /work/evil'
		["eval 't''ouch new'"]='executes /usr/bin/touch'
		['rm -rf dir']='removed /work/dir/c.txt'
		['rm -f /tmp/other']='removed /tmp/other'
		['mv a.txt b']='removed /work/a.txt'
		['git rm -qrf dir']='removed /work/dir/c.txt'
		['cat a.txt >>~/.x']='created /home/user/.x'
		['chmod 0 a.txt']='changed /work/a.txt'
		['ln -s a.txt b; unlink b']='symlinkat /work/b'
		['cd dir; ln c.txt x; unlink x']='unlink /work/dir/x'
		['sort -o /etc/new a.txt']='openat /etc/new'
		['touch -c new; cp a.txt new']='created /work/new'
		["bash -c 'exec 3<>/dev/tcp/127.0.0.1/80'"]='sin_port=htons(80)'
	)
	local harmless=('cat a.txt | sort -u' 'touch new dir/c.txt' 'git status' 'mkdir -p x/y' 'head -n 1 <b.txt >/dev/null')
	run python3 "$BATS_TEST_DIRNAME/../lib/policy-strace.py" --command "${!seen[@]}" "${harmless[@]}"
	echo "$output"
	[ "$status" -eq 1 ]
	for text in "${!seen[@]}"; do
		effect=${seen[$text]}
		echo "$output" | grep -F "\"$text\"]: " | grep -qF "$effect" || {
			echo "not seen: $text: $effect"
			missed=1
		}
	done
	[ "$missed" -eq 0 ]
	[[ $output == *"$((${#seen[@]} + ${#harmless[@]})) commands, ${#seen[@]} with a violation"* ]]
}
