#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A host with AppArmor: own runs, profiles that an engine passes to custody-runtime, podman with its default profile.  Run by
# guest.sh, as root: it loads profiles.
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats

load ../lib/suite.bash
load ../lib/runtime.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup_file() {
	[ "$(cat /sys/module/apparmor/parameters/enabled)" = Y ] && [ -e /sys/kernel/security/apparmor/profiles ]
	# It allows all that custody and a container need, but for one file and mounts.
	apparmor_parser -r <<-'END'
		profile custody-test flags=(attach_disconnected,mediate_deleted) {
		  file, capability, network, signal, unix, ptrace, umount,
		  deny mount,
		  deny /tmp/denied w,
		  deny /data/** w,
		}
		profile custody-caller flags=(attach_disconnected,mediate_deleted) {
		  file, capability, network, signal, unix, ptrace, umount, mount, remount, pivot_root, dbus,
		  deny /**/denied w,
		}
	END
}
setup() {
	engine_setup
	unset CUSTODY_REQUEST
}
teardown() {
	! command -v podman >/dev/null || podman rm -fa -t 0 >/dev/null
	rm -f /etc/custody/custody.json
	oci_teardown
}
confined_by() { # PROFILE SCRIPT: the container has PROFILE and SCRIPT as its command
	edit ".process.apparmorProfile = \"$1\""
	command_is "cat /proc/self/attr/current; $2"
}
pod() { # WORDS...
	podman --runtime "$RT" --cgroup-manager cgroupfs "$@"
}
box() { # an image of busybox
	podman image exists box || {
		mkdir -p "$CUSTODY_HOME/box/bin" "$CUSTODY_HOME/box/tmp" "$CUSTODY_HOME/box/mnt"
		cp /bin/busybox "$CUSTODY_HOME/box/bin/"
		chroot "$CUSTODY_HOME/box" /bin/busybox --install -s /bin
		tar -C "$CUSTODY_HOME/box" -c . | podman import -q - box
	}
}
# The default profile of podman, and what it denies to a process with every capability.
default_profile() { # WORDS...
	run pod run --rm --network none "$@" box sh -c 'cat /proc/self/attr/current; mount -t tmpfs x /mnt && echo mounted'
	[[ $output == containers-default-*' (enforce)'* && $output != *mounted* ]]
}

# --- custody run ----------------------------------------------------------------------------------------------------------
@test "PLAT-4: AppArmor: the doctor finds no fault, root and a user run" {
	local words=()
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(jq -c '[.checks[] | select(.severity == "error" and .state != "ok")]' <<<"$output")" = '[]' ]
	custody_run -- sh -c 'cat /proc/self/attr/current; exit 7'
	assert_status 7
	assert_output_has unconfined
	assert_layer seccomp
	assert_layer mount-namespace
	suite_setup_user
	words=(--without "memory-limit,pids-limit,cpu-limit")
	custody_run "${words[@]}" -- sh -c 'exit 6'
	assert_status 6
}
@test "PLAT-4: AppArmor: the profile of the caller holds inside, and every layer with it" {
	run --separate-stderr aa-exec -p custody-caller -- "$CUSTODY" run --json -- sh -c 'cat /proc/self/attr/current; echo x >denied || echo refused'
	assert_status 0
	CUSTODY_RESULT=${lines[-1]}
	assert_output_has 'custody-caller (enforce)'
	assert_output_has refused
	assert_layer seccomp
	assert_layer user-namespace
	assert_layer memory-limit
}
@test "PLAT-4: AppArmor: a caller whose profile denies mounts is refused, and nothing runs" {
	run --separate-stderr aa-exec -p custody-test -- "$CUSTODY" run -- touch "$PWD/ran"
	[ "$status" -eq 125 ]
	assert_stderr_has 'mount'
	[ ! -e ran ]
}

# --- custody-runtime --------------------------------------------------------------------------------------------------------
@test "PLAT-4: AppArmor: a container has the profile of config.json, which exec keeps or replaces" {
	mkdir "$B/rootfs/data"
	confined_by custody-test 'echo x >/tmp/allowed; echo x >/tmp/denied'
	run rt run -b "$B" x < <(:)
	[[ $output == *'custody-test (enforce)'* ]]
	[ -e "$B/rootfs/tmp/allowed" ]
	[ ! -e "$B/rootfs/tmp/denied" ]
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" y < <(:) > >(:) 2>&1
	run rt exec y sh -c 'cat /proc/self/attr/current; echo x >/data/file'
	[[ $output == *'custody-test (enforce)'* ]]
	[ ! -e "$B/rootfs/data/file" ]
	run rt exec --apparmor custody-caller y busybox cat /proc/self/attr/current
	[ "$output" = 'custody-caller (enforce)' ]
}
@test "PLAT-4: AppArmor: a profile that is not loaded is an error, and nothing starts" {
	confined_by nosuch 'echo started >/tmp/started'
	run rt run -b "$B" x < <(:)
	refused "'nosuch' is not loaded"
	[ ! -e "$B/rootfs/tmp/started" ]
	edit 'del(.process.apparmorProfile) | .process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" y < <(:) > >(:) 2>&1
	run rt exec --apparmor nosuch y sh -c 'echo started >/tmp/started'
	[[ $status -ne 0 && $output == *"'nosuch' is not loaded"* ]]
	[ ! -e "$B/rootfs/tmp/started" ]
}
@test "PLAT-4: AppArmor: without securityfs a profile is refused, with the command that mounts it" {
	confined_by custody-test 'echo started >/tmp/started'
	run unshare -m sh -c 'umount /sys/kernel/security && exec "$@"' sh "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x < <(:)
	refused apparmorProfile 'mount -t securityfs'
	[ ! -e "$B/rootfs/tmp/started" ]
	edit 'del(.process.apparmorProfile)'
	run unshare -m sh -c 'umount /sys/kernel/security && exec "$@"' sh "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x < <(:)
	[ -e "$B/rootfs/tmp/started" ]
}
@test "PLAT-4: AppArmor: a governed container has its profile, and another profile is another subject" {
	both
	confined_by custody-test 'echo x >/tmp/denied; echo ran'
	asked B
	approve --uses 1
	live
	[[ $output == *'custody-test (enforce)'*ran* ]]
	[ ! -e "$B/rootfs/tmp/denied" ]
	wait_until nothing_left
	confined_by custody-caller 'echo x >/tmp/denied; echo ran'
	asked B
}

# --- engines ------------------------------------------------------------------------------------------------------------------
@test "PLAT-4: AppArmor: podman's containers have its default profile, governed or not" {
	box
	default_profile --cap-add all
	run pod run --rm --network none --security-opt apparmor=unconfined box cat /proc/self/attr/current
	[ "$output" = unconfined ]
	run pod run --rm --network none --security-opt apparmor=nosuch box true
	[ "$status" -ne 0 ]
	pod run -d --network none --name c box sleep 100
	run pod exec c cat /proc/self/attr/current
	[[ $output == containers-default-*' (enforce)' ]]
	podman rm -fa -t 0
	mkdir -p /etc/custody
	echo '{"sandbox":{"enabled":true}}' >/etc/custody/custody.json
	default_profile
}

# --- bundles ------------------------------------------------------------------------------------------------------------------
@test "PLAT-4: AppArmor: a bundle starts under crun and runc; the hook refuses one to which a profile was added" {
	local runtime
	suite_ungoverned
	for runtime in crun runc; do
		bundle -- cat /proc/self/attr/current
		runtime_run "$runtime" "$BUNDLE"
		assert_status 0
		[ "$output" = unconfined ]
		jq '.process.apparmorProfile = "custody-caller"' "$BUNDLE/config.json" >"$CUSTODY_HOME/new"
		cp "$CUSTODY_HOME/new" "$BUNDLE/config.json"
		runtime_run "$runtime" "$BUNDLE"
		[ "$status" -ne 0 ]
		[[ $stderr == *apparmorProfile* ]]
	done
}
