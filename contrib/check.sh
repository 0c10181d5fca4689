#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds custody and runs its tests.  On a bare Debian 12 or 13, as root, this one command is enough:
#
#	contrib/check.sh [--full]
#
# It installs missing packages that the tests need, builds out of tree, runs all tests and prints
# "N passed, N failed, N skipped" at the end; the exit status is 0 only if no test failed.
#
#	--full			no sampling: every case of the long suites, mutants, a clang build, fuzzing, make distcheck
#	--live ENGINE		only the scenarios of a real engine: podman, rootless, systemd, docker, containerd, cri or slurm;
#				doctor: compare `custody doctor --engine` with the daemons; governed-podman, governed-docker,
#				governed-cri, governed-slurm: scenarios of governed containers
#	--live-destructive	with --live: also scenarios that kill engines or start many containers at once
#	--lane prod --allow-prod-live	with --live, and CUSTODY_ALLOW_PROD_LIVE=1 in the environment: in the lane prod
#	--vm [arm64]		only the suites in an emulated machine with cgroup v2 (tests/vm), 30 minutes and more; arm64: a
#				cross build and a sample of them in a machine of that architecture (tests/arm64)
#	--on SUITE		only quickstart.sh and check.sh --platform on another Debian (tests/on): trixie, sid or bookworm;
#				sid is informational: its failures are printed and not counted
#	--platform		what depends on the release: build, unit tests, samples of integration and engine tests
#	--packages		print the Debian packages that these options need (CHECK_RELEASE=NAME: on that release), and do nothing
#	CI=true			samples of podman, docker, containerd and Slurm, --on trixie, valgrind and distcheck on a third of the
#				commits each; strict: a skip must name a capability that `custody doctor` reports missing
#	BUILD=DIR		build directory (default: build/check below the source tree)
#	RESULTS=FILE		also write the results there, one line each
set -u
cd "$(dirname "$0")/.." || exit 1
SRC=$(pwd -P)
BUILD=${BUILD:-$SRC/build/check}
FULL=0 LIVE='' VM=0 ON='' PLATFORM=0 LIST=0 PREFIX='' DESTRUCTIVE=0 LANE=sandbox ALLOW_PROD=0
STRICT=${STRICT:-0}
[ "${CI:-}" != true ] || STRICT=1
JOBS=2
# shellcheck disable=SC1091 # of this host
RELEASE=${CHECK_RELEASE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-}")} 2>/dev/null
# Real engines need more packages and a minute: samples in CI, all scenarios with --full.
ENGINES=0

say() {
	printf '== %s\n' "$*"
}
die() { # STATUS TEXT
	printf 'check.sh: %s\n' "$2" >&2
	exit "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--full) FULL=1 ;;
	--live)
		[ $# -ge 2 ] || die 64 '--live needs an engine: podman, rootless, systemd, docker, containerd, cri, slurm, doctor, governed-podman, governed-docker, governed-cri or governed-slurm'
		LIVE=$2
		shift
		;;
	--vm)
		VM=1
		[ "${2:-}" != arm64 ] || { VM=arm64 && shift; }
		;;
	--on)
		[ $# -ge 2 ] || die 64 '--on needs a Debian suite: trixie, sid or bookworm'
		ON=$2
		shift
		;;
	--platform) PLATFORM=1 ;;
	--packages) LIST=1 ;;
	--live-destructive) DESTRUCTIVE=1 ;;
	--lane)
		[ $# -ge 2 ] || die 64 '--lane needs a name: sandbox or prod'
		LANE=$2
		shift
		;;
	--allow-prod-live) ALLOW_PROD=1 ;;
	-h | --help)
		sed -n '3,24s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*) die 64 "unknown option '$1'; see contrib/check.sh --help" ;;
	esac
	shift
done
if [ -z "$LIVE" ] && [ "$VM" = 0 ] && { [ "$FULL" = 1 ] || [ "$PLATFORM" = 1 ] || [ "${CI:-}" = true ]; }; then
	ENGINES=1
fi
# Other Debian suites that are part of this run.
OTHERS=''
if [ -z "$LIVE" ] && [ "$VM" = 0 ] && [ "$PLATFORM" = 0 ] && [ "$(id -u)" -eq 0 ]; then
	[ "${CI:-}" != true ] || OTHERS=trixie
	[ "$FULL" = 0 ] || OTHERS='trixie sid'
fi
case $ON in
'' | bookworm | trixie | sid) ;;
*) die 64 "unknown suite '$ON'; use --on trixie, sid or bookworm" ;;
esac
[ -z "$ON" ] || [ "$LIVE$VM$PLATFORM" = 00 ] || die 64 '--on cannot be combined with --live, --vm or --platform'
[ "$PLATFORM" = 0 ] || [ "$LIVE$VM" = 0 ] || die 64 '--platform cannot be combined with --live or --vm'
[ -z "$ON" ] || [ "$LIST" = 1 ] || [ "$(id -u)" -eq 0 ] || die 1 "--on needs root: sudo contrib/check.sh --on $ON"
if [ -n "$LIVE" ]; then
	case $LIVE in
	podman | rootless | systemd | docker | containerd | cri | slurm | doctor | governed-podman | governed-docker | governed-cri | governed-slurm) ;;
	*) die 64 "unknown live suite '$LIVE'; use one of podman, rootless, systemd, docker, containerd, cri, slurm, doctor, governed-podman, governed-docker, governed-cri, governed-slurm" ;;
	esac
	case $LANE in
	sandbox | prod) ;;
	*) die 64 "unknown lane '$LANE'; use sandbox or prod" ;;
	esac
	# The values that arm CUSTODY_ALLOW_PROD, and no others.
	case ${CUSTODY_ALLOW_PROD_LIVE:-} in
	1 | [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | [Yy] | [Oo][Nn]) ;;
	*) [ "$LANE" = sandbox ] || ALLOW_PROD=0 ;;
	esac
	if [ "$LANE" = prod ] && [ "$ALLOW_PROD" = 0 ]; then
		die 64 "live tests in the lane 'prod' need both: CUSTODY_ALLOW_PROD_LIVE=1 contrib/check.sh --live $LIVE --lane prod --allow-prod-live"
	fi
elif [ "$DESTRUCTIVE" = 1 ] || [ "$ALLOW_PROD" = 1 ] || [ "$LANE" != sandbox ]; then
	die 64 '--live-destructive, --lane and --allow-prod-live require --live ENGINE'
fi

# --- results ------------------------------------------------------------------------------------------------------
PASSED=0 FAILED=0 SKIPPED=0 COMPLETE=0 BESIDE='' PREPARE=''
declare -a FAILURES=() SKIPS=()
passed() {
	PASSED=$((PASSED + 1))
}
failed() { # NAME
	FAILED=$((FAILED + 1))
	FAILURES+=("$1")
}
# A skip is valid only if the doctor reports the same capability missing, or present, on this host.
skipped() { # NAME REASON
	if [ "$STRICT" = 1 ] && ! skip_is_known "$2"; then
		failed "$1 (skipped without a missing capability: $2)"
		return
	fi
	SKIPPED=$((SKIPPED + 1))
	SKIPS+=("$1: $2")
}
skip_is_known() { # REASON = "missing: ID" or "present: ID", perhaps with " as user"
	local id=${1#*: } file=$BUILD/doctor.json want
	case $1 in
	'missing: root') [ "$(id -u)" -ne 0 ]; return ;;
	'missing: source package') return ;; # of the Debian mirror: contrib/libcrun-verify.sh has tried
	'missing: cgroup-v1') ! grep -q ' - cgroup cgroup .*memory' /proc/self/mountinfo; return ;;
	'missing: '*) want='.state == "missing"' ;;
	'present: '*) want='.state != "missing"' ;;
	*) return 1 ;;
	esac
	case $id in *' as user') id=${id% as user} file=$BUILD/doctor-user.json ;; esac
	[ -s "$file" ] && jq -e --arg id "$id" "any(.checks[]; .id == \$id and ($want))" <"$file" >/dev/null
}
results_to() { # FILE
	local n
	{
		for ((n = 0; n < PASSED; n++)); do echo passed; done
		[ ${#FAILURES[@]} -eq 0 ] || printf 'failed %s\n' "${FAILURES[@]}"
		[ ${#SKIPS[@]} -eq 0 ] || printf 'skipped %s\n' "${SKIPS[@]}"
		[ "$COMPLETE" = 0 ] || echo complete
	} >"$1"
}
finish() {
	trap - EXIT
	[ -z "$BESIDE" ] || kill "$BESIDE" 2>/dev/null
	[ -z "$PREPARE" ] || kill "$PREPARE" 2>/dev/null
	[ -z "$PREFIX" ] || rm -rf "$PREFIX"
	[ "$COMPLETE" = 1 ] || failed 'check.sh: aborted before the last suite'
	[ -z "${RESULTS:-}" ] || results_to "$RESULTS"
	[ ${#SKIPS[@]} -eq 0 ] || printf 'skipped: %s\n' "${SKIPS[@]}"
	[ ${#FAILURES[@]} -eq 0 ] || printf 'FAILED: %s\n' "${FAILURES[@]}"
	printf '%d passed, %d failed, %d skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
	exit $((FAILED > 0))
}
# step NAME LOG CMD...: run one command as one result; print the end of its log if it fails.
step() {
	local name=$1 log=$BUILD/$2 start=$SECONDS
	shift 2
	if "$@" >"$log" 2>&1 </dev/null; then
		printf '   ok      %s (%d s)\n' "$name" $((SECONDS - start))
		passed
		return 0
	fi
	printf '   FAILED  %s (%d s); last lines of %s:\n' "$name" $((SECONDS - start)) "$log"
	tail -n 40 "$log" | sed 's/^/   | /'
	failed "$name"
	return 1
}
# Counts the .trs files that automake's TAP driver wrote below a build directory.
count_make_check() { # LABEL DIR
	local line name n=0
	while read -r line; do
		name="$1: ${line#:test-result: * }"
		n=$((n + 1))
		case $line in
		':test-result: PASS'*) passed ;;
		':test-result: SKIP'*) skipped "${name%% # *}" "${line#*# SKIP }" ;;
		*) failed "$1: ${line#:test-result: }" ;;
		esac
	done < <(find "$2/tests" -name '*.trs' -exec grep -h '^:test-result:' {} +)
	[ "$n" -gt 0 ] || failed "$1: no test reported a result"
}
# run_make_check LABEL DIR MAKE-ARGUMENTS...
run_make_check() {
	local label=$1 dir=$2 before=$FAILED counted=$((PASSED + SKIPPED)) start=$SECONDS log
	shift 2
	log=$dir/check.log
	find "$dir/tests" -name '*.trs' -delete 2>/dev/null
	make -C "$dir" -j"$JOBS" "$@" >"$log" 2>&1 </dev/null
	count_make_check "$label" "$dir"
	if [ "$FAILED" -ne "$before" ]; then
		printf '   FAILED  %s (%d s); from %s:\n' "$label" $((SECONDS - start)) "$log"
		grep -E '^(FAIL|ERROR)|rror:|warning:' "$log" | head -n 40 | sed 's/^/   | /'
		find "$dir/tests" -name '*.log' -exec grep -lE '^not ok|rror' {} + | head -n 5 | while read -r log; do
			tail -n 25 "$log" | sed 's/^/   | /'
		done
	else
		printf '   ok      %s: %d tests (%d s)\n' "$label" $((PASSED + SKIPPED - counted)) $((SECONDS - start))
	fi
}
# run_bats LABEL FILES...
run_bats() {
	local label=$1
	shift
	# The caller may ignore SIGHUP (nohup); the suites send it.
	run_tap "$label" env --default-signal=HUP,INT,QUIT bats --tap --timing "$@"
	suite_seconds "$BUILD/bats-$label.tap" "$@"
}
# suite_seconds LOG FILES...: seconds of each file, the longest first
suite_seconds() {
	local log=$1 word files=()
	shift
	for word; do
		case $word in
		*.bats) files+=("$word") ;;
		*) [ ! -d "$word" ] || files+=("$word"/*.bats) ;;
		esac
	done
	awk '
		FILENAME != tap && sub(/^@test "/, "") && sub(/" \{$/, "") { gsub(/\\/, ""); file[$0] = FILENAME; next }
		FILENAME == tap && match($0, / in [0-9]+ms( # skip.*)?$/) {
			ms = substr($0, RSTART + 4) + 0
			name = substr($0, 1, RSTART - 1)
			sub(/^(not )?ok [0-9]+ /, "", name)
			sum[name in file ? file[name] : "other tests"] += ms
		}
		END { for (f in sum) printf "   %6.1f s  %s\n", sum[f] / 1000, f }' tap="$log" "${files[@]}" "$log" | sort -rn
}
# run_tap LABEL CMD...: print each result as it arrives.
run_tap() {
	local label=$1 line plan=0 seen=0 name log start=$SECONDS
	shift
	log=$BUILD/bats-$label.tap
	while IFS= read -r line; do
		case $line in
		1..*) plan=${line#1..} ;;
		'ok '*'# skip'*)
			seen=$((seen + 1))
			name=${line#ok * }
			name=${name%% # skip*}
			skipped "${name% in *ms}" "$(sed 's/.*# skip *//; s/^(\(.*\))$/\1/' <<<"$line")"
			printf '   skip    %s\n' "$name"
			;;
		'ok '*)
			seen=$((seen + 1))
			passed
			printf '   ok      %s\n' "${line#ok * }"
			;;
		'not ok '*)
			seen=$((seen + 1))
			name=${line#not ok * }
			failed "${name% in *ms}"
			printf '   FAILED  %s\n' "${line#not ok * }"
			;;
		*) printf '   | %s\n' "$line" ;;
		esac
	done < <("$@" 2>&1 </dev/null | tee "$log")
	if [ "$plan" -eq 0 ] || [ "$seen" -ne "$plan" ]; then
		failed "bats $label: $seen of $plan tests reported"
	fi
	printf '   %s: %d tests (%d s)\n' "$label" "$seen" $((SECONDS - start))
}

# --- packages -----------------------------------------------------------------------------------------------------
build_packages='gcc libc6-dev libcrypt-dev libjson-c-dev make autoconf automake pkg-config xz-utils crun libseccomp-dev libyajl-dev libcap-dev nettle-dev libarchive-dev libcurl4-gnutls-dev go-md2man'
test_packages='zsh fish exfatprogs exfat-fuse fuse3 libfuse3-dev fuse-overlayfs attr zstd xfsprogs btrfs-progs e2fsprogs bats jq procps util-linux uidmap runc busybox-static strace valgrind git openssl ca-certificates less tmux
	musl-tools golang-go python3 nodejs perl systemd'
# Other packages of Node than Debian's have it in them, and conflict with this one.
command -v npm >/dev/null || test_packages="$test_packages npm"
docker_packages='docker.io docker-cli'
[ "$RELEASE" != bookworm ] || docker_packages=docker.io
slurm_packages='slurmctld slurmd slurm-client munge'
engines='podman docker containerd slurm doctor governed-podman governed-docker governed-cri governed-slurm'
engine_packages="podman conmon catatonit $docker_packages containerd $slurm_packages iproute2 python3-grpcio"
# Slurm's configuration changes from release to release: its suites follow Debian 12's.
if [ "$RELEASE" != bookworm ]; then
	engines='podman docker containerd doctor'
	engine_packages="podman conmon catatonit $docker_packages containerd iproute2"
	[ "$FULL" = 0 ] || engines="$engines governed-podman governed-docker governed-cri" engine_packages="$engine_packages python3-grpcio"
fi
arm64_packages='crossbuild-essential-arm64 qemu-user qemu-system-arm debootstrap'
# Tools for C differ in what they report and how they format from release to release: the sources follow one.
lint_packages='' full_packages="clang libclang-rt-dev $arm64_packages"
if [ "$RELEASE" = bookworm ]; then
	lint_packages='shellcheck cppcheck clang-format clang-tidy' full_packages="clang libclang-rt-14-dev $arm64_packages"
fi

install_packages() { # NAMES...
	local name missing=()
	for name; do
		dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		say 'packages: all installed'
		return
	fi
	[ "$(id -u)" -eq 0 ] || die 1 "packages are missing; as root: apt-get install ${missing[*]}"
	say "packages: installing ${missing[*]}"
	mkdir -p "$BUILD"
	export DEBIAN_FRONTEND=noninteractive
	{
		apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"
	} >"$BUILD/apt.log" 2>&1 </dev/null || {
		tail -n 20 "$BUILD/apt.log" >&2
		die 1 'apt-get failed'
	}
}

if [ -n "$ON" ]; then
	packages='git debootstrap'
else
	packages="$build_packages $test_packages"
	[ "$PLATFORM" = 1 ] || packages="$packages $lint_packages"
	[ "$FULL" = 0 ] || [ "$PLATFORM" = 1 ] || packages="$packages $full_packages"
	[ "$ENGINES" = 0 ] || packages="$packages $engine_packages"
	[ "$OTHERS" = '' ] || packages="$packages debootstrap"
	case $LIVE in
	podman | rootless | governed-podman) packages="$packages podman conmon catatonit iproute2" ;;
	systemd) packages="$packages podman conmon iproute2 systemd dbus" ;;
	docker | governed-docker) packages="$packages $docker_packages iproute2" ;;
	containerd | cri | governed-cri) packages="$packages containerd python3-grpcio iproute2" ;;
	slurm | governed-slurm) packages="$packages $slurm_packages iproute2" ;;
	doctor) packages="$packages $docker_packages containerd iproute2" ;;
	esac
	[ "$VM" != 1 ] || packages="$packages qemu-system-x86 debootstrap e2fsprogs"
	[ "$VM" != arm64 ] || packages="$packages $arm64_packages"
fi
# shellcheck disable=SC2086 # a list of words
set -- $packages
if [ "$LIST" = 1 ]; then
	printf '%s\n' "$@"
	exit
fi
install_packages "$@"
# A cold cache takes minutes, mostly of downloads: until the suites need them.
if [ -n "$OTHERS" ]; then
	mkdir -p "$BUILD" || exit 1
	for suite in $OTHERS; do
		nice -n 10 setpriv --pdeathsig TERM tests/on/suite.sh --prepare "$suite" "$BUILD/on-$suite"
	done >"$BUILD/prepare.log" 2>&1 </dev/null &
	PREPARE=$!
fi

# --- other Debian suites -------------------------------------------------------------------------------------------
# on_suite SUITE: counts what quickstart.sh and check.sh report there; that machine's own doctor has checked the skips.
on_suite() {
	local suite=$1 dir=$BUILD/on-$1 line start=$SECONDS last='' n=0 full=() bad=()
	[ "$FULL" = 0 ] || full=(--full)
	say "quickstart.sh and check.sh on $suite"
	rm -f "$dir/results"
	setpriv --pdeathsig TERM tests/on/suite.sh "${full[@]}" "$suite" "$dir" </dev/null 2>&1 |
		while IFS= read -r line; do printf '   %s %s\n' "$suite" "$line"; done
	while IFS= read -r last; do
		n=$((n + 1))
		case $last in
		passed) passed ;;
		'skipped '*)
			SKIPPED=$((SKIPPED + 1))
			SKIPS+=("$suite: ${last#skipped }")
			;;
		'failed '*) bad+=("$suite: ${last#failed }") ;;
		complete) n=$((n - 1)) && break ;;
		esac
	done < <(cat "$dir/results" 2>/dev/null)
	[ "$last" = complete ] || bad+=("$suite: aborted before the last suite")
	printf '   %s: %d results, %d failed (%d s)\n' "$suite" "$n" ${#bad[@]} $((SECONDS - start))
	for line in "${bad[@]}"; do
		if [ "$suite" = sid ]; then
			printf '   FAILED  %s (informational: sid changes every day; not counted)\n' "$line"
		else
			failed "$line"
		fi
	done
}
if [ -n "$ON" ]; then
	mkdir -p "$BUILD" || exit 1
	trap finish EXIT
	trap 'exit 130' INT TERM
	on_suite "$ON"
	COMPLETE=1
	exit
fi

# --- build --------------------------------------------------------------------------------------------------------
mkdir -p "$BUILD/gcc" || exit 1
# Outside the tree: tests run the installed programs as an ordinary user, who cannot traverse /root.
PREFIX=$(mktemp -d "${TMPDIR:-/tmp}/custody-prefix.XXXXXX") || exit 1
trap finish EXIT
trap 'exit 130' INT TERM
chmod 0755 "$PREFIX"

# configure_in DIR ARGUMENTS...
configure_in() {
	mkdir -p "$1" && (cd "$1" && shift && "$SRC/configure" -q "$@")
}
say "build in $BUILD"
step 'autogen' autogen.log ./autogen.sh || exit
if [ "$VM" = arm64 ]; then
	say 'machine of architecture arm64'
	STRICT=0 run_tap vm-arm64 tests/arm64/check.sh --vm "$BUILD/arm64"
	COMPLETE=1
	exit
fi
step 'configure' configure.log configure_in "$BUILD/gcc" --prefix="$PREFIX" --enable-werror CFLAGS='-O2 -g' || exit
step 'make (gcc, every warning an error)' make.log make -C "$BUILD/gcc" -j2 || exit

say 'unit tests, rooms, map, symbols, fuzz corpus'
run_make_check unit "$BUILD/gcc" check

say 'install'
step 'make install' install.log make -C "$BUILD/gcc" install || exit
export CUSTODY=$PREFIX/bin/custody PATH=$PREFIX/bin:$PATH

# Each engine runs in its own namespaces in either lane and changes nothing on the host.  crun's results are the reference.
if [ -n "$LIVE" ]; then
	[ "$DESTRUCTIVE" = 1 ] || [ "$FULL" = 1 ] || export CUSTODY_SAMPLE=1
	say "$LIVE with custody-runtime, lane $LANE"
	run_tap "live-$LIVE" tests/conformance/run-engine.sh "$LIVE" "$PREFIX/bin/custody-runtime"
	COMPLETE=1
	exit
fi

# Another kernel with cgroup v2 only: first with a shell script as pid 1, then with systemd.
if [ "$VM" = 1 ]; then
	export VM_CACHE=${VM_CACHE:-$BUILD/vm}
	[ "$FULL" = 1 ] || export VM_SAMPLE=1
	STRICT=0 # that machine's own doctor has checked the skips
	say 'machine with cgroup v2, without systemd'
	run_tap vm tests/vm/run.sh "$PREFIX"
	say 'machine with cgroup v2, with systemd'
	run_tap vm-systemd tests/vm/run.sh --systemd "$PREFIX"
	COMPLETE=1
	exit
fi

# Capabilities that the doctor reports missing decide which skips are valid.
# Its canary is a run with ledger records: use a separate CUSTODY_ROOT, not this machine's ledger.
doctor_to() { # FILE UID WORDS...
	local file=$1 root
	root=$(mktemp -d) && chmod 0755 "$root" && chown "$2" "$root" || return
	shift 2
	CUSTODY_ROOT=$root "$@" "$CUSTODY" doctor --json </dev/null >"$file" 2>/dev/null
	jq -e .checks <"$file" >/dev/null 2>&1 || : >"$file"
	rm -rf "$root"
}
doctor_to "$BUILD/doctor.json" "$(id -u)" env
if [ "$(id -u)" -eq 0 ]; then
	doctor_to "$BUILD/doctor-user.json" 64321 setpriv --reuid 64321 --regid 64321 --clear-groups --inh-caps=-all
else
	cp "$BUILD/doctor.json" "$BUILD/doctor-user.json"
fi

# --- lint and unit tests of instrumented builds ------------------------------------------------------------------------
run_make_lint() {
	local line start=$SECONDS
	[ "$RELEASE" = bookworm ] || say "lint: only the checks of texts; formatting and analysis follow Debian 12's tools"
	while IFS= read -r line; do
		case $line in
		'ok '*) passed && printf '   ok      %s\n' "${line#ok * - }" ;;
		'not ok '*) failed "${line#not ok * - }" && printf '   FAILED  %s\n' "${line#not ok * - }" ;;
		'# '*) printf '   | %s\n' "${line#\# }" ;;
		esac
	done < <(LINT_ONLY=$([ "$RELEASE" = bookworm ] || echo words banned bats) make -C "$BUILD/gcc" -s lint 2>/dev/null </dev/null | tee "$BUILD/lint.log")
	printf '   lint: %d s\n' $((SECONDS - start))
}
sources() {
	say 'lint'
	run_make_lint
	say 'unit tests with AddressSanitizer and UBSan'
	if step 'configure --enable-sanitizers' configure-sanitizers.log \
		configure_in "$BUILD/sanitizers" --enable-sanitizers CFLAGS='-O1 -g'; then
		run_make_check sanitizers "$BUILD/sanitizers" check
	fi
	if is_sampled 0 valgrind; then
		say 'unit tests under valgrind'
		run_make_check valgrind "$BUILD/gcc" check-valgrind
	fi
	if { [ "$FULL" = 1 ] || [ "${CI:-}" = true ]; } && is_sampled 1 distcheck; then
		say 'make distcheck'
		step 'distcheck' distcheck.log make -C "$BUILD/gcc" distcheck
	fi
}
# is_sampled N NAME: in CI only a third of the commits, chosen by hash, runs it; elsewhere all do.
is_sampled() {
	local commit
	[ "$FULL" = 0 ] && [ "${CI:-}" = true ] && commit=$(git rev-parse --verify HEAD 2>/dev/null) || return 0
	[ $((16#${commit:0:8} % 3)) -ne "$1" ] || return 0
	say "left out: $2, which CI runs on a third of the commits; contrib/check.sh --full runs it"
	return 1
}
# The integration suites mostly wait: with a second CPU these checks run in the background.
sources_beside() {
	(
		PASSED=0 FAILED=0 SKIPPED=0 SKIPS=() FAILURES=() JOBS=1
		renice -n 10 "$BASHPID" >/dev/null
		sources
		declare -p PASSED FAILED SKIPPED SKIPS FAILURES | sed 's/^declare -[^ ]* /beside_/' >"$BUILD/beside.new"
		mv "$BUILD/beside.new" "$BUILD/beside"
	) >"$BUILD/beside.log" 2>&1 </dev/null &
	BESIDE=$!
}
sources_join() {
	local beside_PASSED=0 beside_FAILED=1 beside_SKIPPED=0 beside_SKIPS=() beside_FAILURES=('lint, sanitizers, valgrind: aborted before the last check')
	wait "$BESIDE"
	BESIDE=''
	cat "$BUILD/beside.log"
	# shellcheck disable=SC1091 # written by sources_beside
	[ ! -e "$BUILD/beside" ] || . "$BUILD/beside"
	PASSED=$((PASSED + beside_PASSED)) FAILED=$((FAILED + beside_FAILED)) SKIPPED=$((SKIPPED + beside_SKIPPED))
	SKIPS+=("${beside_SKIPS[@]}")
	FAILURES+=("${beside_FAILURES[@]}")
}
# Nearly every test is a run with limits.
if [ "$(id -u)" -ne 0 ] && jq -e 'any(.checks[]; .id == "HOST-CGROUP" and .state == "missing")' "$BUILD/doctor.json" >/dev/null; then
	die 1 "this user has no cgroup for limits, so runs are refused; as root: custody setup $(id -un)"
fi
export STRICT BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-600}
export CUSTODY_TEST_SEED=${CUSTODY_TEST_SEED:-1} CUSTODY_TEST_FULL=$FULL CUSTODY_SRC=$SRC CUSTODY_BUILD=$BUILD/gcc
rm -f "$BUILD/beside"
[ "$(nproc)" -lt 2 ] || [ "$PLATFORM" = 1 ] || sources_beside

say 'integration tests'
# The example first: the last file of tests/integration checks for leftovers.
suites=(contrib/bats/example.bats tests/integration)
if [ "$PLATFORM" = 1 ] && [ "$FULL" = 0 ]; then
	mapfile -t suites < <(sed -n 's,^[a-z].*\.bats$,tests/integration/&,p' tests/on/sample)
fi
run_bats integration --setup-suite-file tests/integration/setup_suite.bash "${suites[@]}"

if [ "$ENGINES" = 1 ]; then
	[ "$FULL" = 1 ] || export CUSTODY_SAMPLE=1
	for engine in $engines; do
		say "$engine with custody-runtime"
		run_tap "live-$engine" tests/conformance/run-engine.sh "$engine" "$PREFIX/bin/custody-runtime"
	done
	if [ "$FULL" = 0 ] && [ "$RELEASE" != bookworm ]; then
		while read -r engine filter; do
			say "$engine with custody-runtime: $filter"
			run_tap "live-$engine" env CUSTODY_SAMPLE= tests/conformance/run-engine.sh "$engine" "$PREFIX/bin/custody-runtime" -f "$filter"
		done < <(grep ^governed- tests/on/sample)
	fi
	# The same list as without governance; all of the list for both with --full.
	for engine in podman docker; do
		is_sampled 2 "$engine, all containers governed" || continue
		say "$engine with custody-runtime, all containers governed"
		run_tap "live-$engine-all-governed" env GOVERNED=1 tests/conformance/run-engine.sh "$engine" "$PREFIX/bin/custody-runtime"
	done
fi

[ -z "$PREPARE" ] || wait "$PREPARE"
PREPARE=''
for suite in $OTHERS; do
	on_suite "$suite"
done

if [ "$PLATFORM" = 1 ]; then
	COMPLETE=1
	exit
fi
if [ -n "$BESIDE" ]; then
	sources_join
else
	sources
fi
if [ "$FULL" = 1 ]; then
	say 'declarations of libcrun, against its source packages'
	run_tap libcrun contrib/libcrun-verify.sh --tap
	say 'mutants: each removes one refusal, and its test must fail'
	run_tap mutants tests/mutants/run.sh
	say 'arm64: cross build, unit tests in an emulator'
	# The probe of tests/arm64 has checked the skips.
	STRICT=0 run_tap arm64 tests/arm64/check.sh "$BUILD/arm64"
	say 'arm64: sample in an emulated machine; printed, not counted'
	tests/arm64/check.sh --vm "$BUILD/arm64" 2>&1 </dev/null | tee "$BUILD/vm-arm64.tap" | sed 's/^/   | /'
	say 'clang'
	step 'configure CC=clang' configure-clang.log configure_in "$BUILD/clang" CC=clang --enable-werror &&
		run_make_check clang "$BUILD/clang" check
	say 'fuzzing, 60 s each'
	if step 'configure --enable-fuzzing' configure-fuzz.log configure_in "$BUILD/fuzz" CC=clang --enable-fuzzing; then
		run_make_check fuzz-build "$BUILD/fuzz" check
		for target in "$BUILD"/fuzz/tests/fuzz/fuzz-*; do
			case $target in *.*) continue ;; esac
			name=${target##*/fuzz-}
			mkdir -p "$BUILD/fuzz/found/$name"
			step "fuzz-$name" "fuzz-$name.log" "$target" -max_total_time=60 -artifact_prefix="$BUILD/fuzz/found/$name-" \
				"$BUILD/fuzz/found/$name" "$SRC/tests/fuzz/corpus/$name"
		done
	fi
fi
COMPLETE=1
