#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --tools: programs of the caller's PATH below the home directory and /opt, and nothing else of the home.

load ../lib/suite.bash

setup() {
	suite_setup
	make_home
}

teardown() { custody_teardown; }

# As an ordinary user, with a home of the same content.
as_user() {
	suite_setup_user
	suite_profile p '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	make_home
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$HOME" "$PROFILE"
}

program() { # PATH: prints its own path
	mkdir -p "${1%/*}"
	printf '#!/bin/sh\necho "ran %s"\n' "$1" >"$1"
	chmod 0755 "$1"
}

secret() { # PATH
	mkdir -p "${1%/*}"
	echo "secret of ${1##*/}" >"$1"
}

# Secrets beside every kind of tool.
make_home() {
	export HOME=$CUSTODY_HOME/home
	rm -rf "$HOME"
	mkdir -p "$HOME"
	NODE=$HOME/.nvm/versions/node/v20
	program "$NODE/bin/node"
	secret "$NODE/etc/npmrc"
	mkdir -p "$NODE/lib/node_modules/x" "$NODE/share/man"
	echo module >"$NODE/lib/node_modules/x/index.js"
	program "$HOME/.cargo/bin/cargo"
	secret "$HOME/.cargo/credentials.toml"
	secret "$HOME/.cargo/credentials"
	mkdir -p "$HOME/.rustup/toolchains/stable/bin"
	program "$HOME/.rustup/toolchains/stable/bin/rustc"
	program "$HOME/.pyenv/shims/python9"
	program "$HOME/.pyenv/versions/9/bin/python9"
	secret "$HOME/.pyenv/token"
	program "$HOME/.local/bin/mine"
	mkdir -p "$HOME/.local/lib/python9"
	secret "$HOME/.local/share/keyrings/login.keyring"
	secret "$HOME/.local/share/uv/credentials/x"
	program "$HOME/.local/share/uv/tools/ruff/bin/ruff"
	program "$HOME/bin/own"
	secret "$HOME/lib/secret"
	secret "$HOME/.npmrc"
	secret "$HOME/.config/gh/hosts.yml"
	secret "$HOME/.ssh/id_rsa"
	secret "$HOME/notes"
	TOOLS=$NODE/bin:$HOME/.cargo/bin:$HOME/.pyenv/shims:$HOME/.local/bin:$HOME/bin
}

# The rest of PATH is fixed: the host's may name tools of the real home.
tools_run() { # [OPTION...] -- CMD...
	PATH=$TOOLS:/usr/bin:/bin custody_run ${PROFILE:+--profile "$PROFILE"} --tools "$@"
}

tools_are_shown() {
	tools_run -- sh -c 'node; cargo; python9; mine; own; cat "$1/lib/node_modules/x/index.js"
		ls "$RUSTUP_HOME/toolchains" "$PYENV_ROOT/versions" "$2/.local/share/uv/tools"' sh "$NODE" "$HOME"
	assert_status 0
	local p
	for p in "$NODE/bin/node" "$HOME"/{.cargo/bin/cargo,.pyenv/shims/python9,.local/bin/mine,bin/own}; do
		assert_output_has "ran $p"
	done
	assert_output_has module
	assert_output_has stable
	assert_output_has ruff
}

nothing_else_is_shown() {
	tools_run -- sh -c 'find "$1" -type f; grep -rs secret "$1"; true' sh "$HOME"
	assert_status 0
	assert_output_has "$NODE/bin/node"
	[[ $output != *secret* && $output != *keyring* && $output != *credentials* && $output != *npmrc* ]]
	[[ $output != *notes* && $output != *hosts.yml* && $output != *id_rsa* && $output != *"/token"* ]]
}

nothing_can_be_written() {
	tools_run -- sh -c 'for d in "$@"; do touch "$d/new" 2>/dev/null && echo "wrote $d"; done; true' sh \
		"$NODE/bin" "$NODE/lib" "$HOME/.cargo/bin" "$HOME/.local/bin" "$HOME/.rustup/toolchains"
	assert_status 0
	[[ $output != *wrote* ]]
	[ -z "$(find "$HOME" -name new)" ]
}

left_out_by_name() {
	mkdir -p open/bin "$HOME/open" "$HOME/public/bin" inside/bin "$HOME/.config/kit/bin" "$HOME/away"
	chmod 0777 "$HOME/open" "$HOME/public"
	ln -s "$NODE" "$HOME/current"
	ln -s "$HOME/.ssh" "$HOME/keys"
	TOOLS=:relative:$HOME/open:$HOME/public/bin:$PWD/inside/bin:$HOME/current/bin:$HOME/keys:$HOME/.config/kit/bin:$HOME:$HOME/.local/share
	TOOLS+=:$HOME/.cargo:$HOME/../home/.ssh:/var/lib:$HOME/.ssh:$HOME/missing/bin
	tools_run --verbose -- sh -c 'echo "PATH is $PATH"; find "$1"; grep -rs secret "$1"; true' sh "$HOME"
	assert_status 0
	local d
	for d in "'' (not absolute)" "'relative' (not absolute)" "'$HOME/open' (other users can write" \
		"'$HOME/public/bin' (other users" "'$PWD/inside/bin' (it is in the worktree)" \
		"'$HOME/current/bin' (a symbolic link" "'$HOME/keys' (a symbolic link" "'$HOME/.config/kit/bin' (it, or a parent, may hold" \
		"'$HOME' (it, or a parent, may hold" "'$HOME/.local/share' (it, or" "'$HOME/.cargo' (it, or" \
		"'$HOME/../home/.ssh' ('..' is in its path)" "'/var/lib' (neither below" "'$HOME/.ssh' (it, or"; do
		assert_stderr_has "--tools leaves out $d"
	done
	[[ $stderr != *missing* ]]
	[[ $output != *secret* ]]
	[ "$(grep '^PATH is' <<<"$output")" = "PATH is /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" ]
}

@test "ISO-12: --tools shows nvm, cargo, pyenv, ~/.local and ~/bin, with PATH and the managers' variables" {
	tools_are_shown
}

@test "ISO-12: rootless: --tools shows nvm, cargo, pyenv, ~/.local and ~/bin, with PATH and the managers' variables" {
	as_user
	tools_are_shown
}

@test "ISO-12: --tools shows nothing else of the home: no token, key or setting can be read" {
	nothing_else_is_shown
}

@test "ISO-12: rootless: --tools shows nothing else of the home: no token, key or setting can be read" {
	as_user
	nothing_else_is_shown
}

@test "ISO-3: what --tools shows is read-only" {
	nothing_can_be_written
	as_user
	nothing_can_be_written
}

@test "ISO-12: relative, open, linked and foreign directories, the worktree's and those with secrets are left out by name" {
	left_out_by_name
}

@test "ISO-12: rootless: relative, open, linked and foreign directories, the worktree's and those with secrets are left out by name" {
	as_user
	left_out_by_name
}

# Below a sandbox root's tmp, and below the home.
planted_is_left_out() {
	local root options
	mkdir -p "$HOME/state"
	chmod 0700 "$HOME/state"
	mv "$CUSTODY_ROOT" "$HOME/state/custody"
	[ "$(id -u)" -ne 0 ] || chown --reference="$HOME" "$HOME/state"
	CUSTODY_ROOT=$HOME/state/custody
	CUSTODY_AS=("${CUSTODY_AS[@]/#CUSTODY_ROOT=*/CUSTODY_ROOT=$CUSTODY_ROOT}")
	root=$CUSTODY_ROOT/sandbox/sandbox/x
	custody_run ${PROFILE:+--profile "$PROFILE"} --sandbox x --disposable -- sh -c 'mkdir /tmp/bin bin
		for f in /tmp/bin/evil bin/evil; do printf "#!/bin/sh\necho PLANTED\n" >$f; chmod 0755 $f; done'
	assert_status 0
	[ -x "$root/tmp/bin/evil" ]
	TOOLS=$root/tmp/bin:$root/workspace/bin
	for options in "--sandbox x" "--sandbox y --disposable" ""; do
		# shellcheck disable=SC2086 # options
		tools_run --verbose $options -- sh -c 'evil 2>/dev/null || echo none'
		assert_status 0
		[ "$output" = none ]
		assert_stderr_has "--tools leaves out '$root/tmp/bin' (it is in custody's own directories"
	done
}

@test "ISO-12: a program that a command left in a sandbox root is not one of --tools" {
	planted_is_left_out
}

@test "ISO-12: rootless: a program that a command left in a sandbox root is not one of --tools" {
	as_user
	planted_is_left_out
}

@test "ISO-12: a directory that a group of other users, or a list, can write to is left out of --tools" {
	[ "$(id -u)" -eq 0 ] || skip "needs a second group"
	mkdir -p "$HOME/listed" "$HOME/own/bin"
	program "$HOME/own/bin/private"
	chmod 0775 "$HOME/own" "$HOME/own/bin"
	chgrp 64322 "$HOME/.local/bin"
	chmod 0775 "$HOME/.local/bin"
	python3 - "$HOME/listed" <<-'EOF'
		import os, struct, sys
		entries = [(1, 7, 0xffffffff), (2, 7, 64322), (4, 5, 0xffffffff), (16, 7, 0xffffffff), (32, 5, 0xffffffff)]
		os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries))
	EOF
	TOOLS+=:$HOME/listed:$HOME/own/bin
	tools_run --verbose -- sh -c 'private; mine'
	assert_status 127
	assert_output_has "ran $HOME/own/bin/private"
	assert_stderr_has "--tools leaves out '$HOME/.local/bin' (other users can write"
	assert_stderr_has "--tools leaves out '$HOME/listed' (other users can write"
}

@test "ISO-12: a directory of another user is left out of --tools" {
	[ "$(id -u)" -eq 0 ] || skip "needs a second user"
	chown 64322 "$HOME/.local/bin"
	tools_run --verbose -- sh -c 'node; mine'
	assert_status 127
	assert_output_has "ran $NODE/bin/node"
	assert_stderr_has "--tools leaves out '$HOME/.local/bin' (it, or a parent, belongs to another user)"
}

@test "ISO-12: --tools keeps the order of the caller's PATH; -e PATH overrides it" {
	program "$HOME/bin/ls"
	tools_run -- ls
	assert_status 0
	assert_output_has "ran $HOME/bin/ls"
	TOOLS=/usr/bin:$TOOLS
	tools_run -- ls /usr/bin/env
	assert_status 0
	assert_output_has /usr/bin/env
	tools_run -e PATH=/usr/bin -- sh -c 'echo "$PATH"'
	[ "$output" = /usr/bin ]
}

@test "ISO-12: a part of a manager that is a link is not followed" {
	rm -rf "$HOME/.rustup/toolchains" "$NODE/share"
	ln -s "$HOME/.ssh" "$HOME/.rustup/toolchains"
	ln -s "$HOME/.config" "$NODE/share"
	tools_run -- sh -c 'node; ls -R "$1"; grep -rs secret "$1"; true' sh "$HOME"
	assert_status 0
	assert_output_has "ran $NODE/bin/node"
	[[ $output != *secret* && $output != *id_rsa* && $output != *hosts.yml* ]]
}

@test "GOV-9: --tools is part of the subject; the profile key does the same as the option" {
	local with without
	without=$(custody_digest)
	with=$(custody_digest --tools)
	[ "$with" != "$without" ]
	PATH=$TOOLS:$PATH "$CUSTODY" check --json --tools -- true >check.json
	[ "$(jq -r --arg d "$NODE/bin" '.subject.mounts[] | select(.target == $d) | .rw' check.json)" = false ]
	suite_profile shown '{"filesystem": {"tools": true}}'
	PATH=$TOOLS:$PATH custody_run --profile "$PROFILE" -- node
	assert_status 0
	assert_output_has "ran $NODE/bin/node"
}

custody_digest() {
	PATH=$TOOLS:$PATH "$CUSTODY" check --json "$@" -- true | jq -r .digest
}

@test "GOV-4: the profile of a worktree cannot switch --tools on" {
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"sly","extends":"offline","filesystem":{"tools":true}}' >.custody/profiles/sly.json
	PATH=$TOOLS:$PATH custody_run --profile sly -- node
	assert_status 125
	assert_stderr_has filesystem.tools
	[[ $output != *ran* ]]
}

@test "ISO-12: a missing program that --tools would show is answered with --tools, any other with -v" {
	PATH=$TOOLS:$PATH custody_run -- mine
	assert_status 127
	assert_stderr_has "outside it is '$HOME/.local/bin/mine'; to show your tools: custody run --tools -- mine"
	program "$CUSTODY_HOME/kit/other"
	PATH=$CUSTODY_HOME/kit:$PATH custody_run -- other
	assert_status 127
	assert_stderr_has "to show it: custody run -v $CUSTODY_HOME/kit:$CUSTODY_HOME/kit"
	# A link that leads out of the shown directories.
	ln -s "$CUSTODY_HOME/kit/other" "$HOME/bin/linked"
	PATH=$TOOLS:$PATH custody_run -- linked
	assert_status 127
	[[ $stderr != *--tools* ]]
}

@test "ISO-12: /opt/NAME/bin is shown with its lib and share, not the rest of /opt/NAME" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount on /opt"
	# shellcheck disable=SC2016 # expanded inside
	run --separate-stderr unshare -m sh -c 'mount -t tmpfs -o mode=755 tmpfs /opt && mkdir -p /opt/kit/bin /opt/kit/lib /opt/kit/share /opt/kit/etc &&
		echo token >/opt/kit/etc/secret && printf "#!/bin/sh\ncat /opt/kit/lib/x /opt/kit/share/x\n" >/opt/kit/bin/kit && chmod 755 /opt/kit/bin/kit &&
		echo library >/opt/kit/lib/x && echo shared >/opt/kit/share/x || exit 99
		PATH=/opt/kit/bin:/opt:$PATH "$CUSTODY" run --tools -- sh -c "kit; ls /opt/kit; ls /opt"'
	[ "$status" -eq 0 ]
	assert_output_has library
	assert_output_has shared
	[[ $output != *etc* ]]
}

@test "GOV-9: a part that is replaced by a link after the check is not shown" {
	swap() {
		mv "$HOME/.local/lib" "$HOME/.local/lib.old"
		ln -s "$HOME/.ssh" "$HOME/.local/lib"
	}
	export PATH=$TOOLS:$PATH
	suite_gate creator-placed --tools -- cat "$HOME/.local/lib/id_rsa" --- swap
	[ "$status" -ne 0 ]
	[[ $(cat "$CUSTODY_HOME/out") != *secret* ]]
}
