# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Other people's runtimes, for bundles that custody wrote.  Needs suite.bash.

# runtime crun|runc WORDS...: as whoever CUSTODY_AS is.  crun refuses a host with both cgroup versions: it gets a mount
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
	# Not `run`: it warns about status 127, which is a result here.  stdin is a pipe: with a user namespace crun gives
	# whatever it gets there to the container's root, also the host's /dev/null.
	# shellcheck disable=SC2034 # for the test
	output=$(runtime "$1" run -b "$2" "custody-test-$1-$$-$RANDOM" < <(:) 2>"$err") || status=$?
	stderr=$(cat "$err")
	hook=$(cat "$2/custody-hook.err" 2>/dev/null) || true
	# crun throws away what a hook says.
	stderr=$stderr${hook:+$'\n'"hook: $hook"}
}

# bundle [OPTIONS] -- CMD...: writes $BUNDLE anew; fails the test when that fails.
bundle() {
	BUNDLE=$CUSTODY_HOME/bundle
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" bundle -o "$BUNDLE" --force "$@"
	assert_status 0
}
