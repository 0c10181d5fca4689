#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031,SC2154 # bats' subshells; set by bats
#
# The configuration files of an engine, in a mount namespace whose /etc and /usr/share/containers are this test's: no engine is
# called and no file of the host is read.

load ../lib/suite.bash

setup() {
	suite_setup
	ETC=$CUSTODY_HOME/etc
	USR=$CUSTODY_HOME/containers
	BIN=$CUSTODY_HOME/bin
	mkdir -p "$ETC/containers/containers.conf.d" "$ETC/docker" "$ETC/containerd" "$USR" "$BIN"
	cp /etc/passwd /etc/group "$ETC/"
	RUNTIME=$BIN/custody-runtime
	for program in custody-runtime podman dockerd containerd; do
		printf '#!/bin/sh\nexit 1\n' >"$BIN/$program"
		chmod 0755 "$BIN/$program"
	done
	CONTRIB=$BATS_TEST_DIRNAME/../../contrib
	DROP_IN=$ETC/containers/containers.conf.d/60-custody.conf
	NS=(unshare --mount)
	[ "$(id -u)" -eq 0 ] || NS=(unshare --mount --map-root-user)
	unset CONTAINERS_CONF XDG_CONFIG_HOME
	SEARCH=$BIN
}

teardown() {
	custody_teardown
}

# doctor WORDS...: with our files, and only $SEARCH in PATH.
doctor() {
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr "${NS[@]}" sh -c '
		mount --bind "$1" /etc || exit 99
		[ -d /usr/share/containers ] || { mount -t tmpfs none /usr/share && mkdir /usr/share/containers; } || exit 99
		mount --bind "$2" /usr/share/containers || exit 99
		PATH=$3
		shift 3
		exec "$@"' sh "$ETC" "$USR" "$SEARCH" "${AS[@]}" "$CUSTODY" doctor "$@"
	[ "$status" -ne 99 ] || custody_fail "no mount namespace: $stderr"
}

# register ENGINE: the shipped file, with our path of custody-runtime.
register() {
	case $1 in
	podman) sed "s|/usr/local/bin/custody-runtime|$RUNTIME|" "$CONTRIB/podman/60-custody.conf" >"$DROP_IN" ;;
	docker) sed "s|/usr/bin/custody-runtime|$RUNTIME|" "$CONTRIB/docker/daemon.json" >"$ETC/docker/daemon.json" ;;
	containerd) sed "s|/usr/bin/custody-runtime|$RUNTIME|" "$CONTRIB/containerd/custody.toml" >"$ETC/containerd/config.toml" ;;
	esac
}

# assert_check ID STATE [REGEX [REMEDY-REGEX]]: of the JSON report in $output.
assert_check() {
	jq -e --arg id "$1" --arg state "$2" --arg text "${3:-}" --arg remedy "${4:-}" \
		'[.checks[] | select(.id == $id)] | length == 1 and (.[0] | .state == $state and (.text | test($text))
		and ($remedy == "" or (.remedy // "" | test($remedy))))' <<<"$output" >/dev/null ||
		custody_fail "expected $1 to be $2 with '${3:-}' and '${4:-}', got: $(jq -c '.checks[]' <<<"$output")"
}

errors() {
	jq -r '[.checks[] | select(.severity == "error") | .id] | join(" ")' <<<"$output"
}

@test "CARD-4: doctor --engine: each engine with the shipped file is in order" {
	for engine in podman docker containerd; do
		register "$engine"
		doctor --json --engine "$engine"
		assert_status 0
		[ -z "$(errors)" ]
		assert_check "ENGINE-${engine^^}-INSTALLED" ok
		assert_check "ENGINE-${engine^^}-RUNTIME" ok "$RUNTIME"
		jq -e '.schema_version == 1 and all(.checks[]; has("severity") and has("text") and has("remedy")
			and (.id | test("^ENGINE-")))' <<<"$output"
		doctor --engine "$engine"
		assert_status 0
		assert_output_has 'the engine knows custody-runtime'
	done
}

@test "CARD-4: doctor --engine: without any file each engine fails, with the command that registers" {
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing 'does not know' \
		'^install -D -m 644 /.*/podman/60-custody.conf /etc/containers/containers.conf.d/60-custody.conf$'
	assert_check ENGINE-PODMAN-JSON missing '' '^install -D'
	doctor --json --engine docker
	assert_status 1
	assert_check ENGINE-DOCKER-RUNTIME missing 'missing file' '^install -D -m 644 /.*/docker/daemon.json /etc/docker/daemon.json,'
	doctor --json --engine containerd
	assert_status 1
	assert_check ENGINE-CONTAINERD-RUNTIME missing 'missing file' \
		'^install -D -m 644 /.*/containerd/custody.toml /etc/containerd/config.toml,'
	assert_check ENGINE-CONTAINERD-DEFAULT unused
}

@test "CARD-4: doctor --engine: files that are about something else are merged with, not replaced" {
	echo '{"log-driver": "json-file", "runtimes": {"crun": {"path": "/usr/bin/crun"}}}' >"$ETC/docker/daemon.json"
	doctor --json --engine docker
	assert_status 1
	assert_check ENGINE-DOCKER-RUNTIME missing 'no entry in "runtimes"' '^jq -s .* /etc/docker/daemon.json /.*/docker/daemon.json >'
	printf 'version = 2\n[plugins]\n' >"$ETC/containerd/config.toml"
	doctor --json --engine containerd
	assert_status 1
	assert_check ENGINE-CONTAINERD-RUNTIME missing 'no runtime has it as BinaryName' '^copy the tables of '
	printf '[engine.runtimes]\ncrun = ["%s"]\n# custody-runtime = ["%s"]\n' "$RUNTIME" "$RUNTIME" >"$ETC/containers/containers.conf"
	printf '[engine]\ncustody-runtime = ["%s"]\n' "$RUNTIME" >"$ETC/containers/containers.conf.d/10-wrong-table.conf"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing 'does not know'
}

@test "doctor --engine: a path without an executable file is named with its line" {
	for engine in podman docker containerd; do
		register "$engine"
	done
	chmod 0644 "$RUNTIME"
	# A file that is no program, then none, then a directory.
	for i in 1 2 3; do
		doctor --json --engine podman
		assert_status 1
		[ "$(errors)" = ENGINE-PODMAN-RUNTIME ]
		assert_check ENGINE-PODMAN-RUNTIME missing '60-custody.conf:[0-9]+: not an executable file' '/custody-runtime'
		doctor --json --engine docker
		assert_status 1
		assert_check ENGINE-DOCKER-RUNTIME missing "daemon.json:3: .* '$RUNTIME' is not an executable file" '/custody-runtime'
		doctor --json --engine containerd
		assert_status 1
		[ "$(errors)" = ENGINE-CONTAINERD-RUNTIME ]
		assert_check ENGINE-CONTAINERD-RUNTIME missing "config.toml:[0-9]+: '$RUNTIME' is not an executable file" 'BinaryName'
		rm -rf "$RUNTIME"
		[ "$i" -ne 2 ] || mkdir "$RUNTIME"
	done
}

@test "doctor --engine: a broken file is named with its place, and never counts as registered" {
	printf '{\n  "runtimes": {"x": {"path": "%s"}},\n  oops\n}\n' "$RUNTIME" >"$ETC/docker/daemon.json"
	doctor --json --engine docker
	assert_status 1
	assert_check ENGINE-DOCKER-RUNTIME unknown '/etc/docker/daemon.json:3:3: '
	register containerd
	printf '[plugins\n' >>"$ETC/containerd/config.toml"
	doctor --json --engine containerd
	assert_status 1
	assert_check ENGINE-CONTAINERD-RUNTIME unknown '/etc/containerd/config.toml:[0-9]+: '
	register podman
	for broken in '[engine]\nfoo = ["a",\n' 'x = "a\n' '[engine\n' 'words\n' '= 1\n' 'a = 1]\n'; do
		# shellcheck disable=SC2059 # it is the format
		printf "\n$broken" >"$ETC/containers/containers.conf"
		doctor --json --engine podman
		assert_status 1
		assert_check ENGINE-PODMAN-RUNTIME unknown '/etc/containers/containers.conf:[23]: '
		assert_check ENGINE-PODMAN-JSON unknown
	done
	# Text before a NUL byte is no registration either.
	rm "$ETC/containers/containers.conf"
	printf '\0\n' >>"$DROP_IN"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME unknown 'NUL byte'
}

@test "doctor --engine: a path that is no regular file neither hangs nor passes" {
	rm -f "$ETC/docker/daemon.json"
	mkdir "$ETC/docker/daemon.json" "$ETC/containerd/config.toml" "$ETC/containers/containers.conf"
	for engine in podman docker containerd; do
		doctor --json --engine "$engine"
		assert_status 1
		assert_check "ENGINE-${engine^^}-RUNTIME" unknown
	done
	rmdir "$ETC/containers/containers.conf"
	mkfifo "$ETC/containers/containers.conf"
	doctor --json --engine podman
	assert_status 1
}

@test "doctor --engine podman: the last file wins, and lists may span lines" {
	register podman
	printf '[engine]\nruntime_supports_json = ["crun"]\n' >"$ETC/containers/containers.conf.d/70-later.conf"
	doctor --json --engine podman
	assert_status 1
	[ "$(errors)" = ENGINE-PODMAN-JSON ]
	assert_check ENGINE-PODMAN-JSON missing '70-later.conf:2' 'add "custody-runtime" to the list at /etc/containers/containers.conf.d/70-later.conf:2'
	printf '[engine]\nruntime_supports_json = [\n  "crun", # ] not the end\n  '"'custody-runtime'"',\n]\n' \
		>"$ETC/containers/containers.conf.d/70-later.conf"
	doctor --json --engine podman
	assert_status 0
	printf '[engine.runtimes]\n"custody-runtime" = ["/nowhere/custody-runtime"]\n' >"$ETC/containers/containers.conf.d/80-last.conf"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing '80-last.conf:2: not an executable file'
}

@test "doctor --engine podman: the vendor's file counts, files beside it that podman does not read do not" {
	mkdir "$USR/containers.conf.d"
	DROP_IN=$USR/containers.conf.d/60-custody.conf
	register podman
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing 'does not know'
	mv "$DROP_IN" "$USR/containers.conf"
	doctor --json --engine podman
	assert_status 0
}

@test "doctor --engine podman: CONTAINERS_CONF replaces all files" {
	register podman
	mv "$DROP_IN" "$CUSTODY_HOME/only.conf"
	export CONTAINERS_CONF=$CUSTODY_HOME/only.conf
	doctor --json --engine podman
	assert_status 0
	register podman
	: >"$CONTAINERS_CONF"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing 'does not know' "to '$CONTAINERS_CONF'"
	rm "$CONTAINERS_CONF"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME unknown 'only.conf'
}

@test "doctor --engine podman: a user's own files count for that user only" {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	HOME=$CUSTODY_HOME/home
	export XDG_CONFIG_HOME=$HOME/.config
	mkdir -p "$XDG_CONFIG_HOME/containers/containers.conf.d"
	DROP_IN=$XDG_CONFIG_HOME/containers/containers.conf.d/60-custody.conf
	register podman
	doctor --json --engine podman
	assert_status 1
	AS=("$(command -v setpriv)" --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups)
	doctor --json --engine podman
	assert_status 0
	rm "$DROP_IN"
	doctor --json --engine podman
	assert_status 1
	assert_check ENGINE-PODMAN-RUNTIME missing '' " $DROP_IN\$"
}

@test "doctor --engine containerd: the default runtime has to be listed, imported files count" {
	register containerd
	sed -i '/runtimes.runc\]/,$d' "$ETC/containerd/config.toml"
	doctor --json --engine containerd
	assert_status 1
	[ "$(errors)" = ENGINE-CONTAINERD-DEFAULT ]
	assert_check ENGINE-CONTAINERD-DEFAULT missing "'runc' is missing" 'copy the table of runc'
	printf '[plugins."io.containerd.grpc.v1.cri".containerd]\ndefault_runtime_name = "custody"\n' >>"$ETC/containerd/config.toml"
	doctor --json --engine containerd
	assert_status 0
	register containerd
	mkdir "$ETC/containerd/conf.d"
	mv "$ETC/containerd/config.toml" "$ETC/containerd/conf.d/custody.toml"
	printf 'disabled_plugins = ["cri"]\nimports = ["conf.d/*.toml"]\n' >"$ETC/containerd/config.toml"
	doctor --json --engine containerd
	assert_status 0
	assert_check ENGINE-CONTAINERD-RUNTIME ok 'conf.d/custody.toml:'
	assert_check ENGINE-CONTAINERD-CRI missing disabled_plugins
}

@test "doctor --engine: an engine that is not installed is missing, with the package" {
	register podman
	SEARCH=$CUSTODY_HOME/nothing
	doctor --json --engine podman
	assert_status 1
	[ "$(errors)" = ENGINE-PODMAN-INSTALLED ]
	assert_check ENGINE-PODMAN-INSTALLED missing "'podman'" 'apt-get install podman'
	assert_check ENGINE-PODMAN-RUNTIME ok
}

@test "doctor --engine: mistakes on the command line are named" {
	doctor --engine podmn
	assert_status 64
	assert_stderr_has "did you mean 'podman'"
	[ -z "$output" ]
	doctor --engine=kubernetes
	assert_status 64
	assert_stderr_has 'podman, docker and containerd'
	doctor --engine
	assert_status 64
	assert_stderr_has '--engine needs a value'
	doctor --engine podman --profile offline
	assert_status 64
	[ -z "$output" ]
}

@test "doctor --engine: --explain explains each id" {
	for engine in podman docker containerd; do
		doctor --json --engine "$engine"
		for id in $(jq -r '.checks[].id' <<<"$output"); do
			run --separate-stderr "$CUSTODY" doctor --explain "$id"
			assert_status 0
			[ "${#output}" -gt 40 ]
		done
	done
	doctor --explain ENGINE-DOCKER-RUNTIM
	assert_status 64
	assert_stderr_has "did you mean 'ENGINE-DOCKER-RUNTIME'"
}

@test "GOV-8: doctor --engine: the profile of containers is named, and one that cannot be read is an error" {
	register podman
	doctor --json --engine podman
	assert_check ENGINE-PROFILE unused "'container'; sandbox.enabled is false"
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"sandbox": {"enabled": true}}' >"$CUSTODY_ROOT/etc/custody.json"
	doctor --json --engine podman
	assert_status 0
	assert_check ENGINE-PROFILE ok "'container' .* network as the engine chooses"
	assert_check ENGINE-EXEC ok 'without a question'
	echo '{"security_profile": "balanced"}' >"$CUSTODY_ROOT/etc/custody.json"
	doctor --json --engine podman
	assert_status 0
	assert_check ENGINE-EXEC limited 'health checks' custody.exec.allow
	register docker
	doctor --json --engine docker
	assert_check ENGINE-EXEC ok 'belong to their container'
	register containerd
	doctor --json --engine containerd
	assert_check ENGINE-EXEC limited 'probes of pods' custody.exec.allow
	echo '{"security_profile": "balanced", "exec": "deny"}' >"$CUSTODY_ROOT/etc/custody.json"
	doctor --json --engine docker
	assert_check ENGINE-EXEC limited 'are denied'
	echo '{"sandbox": {"enabled": true, "profile": "nosuch"}}' >"$CUSTODY_ROOT/etc/custody.json"
	doctor --json --engine podman
	assert_status 1
	[ "$(errors)" = ENGINE-PROFILE ]
	assert_check ENGINE-PROFILE missing nosuch 'custody profile ls'
}
