# SPDX-License-Identifier: GPL-2.0-or-later
# exec into governed containers of podman or docker: asked, denied, allowed, approved, tightened, recorded.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() { governed_teardown; }

# up: a running container whose start needed no question, in a lane that asks for commands from then on.
up() {
	"$ENGINE" run -d --name box1 -v "$SUITE/volume:/volume" box sh -c 'trap "exit 0" TERM; while :; do sleep 0.2; done'
	asks
}
has_ended() { # NUMBER
	[ "$(records exec.end)" -eq "$1" ]
}
has_started() { # NUMBER
	[ "$(records exec.start)" -eq "$1" ]
}

@test "GOV-15: a command is asked, the line that approves it is on the caller's terminal; approved it runs once (sample)" {
	up
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark; exit 7'
	assert_denied
	is 0 "$(marks)"
	is approval "$(last exec.refused .d.refused)"
	is "$(last session.start .session)" "$(last exec.refused .d.within)"
	approve --uses 1
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark; exit 7'
	is 7 "$status"
	is 1 "$(marks)"
	until_ok has_ended 1
	is 'exited 7' "$(last exec.end '"\(.d.reason) \(.d.code)"')"
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark; exit 7'
	assert_denied
	# Another user, variable or directory is another command.
	for option in '-u 7' '-e A=1' '-w /tmp' --privileged; do
		# shellcheck disable=SC2086 # words
		run "$ENGINE" exec $option box1 sh -c 'echo ran >>/volume/mark; exit 7'
		assert_denied
	done
	is 1 "$(marks)"
}
@test "GOV-15: exec deny: refused by name; allow: level B runs, with its records (sample)" {
	up
	asks '"exec":"deny"'
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark'
	[ "$status" -ne 0 ]
	has '"exec": "deny"'
	is 0 "$(marks)"
	asks '"exec":"allow"'
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark'
	is 0 "$status"
	is 1 "$(marks)"
	until_ok has_ended 1
	is custody.json "$(last exec.intent .d.approval.by)"
	run "$ENGINE" exec box1 rm -rf /
	assert_denied
}
@test "GOV-15: ISO-1: exec --privileged has the container's capabilities, filter and no_new_privs (sample)" {
	up
	allows
	inside=$("$ENGINE" exec box1 sh -c 'grep -E "^(CapBnd|NoNewPrivs|Seccomp:)" /proc/1/status')
	run "$ENGINE" exec --privileged box1 grep -E '^(CapBnd|NoNewPrivs|Seccomp:)' /proc/self/status
	is 0 "$status"
	is "$inside" "$output"
	has $'NoNewPrivs:\t1' $'Seccomp:\t2'
	until_ok has_ended 2
}
@test "GOV-15: a terminal, a detached command, and the end of the container" {
	up
	allows
	run "$HERE/terminal.py" size=20x70 -- "$ENGINE" exec -it box1 sh -c 'tty; exit 5'
	is 5 "$status"
	has /dev/
	"$ENGINE" exec -d box1 sleep 1000
	until_ok has_started 2
	"$ENGINE" rm -f box1
	until_ok has_ended 2
	is 'signaled 137' "$(last exec.end '"\(.d.reason) \(.d.code)"')"
}
@test "GOV-15: a killed warden: no command runs, and none is left unrecorded" {
	up
	allows
	"$ENGINE" exec -d box1 sleep 1000
	until_ok has_started 1
	kill -9 "$(backup_of box1)" "$(warden_of box1)"
	run "$ENGINE" exec box1 sh -c 'echo ran >>/volume/mark'
	[ "$status" -ne 0 ]
	is 0 "$(marks)"
	"$CUSTODY" recover
	has_ended 1
	is lost "$(last exec.end .d.reason)"
}
