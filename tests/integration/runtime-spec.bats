#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime and the OCI runtime specification: each member is done or refused by its name, and `features` promises
# nothing that does not work.

# shellcheck disable=SC2016 # scripts for other shells

load ../lib/suite.bash
load ../lib/oci.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
	edit '.process.env = ["PATH=/bin"] | .process.args = ["/bin/sh","-c","echo started >/tmp/started"]'
	cp "$B/config.json" "$B/good"
	MEMBERS=$BATS_TEST_DIRNAME/../data/runtime/members
	LIBCRUN=$("$RT" features | jq -r '.annotations["custody.runtime.libcrun"]')
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}
# is_done SINCE: does the linked libcrun do what members with this word in the list say?
is_done() {
	[ "$1" = all ] || { [ "$1" != none ] && [ "$(printf '%s\n' "$1" "$LIBCRUN" | sort -V | head -n 1)" = "$1" ]; }
}
# with MEMBER VALUE: the good configuration with this member.
with() {
	jq --arg path "$1" --argjson value "$2" '
		def one($names; $value): if $names == [] then $value
			else ($names[0] | rtrimstr("[]")) as $key | (if $key == "*" then "k" else $key end) as $key
			| one($names[1:]; $value) as $in | {($key): (if $names[0] | endswith("[]") then [$in] else $in end)} end;
		. * one($path / "."; $value)' "$B/good" >"$B/config.json"
}
# not_started: the last `run` failed, and the command did not run.
not_started() {
	refused "$@" && [ ! -e "$B/rootfs/tmp/started" ]
}
# sh_runs SCRIPT: what it prints in a container; standard input and output are pipes.
sh_runs() {
	jq --arg script "$1" '.process.args = ["/bin/sh","-c",$script]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	rt run -b "$B" x < <(:) 2>&1 | cat
}

# --- members ------------------------------------------------------------------------------------------------------
@test "PLAT-4: each member of the specification that this libcrun would ignore is refused by its name, and nothing starts" {
	local member value since n=0
	while read -r member value since; do
		[[ $member != '#'* ]] && ! is_done "$since" || continue
		n=$((n + 1))
		with "$member" "$value"
		run rt run -b "$B" x < <(:)
		not_started "'${member%%[.\[]*}" 'is not supported' || { echo "$member" && return 1; }
	done <"$MEMBERS"
	[ "$n" -ge 10 ]
	cp "$B/good" "$B/config.json"
	rt run -b "$B" x < <(:)
	[ -e "$B/rootfs/tmp/started" ]
}
@test "PLAT-4: each other member of the specification is passed to libcrun" {
	local member value since n=0
	while read -r member value since; do
		[[ $member != '#'* ]] && is_done "$since" || continue
		n=$((n + 1))
		with "$member" "$value"
		rt create -b "$B" x </dev/null >"$B/out" 2>&1 || true
		! grep 'is not supported\|is in no' "$B/out" || { echo "$member" && return 1; }
		rt delete --force x
	done <"$MEMBERS"
	[ "$n" -ge 130 ]
}
@test "PLAT-4: exec -p and update refuse by the same table" {
	local text
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	for text in '{user: {uid: 0, gid: 0, username: "alice"}}' '{commandLine: "x"}' '{nosuch: 1}' '{NoNewPrivileges: true}' \
		'{user: {uid: 0, gid: 0, UID: 5}}'; do
		jq -n "{args: [\"/bin/sh\",\"-c\",\"echo started >/tmp/started\"], cwd: \"/\"} * $text" >"$B/p"
		run rt exec -p "$B/p" x
		[ "$status" -eq 1 ]
		[[ $output == *process:*"'"* && ! -e $B/rootfs/tmp/started ]] || { echo "$text: $output" && return 1; }
	done
	for text in '{"rdma":{"mlx5_0":{"hcaHandles":5}}}' '{"nosuch":{"limit":5}}' '{"memory":{"Limit":5}}' \
		'{"blockIO":{"weightDevice":[{"major":8,"minor":0,"leafWeight":5}]}}'; do
		run rt update -r - x <<<"$text"
		[ "$status" -eq 1 ]
		[[ $output == *resources:*"'"* ]] || { echo "$text: $output" && return 1; }
	done
}
@test "PLAT-4: ociVersion 1.0 to 1.3 are accepted, also later ones; the file stays as it is, and only this member differs for libcrun" {
	local version before
	for version in 1.0.0 1.0.2-dev 1.1.0 1.2.0 1.2.1 1.3.0 1.4.0; do
		jq --arg v "$version" '.ociVersion = $v | .process.args = ["/bin/busybox","true"]' "$B/good" >"$B/config.json"
		before=$(sha256sum "$B/config.json")
		rt create -b "$B" x </dev/null >"$B/out" 2>&1
		[ "$(sha256sum "$B/config.json")" = "$before" ]
		diff <(jq -S 'del(.ociVersion)' "$B/config.json") <(jq -S 'del(.ociVersion)' "$ROOT/x/config.json")
		rt delete --force x
	done
	for version in 2.0.0 0.9.0 one ''; do
		jq --arg v "$version" '.ociVersion = $v' "$B/good" >"$B/config.json"
		run rt run -b "$B" x < <(:)
		not_started config.json "'$version'" || { echo "$version" && return 1; }
	done
}
@test "PLAT-4: a member that is in no specification is ignored in the root object, with a warning, and refused elsewhere" {
	local change
	edit '.["com.example.own"] = {a: 1}'
	rt --log "$B/log" --log-level warning run -b "$B" x < <(:)
	[ -e "$B/rootfs/tmp/started" ]
	grep -q "ignoring 'com.example.own'" "$B/log"
	rm "$B/rootfs/tmp/started"
	# It may be a member of a specification that is newer than the table.
	edit '.ociVersion = "1.4.0"'
	run rt run -b "$B" x < <(:)
	not_started com.example.own
	for change in '.linux.nosuch = 1' '.process.nosuch = 1' '.process.user.nosuch = 1' '.root.nosuch = 1' '.hooks = {nosuch: []}' \
		'.mounts[0].nosuch = true' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", nosuch: []}' \
		'.linux.resources = {nosuch: {}}' '.linux.namespaces[0].nosuch = 1' '.process.capabilities.nosuch = []' \
		'.Linux = {nosuch: 1}' '.PROCESS = {nosuch: 1}' '.linux.NoSuch = {}' '.linux.Seccomp = {}'; do
		cp "$B/good" "$B/config.json"
		edit "$change"
		run rt run -b "$B" x < <(:)
		not_started config.json || { echo "$change" && return 1; }
	done
}
@test "PLAT-4: a mount option that would be ignored, or set as another one, is refused by its name" {
	local option mount
	for option in nosymfollow rnosymfollow lazytime silent remount rrelatime rnoatime rsync rdirsync size=5 nosuch; do
		cp "$B/good" "$B/config.json"
		edit '.mounts += [{destination: "/tmp", type: "none", source: "'"$B"'", options: ["rbind","'"$option"'"]}]'
		run rt run -b "$B" x < <(:)
		not_started "'$option'" "'/tmp'" || { echo "$option" && return 1; }
		[ ! -e "$B/started" ]
	done
	for mount in '{type: "none", options: ["bind"], uidMappings: [{containerID: 0, hostID: 0, size: 1}]}' \
		'{type: "none", options: ["bind"], uidMappings: [], gidMappings: [{containerID: 0, hostID: 0, size: 1}]}' \
		'{type: "cgroup", source: "cgroup", options: ["nosuch"]}'; do
		cp "$B/good" "$B/config.json"
		edit '.mounts += [{destination: "/tmp", source: "'"$B"'"} + '"$mount"']'
		run rt run -b "$B" x < <(:)
		not_started "'/tmp'" || { echo "$mount" && return 1; }
	done
}
@test "PLAT-4: a profile or a label of a module that this kernel does not have is refused, and nothing starts" {
	local change n=0
	for change in '.process.apparmorProfile = "docker-default"' '.process.selinuxLabel = "a:b:c:s0"' '.linux.mountLabel = "a:b:c:s0"'; do
		case $change in
		*apparmor*) [ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" != Y ] || continue ;;
		*) ! grep -q ' selinuxfs ' /proc/mounts || continue ;;
		esac
		n=$((n + 1))
		cp "$B/good" "$B/config.json"
		edit "$change"
		run rt run -b "$B" x < <(:)
		not_started 'is disabled on this host' || { echo "$change" && return 1; }
	done
	# A kernel has at most one of them here.
	[ "$n" -ge 1 ]
	cp "$B/good" "$B/config.json"
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	if ! grep -q ' selinuxfs ' /proc/mounts; then
		run rt exec --process-label a:b:c:s0 x sh -c 'echo started >/tmp/started'
		[[ $status -eq 1 && $output == *selinuxLabel* && ! -e $B/rootfs/tmp/started ]]
	fi
}

# --- features -----------------------------------------------------------------------------------------------------
features() {
	"$RT" features | jq -r "$1"
}
@test "PLAT-4: features: both versions are accepted, and each hook runs" {
	local name version
	for version in "$(features .ociVersionMin)" "$(features .ociVersionMax)"; do
		jq --arg v "$version" '.ociVersion = $v | .process.args = ["/bin/busybox","true"]' "$B/good" >"$B/config.json"
		rt run -b "$B" x < <(:)
	done
	mkdir "$B/ran" "$B/rootfs/tmp/ran"
	for name in $(features '.hooks[]'); do
		case $name in
		startContainer) edit '.hooks.'"$name"' = [{path: "/bin/busybox", args: ["touch","/tmp/ran/'"$name"'"]}]' ;;
		*) edit '.hooks.'"$name"' = [{path: "/bin/busybox", args: ["touch","'"$B/ran/$name"'"]}]' ;;
		esac
	done
	rt run -b "$B" x < <(:)
	[ "$(find "$B/ran" "$B/rootfs/tmp/ran" -type f -printf '%f\n' | sort)" = "$(features '.hooks[]' | sort)" ]
}
@test "PLAT-4: features: each namespace is a new one" {
	local name file
	for name in $(features '.linux.namespaces[]'); do
		case $name in mount) file=mnt ;; network) file=net ;; *) file=$name ;; esac
		cp "$B/good" "$B/config.json"
		edit '.linux.namespaces = ([{type: "mount"},{type: "'"$name"'"}] | unique) | del(.hostname)
			| .mounts |= map(select(.type == "proc" or .type == "tmpfs"))'
		if [ "$name" = user ]; then
			chmod 755 "$CUSTODY_HOME" "$B" "$B/rootfs"
			edit '.linux.namespaces += [{type: "pid"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
				| .linux.gidMappings = .linux.uidMappings'
		fi
		run sh_runs "busybox readlink /proc/self/ns/$file"
		[[ $output == "$file:["*']' && $output != "$(readlink "/proc/self/ns/$file")" ]] || { echo "$name: $output" && return 1; }
	done
}
@test "PLAT-4: features: the capabilities are given" {
	local all mask=0 n have
	all=$(features '.linux.capabilities[]')
	have=$((0x$(sed -n 's/^CapBnd:\t//p' /proc/self/status)))
	n=$(wc -w <<<"$all")
	# In the order of their numbers; a root that was given fewer cannot hand on the others.
	[ "$(head -n 1 <<<"$all")" = CAP_CHOWN ]
	mask=$((((1 << n) - 1) & have))
	jq --arg all "$all" --argjson have "$have" '.process.capabilities = ([$all / "\n" | to_entries[]
		| select(($have / pow(2; .key) | floor) % 2 == 1) | .value] | {bounding: ., effective: ., permitted: .})' \
		"$B/good" >"$B/config.json"
	[ "$(sh_runs 'busybox grep CapEff /proc/self/status')" = "$(printf 'CapEff:\t%016x' "$mask")" ]
}
# mounted MOUNT: the mount table of /m and below in a container with these mounts (JSON) at /m.
mounted() {
	# The root's own propagation is applied to all mounts if it is not set.
	jq --argjson m "$1" '.linux.rootfsPropagation = "shared" | .mounts += ($m | map({destination: "/m", source: "tmpfs", type: "tmpfs"} + .))' \
		"$B/good" >"$B/config.json"
	sh_runs 'echo /m/*; busybox grep " /m" /proc/self/mountinfo'
}
# Prints each promised option that has not its effect.  In a mount namespace of its own: it mounts the sources.
check_options() {
	local option bind want mounts got
	bind='{type: "none", source: $dir, options: '
	mkdir -p "$B/dir" "$B/rootfs/m"
	: >"$B/rootfs/m/file"
	mount -t tmpfs tmpfs "$B/dir"
	mkdir "$B/dir/sub"
	mount -t tmpfs -o ro,nosuid,nodev,noexec tmpfs "$B/dir/sub"
	mount --make-rshared "$B/dir"
	for option in $("$RT" features | jq -r '.mountOptions[]'); do
		mounts='{options: [$o]}'
		case $option in
		bind) mounts="$bind"'[$o]}' want=' /m rw' ;;
		rbind) mounts="$bind"'[$o]}' want=' /m rw.* /m/sub ro' ;;
		ro | nosuid | nodev | noexec | noatime | nodiratime | relatime) want=" /m [a-z,]*${option}[, ]" ;;
		sync | dirsync) want=" tmpfs [a-z,]*${option}(,|$)" ;;
		# What a new mount is anyway; the kernel ignores mand.
		defaults | rw | suid | dev | exec | async | atime | diratime | norelatime | strictatime | nostrictatime | mand | nomand | \
			private | rprivate) want=' /m rw[a-z,]* - tmpfs' ;;
		shared | rshared) mounts="$bind"'["rbind",$o]}' want=' /m rw[a-z,]* (master:[0-9]+ )?shared:' ;;
		slave | rslave) mounts="$bind"'["rbind",$o]}' want=' /m rw[a-z,]* master:' ;;
		unbindable | runbindable) mounts="$bind"'["bind",$o]}' want=' /m rw[a-z,]* unbindable' ;;
		rro | rnosuid | rnodev | rnoexec) mounts="$bind"'["rbind",$o]}' want=" /m [a-z,]*${option#r}[, ].* /m/sub [a-z,]*${option#r}[, ]" ;;
		rrw) mounts="$bind"'["rbind",$o]}' want=' /m/sub rw,nosuid,nodev,noexec' ;;
		rsuid) mounts="$bind"'["rbind",$o]}' want=' /m/sub ro,nodev,noexec' ;;
		rdev) mounts="$bind"'["rbind",$o]}' want=' /m/sub ro,nosuid,noexec' ;;
		rexec) mounts="$bind"'["rbind",$o]}' want=' /m/sub ro,nosuid,nodev[, ]' ;;
		tmpcopyup) want='^/m/file' ;;
		idmap | ridmap | copy-symlink | src-nofollow | dest-nofollow) continue ;; # the next tests; links are no mounts
		*) want='no test uses it' ;;
		esac
		got=$(mounted "$(jq -n --arg o "$option" --arg dir "$B/dir" "[$mounts]")")
		[[ ${got//$'\n'/ } =~ $want || $got =~ $want ]] || printf '%s: want %s\n%s\n' "$option" "$want" "$got"
	done
}
@test "PLAT-4: features: each mount option has its effect" {
	local got
	export B RT ROOT
	got=$(unshare -m --propagation private bash -c "$(declare -f rt sh_runs mounted check_options); check_options")
	[ -z "$got" ] || { echo "$got" && return 1; }
}
@test "PLAT-4: features: rro is recursive, for files too" {
	echo text >"$B/file"
	: >"$B/rootfs/m"
	run mounted '[{"type": "none", "source": "'"$B"'/file", "options": ["rbind","rro","nosuid"]}]'
	[[ $output =~ \ /m\ ro,nosuid ]] || { echo "$output" && return 1; }
	run sh_runs 'busybox cat /m; echo more >>/m'
	[[ $output == text*'Read-only file system'* ]]
	[ "$(cat "$B/file")" = text ]
}
@test "PLAT-4: features: idmap maps the owner of a mount" {
	local mappings='[{containerID: 0, hostID: 4711, size: 1}]'
	features '.linux.mountExtensions.idmap.enabled' | grep -qx true
	mkdir "$B/dir" "$B/rootfs/m"
	: >"$B/dir/file"
	edit '.mounts += [{destination: "/m", type: "none", source: "'"$B"'/dir", options: ["bind","idmap"],
		uidMappings: '"$mappings"', gidMappings: '"$mappings"'}]'
	run sh_runs 'busybox stat -c %u:%g /m/file'
	# xfs, ext4, btrfs, tmpfs can; a file system that cannot is an error, never a mount without the mapping.
	[[ $output == 4711:4711 || $output == *mount_setattr* ]] || { echo "$output" && return 1; }
}
# is_refused OPTION: not promised, and refused by its name in a bind mount.
is_refused() {
	[ -z "$(features '.mountOptions[]' | grep -x "$1")" ]
	mkdir -p "$B/dir" "$B/rootfs/m"
	with mounts '[{"destination": "/m", "type": "none", "source": "'"$B"'/dir", "options": ["rbind","'"$1"'"]}]'
	run rt run -b "$B" x < <(:)
	not_started "'$1'" 'is not supported with libcrun'
}
# mount_runs OPTIONS SOURCE SCRIPT: a bind mount of SOURCE at /m.
mount_runs() {
	jq --argjson o "$1" --arg source "$2" '.mounts += [{destination: "/m", type: "none", source: $source, options: $o}]' "$B/good" >"$B/config.json"
	run sh_runs "$3"
}
ridmap_works() {
	features '.mountOptions[]' | grep -qx ridmap
	local option want mappings='[{containerID: 0, hostID: 4711, size: 1}]'
	mkdir -p "$B/dir/sub" "$B/below" "$B/rootfs/m"
	touch "$B/dir/file" "$B/below/file"
	export B RT ROOT
	for option in ridmap idmap; do
		jq --arg o "$option" '.mounts += [{destination: "/m", type: "none", source: "'"$B"'/dir", options: ["rbind",$o],
			uidMappings: '"$mappings"', gidMappings: '"$mappings"'}]' "$B/good" >"$B/config.json"
		run unshare -m --propagation private bash -c "$(declare -f rt sh_runs)"'
			mount --bind "$B/below" "$B/dir/sub"
			sh_runs "busybox stat -c %u:%g /m/file /m/sub/file"'
		want=$'4711:4711\n4711:4711'
		[ "$option" = ridmap ] || want=$'4711:4711\n0:0'
		# As for idmap: a file system that cannot is an error.
		[[ $output == "$want" || $output == *mount_setattr* ]] || { echo "$option: $output" && return 1; }
	done
}
@test "PLAT-4: features: ridmap maps the owners of mounts below as well, idmap only those of the mount" {
	if is_done 1.21; then ridmap_works; else is_refused ridmap; fi
}
copy_symlink_works() {
	features '.mountOptions[]' | grep -qx copy-symlink
	ln -s "no such file" "$B/link"
	echo text >"$B/file"
	mount_runs '["bind","copy-symlink"]' "$B/link" 'busybox readlink /m; busybox grep " /m " /proc/self/mountinfo'
	[ "$output" = 'no such file' ]
	rm "$B/rootfs/m"
	mount_runs '["bind","copy-symlink"]' "$B/file" 'busybox cat /m; busybox grep -c " /m " /proc/self/mountinfo'
	[ "$output" = $'text\n1' ]
	# A directory of the image stays.
	rm "$B/rootfs/m"
	mkdir "$B/rootfs/m"
	mount_runs '["bind","copy-symlink"]' "$B/link" 'echo started >/tmp/started'
	[ ! -e "$B/rootfs/tmp/started" ] && [ -d "$B/rootfs/m" ] && [ ! -L "$B/rootfs/m" ]
}
@test "PLAT-4: features: copy-symlink makes a link that the source is, and mounts any other source" {
	if is_done 1.21; then copy_symlink_works; else is_refused copy-symlink; fi
}
dest_nofollow_works() {
	features '.mountOptions[]' | grep -qx dest-nofollow
	echo outside >"$B/file"
	echo image >"$B/rootfs/named"
	ln -s named "$B/rootfs/m"
	mount_runs '["bind","dest-nofollow"]' "$B/file" 'busybox cat /m /named'
	[ "$output" = $'outside\nimage' ] || { echo "$output" && return 1; }
	# Without it the link is followed.
	mount_runs '["bind"]' "$B/file" 'busybox cat /m /named'
	[ "$output" = $'outside\noutside' ]
}
@test "PLAT-4: features: dest-nofollow mounts on a link of the image itself, not on the file that it names" {
	if is_done 1.28; then dest_nofollow_works; else is_refused dest-nofollow; fi
}
src_nofollow_works() {
	features '.mountOptions[]' | grep -qx src-nofollow
	echo secret >"$B/named"
	ln -s named "$B/link"
	ln -s image "$B/rootfs/m"
	mount_runs '["bind","src-nofollow","dest-nofollow"]' "$B/link" 'busybox readlink /m'
	[ "$output" = named ] || { echo "$output" && return 1; }
	# libcrun would follow the link.
	rm "$B/rootfs/m"
	with mounts '[{"destination": "/m", "type": "none", "source": "'"$B"'/link", "options": ["bind","src-nofollow"]}]'
	run rt run -b "$B" x < <(:)
	not_started "'src-nofollow'" "'dest-nofollow'"
}
@test "PLAT-4: features: src-nofollow mounts a link itself, with dest-nofollow only" {
	if is_done 1.28; then src_nofollow_works; else is_refused src-nofollow; fi
}
@test "PLAT-4: features: each action and operator of seccomp" {
	local name rule want
	for name in $(features '.linux.seccomp.actions[]'); do
		case $name in
		*_ALLOW | *_LOG) want=0 ;;
		*_NOTIFY) continue ;; # the next test
		*) want=1 ;;
		esac
		cp "$B/good" "$B/config.json"
		edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir","mkdirat"], action: "'"$name"'"}]}'
		rm -rf "$B/rootfs/tmp/d"
		sh_runs 'busybox mkdir /tmp/d; echo end' >"$B/out"
		[ "$([ -d "$B/rootfs/tmp/d" ]; echo $?)" = "$want" ] && grep -qx end "$B/out" || { echo "$name: $(cat "$B/out")" && return 1; }
	done
	# busybox creates a directory with mode 0777, 511.
	for name in $(features '.linux.seccomp.operators[]'); do
		case $name in
		*_NE) rule='value: 1' ;;
		*_LT) rule='value: 512' ;;
		*_GT) rule='value: 510' ;;
		*_MASKED_EQ) rule='value: 511, valueTwo: 511' ;;
		*_LE | *_EQ | *_GE) rule='value: 511' ;;
		*) echo "no test uses $name" && return 1 ;;
		esac
		for want in "$rule" 'value: 0, valueTwo: 1'; do
			[ "$want" = "$rule" ] || [[ $name == *_EQ ]] || continue
			cp "$B/good" "$B/config.json"
			edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO",
				args: [{index: 1, op: "'"$name"'", '"$want"'}]}]}'
			rm -rf "$B/rootfs/tmp/d"
			sh_runs 'busybox mkdir /tmp/d; echo end' >"$B/out"
			grep -qx end "$B/out"
			[ "$want" = "$rule" ] || { [ -d "$B/rootfs/tmp/d" ] && continue; }
			[ ! -e "$B/rootfs/tmp/d" ] || { echo "$name $want: $(cat "$B/out")" && return 1; }
		done
	done
}
@test "PLAT-4: features: each flag and architecture of seccomp; SCMP_ACT_NOTIFY hands over a descriptor" {
	local name flags
	for name in $(features '.linux.seccomp.archs[]'); do
		cp "$B/good" "$B/config.json"
		edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["'"$name"'"], syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
		run sh_runs 'echo end'
		# libseccomp has no filter for two byte orders.
		[[ $output == end || $output == *'adding architecture: numerical argument out of domain'* ]] || { echo "$name: $output" && return 1; }
	done
	for name in SCMP_ARCH_NOSUCH ''; do
		cp "$B/good" "$B/config.json"
		edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["'"$name"'"]}'
		run rt run -b "$B" x < <(:)
		not_started seccomp
	done
	flags=$(features '.linux.seccomp.supportedFlags[]')
	[ "$flags" = "$(features '.linux.seccomp.knownFlags[]')" ]
	for name in $flags; do
		[ "$name" != SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV ] || continue # for a listener only
		cp "$B/good" "$B/config.json"
		edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", flags: ["'"$name"'"], syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
		[ "$(sh_runs 'busybox grep ^Seccomp: /proc/self/status')" = $'Seccomp:\t2' ] || { echo "$name" && return 1; }
	done
	cp "$B/good" "$B/config.json"
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"],
		listenerPath: "'"$B"'/socket", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_NOTIFY"}]}'
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
c = s.accept()[0]; text, fds, _, _ = socket.recv_fds(c, 65536, 4)
print(len(fds), b"\"pid\"" in text, flush=True)' "$B/socket" >"$B/told" &
	wait_until test -S "$B/socket"
	run sh_runs 'busybox mkdir /tmp/d; echo end'
	wait $!
	[[ $output == *end* && ! -e $B/rootfs/tmp/d ]]
	[ "$(cat "$B/told")" = '1 True' ]
}
@test "PLAT-4: features: a cgroup of this host's version is made, annotations that it names change the container" {
	local key pid
	[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] && key=v2 || key=v1
	features ".linux.cgroup.$key" | grep -qx true
	features '.linux.cgroup.rdma' | grep -qx false
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	"$RT" --root "$ROOT" run -d -b "$B" x < <(:) > >(:) 2>&1
	pid=$(rt state x | jq .pid)
	if diff -q "/proc/$pid/cgroup" /proc/self/cgroup; then return 1; fi
	rt delete --force x
	cp "$B/good" "$B/config.json"
	features '.potentiallyUnsafeConfigAnnotations[]' | grep -qx 'run.oci.'
	edit '.annotations = {"run.oci.hooks.stdout": "'"$B"'/hook-out"}
		| .hooks = {createRuntime: [{path: "/bin/busybox", args: ["busybox","echo","told"]}]}'
	rt run -b "$B" x < <(:)
	grep -qx told "$B/hook-out"
}
# done_or_refused SINCE MEMBER VALUE SCRIPT WANT: the container shows WANT, or with an older libcrun it is refused.
done_or_refused() {
	with "$2" "$3"
	if ! is_done "$1"; then
		run rt run -b "$B" x < <(:)
		not_started 'is not supported'
		return
	fi
	[ "$2" != linux.timeOffsets ] || edit '.linux.namespaces += [{type: "time"}]'
	run sh_runs "$4"
	[[ $output =~ $5 ]] || { echo "$2: $output" && return 1; }
}
@test "PLAT-4: a member that only a newer libcrun does has its effect with it, and is refused with others" {
	done_or_refused 1.21 linux.timeOffsets '{"monotonic":{"secs":4711},"boottime":{"secs":815}}' \
		'busybox cat /proc/self/timens_offsets' 'monotonic +4711 .*boottime +815 '
	done_or_refused 1.21 process.scheduler '{"policy":"SCHED_BATCH","nice":5}' \
		'busybox awk "{ print \$19, \$41 }" /proc/self/stat' '^5 3'
	done_or_refused 1.21 process.ioPriority '{"class":"IOPRIO_CLASS_IDLE"}' 'busybox ionice' 'idle'
	# In a network namespace of the test: a link that is moved is gone where it was.
	export B RT ROOT
	with linux.netDevices '{"custodyd0":{"name":"moved0"}}'
	run unshare -n bash -c "$(declare -f rt sh_runs)
		ip link add custodyd0 type veth peer name custodyd1 || exit 3
		sh_runs 'echo started >/tmp/started; busybox ls /proc/sys/net/ipv4/conf'"
	if is_done 1.28; then
		[[ $output == *moved0* ]] || { echo "$output" && return 1; }
	else
		[[ $output == *"'linux.netDevices' is not supported"* && ! -e $B/rootfs/tmp/started ]]
	fi
}
@test "PLAT-4: features: a member that is not promised is refused: intelRdt, netDevices" {
	local member value
	while read -r member value; do
		if [ "$(features ".linux.$member.enabled")" = true ]; then
			is_done 1.21
			continue
		fi
		with "linux.$member" "$value"
		run rt run -b "$B" x < <(:)
		not_started "'linux.$member'" 'is not supported'
	done <<-'LIST'
		intelRdt {"closID":"x"}
		netDevices {"eth0":{}}
	LIST
}
