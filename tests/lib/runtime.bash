# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Other people's runtimes, for bundles that custody wrote.  Needs suite.bash.

# runtime crun|runc WORDS...: as the user of CUSTODY_AS.  crun refuses a host with both cgroup versions: it gets a mount
# namespace in which version 2 is gone.  Everywhere else that namespace changes nothing.
runtime() {
	local name=$1 words=()
	shift
	if [ "$(id -u)" -eq 0 ]; then
		words=(unshare -m --propagation slave sh -c
			'! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified; exec "$@"' sh)
	fi
	"${words[@]}" "${CUSTODY_AS[@]}" "$name" --root "$CUSTODY_HOME/state-$name" "$@"
}

# runtime_run crun|runc DIR: runs the bundle once; $status, $output, $stderr as bats has them.
runtime_run() {
	local hook err=$CUSTODY_HOME/runtime.err
	status=0
	# shellcheck disable=SC2034 # for the test
	CONTAINER=custody-test-$1-$$-$RANDOM
	# Not `run`: it warns about status 127, which is a result here.  stdin is a pipe: with a user namespace crun gives
	# whatever it gets there to the container's root, also the host's /dev/null.
	# shellcheck disable=SC2034 # for the test
	output=$(runtime "$1" run -b "$2" "$CONTAINER" < <(:) 2>"$err") || status=$?
	stderr=$(cat "$err")
	runtime_settle
	hook=$(cat "$2/custody-hook.err" 2>/dev/null) || true
	# crun throws away what a hook says.
	stderr=$stderr${hook:+$'\n'"hook: $hook"}
}

# runtime_settle: waits until custody-warden has recorded the end of every container.  It or `custody-hook audit` removes the
# directory; directories without an audit are removed here.
runtime_settle() {
	local dir
	for dir in "$CUSTODY_ROOT"/run/sessions/*/; do
		wait_until runtime_told "$dir"
		rm -rf "$dir"
	done
}
runtime_told() { # DIR
	[ ! -d "$1" ] || [ -e "$1/exit.json" ]
}

# runtime_trust: these suites do not test approval: no run needs one.  PIN rules still hold.
runtime_trust() {
	local etc=$CUSTODY_ROOT/etc
	[ -e "$etc/custody.json" ] && return
	mkdir -p "$etc"
	printf '{"governance": {"security_profile": "off"}, "provenance": [{"uid": %s, "intention": "explicit"}]}\n' \
		"$("${CUSTODY_AS[@]}" id -u)" >"$etc/custody.json"
}

# runtime_own_init: the rest of the test with a custody-init that no other process executes.  A warden that did not see its
# container start checks whether any process opened that file, and then counts it as started.
runtime_own_init() {
	cp -r "${CUSTODY_LIBEXEC:-$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody}" "$CUSTODY_HOME/libexec"
	export CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec
}

# For jq: a bundle that may be edited, because the hook that would notice is gone; init has no warden to wait for.
# shellcheck disable=SC2034 # for the tests
RUNTIME_UNJUDGED='del(.hooks.createRuntime[]? | select(.args[1] == "approve")) | .process.args -= ["--gate"]'

# bundle [OPTIONS] -- CMD...: writes $BUNDLE anew; fails the test when that fails.
bundle() {
	BUNDLE=$CUSTODY_HOME/bundle
	runtime_trust
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" bundle -o "$BUNDLE" --force "$@"
	assert_status 0
}

# both CMD...: CMD with RUNTIME=crun, then with runc.  Plain calls, no `||`: bash would ignore failures inside.
both() {
	for RUNTIME in crun runc; do
		echo "under $RUNTIME" >&2
		"$@"
	done
}

# custody WORDS...: as the user of the test.
custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# records KIND: how many records of KIND the ledger has.
records() {
	custody ledger show --json | jq --arg k "$1" '[.records[] | select(.k == $k)] | length'
}

# owner: whose the worktree is, "UID:GID".  Not root: then ids are really mapped.
owner() {
	if [ ${#CUSTODY_AS[@]} -gt 0 ]; then
		echo "$SUITE_UID:$SUITE_UID"
	else
		echo 64321:64322
	fi
}

# profile NAME JSON: $CUSTODY_HOME/NAME.json, with what runs where a user has no cgroups.
profile() {
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline",
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}} + $body' >"$CUSTODY_HOME/$1.json"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/$1.json"
}
