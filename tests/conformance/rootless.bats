# SPDX-License-Identifier: GPL-2.0-or-later
# podman as a user without privileges: the runtime is called as root of podman's user namespace.
load lib.bash

ENGINE=podman
USER_ID=12345
setup_file() {
	local f
	mkdir -p "$SUITE" /run/user
	chmod 755 "$SUITE"
	make_image
	# A user of this sandbox only.
	for f in passwd group subuid subgid; do
		[ ! -e "/etc/$f" ] || cp "/etc/$f" "$SUITE/$f"
		touch "$SUITE/$f" "/etc/$f"
		mount --bind "$SUITE/$f" "/etc/$f"
	done
	echo "tester:x:$USER_ID:$USER_ID::/run/tester:/bin/sh" >>/etc/passwd
	echo "tester:x:$USER_ID:" >>/etc/group
	echo 'tester:400000:65536' | tee -a /etc/subuid >>/etc/subgid
	mkdir -p "/run/user/$USER_ID"
	podman_config /run/tester/.config/containers containers.conf cgroupfs
	printf '[storage]\ndriver = "vfs"\n' >/run/tester/.config/containers/storage.conf
	chown -R "$USER_ID:$USER_ID" /run/tester "/run/user/$USER_ID"
	chmod 700 "/run/user/$USER_ID"
	mount --make-shared /
	podman import -q "$SUITE/box.tar" box
}
as_tester() {
	(cd /run/tester && exec setpriv --reuid $USER_ID --regid $USER_ID --clear-groups env -i PATH="$PATH" HOME=/run/tester \
		XDG_RUNTIME_DIR="/run/user/$USER_ID" TERM=xterm PODMAN_IGNORE_CGROUPSV1_WARNING=1 "$@")
}
podman() {
	as_tester "$(type -P podman)" "$@"
}
teardown() {
	podman rm -fa -t 0 >/dev/null
	state_is_empty
}
# Both places: with and without a directory of the login session.
state_is_empty() {
	local left
	left=$(find "/run/user/$USER_ID/crun" "/run/user/$USER_ID/custody-runtime" "/tmp/custody-runtime-$USER_ID" \
		-mindepth 1 -maxdepth 1 -not -name '.*' 2>/dev/null) || true
	[ -z "$left" ] || { printf 'left in the state root: %s\n' "$left"; return 1; }
}

@test "rootless podman run: output and status 0 (sample)" {
	run podman run --rm box echo hello
	is 0 "$status"
	is hello "$output"
}
@test "rootless podman run: root inside is the user outside" {
	background one
	pid=$(pid_of one)
	is $USER_ID "$(stat -c %u "/proc/$pid")"
	is 0 "$(podman exec one id -u)"
}
@test "rootless podman run: the status of the command" {
	run podman run --rm box sh -c 'exit 7'
	is 7 "$status"
}
@test "rootless podman run: command not found is 127" {
	run -127 podman run --rm box nosuch
	has nosuch
}
@test "rootless podman run -d, logs, exec, kill, rm (sample)" {
	background one
	run podman exec one sh -c 'echo in; exit 9'
	is 9 "$status"
	podman kill -s TERM one
	run podman wait one
	is 3 "$output"
	podman rm one
}
@test "rootless podman exec -it: a terminal" {
	background one
	run "$HERE/terminal.py" size=20x70 expect='# ' send='stty size\n' expect='20 70' send='exit 4\n' -- \
		setpriv --reuid $USER_ID --regid $USER_ID --clear-groups env -i PATH="$PATH" HOME=/run/tester \
		XDG_RUNTIME_DIR="/run/user/$USER_ID" TERM=xterm podman exec -it one sh
	is 4 "$status"
}
@test "rootless podman stop, start, restart" {
	background one
	podman stop -t 0 one
	podman start one
	podman restart -t 0 one
	podman exec one true
}
@test "rootless podman run --user, --userns keep-id" {
	run podman run --rm --user alice box id -u
	is 1000 "$output"
	run podman run --rm --userns keep-id box id -u
	is $USER_ID "$output"
}
@test "rootless podman run -v, --read-only, --tmpfs" {
	mkdir -p /run/tester/vol
	chown $USER_ID /run/tester/vol
	run podman run --rm --read-only --tmpfs /mnt -v /run/tester/vol:/v box sh -c 'touch /mnt/a /v/b && touch /c'
	[ "$status" -ne 0 ]
	has 'Read-only file system'
	is $USER_ID "$(stat -c %u /run/tester/vol/b)"
}
@test "rootless podman run: capabilities and filter" {
	run podman run --rm --cap-drop all box grep -E '^(Seccomp|CapEff):' /proc/self/status
	has 0000000000000000
	[[ $output =~ Seccomp:[[:space:]]2 ]]
}
@test "rootless podman rm -f of a running container" {
	background one
	pid=$(pid_of one)
	podman rm -f -t 0 one
	[ ! -d "/proc/$pid" ]
}
@test "CARD-5: rootless podman, kernels before Linux 6.15: the true status and signal, of commands as well (sample)" {
	local i own=/run/tester/.config/custody old=$SUITE/no-pidfd-exit
	as_tester mkdir -p "$own"
	echo '{"sandbox": {"enabled": true}, "exec": "allow"}' >"$own/custody.json"
	chown -R $USER_ID "$own"
	cc -O1 -o "$old" "$HERE/../lib/no-pidfd-exit.c"
	# Before it is a user's: no_new_privs would keep newuidmap from working.
	old_podman() {
		"$old" setpriv --reuid $USER_ID --regid $USER_ID --clear-groups env -i PATH="$PATH" HOME=/run/tester \
			XDG_RUNTIME_DIR="/run/user/$USER_ID" TERM=xterm PODMAN_IGNORE_CGROUPSV1_WARNING=1 podman "$@"
	}
	ends() { # KIND FILTER
		as_tester "${RUNTIME%/*}/custody" ledger show --json | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
	}
	cd /run/tester
	for i in 1 2 3 4 5; do
		run old_podman run --rm box sh -c "exit $i"
		is "$i" "$status"
		is "exited $i wait" "$(ends session.end '"\(.d.reason) \(.d.code) \(.d.source)"')"
	done
	old_podman run -d --name one box sh -c 'echo ready; exec sleep 100'
	old_podman exec one sh -c 'exit 9' || is 9 $?
	old_podman kill one
	is 137 "$(old_podman wait one)"
	old_podman rm one
	is '9 wait' "$(ends exec.end '"\(.d.code) \(.d.source)"')"
	is 'signaled 137 9 wait' "$(ends session.end '"\(.d.reason) \(.d.code) \(.d.signal) \(.d.source)"')"
	rm -r "$own"
}
@test "ISO-8: rootless podman run: a broker inside of podman's user namespace (sample)" {
	local own=/run/tester/.config/custody
	as_tester mkdir -p "$own/profiles"
	echo '{"sandbox": {"enabled": true}}' >"$own/custody.json"
	jq -n '{schema: 1, name: "tools", extends: "container", broker: {tools: ["ping"]}}' >"$own/profiles/tools.json"
	chown -R $USER_ID "$own"
	run podman --runtime-flag profile=tools run --rm box sh -c 'stat -c "%a %u" /run/custody /run/custody/token; /run/custody/custody-call ping'
	has '700 0' '400 0' '"pong"'
	is 0 "$status"
	# A user namespace of the container's own, below podman's.
	run podman --runtime-flag profile=tools run --rm --user 1000 --uidmap 0:1:2000 box sh -c 'stat -c "%a %u" /run/custody /run/custody/token; /run/custody/custody-call ping'
	has '700 1000' '400 1000' '"pong"'
	rm -r "$own"
}
