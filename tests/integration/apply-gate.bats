#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# apply asks before it deletes many files or changes files that other programs obey.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	suite_setup
	prepare
}

teardown() {
	custody_teardown
}

prepare() {
	suite_ungoverned
	mkdir -p many .github/workflows
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "$i" >"many/$i"; done
	echo old >.github/workflows/ci.yml
	echo text >text
	[ "$("${CUSTODY_AS[@]}" id -u)" = "$(id -u)" ] || chown -R "$SUITE_UID:$SUITE_UID" .
}

as_user() {
	custody_teardown
	suite_setup_user
	prepare
	suite_profile u '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chown "$("${CUSTODY_AS[@]}" id -u)" "$PROFILE"
}

# apply WORDS...: without a terminal.
apply() {
	run --separate-stderr alone "${CUSTODY_AS[@]}" "$CUSTODY" apply "$(session)" "$@"
}

session() {
	custody_result .session
}

# The state of the worktree, to prove that nothing happened.
tree() {
	find . -printf '%p %i %C@ %T@ %l\n' | sort
}

# asked FILTER: of the last record review.ask.
asked() {
	jq -r 'select(.k == "review.ask")' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | jq -rs "last | $1"
}

kinds() { # KIND
	jq -r .k "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | grep -cx "$1" || true
}

# The command that the refusal names, as a person would paste it.
suggested() {
	sed -n 's/.* needs an answer: \(custody apply .*\)$/\1/p' <<<"$stderr"
}

@test "GOV-6: apply deletes ten files without a question and refuses eleven" {
	custody_run -- sh -c 'rm many/1 many/2 many/3 many/4 many/5 many/6 many/7 many/8 many/9 many/10'
	assert_status 0
	apply
	assert_status 0
	[ "$(find many -type f | wc -l)" = 2 ]
	[ "$(kinds review.ask)" = 0 ]
	for i in 1 2 3 4 5 6 7 8 9; do echo "$i" >"many/$i"; done
	custody_run -- sh -c 'rm many/*; echo new >new'
	assert_status 0
	before=$(tree)
	apply
	assert_status 114
	[ "$(tree)" = "$before" ]
	assert_stderr_has "the removal of 11 files and directories (the limit is 10)"
	[ "$(asked '[.status, .d.deletions, .d.limit, .d.answer] | join(" ")')" = "unapproved 11 10 none" ]
	[ "$(kinds review.apply)" = 1 ]
	"$CUSTODY" ledger verify >/dev/null
}

@test "GOV-6: a file that a directory or a link replaces is a deletion" {
	mkdir target
	for how in 'mkdir "$f"' 'ln -s ../target "$f"'; do
		echo 'for f in many/*; do rm "$f"; '"$how"'; done' >swap.sh
		custody_run -- sh swap.sh
		assert_status 0
		before=$(tree)
		apply
		assert_status 114
		assert_stderr_has "to replace: many/1"
		assert_stderr_has "the removal of 12 files and directories"
		[ "$(tree)" = "$before" ]
		"$CUSTODY" discard "$(session)" >/dev/null
	done
	# A directory that a file replaces is one more than its entries.
	custody_run -- sh -c 'rm -r many; echo x >many'
	assert_status 0
	apply --deletions 12
	assert_status 114
	[ -d many ]
	apply --deletions 13
	assert_status 0
	[ "$(cat many)" = x ]
}

@test "GOV-6: --yes answers for nothing that it does not name; the suggested line works" {
	custody_run -- sh -c 'rm many/*; echo new >.github/workflows/ci.yml'
	assert_status 0
	before=$(tree)
	apply --yes
	assert_status 114
	line=$(suggested)
	[ "$line" = "custody apply $(session) --yes --deletions 12 --allow .github/workflows/ci.yml" ]
	apply --yes --deletions 11 --allow .github/workflows/ci.yml
	assert_status 114
	apply --yes --deletions 12 --allow .github/workflows/other.yml
	assert_status 114
	apply --yes --deletions 12
	assert_status 114
	apply --yes --allow .github
	assert_status 114
	[ "$(tree)" = "$before" ]
	PATH=$(dirname "$CUSTODY"):$PATH alone bash -c "$line"
	[ "$(find many -type f | wc -l)" = 0 ]
	[ "$(cat .github/workflows/ci.yml)" = new ]
	[ "$(asked '[.status, .d.deletions, .d.paths[0], .d.answer] | join(" ")')" = "approved 12 .github/workflows/ci.yml command-line" ]
	[ "$(kinds review.apply) $(kinds review.applied)" = "1 1" ]
	# The number that was compared is the number that was removed.
	[ "$(jq -r 'select(.k == "review.applied") | .d.deleted' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson)" = 12 ]
}

@test "GOV-6: CI files, settings of agents and editors ask, one refusal each; other files do not" {
	for path in .github/workflows/new.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .claude/settings.json .mcp.json \
		.cursor/mcp.json .vscode/tasks.json .idea/x.xml CLAUDE.md AGENTS.md .codex/config.toml .gemini/settings.json .envrc .husky/pre-commit \
		sub/dir/.mcp.json .Claude/settings.json .roomodes .yarnrc.yml web/.npmrc .vimrc .gdbinit .custody/profiles/offline.json .devcontainer/devcontainer.json; do
		custody_run -- sh -c 'mkdir -p "$(dirname "$1")"; echo planted >"$1"' sh "$path"
		assert_status 0
		apply
		[ "$status" -eq 114 ] || custody_fail "$path was applied"
		assert_stderr_has "to confirm: added $path"
		[ ! -e "$path" ]
		apply --allow "$path"
		assert_status 0
		[ "$(cat "$path")" = planted ]
	done
	custody_run -- sh -c 'echo x >Makefile; echo x >README.md; mkdir .github/ISSUE_TEMPLATE; echo x >.github/ISSUE_TEMPLATE/a.md'
	apply
	assert_status 0
	[ -e Makefile ]
}

@test "GOV-6: a link above a CI file is the same change" {
	rm -r .github
	custody_run -- sh -c 'mkdir -p plain/workflows; echo planted >plain/workflows/ci.yml; ln -s plain .github'
	assert_status 0
	apply
	assert_status 114
	[ ! -e .github ]
	[ ! -e plain ]
	# The rest can be applied by name.
	apply plain
	assert_status 0
	[ -e plain/workflows/ci.yml ]
	[ ! -L .github ]
}

@test "GOV-6: a file that a CI file or a setting is a link to is the same change" {
	mkdir -p docs/ci conf/ci
	echo old >docs/notes.md
	ln -s docs/notes.md CLAUDE.md
	rm -r .github
	mkdir .github
	ln -s ../conf/ci .github/workflows
	custody_run -- sh -c 'echo planted >CLAUDE.md; echo planted >.github/workflows/x.yml; echo x >docs/other.md'
	assert_status 0
	apply
	assert_status 114
	assert_stderr_has "to confirm: modified docs/notes.md (CLAUDE.md)"
	assert_stderr_has "to confirm: added conf/ci/x.yml (.github/workflows)"
	[[ $stderr != *"to confirm"*other.md* ]]
	[ "$(cat CLAUDE.md)" = old ] && [ ! -e conf/ci/x.yml ] && [ ! -e docs/other.md ]
	# A directory above the target counts as well, and the rest can be applied.
	apply docs/other.md
	assert_status 0
	apply --allow docs/notes.md --allow conf/ci/x.yml
	assert_status 0
	[ "$(cat CLAUDE.md)" = planted ] && [ -e .github/workflows/x.yml ]
	custody_run -- sh -c 'mv docs old; mkdir new; echo planted >new/notes.md; ln -s new docs'
	assert_status 0
	apply
	assert_status 114
	assert_stderr_has "(CLAUDE.md)"
	[ ! -L docs ]
}

@test "GOV-6: a link of a CI file that leads out or in a circle asks for nothing else" {
	rm -r .github
	ln -s .circleci .github
	ln -s .github .circleci
	ln -s /etc/hosts AGENTS.md
	custody_run -- sh -c 'echo x >fine'
	assert_status 0
	apply
	assert_status 0
	[ -e fine ]
}

@test "GOV-6: at a terminal apply names the deletions first and asks; the default is No" {
	custody_run -- sh -c 'rm many/*; echo new >.github/workflows/ci.yml'
	assert_status 0
	before=$(tree)
	for answer in '\n' 'n\n' 'yep\n' '\x04' '\x03'; do
		on_terminal 'expect:to delete: many/1' 'expect:to confirm: modified .github/workflows/ci.yml' 'expect:[y/N]' "send:$answer" -- \
			"$CUSTODY" apply "$(session)"
		[ "$status" -eq 114 ] || custody_fail "status $status after '$answer'"
		[ "$(tree)" = "$before" ]
		assert_output_has "mode cooked"
	done
	[ "$(asked .d.answer)" = no ]
	# --yes does not ask, and does not answer.
	on_terminal 'expect:needs an answer' -- "$CUSTODY" apply "$(session)" --yes
	assert_status 114
	[[ $output != *"[y/N]"* ]]
	[ "$(tree)" = "$before" ]
	on_terminal 'expect:[y/N]' 'send:y\n' -- "$CUSTODY" apply "$(session)"
	assert_status 0
	[ "$(find many -type f | wc -l)" = 0 ]
	[ "$(asked '[.status, .d.answer] | join(" ")')" = "approved terminal" ]
}

@test "GOV-6: as an ordinary user apply asks at the terminal, and refuses without one" {
	as_user
	custody_run --profile "$PROFILE" -- sh -c 'rm many/*'
	assert_status 0
	before=$(tree)
	apply
	assert_status 114
	[ "$(tree)" = "$before" ]
	on_terminal 'expect:[y/N]' 'send:y\n' -- "${CUSTODY_AS[@]}" "$CUSTODY" apply "$(session)"
	assert_status 0
	[ "$(find many -type f | wc -l)" = 0 ]
}

@test "GOV-6: an edit between question and answer is not deleted" {
	custody_run -- sh -c 'rm many/*; rm -r .github'
	assert_status 0
	on_terminal 'expect:[y/N]' 'do:echo mine >many/3; echo mine >.github/workflows/new.yml' 'send:y\n' -- "$CUSTODY" apply "$(session)"
	[ "$status" -ne 0 ]
	[ "$(cat many/3 .github/workflows/new.yml)" = "mine
mine" ]
}

@test "GOV-6: a profile adds names, lowers the number and allows names; the profile of the run counts" {
	suite_profile strict '{"workspace": {"ask": ["Makefile", "*.mk"], "ask_deletions": 0, "allow": [".vscode"]}}'
	custody_run --profile "$PROFILE" -- sh -c 'rm text; echo x >Makefile; mkdir .vscode; echo x >.vscode/a'
	assert_status 0
	# The profile is another one by now: the session keeps its own.
	suite_profile strict '{"workspace": {"ask_deletions": 100}}'
	before=$(tree)
	apply
	assert_status 114
	[ "$(tree)" = "$before" ]
	[ "$(suggested)" = "custody apply $(session) --yes --deletions 1 --allow Makefile" ]
	apply --yes --deletions 1 --allow Makefile
	assert_status 0
	[ ! -e text ]
	[ -e .vscode/a ]
}

@test "GOV-6: a profile of the worktree can only tighten the questions" {
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"loose","extends":"offline","workspace":{"%s":%s}}\n' ask_deletions 500 >.custody/profiles/loose.json
	custody_run --profile loose -- true
	[ "$status" -ne 0 ]
	assert_stderr_has workspace.ask_deletions
	printf '{"schema":1,"name":"loose","extends":"offline","workspace":{"%s":%s}}\n' allow '[".claude"]' >.custody/profiles/loose.json
	custody_run --profile loose -- true
	[ "$status" -ne 0 ]
	assert_stderr_has workspace.allow
	printf '{"schema":1,"name":"loose","extends":"offline","workspace":{"%s":%s}}\n' ask_deletions 0 >.custody/profiles/loose.json
	custody_run --profile loose -- rm text
	assert_status 0
	apply
	assert_status 114
	[ -e text ]
}

@test "GOV-6: --allow takes names below the worktree, not all of it" {
	custody_run -- sh -c 'echo x >.envrc'
	for path in . / .. ../x /etc ""; do
		apply --allow "$path"
		[ "$status" -ne 0 ] || custody_fail "'$path' was accepted"
		[ ! -e .envrc ]
	done
	apply --allow "./.envrc"
	assert_status 0
	[ -e .envrc ]
}

@test "GOV-6: protected paths stay refused, whatever is answered" {
	git init -q .
	custody_run -- sh -c 'echo x >.git/hooks/pre-commit; echo y >>.git/config; echo z >.envrc'
	assert_status 0
	before=$(cat .git/config)
	apply --yes --deletions 100 --allow .git/hooks --allow .git/config --allow .git --allow .envrc
	assert_status 1
	[ ! -e .git/hooks/pre-commit ]
	[ ! -e .envrc ]
	apply --yes --allow .git --allow .envrc --skip-refused
	assert_status 0
	[ ! -e .git/hooks/pre-commit ]
	[ "$(cat .git/config)" = "$before" ]
	[ -e .envrc ]
}

@test "GOV-6: hostile names are quoted in the list, and the suggested line still works" {
	custody_run -- sh -c 'mkdir .claude; printf x >".claude/a b\$(touch pwned)"; printf x >"$(printf ".claude/n\033[2Jx")"'
	assert_status 0
	apply
	assert_status 114
	[[ $stderr != *$'\033'* ]]
	apply --allow .claude
	assert_status 0
	[ "$(find .claude -type f | wc -l)" = 2 ]
	custody_run -- sh -c 'printf y >".claude/a b\$(touch pwned)"'
	apply
	assert_status 114
	PATH=$(dirname "$CUSTODY"):$PATH alone bash -c "$(suggested)"
	[ "$(cat '.claude/a b$(touch pwned)')" = y ]
	[ ! -e pwned ]
}

@test "GOV-6: --dry-run lists deletions first and says what apply would ask, and writes nothing" {
	custody_run -- sh -c 'echo a >a; rm many/*'
	before=$(tree; find "$CUSTODY_ROOT/sandbox/ledger" -type f -exec sha256sum {} +)
	apply --dry-run
	assert_status 114
	[ "$(head -n 1 <<<"$output")" = "would be deleted many/1" ]
	[ "$(tail -n 1 <<<"$output")" = "would be added a" ]
	assert_stderr_has "would ask"
	apply --dry-run --deletions 12
	assert_status 0
	[ "$(tree; find "$CUSTODY_ROOT/sandbox/ledger" -type f -exec sha256sum {} +)" = "$before" ]
}
