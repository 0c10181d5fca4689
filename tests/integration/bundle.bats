#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# CARD-2: a bundle that custody writes is a plain OCI bundle; crun and runc run it unchanged, again and again.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	umask 022
	echo original >file
	mkdir sub
	# The worktree of a person, not of root: what container root writes must come out as theirs.
	if [ "$(id -u)" -eq 0 ]; then
		chown -R 64321:64322 .
	fi
}

teardown() {
	custody_teardown
}

@test "CARD-2: crun and runc show the same inside of one bundle" {
	bundle -e GREETING=hello -- sh -c 'id -u; id -g; hostname; pwd; env | LC_ALL=C sort; ls -A / . /etc
		awk "{print \$5, \$6}" /proc/self/mountinfo | grep -v -e ^/dev/ -e ^/proc/ | LC_ALL=C sort
		grep -E "^(Seccomp|NoNewPrivs|Cap...):" /proc/self/status; cat /proc/self/uid_map; cat file'
	runtime_run crun "$BUNDLE"
	assert_status 0
	local crun=$output
	runtime_run runc "$BUNDLE"
	assert_status 0
	diff <(echo "$crun") <(echo "$output")
	assert_output_has 'Seccomp:	2'
	assert_output_has 'NoNewPrivs:	1'
	[ "$(grep -c '^Cap...:	0000000000000000$' <<<"$output")" -eq 5 ]
	assert_output_has 'GREETING=hello'
	assert_output_has sandbox
	assert_output_has original
}

overlay_is_thrown_away() {
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 0
	assert_output_has 'changed new'
	[ "$(cat file)" = original ]
	[ ! -e new ]
	[ -d sub ]
}

@test "CARD-2: ISO-3: an overlay worktree is fresh at each start and the original is never written" {
	bundle -- sh -c 'test ! -e new && echo changed >file && touch new && rmdir sub && mkdir sub && mv sub sub2 &&
		echo $(cat file) $(ls new)'
	both overlay_is_thrown_away
	both overlay_is_thrown_away
}

rw_is_written_as_the_owner() {
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 0
	[ "$(stat -c %u:%g new)" = "$(stat -c %u:%g .)" ]
	[ "$(stat -c %a new)" = 644 ]
	rm new
}

@test "CARD-2: a rw worktree is written, as its owner on the host" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	bundle --profile "$PROFILE" -- sh -c 'touch new && stat -c %u:%g new file'
	both rw_is_written_as_the_owner
	assert_output_has 0:0
}

@test "CARD-2: another user inside owns worktree, home and tmpfs, and is the owner on the host" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	suite_profile user '{"process": {"user": "1000:100"}, "workspace": {"mode": "rw"},
		"filesystem": {"tmpfs": [{"path": "/home/sandbox", "size": "1M"}, {"path": "/work/sub", "size": "1M"}]}}'
	bundle --profile "$PROFILE" -- sh -c 'id -u; id -g; touch new ~/x /tmp/x sub/x && stat -c %u:%g new sub ~'
	both rw_is_written_as_the_owner
	[ "$(grep -c '^1000:100$' <<<"$output")" -eq 3 ]
	custody_run --profile "$PROFILE" -- sh -c 'touch new ~/x /tmp/x sub/x && stat -c %u:%g new sub ~'
	assert_status 0
	[ "$(grep -c '^1000:100$' <<<"$output")" -eq 3 ]
	[ "$(stat -c %u:%g new)" = "$(stat -c %u:%g .)" ]
	suite_profile over '{"process": {"user": "1000:100"}}'
	custody_run --profile "$PROFILE" -- sh -c 'touch over && echo x >file && stat -c %u:%g over file .'
	assert_status 0
	[ "$(grep -c '^1000:100$' <<<"$output")" -eq 3 ]
}

set_id_is_refused() {
	runtime_run "$RUNTIME" "$BUNDLE"
	[ ! -u t ]
	[ ! -g t ]
	[ ! -u u ]
	[ "$status" -eq 3 ] || custody_fail "a set-id mode was not refused"
	rm -f t u
}

@test "CARD-2: no set-id program can be planted in a writable tree of the host" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	bundle --profile "$PROFILE" -- sh -c 'cp /bin/true t; chmod 4755 t || chmod g+s t || perl -e "
		use Fcntl; sysopen(F, q(u), O_CREAT|O_WRONLY, 04755) and exit 0; exit 1" || exit 3'
	both set_id_is_refused
}

@test "CARD-2: a ro worktree cannot be written and a tmpfs one is empty" {
	suite_profile ro '{"workspace": {"mode": "ro"}}'
	bundle --profile "$PROFILE" -- sh -c 'cat file; ! touch new'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 0
		assert_output_has original
		assert_stderr_has 'Read-only file system'
	}
	both try
	suite_profile tmp '{"workspace": {"mode": "tmpfs"}}'
	bundle --profile "$PROFILE" -- sh -c 'ls -A; touch new'
	jq -e '[.hooks[][].args[1]] | sort == ["approve", "audit", "mount"]' "$BUNDLE/config.json"
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 0
		[ -z "$output" ]
		[ ! -e new ]
	}
	both try
}

@test "CARD-2: the payload is not the host's root and sees nothing of homes" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	echo secret >"$CUSTODY_HOME/private"
	chmod 600 "$CUSTODY_HOME/private"
	bundle -v "$CUSTODY_HOME/private:/private" -- sh -c 'read -r inside outside n </proc/self/uid_map; echo "$outside $n"
		cat /private; ls -A /home /var /root /boot /srv /sys; cut -d" " -f4 /proc/self/mountinfo | sed s/^/source:/
		cat /etc/shadow'
	# The root may be a directory of a file system, as in tests/on.
	local top
	top=$(awk '$5 == "/" { print $4; exit }' /proc/self/mountinfo)
	top=${top%/}
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_output_has 65536
		# Root's own file, shown read-only: still root's.
		[[ $output != *secret* ]]
		[[ $output != *"source:$top/home"* && $output != *"source:$top/root/"* && $output != *"source:$top/var"* ]]
		[[ $output == *$'/home:\nsandbox\n'* ]]
		assert_stderr_has "'/root'"
		assert_stderr_has "'/sys'"
		assert_stderr_has '/etc/shadow'
		[ "$(head -n1 <<<"$output" | cut -d' ' -f1)" -ge 1879048192 ]
	}
	both try
}

@test "CARD-2: volumes: a user's file is readable, rw is written as its owner, the rest refused" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	mkdir "$CUSTODY_HOME/data"
	echo data >"$CUSTODY_HOME/data/f"
	chown -R 64321:64321 "$CUSTODY_HOME/data"
	chmod 700 "$CUSTODY_HOME/data"
	bundle -v "$CUSTODY_HOME/data:/ro" -v "$CUSTODY_HOME/data:/rw:rw" -- sh -c 'cat /ro/f; touch /rw/new; touch /ro/x'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 1
		assert_output_has data
		[ "$(stat -c %u "$CUSTODY_HOME/data/new")" -eq 64321 ]
		[ ! -e "$CUSTODY_HOME/data/x" ]
		rm "$CUSTODY_HOME/data/new"
	}
	both try
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/other" -v "$CUSTODY_HOME/data:/usr/share/doc:rw" -- true
	[ "$status" -ne 0 ]
	[[ $output == *"lies below the mount '/usr'"* ]]
	[ ! -e "$CUSTODY_HOME/other" ]
}

@test "CARD-2: hidden paths of a profile are hidden, and tmpfs below the worktree is private" {
	echo token >sub/secret
	suite_profile hide '{"workspace": {"mode": "rw"},
		"filesystem": {"hide": ["/work/file", "/work/sub"], "tmpfs": [{"path": "/home/sandbox", "size": "1M"}]}}'
	bundle --profile "$PROFILE" -- sh -c 'cat file; ls -A sub; cat sub/secret'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 1
		[ -z "$output" ]
	}
	both try
}

@test "CARD-2: limits are in the bundle; init enforces the time limit" {
	bundle --memory 64M --pids-limit 20 --cpus 0.5 --timeout 1 -- sleep 600
	[ "$(jq -c .linux.resources "$BUNDLE/config.json")" = \
		'{"cpu":{"period":100000,"quota":50000},"memory":{"limit":67108864,"swap":67108864},"pids":{"limit":20}}' ]
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 124
	}
	both try
}

@test "CARD-2: a layer that the runtime leaves out stops the bundle before the payload" {
	bundle -- touch "$PWD/was-executed"
	try() {
		jq "$1 | $RUNTIME_UNJUDGED" "$BUNDLE/config.json" >"$BUNDLE/new" && mv "$BUNDLE/new" "$BUNDLE/config.json"
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 125
		assert_stderr_has "$2"
	}
	both try 'del(.linux.seccomp)' "layer 'seccomp' is missing"
	bundle -- touch "$PWD/was-executed"
	both try '.process.noNewPrivileges = false' "layer 'no-new-privs' is missing"
	bundle -- touch "$PWD/was-executed"
	both try '.root.readonly = false' "layer 'read-only-root' is missing"
	bundle -- touch "$PWD/was-executed"
	both try 'del(.hooks)' "layer 'worktree' is missing"
}

@test "CARD-2: a hook that cannot mount stops the container" {
	bundle -- true
	rm -rf file sub
	cd /
	rmdir "$CUSTODY_HOME/work"
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		assert_stderr_has "$CUSTODY_HOME/work"
	}
	both try
}

@test "CARD-2: exit statuses pass through" {
	bundle -- sh -c 'exit 42'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 42
	}
	both try
	bundle -- no-such-command
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 127
	}
	both try
}

@test "CARD-2: a root directory of one's own" {
	local root=$CUSTODY_HOME/tree
	mkdir -p "$root/bin" "$root/etc" "$root/usr"
	cp "$(command -v busybox)" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	echo mine >"$root/etc/mark"
	suite_profile dir "$(jq -n --arg path "$root" '{root: {type: "dir", path: $path}}')"
	bundle --profile "$PROFILE" -- /bin/sh -c 'busybox cat /etc/mark file; busybox ls /; busybox touch /etc/x'
	# A write to a system path would have to be approved.
	jq "$RUNTIME_UNJUDGED" "$BUNDLE/config.json" >"$BUNDLE/new" && mv "$BUNDLE/new" "$BUNDLE/config.json"
	find "$root" | sort >"$CUSTODY_HOME/before"
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 1
		assert_output_has mine
		assert_output_has original
		assert_stderr_has 'Read-only file system'
	}
	both try
	diff "$CUSTODY_HOME/before" <(find "$root" | sort)
}

@test "bundle: paths with blanks, colons, commas and backslashes" {
	local odd="$CUSTODY_HOME/work/a b:c,d\\e"
	mkdir "$odd"
	cd "$odd"
	echo odd >f
	bundle -- sh -c 'cat f; echo x >f'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 0
		assert_output_has odd
		[ "$(cat f)" = odd ]
	}
	both try
	custody_run -- sh -c 'cat f; echo x >f'
	assert_status 0
	assert_output_has odd
	[ "$(cat f)" = odd ]
}

@test "bundle: host mounts below /usr and below the worktree are visible, read-only" {
	suite_ungoverned # it tries to write to the system
	[ "$(id -u)" -eq 0 ] || skip_without root
	run unshare -m --propagation private sh -c '
		mount -t tmpfs custody-test /usr/src && echo below-usr >/usr/src/f &&
		mount -t tmpfs custody-test sub && echo below-work >sub/f &&
		exec "$0" run -- sh -c "cat /usr/src/f sub/f; ! touch /usr/src/x sub/x"' "$CUSTODY"
	assert_status 0
	assert_output_has below-usr
	assert_output_has below-work
}

@test "bundle: a directory that is not ours is never replaced" {
	mkdir "$CUSTODY_HOME/full"
	echo precious >"$CUSTODY_HOME/full/config.json"
	for force in '' --force; do
		run "$CUSTODY" bundle -o "$CUSTODY_HOME/full" $force -- true
		[ "$status" -ne 0 ]
		[[ $output == *'custody did not write'* ]]
		[ "$(cat "$CUSTODY_HOME/full/config.json")" = precious ]
	done
	bundle -- true
	run "$CUSTODY" bundle -o "$BUNDLE" -- true
	[ "$status" -ne 0 ]
	[[ $output == *'--force replaces it'* ]]
	touch "$BUNDLE/notes"
	run "$CUSTODY" bundle -o "$BUNDLE" --force -- true
	[ "$status" -ne 0 ]
	[[ $output == *"it contains 'notes'"* ]]
	[ -e "$BUNDLE/notes" ]
	[ -e "$BUNDLE/config.json" ]
}

@test "bundle: a directory that the container's ids cannot reach is refused with the remedy" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	mkdir -m 0700 "$CUSTODY_HOME/closed"
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/closed/b" -- true
	[ "$status" -ne 0 ]
	[[ $output == *"chmod o+x '$CUSTODY_HOME/closed'"* ]]
	[ ! -e "$CUSTODY_HOME/closed/b" ]
}

@test "bundle: a directory that others can write is refused" {
	mkdir "$CUSTODY_HOME/open"
	chmod 0777 "$CUSTODY_HOME/open"
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/open" -- true
	[ "$status" -ne 0 ]
	[[ $output == *'chmod go-w'* ]]
	[ -z "$(ls -A "$CUSTODY_HOME/open")" ]
}

@test "bundle: the configuration is private, for it holds values of the environment" {
	SECRET=x bundle -e SECRET -- true
	[ "$(stat -c %a "$BUNDLE/config.json")" = 600 ]
	jq -e '.process.env | index("SECRET=x")' "$BUNDLE/config.json"
	bundle -- true
	run ! grep SECRET "$BUNDLE/config.json"
}

@test "bundle: mistakes on the command line" {
	refused() { # WORDS OPTIONS...
		local words=$1
		shift
		run "$CUSTODY" bundle "$@"
		[ "$status" -eq 64 ]
		[[ $output == *"$words"* ]]
		[ ! -e "$CUSTODY_HOME/b" ]
	}
	refused 'missing option --output DIR' -- true
	refused 'missing argument' -o "$CUSTODY_HOME/b"
	refused '-o needs a value: DIR' -o
	refused 'terminal' -o "$CUSTODY_HOME/b" -t -- true
	refused 'no result' -o "$CUSTODY_HOME/b" --json -- true
	refused '--dry-run' -o "$CUSTODY_HOME/b" --dry-run -- true
	refused '--detach: the runtime that starts the bundle decides' -o "$CUSTODY_HOME/b" -d -- true
	refused '--sandbox: a sandbox root is locked' -o "$CUSTODY_HOME/b" --sandbox x -- true
	refused 'approved when it is started' -o "$CUSTODY_HOME/b" --wait -- true
	refused '--no-such' -o "$CUSTODY_HOME/b" --no-such -- true
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/no/such/b" -- true
	[ "$status" -eq 125 ]
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/b" --profile no-such-profile -- true
	[ "$status" -eq 125 ]
	[ ! -e "$CUSTODY_HOME/b" ]
	run "$CUSTODY" bundle --help
	[ "$status" -eq 0 ]
	[[ $output == *'--profile'* ]]
}

# --- the same as an ordinary user --------------------------------------------------------------------------------

user_setup() {
	custody_teardown
	suite_setup_user
	echo original >file
	mkdir sub
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID:$SUITE_UID" file sub
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]},
		"filesystem": {"hide": ["/work/sub"]}}'
}

@test "CARD-2: as a user: one id, an overlay, a volume, hidden paths, under both runtimes" {
	user_setup
	mkdir "$CUSTODY_HOME/data"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID:$SUITE_UID" "$CUSTODY_HOME/data"
	echo hidden >sub/secret
	bundle --profile "$PROFILE" -v "$CUSTODY_HOME/data:/data:rw" -- sh -c 'cat /proc/self/uid_map; echo changed >file
		cat file; touch /data/new; ls -A sub; cat sub/secret'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 1
		[ "$(head -n1 <<<"$output" | awk '{print $1, $3}')" = '0 1' ]
		assert_output_has changed
		[[ $output != *secret* && $output != *hidden* ]]
		[ "$(cat file)" = original ]
		[ -e "$CUSTODY_HOME/data/new" ]
		rm "$CUSTODY_HOME/data/new"
	}
	both try
}
