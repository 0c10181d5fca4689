#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# The broker's git tools: the session's repository is hostile, and nothing of it runs or is followed outside.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	suite_setup
	prepare
}

teardown() {
	[ -z "${SERVER:-}" ] || kill "$SERVER" 2>/dev/null || true
	custody_teardown
}

prepare() {
	export NO_COLOR=1 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	WORK=$CUSTODY_HOME/work
	RAN=$CUSTODY_HOME/ran # what must not run outside makes files here
	mkdir -p "$RAN"
	config
	profile git.diff
	repository
}

config() { # [JSON]: section broker of custody.json
	suite_ungoverned "$(jq -cn --argjson broker "${1:-{\}}" '{broker: $broker}')"
	own "$CUSTODY_ROOT"
}

profile() { # TOOL...
	suite_profile tools "$(jq -n --args '{broker: {tools: $ARGS.positional},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' "$@")"
	own "$PROFILE" "$WORK" "$RAN"
}

g() { # git in the worktree, as its owner
	"${CUSTODY_AS[@]}" git -C "$WORK" -c user.name=A -c user.email=a@example.org -c init.defaultBranch=main "$@"
}

put() { # NAME TEXT: a file of the worktree
	mkdir -p "$(dirname "$WORK/$1")"
	printf '%s\n' "$2" >"$WORK/$1"
	own "$WORK"
}

# One commit that the remote has (BASE), and a second one.
repository() {
	g init -q
	put kept "line one
line two
line three"
	put moved "some text that is long enough to be found again"
	put dropped "text of a file that goes"
	g add -A
	g commit -qm base
	BASE=$(g rev-parse HEAD)
	g update-ref refs/remotes/origin/main HEAD
}

# ask TOOL PARAMS [OPTIONS]: one call from inside; $output is its data, $stderr the reason of a refusal.
ask() {
	local tool=$1 params=$2
	shift 2
	custody_run --profile "$PROFILE" "$@" -- /run/custody/custody-call "$tool" "$params"
}

data() { # JQ-FILTER: of the last answer
	jq -c "$1" <<<"$output"
}

@test "ISO-11: git.diff lists commits, renames by both names, modes, index and untracked names exactly" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		g mv moved renamed
		chmod +x "$WORK/kept"
		g rm -q dropped
		ln -s /etc/passwd "$WORK/link"
		printf x >"$WORK/$(printf 'odd\n"\xff')"
		own "$WORK"
		g add -A
		g commit -qm change
		put staged "only in the index"
		g add staged
		put untracked "in neither"
		put build/deep/file "a directory"
		ask git.diff '{}'
		assert_status 0
		[ "$(data .base)" = "\"$BASE\"" ]
		[ "$(data .head)" = "\"$(g rev-parse HEAD)\"" ]
		[ "$(data '.commits | length')" = 1 ]
		[ "$(data '.changes[] | [.status, .from, .path, .path_hex, .old_mode, .new_mode]')" = '["D",null,"dropped",null,"100644","000000"]
["M",null,"kept",null,"100644","100755"]
["A",null,"link",null,"000000","120000"]
["A",null,null,"6f64640a22ff","000000","100644"]
["R","moved","renamed",null,"100644","100644"]' ]
		[ "$(data '.staged[] | [.status, .path]')" = '["A","staged"]' ]
		[ "$(data '.untracked[] | .path')" = '"build/"
"untracked"' ]
		# The clean repository is gone.
		[ -z "$(find "$CUSTODY_ROOT" -name git -o -name clean)" ]
	done
}

# Programs that git would start for a repository with such a configuration: each leaves a file in $RAN.
trap_repository() {
	local hook
	for hook in pre-commit post-checkout pre-push post-index-change reference-transaction pre-auto-gc sendemail-validate fsmonitor-watchman proc-receive post-rewrite; do
		printf '#!/bin/sh\ntouch %s/hook-%s\n' "$RAN" "$hook" >"$WORK/.git/hooks/$hook"
		chmod +x "$WORK/.git/hooks/$hook"
	done
	printf '[core]\n\tfsmonitor = touch %s/other\n' "$RAN" >"$WORK/.git/included"
	cat >>"$WORK/.git/config" <<-EOT
		[core]
		    fsmonitor = "touch $RAN/fsmonitor;"
		    sshCommand = touch $RAN/ssh
		    pager = touch $RAN/pager
		    editor = touch $RAN/editor
		    askPass = touch $RAN/askpass
		    gitProxy = touch $RAN/proxy
		    hooksPath = $WORK/.git/hooks
		    alternateRefsCommand = touch $RAN/alternate
		    worktree = /
		[diff]
		    external = touch $RAN/diff
		[diff "x"]
		    textconv = touch $RAN/textconv; cat
		    command = touch $RAN/command
		[filter "x"]
		    clean = touch $RAN/clean; cat
		    smudge = touch $RAN/smudge; cat
		    process = touch $RAN/process
		    required = true
		[credential]
		    helper = "!touch $RAN/credential"
		[uploadpack]
		    packObjectsHook = touch $RAN/upload;
		[remote "origin"]
		    url = ext::sh -c 'touch $RAN/ext'
		    uploadpack = touch $RAN/uploadpack;
		    receivepack = touch $RAN/receivepack;
		    vcs = ext
		[gpg]
		    program = touch $RAN/gpg
		[extensions]
		    worktreeConfig = true
		[include]
		    path = included
		[includeIf "gitdir:/"]
		    path = included
		[alias]
		    diff-tree = "!touch $RAN/alias"
	EOT
	cp "$WORK/.git/config" "$WORK/.git/config.worktree"
	printf '* filter=x diff=x merge=x\n' >"$WORK/.gitattributes"
	cp "$WORK/.gitattributes" "$WORK/.git/info/attributes"
	own "$WORK"
}

@test "ISO-11: no hook, filter, driver, helper or configuration of the worktree runs for git.diff" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		put kept "changed"
		g add -A
		g commit -qm change
		trap_repository
		put sub/HEAD "ref: refs/heads/x" # a bare repository in the tree
		put sub/config "[core]
	fsmonitor = touch $RAN/bare"
		mkdir -p "$WORK/sub/objects" "$WORK/sub/refs"
		own "$WORK"
		ask git.diff '{}'
		assert_status 0
		[ "$(data '.changes[] | .path')" = '"kept"' ]
		[ "$(data '.untracked | map(.path)')" = '[".gitattributes","sub/"]' ]
		[ -z "$(ls -A "$RAN")" ]
	done
}

# refused TEXT: git.diff does not answer, says so, and leaves nothing.
refused() {
	ask git.diff '{}'
	[ "$status" -ne 0 ]
	[[ $stderr == *"$1"* ]] || {
		echo "$stderr"
		return 1
	}
	[[ $output$stderr != *SECRET* ]]
	[ -z "$(find "$CUSTODY_ROOT" -name clean -o -name source)" ]
	[ -z "$(ls -A "$RAN")" ]
}

@test "ISO-11: a repository that leads elsewhere is not followed" {
	local head object blob
	head=$(g rev-parse HEAD)
	blob=$(g rev-parse HEAD:kept | sed 's|..|&/|')
	object=$WORK/.git/objects/${head:0:2}/${head:2}
	# Another repository, which the session may not read.
	git init -q --bare "$CUSTODY_HOME/other.git"
	echo SECRET >"$CUSTODY_HOME/secret"

	echo "$CUSTODY_HOME/other.git/objects" >"$WORK/.git/objects/info/alternates"
	refused 'objects/info/alternates'
	rm "$WORK/.git/objects/info/alternates"
	ln -s "$CUSTODY_HOME/secret" "$WORK/.git/objects/info/alternates"
	refused 'objects/info/alternates'
	rm "$WORK/.git/objects/info/alternates"

	mv "$object" "$CUSTODY_HOME/object"
	ln -s "$CUSTODY_HOME/object" "$object"
	refused 'no regular file'
	rm "$object"
	mkfifo "$object"
	refused 'no regular file'
	rm "$object"
	refused 'missing or damaged'
	# The object of another id.
	cp "$WORK/.git/objects/$blob" "$object"
	refused 'missing or damaged'
	rm -f "$object"
	mv "$CUSTODY_HOME/object" "$object"

	mv "$WORK/.git/objects/${head:0:2}" "$CUSTODY_HOME/dir"
	ln -s "$CUSTODY_HOME/dir" "$WORK/.git/objects/${head:0:2}"
	refused "is none, or cannot be read"
	rm "$WORK/.git/objects/${head:0:2}"
	mv "$CUSTODY_HOME/dir" "$WORK/.git/objects/${head:0:2}"

	cp "$WORK/.git/HEAD" "$CUSTODY_HOME/HEAD"
	for text in SECRET 'ref: ../../secret' 'ref: refs/heads/../../../secret' 'ref: refs/heads/--upload-pack=x' "ref: refs/heads/a
b"; do
		printf '%s\n' "$text" >"$WORK/.git/HEAD"
		ask git.diff '{}'
		[[ $output$stderr != *SECRET* ]]
		[ "$status" -ne 0 ] || [ "$(data .head)" = null ]
	done
	rm "$WORK/.git/HEAD"
	mkfifo "$WORK/.git/HEAD"
	refused 'no regular file'
	rm "$WORK/.git/HEAD"
	ln -s "$CUSTODY_HOME/secret" "$WORK/.git/HEAD"
	refused 'no regular file'
	rm "$WORK/.git/HEAD"
	printf 'ref: refs/heads/HEAD2\n' >"$WORK/.git/HEAD"
	printf 'ref: refs/heads/HEAD2\n' >"$WORK/.git/refs/heads/HEAD2"
	refused 'refer to each other'
	rm "$WORK/.git/refs/heads/HEAD2"
	cp "$CUSTODY_HOME/HEAD" "$WORK/.git/HEAD"

	truncate -s 1G "$WORK/.git/index"
	refused 'more than 64 MiB'
	rm "$WORK/.git/index"
	echo SECRET >"$WORK/.git/index"
	refused 'index is damaged'
	rm "$WORK/.git/index"
	echo "$head" >"$WORK/.git/shallow"
	refused 'shallow'
	rm "$WORK/.git/shallow"

	custody_run --profile "$PROFILE" -- sh -c 'mv .git .moved && ln -s .moved .git && /run/custody/custody-call git.diff || echo no
		rm .git && echo "gitdir: .moved" >.git && /run/custody/custody-call git.diff || echo no'
	assert_status 0
	[ "$output" = "no
no" ]
	[ "$(grep -c 'no directory of its own' <<<"$stderr")" = 2 ]
	ask git.diff '{}'
	assert_status 0
	[ "$(data .head)" = "\"$head\"" ]
}

@test "ISO-11: git.diff sees commits that only the session has, and no file of the host changes" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		custody_run --profile "$PROFILE" -- sh -ec 'echo new >new; git add new
			git -c user.name=P -c user.email=p@example.org commit -qm inside; git rev-parse HEAD; /run/custody/custody-call git.diff'
		assert_status 0
		[ "$(jq -r .head <<<"${lines[1]}")" = "${lines[0]}" ]
		[ "$(jq -c '.changes | map(.path)' <<<"${lines[1]}")" = '["new"]' ]
		[ ! -e "$WORK/new" ]
	done
}

@test "ISO-11: a second name of a file that only root may read is not read" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	# The worktree is another user's, as in a run by root for that user.
	chown -R "$SUITE_UID:$SUITE_UID" "$WORK"
	(umask 077 && echo "$BASE" >"$CUSTODY_HOME/hidden")
	rm "$WORK/.git/refs/heads/main"
	ln "$CUSTODY_HOME/hidden" "$WORK/.git/refs/heads/main"
	refused 'cannot be read'
}

@test "ISO-11: git.diff takes no unknown parameter, and no base that is an option" {
	local params
	for params in '{"base":"--output=x"}' '{"base":"none"}' '{"base":7}' '{"staged":"yes"}' '{"other":1}' '{"base":"refs/../../x"}'; do
		ask git.diff "$params"
		[ "$status" -ne 0 ]
	done
	ask git.diff '{"base":"main","path":"--output=x","staged":false}'
	assert_status 0
	[ "$(data '[.changes, .staged]')" = '[[],null]' ]
}

# remote [JSON]: a bare repository with BASE on main, declared as `hub` with this declaration; git.push only.
remote() {
	REMOTE=$CUSTODY_HOME/hub.git
	rm -rf "$REMOTE"
	"${CUSTODY_AS[@]}" git init -q --bare -b main "$REMOTE"
	"${CUSTODY_AS[@]}" git -C "$REMOTE" fetch -q "$WORK/.git" "$BASE:refs/heads/main"
	config "$(jq -cn --arg url "file://$REMOTE" --argjson more "${1:-{\}}" \
		'{remotes: [{name: "hub", url: $url, network: "test", level: "A", branches: ["agent/*"]} + $more]}')"
	profile git.push
}

at() { # BRANCH: the commit of the remote's branch, "" if it does not exist
	git -c "safe.directory=$REMOTE" -C "$REMOTE" rev-parse --verify -q "refs/heads/$1" || true
}

push() { # BRANCH [JSON]
	ask git.push "$(jq -cn --arg branch "$1" --argjson more "${2:-{\}}" '{remote: "hub", branch: $branch} + $more')"
}

# not_pushed TEXT: the call was refused, says so, and the remote has no more than before.
not_pushed() {
	[ "$status" -ne 0 ]
	[[ $stderr == *"$1"* ]] || {
		echo "$stderr"
		return 1
	}
	[ "$(git -c "safe.directory=$REMOTE" -C "$REMOTE" for-each-ref --format='%(refname) %(objectname)')" = "refs/heads/main $BASE" ]
	[ -z "$(find "$CUSTODY_ROOT" -name clean -o -name source)" ]
	[ -z "$(ls -A "$RAN")" ]
}

commit() { # NAME TEXT
	put "$1" "$2"
	g add -A
	g commit -qm "${3:-change}"
}

@test "ISO-11: git.push sends a branch from the clean repository, and nothing of the worktree runs" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		remote
		commit kept changed
		commit other more
		trap_repository
		push agent/one
		assert_status 0
		[ "$(data .commit)" = "\"$(g -c core.fsmonitor=false rev-parse HEAD)\"" ]
		[ "$(data '[.remote, .branch, .old, .files, (.commits | length)]')" = '["hub","agent/one","",2,2]' ]
		[ "$(at agent/one)" = "$(data .commit | tr -d '"')" ]
		[ "$(at main)" = "$BASE" ]
		[ -z "$(ls -A "$RAN")" ]
		[ -z "$(find "$CUSTODY_ROOT" -name clean)" ]
		# Once more: the remote has it.
		push agent/one
		[ "$status" -ne 0 ]
		[[ $stderr == *'at this commit already'* ]]
	done
}

@test "ISO-11: git.push sends to no branch, remote or URL that the operator has not named" {
	local branch
	remote
	commit kept changed
	for branch in main agent agent/ agent/../main refs/heads/agent/x agent/a.lock 'agent/a b' '--all' 'agent/*' ':main' +agent/x agent/-x 'agent/a:main'; do
		push "$branch"
		not_pushed ''
	done
	push agent/x '{"remote":"other"}'
	not_pushed 'no remote'
	push agent/x "{\"remote\":\"file://$REMOTE\"}"
	not_pushed 'no remote'
	push agent/x '{"force":true}'
	not_pushed 'parameters'
	push agent/x '{"commit":"--mirror"}'
	not_pushed ''
	push agent/x '{"commit":"no-such-branch"}'
	not_pushed 'no such commit'
	push agent/x "{\"commit\":\"$(g rev-parse HEAD:kept)\"}"
	not_pushed 'no commit'
}

@test "ISO-11: git.push takes no commit away from a branch unless the operator allows it" {
	local first
	remote
	commit kept first
	push agent/x
	assert_status 0
	first=$(at agent/x)
	g reset -q --hard "$BASE"
	commit kept second
	push agent/x
	[ "$status" -ne 0 ]
	[[ $stderr == *'fetch and merge'* ]]
	[ "$(at agent/x)" = "$first" ]
	config "$(jq -cn --arg url "file://$REMOTE" '{remotes: [{name: "hub", url: $url, network: "test", level: "A", branches: ["agent/*"], force: true}]}')"
	push agent/x
	assert_status 0
	[ "$(at agent/x)" = "$(g rev-parse HEAD)" ]
}

TOKEN=ghp_$(sha256sum <<<token | cut -c1-36) # of the right shape

@test "ISO-11: git.push inspects every commit, path, mode and content that the remote does not have" {
	remote
	# A secret in a commit that a later one removes.
	commit kept "token $TOKEN"
	commit kept "clean again"
	push agent/x
	not_pushed 'secret.token.github'
	[[ $stderr != *"$TOKEN"* ]]
	# In a message, and in the author's name.
	g reset -q --hard "$BASE"
	commit kept text "see $TOKEN"
	push agent/x
	not_pushed 'secret.token.github'
	g reset -q --hard "$BASE"
	put kept text
	g add -A
	g -c "user.name=$TOKEN" commit -qm change
	push agent/x
	not_pushed 'secret.token.github'
	# In a name, a link's target, the merged branch.
	g reset -q --hard "$BASE"
	commit "$TOKEN" text
	push agent/x
	not_pushed 'secret.token.github'
	g reset -q --hard "$BASE"
	ln -s /etc/passwd "$WORK/link"
	g add -A
	g commit -qm link
	push agent/x
	not_pushed 'mode.symlink'
	g reset -q --hard "$BASE"
	g checkout -qb side
	commit side "$TOKEN"
	g rm -q side
	g commit -qm removed
	g checkout -q main
	commit kept text
	g merge -q --no-edit side
	push agent/x
	not_pushed 'secret.token.github'
	# Hooks, submodules, attributes, renames.
	for change in .gitattributes .github/workflows/x.yml .env; do
		g reset -q --hard "$BASE"
		commit "$change" "* filter=x"
		push agent/x
		not_pushed "$change"
	done
	g reset -q --hard "$BASE"
	g mv moved .env
	g commit -qm rename
	push agent/x
	not_pushed '.env'
	g reset -q --hard "$BASE"
	g update-index --add --cacheinfo "160000,$BASE,sub"
	g commit -qm submodule
	push agent/x
	not_pushed 'change.submodule'
	# No record, log or reply has the value.
	run grep -rlF --exclude-dir=forensics "$TOKEN" "$CUSTODY_ROOT"
	[ "$status" -eq 1 ]
}

@test "ISO-11: an approval of git.push counts for these commits alone" {
	local head
	remote '{"level": "B"}'
	commit kept changed
	push agent/x
	not_pushed 'needs approval'
	head=$(g rev-parse HEAD)
	request=$("$CUSTODY" pending --json | jq -r '.requests[0].id')
	# What the approver reads.
	[ "$(jq -c '.subject.params | [.remote, .branch, .commit, .commits, .files]' "$CUSTODY_ROOT/sandbox/requests/$request.json")" = "[\"hub\",\"agent/x\",\"$head\",[\"$head\"],1]" ]
	run "$CUSTODY" approve --yes "$request"
	assert_status 0
	# Another commit than the approved one.
	g commit -q --amend -m "another message"
	push agent/x
	not_pushed 'needs approval'
	g update-ref refs/heads/main "$head"
	push agent/x
	assert_status 0
	[ "$(at agent/x)" = "$head" ]
	[ "$("$CUSTODY" ledger show --json | jq -c 'if type == "object" and .records then .records[] else . end | select(.k == "tool.call") | [.d.tool, .d.level]')" = '["git.push","B"]' ]
	[ "$("$CUSTODY" ledger show --json | jq -c 'if type == "object" and .records then .records[] else . end | select(.k == "tool.refused") | .d.refused' | sort | uniq -c | tr -s ' ')" = ' 2 "approval"' ]
}

@test "ISO-11: a repository that changes while git.push runs sends inspected commits" {
	local clean dirty
	remote
	commit kept clean
	clean=$(g rev-parse HEAD)
	g reset -q --hard "$BASE"
	commit kept "token $TOKEN"
	dirty=$(g rev-parse HEAD)
	custody_run --profile "$PROFILE" -- sh -c '(while [ -e .git/index ]; do echo '"$clean"' >.git/refs/heads/main; echo '"$dirty"' >.git/refs/heads/main; done) &
		for n in 1 2 3 4 5 6 7 8; do /run/custody/custody-call git.push "{\"remote\":\"hub\",\"branch\":\"agent/$n\"}" 2>/dev/null && echo sent; done; rm .git/index'
	# Each branch has the one commit, or was not sent.
	for n in 1 2 3 4 5 6 7 8; do
		[[ $(at "agent/$n") == "$clean" || -z $(at "agent/$n") ]]
	done
	run git -C "$REMOTE" cat-file -e "$dirty"
	[ "$status" -ne 0 ]
}

# loopback_port: one that is free now.
loopback_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# git_server: serves the repository of remote() by git://, and writes each line that it gets to $CUSTODY_HOME/packets.
git_server() {
	local port
	port=$(loopback_port)
	GIT_TRACE_PACKET=$CUSTODY_HOME/packets git daemon --reuseaddr --listen=127.0.0.1 --port="$port" --base-path="$CUSTODY_HOME" --export-all \
		--enable=receive-pack --log-destination=none "$REMOTE" 3>&- &
	SERVER=$!
	wait_until git ls-remote -q "git://127.0.0.1:$port/hub.git" >/dev/null 2>&1
	config "$(jq -cn --arg url "git://127.0.0.1:$port/hub.git" \
		'{remotes: [{name: "hub", url: $url, network: "test", level: "A", branches: ["agent/*"]}]}')"
	profile git.push git.fetch
}

@test "ISO-11: a remote learns nothing of commits before git.push has inspected them, not even their ids" {
	local head other
	remote
	# The remote is ahead of the session, which knows one of its branches or none.
	commit kept elsewhere
	other=$(g rev-parse HEAD)
	"${CUSTODY_AS[@]}" git -C "$REMOTE" fetch -q "$WORK/.git" "$other:refs/heads/ahead"
	g reset -q --hard "$BASE"
	g reflog expire --expire=now --all
	g gc -q --prune=now
	git_server
	commit kept "token $TOKEN"
	head=$(g rev-parse HEAD)
	for known in "$BASE" none; do
		: >"$CUSTODY_HOME/packets"
		push agent/x
		[ "$status" -ne 0 ]
		[[ $stderr == *secret.token.github* ]]
		grep -q 'want ' "$CUSTODY_HOME/packets"
		run grep -F "$head" "$CUSTODY_HOME/packets"
		[ "$status" -eq 1 ]
		# What both have is not sent again.
		[ "$known" = none ] || grep -q "< have $known" "$CUSTODY_HOME/packets"
		"${CUSTODY_AS[@]}" git -C "$REMOTE" update-ref refs/heads/main "$other"
	done
}

@test "ISO-11: git.push and git.fetch reach a git server" {
	remote
	git_server
	commit kept changed
	push agent/x
	assert_status 0
	[ "$(at agent/x)" = "$(g rev-parse HEAD)" ]
	ask git.fetch '{"remote":"hub"}'
	assert_status 0
	[ "$(data '.branches | map(.name)')" = '["agent/x","main"]' ]
	# The server is gone: a refusal.
	kill "$SERVER" && wait "$SERVER" || true
	SERVER=
	push agent/y
	[ "$status" -ne 0 ]
	[[ $stderr == *'cannot be reached'* ]]
	[ -z "$(at agent/y)" ]
}

@test "ISO-11: a remote that the command could change is refused, and nothing starts" {
	local place
	remote
	mkdir "$CUSTODY_HOME/open"
	cp -r "$REMOTE" "$CUSTODY_HOME/open/hub.git"
	cp -r "$REMOTE" "$WORK/hub.git"
	chmod 0777 "$CUSTODY_HOME/open"
	for place in "$WORK" "$CUSTODY_HOME/open" "$CUSTODY_HOME/missing"; do
		config "$(jq -cn --arg url "file://$place/hub.git" '{remotes: [{name: "hub", url: $url, network: "test"}]}')"
		custody_run --profile "$PROFILE" -- echo RAN
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has "remote 'hub'"
	done
	# Each call opens it by its name.
	ln -s "$REMOTE" "$CUSTODY_HOME/link.git"
	config "$(jq -cn --arg url "file://$CUSTODY_HOME/link.git" '{remotes: [{name: "hub", url: $url, network: "test"}]}')"
	custody_run --profile "$PROFILE" -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has 'has a link on the way'
	# Of the other lane.
	config "$(jq -cn --arg url "file://$REMOTE" '{remotes: [{name: "hub", url: $url, network: "prod"}]}')"
	custody_run --profile "$PROFILE" -- echo RAN
	assert_status 125
	assert_stderr_has 'needs a remote of this lane'
}

@test "ISO-11: git.fetch puts a branch into the session's repository, where git reads it, and runs nothing" {
	local user new
	for user in root user; do
		[ $user = root ] || as_user
		remote
		profile git.fetch
		commit kept upstream
		new=$(g rev-parse HEAD)
		"${CUSTODY_AS[@]}" git -C "$REMOTE" fetch -q "$WORK/.git" "$new:refs/heads/main"
		g reset -q --hard "$BASE"
		g reflog expire --expire=now --all
		g gc -q --prune=now
		trap_repository
		custody_run --profile "$PROFILE" -- sh -ec '/run/custody/custody-call git.fetch "{\"remote\":\"hub\",\"branch\":\"main\"}"
			cp .git/custody/hub.bundle /tmp/b; git init -q /tmp/r; git -C /tmp/r fetch -q /tmp/b refs/heads/main:refs/heads/x; git -C /tmp/r rev-parse x
			/run/custody/custody-call git.fetch "{\"remote\":\"hub\",\"branch\":\"main\",\"have\":[\"'"$new"'\"]}"'
		assert_status 0
		[ "$(jq -c '[.branch, .commit, .bundle]' <<<"${lines[0]}")" = "[\"main\",\"$new\",\".git/custody/hub.bundle\"]" ]
		[ "${lines[1]}" = "$new" ]
		[ "$(jq -c .bundle <<<"${lines[2]}")" = null ]
		[ -z "$(ls -A "$RAN")" ]
		[ -z "$(find "$CUSTODY_ROOT" -name clean)" ]
	done
}

@test "ISO-11: git.fetch writes through no link and into no other place" {
	remote
	profile git.fetch
	mkdir "$CUSTODY_HOME/elsewhere"
	for place in "ln -s $CUSTODY_HOME/elsewhere .git/custody" 'mkfifo .git/custody' 'mkdir -p .git/custody/hub.bundle/x'; do
		custody_run --profile "$PROFILE" -- sh -c "$place; "'/run/custody/custody-call git.fetch "{\"remote\":\"hub\",\"branch\":\"main\"}"'
		[ "$status" -ne 0 ]
	done
	# A file of that name that is a link is replaced.
	custody_run --profile "$PROFILE" -- sh -ec "mkdir .git/custody; ln -s ../config .git/custody/hub.bundle; ln -s ../config .git/custody/.new"'
		/run/custody/custody-call git.fetch "{\"remote\":\"hub\",\"branch\":\"main\"}" >/dev/null
		test ! -L .git/custody/hub.bundle; git bundle verify -q .git/custody/hub.bundle; git config core.bare'
	assert_status 0
	[ "$output" = false ]
	[ -z "$(ls -A "$CUSTODY_HOME/elsewhere")" ]
	for params in '{"remote":"other","branch":"main"}' '{"remote":"hub","branch":"--upload-pack=x"}' '{"remote":"hub","branch":"none"}' '{"remote":"hub","have":["x"]}'; do
		ask git.fetch "$params"
		[ "$status" -ne 0 ]
	done
}

# moved_server: sends every request on to another server, which asks for a password and notes in $CUSTODY_HOME/asked what it gets; PORT.
moved_server() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=test \
		-addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout "$CUSTODY_HOME/key.pem" -out "$CUSTODY_HOME/cert.pem" 2>/dev/null
	python3 -c 'import http.server, os, ssl, sys, threading
home = sys.argv[1]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.server is first:
            self.send_response(301)
            self.send_header("Location", "https://localhost:%d%s" % (second.server_address[1], self.path))
        else:
            with open(home + "/asked", "a") as f:
                f.write("%s %s\n" % (self.path, self.headers.get("Authorization")))
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
        self.send_header("Content-Length", "0")
        self.end_headers()
first, second = (http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(home + "/cert.pem", home + "/key.pem")
for s in first, second:
    s.socket = context.wrap_socket(s.socket, server_side=True)
    threading.Thread(target=s.serve_forever, daemon=True).start()
with open(home + "/port.new", "w") as f:
    f.write(str(first.server_address[1]))
os.rename(home + "/port.new", home + "/port")
threading.Event().wait()' "$CUSTODY_HOME" 2>/dev/null 3>&- &
	SERVER=$!
	wait_until [ -e "$CUSTODY_HOME/port" ]
	PORT=$(cat "$CUSTODY_HOME/port")
}

@test "ISO-11: a remote that sends git on to another server gets no further, and that server no credential" {
	remote
	moved_server
	printf %s secret-of-the-hub | "$CUSTODY" credential add hub --lane sandbox --host localhost
	https '{"credential": "hub"}'
	profile git.push git.fetch
	commit kept changed
	push agent/x
	not_pushed 'cannot be reached'
	ask git.fetch '{"remote": "hub"}'
	[ "$status" -ne 0 ]
	[ ! -e "$CUSTODY_HOME/asked" ]
}

# https_server PASSWORD: serves $CUSTODY_HOME to user git, with a certificate of its own (cert.pem); PORT.
https_server() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=test \
		-addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout "$CUSTODY_HOME/key.pem" -out "$CUSTODY_HOME/cert.pem" 2>/dev/null
	python3 "$BATS_TEST_DIRNAME/../lib/git_http.py" "$CUSTODY_HOME" "$CUSTODY_HOME/cert.pem" "$CUSTODY_HOME/key.pem" "git:$1" "$CUSTODY_HOME/port" 3>&- &
	SERVER=$!
	wait_until [ -e "$CUSTODY_HOME/port" ]
	PORT=$(cat "$CUSTODY_HOME/port")
}

# https JSON: declares it.
https() {
	config "$(jq -cn --arg url "https://localhost:$PORT/hub.git" --arg ca "$CUSTODY_HOME/cert.pem" --argjson more "$1" \
		'{remotes: [{name: "hub", url: $url, network: "test", level: "A", branches: ["agent/*"], ca: $ca} + $more | with_entries(select(.value != null))]}')"
}

@test "ISO-11: git.push over https has the credential of its remote, and no other process, record or file has it" {
	local secret=pass-$RANDOM$RANDOM$RANDOM
	remote
	https_server "$secret"
	commit kept changed
	# Without a credential, one that is missing, one whose file the command could change, one for another host, and a server that
	# the operator does not know.
	https '{}'
	push agent/x
	not_pushed 'cannot be reached'
	https '{"credential":"hub"}'
	custody_run --profile "$PROFILE" -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "needs credential 'hub'"
	put value "$secret"
	chmod 0600 "$WORK/value"
	"$CUSTODY" credential add hub --lane sandbox --host localhost --file "$WORK/value"
	custody_run --profile "$PROFILE" -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has 'the command may change'
	rm "$WORK/value"
	"$CUSTODY" credential rm --lane sandbox hub
	printf %s "$secret" | "$CUSTODY" credential add hub --lane sandbox --host example.org
	push agent/x
	not_pushed 'cannot be used'
	printf %s "$secret" | "$CUSTODY" credential add hub --lane sandbox --host localhost
	https '{"credential":"hub","ca":null}'
	push agent/x
	not_pushed 'cannot be reached'
	https '{"credential":"hub"}'
	push agent/x
	assert_status 0
	[ "$(at agent/x)" = "$(g rev-parse HEAD)" ]
	[[ $output$stderr != *"$secret"* ]]
	[ "$("$CUSTODY" ledger show --json | jq -c 'if type == "object" and .records then .records[] else . end | select(.k == "credential.use") | [.d.name, .d.to, .d.tool]' | sort -u)" = "[\"hub\",\"localhost:$PORT\",\"git.push\"]" ]
	run grep -rlF --exclude-dir=credentials "$secret" "$CUSTODY_ROOT"
	[ "$status" -eq 1 ]
}

@test "ISO-11: the certificates of a remote replace those of the system" {
	[ "$(id -u)" -eq 0 ] || skip "needs root: certificates of the system in a mount namespace"
	remote
	https_server secret-of-the-hub
	printf %s secret-of-the-hub | "$CUSTODY" credential add hub --lane sandbox --host localhost
	mkdir "$CUSTODY_HOME/system"
	cp "$CUSTODY_HOME/cert.pem" "$CUSTODY_HOME/system/ca-certificates.crt"
	cp "$CUSTODY_HOME/cert.pem" "$CUSTODY_HOME/system/test.pem"
	openssl rehash "$CUSTODY_HOME/system"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=other \
		-keyout "$CUSTODY_HOME/other.key" -out "$CUSTODY_HOME/other.pem" 2>/dev/null
	commit kept changed
	trusting() { # JSON: a push where the system trusts the server
		https "$1"
		run --separate-stderr unshare -m sh -c 'mount --bind "$1" /etc/ssl/certs && shift && exec "$CUSTODY" run "$@"' sh "$CUSTODY_HOME/system" \
			--profile "$PROFILE" -- /run/custody/custody-call git.push '{"remote":"hub","branch":"agent/x"}'
	}
	trusting "{\"credential\": \"hub\", \"ca\": \"$CUSTODY_HOME/other.pem\"}"
	not_pushed 'cannot be reached'
	trusting '{"credential": "hub", "ca": null}'
	assert_status 0
	[ "$(at agent/x)" = "$(g rev-parse HEAD)" ]
}

# silent_server: takes a connection, says so in $CUSTODY_HOME/connected, answers nothing, and says in `closed` that it has ended.
silent_server() {
	local port
	port=$(loopback_port)
	python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[4], "w")
c = s.accept()[0]
open(sys.argv[2], "w")
while c.recv(4096): pass
open(sys.argv[3], "w")' "$port" "$CUSTODY_HOME/connected" "$CUSTODY_HOME/closed" "$CUSTODY_HOME/listening" 3>&- &
	SERVER=$!
	wait_until test -e "$CUSTODY_HOME/listening"
	config "$(jq -cn --arg url "git://127.0.0.1:$port/hub.git" \
		'{remotes: [{name: "hub", url: $url, network: "test", level: "A", branches: ["agent/*"]}]}')"
}

busy_thrice() {
	[ "$(grep -c 'another git call of this session is running' "$CUSTODY_HOME/err")" -ge 3 ]
}

# git_outside: the processes of git that custody runs now.
git_outside() {
	local dir
	for dir in /proc/[0-9]*; do
		[[ $(readlink "$dir/cwd") != "$CUSTODY_ROOT"/*/git/clean ]] || echo "${dir#/proc/}"
	done 2>/dev/null
}

@test "ISO-11: git outside has a fixed environment, limits, and one call of a session at a time" {
	local pid silent
	remote
	silent_server
	profile git.push git.fetch git.diff
	commit kept changed
	env GIT_SSH_COMMAND="touch $RAN/ssh" GIT_PROXY_COMMAND="touch $RAN/proxy" GIT_EXTERNAL_DIFF="touch $RAN/diff" GIT_EXEC_PATH="$WORK" GIT_TRACE="$RAN/trace" \
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="touch $RAN/fsmonitor" GIT_ALTERNATE_OBJECT_DIRECTORIES="$WORK" \
		https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 "$CUSTODY" run --profile "$PROFILE" -- sh -c '
		until /run/custody/custody-call git.push "{\"remote\":\"hub\",\"branch\":\"agent/x\"}" 2>&1 | tee /dev/stderr | grep -q "cannot be reached"; do sleep 0.1; done &
		for tool in git.diff git.fetch git.push; do
			until /run/custody/custody-call $tool "{\"remote\":\"hub\",\"branch\":\"agent/y\"}" 2>&1 | tee /dev/stderr | grep -q "another git call"; do sleep 0.1; done
		done
		wait $!; /run/custody/custody-call git.diff' >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	silent=$!
	wait_until test -e "$CUSTODY_HOME/connected"
	pid=$(git_outside | head -n 1)
	[ -n "$pid" ]
	[ "$(tr '\0' '\n' <"/proc/$pid/environ" | sed 's/=.*//' | sort | tr '\n' ' ')" = "GIT_ALLOW_PROTOCOL GIT_ASKPASS GIT_ATTR_NOSYSTEM GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME \
GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_DIR GIT_EDITOR GIT_LITERAL_PATHSPECS GIT_NO_LAZY_FETCH GIT_NO_REPLACE_OBJECTS \
GIT_OPTIONAL_LOCKS GIT_PAGER GIT_PROTOCOL_FROM_USER GIT_SSH_COMMAND GIT_TERMINAL_PROMPT HOME LC_ALL PATH SSH_ASKPASS XDG_CONFIG_HOME " ]
	grep -q '^Max data size  *2147483648' "/proc/$pid/limits"
	grep -q '^Max core file size  *1 ' "/proc/$pid/limits"
	grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
	wait_until busy_thrice
	kill "$SERVER" && wait "$SERVER" || true
	SERVER=
	wait "$silent" || { cat "$CUSTODY_HOME/err"; false; }
	grep -q 'cannot be reached' "$CUSTODY_HOME/err"
	jq -e .head "$CUSTODY_HOME/out"
	[ -z "$(ls -A "$RAN")" ]
	[ -z "$(git_outside)" ]
}

@test "ISO-7: a supervisor that is killed while git runs leaves no git process, and the next run removes its repository" {
	local pid
	remote
	silent_server
	profile git.fetch
	"$CUSTODY" run --profile "$PROFILE" -- /run/custody/custody-call git.fetch '{"remote":"hub"}' >/dev/null 2>&1 3>&- &
	pid=$!
	wait_until test -e "$CUSTODY_HOME/connected"
	[ -n "$(find "$CUSTODY_ROOT/sandbox/sessions" -mindepth 2 -maxdepth 2 -name git)" ]
	kill -9 "$pid"
	wait "$pid" || true
	# git is gone when its end of the connection is.
	wait_until test -e "$CUSTODY_HOME/closed"
	custody_run -- true
	assert_status 0
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -mindepth 2 -maxdepth 2 -name git)" ]
	"$CUSTODY" ledger verify >/dev/null
}

# commit_tree LINES MESSAGE: a commit on HEAD with these entries (as git ls-tree prints them) besides its own; main is there then.
commit_tree() {
	local tree
	g mktree </dev/null >/dev/null
	tree=$({ g ls-tree HEAD && printf '%b\n' "$1"; } | g mktree --missing)
	g update-ref refs/heads/main "$(g commit-tree -p HEAD -m "$2" "$tree")"
}

@test "ISO-11: git.push inspects names that no list of files has: directories without a file" {
	local empty=4b825dc642cb6eb9a060e54bf8d69288fbee4904 inner
	remote
	commit_tree "040000 tree $empty\t$TOKEN" change
	push agent/x
	not_pushed 'secret.token.github'
	[[ $stderr != *"$TOKEN"* ]]
	# Around another one.
	g update-ref refs/heads/main "$BASE"
	inner=$(printf '040000 tree %s\tdir\n' "$empty" | g mktree --missing)
	commit_tree "040000 tree $inner\t$TOKEN" change
	push agent/x
	not_pushed 'secret.token.github'
	# A harmless name is one that git would not write.
	g update-ref refs/heads/main "$BASE"
	commit_tree "040000 tree $empty\tdir" change
	push agent/x
	not_pushed 'mode.unknown'
	# Behind a merge, and gone again.
	g update-ref refs/heads/main "$BASE"
	commit_tree "040000 tree $empty\t$TOKEN" change
	g update-ref refs/heads/main "$(g commit-tree -p "$BASE" -p HEAD -m merge "$BASE^{tree}")"
	push agent/x
	not_pushed 'secret.token.github'
}

@test "ISO-11: git.push inspects a commit also if a submodule names it" {
	local first
	remote '{"inspect_allow": ["change.submodule"]}'
	commit kept text "see $TOKEN"
	first=$(g rev-parse HEAD)
	commit_tree "160000 commit $first\tsub" change
	push agent/x
	not_pushed 'secret.token.github'
	# Or a tree, whose names are inspected.
	g update-ref refs/heads/main "$BASE"
	commit_tree "040000 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\t$TOKEN" change
	first=$(g rev-parse 'HEAD^{tree}')
	g read-tree HEAD
	g update-index --add --cacheinfo "160000,$first,sub"
	g commit -qm change
	push agent/x
	not_pushed 'secret.token.github'
}

@test "ISO-11: git.diff lists files that the index only announces, or that are below the name of a file" {
	put announced "text"
	g add -N announced
	rm "$WORK/dropped"
	put dropped/file "text"
	ask git.diff '{}'
	assert_status 0
	[ "$(data '[.untracked[].path]')" = '["announced","dropped/"]' ]
}
