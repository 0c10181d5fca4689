# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# custody for bats: run things in a sandbox and say what must have become of them.
#
#	load /usr/share/custody/bats/custody.bash	# or a copy beside your tests
#	setup() { custody_setup; }
#	teardown() { custody_teardown; }
#	@test "the build does not phone home" {
#		custody_run -- make
#		assert_status 0
#		assert_reason exited
#		assert_layer network-namespace
#	}
#
# Needs bats 1.5 and jq.  Settings, all optional:
#	CUSTODY		the program (default: custody in PATH)
#	CUSTODY_AS	array: words in front of it, e.g. (setpriv --reuid 1000 --regid 1000 --clear-groups)
#	STRICT=1	skip_without fails on a capability that the doctor finds in order
#
# After custody_run: $status, $output, $stderr as bats has them, and the result document in $CUSTODY_RESULT.

bats_require_minimum_version 1.5.0
CUSTODY=${CUSTODY:-custody}
declare -ga CUSTODY_AS=("${CUSTODY_AS[@]}")

# custody_setup: a private CUSTODY_ROOT and an empty worktree, which becomes the current directory.
custody_setup() {
	if [ -n "${CUSTODY_HOME:-}" ]; then
		# A second time in one test, as another user say: the first home goes.
		case ${TMPDIR:-} in "$CUSTODY_HOME"/*) unset TMPDIR ;; esac
		custody_teardown || return 1
	fi
	CUSTODY_HOME=$(mktemp -d "${TMPDIR:-/tmp}/custody-test${CUSTODY_TEST_MARK:+-$CUSTODY_TEST_MARK}.XXXXXX") || return 1
	export CUSTODY_HOME
	# Mapped ids must be able to pass through; what is private lies below with its own mode.
	chmod 0755 "$CUSTODY_HOME"
	export CUSTODY_ROOT=$CUSTODY_HOME/root
	mkdir "$CUSTODY_ROOT" "$CUSTODY_HOME/work" "$CUSTODY_HOME/results"
	CUSTODY_RESULT=
	cd "$CUSTODY_HOME/work" || return 1
}

# custody_teardown: fails when a session, a mount or a cgroup of this test is still there, then removes it all.
custody_teardown() {
	local left
	cd / || return 1
	[ -n "${CUSTODY_HOME:-}" ] || return 0
	left=$(custody_leftovers "$CUSTODY_HOME")
	rm -rf --one-file-system "$CUSTODY_HOME"
	if [ -n "$left" ]; then
		printf 'left behind by this test:\n%s\n' "$left" >&2
		return 1
	fi
	unset CUSTODY_HOME CUSTODY_ROOT
}

# custody_leftovers DIR: one line for each mount below DIR and each session that a CUSTODY_ROOT in DIR still holds.
custody_leftovers() {
	awk -v dir="$1/" 'index($5 "/", dir) == 1 { print "mount " $5 }' /proc/self/mountinfo
	find "$1" -xdev -mindepth 2 \( -path '*/sessions/*' -o -path '*/crun/*' \) -prune -print 2>/dev/null | while read -r dir; do
		custody_is_over "$dir" || printf 'session %s\n' "$dir"
	done
}

# custody_is_over DIR: of the session whose state lies in DIR nothing is left but what `custody sessions` and `custody logs`
# show: the note, closed, and the log of a detached run; and its changes, if the note says that they are kept.
custody_is_over() {
	[ "$(stat -c '%F %a' "$1/session.json" 2>/dev/null)" = "regular file 400" ] || return
	[ -z "$(find "$1" -mindepth 1 -maxdepth 1 ! -name session.json ! -name lane ! -name stdio.log ! -name stdio.log.1 ! -name u ! -name layer.json)" ] || return
	[ ! -e "$1/u" ] || jq -e .kept "$1/session.json" >/dev/null
}

# custody_run [OPTIONS] -- CMD...: as `custody run`; never fails itself.
custody_run() {
	local file=$CUSTODY_HOME/results/$RANDOM$RANDOM.json
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" run --result "$file" "$@"
	CUSTODY_RESULT=
	if [ -s "$file" ]; then
		CUSTODY_RESULT=$(cat "$file")
	fi
}

# custody_result FILTER: a value of the last result, as jq -r prints it.
custody_result() {
	[ -n "$CUSTODY_RESULT" ] || custody_fail "there is no result document" || return
	jq -r "$1" <<<"$CUSTODY_RESULT"
}

# custody_fail TEXT: fail and show what is known of the last run.
custody_fail() {
	{
		printf '%s\n' "$1"
		printf '  status: %s\n' "${status-none}"
		[ -z "${output-}" ] || sed 's/^/  stdout: /' <<<"$output"
		[ -z "${stderr-}" ] || sed 's/^/  stderr: /' <<<"$stderr"
		[ -z "$CUSTODY_RESULT" ] || jq -c . <<<"$CUSTODY_RESULT" | sed 's/^/  result: /'
	} >&2
	return 1
}

assert_status() { # STATUS
	# shellcheck disable=SC2154 # set by bats
	[ "$status" -eq "$1" ] || custody_fail "expected status $1, got $status"
}

assert_output_has() { # TEXT
	[[ $output == *"$1"* ]] || custody_fail "stdout lacks '$1'"
}

assert_stderr_has() { # TEXT
	[[ $stderr == *"$1"* ]] || custody_fail "stderr lacks '$1'"
}

assert_reason() { # exited | signaled | oom | timeout | pids-limit | ... (custody-run(1), EXIT REASON)
	local got
	got=$(custody_result .exit.reason) || return
	[ "$got" = "$1" ] || custody_fail "expected the exit reason '$1', got '$got'"
}

assert_layer() { # NAME [STATE]; the state is 'proven' unless told
	local got
	got=$(jq -r --arg name "$1" '[.layers[]? | select(.name == $name) | .state][0] // "absent"' \
		<<<"${CUSTODY_RESULT:-null}") || return
	[ "$got" = "${2:-proven}" ] || custody_fail "expected layer '$1' to be ${2:-proven}, it is $got"
}

assert_evidence() { # [PATH]: evidence was kept, and PATH is in its copy of the worktree
	local dir
	dir=$(custody_result '.evidence // empty') || return
	if [ -z "$dir" ]; then
		custody_fail "the result names no evidence: the run ended normally, or this custody keeps none yet"
		return
	fi
	[ -d "$dir" ] || custody_fail "the result names evidence in '$dir', which is not there" || return
	[ $# -eq 0 ] || [ -e "$dir/worktree/$1" ] || custody_fail "the evidence in '$dir' lacks worktree/$1"
}

# custody_doctor: the doctor's JSON on this host, as CUSTODY_AS; asked once per suite.
custody_doctor() {
	local cache=${BATS_SUITE_TMPDIR:-${TMPDIR:-/tmp}}/doctor-${#CUSTODY_AS[@]}.json
	if [ ! -s "$cache" ]; then
		"${CUSTODY_AS[@]}" "$CUSTODY" doctor --json </dev/null >"$cache.new" 2>/dev/null || true
		jq -e .checks <"$cache.new" >/dev/null || custody_fail "'custody doctor --json' gave no list of checks" || return
		mv "$cache.new" "$cache"
	fi
	cat "$cache"
}

# skip_without ID...: skip when the doctor says that this host lacks one of them.  This is the only good reason for
# a skip: under STRICT=1 contrib/check.sh counts every other one as a failure.
skip_without() {
	local doctor id state
	doctor=$(custody_doctor) || return
	for id; do
		state=$(jq -r --arg id "$id" '[.checks[] | select(.id == $id) | .state][0] // "no such id"' <<<"$doctor")
		case $state in
		missing) skip "missing: $id${CUSTODY_AS[*]:+ as user}" ;;
		'no such id') custody_fail "the doctor has no check '$id'; ids: $(jq -r '[.checks[].id] | join(" ")' <<<"$doctor")" || return ;;
		esac
	done
}
