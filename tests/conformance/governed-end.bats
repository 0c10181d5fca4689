# SPDX-License-Identifier: GPL-2.0-or-later
# How governed containers of podman or docker end: the true status, its reason, and the evidence.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() {
	"$ENGINE" volume rm -f tree >/dev/null 2>&1 || true
	share_away
	governed_teardown
}

# crash STATUS SCRIPT [OPTION...]: `run --rm` ends with STATUS, for the engine and in the record.
crash() {
	local want=$1 script=$2
	shift 2
	run "$ENGINE" run --rm "$@" box sh -c "$script"
	is "$want" "$status"
	ended_as exited "$want"
}
# killed [OPTION...]: a container with --rm that has changed its worktree is killed; its record is there.
killed() {
	"$ENGINE" run -d --rm --name one "$@" box sh -c 'echo new >new; echo ready; exec sleep 100'
	until_ok said one ready
	"$ENGINE" kill one
	until_ok gone one
	ended_as signaled 137
	is 9 "$(last session.end .d.signal)"
}
gone() { # NAME
	[ -z "$("$ENGINE" ps -aq --filter "name=^$1$")" ]
}
# kept FILE...: in the evidence of the newest end, whose ledger and bytes agree.
kept() {
	local dir file
	dir=$(last session.end .d.evidence)
	for file; do
		[ -e "$dir/worktree/$file" ] || { printf 'no %s in %s\n' "$file" "$dir"; find "$dir"; jq . "$dir/metadata.json"; return 1; }
	done
	"$CUSTODY" evidence verify "${dir##*/}" >/dev/null
}
not_kept() { # FILE
	[ ! -e "$(last session.end .d.evidence)/worktree/$1" ]
}

@test "CARD-5: ISO-4: statuses are the engine's and the record's, with their source (sample)" {
	local status_of
	for status_of in 0 3 137; do
		crash $status_of "exit $status_of"
		last session.end .d.source | grep -qxE 'pidfd|proc|wait'
	done
	is null "$(last session.end .d.signal)"
	is 3 "$(records session.end)"
}
@test "CARD-5: ISO-5: a crash in the image's tree keeps what changed; a killed one keeps all of it (sample)" {
	crash 3 'echo new >new; ln -s /etc/passwd link; exit 3' -w /data
	kept new
	not_kept file
	jq -e '.exit.code == 3 and .container' "$(last session.end .d.evidence)/metadata.json"
	jq -e '.image | test("layer")' "$(last session.end .d.evidence)/subject.json"
	killed -w /data
	kept new file
}
@test "CARD-5: ISO-5: a bind mount as worktree" {
	echo before >"$SUITE/volume/old"
	crash 3 'echo new >new; exit 3' -v "$SUITE/volume:/work" -w /work
	is none "$(jq -r .status "$(last session.end .d.evidence)/metadata.json")"
	is new "$(cat "$SUITE/volume/new")"
	killed -v "$SUITE/volume:/work" -w /work
	kept new old
	# And the engine's own removal left the bind alone.
	is before "$(cat "$SUITE/volume/old")"
}
@test "CARD-5: ISO-5: a named volume, and one without a name that goes with the container" {
	killed -v tree:/data -w /data
	kept new file
	killed -v /data -w /data
	kept new file
	crash 3 'echo new >new; exit 3' -v tree:/data -w /data
	is none "$(jq -r .status "$(last session.end .d.evidence)/metadata.json")"
	crash 3 'echo new >new; exit 3' -v /data -w /data
	kept new file
}
@test "CARD-5: ISO-5: --tmpfs: nothing of it is anywhere else" {
	crash 3 'echo new >new; exit 3' --tmpfs /work -w /work
	kept new
	killed --tmpfs /work -w /work
	kept new
}
@test "CARD-5: a read-only root, and a worktree of /" {
	killed --read-only -v "$SUITE/volume:/work" -w /work
	kept new
	crash 3 'echo new >/data/new; exit 3' -w /
	kept data/new
	not_kept bin/busybox
}
@test "ISO-5: nothing is kept of status 0, nor of an exit that the configuration expects" {
	crash 0 'echo new >new' -w /data
	is null "$(last session.end .d.evidence)"
	profile calm '{"forensics": {"expect_exit": [3]}}'
	configure '{"sandbox":{"enabled":true,"profile":"calm"},"security_profile":"balanced",'"$EXPLICIT"',
		"rules":[{"effect":"allow","profile":"calm"}]}'
	crash 3 'echo new >new; exit 3' -w /data
	is null "$(last session.end .d.evidence)"
	crash 4 'echo new >new; exit 4' -w /data
	kept new
}
@test "CARD-5: names, links, devices and modes that a payload makes do not leave its evidence" {
	crash 3 'ln -s /etc up; mkdir a; ln -s ../../../../../../etc a/b; mkfifo pipe; touch "$(printf "new\nline")"; chmod 0 a
		cp /bin/busybox root; chmod 4755 root; exit 3' -w /data
	kept root
	[ -z "$(find "$(last session.end .d.evidence)" -perm /6000)" ]
	[ -z "$(find "$(last session.end .d.evidence)/worktree" -type p)" ]
	[ "$(find "$(last session.end .d.evidence)" -type l -path '*/worktree/*' | wc -l)" -le 2 ]
}
@test "GOV-14: values of the environment are in no evidence" {
	crash 3 'echo new >new; exit 3' -w /data -e TOKEN_OF_ANN=swordfish
	kept new
	run ! grep -r swordfish "$STATE"
	jq -e '.process.env | index("TOKEN_OF_ANN=[redacted]")' "$(last session.end .d.evidence)/config.json"
}

# --- limits -------------------------------------------------------------------------------------------------------------
@test "ISO-4: out of memory is a reason of its own; the engine's OOMKilled where it has one (sample)" {
	run "$ENGINE" run --name one --memory 16m -w /data box sh -c 'echo new >new; exec dd if=/dev/zero of=/dev/null bs=64M count=1'
	is 137 "$status"
	ended_as oom 137
	kept new
	# podman 4's conmon reports it elsewhere.
	[ "$ENGINE" = podman ] || is 137 "$("$ENGINE" inspect -f '{{.State.ExitCode}}' one)"
}
@test "ISO-4: forks that were refused are a reason of their own" {
	run "$ENGINE" run --name one --pids-limit 5 -w /data box \
		sh -c 'echo new >new; for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; exit 2'
	[ "$status" -ne 0 ]
	ended_as pids-limit 2
	kept new
}

# --- shares that hang ---------------------------------------------------------------------------------------------------
# share: a FUSE file system at $SUITE/share that hangs when it is told so.
share() {
	SHARE=$SUITE/share BEHIND=$SUITE/behind CONTROL=$SUITE/control
	[ -c /dev/fuse ] && pkg-config --exists fuse3 || skip 'missing: fuse3'
	mkdir -p "$SHARE" "$BEHIND"
	: >"$CONTROL"
	# shellcheck disable=SC2046 # flags
	[ -x "$SUITE/sharefs" ] || cc -O1 -o "$SUITE/sharefs" "$HERE/../lib/sharefs.c" $(pkg-config --cflags --libs fuse3)
	"$SUITE/sharefs" "$BEHIND" "$CONTROL" "$SHARE" 3>&- &
	SHARE_PID=$!
	until_ok grep -qF " $SHARE " /proc/self/mountinfo
}
share_does() { # OPERATION HOW; nothing: as it should
	printf '%s\n' "$*" >"$CONTROL.new"
	mv "$CONTROL.new" "$CONTROL"
}
share_away() {
	[ -n "${SHARE_PID:-}" ] || return 0
	share_does
	umount -l "$SHARE"
	kill -9 "$SHARE_PID" 2>/dev/null || true
	rm -rf "$BEHIND"
}
one_end() {
	[ "$(records session.end)" -eq 1 ]
}
delivered() {
	[ -e "$BEHIND/${1##*/}/metadata.json" ]
}

@test "CARD-5: ISO-5: a store on a share that hangs: the container goes away, the evidence follows later" {
	share
	judges '"rules":[{"effect":"allow","profile":"container"}],"sandbox":{"enabled":true,"retention_path":"'"$SHARE"'"}'
	share_does any hang
	# It returns while the share hangs: nothing waits for it.
	crash 3 'echo new >new; exit 3' -w /data
	until_ok nothing_left
	is true "$(last session.end '.d.evidence_staged // false')"
	[[ $(last session.end .d.evidence) = "$STATE"/sandbox/staging/* ]]
	share_does
	until_ok "$CUSTODY" evidence deliver
	until_ok delivered "$(last session.end .d.evidence)"
}
@test "CARD-5: ISO-5: a worktree on a share that hangs: delete does not wait for it, the record follows" {
	share
	echo before >"$BEHIND/old"
	"$ENGINE" run -d --name one -v "$SHARE:/work" -w /work box sh -c 'echo new >new; echo ready; exec sleep 100'
	until_ok said one ready
	share_does any hang
	"$ENGINE" kill one
	"$ENGINE" wait one
	# It returns while the share hangs.
	"$ENGINE" rm one
	is 0 "$(records session.end)"
	share_does
	until_ok one_end
	until_ok nothing_left
	ended_as signaled 137
	kept new old
}
