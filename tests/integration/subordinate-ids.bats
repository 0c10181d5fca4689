#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A user's run with the ids of /etc/subuid.  /etc is that of a private mount namespace: the host's files stay as they are.

load ../lib/suite.bash

FIRST=3000000000 # of the range: above id_range, and of no account
OPTIONAL='"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}'

setup() {
	skip_without root
	suite_setup_user
	suite_ungoverned
	ETC=$CUSTODY_HOME/etc
	mkdir "$ETC" "$CUSTODY_HOME/bin"
	cp /etc/passwd /etc/group "$ETC"
	echo "suite:x:$SUITE_UID:$SUITE_UID::$CUSTODY_HOME/home:/bin/sh" >>"$ETC/passwd"
	echo "suite:x:$SUITE_UID:" >>"$ETC/group"
	ranges "suite:$FIRST:65536"
	profile plain "{$OPTIONAL}"
	profile caps "{\"dangerous\": [\"no-capabilities\"], $OPTIONAL}"
	profile user "{\"process\": {\"user\": \"70:70\"}, $OPTIONAL}"
	inside ''
}

teardown() {
	custody_teardown
}

profile() { # NAME JSON
	suite_profile "$1" "$2"
	chmod 0644 "$PROFILE"
}

# ranges LINES: /etc/subuid and /etc/subgid.
ranges() {
	printf '%s\n' "$1" | tee "$ETC/subuid" >"$ETC/subgid"
}

# inside COMMANDS: custody runs in a mount namespace with these files, after COMMANDS of root; $bin is a directory for files.
# With COMMANDS, /usr is an overlay, so that they may change it: no other mount may be below a directory that custody binds.
inside() {
	# shellcheck disable=SC2016 # expanded inside
	CUSTODY_AS=(env "etc=$ETC" "bin=$CUSTODY_HOME/bin" "before=$1" unshare -m sh -ec '
		for file in "$etc"/*; do mount --bind "$file" "/etc/${file##*/}"; done
		if [ "$before" ]; then
			mkdir -p "$bin/upper" "$bin/work"
			mount -t overlay overlay -o "lowerdir=/usr,upperdir=$bin/upper,workdir=$bin/work" /usr
			eval "$before"
		fi
		exec "$@"' sh
		setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups --inh-caps=-all
		env -u etc -u bin -u before "HOME=$CUSTODY_HOME/home" "XDG_RUNTIME_DIR=$CUSTODY_HOME/xdg" "CUSTODY_ROOT=$CUSTODY_ROOT")
}

# again COMMANDS: the same with an unchanged /usr.
again() {
	rm -r "${CUSTODY_HOME:?}/bin"
	mkdir "$CUSTODY_HOME/bin"
	inside "$1"
}

with() { # PROFILE WORDS...
	local name=$1
	shift
	custody_run --profile "$CUSTODY_HOME/$name.json" "$@"
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# Files of the caller's state that belong to another id; the test's own configuration is root's.
foreign_files() {
	find "$CUSTODY_ROOT" "$PWD" -path "$CUSTODY_ROOT/etc" -prune -o ! -uid "$SUITE_UID" -print -o ! -gid "$SUITE_UID" -print
}
no_file_is_foreign() {
	[ -z "$(foreign_files)" ] || custody_fail "of other ids: $(foreign_files | head -n 5)"
}

# Of stderr; a user without a cgroup reads another line.
no_line_about_ids() {
	[[ $stderr != *'one id'* && $stderr != *'id 0 inside'* && $stderr != *subordinate* ]] || custody_fail 'a line about ids'
}

# Owners and modes that the caller cannot enter; a file and a link with them.
SPREAD='mkdir -p d/k; echo secret >d/k/f; ln -s f d/k/l; chmod 0600 d/k/f; touch g; chown :33 g; chown -hR 70:80 d; chmod 0700 d/k d'

@test "PLAT-3: subordinate ids: 0 inside is the caller, the others are the caller's range, and the result says so" {
	with caps -- cat /proc/self/uid_map /proc/self/gid_map
	assert_status 0
	assert_layer user-namespace
	assert_layer process-state
	no_line_about_ids
	[ "$(awk '{ print $1, $2, $3 }' <<<"$output" | paste -sd ,)" = "0 $SUITE_UID 1,1 $FIRST 65535,0 $SUITE_UID 1,1 $FIRST 65535" ]
	[ "$(custody_result '.ids.mode')" = subordinate ]
	[ "$(custody_result '[.ids.uid[] | "\(.inside):\(.outside):\(.count)"] | join(",")')" = "0:$SUITE_UID:1,1:$FIRST:65535" ]
	[ "$(custody_result '.ids.uid == .ids.gid')" = true ]
}

@test "PLAT-3: subordinate ids: a command that cannot use them gets the one id, and runs neither program" {
	: >"$CUSTODY_HOME/bin/ran"
	chmod 0666 "$CUSTODY_HOME/bin/ran"
	inside 'printf "#!/bin/sh\necho ran >>$bin/ran" | tee /usr/bin/newuidmap >/usr/bin/newgidmap'
	with plain -- cat /proc/self/uid_map
	assert_status 0
	[ "$(awk '{ print $1, $2, $3 }' <<<"$output")" = "0 $SUITE_UID 1" ]
	[ "$(custody_result .ids.mode)" = single ]
	no_line_about_ids
	[ ! -s "$CUSTODY_HOME/bin/ran" ]
	# The same programs are run where the ids make a difference.
	with caps -- true
	[ -s "$CUSTODY_HOME/bin/ran" ]
}

@test "PLAT-3: subordinate ids: entries by uid and several ranges are used, until 65,535 ids are mapped" {
	ranges "$SUITE_UID:$FIRST:65000
suite:$((FIRST + 100000)):65536"
	with caps -- cat /proc/self/uid_map
	assert_status 0
	[ "$(awk '{ print $1, $2, $3 }' <<<"$output" | paste -sd ,)" = "0 $SUITE_UID 1,1 $FIRST 65000,65001 $((FIRST + 100000)) 535" ]
}

@test "PLAT-3: subordinate ids: chown, another user id, and an archive with owners work" {
	with caps -- sh -ec 'touch a; chown 33:34 a; stat -c %u:%g a
		setpriv --reuid 100 --regid 101 --clear-groups id -u
		mkdir in out; touch in/b; chown 7:8 in/b; tar -cf t in; unset TAR_OPTIONS; tar -C out -xf t; stat -c %u:%g out/in/b'
	assert_status 0
	[ "$(paste -sd ' ' <<<"$output")" = '33:34 100 7:8' ]
	no_file_is_foreign
}

@test "PLAT-3: subordinate ids: process.user runs the command as an id that is not the caller's" {
	local pid
	with user -- sh -c 'id -u; id -g; touch "$HOME/h" /tmp/t; touch w 2>/dev/null || echo refused'
	assert_status 0
	[ "$(paste -sd ' ' <<<"$output")" = '70 70 refused' ]
	assert_layer user-namespace
	assert_layer worktree
	assert_stderr_has 'the worktree belongs to id 0 inside, and its mode 0755 does not let id 70 write it: chmod o+rwx'
	# On the host it is the range's.
	custody run --profile "$CUSTODY_HOME/user.json" -- sh -c 'echo ready; exec sleep 300' >"$CUSTODY_HOME/out" 2>/dev/null 3>&- &
	pid=$!
	wait_until grep -q ready "$CUSTODY_HOME/out"
	[ -n "$(pgrep -u $((FIRST + 69)) -x sleep)" ]
	# A further command has the same id, and may open its own output.
	run custody exec "$(custody sessions --json | jq -r '[.sessions[] | select(.state == "running")][0].session')" -- sh -c 'id -u >/dev/stdout'
	[ "$output" = 70 ] || custody_fail 'exec'
	custody stop "$(custody sessions --json | jq -r '[.sessions[] | select(.state == "running")][0].session')"
	wait "$pid" || true
}

@test "ISO-8: subordinate ids: process.user has token and socket of the broker, another id inside has not, and nothing is left" {
	local naps pid inner broker
	profile broker "{\"process\": {\"user\": \"70:70\"}, \"broker\": {\"tools\": [\"ping\"]}, $OPTIONAL}"
	with broker -- sh -c 'id -u; stat -c "%a %u:%g" /run/custody /run/custody/token /run/custody/broker.sock; /run/custody/custody-call ping
		test -w /run/custody || echo kept'
	assert_status 0
	[ "$(paste -sd ' ' <<<"$output")" = '70 711 0:0 400 70:70 600 70:70 "pong" kept' ]
	[ -z "$(find "$CUSTODY_ROOT/run" "$CUSTODY_HOME/xdg" -name token -o -name broker.sock)" ]
	no_file_is_foreign
	# Another id than that of the command, and than that of the files.
	naps=300.$$
	custody run --profile "$CUSTODY_HOME/broker.json" -- sh -c "echo ready; exec sleep $naps" >"$CUSTODY_HOME/out" 2>/dev/null 3>&- &
	pid=$!
	wait_until grep -q ready "$CUSTODY_HOME/out"
	inner=$(pgrep -fx "sleep $naps")
	broker=$(pgrep -x custody-broker | while read -r one; do ! grep -qzx "CUSTODY_ROOT=$CUSTODY_ROOT" "/proc/$one/environ" 2>/dev/null || echo "$one"; done)
	run nsenter -t "$inner" -U -m -S 71 -G 71 /run/custody/custody-call ping
	[ "$status" -ne 0 ]
	[[ $output != *pong* ]]
	kill -9 "$broker"
	wait "$pid" || true
	wait_until eval '[ -z "$(find "$CUSTODY_ROOT/run" "$CUSTODY_HOME/xdg" -name token -o -name broker.sock)" ]'
	no_file_is_foreign
}

@test "PLAT-3: subordinate ids: process.user writes the worktree where its mode allows it, and apply gives the files to the caller" {
	chmod 0777 .
	with user -- sh -ec 'mkdir data; chmod 0700 data; echo x >data/f; echo y >new'
	assert_status 0
	no_line_about_ids
	[ "$(custody_result .ids.mode)" = subordinate ]
	# In a continued run the files are the caller's as well, and it says so.
	with user --continue -- sh -c 'stat -c %u data new'
	[ "$(paste -sd ' ' <<<"$output")" = '0 0' ]
	assert_stderr_has 'belong to id 0 inside: id 70 has the rights of others to them'
	custody apply last
	[ "$(cat data/f new | paste -sd ' ')" = 'x y' ]
	[ "$(stat -c %u:%a data)" = "$SUITE_UID:700" ]
	no_file_is_foreign
}

@test "PLAT-3: subordinate ids: an id beyond the granted ones is refused by number, and nothing is executed" {
	ranges "suite:$FIRST:50"
	with user -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has 'process.user 70:70 of profile '\''user'\'' needs subordinate ids: only ids up to 50 and groups up to 50 are granted'
}

@test "PLAT-3: subordinate ids: diff, apply, discard and --continue work on files of other ids" {
	with caps -- sh -ec "$SPREAD"
	assert_status 0
	no_file_is_foreign
	run custody diff last
	assert_output_has '+secret'
	with caps --continue -- sh -ec 'cat d/k/f; echo more >>d/k/f; chown 5 d/k/f; chmod 0 d'
	assert_status 0
	assert_output_has secret
	no_file_is_foreign
	custody apply last
	chmod 0700 d
	[ "$(paste -sd ' ' <d/k/f)" = 'secret more' ]
	no_file_is_foreign
	with caps -- sh -ec "rm -r d g; $SPREAD"
	custody discard last
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name u)" ]
}

@test "PLAT-3: subordinate ids: diff shows the changes of a running session" {
	local id
	id=$(custody run -d --profile "$CUSTODY_HOME/caps.json" -- sh -c "$SPREAD; echo ready; exec sleep 300")
	wait_until logs_have "$id" ready
	run custody diff "$id"
	assert_output_has '+secret'
	run custody exec "$id" -- stat -c %u:%g d
	assert_output_has 70:80
	custody stop "$id"
	wait_until session_is_over "$id"
	no_file_is_foreign
}
logs_have() { # SESSION TEXT
	custody logs "$1" 2>/dev/null | grep -q "$2"
}
session_is_over() {
	[ "$(jq -r .state "$CUSTODY_ROOT/sandbox/sessions/$1/session.json")" = ended ] && [ ! -e "$CUSTODY_ROOT/run/sessions/$1" ]
}

@test "ISO-5: subordinate ids: the evidence of changes and of a whole worktree is complete, and the caller's" {
	local dir id
	echo kept >other
	chown "$SUITE_UID:$SUITE_UID" other
	profile all "{\"dangerous\": [\"no-capabilities\"], \"forensics\": {\"capture\": \"all\"}, $OPTIONAL}"
	for name in caps all; do
		with "$name" -- sh -c "$SPREAD; exit 3"
		assert_status 3
		dir=$(custody_result .evidence)
		id=$(basename "$dir")
		[ "$(jq -r .status "$dir/metadata.json")" = complete ]
		[ "$(cat "$dir/worktree/d/k/f")" = secret ]
		custody evidence verify "$id"
		no_file_is_foreign
		custody evidence restore "$id" "$CUSTODY_HOME/home/$name"
		[ "$(cat "$CUSTODY_HOME/home/$name/d/k/f")" = secret ]
		custody evidence rm "$id"
		[ ! -e "$dir" ]
	done
}

@test "ISO-13: subordinate ids: the disk limit counts directories that only another id can read" {
	profile small "{\"dangerous\": [\"no-capabilities\"], \"limits\": {\"disk\": \"8M\"}, $OPTIONAL}"
	# Empty files: neither the space of the file system nor the bytes that the command wrote show them.
	with small -- sh -c "$SPREAD; cd d/k; seq 3000 | xargs touch; chown -R 70 .; exec sleep 20"
	assert_status 137
	assert_reason disk-limit
	no_file_is_foreign
}

# dying POINT: the run with PROFILE_WORDS is killed there, or its child is; $status.
dying() {
	mkdir -p "$CUSTODY_HOME/seamed"
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$CUSTODY_HOME/seamed/custody"
	status=0
	"${CUSTODY_AS[@]}" env CUSTODY_SEAM="$1" CUSTODY_SEAM_DO=die "$CUSTODY_HOME/seamed/custody" run \
		--profile "$CUSTODY_HOME/caps.json" "${PROFILE_WORDS[@]}" -- \
		sh -c "$SPREAD; mkdir ~/k; chown 70 ~/k; exit 3" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" || status=$?
}

@test "ISO-7: subordinate ids: after a kill -9 the next start returns the files to the caller" {
	local id
	for point in go-sent payload-ended owners-returned; do
		dying "$point"
		[ "$status" -eq 137 ] || custody_fail "$point: $status"
		custody recover
		no_file_is_foreign
	done
	# As after a crash of the machine: the map was not on the disk yet.
	dying payload-ended
	for file in "$CUSTODY_ROOT"/sandbox/sessions/*/ids; do : >"$file"; done
	custody recover
	no_file_is_foreign
	run custody diff last
	assert_output_has '+secret'
	# Only the process that returns them.
	dying owners-entered
	[ "$status" -eq 3 ] || custody_fail "owners-entered: $status"
	grep -q 'the process that returns the files exited without an answer' "$CUSTODY_HOME/err"
	[ -n "$(foreign_files)" ]
	custody recover
	no_file_is_foreign
	[ -z "$(find "$CUSTODY_ROOT" -name ids)" ]
	for id in $(custody sessions --json | jq -r '.sessions[] | select(.kept).session'); do custody discard "$id"; done
}

@test "ISO-7: subordinate ids: files are returned later when newuidmap fails at the end of a run" {
	local id
	inside '[ -e /usr/bin/real ] || cp -p /usr/bin/newuidmap /usr/bin/real
		printf "#!/bin/sh\n[ ! -e $bin/broken ] || { echo no ids today >&2; exit 1; }\nexec /usr/bin/real \"\$@\"" >/usr/bin/newuidmap
		chmod 04755 /usr/bin/newuidmap /usr/bin/real'
	id=$(custody run -d --profile "$CUSTODY_HOME/caps.json" -- sh -c "$SPREAD; echo ready; exec sleep 300" 2>"$CUSTODY_HOME/err")
	wait_until logs_have "$id" ready
	: >"$CUSTODY_HOME/bin/broken"
	custody stop "$id"
	wait_until supervisor_is_gone "$id"
	custody recover 2>"$CUSTODY_HOME/err" || true
	grep -q 'cannot be returned to the caller: /usr/bin/newuidmap: no ids today' "$CUSTODY_HOME/err"
	[ -n "$(foreign_files)" ]
	rm "$CUSTODY_HOME/bin/broken"
	custody recover
	no_file_is_foreign
}

supervisor_is_gone() { # SESSION
	flock -n "$CUSTODY_ROOT/run/sessions/$1" true
}

# one_id REASON [quiet]: the caps profile falls back to the caller's id and says why, and process.user is refused, with nothing executed.
one_id() {
	with caps -- cat /proc/self/uid_map
	assert_status 0
	[ "$(awk '{ print $1, $2, $3 }' <<<"$output")" = "0 $SUITE_UID 1" ] || custody_fail "more ids: $1"
	[ "$(custody_result .ids.mode)" = single ]
	[[ $(custody_result .ids.why) == *"$1"* ]] || custody_fail "expected '$1'"
	[ "${2:-loud}" = quiet ] || assert_stderr_has "one id: $(custody_result .ids.why)"
	[ "${2:-loud}" = loud ] || no_line_about_ids
	with user -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has "needs subordinate ids: "
	assert_stderr_has "$1"
}

@test "PLAT-3: subordinate ids: without a range, or without an account, one id as ever" {
	ranges 'other:3100000000:65536'
	one_id "has no range of user 'suite'" quiet
	ranges "suite:$FIRST:65536"
	sed -i '/^suite:/d' "$ETC/passwd"
	one_id "has no user with uid $SUITE_UID" quiet
}

@test "ISO-1: subordinate ids: ranges of other ids, of two users and malformed lines are never mapped" {
	ranges "suite:$FIRST:65536
other:$((FIRST + 65535)):10"
	one_id "has ids of"
	ranges "suite:$FIRST:10
suite:$((FIRST + 5)):10"
	one_id "overlap: give each id once"
	ranges 'suite:0:65536'
	one_id "contains 0, the host's root"
	ranges "suite:$((SUITE_UID - 10)):100"
	one_id "contains the caller's own id"
	ranges 'suite:1879048192:65536'
	one_id 'id_range'
	ranges "suite:$FIRST:65536
other:0x100:1"
	one_id "line 2 of '/etc/subuid' is not NAME:FIRST:COUNT"
	ranges "suite:$FIRST:65536"
	echo "mallory:x:$((FIRST + 7)):100::/:/bin/sh" >>"$ETC/passwd"
	one_id "which is user 'mallory'"
	sed -i '/^mallory:/d' "$ETC/passwd"
	echo "crew:x:$((FIRST + 7)):" >>"$ETC/group"
	one_id "which is group 'crew'"
	sed -i '/^crew:/d' "$ETC/group"
	echo 'subid: sss' >"$ETC/nsswitch.conf"
	one_id "'subid' in /etc/nsswitch.conf names another source"
}

@test "ISO-1: subordinate ids: only the groups' file differs" {
	echo "suite:0:10" >"$ETC/subgid"
	one_id "line 1 of '/etc/subgid', 0 to 9, contains 0"
}

@test "PLAT-3: subordinate ids: newuidmap missing, without its bit, or without privilege" {
	inside 'rm -f /usr/bin/newgidmap'
	one_id "'/usr/bin/newgidmap' is not installed (apt install uidmap)" quiet
	again 'chmod 0755 /usr/bin/newuidmap'
	one_id "'/usr/bin/newuidmap' has neither the set-user-ID bit nor a file capability"
	again 'chmod 04777 /usr/bin/newuidmap'
	one_id "'/usr/bin/newuidmap' is not a program of root that only root can change"
	again 'mount -o remount,bind,nosuid /usr'
	one_id "'/usr/bin/newuidmap' is on a file system that is mounted nosuid"
	inside ''
	CUSTODY_AS+=(setpriv --no-new-privs)
	one_id 'custody was started with no_new_privs'
}

@test "PLAT-3: subordinate ids: newuidmap with a file capability in place of the bit is used" {
	inside 'chmod 0755 /usr/bin/newuidmap /usr/bin/newgidmap
		setcap cap_setuid+ep /usr/bin/newuidmap; setcap cap_setgid+ep /usr/bin/newgidmap'
	with caps -- sh -c 'touch f; chown 5:6 f; stat -c %u:%g f'
	assert_status 0
	assert_output_has 5:6
}

@test "PLAT-3: subordinate ids: newuidmap that fails or hangs refuses the run within seconds" {
	inside 'printf "#!/bin/sh\necho not today >&2; exit 1" >/usr/bin/newuidmap; chmod 04755 /usr/bin/newuidmap'
	with caps -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has 'the subordinate ids cannot be mapped: /usr/bin/newuidmap: not today'
	again 'printf "#!/bin/sh\nexec sleep 1000" >/usr/bin/newuidmap; chmod 04755 /usr/bin/newuidmap'
	with caps -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has '/usr/bin/newuidmap did not return within 5 seconds and was killed'
	[ -z "$(find "$CUSTODY_ROOT" -name ids)" ]
}

@test "ISO-1: subordinate ids: init refuses a map that is not the requested one" {
	inside '[ -e /usr/bin/real ] || cp -p /usr/bin/newuidmap /usr/bin/real
		printf "#!/bin/sh\nexec /usr/bin/real \$1 0 $SUITE_UID 1 1 $FIRST 100" >/usr/bin/newuidmap
		chmod 04755 /usr/bin/newuidmap /usr/bin/real'
	export SUITE_UID FIRST
	with caps -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_layer user-namespace refused
	assert_stderr_has 'the mapped ids are not those that were requested'
}

@test "PLAT-3: subordinate ids: where files of other ids would stay among the caller's, there is one id" {
	profile rw "{\"dangerous\": [\"no-capabilities\"], \"workspace\": {\"mode\": \"rw\"}, $OPTIONAL}"
	with rw -- cat /proc/self/uid_map
	assert_status 0
	[ "$(wc -l <<<"$output")" -eq 1 ]
	assert_stderr_has 'one id: the run writes directories of the host'
	mkdir "$CUSTODY_HOME/home/shared"
	chown "$SUITE_UID" "$CUSTODY_HOME/home/shared"
	with user --home keep -v "$CUSTODY_HOME/home/shared:/shared:rw" -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has 'needs subordinate ids: the run writes directories of the host'
	no_file_is_foreign
}

kept_home() {
	echo "$CUSTODY_ROOT"/sandbox/home/*-default
}

@test "PLAT-3: subordinate ids: files in a kept home keep their owners for later runs, until it is emptied" {
	local home
	with caps --home keep -- sh -ec 'mkdir -m 0700 ~/db; chown 70:80 ~/db
		setpriv --reuid 70 --regid 80 --clear-groups sh -ec "cd ~/db; echo one >f; chmod 0600 f; ln -s f l"'
	assert_status 0
	# Without capabilities as well: with one id the files would be of no id at all.
	with plain --home keep -- sh -c 'stat -c %u:%g ~/db; cat /proc/self/uid_map | wc -l; cat ~/db/f'
	[ "${lines[0]} ${lines[1]}" = '70:80 2' ] && [[ $output != *one* ]]
	[ "$(custody_result .ids.mode)" = subordinate ]
	# Their owner, also of a home that a command gave away.
	with caps --home keep -- sh -c 'chown 70:80 ~; chmod 0700 ~'
	# No set-id program of another id stays on the host.
	with caps --home keep -- sh -c 'cp /bin/true ~/x; chown 70 ~/x; chmod 4755 ~/x || echo refused'
	assert_output_has refused
	with user --home keep -- sh -ec 'cat ~/db/f; echo two >>~/db/f; mkdir ~/own; stat -c %u ~/own'
	assert_status 0
	[ "$(paste -sd ' ' <<<"$output")" = 'one 70' ]
	home=$(kept_home)
	# No other user of the host reaches them.
	[ "$(stat -c %a "$home")" = 700 ]
	[ "$(stat -c %u "$home/home/db/f")" = $((FIRST + 69)) ]
	run custody df
	[ "$status" -eq 0 ]
	run custody reset --home --dry-run
	[ "$status" -eq 0 ]
	[ -e "$home/home/db/f" ]
	run custody reset --home
	assert_status 0
	[ -z "$(ls -A "$home/home")" ] && [ ! -e "$home/ids" ]
	no_file_is_foreign
	with plain --home keep -- sh -c 'wc -l </proc/self/uid_map; stat -c %a ~'
	[ "$(paste -sd ' ' <<<"$output")" = '1 700' ]
	with caps --home keep -- sh -ec 'mkdir -m 0700 ~/db; chown 70:80 ~/db'
	custody prune --all
	[ ! -e "$home" ]
}

@test "ISO-1: subordinate ids: a kept home with files of ids that are not granted now is refused, and its files stay" {
	local home
	with caps --home keep -- sh -ec 'mkdir -m 0700 ~/db; touch ~/db/f; chown -R 70:80 ~/db'
	home=$(kept_home)
	ranges "suite:$((FIRST + 100000)):65536"
	for name in plain caps user; do
		with "$name" --home keep -- sh -c 'echo ran'
		assert_status 125
		[[ $output != *ran* ]]
		assert_stderr_has "'$home' has files of other subordinate ids"
	done
	# newuidmap maps no id that is not granted.
	run custody reset --home
	[ "$status" -ne 0 ]
	assert_output_has 'cannot be returned to the caller'
	[ -e "$home/home/db/f" ]
	ranges "suite:$FIRST:65536"
	inside 'rm -f /usr/bin/newuidmap'
	with plain --home keep -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has "files of subordinate ids are in '$home', and these cannot be mapped: '/usr/bin/newuidmap' is not installed"
	again ''
	with plain --home keep -- stat -c %u db
	with plain --home keep -- sh -c 'stat -c %u ~/db'
	[ "$output" = 70 ]
	# A home of another name has none.
	with plain --home keep=other -- sh -c 'wc -l </proc/self/uid_map'
	[ "$output" = 1 ]
	custody reset --home
	no_file_is_foreign
}

@test "PLAT-3: subordinate ids: files in a sandbox root keep their owners until a reset; evidence has them" {
	local root=$CUSTODY_ROOT/sandbox/sandbox/s id dir
	with caps --sandbox s -- sh -ec "$SPREAD; touch /tmp/t; chown 70 /tmp/t"
	assert_status 0
	[ "$(stat -c %u "$root/workspace/d")" = $((FIRST + 69)) ]
	with plain --sandbox s -- sh -c 'stat -c %u:%g d; stat -c %u:%a /tmp/t'
	[ "${lines[0]}" = 70:80 ]
	profile user "{\"process\": {\"user\": \"70:70\"}, \"forensics\": {\"capture\": \"all\"}, $OPTIONAL}"
	with user --sandbox s -- sh -ec 'cat d/k/f; touch new /tmp/n; exit 3'
	assert_status 3
	assert_output_has secret
	no_line_about_ids
	dir=$(custody_result .evidence)
	[ "$(jq -r .status "$dir/metadata.json")" = complete ]
	[ "$(cat "$dir/worktree/d/k/f")" = secret ]
	id=$(basename "$dir")
	custody evidence verify "$id"
	custody evidence rm "$id"
	run custody reset --sandbox s
	assert_status 0
	[ -z "$(find "$root/workspace" "$root/tmp" -mindepth 1)" ]
	[ ! -e "$root/ids" ]
	no_file_is_foreign
	with plain --sandbox s -- sh -c 'wc -l </proc/self/uid_map; stat -c %a .'
	[ "$(paste -sd ' ' <<<"$output")" = '1 700' ]
}

@test "ISO-7: subordinate ids: after a kill -9 a kept home still has its owners, and is emptied as ever" {
	PROFILE_WORDS=(--home keep)
	dying payload-ended
	[ "$status" -eq 137 ]
	custody recover
	with plain --home keep -- sh -c 'stat -c %u ~/k; id -u'
	[ "${lines[0]}" = 70 ]
	# Killed between the return of the files and their removal.
	run "${CUSTODY_AS[@]}" env CUSTODY_SEAM=owners-returned CUSTODY_SEAM_DO=die "$CUSTODY_HOME/seamed/custody" reset --home
	[ "$status" -eq 137 ] || custody_fail "status $status"
	run custody reset --home
	assert_status 0
	custody recover
	no_file_is_foreign
}

@test "PLAT-3: subordinate ids: they are in the digest, the same for check and run, and a bundle has none" {
	local one many
	many=$(custody check --json --profile "$CUSTODY_HOME/caps.json" -- id | jq -r .digest)
	[ "$(custody check --json --profile "$CUSTODY_HOME/caps.json" -- id | jq -r .subject.user.ids)" = subordinate ]
	with caps -- id
	[ "$(custody_result .digest)" = "$many" ]
	custody bundle --profile "$CUSTODY_HOME/caps.json" -o "$CUSTODY_HOME/home/bundle" -- id
	[ "$(jq -c .linux.uidMappings "$CUSTODY_HOME/home/bundle/config.json")" = "[{\"containerID\":0,\"hostID\":$SUITE_UID,\"size\":1}]" ]
	run --separate-stderr custody bundle --profile "$CUSTODY_HOME/user.json" -o "$CUSTODY_HOME/home/other" -- id
	[ "$status" -eq 125 ]
	assert_stderr_has 'process.user 70:70 is not mapped'
	[ ! -e "$CUSTODY_HOME/home/other/config.json" ]
	ranges ''
	one=$(custody check --json --profile "$CUSTODY_HOME/caps.json" -- id | jq -r .digest)
	[ "$one" != "$many" ]
	[ "$(custody check --json --profile "$CUSTODY_HOME/caps.json" -- id | jq -r .subject.user.ids)" = null ]
}

@test "PLAT-3: subordinate ids: files at any depth are returned, so that the session can be removed" {
	# More than 4 MiB of names.  The run may end first, by its limit of levels: then the tree is what it made until then.
	with caps -- perl -e 'my $name = "d" x 250;
		for (1 .. 17500) { mkdir $name or die $!; chown 70, 80, $name or die $!; chdir $name or die $! }'
	[[ $stderr != *'cannot be returned'* ]] || custody_fail "$stderr"
	[ -z "$(find "$CUSTODY_ROOT"/sandbox/sessions/*/u -mindepth 1 ! -uid "$SUITE_UID" -printf '%y' -quit)" ]
	run custody recover
	assert_status 0
	# Without names: one path would be 4 MiB.
	[ "$(find "$CUSTODY_ROOT"/sandbox/sessions -maxdepth 2 -name ids | wc -l)" -eq 0 ]
}
