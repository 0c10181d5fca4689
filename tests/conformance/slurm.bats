# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm: `srun --container` on two nodes of this machine.  The same list with RUNTIME=crun is the reference.
load lib.bash
load slurm.bash

setup_file() {
	mkdir -p "$SUITE/vol"
	start_slurm
}
teardown_file() {
	stop_slurm
}
teardown() {
	scancel --user root
	until_ok no_jobs
	no_state
}
step() {
	srun --quiet --container="$SUITE/bundle" "$@"
}
no_jobs() {
	[ -z "$(squeue -h)" ]
}
# terminated STATUS: of the shell in which Slurm calls the runtime; governed, no shell stays, and it is the command's own.
terminated() {
	is "$(if governed; then echo 3; else echo 143; fi)" "$1"
}
# job LINE...: a batch script of these lines.
job() {
	printf '%s\n' '#!/bin/sh' "$@" >"$SUITE/job"
}

@test "srun: output and status 0 (sample)" {
	run step echo hello
	is 0 "$status"
	is hello "$output"
}
@test "srun: the status of the command (sample)" {
	run step sh -c 'exit 7'
	is 7 "$status"
}
@test "srun: killed by a signal is 128 plus its number" {
	run step sh -c 'sh -c "kill -9 \$\$"; exit $?'
	is 137 "$status"
}
@test "srun: a command that does not exist fails with its name (sample)" {
	run step nosuch
	[ "$status" -ne 0 ]
	has nosuch
}
@test "srun: stdin reaches the command, stdout and stderr apart" {
	run --separate-stderr bash -c 'echo text | srun --quiet --container='"$SUITE"'/bundle sh -c "cat; echo wrong >&2; exit 0"'
	is text "$output"
	is wrong "$stderr"
}
@test "srun: the step's environment, user and directory" {
	run env SUITE_WORD=word srun --quiet --export=PATH,SUITE_WORD --container="$SUITE/bundle" sh -c 'echo $SUITE_WORD $SLURM_JOB_NUM_NODES $(id -u) $PWD'
	is 'word 1 0 /' "$output"
}
@test "srun --pty: a terminal" {
	run "$HERE/terminal.py" size=33x99 expect='# ' send='tty; stty size\n' expect='33 99' send='exit 4\n' -- \
		srun --quiet --pty --container="$SUITE/bundle" sh
	is 4 "$status"
}
@test "srun -N 2: a container on each node (sample)" {
	run step --label -N 2 sh -c 'readlink /proc/self/ns/mnt'
	is 0 "$status"
	is "$(printf '0:\n1:')" "$(cut -d ' ' -f 1 <<<"$output" | sort)"
	is 2 "$(cut -d ' ' -f 2 <<<"$output" | sort -u | wc -l)"
}
@test "srun -N 2: one failing task fails the step" {
	make_bundle "$SUITE/counting" "$SUITE/vol"
	run srun --quiet -N 2 --container="$SUITE/counting" sh -c 'mkdir /data/first || exit 5'
	is 5 "$status"
}
@test "srun: a bind mount of the bundle" {
	make_bundle "$SUITE/with-mount" "$SUITE/vol"
	srun --quiet --container="$SUITE/with-mount" sh -c 'echo x >/data/file'
	is x "$(cat "$SUITE/vol/file")"
}
@test "scancel: the container's processes end (sample)" {
	step ready >"$SUITE/out" 2>&1 3>&- &
	srun=$!
	until_ok grep -q ready "$SUITE/out"
	pid=$(pgrep -n -x ready)
	[ -d "/proc/$pid" ]
	scancel "$(squeue -h -o %A)"
	status=0
	wait "$srun" || status=$?
	[ "$status" -ne 0 ]
	until_ok test ! -d "/proc/$pid"
}
@test "scancel --signal: it reaches the runtime, which ends, and the container" {
	step ready >"$SUITE/out" 2>&1 3>&- &
	srun=$!
	until_ok grep -q ready "$SUITE/out"
	pid=$(pgrep -n -x ready)
	scancel --signal=TERM "$(squeue -h -o %A).0"
	status=0
	wait "$srun" || status=$?
	terminated "$status"
	until_ok test ! -d "/proc/$pid"
}
@test "sbatch: a script in the container" {
	job 'echo in $SLURM_JOB_ID; [ ! -e /run/suite ] || exit 3; exit 6'
	run sbatch --wait --output="$SUITE/out" --container="$SUITE/bundle" "$SUITE/job"
	is 6 "$status"
	grep -q '^in [0-9]' "$SUITE/out"
}
@test "sbatch: an array job of 50 steps (or CUSTODY_STORM of them)" {
	rm -f "$SUITE/jobs"/*
	job 'srun --quiet --container='"$SUITE"'/bundle sh -c "echo step \$SLURM_ARRAY_TASK_ID; exit \$((SLURM_ARRAY_TASK_ID % 2))"'
	run sbatch --wait --output="$SUITE/jobs/%a" --array="1-$STORM" "$SUITE/job"
	is 1 "$status"
	is "$(seq "$STORM" | sed 's/^/step /' | sort)" "$(cat "$SUITE/jobs"/* | grep ^step | sort)"
}
@test "slurmd: a step outlives it" {
	step -w n1 ready >"$SUITE/out" 2>&1 3>&- &
	srun=$!
	until_ok grep -q ready "$SUITE/out"
	pid=$(pgrep -n -x ready)
	stop_slurmd n1
	[ -d "/proc/$pid" ]
	launch_slurmd n1
	scancel --signal=TERM "$(squeue -h -o %A).0"
	status=0
	wait "$srun" || status=$?
	terminated "$status"
}
@test "srun as an ordinary user: a user namespace (sample)" {
	[ "${RUNTIME##*/}" = custody-runtime ] || skip 'crun finds no state root without XDG_RUNTIME_DIR'
	# Governed, the registration makes the user namespace.
	make_bundle "$SUITE/rootless" '' "$(governed || echo "$USER_ID")"
	run --separate-stderr srun --quiet --uid="$USER_ID" --gid="$USER_ID" --container="$SUITE/rootless" sh -c 'id -u; cat /proc/self/uid_map; exit 8'
	is 8 "$status"
	is 0 "${lines[0]}"
	[[ ${lines[1]} =~ 0[[:space:]]+${USER_ID}[[:space:]]+1$ ]]
}
