#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031,SC2154 # bats' subshells; set by bats
# custody.json: doctor's output, and the examples of the documents.

load ../lib/suite.bash

setup() {
	suite_setup
	mkdir -p "$CUSTODY_ROOT/etc"
	FILE=$CUSTODY_ROOT/etc/custody.json
	unset CUSTODY_SANDBOX_ENABLED CUSTODY_SANDBOX_RETENTION_PATH CUSTODY_LANE
}
teardown() { custody_teardown; }

# Doctor wraps its lines.
flat() {
	tr -s ' \n' ' ' <<<"$output"
}

# value KEY FIELD: of the last doctor --json.
value() {
	jq -r --arg key "$1" ".config[] | select(.key == \$key) | .$2" <<<"$output"
}

@test "config: doctor shows every value with its source" {
	printf '{\n  "min_approvals": 2,\n  "digest_key": "%064d"\n}\n' 0 >"$FILE"
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(value min_approvals value)" = 2 ]
	[ "$(value min_approvals source)" = "$FILE:2" ]
	[ "$(value min_approvals tier)" = admin ]
	[ "$(value min_approvals replaced_source)" = null ]
	[ "$(value allow_self source)" = default ]
	# A key is not readable by other users.
	[ "$(value digest_key value)" = '(not shown)' ]
	[[ "$output" != *0000000000000000* ]]
	[ "$(jq -r '.checks[] | select(.id == "CONFIG-SECRET") | .remedy' <<<"$output")" = "chmod o-r '$FILE'" ]
}

@test "ISO-14: CUSTODY_SANDBOX_ENABLED overrides both ways and doctor names the replaced value" {
	echo '{"sandbox": {"enabled": true}}' >"$FILE"
	CUSTODY_SANDBOX_ENABLED=no run --separate-stderr "$CUSTODY" doctor --json
	[ "$(value sandbox.enabled value)" = false ]
	[ "$(value sandbox.enabled source)" = CUSTODY_SANDBOX_ENABLED ]
	[ "$(value sandbox.enabled tier)" = environment ]
	[ "$(value sandbox.enabled replaced)" = true ]
	[ "$(value sandbox.enabled replaced_source)" = "$FILE:1" ]
	rm "$FILE"
	CUSTODY_SANDBOX_ENABLED=1 CUSTODY_SANDBOX_RETENTION_PATH=/mnt/evidence run --separate-stderr "$CUSTODY" doctor
	[[ "$(flat)" == *CONFIG-OVERRIDE*"'sandbox.enabled' is true (CUSTODY_SANDBOX_ENABLED)"*"unset CUSTODY_SANDBOX_ENABLED"* ]]
	[[ "$(flat)" == *"'sandbox.retention_path' is \"/mnt/evidence\" (CUSTODY_SANDBOX_RETENTION_PATH)"* ]]
	[[ "$(flat)" != *CONFIG-UNUSED* ]]
	echo '{"id_range": "100000-300000"}' >"$FILE"
	run --separate-stderr "$CUSTODY" doctor
	[[ "$(flat)" == *CONFIG-UNUSED*"'id_range'"* ]]
}

@test "GOV-8: isolation and approval of engine containers are independent keys, both off by default" {
	for enabled in true false; do
		for profile in off strict; do
			printf '{"sandbox": {"enabled": %s}, "security_profile": "%s"}' $enabled $profile >"$FILE"
			run --separate-stderr "$CUSTODY" doctor --json
			[ "$(value sandbox.enabled value)/$(value security_profile value)" = "$enabled/$profile" ]
		done
	done
	rm "$FILE"
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(value sandbox.enabled value)/$(value security_profile value)" = false/off ]
}

@test "config: a mistake is an error of doctor with file, line, column and the nearest key" {
	printf '{\n  "min_aprovals": 2\n}\n' >"$FILE"
	run -1 --separate-stderr "$CUSTODY" doctor
	[[ "$(flat)" == *CONFIG-FILE*"custody.json:2:3: unknown key 'min_aprovals': did you mean"*"'min_approvals'?"* ]]
	echo '{}' >"$FILE"
	chmod o+w "$FILE"
	run -1 --separate-stderr "$CUSTODY" doctor
	[[ "$(flat)" == *"is writable by other users: chmod go-w"* ]]
}

@test "config: the user's file overrides the admin's and may not loosen it" {
	[ "$(id -u)" -ne 0 ] || [ ! -e /etc/custody/custody.json ] || skip 'this machine has a configuration of its own'
	suite_setup_user
	mkdir -p "$CUSTODY_HOME/home/.config/custody"
	echo '{"allow_self": false, "provenance": []}' >"$CUSTODY_HOME/home/.config/custody/custody.json"
	run --separate-stderr "${CUSTODY_AS[@]}" env -u CUSTODY_ROOT -u XDG_CONFIG_HOME "$CUSTODY" doctor
	[[ "$(flat)" == *"'provenance' is allowed only in the admin's file"* ]]
	echo '{"allow_self": false}' >"$CUSTODY_HOME/home/.config/custody/custody.json"
	run --separate-stderr "${CUSTODY_AS[@]}" env -u CUSTODY_ROOT -u XDG_CONFIG_HOME "$CUSTODY" doctor --json
	[ "$(value allow_self tier)" = user ]
}

# Every key of the schema, with its section in front: "lane", "grant_max.uses" ...
keys() {
	"$CUSTODY" doctor --config-schema | jq -r '.properties | to_entries[] | select(.key != "$schema") |
		if .value.properties then .key as $s | .value.properties | keys[] | select(. != "$schema") | "\($s).\(.)" else .key end'
}

@test "config: the manual page names every key with its default" {
	local page=$CUSTODY_SRC/docs/man/custody.json.5.md key default n=0
	[ -n "${CUSTODY_SRC:-}" ] || skip 'no source tree'
	for key in $(keys); do
		grep -q "^| \`$key\` |" "$page" || { echo "'$key' is not in the manual page"; false; }
		default=$("$CUSTODY" doctor --config-schema | jq -r --arg p "$key" 'getpath(["properties"] + ($p / "." | map([., "properties"]) | add | .[:-1])) | .default | if . == null then "" else tostring end')
		[ -z "$default" ] || grep "^| \`$key\` |" "$page" | grep -qF "| \`$default\` |" || { echo "default of '$key' is $default"; false; }
		n=$((n + 1))
	done
	[ "$n" -gt 25 ]
}

@test "config: contrib/custody.json is no word as it is, and every key with its default uncommented" {
	local from=$CUSTODY_SRC/contrib/custody.json key
	[ -n "${CUSTODY_SRC:-}" ] || skip 'no source tree'
	cp "$from" "$FILE"
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(jq -r '[.config[] | select(.tier != "default")] | length' <<<"$output")" = 0 ]
	sed 's|^  // "|  "|' "$from" >"$FILE"
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(jq -r '.checks[] | select(.id == "CONFIG-FILE") | .state' <<<"$output")" = ok ]
	# All but the second spellings; and where there is a default, that one.
	[ "$(jq -r '[.config[] | select(.tier == "default") | .key] | join(" ")' <<<"$output")" = '' ]
	for key in $(keys); do
		default=$("$CUSTODY" doctor --config-schema | jq -c --arg p "$key" 'getpath(["properties"] + ($p / "." | map([., "properties"]) | add | .[:-1])) | .default')
		[ "$default" = null ] || [ "$(jq -c --arg key "$key" '.config[] | select(.key == $key) | .value' <<<"$output")" = "$default" ]
	done
}
