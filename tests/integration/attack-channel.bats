#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
# Sockets and FIFOs of the host in trees that a run may only read: a read-only mount alone refuses neither.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	SERVER=
}

teardown() {
	unserve
	custody_teardown
}

# The rest of the test as a user whom no cgroup is delegated to.
as_user() {
	unserve
	custody_teardown
	suite_setup_user
	OPTIONAL='"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}'
}

# serve DIR: a listening socket and a FIFO with a reader in DIR; what arrives is a line in $CUSTODY_HOME/arrived.
serve() {
	: >"$CUSTODY_HOME/arrived"
	chmod 0666 "$CUSTODY_HOME/arrived"
	"${CUSTODY_AS[@]}" python3 - "$1" "$CUSTODY_HOME/arrived" 3>&- <<-'END' &
		import os, select, socket, sys
		d, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
		os.umask(0)
		os.mkfifo(d + "/fifo", 0o666)
		fifo = os.open(d + "/fifo", os.O_RDWR)
		s = socket.socket(socket.AF_UNIX)
		s.bind(d + "/new")
		s.listen(4)
		os.rename(d + "/new", d + "/sock")
		while True:
		    for x in select.select([s, fifo], [], [])[0]:
		        if x is s:
		            s.accept()[0].close()
		            log.write("socket\n")
		        else:
		            log.write("fifo " + os.read(fifo, 100).decode() + "\n")
	END
	SERVER=$!
	wait_until test -S "$1/sock"
	# Of the tree's owner: for ids that are not mapped its permissions would be the refusal.
	[ "$(id -u)" -ne 0 ] || chown --reference="$1" "$1/sock" "$1/fifo"
}

unserve() {
	[ -z "$SERVER" ] || kill "$SERVER"
	[ -z "$SERVER" ] || wait "$SERVER" || true
	SERVER=
}

# Inside: tries both in DIR and prints how each ended.
TRY='import os, socket, sys
d = sys.argv[1]
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(d + "/sock"); print("socket: connected")
except OSError as e: print("socket:", e.strerror)
try:
    os.write(os.open(d + "/fifo", os.O_WRONLY | os.O_NONBLOCK), b"hello"); print("fifo: written")
except OSError as e: print("fifo:", e.strerror)
print(open(d + "/file").read().strip())'

unreachable() { # DIR OPTIONS...
	custody_run "${@:2}" -- python3 -c "$TRY" "$1"
	assert_status 0
	assert_output_has 'socket: Connection refused'
	assert_output_has 'fifo: No such device or address'
	assert_output_has 'content'
	[ ! -s "$CUSTODY_HOME/arrived" ]
}

# The same as root and as a user: the worktree read-only, a tree of -v and one of the profile.
read_only_trees() {
	mkdir -p "$CUSTODY_HOME/tree/below" sub
	echo content | tee file sub/file "$CUSTODY_HOME/tree/file" >"$CUSTODY_HOME/tree/below/file"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown -R "$SUITE_UID" . "$CUSTODY_HOME/tree"
	printf '{"schema":1,"name":"p","extends":"review"%s}' "${OPTIONAL:+,$OPTIONAL}" >"$CUSTODY_HOME/review.json"
	printf '{"schema":1,"name":"q","extends":"offline","filesystem":{"ro":["%s/tree:/r"]}%s}' "$CUSTODY_HOME" "${OPTIONAL:+,$OPTIONAL}" \
		>"$CUSTODY_HOME/ro.json"
	serve "$PWD"
	unreachable . -p "$CUSTODY_HOME/review.json"
	assert_layer worktree
	unreachable . -p "$CUSTODY_HOME/review.json" --no-seal
	unserve
	rm sock fifo
	serve "$PWD/sub"
	unreachable sub -p "$CUSTODY_HOME/review.json"
	unserve
	serve "$CUSTODY_HOME/tree/below"
	unreachable /t/below -p "$CUSTODY_HOME/review.json" -v "$CUSTODY_HOME/tree:/t:ro"
	unreachable /r/below -p "$CUSTODY_HOME/ro.json"
	# It is still read-only, and not the host's directory.
	custody_run -p "$CUSTODY_HOME/ro.json" -- sh -c 'echo x >/r/file'
	[ "$status" -ne 0 ]
	assert_stderr_has 'Read-only'
	[ "$(cat "$CUSTODY_HOME/tree/file")" = content ]
}

@test "ISO-1: sockets and FIFOs of the host in read-only trees are out of reach" {
	read_only_trees
}

@test "ISO-1: sockets and FIFOs of the host in read-only trees are out of reach, as a user" {
	as_user
	read_only_trees
}

@test "ISO-1: a mount below a read-only source is as closed as the source" {
	[ "$(id -u)" -eq 0 ] || skip 'mounts need root'
	mkdir -p "$CUSTODY_HOME/tree/mounted" "$CUSTODY_HOME/other"
	echo content | tee "$CUSTODY_HOME/other/file" >"$CUSTODY_HOME/tree/file"
	serve "$CUSTODY_HOME/other"
	run --separate-stderr unshare -m sh -c 'mount --bind "$1/other" "$1/tree/mounted" || exit 99
		exec "$CUSTODY" run -v "$1/tree:/t:ro" -- python3 -c "$2" /t/mounted' sh "$CUSTODY_HOME" "$TRY"
	assert_status 0
	assert_output_has 'socket: Connection refused'
	assert_output_has 'fifo: No such device or address'
	assert_output_has content
	[ ! -s "$CUSTODY_HOME/arrived" ]
	# A mount that is itself a socket is named.
	touch "$CUSTODY_HOME/tree/point"
	run --separate-stderr unshare -m sh -c 'mount --bind "$1/other/sock" "$1/tree/point" || exit 99
		exec "$CUSTODY" run -v "$1/tree:/t:ro" -- true' sh "$CUSTODY_HOME"
	assert_status 125
	assert_stderr_has "/tree/point' is a socket of the host"
}

channel() { # a source that is a socket or a FIFO
	local name
	mkdir "$CUSTODY_HOME/tree"
	echo content >"$CUSTODY_HOME/tree/file"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown -R "$SUITE_UID" "$CUSTODY_HOME/tree"
	printf '{"schema":1,"name":"q","extends":"offline"%s}' "${OPTIONAL:+,$OPTIONAL}" >"$CUSTODY_HOME/none.json"
	printf '{"schema":1,"name":"p","extends":"offline","filesystem":{"channels":["%s/sock","%s/fifo"]}%s}' \
		"$CUSTODY_HOME/tree" "$CUSTODY_HOME/tree" "${OPTIONAL:+,$OPTIONAL}" >"$CUSTODY_HOME/p.json"
	serve "$CUSTODY_HOME/tree"
	for name in sock fifo; do
		custody_run -p "$CUSTODY_HOME/none.json" -v "$CUSTODY_HOME/tree/$name:/c/$name:ro" -- true
		assert_status 125
		assert_stderr_has "tree/$name' is a"
		assert_stderr_has '"channels"'
		# Not a harmless mount any more: this needs an approval.
		custody_run -p "$CUSTODY_HOME/p.json" -v "$CUSTODY_HOME/tree/$name:/c/$name" -- python3 -c 'print(1)'
		assert_status 114
	done
	[ ! -s "$CUSTODY_HOME/arrived" ]
	suite_ungoverned
	custody_run -p "$CUSTODY_HOME/p.json" -v "$CUSTODY_HOME/tree/sock:/c/sock" -v "$CUSTODY_HOME/tree/fifo:/c/fifo" -v "$CUSTODY_HOME/tree/file:/c/file" \
		-- python3 -c "$TRY" /c
	assert_status 0
	assert_output_has 'socket: connected'
	assert_output_has 'fifo: written'
	wait_until grep -q 'fifo hello' "$CUSTODY_HOME/arrived"
}

@test "GOV-3: a socket or FIFO as a mount is refused without channels in the profile, and is not ephemeral with it" {
	channel
}

@test "GOV-3: a socket or FIFO as a mount is refused without channels in the profile, as a user" {
	as_user
	channel
}

@test "ISO-1: files in read-only trees keep names, modes, links and programs" {
	mkdir -p "$CUSTODY_HOME/tree/a:b,c"
	printf '#!/bin/sh\necho ran\n' >"$CUSTODY_HOME/tree/a:b,c/run"
	chmod 0755 "$CUSTODY_HOME/tree/a:b,c/run"
	ln -s 'a:b,c/run' "$CUSTODY_HOME/tree/link"
	ln "$CUSTODY_HOME/tree/a:b,c/run" "$CUSTODY_HOME/tree/hard"
	printf '{"schema":1,"name":"p","extends":"offline","filesystem":{"ro":["%s/tree:/t"]}}' "$CUSTODY_HOME" >"$CUSTODY_HOME/p.json"
	custody_run -p "$CUSTODY_HOME/p.json" -- sh -c '/t/link && /t/hard && stat -c %a:%h /t/hard && readlink /t/link && ls "/t/a:b,c"'
	assert_status 0
	[ "$output" = $'ran\nran\n755:2\na:b,c/run\nrun' ]
}

bundled() { # under crun and runc: the worktree read-only, and a tree of -v
	[ "$(id -u)" -ne 0 ] || chown -R "$(owner)" .
	jq -n '{schema: 1, name: "p", extends: "review", enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' >"$CUSTODY_HOME/p.json"
	mkdir "$CUSTODY_HOME/tree"
	echo content | tee file >"$CUSTODY_HOME/tree/file"
	[ "$(id -u)" -ne 0 ] || chown -R "$(owner)" . "$CUSTODY_HOME/tree"
	bundle -p "$CUSTODY_HOME/p.json" -v "$CUSTODY_HOME/tree:/t:ro" -- python3 -c "$TRY" .
	serve "$PWD"
	both bundle_is_closed
	unserve
	bundle -p "$CUSTODY_HOME/p.json" -v "$CUSTODY_HOME/tree:/t:ro" -- python3 -c "$TRY" /t
	serve "$CUSTODY_HOME/tree"
	both bundle_is_closed
}

bundle_is_closed() {
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 0
	assert_output_has 'socket: Connection refused'
	assert_output_has 'fifo: No such device or address'
	assert_output_has content
	[ ! -s "$CUSTODY_HOME/arrived" ]
}

@test "ISO-1: CARD-2: read-only trees of a bundle are as closed under crun and runc" {
	bundled
}

@test "ISO-1: CARD-2: read-only trees of a bundle are as closed under crun and runc, as a user" {
	as_user
	bundled
}
