# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the suites about approvals share.  `echo ask` needs a person (B), `rm -rf *` a person with a PIN (C).

# approval_setup [MEMBERS]: a configuration with the rule that asks; MEMBERS are more of custody.json, as JSON.
approval_setup() {
	suite_setup || return
	approval_prepare "${1:-}"
}

# The same as an ordinary user.
approval_setup_user() {
	suite_setup_user || return
	approval_prepare "${1:-}"
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_ROOT"
}

approval_prepare() {
	approval_config "$1"
	export NO_COLOR=1
	# A command copied from a message runs unchanged.
	mkdir -p "$CUSTODY_HOME/bin"
	ln -s "$CUSTODY" "$CUSTODY_HOME/bin/custody"
	PATH=$CUSTODY_HOME/bin:$PATH
}

approval_config() { # [MEMBERS] [ROOT]
	mkdir -p "${2:-$CUSTODY_ROOT}/etc"
	printf '{"rules":[{"effect":"ask","argv":["echo","ask"]}]%s}\n' "${1:+,$1}" >"${2:-$CUSTODY_ROOT}/etc/custody.json"
}

# In a session of its own: no terminal.
alone() {
	setsid --wait "$@" </dev/null
}

on_terminal() {
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" "$@"
}

# ask [WORDS]: a run of level B without a terminal; $request is the id that it names.
ask() {
	run --separate-stderr alone "$CUSTODY" run -- echo ask "$@"
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
}

approve() {
	"$CUSTODY" approve "$@" --yes
}

# pending FILTER, grants FILTER: of their JSON, as jq -r prints it.
pending() {
	"$CUSTODY" pending --json --all | jq -r "$1"
}
grants() {
	"$CUSTODY" grants --json --all | jq -r "$1"
}

# records KIND: how many the ledger has.
records() {
	"$CUSTODY" ledger show --json --kind "$1" | grep -c '"k":' || true
}

set_pin() { # PIN [OLD]
	printf '%s\n' ${2:+"$2"} "$1" | "$CUSTODY" pin set --pin-fd 0
}
