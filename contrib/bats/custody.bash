# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# custody for bats: run commands in a sandbox and check their results.
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
#	CUSTODY_AS	array: words before it, e.g. (setpriv --reuid 1000 --regid 1000 --clear-groups)
#
# Containers of podman and docker:
#	run podman run --runtime custody-runtime --name build box make
#	assert_denied
#	assert_request "$CUSTODY_REQUEST" 1
#	custody_container podman build
#	assert_reason exited
#	assert_evidence core
#
# After custody_run: $status, $output, $stderr of bats, and the result document in $CUSTODY_RESULT.

bats_require_minimum_version 1.5.0
CUSTODY=${CUSTODY:-custody}
declare -ga CUSTODY_AS=("${CUSTODY_AS[@]}")

# custody_setup: a private CUSTODY_ROOT and an empty worktree, which becomes the current directory.
custody_setup() {
	if [ -n "${CUSTODY_HOME:-}" ]; then
		# Called again in one test (as another user, for example): remove the first home.
		case ${TMPDIR:-} in "$CUSTODY_HOME"/*) unset TMPDIR ;; esac
		custody_teardown || return 1
	fi
	CUSTODY_HOME=$(mktemp -d "${TMPDIR:-/tmp}/custody-test${CUSTODY_TEST_MARK:+-$CUSTODY_TEST_MARK}.XXXXXX") || return 1
	export CUSTODY_HOME
	# Mapped ids must be able to traverse it; private directories below have their own mode.
	chmod 0755 "$CUSTODY_HOME"
	export CUSTODY_ROOT=$CUSTODY_HOME/root
	mkdir "$CUSTODY_ROOT" "$CUSTODY_HOME/work" "$CUSTODY_HOME/results"
	CUSTODY_RESULT=
	cd "$CUSTODY_HOME/work" || return 1
}

# custody_teardown: removes the directories; fails if a session or a mount of this test was left.
custody_teardown() {
	local left
	cd / || return 1
	[ -n "${CUSTODY_HOME:-}" ] || return 0
	left=$(custody_leftovers "$CUSTODY_HOME")
	rm -rf --one-file-system "$CUSTODY_HOME"
	if [ -n "$left" ]; then
		printf 'leftovers of this test:\n%s\n' "$left" >&2
		return 1
	fi
	unset CUSTODY_HOME CUSTODY_ROOT
}

# custody_leftovers DIR: one line for each mount below DIR and each session in a CUSTODY_ROOT in DIR.
custody_leftovers() {
	awk -v dir="$1/" 'index($5 "/", dir) == 1 { print "mount " $5 }' /proc/self/mountinfo
	find "$1" -xdev -mindepth 2 \( -path '*/sessions/*' -o -path '*/crun/*' \) -prune -print 2>/dev/null | while read -r dir; do
		custody_is_over "$dir" || printf 'session %s\n' "$dir"
	done
}

# custody_is_over DIR: the session directory DIR contains only the files that `custody sessions` and `custody logs` read: the
# closed note, the log of a detached run, the notes of a tool, its own records; and its upper, if the note has `kept`.
custody_is_over() {
	[ "$(stat -c '%F %a' "$1/session.json" 2>/dev/null)" = "regular file 400" ] || return
	[ -z "$(find "$1" -mindepth 1 -maxdepth 1 ! -name session.json ! -name lane ! -name stdio.log ! -name stdio.log.1 ! -name notes.ndjson ! -name audit.ndjson ! -name u ! -name s ! -name layer.json ! -name base ! -name git)" ] || return
	{ [ ! -e "$1/u" ] && [ ! -e "$1/s" ] && [ ! -e "$1/base" ] && [ ! -e "$1/git" ]; } || jq -e .kept "$1/session.json" >/dev/null
}

# custody_run [OPTIONS] -- CMD...: `custody run`; sets $status and always returns 0.
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
	[ -n "$CUSTODY_RESULT" ] || custody_fail "missing result document" || return
	jq -r "$1" <<<"$CUSTODY_RESULT"
}

# custody_fail TEXT: fail and print status, output and result of the last run.
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

assert_layer() { # NAME [STATE]; the state defaults to 'proven'
	local got
	got=$(jq -r --arg name "$1" '[.layers[]? | select(.name == $name) | .state][0] // "absent"' \
		<<<"${CUSTODY_RESULT:-null}") || return
	[ "$got" = "${2:-proven}" ] || custody_fail "expected layer '$1' to be ${2:-proven}, got $got"
}

assert_evidence() { # [PATH]: evidence was kept, and PATH is in its copy of the worktree
	local dir
	dir=$(custody_result '.evidence // empty') || return
	if [ -z "$dir" ]; then
		custody_fail "the result names no evidence: the run exited normally, or evidence is off"
		return
	fi
	[ -d "$dir" ] || custody_fail "the result names evidence in '$dir', but that directory is missing" || return
	[ $# -eq 0 ] || [ -e "$dir/worktree/$1" ] || custody_fail "the evidence in '$dir' lacks worktree/$1"
}

# --- containers that podman or docker started with custody-runtime -------------------------------------------------
# assert_denied: the last `run` or custody_run failed, and its output has the line that approves it; the request's id in $CUSTODY_REQUEST.
assert_denied() {
	CUSTODY_REQUEST=
	# shellcheck disable=SC2154 # set by bats
	[ "$status" -ne 0 ] || custody_fail 'expected a refusal, but the command started' || return
	[[ "$output${stderr-}" =~ custody\ approve\ ([0-9a-f]{16}) ]] || custody_fail "the output lacks 'custody approve ID'" || return
	CUSTODY_REQUEST=${BASH_REMATCH[1]}
}

# assert_request [ID [COUNT]]: the request ID (default: $CUSTODY_REQUEST) waits for an approver and was filed COUNT times.
assert_request() {
	local id=${1:-$CUSTODY_REQUEST} list got
	list=$("${CUSTODY_AS[@]}" "$CUSTODY" pending --json) || custody_fail "'custody pending --json' failed" || return
	got=$(jq -r --arg id "$id" '[.requests[] | select(.id == $id) | .count][0] // "absent"' <<<"$list") || return
	[ "$got" != absent ] || custody_fail "expected the request '$id', pending: $(jq -r '[.requests[].id] | join(" ")' <<<"$list")" || return
	[ $# -lt 2 ] || [ "$got" = "$2" ] || custody_fail "expected request '$id' to be filed $2 times, got $got"
}

# custody_container ENGINE NAME: the newest session of the container NAME (or an id) of podman or docker, as the last result.
custody_container() {
	local id
	id=$("$1" inspect --format '{{.Id}}' "$2" 2>/dev/null) || id=$2
	CUSTODY_RESULT=$("${CUSTODY_AS[@]}" "$CUSTODY" sessions --all --json | jq -c --arg id "$id" \
		'[.sessions[] | select(.container == $id)][0] // empty') || custody_fail "'custody sessions --json' failed" || return
	[ -n "$CUSTODY_RESULT" ] || custody_fail "the container '$2' ($id) has no session: it is not governed"
}

# custody_doctor: output of `custody doctor --json` on this host, as CUSTODY_AS; run once per suite.
custody_doctor() {
	local cache=${BATS_SUITE_TMPDIR:-${TMPDIR:-/tmp}}/doctor-${#CUSTODY_AS[@]}.json
	if [ ! -s "$cache" ]; then
		"${CUSTODY_AS[@]}" "$CUSTODY" doctor --json </dev/null >"$cache.new" 2>/dev/null || true
		jq -e .checks <"$cache.new" >/dev/null || custody_fail "'custody doctor --json' printed no list of checks" || return
		mv "$cache.new" "$cache"
	fi
	cat "$cache"
}

# skip_without ID...: skip if the doctor reports one of them missing on this host; `root` and `cgroup-v1` are checked here.
# This is the only valid reason for a skip: under STRICT=1 contrib/check.sh counts every other one as a failure.
skip_without() {
	local doctor id state
	for id; do
		case $id in
		root)
			[ "$(id -u)" -eq 0 ] || skip 'missing: root'
			continue
			;;
		cgroup-v1)
			grep -q ' - cgroup cgroup .*memory' /proc/self/mountinfo || skip 'missing: cgroup-v1'
			continue
			;;
		esac
		doctor=$(custody_doctor) || return
		state=$(jq -r --arg id "$id" '[.checks[] | select(.id == $id) | .state][0] // "no such id"' <<<"$doctor")
		case $state in
		missing) skip "missing: $id${CUSTODY_AS[*]:+ as user}" ;;
		'no such id') custody_fail "unknown doctor check '$id'; ids: $(jq -r '[.checks[].id] | join(" ")' <<<"$doctor")" || return ;;
		esac
	done
}

# skip_with ID: skip if the doctor reports that this host has it; for tests of hosts that lack it.
skip_with() {
	local doctor state
	doctor=$(custody_doctor) || return
	state=$(jq -r --arg id "$1" '[.checks[] | select(.id == $id) | .state][0] // "no such id"' <<<"$doctor")
	case $state in
	missing) ;;
	'no such id') custody_fail "unknown doctor check '$1'" ;;
	*) skip "present: $1${CUSTODY_AS[*]:+ as user}" ;;
	esac
}
