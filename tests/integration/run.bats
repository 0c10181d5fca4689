#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The exit status and the result of a run reflect the end of the command.

load ../lib/suite.bash

setup() {
	suite_setup
}

teardown() {
	custody_teardown
}

@test "run: the status is the command's" {
	custody_run -- true
	assert_status 0
	assert_reason exited
	[ "$(custody_result .abnormal)" = false ]
	custody_run -- sh -c 'exit 42'
	assert_status 42
	assert_reason exited
	[ "$(custody_result .exit.code)" = 42 ]
	[ "$(custody_result .exit.source)" = init ]
	[ "$(custody_result .abnormal)" = true ]
	[ -z "$stderr" ]
}

@test "run: a command that a signal ended is 128 and the signal" {
	custody_run -- sh -c 'kill -9 $$'
	assert_status 137
	assert_reason signaled
	[ "$(custody_result .exit.signal)" = 9 ]
	custody_run -- sh -c 'kill -SEGV $$'
	assert_status 139
	assert_reason signaled
}

@test "run: a missing command is 127, one that cannot be executed 126" {
	custody_run -- no-such-command-here
	assert_status 127
	assert_stderr_has "'no-such-command-here'"
	custody_run -- "$PWD/missing"
	assert_status 127
	echo text >plain
	custody_run -- ./plain
	assert_status 126
	assert_stderr_has "Permission denied"
	custody_run -- /etc
	assert_status 126
}

@test "ISO-1: every layer of the default profile is proven from inside" {
	local layer
	custody_run -- true
	assert_status 0
	for layer in user-namespace pid-namespace mount-namespace network-namespace ipc-namespace uts-namespace \
		cgroup-namespace read-only-root masked-paths private-devices worktree capabilities no-new-privs seccomp \
		session descriptors environment memory-limit pids-limit; do
		assert_layer "$layer"
	done
	[ "$(custody_result '[.layers[] | select(.state != "proven")] | length')" = 0 ]
}

@test "ROOT-3: the command starts in its worktree and sees nothing else of the host" {
	echo mine >file
	custody_run -- sh -c 'pwd; cat file; ls -A .. /tmp; ls -A /home /root /var 2>&1'
	[ "$output" = "$PWD
mine
..:
work

/tmp:
$(basename "$CUSTODY_HOME")
ls: cannot access '/root': No such file or directory
/home:
sandbox

/var:
run
tmp" ]
	custody_run -- sh -c 'cat /etc/shadow'
	[ "$status" -ne 0 ]
	custody_run -- sh -c 'echo x >/usr/custody-was-here'
	[ "$status" -ne 0 ]
	[ ! -e /usr/custody-was-here ]
}

@test "ISO-3: the worktree is a copy on write: nothing reaches the original" {
	mkdir dir
	echo original >dir/file
	custody_run -- sh -c 'echo changed >dir/file; rm -r dir; mkdir dir; echo new >dir/new; cat dir/new'
	assert_status 0
	assert_output_has new
	[ "$(cat dir/file)" = original ]
	[ ! -e dir/new ]
}

@test "ISO-1: no name in the worktree stops the proof that it is read-only" {
	touch .custody-try
	mkdir .custody-try1
	run -0 "$CUSTODY" run --profile review -- ls -A
	[[ $output == *.custody-try* ]]
	run ! "$CUSTODY" run -q --profile review -- touch new
	[ ! -e new ]
}

@test "ISO-12: the environment is the profile's, not the caller's" {
	SECRET_TOKEN=hunter2 custody_run -e ADDED=1 -- env
	assert_status 0
	assert_output_has ADDED=1
	[[ $output != *hunter2* ]]
	SECRET_TOKEN=hunter2 custody_run -e SECRET_TOKEN -- env
	assert_output_has SECRET_TOKEN=hunter2
}

# identity_home TEXT: HOME gets a .gitconfig of TEXT.
identity_home() {
	unset XDG_CONFIG_HOME "${!GIT_@}"
	export HOME=$CUSTODY_HOME/person
	mkdir -p "$HOME"
	rm -rf "$HOME/.gitconfig"
	printf "$1" >"$HOME/.gitconfig"
}

@test "ISO-12: the caller's git name and address are passed, and nothing else of that file" {
	identity_home '[user]\n\tname = Ada B\n\temail = ada@example.org\n\tsigningkey = K1\n[credential]\n\thelper = store\n'
	custody_run -- sh -c 'env | grep ^GIT_ | sort'
	assert_status 0
	[ "$output" = "GIT_AUTHOR_EMAIL=ada@example.org
GIT_AUTHOR_NAME=Ada B
GIT_COMMITTER_EMAIL=ada@example.org
GIT_COMMITTER_NAME=Ada B" ]
	custody_run -- sh -c 'git init -q repo && cd repo && git commit -q --allow-empty -m x && git log --format="%an <%ae> %cn"'
	assert_status 0
	assert_output_has 'Ada B <ada@example.org> Ada B'
	# The caller's variable, -e and the profile win.
	GIT_AUTHOR_NAME=Caller custody_run -e GIT_COMMITTER_NAME=Option -- sh -c 'echo "$GIT_AUTHOR_NAME $GIT_COMMITTER_NAME"'
	[ "$output" = "Caller Option" ]
	suite_profile own '{"env": {"set": {"GIT_AUTHOR_NAME": "Profile"}}}'
	custody_run -p "$PROFILE" -- sh -c 'echo "$GIT_AUTHOR_NAME"'
	[ "$output" = Profile ]
}

@test "ISO-12: a profile that does not pass the names of git passes no identity" {
	identity_home '[user]\n\tname = Ada\n\temail = ada@example.org\n'
	suite_profile without '{"remove": ["/env/pass"], "env": {"pass": ["TERM"]}}'
	custody_run -p "$PROFILE" -- env
	assert_status 0
	[[ $output != *GIT_* && $output != *Ada* ]]
	suite_profile some '{"remove": ["/env/pass"], "env": {"pass": ["GIT_AUTHOR_*"]}}'
	custody_run -p "$PROFILE" -- sh -c 'env | grep ^GIT_ | sort | tr "\n" " "'
	[ "$output" = "GIT_AUTHOR_EMAIL=ada@example.org GIT_AUTHOR_NAME=Ada " ]
}

@test "ISO-12: a git configuration that is included, a link, a FIFO, too large, malformed or has control characters passes nothing" {
	local kind
	identity_home '[user]\n\tname = Ada\n'
	mv "$HOME/.gitconfig" "$HOME/other"
	for kind in include link fifo large malformed control foreign none; do
		rm -rf "$HOME/.gitconfig"
		case $kind in
		include) printf '[include]\n\tpath = %s\n' "$HOME/other" >"$HOME/.gitconfig" ;;
		link) ln -s other "$HOME/.gitconfig" ;;
		fifo) mkfifo "$HOME/.gitconfig" ;;
		large) { cat "$HOME/other" && head -c 65536 /dev/zero | tr '\0' '\n'; } >"$HOME/.gitconfig" ;;
		malformed) printf '[user]\n\tname = "Ada\n' >"$HOME/.gitconfig" ;;
		control) printf '[user]\n\tname = Ada\033[31m\n' >"$HOME/.gitconfig" ;;
		foreign)
			cp "$HOME/other" "$HOME/.gitconfig"
			[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$HOME/.gitconfig"
			[ "$(id -u)" -eq 0 ] || continue
			;;
		esac
		custody_run -- env
		assert_status 0
		[[ $output != *GIT_* && $output != *Ada* ]] || custody_fail "$kind: $output"
	done
}

@test "ISO-12: GOV-9: check, run and bundle have the same digest with a git identity, and its value shows nowhere" {
	local digest
	identity_home '[user]\n\tname = Ada\n\temail = hunter2@example.org\n'
	run --separate-stderr "$CUSTODY" check --json -- true
	digest=$(jq -r .digest <<<"$output")
	[[ $digest == sha256:* && $output$stderr != *hunter2* ]]
	jq -e '.subject.env | has("GIT_AUTHOR_EMAIL")' <<<"$output"
	custody_run -- true
	[ "$(custody_result .digest)" = "$digest" ]
	[[ $CUSTODY_RESULT != *hunter2* ]]
	"$CUSTODY" bundle -o "$CUSTODY_HOME/bundle" -- true
	[ "$(jq -r .digest "$CUSTODY_HOME/bundle/subject.json")" = "$digest" ]
	[ -z "$(grep -l hunter2 "$CUSTODY_HOME/bundle/subject.json")" ]
	[ -n "$(ls "$CUSTODY_ROOT/sandbox/ledger")" ]
	[ -z "$(grep -rl hunter2 "$CUSTODY_ROOT/sandbox/ledger")" ]
	identity_home '[user]\n\tname = Ada\n\temail = hunter3@example.org\n'
	[ "$("$CUSTODY" check --json -- true | jq -r .digest)" != "$digest" ]
}

@test "run: the result file and --json have the same document" {
	custody_run --json --name n1 --agent robin --worker w7 --issue 12 -- echo payload
	assert_status 0
	[ "${lines[0]}" = payload ]
	[ "$(jq -S . <<<"${lines[-1]}")" = "$(jq -S . <<<"$CUSTODY_RESULT")" ]
	[ "$(custody_result '[.name, .agent, .worker, .issue] | join(" ")')" = "n1 robin w7 12" ]
	[ "$(custody_result .schema_version)" = 1 ]
	[ "$(custody_result .lane)" = sandbox ]
	[[ $(custody_result .session) =~ ^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$ ]]
}

@test "run: --status-fd reports events, a line of JSON each" {
	"$CUSTODY" run --status-fd 5 -- sh -c 'exit 3' 5>"$CUSTODY_HOME/events" || [ $? -eq 3 ]
	[ "$(jq -r .event "$CUSTODY_HOME/events" | paste -sd ' ')" = "created started exited" ]
	[ "$(jq -r 'select(.event == "exited") | "\(.reason) \(.code)"' "$CUSTODY_HOME/events")" = "exited 3" ]
	[ "$(jq -r .session "$CUSTODY_HOME/events" | sort -u | wc -l)" = 1 ]
}

@test "run: --dry-run prints config.json and writes nothing" {
	rm -rf "$CUSTODY_ROOT"
	custody_run --dry-run -- sh -c 'touch ran'
	assert_status 0
	jq -e '.ociVersion and .process.args' <<<"$output"
	[ ! -e "$CUSTODY_ROOT" ]
	[ ! -e ran ]
	mkdir "$CUSTODY_ROOT"
}

@test "run: an unknown option is refused with its neighbour, and nothing runs" {
	custody_run --profil offline -- touch ran
	assert_status 125
	assert_stderr_has "--profile"
	custody_run --task -- touch ran
	assert_status 125
	assert_stderr_has "--task: not in this version"
	custody_run --
	assert_status 125
	assert_stderr_has "missing argument"
}

@test "run: --quiet prints no message of custody" {
	custody_run -q --timeout 1 -- sleep 30
	assert_status 124
	[ -z "$stderr" ]
}

@test "run: Docker's spellings reach the container" {
	mkdir "$CUSTODY_HOME/shared"
	echo there >"$CUSTODY_HOME/shared/f"
	custody_run -v "$CUSTODY_HOME/shared:/data:ro" -w /data --hostname box -- sh -c 'pwd; cat f; hostname; echo x >g'
	[ "$status" -ne 0 ]
	assert_output_has /data
	assert_output_has there
	assert_output_has box
	[ ! -e "$CUSTODY_HOME/shared/g" ]
	suite_ungoverned
	custody_run -v "$CUSTODY_HOME/shared:/data:rw" -- sh -c 'echo x >/data/g'
	assert_status 0
	[ "$(stat -c %u "$CUSTODY_HOME/shared/g")" = "$(id -u)" ]
}

@test "run: no set-id file can be planted in a directory that may be written" {
	suite_ungoverned
	mkdir "$CUSTODY_HOME/shared"
	custody_run -v "$CUSTODY_HOME/shared:/data:rw" -- sh -c 'cp /bin/true /data/t && chmod 4755 /data/t'
	[ "$status" -ne 0 ]
	[ -z "$(find "$CUSTODY_HOME/shared" -perm /6000)" ]
}

@test "run: a private CUSTODY_ROOT works as well" {
	chmod 0700 "$CUSTODY_HOME"
	custody_run -- sh -c 'echo inside'
	assert_status 0
	assert_output_has inside
}

@test "run: --help and 'custody help run' list the same options, and run nothing" {
	run --separate-stderr "$CUSTODY" run --help
	assert_status 0
	assert_output_has --pids-limit
	[[ $output != *--task* ]]
	local help=$output
	run --separate-stderr "$CUSTODY" help run
	assert_status 0
	[ "$(sed 1d <<<"$output")" = "$(sed 1d <<<"$help")" ]
}

# on_overlay UID COMMAND...: in a worktree of UID on a file system that cannot map owners.
on_overlay() {
	mkdir "$CUSTODY_HOME"/{l,u,w,m}
	run --separate-stderr unshare -m bash -c '
		mount -t overlay none -o "lowerdir=$CUSTODY_HOME/l,upperdir=$CUSTODY_HOME/u,workdir=$CUSTODY_HOME/w" "$CUSTODY_HOME/m" || exit 99
		cd "$CUSTODY_HOME/m" && echo original >file && chown -R "$1:$1" . || exit 99
		shift
		"$@"
		rc=$?
		cat file >&2
		exit $rc' sh "$@"
}

@test "ISO-1: a worktree whose owner cannot be mapped: the owner itself is container root, alone" {
	skip_without root # only root maps owners
	on_overlay 64321 "$CUSTODY" run -- sh -c 'cat file; echo changed >file; cat file; cat /proc/self/uid_map'
	assert_status 0
	[ "$(awk 'NR == 3 { print $1, $2, $3 }' <<<"$output")" = "0 64321 1" ]
	assert_stderr_has original
}

@test "ISO-1: a worktree of root whose owner cannot be mapped is refused: the payload is never host root" {
	skip_without root # only root maps owners
	on_overlay 0 "$CUSTODY" run -- sh -c 'echo RAN'
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "map the owner"
}

# named_acl FILE UID: an access ACL that names UID (acl(5), version 2).
named_acl() {
	python3 -c 'import os, struct, sys
none = 0xffffffff
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in
    [(1, 6, none), (2, 6, int(sys.argv[2])), (4, 4, none), (16, 6, none), (32, 4, none)]))' "$1" "$2"
}

@test "ISO-3: a file whose ACL names a user can be changed inside, and the original stays" {
	local owner=64321 id
	[ "$(id -u)" -eq 0 ] || owner=$(id -u)
	for id in 1000 0 70000; do
		rm -f file
		echo old >file
		named_acl file "$id"
		[ "$(id -u)" -ne 0 ] || chown -R "$owner:$owner" .
		custody_run -- sh -c 'echo new >>file && cat file && mv file other && chmod 0600 other'
		assert_status 0
		[ "$output" = $'old\nnew' ]
		[ "$(cat file)" = old ]
	done
	# Files of others stay what they were: of an id that is not the payload's, and not to be changed.
	if [ "$(id -u)" -eq 0 ]; then
		echo secret >theirs
		chmod 0600 theirs
		custody_run -- sh -c 'stat -c %u theirs; cat theirs; echo x >theirs; chown 0 theirs'
		[ "$status" -ne 0 ]
		[ "$output" = 65534 ]
		[ "$(stat -c %u:%a theirs)" = 0:600 ]
	fi
}
