# SPDX-License-Identifier: GPL-2.0-or-later
# `podman update` and `docker update` of governed containers: they may only tighten.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() { governed_teardown; }

up() {
	"$ENGINE" run -d --name one --memory 64m --memory-swap 64m --pids-limit 100 --cpu-shares 512 "$@" box sleep 1000
}
memory_limit() {
	if is_v2; then cgroup_file "$(pid_of one)" memory memory.max; else cgroup_file "$(pid_of one)" memory memory.limit_in_bytes; fi
}

@test "GOV-15: update that tightens passes, and back to what was approved (sample)" {
	up
	"$ENGINE" update --memory 32m --memory-swap 32m one
	is 33554432 "$(memory_limit)"
	is ok "$(last container.update .status)"
	"$ENGINE" update --memory-swap 64m --memory 64m one
	is 67108864 "$(memory_limit)"
	"$ENGINE" update --cpu-shares 256 one
	is 3 "$(records container.update)"
}
@test "GOV-15: update that loosens is refused with member, values and remedy; nothing changes (sample)" {
	up
	run "$ENGINE" update --memory 128m --memory-swap 128m one
	[ "$status" -ne 0 ]
	has 'memory.limit' 67108864 134217728 'create the container again with --memory'
	is 67108864 "$(memory_limit)"
	is denied "$(last container.update .status)"
	run "$ENGINE" update --cpu-shares 2048 one
	[ "$status" -ne 0 ]
	has 'cpu.shares'
	# The container runs on.
	is true "$("$ENGINE" inspect -f '{{.State.Running}}' one)"
	is 2 "$(records container.update)"
}
@test "GOV-15: cpus are compared as a share of time" {
	up --cpu-period 100000 --cpu-quota 50000
	"$ENGINE" update --cpu-period 50000 --cpu-quota 25000 one
	run "$ENGINE" update --cpu-period 50000 --cpu-quota 25001 one
	[ "$status" -ne 0 ]
	has 'cpu.quota' '50000 of 100000' '25001 of 50000'
	run "$ENGINE" update --cpu-period 20000 one
	[ "$status" -ne 0 ]
}
@test "GOV-15: pause and unpause of a governed container" {
	up
	"$ENGINE" pause one
	"$ENGINE" update --memory 32m --memory-swap 32m one
	"$ENGINE" unpause one
	is 33554432 "$(memory_limit)"
}
