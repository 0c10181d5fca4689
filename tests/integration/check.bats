#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# GOV-9: `custody check` says digest and verdict of what would run, and changes nothing.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	printf '#!/bin/sh\necho one\n' >script.sh
	chmod +x script.sh
	unset LANG LC_ALL CUSTODY_LANE CUSTODY_ALLOW_PROD
}

teardown() {
	custody_teardown
}

check() { # [OPTIONS] -- CMD...; never fails itself
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" check "$@" </dev/null
}

# digest [OPTIONS] -- CMD...: in $DIGEST
digest() {
	check --json "$@"
	[ "$status" -le 1 ] || custody_fail "check failed"
	DIGEST=$(jq -r .digest <<<"$output")
	[[ $DIGEST =~ ^sha256:[0-9a-f]{64}$ ]] || custody_fail "no digest: $DIGEST"
}

# profile NAME JSON: a profile file that extends offline.
profile() {
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline"} + $body' \
		>"$CUSTODY_HOME/$1.json"
	PROFILE=$CUSTODY_HOME/$1.json
}

# differs WHAT: the last digest is another one than $BASE
differs() {
	[ "$DIGEST" != "$BASE" ] || custody_fail "$1 changes nothing"
}

same() {
	[ "$DIGEST" = "$BASE" ] || custody_fail "$1 changes the digest"
}

@test "GOV-9: check prints the shape that others build on" {
	check --json -- ls -la
	[ "$status" -le 1 ]
	jq -e '.schema_version == 1 and (.digest | test("^sha256:[0-9a-f]{64}$"))
		and .subject.argv == ["ls", "-la"] and .subject.lane == "sandbox"
		and (.verdict.decision | IN("allow", "ask", "deny")) and (.verdict.level | IN("A", "B", "C"))
		and (.verdict.axes | has("outcome") and has("intention") and has("domain"))
		and (.verdict.reasons | all(has("id") and has("text"))) and .gate.open' <<<"$output"
	# The digest can be computed from the document alone.
	[ "sha256:$(jq -cjS .subject <<<"$output" | sha256sum | cut -d' ' -f1)" = "$(jq -r .digest <<<"$output")" ]
	check -- ls -la
	assert_output_has "$DIGEST"
	assert_output_has verdict
	check --explain -- ls -la
	assert_output_has 'profile     offline'
	assert_output_has 'nothing of the host'
}

@test "GOV-2: the shipped profile's own variables are no reason, the caller's are" {
	check --json -- ls
	assert_status 0
	jq -e '.verdict.level == "A" and .verdict.axes.raw_outcome == "reversible" and .verdict.axes.domain == "workspace"' <<<"$output"
	check --json -e 'TAR_OPTIONS=--checkpoint-action=exec=x' -- ls
	jq -e '.verdict.axes.raw_outcome != "reversible"' <<<"$output"
	check --json -- sh -c 'rm -rf *'
	assert_status 1
	jq -e '.verdict.level == "C" and .verdict.decision == "ask"' <<<"$output"
}

@test "GOV-4: --provenance never lowers a level" {
	local word level
	check --json -- make
	level=$(jq -r .verdict.level <<<"$output")
	for word in tool_output web_content unknown; do
		check --json --provenance "$word" -- make
		[[ ! $(jq -r .verdict.level <<<"$output") < $level ]] || custody_fail "$word lowers it"
	done
}

@test "GOV-6: an admin's rule denies, and check names it" {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules": [{"effect": "deny", "argv": ["make", "deploy"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	check --json -- make deploy now
	assert_status 1
	jq -e '.verdict.decision == "deny" and any(.verdict.reasons[]; .text | contains("custody.json"))' <<<"$output"
	check -- make test
	assert_status 0
	echo '{"provenance": [{"uid": '"$(id -u)"', "intention": "explicit"}], "governance": {"security_profile": "strict"}}' \
		>"$CUSTODY_ROOT/etc/custody.json"
	check --json -- ls
	jq -e '.verdict.axes | .intention == "explicit" and .profile == "strict"' <<<"$output"
}

@test "GOV-4: an admin's mapping of a cgroup names the requester, on whole parts of its path" {
	local cgroup
	cgroup=$(cut -d: -f3- /proc/self/cgroup | awk 'length > 1' | head -n 1)
	[ -n "$cgroup" ] || cgroup=/
	mkdir -p "$CUSTODY_ROOT/etc"
	jq -n --arg c "$cgroup" '{provenance: [{cgroup: $c, intention: "task"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	check --json -- ls
	jq -e '.verdict.axes.intention == "task"' <<<"$output"
	jq -n --arg c "${cgroup%?}" '{provenance: [{cgroup: (if $c == "" then "/none" else $c end), intention: "task"}]}' \
		>"$CUSTODY_ROOT/etc/custody.json"
	check --json -- ls
	jq -e '.verdict.axes.intention != "task"' <<<"$output"
}

@test "GOV-4: a controlling terminal is a person, without one it is not, and the admin overrides both" {
	# The user who runs this suite may have a terminal.
	run --separate-stderr setsid -w "$CUSTODY" check --json -- ls </dev/null
	jq -e '.verdict.axes.intention == "autonomous"' <<<"$output"
	run --separate-stderr script -qec "'$CUSTODY' check --json -- ls" /dev/null </dev/null
	jq -e '.verdict.axes.intention == "explicit"' <<<"$output"
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"provenance": [{"uid": '"$(id -u)"', "intention": "autonomous"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr script -qec "'$CUSTODY' check --json -- ls" /dev/null </dev/null
	jq -e '.verdict.axes.intention == "autonomous"' <<<"$output"
}

@test "GOV-9: the status shows whether it would start at once" {
	check --json -- ls
	[ "$status" -eq "$([ "$(jq -r .verdict.decision <<<"$output")" = allow ] && echo 0 || echo 1)" ]
	check -- sh -c 'rm -rf /'
	assert_status 1
	check -q -- sh -c 'rm -rf /'
	assert_status 1
	[ -z "$output$stderr" ]
}

@test "GOV-9: a retry of the same thing has the same digest" {
	digest -- ./script.sh a
	BASE=$DIGEST
	digest -- ./script.sh a
	same "a retry"
	TERM=vt100 digest -- ./script.sh a
	same "another terminal"
	digest --name x --agent y --issue 7 --worker 3 -- ./script.sh a
	same "the requester"
	digest --timeout 5 -- ./script.sh a
	same "a shorter time"
	digest --provenance web_content -- ./script.sh a
	same "where it comes from"
	FOO=1 digest -- ./script.sh a
	same "a variable that does not get in"
	touch other script.sh
	digest -- ./script.sh a
	same "a new file beside it"
	A=1 B=2 digest -e B -e A -- ./script.sh a
	BASE=$DIGEST
	A=1 B=2 digest -e A -e B -- ./script.sh a
	same "another order of -e"
	# A comment in the profile, a description.
	profile x '{"description": "a"}'
	digest --profile "$PROFILE" -- ls
	BASE=$DIGEST
	profile x '{"description": "b"}'
	sed -i '1i// words' "$PROFILE"
	digest --profile "$PROFILE" -- ls
	same "a comment"
}

@test "GOV-9: a change of what runs changes the digest" {
	digest -- ./script.sh a
	BASE=$DIGEST
	digest -- ./script.sh b
	differs argv
	digest -- ./script.sh a ''
	differs "an empty argument"
	digest -- ./script.sha
	differs "words that run together"
	digest -e A=1 -- ./script.sh a
	differs "a variable"
	mkdir sub
	digest -w sub -- ./script.sh a
	differs "the directory"
	digest --hostname other -- ./script.sh a
	differs "the host's name"
	digest --memory 3G -- ./script.sh a
	differs "a larger limit"
	digest --memory 1G -- ./script.sh a
	differs "another limit"
	digest --pids-limit 513 -- ./script.sh a
	differs "more processes"
	digest --cpus 3 -- ./script.sh a
	differs "more processors"
	mkdir "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol" -- ./script.sh a
	differs "a volume"
	local ro=$DIGEST
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ./script.sh a
	differs "a volume"
	[ "$DIGEST" != "$ro" ]
	digest --no-seal -- ./script.sh a
	differs --no-seal
	digest --seal-tree -- ./script.sh a
	differs --seal-tree
	local body
	for body in '{"limits":{"tmp":"1G"}}' '{"limits":{"time":"5s"}}' '{"seccomp":{"allow":["keyctl"]}}' \
		'{"seccomp":{"violation":"kill"}}' '{"enforce":{"optional":["cpu-limit"]}}' '{"workspace":{"mode":"ro"}}' \
		'{"dangerous":["no-seccomp"]}' '{"filesystem":{"hide":["/work/sub"]}}' '{"process":{"user":"7"}}' \
		'{"env":{"set":{"PATH":"/bin"}}}' '{"network":{"mode":"host"},"dangerous":["host-network"]}'; do
		profile offline "$body"
		digest --profile "$PROFILE" -- ./script.sh a
		differs "$body"
	done
	printf '#!/bin/sh\necho two\n' >script.sh
	digest -- ./script.sh a
	differs "the script"
}

@test "GOV-9: loosening the time limit changes the digest, tightening does not" {
	profile timed '{"limits":{"time":"60s"}}'
	digest --profile "$PROFILE" -- ls
	BASE=$DIGEST
	digest --profile "$PROFILE" --timeout 59 -- ls
	same "a shorter time"
	digest --profile "$PROFILE" --timeout 61 -- ls
	differs "a longer time"
	digest --profile "$PROFILE" --timeout 0 -- ls
	differs "no limit"
}

@test "GOV-9: another file under the name of a writable source is another subject" {
	mkdir "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ls
	BASE=$DIGEST
	# The old one stays: else its inode might be reused.
	mv "$CUSTODY_HOME/vol" "$CUSTODY_HOME/old"
	mkdir "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ls
	differs "another directory"
	rmdir "$CUSTODY_HOME/vol"
	ln -s old "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ls
	differs "a link to the old one"
	rm "$CUSTODY_HOME/vol"
	mv "$CUSTODY_HOME/old" "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ls
	same "the old one, back again"
	# A hard link is the same file under another name: both names count.
	echo x >"$CUSTODY_HOME/f"
	ln "$CUSTODY_HOME/f" "$CUSTODY_HOME/g"
	digest -v "$CUSTODY_HOME/f:/f:rw" -- ls
	BASE=$DIGEST
	digest -v "$CUSTODY_HOME/g:/f:rw" -- ls
	differs "another name"
	profile rw '{"workspace":{"mode":"rw"}}'
	digest --profile "$PROFILE" -- ls
	BASE=$DIGEST
	mv "$CUSTODY_HOME/work" "$CUSTODY_HOME/was"
	mkdir "$CUSTODY_HOME/work"
	cd "$CUSTODY_HOME/work"
	digest --profile "$PROFILE" -- ls
	differs "another worktree"
}

@test "GOV-9: a writable source that is replaced before it is mounted stops the run" {
	skip_without root # a user's namespaces come with clone: nothing to hold on to
	mkdir -p "$CUSTODY_ROOT/etc" "$CUSTODY_HOME/vol"
	echo '{"provenance": [{"uid": 0, "intention": "explicit"}], "governance": {"security_profile": "off"}}' \
		>"$CUSTODY_ROOT/etc/custody.json"
	replace_it() {
		mv "$CUSTODY_HOME/vol" "$CUSTODY_HOME/old"
		mkdir "$CUSTODY_HOME/vol"
	}
	suite_gate creator-placed -v "$CUSTODY_HOME/vol:/vol:rw" -- touch /vol/x --- replace_it < <(:)
	cat "$CUSTODY_HOME/err"
	assert_status 125
	grep -q "'$CUSTODY_HOME/vol' was replaced" "$CUSTODY_HOME/err"
	[ ! -e "$CUSTODY_HOME/vol/x" ]
	[ ! -e "$CUSTODY_HOME/old/x" ]
	# The control: no concurrent change.
	custody_run -v "$CUSTODY_HOME/vol:/vol:rw" -- touch /vol/x
	assert_status 0
	[ -e "$CUSTODY_HOME/vol/x" ]
}

@test "GOV-9: a file system mounted over a writable source is another subject" {
	skip_without root # a user has no mounts to make
	mkdir "$CUSTODY_HOME/vol"
	digest -v "$CUSTODY_HOME/vol:/vol:rw" -- ls
	BASE=$DIGEST
	run --separate-stderr unshare -m sh -c 'mount -t tmpfs none "$1/vol" && "$2" check --json -v "$1/vol:/vol:rw" -- ls' \
		sh "$CUSTODY_HOME" "$CUSTODY"
	[ "$status" -le 1 ]
	DIGEST=$(jq -r .digest <<<"$output")
	differs "a tmpfs over it"
}

@test "GOV-9: values of the environment show nowhere, and count" {
	A=hunter2 check --json -e A -- ls
	[[ $output$stderr != *hunter2* ]] || custody_fail "the value shows"
	jq -e '.subject.env | has("A")' <<<"$output"
	BASE=$(jq -r .digest <<<"$output")
	A=hunter3 digest -e A -- ls
	differs "another value"
	A=hunter2 digest -e A -- ls
	same "the same value"
	A=hunter2 check --explain -e A -- ls
	[[ $output$stderr != *hunter2* ]] || custody_fail "the value shows"
	# Another root has another key: values cannot be compared between the two.
	rm "$CUSTODY_ROOT/sandbox/digest.key"
	A=hunter2 digest -e A -- ls
	differs "another key"
}

@test "GOV-9: the configured digest key is the same everywhere" {
	mkdir -p "$CUSTODY_ROOT/etc"
	printf '{"digest_key": "%064d"}\n' 7 >"$CUSTODY_ROOT/etc/custody.json"
	chmod 600 "$CUSTODY_ROOT/etc/custody.json"
	digest -- ls
	BASE=$DIGEST
	[ ! -e "$CUSTODY_ROOT/sandbox/digest.key" ]
	printf '{"digest_key": "%064d"}\n' 8 >"$CUSTODY_ROOT/etc/custody.json"
	digest -- ls
	differs "another key"
	printf '{"digest_key": "%063d"}\n' 8 >"$CUSTODY_ROOT/etc/custody.json"
	check -- ls
	assert_status 125
	assert_stderr_has digest_key
}

@test "GOV-9: a digest key that others can read, or that is none, is refused" {
	digest -- ls
	local key=$CUSTODY_ROOT/sandbox/digest.key
	[ "$(stat -c %a "$key")" = 600 ]
	chmod 644 "$key"
	check -- ls
	assert_status 125
	assert_stderr_has "chmod 600"
	[ -z "$output" ]
	chmod 600 "$key"
	echo short >"$key"
	check -- ls
	assert_status 125
	assert_stderr_has "$key"
	: >"$key"
	check -- ls
	assert_status 125
}

@test "GOV-9: sixteen first checks at once agree on one digest" {
	local i pids=()
	for i in {1..16}; do
		"$CUSTODY" check --json -- ls </dev/null >"$CUSTODY_HOME/out.$i" 2>"$CUSTODY_HOME/err.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || [ $? -eq 1 ]
	done
	cat "$CUSTODY_HOME"/err.*
	[ "$(jq -r .digest "$CUSTODY_HOME"/out.* | sort | uniq -c | awk '{print $1}')" = 16 ]
	[ -z "$(find "$CUSTODY_ROOT/sandbox" -name '.digest.key*')" ]
}

@test "GOV-9: check opens nothing for writing and starts nothing" {
	digest -- ./script.sh
	find "$CUSTODY_HOME" -printf '%p %i %T@ %C@ %m %s\n' | sort >/tmp/"before.$$"
	# The log is outside of the watched directories.
	strace -f -qq -o /tmp/"strace.$$" -e trace=all "$CUSTODY" check --explain -- ./script.sh >/dev/null </dev/null || [ $? -eq 1 ]
	find "$CUSTODY_HOME" -printf '%p %i %T@ %C@ %m %s\n' | sort >/tmp/"after.$$"
	diff /tmp/"before.$$" /tmp/"after.$$"
	local calls
	calls=$(cat /tmp/"strace.$$")
	rm /tmp/"before.$$" /tmp/"after.$$" /tmp/"strace.$$"
	[ "$(grep -c openat <<<"$calls")" -gt 5 ]
	run ! grep -E 'open(at|at2)?\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)' <<<"$calls"
	run ! grep -E '(^|[0-9] )(fork|vfork|clone|clone3|mkdir|mkdirat|rename|renameat|renameat2|unlink|unlinkat|link|linkat|symlink|symlinkat|chmod|fchmod|fchmodat|chown|fchown|fchownat|mknodat|mount|unshare|setns|socket|connect|kill|utimensat|ftruncate|setxattr)\(' <<<"$calls"
	[ "$(grep -c 'execve(' <<<"$calls")" -eq 1 ]
	# stdout is all that is written to.
	run ! grep -E ' (writev|pwrite64|pwritev|write\([^1]|write\(1[^,])' <<<"$calls"
}

@test "GOV-9: on a read-only state without a key check is refused, with one it answers" {
	skip_without root # a user has no mounts to make
	run --separate-stderr unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && "$2" check -- ls' \
		sh "$CUSTODY_ROOT" "$CUSTODY"
	assert_status 125
	assert_stderr_has "Read-only file system"
	digest -- ls
	run --separate-stderr unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && "$2" check -- ls' \
		sh "$CUSTODY_ROOT" "$CUSTODY"
	[ "$status" -le 1 ]
	assert_output_has "$DIGEST"
}

@test "GOV-9: values that JSON cannot hold are refused" {
	check -- ls $'\xff'
	assert_status 125
	assert_stderr_has "not UTF-8"
	A=$'\xff' check -e A -- ls
	assert_status 125
	[[ -z $output ]]
}

@test "LANE-2: check names the missing keys of a run in prod, and each lane has its own key and digest" {
	digest -- ls
	BASE=$DIGEST
	profile any '{"network":{"class":"any"}}'
	digest --profile "$PROFILE" -- ls
	BASE=$DIGEST
	digest --profile "$PROFILE" --lane prod -- ls
	differs "the lane"
	assert_status 1
	jq -e '(.gate.open | not) and (.gate.text | contains("CUSTODY_ALLOW_PROD")) and .subject.lane == "prod"' <<<"$output"
	CUSTODY_ALLOW_PROD=1 check --json --profile "$PROFILE" --lane prod --allow-prod -- ls
	jq -e '.gate.open' <<<"$output"
	run ! cmp -s "$CUSTODY_ROOT/sandbox/digest.key" "$CUSTODY_ROOT/prod/digest.key"
}

@test "check: mistakes on the command line" {
	check
	assert_status 64
	check --
	assert_status 64
	check --unknown -- ls
	assert_status 64
	check --result x -- ls
	assert_status 64
	[ ! -e x ]
	check --dry-run -- ls
	assert_status 64
	check -d -- ls
	assert_status 64
	check --provenance nonsense -- ls
	assert_status 125
	assert_stderr_has "write tool_output, web_content or unknown"
	check --help
	assert_status 0
	check --profile nonesuch -- ls
	assert_status 125
	# After "--" it is the command's.
	check --json -- ls --explain
	jq -e '.subject.argv == ["ls", "--explain"]' <<<"$output"
}

@test "GOV-9: check, run and bundle name one digest for one thing" {
	local words=(-e A=1 -v /usr/share:/share -- ./script.sh a)
	# A user may have no cgroup.
	profile easy '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	digest --timeout 50 --profile "$PROFILE" "${words[@]}"
	BASE=$DIGEST
	custody_run --timeout 60 --profile "$PROFILE" "${words[@]}"
	assert_status 0
	[ "$(custody_result .digest)" = "$BASE" ] || custody_fail "run has another digest"
	bundle --timeout 70 --profile "$PROFILE" "${words[@]}"
	[ "$(jq -r .digest "$BUNDLE/subject.json")" = "$BASE" ]
	# What ran changes nothing for the next time.
	digest --profile "$PROFILE" "${words[@]}"
	same "a run"
}

@test "GOV-9: a bundle has the document that check prints" {
	digest -- ./script.sh a
	local document=$output
	bundle -- ./script.sh a
	[ "$(jq -r .digest "$BUNDLE/subject.json")" = "$DIGEST" ]
	diff <(jq -S .subject <<<"$document") <(jq -S .subject "$BUNDLE/subject.json")
	[ "$(stat -c %a "$BUNDLE/subject.json")" = 600 ]
	cp "$BUNDLE/subject.json" "$BUNDLE/config.json" "$CUSTODY_HOME"
	# Again: the same bytes.
	bundle --force -- ./script.sh a
	cmp "$BUNDLE/subject.json" "$CUSTODY_HOME/subject.json"
	cmp "$BUNDLE/config.json" "$CUSTODY_HOME/config.json"
}

@test "GOV-9: as a user check has the same shape and a key of its own" {
	suite_setup_user
	digest -- ls
	BASE=$DIGEST
	digest -- ls
	same "a retry"
	[ "$(stat -c %a "$CUSTODY_ROOT/sandbox/digest.key")" = 600 ]
}
