# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of podman or docker: questions, approvals, refusals and their records.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() { governed_teardown; }

# try [OPTION...] IMAGE ARG...: `run --rm` with the volume.
try() {
	run "$ENGINE" run --rm -v "$SUITE/volume:/volume" "$@"
}
# mark [OPTION...]: a container whose command leaves a line in the volume.
mark() {
	try "$@" box sh -c "$MARK"
}
MARK='echo ran >>/volume/mark'

@test "GOV-8: GOV-11: no grant: refused with the line that approves it; approved: one start, all recorded (sample)" {
	asks
	mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 1
	is 0 "$(marks)"
	is approval "$(last session.refused .d.refused)"
	mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 2
	approve --uses 1
	mark
	is 0 "$status"
	is 1 "$(marks)"
	ended_as exited 0
	is 'grant.reserve session.intent grant.consume session.start session.end' "$(order)"
	# Its one use is over.
	mark
	assert_denied
	is 1 "$(marks)"
}
# order: of the records of the newest session that ended.
order() {
	"$CUSTODY" ledger show --json | jq -r '.records | (map(select(.k == "session.end")) | last | .session) as $s |
		[.[] | select(.session == $s) | .k] | join(" ")'
}
@test "GOV-8: a container that was refused can be approved and started under its name" {
	asks
	run "$ENGINE" run --name one -v "$SUITE/volume:/volume" box sh -c "$MARK"
	assert_denied
	approve
	run "$ENGINE" start -a one
	is 0 "$status"
	is 1 "$(marks)"
	custody_container "$ENGINE" one
	assert_reason exited
}
@test "GOV-9: the same container has the same digest, another one has another, and the refusal says what changed (sample)" {
	local first change want
	asks
	mark -e A=1
	assert_denied
	first=$CUSTODY_REQUEST
	approve --uses 3
	"$ENGINE" tag box same
	mark -e A=1
	mark -e A=1 --name other --hostname ''
	try -e A=1 same sh -c "$MARK"
	is 3 "$(marks)"
	another_image
	for change in 'env.A: changed|-e A=2 box' 'env.B: added|-e A=1 -e B=1 box' 'image: was|-e A=1 changed' \
		'/usr|-e A=1 -v /usr:/x:ro box' 'config.process.cwd: was|-e A=1 -w /tmp box' 'CAP_CHOWN|-e A=1 --cap-drop chown box'; do
		# shellcheck disable=SC2086 # a list of words
		try ${change#*|} sh -c "$MARK"
		assert_denied
		[ "$CUSTODY_REQUEST" != "$first" ]
		want=${change%|*}
		has 'since the last approval: ' "$want"
	done
	try -e A=1 box sh -c "$MARK; true"
	assert_denied
	has "argv[2]: was 'echo ran"
	is 3 "$(marks)"
}
# another_image: `changed`, box with a file more.
another_image() {
	echo more >"$SUITE/more"
	"$ENGINE" create --name made box true
	"$ENGINE" cp "$SUITE/more" made:/more
	"$ENGINE" commit made changed >/dev/null
	"$ENGINE" rm made >/dev/null
}
@test "GOV-9: values of secrets are in no refusal, request or record" {
	asks
	mark -e TOKEN_OF_ANN=swordfish
	assert_denied
	approve
	mark -e TOKEN_OF_ANN=marlin
	assert_denied
	has 'env.TOKEN_OF_ANN: changed'
	[[ $output != *marlin* ]]
	"$CUSTODY" ledger show --json >"$SUITE/ledger"
	run ! grep -rE 'swordfish|marlin' "$STATE" /run/custody "$SUITE/ledger"
}
@test "GOV-1: a rule that denies: no request, nothing runs, recorded (sample)" {
	judges '"rules":[{"effect":"deny","profile":"container","why":"closed for today"}]'
	mark
	[ "$status" -ne 0 ]
	has 'denied by policy'
	is 0 "$(marks)"
	is policy "$(last session.refused .d.refused)"
	is 0 "$(pending '.requests | length')"
}
@test "GOV-1: an approver's No is told, and asks no more" {
	asks
	mark
	assert_denied
	"$CUSTODY" deny "$CUSTODY_REQUEST" --reason 'not on a Friday'
	mark
	[ "$status" -ne 0 ]
	has 'not on a Friday'
	is 0 "$(marks)"
	is 0 "$(pending '.requests | length')"
}
@test "GOV-3: GOV-10: an unbounded delete needs the PIN, whatever a rule allows" {
	allows
	try box rm -rf /
	[ "$status" -ne 0 ]
	has 'level C'
	assert_denied
	run approve
	[ "$status" -ne 0 ]
	set_pin 271828
	approve_with_pin 271828
	try box rm -rf /
	is 1 "$(records session.start)"
	is C "$(last session.intent .d.approval.level)"
}
@test "ISO-1: GOV-1: namespaces of the host and --privileged are refused with the word that allows them" {
	local word options
	allows
	while read -r word options; do
		refused_for "$word" mark_status $options
		is config "$(last session.refused .d.refused)"
	done <<-'LIST'
		no-private-devices --privileged
		no-pid-namespace --pid=host
		no-ipc-namespace --ipc=host
		host-network --network=host
	LIST
	is 0 "$(marks)"
	profile open '{"dangerous": ["host-network", "no-network-namespace"]}'
	configure '{"sandbox":{"enabled":true,"profile":"open"},"security_profile":"balanced",'"$EXPLICIT"',
		"rules":[{"effect":"allow","profile":"open"}]}'
	mark --network=host
	is 0 "$status"
	is 1 "$(marks)"
}
mark_status() {
	"$ENGINE" run --rm -v "$SUITE/volume:/volume" "$@" box sh -c "$MARK"
}
@test "GOV-8: ISO-14: the four combinations of sandbox.enabled and security_profile (sample)" {
	local look='grep -E "^(Seccomp|NoNewPrivs):" /proc/self/status' ask='"rules":[{"effect":"ask","profile":"container"}]'
	configure '{"sandbox":{"enabled":false},"security_profile":"off",'"$EXPLICIT,$ask}"
	rm -rf "${STATE:?}"/* /run/custody
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	is $'NoNewPrivs:0\nSeccomp:0' "$(tr -d '\t' <<<"$output")"
	is '' "$(ls "$STATE")"
	[ ! -e /run/custody ]
	configure '{"sandbox":{"enabled":false},"security_profile":"balanced",'"$EXPLICIT,$ask}"
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	assert_denied
	approve
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	is $'NoNewPrivs:0\nSeccomp:0' "$(tr -d '\t' <<<"$output")"
	is '[]' "$(last session.start '.d.layers // []' | jq -c .)"
	configure '{"sandbox":{"enabled":true},"security_profile":"off",'"$EXPLICIT}"
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	is $'NoNewPrivs:1\nSeccomp:2' "$(tr -d '\t' <<<"$output")"
	last session.start '.d.layers[]' | grep -qx seccomp=proven-after-start
	configure '{"sandbox":{"enabled":true},"security_profile":"balanced",'"$EXPLICIT,$ask}"
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	assert_denied
	approve
	run "$ENGINE" run --rm --security-opt seccomp=unconfined box sh -c "$look"
	is $'NoNewPrivs:1\nSeccomp:2' "$(tr -d '\t' <<<"$output")"
	is 3 "$(records session.end)"
}
@test "ISO-14: both switches off: no warden beside a container, the engine's text as it is but for ociVersion" {
	local version
	configure '{"sandbox":{"enabled":false},"security_profile":"off"}'
	rm -rf "${STATE:?}"/* /run/custody
	background one
	is '' "$(wardens)"
	# The engine's file, and libcrun's copy of what it got.  libcrun 1.8.1 accepts no version above 1.0: podman 5 and docker 26 write 1.2.
	version='s/"ociVersion": ?"[^"]*" *//'
	find /run /var/lib/containers /var/lib/docker -path "*$("$ENGINE" inspect -f '{{.Id}}' one)*/config.json" \
		-exec sh -c 'for file; do sed -E "$0" "$file" | sha256sum; done' "$version" {} + >"$SUITE/texts"
	[ "$(wc -l <"$SUITE/texts")" -ge 2 ]
	is 1 "$(sort -u "$SUITE/texts" | wc -l)"
	run "$ENGINE" exec one echo hello
	is hello "$output"
	is '' "$(ls "$STATE")"
	[ ! -e /run/custody ]
	"$ENGINE" kill -s TERM one
	is 3 "$("$ENGINE" wait one)"
}
@test "GOV-1: an invalid custody.json starts nothing, and the engine shows file and line" {
	local text
	for text in '{"sandbox":{"enabled":true},' '{"sandbox":{"enabled":1}}' '{"sandboxes":{}}'; do
		printf %s "$text" >/etc/custody/custody.json
		mark
		[ "$status" -ne 0 ]
		has /etc/custody/custody.json:1
	done
	is 0 "$(marks)"
	allows
}
@test "GOV-13: GOV-11: a restart of the same container needs its approval again, unless it allows more starts" {
	asks
	run "$ENGINE" run -d --name one box ready
	assert_denied
	approve --uses 2
	"$ENGINE" start one
	until_ok said one ready
	"$ENGINE" restart -t 0 one
	run "$ENGINE" restart -t 0 one
	assert_denied
	is false "$("$ENGINE" inspect -f '{{.State.Running}}' one)"
	is 2 "$(records session.start)"
}
