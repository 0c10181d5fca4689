#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Changes of a run in its overlay: diff, apply, discard.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_ungoverned_setup suite_setup
	printf '1\n2\n3\n4\n5\n' >text
	echo old >gone
	mkdir dir
	echo inside >dir/file
}

# suite_ungoverned needs the directories of suite_setup, whatever the user.
suite_ungoverned_setup() {
	"$1" && suite_ungoverned
}

teardown() {
	custody_teardown
}

review() { # VERB...: as the suite's user
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# The run before.
session() {
	custody_result .session
}

kinds() { # KIND: records of the session before, by the ledger
	jq -r --arg s "$(session)" 'select(.session == $s) | .k' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | grep -cx "$1" || true
}

@test "ISO-3: diff shows the changes of a run; the original is as before" {
	custody_run -- sh -c 'sed -i s/3/three/ text; rm gone; echo new >new; chmod 755 dir/file'
	assert_status 0
	[ "$(cat text gone dir/file)" = "1
2
3
4
5
old
inside" ]
	run --separate-stderr review diff "$(session)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"deleted  gone (file)"* ]]
	[[ "$output" == *"mode     dir/file: mode 0644 -> 0755"* ]]
	[[ "$output" == *"
@@ -1,5 +1,5 @@
 1
 2
-3
+three
 4
 5"* ]]
	[[ "$output" == *"+++ b/new
@@ -0,0 +1 @@
+new"* ]]
	# What deserves a look comes before everything else.
	[ "$(head -n 1 <<<"$output")" = "deleted  gone (file)" ]
}

@test "diff: git applies its output" {
	custody_run -- sh -c 'sed -i s/3/three/ text; rm gone; echo new >"new \"name\""; chmod 755 dir/file; ln -s text link; printf "no end" >dir/end'
	assert_status 0
	cp -a "$PWD" "$CUSTODY_HOME/copy"
	review diff "$(session)" >"$CUSTODY_HOME/patch"
	cd "$CUSTODY_HOME/copy"
	git apply --whitespace=nowarn "$CUSTODY_HOME/patch"
	[ "$(sed -n 3p text)" = three ]
	[ ! -e gone ]
	[ "$(cat 'new "name"')" = new ]
	[ -x dir/file ]
	[ "$(readlink link)" = text ]
	[ "$(cat dir/end)" = "no end" ]
}

@test "diff: 'and N more' hides no change; --stat and --json agree" {
	custody_run -- sh -c 'mkdir many; for i in $(seq 1 700); do echo $i >many/$i; done; rm -r dir; head -c 100 /dev/zero >zeros'
	assert_status 0
	[ "$(review diff "$(session)" | grep -c '^diff --git a/many/')" -eq 700 ]
	[ "$(review diff "$(session)" --stat | grep -c '^added     many/.* | +1 -0$')" -eq 700 ]
	review diff "$(session)" --stat | grep -x 'added     zeros | binary, 0 -> 100 bytes'
	review diff "$(session)" | grep -A1 '^Binary files differ:' | grep -q "new: 100 bytes, sha256:$(head -c 100 /dev/zero | sha256sum | cut -d' ' -f1)"
	review diff "$(session)" --json >"$CUSTODY_HOME/json"
	[ "$(jq '.changes | length' "$CUSTODY_HOME/json")" -eq 704 ]
	[ "$(jq -r '[.changes[] | select(.change == "deleted") | .path] | join(" ")' "$CUSTODY_HOME/json")" = "dir dir/file" ]
	[ "$(jq -r '.changes[0].attention' "$CUSTODY_HOME/json")" = deleted ]
	# A path narrows it down, to what it needs.
	[ "$(review diff "$(session)" --stat many/7 | tail -n 1)" = "2 changes, 1 line added, 0 removed" ]
}

@test "diff: --stat of very many changes has sizes, and --lines counts" {
	custody_run -- sh -c 'mkdir many; cd many; seq 1 10001 | split -l 1 -a 4; printf 123456 >../text'
	assert_status 0
	review diff "$(session)" --stat >"$CUSTODY_HOME/stat"
	[ "$(grep -cE '^added     many/x.... \| 0 -> [2-6] bytes$' "$CUSTODY_HOME/stat")" -eq 10001 ]
	grep -xE 'modified  text \| [0-9]+ -> 6 bytes' "$CUSTODY_HOME/stat"
	[ "$(tail -n 1 "$CUSTODY_HOME/stat")" = "10003 changes; lines are counted only up to 10000 changes: name PATHs, or add --lines" ]
	[ "$(review diff "$(session)" --stat many/xaaaa | tail -n 1)" = "2 changes, 1 line added, 0 removed" ]
	[ "$(review diff "$(session)" --stat --lines | grep -c '^added     many/x.... | +1 -0$')" -eq 10001 ]
	[ "$(review diff "$(session)" --json | jq '[.changes[] | select(.lines_added == 1)] | length')" -ge 10001 ]
}

@test "diff: control sequences in names and contents are escaped" {
	custody_run -- sh -c 'printf "a\033[2Jb\n" >"$(printf "n\033[31m")"; printf "\\342\\200\\256txt\n" >>text'
	assert_status 0
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" diff --color=never --no-pager "$(session)"
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\033'* ]]
	[[ "$output" != *$'\342\200\256'* ]]
	[[ "$output" == *'a\x1B[2Jb'* ]]
	# Output to a program has the raw bytes.
	review diff "$(session)" | grep -q $'^+a\033\\[2Jb$'
	[ "$(review diff "$(session)" | grep -c $'^diff.*\033')" -eq 0 ]
}

@test "apply: the worktree becomes the merged view of the run, the upper is removed" {
	custody_run -- sh -c 'sed -i s/3/three/ text; rm gone; mkdir -p n/m; echo new >n/m/f; chmod 500 n; rm -r dir; echo file >dir; ln -s text link; umask 077; echo x >private'
	assert_status 0
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 0 ]
	[ "$(sed -n 3p text)" = three ]
	[ ! -e gone ]
	[ "$(cat n/m/f dir)" = "new
file" ]
	[ "$(stat -c %a n private)" = "500
600" ]
	[ "$(readlink link)" = text ]
	[ "$(find . -name '.custody*')" = "" ]
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	[ "$(jq .kept "$CUSTODY_ROOT/sandbox/sessions/$(session)/session.json")" = false ]
	run review apply "$(session)"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no changes of session"* ]]
	[ "$(kinds review.apply) $(kinds review.applied)" = "1 1" ]
	review ledger verify >/dev/null
	chmod 755 n
}

@test "apply: --dry-run prints the actions and does nothing" {
	custody_run -- sh -c 'echo more >>text; rm gone'
	assert_status 0
	before=$(find . -printf '%p %i %C@ %T@\n'; find "$CUSTODY_ROOT/sandbox/ledger" -type f -exec sha256sum {} +)
	run --separate-stderr review apply "$(session)" --dry-run
	[ "$status" -eq 0 ]
	[ "$output" = "would be deleted gone
would be modified text" ]
	[ "$(find . -printf '%p %i %C@ %T@\n'; find "$CUSTODY_ROOT/sandbox/ledger" -type f -exec sha256sum {} +)" = "$before" ]
	review apply "$(session)" >/dev/null
	[ ! -e gone ]
}

@test "apply: a file that changed in the worktree since is refused by name; other paths can be selected" {
	custody_run -- sh -c 'echo theirs >>text; echo theirs >>dir/file; rm gone; echo theirs >made'
	assert_status 0
	echo mine >>text
	echo mine >made
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"refused text: conflict: it was changed since the session began"* ]]
	[[ "$stderr" == *"refused made: "* ]]
	[[ "$stderr" == *"nothing was applied"* ]]
	[ "$(tail -n 1 text) $(cat made gone dir/file)" = "mine mine
old
inside" ]
	run --separate-stderr review apply "$(session)" dir gone
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 dir/file)" = theirs ]
	[ ! -e gone ]
	[ "$(tail -n 1 text)" = mine ]
	# The rest is still pending.
	[ "$(review diff "$(session)" --json | jq -r '[.changes[].path] | join(" ")')" = "made text" ]
}

@test "apply: a new file in a directory that the run removed keeps it" {
	custody_run -- rm -r dir
	assert_status 0
	echo mine >dir/mine
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"refused dir/mine: "* ]]
	[[ "$stderr" == *"refused dir: holds 'dir/mine', which is refused"* ]]
	[ "$(cat dir/file dir/mine)" = "inside
mine" ]
}

@test "apply: set-id, pipes and links that lead out are refused, path by path; nothing of it happens" {
	custody_run -- sh -c 'cp /bin/true tool; chmod 4755 tool; mkfifo pipe; ln -s /etc/passwd absolute; ln -s ../../x out; ln -s text good; echo ok >ok'
	assert_status 0
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 1 ]
	for word in 'refused tool: is set-user-id (mode 4755)' 'refused pipe: is a pipe' 'refused absolute: is a link that leaves the tree' \
		'refused out: is a link that leaves the tree'; do
		[[ "$stderr" == *"$word"* ]]
	done
	[ "$(ls)" = "dir
gone
text" ]
	[ "$(review diff "$(session)" | head -n 1)" = "set-id   tool: file, mode 4755" ]
	run --separate-stderr review apply "$(session)" --skip-refused
	[ "$status" -eq 0 ]
	[ "$(ls)" = "dir
gone
good
ok
text" ]
	[[ "$stderr" == *"4 changes are left"* ]]
}

@test "apply: .git/hooks and .git/config are protected, and their parents" {
	git init -q .
	custody_run -- sh -c 'echo evil >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; echo "[core] fsmonitor = evil" >>.git/config; echo ok >ok'
	assert_status 0
	config=$(cat .git/config)
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"refused .git/config: is protected"* ]]
	[[ "$stderr" == *"refused .git/hooks/post-checkout: is protected"* ]]
	review apply "$(session)" --skip-refused >/dev/null
	[ "$(cat .git/config)" = "$config" ]
	[ ! -e .git/hooks/post-checkout ]
	[ "$(cat ok)" = ok ]
	custody_run -- sh -c 'rm -r .git; echo "gitdir: evil" >.git'
	run --separate-stderr review apply "$(session)" --skip-refused
	[[ "$stderr" == *"refused .git: is protected"* ]]
	[ -d .git/hooks ]
}

@test "apply: as root, new files belong to the owner of the worktree" {
	skip_without root
	chown -R 4321:4322 .
	custody_run -- sh -c 'echo more >>text; mkdir n; echo new >n/f; ln -s text link'
	assert_status 0
	review apply "$(session)" >/dev/null
	[ "$(stat -c %u:%g text n n/f link | sort -u)" = 4321:4322 ]
}

@test "apply: as a user, also files that the payload made unreadable" {
	suite_ungoverned_setup suite_setup_user
	"${CUSTODY_AS[@]}" sh -c 'echo one >text'
	echo '{"schema":1,"name":"u","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/u.json"
	chown "$("${CUSTODY_AS[@]}" id -u)" "$CUSTODY_HOME/u.json"
	custody_run --profile "$CUSTODY_HOME/u.json" -- sh -c 'echo more >>text; mkdir -p shut/in; echo secret >shut/in/f; chmod 0 shut/in/f shut/in shut'
	assert_status 0
	run --separate-stderr review diff "$(session)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"+secret"* ]]
	run --separate-stderr review apply "$(session)"
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 text)" = more ]
	[ "$(stat -c %a shut)" = 0 ]
	[ "$(stat -c %u shut text | sort -u)" = "$("${CUSTODY_AS[@]}" id -u)" ]
	chmod 700 shut shut/in
	[ "$(cat shut/in/f)" = secret ] || [ "$(id -u)" -ne 0 ]
}

@test "apply: a large upper is removed after the command has returned; what a kill leaves, the next command removes" {
	local dir
	custody_run -- sh -c 'mkdir n; cd n; seq 2500 | split -l 1 -a 4'
	assert_status 0
	dir=$CUSTODY_ROOT/sandbox/sessions/$(session)
	# No reader of its output waits for the removal: it has the lock, not the pipe.
	review apply "$(session)" | tail -n 1 >/dev/null
	[ ! -e "$dir/layer.json" ]
	[ "$(find n -type f | wc -l)" -eq 2500 ]
	[ "$(sort -n n/* | tail -n 1)" = 2500 ]
	# Waits for the process that removes it.
	flock "$dir" true
	[ ! -e "$dir/u" ]
	[ "$(kinds review.applied)" = 1 ]
	mkdir -p "$dir/u/n"
	touch "$dir/u/n/left"
	review prune >/dev/null
	[ ! -e "$dir/u" ]
}

@test "discard: the upper is removed, the worktree stays, the ledger has a record" {
	custody_run -- sh -c 'echo more >>text'
	assert_status 0
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	review discard "$(session)"
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(session)/layer.json" ]
	[ "$(tail -n 1 text)" = 5 ]
	[ "$(kinds review.discard)" = 1 ]
	run review diff "$(session)"
	[ "$status" -eq 1 ]
}

@test "keep: no upper is kept of a run that changed nothing, or whose profile forbids it" {
	custody_run -- cat text
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	run review diff "$(session)"
	[ "$status" -eq 1 ]
	[[ "$output" == *"it changed nothing"* ]]
	echo '{"schema":1,"name":"once","extends":"offline","workspace":{"keep":false}}' >"$CUSTODY_HOME/once.json"
	custody_run --profile "$CUSTODY_HOME/once.json" -- sh -c 'echo more >>text'
	assert_status 0
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	run review apply "$(session)"
	[ "$status" -eq 1 ]
	[ "$(tail -n 1 text)" = 5 ]
}

@test "keep: too old and too much goes, the oldest first, each a record" {
	suite_ungoverned '{"review":{"quota":"3M"}}'
	custody_run -- sh -c 'head -c 2M /dev/zero >zeros'
	first=$(session)
	custody_run -- sh -c 'echo small >small'
	second=$(session)
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$first/u" ]
	custody_run -- sh -c 'head -c 2M /dev/zero >zeros'
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$first/u" ]
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$second/u" ]
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$(session)/u" ]
	[ "$(jq -r 'select(.k == "review.expire") | .session + " " + .d.why' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson)" = "$first over-quota" ]
	# Changes kept a week ago are too old.
	id=$(session)
	jq -c '.ended_us -= 8 * 24 * 3600 * 1000000' "$CUSTODY_ROOT/sandbox/sessions/$second/layer.json" >"$CUSTODY_HOME/old"
	cat "$CUSTODY_HOME/old" >"$CUSTODY_ROOT/sandbox/sessions/$second/layer.json"
	# It is looked for once an hour.
	custody_run -- sh -c 'echo again >small'
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$second/u" ]
	touch -d '2 hours ago' "$CUSTODY_ROOT/sandbox/reviewed"
	custody_run -- cat small
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$second/u" ]
	[ -d "$CUSTODY_ROOT/sandbox/sessions/$id/u" ]
}

@test "review: a live session is refused, and one that another process reviews" {
	custody_run -- sh -c 'echo more >>text'
	id=$(session)
	mkfifo "$CUSTODY_HOME/fifo"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --name alive -- cat <"$CUSTODY_HOME/fifo" &
	pid=$!
	exec 4>"$CUSTODY_HOME/fifo"
	is_alive() { grep -qs '"name":"alive"' "$CUSTODY_ROOT"/sandbox/sessions/*/session.json; }
	wait_until is_alive
	run review apply alive
	[ "$status" -eq 1 ]
	[[ "$output" == *"still running"* ]]
	run review discard alive
	[ "$status" -eq 1 ]
	exec 4>&-
	wait "$pid"
	run flock -x "$CUSTODY_ROOT/sandbox/sessions/$id" "$CUSTODY" apply "$id"
	[ "$status" -eq 1 ]
	[[ "$output" == *"by another process"* ]]
	[ "$(tail -n 1 text)" = 5 ]
}

@test "apply: of two at once that change one file, one succeeds; the other keeps its changes and nothing else is left" {
	local first second statuses=() pids=() id n=0
	custody_run -- sh -c 'echo first >text; mkdir a; echo a >a/f; echo first >dir/file'
	first=$(session)
	custody_run -- sh -c 'echo second >text; mkdir b; echo b >b/f; echo second >dir/file'
	second=$(session)
	for id in "$first" "$second"; do
		review apply "$id" >"$CUSTODY_HOME/$id" 2>&1 &
		pids+=($!)
	done
	for id in "${pids[@]}"; do
		wait "$id" && statuses+=(0) || statuses+=(1)
	done
	[[ "${statuses[*]}" == '0 1' || "${statuses[*]}" == '1 0' ]]
	[ "$(cat text)" = "$(cat dir/file)" ]
	for id in "$first" "$second"; do
		if [ "${statuses[n++]}" -eq 1 ]; then
			[ -d "$CUSTODY_ROOT/sandbox/sessions/$id/u" ]
			grep -Eq 'changed|replaced' "$CUSTODY_HOME/$id"
		else
			[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$id/u" ]
		fi
	done
	[ -z "$(find . -name '.custody-apply-*')" ]
}

@test "review: paths that lead out, sessions that are not there, another lane's" {
	custody_run -- sh -c 'echo more >>text'
	for path in ../x /etc/passwd dir/../../x ''; do
		run review apply "$(session)" "$path"
		[ "$status" -eq 125 ]
		[[ "$output" == *"'$path' is not a path in the worktree '$PWD'"* ]]
	done
	run review apply "$(session)" nothing
	[ "$status" -eq 125 ]
	[[ "$output" == *"'nothing': the session changed nothing there"* ]]
	run review diff 20000101T000000Z-00000000
	[ "$status" -eq 1 ]
	run review diff --lane prod "$(session)"
	[ "$status" -ne 0 ]
	run review diff dir
	[ "$status" -eq 1 ]
	[[ "$output" == *"custody diff last dir"* ]]
	run review discard "$(session)" dir
	[ "$status" -eq 1 ]
	run review diff "$(session)"
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 text)" = 5 ]
}

@test "apply: another directory under the worktree's name is not written" {
	custody_run -- sh -c 'echo more >>text'
	mv "$PWD" "$CUSTODY_HOME/elsewhere"
	mkdir "$CUSTODY_HOME/work"
	echo 1 >"$CUSTODY_HOME/work/text"
	run review apply "$(session)"
	[ "$status" -eq 125 ]
	[[ "$output" == *"is not the directory that session"* ]]
	[ "$(cat "$CUSTODY_HOME/work/text")" = 1 ]
	rm -r "$CUSTODY_HOME/work"
	ln -s "$CUSTODY_HOME/elsewhere" "$CUSTODY_HOME/work"
	run review apply "$(session)"
	[ "$status" -eq 125 ]
	[ "$(tail -n 1 "$CUSTODY_HOME/elsewhere/text")" = 5 ]
}

@test "apply: an upper from before a reboot must be confirmed" {
	custody_run -- sh -c 'echo more >>text'
	sed -i 's/"boot":"[0-9a-f]*"/"boot":"00000000"/' "$CUSTODY_ROOT/sandbox/sessions/$(session)/layer.json"
	run review apply "$(session)"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--restarted"* ]]
	[ "$(tail -n 1 text)" = 5 ]
	review apply "$(session)" --restarted >/dev/null
	[ "$(tail -n 1 text)" = more ]
}

@test "protect: in mode rw .git/hooks and .git/config cannot be written, renamed or replaced inside" {
	git init -q .
	echo '{"schema":1,"name":"rw","extends":"offline","workspace":{"mode":"rw"}}' >"$CUSTODY_HOME/rw.json"
	before=$(cat .git/config; ls .git/hooks)
	custody_run --profile "$CUSTODY_HOME/rw.json" -- sh -c 'echo evil >.git/hooks/post-checkout; echo evil >>.git/config; rm -f .git/config; mv .git .g; mv .git/hooks .git/h; rm -rf .git/hooks; rmdir .git/hooks
		echo free >.git/free; echo free >free'
	[ "$(cat .git/config; ls .git/hooks)" = "$before" ]
	[ -d .git ] && [ ! -e .g ] && [ ! -e .git/h ]
	[ "$(cat free .git/free)" = "free
free" ]
	# What could be made where nothing is, is refused beforehand.
	rm -r .git/hooks
	custody_run --profile "$CUSTODY_HOME/rw.json" -- true
	assert_status 125
	assert_stderr_has "does not exist and could be created inside"
}

@test "protect: as a user, and in a bundle that runc runs, they cannot either" {
	local tries='echo evil >.git/hooks/x; echo evil >>.git/config; mv .git g; mv .git/hooks .git/h; echo free >.git/free'
	if [ "$(id -u)" -eq 0 ]; then
		git init -q .
		echo '{"schema":1,"name":"rw","extends":"offline","workspace":{"mode":"rw"},"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/rw.json"
		before=$(cat .git/config; ls .git/hooks)
		bundle --profile "$CUSTODY_HOME/rw.json" -- sh -c "$tries"
		runtime_run runc "$BUNDLE"
		[ "$status" -eq 0 ]
		[ "$(cat .git/config; ls .git/hooks)" = "$before" ]
		[ "$(cat .git/free)" = free ]
	fi
	suite_ungoverned_setup suite_setup_user
	"${CUSTODY_AS[@]}" git init -q .
	echo '{"schema":1,"name":"rw","extends":"offline","workspace":{"mode":"rw"},"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/rw.json"
	chown "$("${CUSTODY_AS[@]}" id -u)" "$CUSTODY_HOME/rw.json"
	before=$(cat .git/config; ls .git/hooks)
	custody_run --profile "$CUSTODY_HOME/rw.json" -- sh -c "$tries"
	assert_status 0
	[ "$(cat .git/config; ls .git/hooks)" = "$before" ]
	[ "$(cat .git/free)" = free ]
}

@test "ISO-3: git works on a linked worktree whose .git is a file, and on an ordinary one" {
	git init -q repo
	git -C repo -c user.name=n -c user.email=e commit -q --allow-empty -m first
	git -C repo worktree add -q ../linked
	[ -f linked/.git ]
	custody_run -- git -c safe.directory='*' -C repo status --short
	assert_status 0
	echo '{"schema":1,"name":"linked","extends":"offline","filesystem":{"ro":["'"$PWD/repo/.git"'"]},"workspace":{"source":"'"$PWD/linked"'"}}' >"$CUSTODY_HOME/linked.json"
	custody_run --profile "$CUSTODY_HOME/linked.json" -- sh -c 'echo new >new; GIT_OPTIONAL_LOCKS=0 git -c safe.directory="*" status --short'
	assert_status 0
	[ "$output" = "?? new" ]
	review apply "$(session)" >/dev/null
	[ "$(cat linked/new)" = new ]
}

# Every kind of change that an upper can hold, made by a payload: files changed, replaced, removed; directories removed, made again,
# replaced by files and the reverse; modes, links, holes, unusual names.
busy() {
	cat <<-'EOF'
		set -e
		echo more >>text; rm gone; mkdir -p new/deep; echo n >new/deep/f; chmod 750 new
		rm -r dir; mkdir dir; echo other >dir/other
		rm -r tree/a; rm tree/b/two; mv tree/b/one tree/b/three; rm -r tree/c; echo file >tree/c; rm tree/d; mkdir tree/d; echo x >tree/d/x
		ln -s text link; ln -sf dir old-link; chmod 755 mode; ln text hard
		echo odd >"$(printf 'n\nl')"; truncate -s 1M holes; printf end >>holes
		find . -printf '%P %m %y %l\n' | sort; find . -type f -exec sha256sum {} + | sort -k 2
	EOF
}

# In that namespace: worktree and state on it, changed by a payload, applied, and both compared.
review_on_file_system() {
	local seen made id
	set -e
	mkdir fs/work fs/root
	chmod 755 fs fs/work fs/root
	export CUSTODY_ROOT=$PWD/fs/root
	cp -a root/etc fs/root/
	cd fs/work
	echo one >text; echo old >gone; echo m >mode; mkdir -p dir tree/a tree/b tree/c; echo d >dir/d; ln -s text old-link
	for f in a/x b/one b/two c/y d; do echo $f >tree/$f; done
	chown -R 4321:4321 .
	"$CUSTODY" ledger init >/dev/null
	seen=$("$CUSTODY" run --result ../result -- sh -c "$(busy)")
	id=$(jq -r .session ../result)
	"$CUSTODY" diff "$id" >../patch
	"$CUSTODY" apply "$id" >/dev/null
	made=$(find . -printf '%P %m %y %l\n' | sort; find . -type f -exec sha256sum {} + | sort -k 2)
	[ "$seen" = "$made" ] || { diff <(echo "$seen") <(echo "$made"); return 1; }
	[ "$(find . -printf '%u:%g\n' | sort -u)" = 4321:4321 ]
	[ ! -e "../root/sandbox/sessions/$id/u" ]
	# Again on what there is now: opaque directories over real ones.
	seen=$("$CUSTODY" run --result ../result -- sh -ec 'rm -r tree; mkdir -p tree/b; echo z >tree/b/z; find . -printf "%P %m %y %l\n" | sort')
	"$CUSTODY" apply "$(jq -r .session ../result)" >/dev/null
	[ "$seen" = "$(find . -printf '%P %m %y %l\n' | sort)" ]
}

check_file_system() {
	skip_without root
	export -f busy review_on_file_system
	cd "$CUSTODY_HOME"
	on_file_system "$1" bash -c review_on_file_system
}

@test "apply: names of one file that would not fit as files are refused; nothing is written, nothing recorded" {
	local free names
	free=$(df --output=avail -B1 . | tail -n 1)
	names=$((free / 6442450944 + 2))
	custody_run -- sh -c "truncate -s 6G a && i=0 && while [ \$i -lt $names ]; do ln a a\$i && i=\$((i + 1)); done; echo ok >ok"
	assert_status 0
	run --separate-stderr review apply "$(session)"
	assert_status 125
	assert_stderr_has 'files with several hard links'
	[ ! -e a ] && [ ! -e a0 ] && [ ! -e ok ]
	[ "$(kinds review.apply)" -eq 0 ]
	review apply "$(session)" ok
	[ "$(cat ok)" = ok ]
}

@test "ISO-3: on ext4 the worktree becomes the payload's view" {
	check_file_system ext4
}

@test "ISO-3: on xfs the worktree becomes the payload's view" {
	check_file_system xfs
}

@test "ISO-3: on btrfs the worktree becomes the payload's view" {
	check_file_system btrfs
}

@test "ISO-3: on tmpfs the worktree becomes the payload's view" {
	check_file_system tmpfs
}

@test "prod: apply and discard need both keys, looking does not" {
	CUSTODY_ALLOW_PROD=1 custody_run --lane prod --allow-prod -- sh -c 'echo x >new'
	assert_status 0
	run review diff --lane prod "$(session)"
	[ "$status" -eq 0 ]
	for verb in apply discard; do
		run env -u CUSTODY_ALLOW_PROD CUSTODY_LANE=prod "${CUSTODY_AS[@]}" "$CUSTODY" "$verb" "$(session)"
		[ "$status" -eq 116 ]
		run env CUSTODY_ALLOW_PROD=1 "${CUSTODY_AS[@]}" "$CUSTODY" "$verb" --lane prod "$(session)"
		[ "$status" -eq 116 ]
	done
	[ ! -e new ]
	run env CUSTODY_ALLOW_PROD=1 "${CUSTODY_AS[@]}" "$CUSTODY" apply --lane prod --allow-prod "$(session)"
	[ "$status" -eq 0 ]
	[ "$(cat new)" = x ]
	[ "$(jq -r .k "$CUSTODY_ROOT"/prod/ledger/*.ndjson | grep -cx lane.override)" -eq 2 ]
}

@test "ISO-3: a large file of holes costs no digest; smaller ones have theirs" {
	custody_run -- sh -c 'truncate -s 2G hollow; head -c 20000 /dev/zero >zeros'
	assert_status 0
	run --separate-stderr review diff "$(session)"
	[ "$status" -eq 0 ]
	[[ $output == *"2147483648 bytes, too large for a digest"* ]] || custody_fail "$output"
	[[ $output == *"20000 bytes, sha256:$(head -c 20000 /dev/zero | sha256sum | cut -d' ' -f1)"* ]] || custody_fail "$output"
	# Without the output option no diff is made: no file is read for it.
	review diff --stat "$(session)" | grep -q hollow
	review diff --json "$(session)" | jq -e '[.changes[].path] | index("hollow")'
}

@test "ISO-3: attributes user.* are shown by diff and applied, alone as well" {
	local code='import os
os.setxattr("text", "user.one", b"1"); os.setxattr("dir", "user.two", b"2"); os.removexattr("gone", "user.old")'
	python3 -c 'import os; os.setxattr("gone", "user.old", b"o")' 2>/dev/null || skip "no user.* attributes on this file system"
	custody_run -- python3 -c "$code"
	assert_status 0
	run --separate-stderr review diff "$(session)"
	[[ "$output" == *"text: file, mode 0644; attributes: user.one added"* ]] || custody_fail "diff: $output"
	[[ "$output" == *"dir: directory, mode 0755; attributes: user.two added"* ]]
	[[ "$output" == *"gone: file, mode 0644; attributes: user.old removed"* ]]
	[ "$(review diff "$(session)" --json | jq -r '.changes[] | select(.path == "text") | .attributes')" = 'user.one added' ]
	review apply "$(session)" >/dev/null
	python3 -c 'import os, sys
sys.exit(os.getxattr("text", "user.one") != b"1" or os.getxattr("dir", "user.two") != b"2" or "user.old" in os.listxattr("gone"))'
	[ "$(cat gone dir/file)" = "old
inside" ]
}

# Files that the host removes, renames or replaces while the session runs; $1: options of the run.
removed_meanwhile() {
	local id
	"${CUSTODY_AS[@]}" sh -c 'mkdir -p dir gone.d other quiet; echo inside >dir/file; echo a >dir/moved; echo b >dir/kept; echo c >gone.d/file
		echo d >other/from; echo e >other/second; echo f >quiet/from; echo g >dir/saved'
	id=$("${CUSTODY_AS[@]}" "$CUSTODY" run "$@" -d -- sh -c 'echo mine >>dir/file; echo mine >>dir/moved; echo mine >>dir/kept; echo mine >>gone.d/file
		echo new >dir/created; mv other/from dir/renamed; ln other/second dir/linked; mv quiet/from quiet/to
		echo mine >dir/saved.new; mv dir/saved.new dir/saved; touch done; exec sleep 600')
	wait_until test -e "$CUSTODY_ROOT/sandbox/sessions/$id/u/done"
	"${CUSTODY_AS[@]}" sh -c 'rm dir/file; mv dir/moved dir/elsewhere; rm -r gone.d'
	"${CUSTODY_AS[@]}" "$CUSTODY" stop "$id"
	run --separate-stderr review apply "$id"
	[ "$status" -eq 1 ] || custody_fail "$output"
	for path in dir/file dir/moved gone.d; do
		[[ $stderr == *"refused $path: conflict: it was removed since"* ]] || custody_fail "$path: $stderr"
	done
	# A file that the payload made, renamed or linked is none of them, and a directory whose names the host left alone is not looked at.
	for path in dir/created dir/renamed dir/linked dir/kept dir/saved quiet/to other/from; do
		[[ $stderr != *"refused $path:"* ]] || custody_fail "$path: $stderr"
	done
	[ ! -e dir/file ] && [ ! -e dir/moved ] && [ ! -e gone.d ] && [ "$(cat dir/elsewhere)" = a ]
	run --separate-stderr review apply --skip-refused "$id"
	[ "$status" -eq 0 ] || custody_fail "$stderr"
	[ ! -e dir/file ] && [ ! -e dir/moved ] && [ ! -e gone.d ]
	[ "$(cat dir/created dir/renamed dir/linked dir/kept dir/saved quiet/to)" = "new
d
e
b
mine
mine
f" ]
	# A file of the host's that has the name since is not replaced either.
	"${CUSTODY_AS[@]}" sh -c 'echo again >dir/file'
	run --separate-stderr review apply "$id"
	[ "$status" -eq 1 ]
	[[ $stderr == *"refused dir/file: conflict: it was created since"* ]] || custody_fail "$stderr"
	[ "$(cat dir/file)" = again ]
}

@test "ISO-3: apply does not bring back a file that the host removed while the session ran" {
	rm -rf dir
	removed_meanwhile
}

@test "ISO-3: rootless: apply does not bring back a file that the host removed while the session ran" {
	custody_teardown
	suite_ungoverned_setup suite_setup_user
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	removed_meanwhile --profile "$PROFILE"
}
