# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A cgroup of one's own in every hierarchy, which becomes the root of a cgroup namespace: sandbox.sh and tests/on.
#
#	own_cgroup_join NAME	joins NAME in every hierarchy; sets own_v1 (controllers of the v1 hierarchies; on a hybrid host
#				own_unified is the word "unified") or, if there is only v2, own_v2: the directory that the
#				first process of the namespace joins itself
#	own_cgroup_leave	leaves and removes them, when the namespace's processes are gone
#	own_cgroup_mount DIR [WORDS of own_v1 and own_unified]
#				inside: mounts the same hierarchies below DIR

own_made=() own_v1=() own_v2='' own_unified=''

own_cgroup_path() { # CONTROLLERS: where this process is in that hierarchy
	awk -F: -v c="$1" '$2 == c { sub(/^[^:]*:[^:]*:/, ""); print; exit }' /proc/self/cgroup
}
own_cgroup_make() { # NAME MOUNT-POINT CONTROLLERS
	local dir f
	dir=$2$(own_cgroup_path "$3")
	[ -d "$dir" ] || dir=$2
	dir=${dir%/}/$1
	mkdir "$dir"
	own_made+=("$dir")
	# An empty cpuset takes no process.
	for f in cpuset.cpus cpuset.mems; do
		[ "$3" = "" ] || [ ! -e "$dir/$f" ] || cat "${dir%/*}/$f" >"$dir/$f"
	done
	echo $$ >"$dir/cgroup.procs"
}
own_cgroup_join() { # NAME
	local point rest controllers unified=''
	while read -r _ _ _ _ point _ rest; do
		case $rest in
		*' - cgroup '* | '- cgroup '*)
			controllers=$(awk -v p="$point" '$5 == p { print $NF; exit }' /proc/self/mountinfo |
				tr , '\n' | grep -vx 'rw\|ro\|xattr\|release_agent=.*\|clone_children' | paste -sd,)
			own_v1+=("$controllers")
			own_cgroup_make "$1" "$point" "$controllers"
			;;
		*) unified=$point ;;
		esac
	done < <(grep -E ' - cgroup2? ' /proc/self/mountinfo)
	if [ ${#own_v1[@]} -gt 0 ]; then
		[ -n "$unified" ] || return 0
		own_cgroup_make "$1" "$unified" ''
		own_unified=unified
		return
	fi
	# At the top: where we are ourselves, a service or a login session, controllers cannot be handed down.
	own_v2=/sys/fs/cgroup/$1
	mkdir "$own_v2"
	own_made+=("$own_v2")
}
own_cgroup_leave() {
	local dir try
	for dir in "${own_made[@]}"; do
		echo $$ >"${dir%/*}/cgroup.procs" 2>/dev/null || true
		# The last processes of the namespace may still be on their way out.
		for ((try = 0; try < 100; try++)); do
			find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || true
			[ -d "$dir" ] || break
			read -rt 0.05 <> <(:) || true
		done
	done
}
own_cgroup_mount() { # DIR CONTROLLERS...: without controllers cgroup v2
	local dir=$1 c opts
	shift
	if [ $# -eq 0 ]; then
		mount -t cgroup2 cgroup2 "$dir"
		# A cgroup with processes of its own hands no controllers down.
		mkdir -p "$dir/suite"
		echo 1 >"$dir/suite/cgroup.procs"
		read -ra c <"$dir/cgroup.controllers"
		[ ${#c[@]} -eq 0 ] || echo "${c[@]/#/+}" >"$dir/cgroup.subtree_control"
		return
	fi
	mount -t tmpfs -o mode=755 cgroup "$dir"
	for c; do
		if [ "$c" = unified ]; then
			mkdir "$dir/unified"
			mount -t cgroup2 cgroup2 "$dir/unified"
			continue
		fi
		opts=$c
		[ "${c#name=}" = "$c" ] || opts=none,$c
		mkdir "$dir/${c#name=}"
		mount -t cgroup -o "$opts" cgroup "$dir/${c#name=}"
	done
}
