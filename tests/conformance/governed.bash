# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of podman or docker (ENGINE), with a custody.json of each test's own.  Needs lib.bash, docker.bash and
# contrib/bats/custody.bash, in this order; run-engine.sh governed-podman and governed-docker run all governed*.bats.
#
#	load lib.bash
#	load docker.bash
#	load ../../contrib/bats/custody.bash
#	load governed.bash
#	setup_file() { governed_setup_file; }
#	teardown_file() { governed_teardown_file; }
#	setup() { governed_setup; }
#	teardown() { governed_teardown; }
#	@test "..." {
#		asks				# every container needs an approval; or: allows, configure JSON
#		run "$ENGINE" run --rm box true
#		assert_denied			# the id of the request in $CUSTODY_REQUEST
#		approve
#	}
ENGINE=${ENGINE:?podman or docker}
# The programs of one installation, with the state of this sandbox.
CUSTODY=${RUNTIME%/*}/custody
declare -ga CUSTODY_AS=()
unset CUSTODY_ROOT CUSTODY_LANE CUSTODY_ALLOW_PROD CUSTODY_SANDBOX_ENABLED
export NO_COLOR=1
EXPLICIT='"provenance":[{"uid":0,"intention":"explicit"}],"forensics":{"keep_free":"64M"}'
STATE=/var/lib/custody

governed_setup_file() {
	if [ "$ENGINE" = docker ]; then
		start_docker
	else
		mkdir -p "$SUITE"
		make_image
		podman_config /etc/containers containers.conf.d/70-suite.conf cgroupfs
		podman import -q "$SUITE/box.tar" box
	fi
}
governed_teardown_file() {
	[ "$ENGINE" != docker ] || stop_docker
}
# governed_setup: an empty state, no profiles, and containers that need no approval.
governed_setup() {
	[ ! -d "$SUITE" ] || cd "$SUITE" || return
	rm -rf "${STATE:?}"/* /etc/custody/profiles
	mkdir -p "$SUITE/volume"
	allows
	"$CUSTODY" ledger init >/dev/null
}
# governed_teardown: removes the containers; fails if a record, a process or a directory was left.
governed_teardown() {
	remove_all
	rm -rf "$SUITE/volume"
	until_ok nothing_left || { nothing_left || true; return 1; }
	complete
}
remove_all() {
	local all
	all=$("$ENGINE" ps -aq)
	# shellcheck disable=SC2086 # a list
	case $ENGINE in
	docker) [ -z "$all" ] || docker rm -f $all >/dev/null ;;
	*) podman rm -fa -t 0 >/dev/null ;;
	esac
	"$ENGINE" volume prune -f >/dev/null
}

# --- custody.json, profiles ---------------------------------------------------------------------------------------------
configure() { # JSON
	jq . <<<"$1" >/etc/custody/custody.json
}
# asks, allows, judges [MEMBERS]: tightened and judged; the answer is a rule's, or policy's alone (judges).
asks() { judges '"rules":[{"effect":"ask","profile":"container","why":"the suite asks"}]'"${1:+,$1}"; }
allows() { judges '"rules":[{"effect":"allow","profile":"container"}]'"${1:+,$1}"; }
judges() { configure '{"sandbox":{"enabled":true},"security_profile":"balanced",'"$EXPLICIT${1:+,$1}}"; }
# profile NAME JSON: a profile that extends container.
profile() {
	mkdir -p /etc/custody/profiles
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "container"} + $body' >"/etc/custody/profiles/$1.json"
}

# podman_field TEXT: TEXT as a value of --annotation, which podman 4 reads as a line of CSV.
podman_field() {
	case $(podman --version) in
	*' version 4.'*) printf '"%s"' "${1//\"/\"\"}" ;;
	*) printf '%s' "$1" ;;
	esac
}

# --- approvals, records -------------------------------------------------------------------------------------------------
approve() { # [ID] [OPTION...]
	local id=$CUSTODY_REQUEST
	case ${1:-} in '' | -*) ;; *) id=$1 && shift ;; esac
	"$CUSTODY" approve "$id" --yes "$@"
}
set_pin() { # PIN [OLD]
	printf '%s\n' ${2:+"$2"} "$1" | "$CUSTODY" pin set --pin-fd 0
}
approve_with_pin() { # PIN [ID]
	"$HERE/terminal.py" expect='Approve?' send='y\n' expect=PIN send="$1\\n" -- "$CUSTODY" approve "${2:-$CUSTODY_REQUEST}"
}
pending() { # FILTER
	"$CUSTODY" pending --json | jq -r "$1"
}
grants() { # FILTER
	"$CUSTODY" grants --json --all | jq -r "$1"
}
# last KIND FILTER, records KIND: of the lane's ledger; options of `ledger show` may follow.
last() {
	"$CUSTODY" ledger show --json "${@:3}" | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
records() {
	"$CUSTODY" ledger show --json "${@:2}" | jq --arg k "$1" '[.records[] | select(.k == $k)] | length'
}
complete() { # the ledger, if there is one, is whole: each start has its end
	[ ! -d "$STATE/sandbox/ledger" ] || "$CUSTODY" ledger verify | grep -q 'completeness:  ok' || { "$CUSTODY" ledger verify; return 1; }
}
ended_as() { # REASON CODE: the newest end record
	is "$1 $2" "$(last session.end '"\(.d.reason) \(.d.code)"')"
}

# --- processes, leftovers -----------------------------------------------------------------------------------------------
wardens() { # of this sandbox; the older, which is the parent of its backup, first
	pgrep -x custody-warden || true
}
# warden_of NAME, backup_of NAME: of a running container.
warden_of() {
	"$CUSTODY" sessions --json | jq -re --arg id "$("$ENGINE" inspect -f '{{.Id}}' "$1")" '.sessions[] | select(.container == $id) | .pid'
}
backup_of() {
	pgrep -x -P "$(warden_of "$1")" custody-warden
}
process_is_over() { # PID: exited, whether or not it was reaped
	[ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}
nothing_left() {
	local left
	left=$(
		wardens | sed 's/^/warden /'
		find /run/custody/sessions -mindepth 1 -maxdepth 1 2>/dev/null
		find "$STATE"/*/open -mindepth 1 2>/dev/null
	)
	[ -z "$left" ] || { printf 'left: %s\n' "$left"; return 1; }
}
# The containers of the suite leave a line in /volume/mark when their command runs: marks says how many did.
marks() {
	if [ -e "$SUITE/volume/mark" ]; then wc -l <"$SUITE/volume/mark"; else echo 0; fi
}
