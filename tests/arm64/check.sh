#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds custody for arm64 on another machine and runs its unit tests in an emulator of programs; prints the results as TAP.
#
#	tests/arm64/check.sh [--vm [SUITE...]] BUILD
#
# BUILD is the directory of the build; the packages for arm64 are unpacked once into
# ${XDG_CACHE_HOME:-$HOME/.cache}/custody-check/arm64.  --vm: instead of the unit tests in the emulator a sample of the suites in an
# emulated machine (tests/vm/run.sh --arch arm64, tests/arm64/sample), or all of the named ones.
# Needs root, and of Debian: crossbuild-essential-arm64 qemu-user debootstrap busybox-static; --vm: qemu-system-arm e2fsprogs.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
src=${here%/tests/arm64}
vm=0
suites=()
if [ "${1:-}" = --vm ]; then
	vm=1
	shift
	suites=("${@:1:$# - 1}")
	shift ${#suites[@]}
fi
[ $# -eq 1 ] || {
	echo 'usage: tests/arm64/check.sh [--vm [SUITE...]] BUILD' >&2
	exit 64
}
mkdir -p "$1" || exit 1
build=$(cd "$1" && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/custody-check/arm64
root=$cache/root
prefix=/opt/custody-arm64 # in the machine
number=0 failed=0 sample=''

result() { # ok|not ok TEXT
	number=$((number + 1))
	[ "$1" = ok ] || failed=1
	echo "$1 $number - $2"
}
finish() {
	echo "1..$number"
	exit "$failed"
}
# step NAME CMD...: one result; the end of its log if it fails, which ends the script
step() {
	local name=$1 log=$build/arm64-$1.log
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		result ok "arm64: $name"
		return
	fi
	tail -n 40 "$log" | sed 's/^/# /'
	result 'not ok' "arm64: $name"
	finish
}
# shellcheck disable=SC2317 # called by its name
configure() {
	cd "$build" && "$here/configure.sh" "$root" -q --prefix="$prefix" --enable-werror CFLAGS='-O2 -g'
}
unit_tests() {
	local log=$build/arm64-check.log line reason before=$number
	make -C "$build" -j"${JOBS:-2}" check >"$log" 2>&1 </dev/null
	while IFS= read -r line; do
		case $line in
		PASS:*) result ok "arm64: ${line#PASS: tests/}" ;;
		SKIP:*)
			reason=missing:${line##*missing:}
			line=${line%% # SKIP*}
			line=${line% - missing:*}
			result ok "arm64: ${line#SKIP: tests/} # skip $reason"
			;;
		*) result 'not ok' "arm64: ${line#*: tests/}" ;;
		esac
	done < <(grep -E '^(PASS|SKIP|FAIL|XPASS|ERROR): ' "$log")
	[ "$number" -gt "$before" ] || result 'not ok' 'arm64: no unit test reported a result'
	grep -E 'rror:' "$log" | sed 's/^/# /'
}
machine() {
	local line
	while IFS= read -r line; do
		case $line in
		'ok '*) result ok "arm64 machine: ${line#ok * }" ;;
		'not ok '*) result 'not ok' "arm64 machine: ${line#not ok * }" ;;
		1..*) ;;
		*) echo "# ${line#\# }" ;;
		esac
	done < <(ARM64_ROOT=$root VM_CACHE=$cache/vm VM_BUILD=$build VM_MINUTES=${VM_MINUTES:-120} VM_SAMPLE=${VM_SAMPLE:-$sample} \
		VM_DESTDIR=$build/inst "$src/tests/vm/run.sh" --arch arm64 "$prefix" "${suites[@]}" 2>&1 </dev/null)
}

step packages "$here/root.sh" "$root"
[ -e "$src/configure" ] || step autogen "$src/autogen.sh"
[ -e "$build/config.status" ] || step configure configure
step make make -C "$build" -j"${JOBS:-2}"
if [ "$vm" = 0 ]; then
	unit_tests
else
	[ ${#suites[@]} -gt 0 ] || { sample=1 && suites=(arm64 run bundle hook-approve evidence podman unit); }
	[[ " ${suites[*]} " != *' unit '* ]] || step 'unit tests' make -C "$build" -j"${JOBS:-2}" check TESTS=
	step install make -C "$build" install DESTDIR="$build/inst"
	machine
fi
finish
