#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One engine's scenarios with one runtime, as TAP; nothing of the host is touched (sandbox.sh).
#
#	tests/conformance/run-engine.sh podman|rootless|systemd|docker|containerd|cri|slurm|doctor|subject RUNTIME [BATS-OPTION...]
#
#	tests/conformance/run-engine.sh governed-podman|governed-docker|governed-cri|governed-slurm RUNTIME [BATS-OPTION...]
#
# GOVERNED=1 runs the same scenarios with governed containers, all of which governed.json allows; governed-*: scenarios of their own
# (governed*.bats), each with a configuration of its own.
# NO_PIDFD_EXIT=1: on a kernel before Linux 6.15, as far as the exit status of a process is concerned (tests/lib/no-pidfd-exit.c).
# Scenarios without any filter fail then, because that one is inherited.
#
# RUNTIME is a path or a name in PATH: crun gives the reference, custody-runtime must pass whatever crun passes.
# CUSTODY_SAMPLE=1 runs the scenarios whose names end in (sample): what every CI run affords.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
usage() {
	echo "usage: run-engine.sh podman|rootless|systemd|docker|containerd|cri|slurm|doctor|subject RUNTIME [BATS-OPTION...]" >&2
	echo "       run-engine.sh governed-podman|governed-docker|governed-cri|governed-slurm RUNTIME [BATS-OPTION...]" >&2
	exit 64
}
[ $# -ge 2 ] || usage
engine=$1
runtime=$(command -v "$2") || { echo "run-engine.sh: no runtime '$2'" >&2; exit 1; }
runtime=$(cd "$(dirname "$runtime")" && pwd)/${runtime##*/}
shift 2
suite=$engine
case $engine in
governed-*)
	engine=${engine#governed-}
	export GOVERNED=1 ENGINE=$engine
	case $engine in
	podman | docker) suite=governed ;;
	cri | slurm) ;;
	*) usage ;;
	esac
	;;
esac
case $engine in
podman | rootless | systemd | subject) need=podman ;;
docker | doctor) need=dockerd ;;
containerd | cri) need=containerd ;;
slurm) need=slurmctld ;;
*) usage ;;
esac
command -v "$need" >/dev/null || { echo "run-engine.sh: $need is not installed" >&2; exit 1; }
[ -z "${CUSTODY_SAMPLE:-}" ] || set -- --filter "\\(sample\\)$" "$@"
# A scenario that hangs must not hang the whole run; an emulated machine needs longer.
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-600}
inside=()
files=("$here/$suite.bats")
[ "$suite" != governed-cri ] || files+=("$here/governed-cri-exec.bats")
for part in end kill "$engine" exec update broker; do
	[ "$suite" != governed ] || [ ! -e "$here/governed-$part.bats" ] || files+=("$here/governed-$part.bats")
done
[ "$engine" != systemd ] || inside=("$here/systemd.sh")
old=()
if [ -n "${NO_PIDFD_EXIT:-}" ]; then
	old=("${TMPDIR:-/tmp}/no-pidfd-exit-$$")
	cc -O1 -o "${old[0]}" "$here/../lib/no-pidfd-exit.c"
fi
exec timeout -k 10 "${CUSTODY_ENGINE_TIMEOUT:-1200}" "${old[@]}" "$here/sandbox.sh" env RUNTIME="$runtime" "${inside[@]}" bats --tap "$@" "${files[@]}"
