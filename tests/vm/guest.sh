#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Inside the machine: runs the suites and writes one TAP stream to the second serial line.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
word() { # KEY: its value on the kernel's command line
	tr ' ' '\n' </proc/cmdline | sed -n "s/^custody\.$1=//p"
}
prefix=$(word prefix) mode=$(word mode) results=/dev/$(word results)
IFS=, read -ra suites <<<"$(word suites)"
export CUSTODY=$prefix/bin/custody CUSTODY_SRC=/opt/custody PATH=$prefix/bin:$PATH
export BATS_TEST_TIMEOUT=900 CUSTODY_ENGINE_TIMEOUT=5400 CUSTODY_STORM=10 CUSTODY_TEST_SEED=1 CUSTODY_TEST_FULL=0 TERM=dumb
[ -z "$(word sample)" ] || export CUSTODY_SAMPLE=1
cd /opt/custody || exit 1
stty -F "$results" raw -echo
exec 3>"$results"

filter=()
[ -z "$(word filter)" ] || filter=(--filter "$(word filter)")
# take_sample SUITE: of another architecture only the tests of tests/arm64/sample.
take_sample() {
	local tests
	[ -n "$(word sample)" ] && [ -z "$(word filter)" ] && [ "$(uname -m)" = aarch64 ] || return 0
	filter=()
	tests=$(sed -n "s/^$1\t//p" tests/arm64/sample)
	[ -z "$tests" ] || { filter=(--filter "$tests") && unset CUSTODY_SAMPLE; }
}
number=0
result() { # ok|not ok TEXT
	number=$((number + 1))
	echo "$1 $number $2" >&3
}
# A skip of suite NAME is good only if the doctor misses the same thing here, or finds it, as in contrib/check.sh.
skip_is_good() { # LINE
	local id=${1##*# skip } file=/run/doctor.json want='.state == "missing"'
	case $id in
	'missing: root' | 'mounts need root') [ -n "$unprivileged" ] && return ;;
	'missing: cgroup-v1') ! grep -q ' - cgroup cgroup ' /proc/self/mountinfo && return ;;
	'missing: '*) id=${id#missing: } ;;
	'present: '*) id=${id#present: } want='.state != "missing"' ;;
	'libcrun below '*) [[ $name == *', crun' ]] && return ;; # a published attack, which the reference does not withstand
	*) return 1 ;;
	esac
	case $id in *' as user') id=${id% as user} file=/run/doctor-user.json ;; esac
	jq -e --arg id "$id" "any(.checks[]; .id == \$id and $want)" <"$file" >/dev/null
}
unprivileged=''
# suite NAME CMD...: CMD prints TAP.
suite() {
	local name=$1 line plan=-1 seen=0 start=$SECONDS
	shift
	echo "# $name" >&3
	while IFS= read -r line; do
		case $line in
		1..*) plan=${line#1..} ;;
		'ok '*'# skip'*)
			seen=$((seen + 1))
			if skip_is_good "$line"; then result ok "$name: ${line#ok * }"; else result 'not ok' "$name: ${line#ok * }"; fi
			;;
		'ok '*) seen=$((seen + 1)) && result ok "$name: ${line#ok * }" ;;
		'not ok '*) seen=$((seen + 1)) && result 'not ok' "$name: ${line#not ok * }" ;;
		*) printf '# %s\n' "${line#\# }" >&3 ;;
		esac
	done < <("$@" 2>&1 </dev/null)
	[ "$seen" -eq "$plan" ] || result 'not ok' "$name: $seen of $plan tests reported"
	echo "# $name: $seen tests, $((SECONDS - start)) s" >&3
}
bats_of() { # FILES...
	bats --tap "${filter[@]}" --setup-suite-file tests/integration/setup_suite.bash "$@"
}
# The runtime to be tested, and crun for comparison.
engine() { # ENGINE
	local reference=crun
	# crun has no doctor and governs nothing.  An emulator of another architecture is too slow for a reference.
	case $1-$(uname -m) in doctor-* | governed-* | *-aarch64) reference='' ;; esac
	# As systemd mounts them: custody works without, engines do not.
	sed 's/[a-z]*/+&/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
	[ -z "$reference" ] || suite "$1, crun" tests/conformance/run-engine.sh "$1" crun "${filter[@]}"
	suite "$1, custody-runtime" tests/conformance/run-engine.sh "$1" "$prefix/bin/custody-runtime" "${filter[@]}"
}
# The unit tests of VM_BUILD, each a suite; on arm64 those of which an emulator of programs skips a case, without those that
# need ptrace: they kill a process at each of its calls, which takes hours in an emulated machine.
unit() {
	local program list=''
	export SRCDIR=/opt/custody BUILDDIR=/opt/build
	[ "$(uname -m)" != aarch64 ] || list=tests/arm64/needs
	for program in "$BUILDDIR"/tests/unit/test-*; do
		[ -z "$list" ] || { grep -q "^${program##*/}"$'\t' "$list" && ! grep -q "^${program##*/}"$'\temulator-ptrace' "$list"; } || continue
		[ -z "$(word filter)" ] || [[ $program =~ $(word filter) ]] || continue
		suite "${program##*/}" "$program"
	done
}
bench() {
	local ok='not ok'
	# In memory: the disk is a file of a host with other load.
	modprobe brd rd_nr=1 rd_size=262144 && mke2fs -q -t ext4 /dev/ram0 && mount -o noatime /dev/ram0 /mnt && chmod 1777 /mnt || return
	export TMPDIR=/mnt
	# Not through the serial line: notices of each run.
	! BENCH_PROGRAMS=/opt/bench contrib/bench/start --login tester -n 60 2>/run/bench.err || ok=ok
	[ "$ok" = ok ] || tail -n 5 /run/bench.err
	echo "$ok 1 - contrib/bench/start --login"
	echo 1..1
}
# As the user of a login session, with whatever systemd gives to such.
as_tester() {
	su -l tester -c "cd /opt/custody && $(printf '%q ' env PATH="$PATH" CUSTODY="$CUSTODY" CUSTODY_SRC="$CUSTODY_SRC" \
		BATS_TEST_TIMEOUT="$BATS_TEST_TIMEOUT" TERM=dumb "$@")"
}
one() { # SUITE
	case $1 in
	unit) unit ;;
	arm64) suite arm64 bats_of tests/vm/arm64.bats ;;
	podman | rootless | docker | containerd | cri | doctor | governed-podman | governed-docker | governed-cri) engine "$1" ;;
	systemd) # the machine's own; nothing here needs a sandbox
		for runtime in "$(command -v crun)" "$prefix/bin/custody-runtime"; do
			rm -rf /run/shared
			suite "systemd, ${runtime##*/}" env RUNTIME="$runtime" bats --tap "${filter[@]}" tests/conformance/systemd.bats
		done
		;;
	login)
		loginctl enable-linger tester
		suite 'login session' as_tester bats --tap tests/vm/login.bats
		;;
	login-setup) # with the drop-in of `custody setup`, on a machine that needs it
		loginctl enable-linger tester
		suite 'login, setup' bats_of tests/vm/setup-login.bats
		suite 'login session after setup' as_tester bats --tap tests/vm/login.bats
		;;
	scope)
		loginctl enable-linger tester
		unprivileged=1
		as_tester systemd-run -q --user --scope -p Delegate=yes -- "$CUSTODY" doctor --json >/run/doctor-user.json 2>/dev/null
		suite 'delegated scope' as_tester systemd-run -q --user --scope -p Delegate=yes -- \
			bats --tap --setup-suite-file tests/integration/setup_suite.bash tests/integration/run-user.bats \
			tests/integration/run-limits.bats tests/integration/run.bats
		unprivileged=''
		;;
	setup) suite setup bats_of "tests/vm/setup-$mode.bats" ;;
	apparmor)
		mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
		suite AppArmor bats_of tests/vm/apparmor.bats
		;;
	bench) # a table, no result
		loginctl enable-linger tester
		suite 'bench start' bench
		;;
	*) suite "$1" bats_of "tests/integration/$1.bats" ;;
	esac
}

uname -r | sed 's/^/# kernel /' >&3
echo "# controllers: $(cat /sys/fs/cgroup/cgroup.controllers)" >&3
"$CUSTODY" doctor --json >/run/doctor.json 2>/run/doctor.err </dev/null
setpriv --reuid 64321 --regid 64321 --clear-groups --inh-caps=-all "$CUSTODY" doctor --json >/run/doctor-user.json 2>/dev/null </dev/null
jq -r '.checks[] | select(.severity == "error" or .state == "missing") | "# doctor: \(.id): \(.text)"' /run/doctor.json >&3
if [ ${#suites[@]} -eq 0 ] || [ -z "${suites[0]}" ]; then
	if [ "$(uname -m)" = aarch64 ]; then
		suites=(arm64 run bundle hook-approve evidence)
	elif [ "$mode" = systemd ]; then
		suites=(login setup scope run-limits run-cgroup systemd login-setup)
	else
		suites=(setup run-limits run-cgroup run doctor run-user runtime engine broker apparmor podman docker containerd
			governed-podman governed-docker zz-leftovers)
	fi
fi
for s in "${suites[@]}"; do
	take_sample "$s"
	one "$s"
done
echo "1..$number" >&3
stty -F "$results" -a >/dev/null # drains
