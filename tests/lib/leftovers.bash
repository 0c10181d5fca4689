# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What custody could leave on a host, one line each, so that two lists can be compared.

# Others may run custody on this host at the same time.  CUSTODY_TEST_MARK, in the environment of everything that the
# suite starts, identifies our processes: ours if it or an ancestor has the mark, or if it is an orphan, because a
# payload does not inherit the mark and may have lost its parents.
leftover_is_ours() { # PID
	local pid=$1 parent
	[ -n "${CUSTODY_TEST_MARK:-}" ] || return 0
	parent=$(leftover_parent "$pid")
	[ "${parent:-0}" -gt 1 ] || return 0
	while [ "${pid:-0}" -gt 1 ]; do
		! grep -qzsxF "CUSTODY_TEST_MARK=$CUSTODY_TEST_MARK" "/proc/$pid/environ" || return 0
		pid=$(leftover_parent "$pid")
	done
	return 1
}
leftover_parent() { # PID
	sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null
}

# Named custody*, in a cgroup of custody's, or in another pid namespace and on mounts of custody's.
leftover_processes() {
	local dir pid comm ns own
	own=$(readlink /proc/self/ns/pid)
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		read -r comm 2>/dev/null <"$dir/comm" || continue
		ns=$(readlink "$dir/ns/pid" 2>/dev/null)
		if [[ $comm == custody* ]] || grep -qs custody "$dir/cgroup" ||
			{ [ -n "$ns" ] && [ "$ns" != "$own" ] && grep -qs custody "$dir/mountinfo"; }; then
			leftover_is_ours "$pid" || continue
			# It has ended; that an init does not collect orphans is nothing that custody left.
			! grep -qs '^State:[[:space:]]*Z' "$dir/status" || continue
			# The start time distinguishes a process from a later one with the same pid.
			printf 'process %s %s %s\n' "$pid" "$comm" "$(sed 's/.*) //' "$dir/stat" 2>/dev/null | cut -d' ' -f20)"
		fi
	done
}

leftover_mounts() {
	# Fields 4 and 5 are the mounted root and the mount point; the type follows the lone dash.
	sed -n 's/^[^ ]* [^ ]* [^ ]* \([^ ]*\) \([^ ]*\) .* - \([^ ]*\) .*/mount \2 \3 \1/p' /proc/self/mountinfo |
		grep -E 'custody|crun|nsfs'
}

# In every hierarchy: v1 controllers, named ones, v2.
leftover_cgroups() {
	local dir
	# One with processes in it is their business: a leaked process is found by itself.
	find /sys/fs/cgroup -type d -name '*custody*' 2>/dev/null | while read -r dir; do
		[ -n "$(find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null)" ] || printf 'cgroup %s\n' "$dir"
	done
}

# Sessions in the places that custody uses without CUSTODY_ROOT (notes of those that are over stay), homes of tests, and libcrun's copies of itself.
leftover_files() {
	local state dir
	find /run/custody/sessions /run/custody/crun /run/crun -mindepth 1 -maxdepth 1 -printf 'file %p\n' 2>/dev/null
	for state in /var/lib/custody/*/sessions; do
		find "$state" -mindepth 1 -maxdepth 1 2>/dev/null | while read -r dir; do
			custody_is_over "$dir" || printf 'file %s\n' "$dir"
		done
	done
	find "${TMPDIR:-/tmp}" -maxdepth 1 \( -name "custody-test${CUSTODY_TEST_MARK:+-$CUSTODY_TEST_MARK}.*" -o -name 'custody-detector-*' -o -name 'crun.*' \) -printf 'file %p\n' 2>/dev/null
}

# Nodes of the host that a runtime may have given away: libcrun chowns what it gets as stdio.
leftover_owners() {
	stat -c 'owner %n %u:%g' /dev/null /dev/zero /dev/tty /dev/ptmx
}

leftovers_list() {
	{
		# Processes vanish and directories are missing while we look: no reason for bats' errexit to cut the list.
		set +e
		leftover_processes
		leftover_mounts
		leftover_cgroups
		leftover_files
		leftover_owners
		true
	} | LC_ALL=C sort -u
}

# leftovers_new SNAPSHOT: the current entries that are not in the file SNAPSHOT.
leftovers_new() {
	LC_ALL=C comm -13 "$1" <(leftovers_list)
}
