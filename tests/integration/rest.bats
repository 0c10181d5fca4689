#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # scripts for the inside; bats' subshells
#
# Tools of kind rest: declared requests to a TLS server on loopback, whose certification authority is made here.

load ../lib/suite.bash
load ../lib/rest.bash

setup_file() {
	FORGE=$(mktemp -d)
	export FORGE
	rest_ca "$FORGE" ca
	rest_ca "$FORGE" foreign
	rest_cert "$FORGE" good ca DNS:localhost
	rest_cert "$FORGE" tls11 ca DNS:localhost
	rest_cert "$FORGE" expired ca DNS:localhost 20210101000000Z
	rest_cert "$FORGE" named ca DNS:localhost.example.org,DNS:*.example.org
	rest_cert "$FORGE" stranger foreign DNS:localhost
	rest_cert "$FORGE" remote ca IP:8.8.8.8
	# For a test's server of its own user, and custody-rest of another one.
	chmod 0755 "$FORGE"
	chmod 0644 "$FORGE"/*.crt
}

teardown_file() {
	rm -rf "$FORGE"
}

setup() {
	suite_setup
	export NO_COLOR=1
	: >"$FORGE/requests"
	rest_servers "$FORGE" good expired named stranger plain tls11
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$CUSTODY_HOME/work/"
}

teardown() {
	rest_stop
	custody_teardown
}

# as_user: from here on an ordinary user.
as_user() {
	custody_teardown
	suite_setup_user
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$CUSTODY_HOME/work/"
}

# rest NAME PATH [REST-JSON [TOOL-JSON]]: a request to server "good" whose certificates are those of this test.
rest() {
	jq -cn --arg name "$1" --arg url "https://localhost:${PORT[good]}" --arg path "$2" --arg ca "$FORGE/ca.crt" \
		--argjson rest "${3:-{\}}" --argjson more "${4:-{\}}" '{name: $name, level: "A", network: "test",
			rest: ({url: $url, path: $path, ca: $ca, addresses: ["loopback"]} + $rest | with_entries(select(.value != null)))} + $more'
}

# tools JSON...: declares them, and PROFILE names them all.
tools() {
	suite_ungoverned "$(printf '%s\n' "$@" | jq -s '{broker: {tools: .}, sandbox: {timing_min_delay_ms: 0}}')"
	suite_profile tools "$(printf '%s\n' "$@" | jq -s '{broker: {tools: [.[].name]},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] ||
		chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_ROOT" "$PROFILE" "$CUSTODY_HOME/work"
}

# inside [OPTIONS] PYTHON: with the client of the broker; error(TOOL, PARAMS): code and sentence of a refusal.
inside() {
	local code=${*: -1}
	set -- "${@:1:$#-1}"
	custody_run --profile "$PROFILE" "$@" -- python3 -B -c "from broker_client import *
def error(tool, params=None):
    with connect() as s:
        r = ask(s, line(tool, params))
    assert not r['ok'], r
    return r['code'] + ': ' + r['error']
$code"
}

records() { # KIND FILTER: of the lane's ledger
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger show --json | jq -c "if type == \"object\" and .records then .records[] else . end | select(.k == \"$1\") | $2"
}

requests() { # [JQ-FILTER]: that arrived
	jq -c "${1:-.}" "$FORGE/requests"
}

READ='{"path": "/repos/o/r/issues/{issue_number}"}'
SCOPED='{"scope": ["issue_number=issue"]}'

@test "ISO-9: an issue is read, commented on, and a pull request opened, as the operator declared" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		: >"$FORGE/requests"
		tools "$(rest issue.read '/repos/o/r/issues/{issue_number}' '{"headers": ["Accept: application/json"], "reply_headers": ["etag"]}' \
			'{"read": true, "scope": ["issue_number=issue"]}')" \
			"$(rest issue.comment '/repos/o/r/issues/{issue_number}/comments' '{"method": "POST", "body": ["body"]}' "$SCOPED")" \
			"$(rest pull.open /repos/o/r/pulls '{"method": "POST", "body": ["title", "head", "draft?", "base=main"]}')"
		inside --issue 7 'print(call("issue.read", {"issue_number": 7}))
print(call("issue.comment", {"issue_number": "7", "body": "Fixed.\r\nX-Evil: \"1\" \u00e4"}))
print(call("pull.open", {"title": "Fix", "head": "fix/7", "draft": True}))'
		assert_status 0
		[ "${lines[0]}" = "{'body': {'number': 7, 'title': 'It fails'}, 'headers': {'etag': '\"1\"'}, 'status': 200}" ]
		[ "${lines[1]}" = "{'body': {'id': 1, 'state': 'open'}, 'headers': {'content-type': 'application/json'}, 'status': 201}" ]
		[ "$(requests '[.method, .path, (.body | if . == "" then null else fromjson end)]')" = '["GET","/repos/o/r/issues/7",null]
["POST","/repos/o/r/issues/7/comments",{"body":"Fixed.\r\nX-Evil: \"1\" ä"}]
["POST","/repos/o/r/pulls",{"base":"main","draft":true,"head":"fix/7","title":"Fix"}]' ]
		[ "$(requests '.headers | keys' | sort -u)" = '["accept","content-length","content-type","host","user-agent"]
["accept","host","user-agent"]' ]
		[ "$(records tool.result '[.d.tool, .d.result]')" = '["issue.read","ok"]
["issue.comment","ok"]
["pull.open","ok"]' ]
	done
}

@test "ISO-9: another issue's number, a missing one and another spelling send nothing" {
	tools "$(rest issue.comment '/repos/o/r/issues/{issue_number}/comments' '{"method": "POST", "body": ["body"]}' "$SCOPED")"
	inside --issue 7 'for bad in [{"issue_number": 8}, {}, {"issue_number": "7/../8"}, {"issue_number": 7, "Issue_Number": 8}, {"issue_number": [7]}]:
    assert call("issue.comment", {"body": "b", **bad}) == ["scope"], bad'
	assert_status 0
	inside 'assert call("issue.comment", {"issue_number": 7, "body": "b"}) == ["scope"]'
	assert_status 0
	[ -z "$(requests)" ]
}

@test "ISO-9: parameters cannot leave their place in the path, add a header, or be others than declared" {
	tools "$(rest file '/files/{name}' '{"query": ["ref?"]}')"
	inside 'for bad in ["..", ".", "../x", "a/b", "a\\b", "%2e%2e", "a\r\nX-Evil: 1", "a\nb", "a\tb", "\u007f", "", "x" * 2000, None, {}, ["a"]]:
    assert call("file", {"name": bad}) == ["tool-failed"], bad
for bad in [{}, {"name": "a", "other": 1}, {"name": "a", "Name": "b"}, {"name": "a", "ref": "b\r\nX-Evil: 1"}]:
    assert call("file", bad) == ["tool-failed"], bad
assert "part of a path" in error("file", {"name": "a/b"})'
	assert_status 0
	[ -z "$(requests)" ]
	# An allowed value arrives encoded, in one line.
	tools "$(rest file '/text' '{"query": ["ref", "from=a b"]}')"
	inside 'assert call("file", {"ref": "x&y=z HTTP/1.1#?../%00\u00e4"})["body"] == "gr\u00fc\u00dfe\n"'
	assert_status 0
	[ "$(requests .path)" = '"/text?ref=x%26y%3Dz%20HTTP%2F1.1%23%3F..%2F%2500%C3%A4&from=a%20b"' ]
}

@test "ISO-9: a certificate that is expired, of another name or of an unknown authority, or an old TLS ends the call before the request" {
	local name
	for name in expired named stranger; do
		tools "$(rest t /text "{\"url\": \"https://localhost:${PORT[$name]}\"}")"
		inside 'assert "certificate is not valid" in error("t"), error("t")'
		assert_status 0
	done
	# Without rest.ca the authorities of the system count, which do not know this one.
	tools "$(rest t /text '{"ca": null}')"
	SSL_CERT_FILE=$FORGE/ca.crt CURL_CA_BUNDLE=$FORGE/ca.crt inside 'assert "certificate is not valid" in error("t"), error("t")'
	assert_status 0
	# A server that has no TLS after 1.1.
	tools "$(rest t /text "{\"url\": \"https://localhost:${PORT[tls11]}\"}")"
	inside 'assert "no encrypted connection" in error("t"), error("t")'
	assert_status 0
	# A server without TLS.
	tools "$(rest t /text "{\"url\": \"https://localhost:${PORT[plain]}\"}")"
	inside 'assert "no encrypted connection" in error("t"), error("t")'
	assert_status 0
	[ -z "$(requests)" ]
}

@test "ISO-9: a redirect is not followed, and proxies of the environment are not used" {
	tools "$(rest t /redirect '{"reply_headers": ["location"]}')" "$(rest other /missing)"
	export http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1
	inside 'r = call("t")
assert r["status"] == 302 and r["headers"] == {"location": "/text"}, r
assert call("other")["status"] == 404'
	assert_status 0
	[ "$(requests .path | tr '\n' ' ')" = '"/redirect" "/missing" ' ]
}

@test "LANE-6: a name whose address is not of a declared kind is not connected to" {
	tools "$(rest t /text '{"addresses": ["public", "private", "link-local"]}')" \
		"$(rest number /text "{\"url\": \"https://127.1:${PORT[good]}\", \"addresses\": [\"public\"]}")" \
		"$(rest param /text "{\"url\": \"https://{host}:${PORT[good]}\", \"hosts\": [\"*.example.org\", \"localhost\"]}")"
	inside 'assert "addresses" in error("t"), error("t")
assert "addresses" in error("number"), error("number")
for bad in ["127.0.0.1", "example.org", "badexample.org", "localhost.evil", "localhost:1", "u@localhost", "localhost/x", "", 7]:
    assert "hosts" in error("param", {"host": bad}), bad
assert call("param", {"host": "localhost"})["status"] == 200'
	assert_status 0
	[ "$(requests .path)" = '"/text"' ]
	# A declaration that cannot be meant: no run.
	for bad in "$(rest t /text '{"url": "http://api.example.org"}')" "$(rest t /text '{"url": "http://localhost", "addresses": ["loopback", "public"]}')" \
		"$(rest t /text '{"hosts": ["ocalhost"]}')"; do
		tools "$bad"
		custody_run --profile "$PROFILE" -- true
		[ "$status" -ne 0 ]
		[[ $stderr == *rest* ]]
	done
	# http is for this machine.
	tools "$(rest t /text "{\"url\": \"http://localhost:${PORT[plain]}\", \"ca\": null}")"
	inside 'assert call("t")["status"] == 200'
	assert_status 0
}

@test "LANE-6: a public address is connected to without being declared" {
	local port
	[ "$(id -u)" -eq 0 ] || skip "needs root: a network namespace with this address"
	command -v ip >/dev/null || skip "needs ip"
	helper=${CUSTODY%/bin/custody}/libexec/custody/custody-rest
	run unshare -n bash -c '
		ip link set lo up && ip address add 8.8.8.8/32 dev lo || exit 9
		. "$1/tests/lib/rest.bash"
		REST_ADDRESS=8.8.8.8 rest_servers "$FORGE" remote
		trap rest_stop EXIT
		for kind in public private; do
			jq -cn --arg url "https://8.8.8.8:${PORT[remote]}/text" --arg ca "$FORGE/ca.crt" --arg kind "$kind" "{method: \"GET\", url: \$url, header: \"X\",
				ca: \$ca, addresses: [\$kind], reply_max: 100}" | "$2"
			echo
		done' - "$CUSTODY_SRC" "$helper"
	[ "${lines[0]}" = '{"body":"grüße\n","headers":{},"status":200}' ]
	[[ ${lines[1]} == 'the host has an address of a kind'* ]]
	[ "$(requests .path)" = '"/text"' ]
}

@test "ISO-9: a reply that is too large, too slow or no text is a failure, and the next call works" {
	tools "$(rest flood /flood '{}' '{"output_max": "4K"}')" "$(rest slow /slow '{}' '{"timeout": "1s"}')" "$(rest bytes /bytes)" "$(rest text /text)"
	inside 'assert "larger than 4096 bytes" in error("flood"), error("flood")
assert call("slow") == ["timeout"]
assert "neither JSON nor text" in error("bytes")
assert call("text")["body"] == "gr\u00fc\u00dfe\n"'
	assert_status 0
}

@test "ISO-9: headers, informational replies or trailers without end are a failure, as is another protocol" {
	tools "$(rest headers /headers)" "$(rest informed /informed)" "$(rest trailers /trailers)" "$(rest header /header)" "$(rest chunks /chunks)" \
		"$(rest bomb /bomb)" "$(rest upgrade /upgrade)" "$(rest old /old)" "$(rest twice /twice '{"reply_headers": ["etag"]}')"
	inside 'for tool in ["headers", "informed", "trailers"]:
    assert "larger than 262144 bytes" in error(tool), error(tool)
assert "a header that is too large" in error("header"), error("header")
for tool in ["chunks", "bomb"]:
    assert "larger than 65536 bytes" in error(tool), error(tool)
for tool in ["upgrade", "old"]:
    assert call(tool) == ["tool-failed"], tool
assert call("twice") == {"body": {}, "headers": {"etag": "two"}, "status": 200}'
	assert_status 0
}

@test "ISO-9: a client that is gone ends its request" {
	tools "$(rest slow /slow)" "$(rest after_slow /after-slow)" "$(rest after_gone /after-gone)"
	inside 's = connect()
s.sendall(line("slow"))
# Answered when the server has the first request, and when it has seen the end of its connection.
assert call("after_slow")["status"] == 200
s.close()
assert call("after_gone")["status"] == 200'
	assert_status 0
}

@test "ISO-9: a request of level B is not sent without an approval" {
	tools "$(rest t '/files/{name}' '{"method": "PUT"}' '{"level": "B"}')"
	inside 'assert call("t", {"name": "a"}) == ["approval"]'
	assert_status 0
	[ -z "$(requests)" ]
}

@test "ISO-12: a request carries its credential, which is nowhere else afterwards" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		: >"$FORGE/requests"
		printf %s s3cret/value-of=the-forge | "${CUSTODY_AS[@]}" "$CUSTODY" credential add forge --host localhost >/dev/null
		tools "$(rest bearer /text '{"credential": "forge"}')" "$(rest private /text '{"credential": "forge", "header": "PRIVATE-TOKEN", "scheme": ""}')" \
			"$(rest echo /echo '{"credential": "forge"}')" "$(rest page /html '{"credential": "forge"}')"
		inside 'assert call("bearer")["status"] == 200
assert call("private")["status"] == 200
assert call("echo") == ["credential-in-output"]
assert call("page") == ["credential-in-output"]'
		assert_status 0
		[ "$(requests '[.headers.authorization, .headers["private-token"]]')" = '["Bearer s3cret/value-of=the-forge",null]
[null,"s3cret/value-of=the-forge"]
["Bearer s3cret/value-of=the-forge",null]
["Bearer s3cret/value-of=the-forge",null]' ]
		[ "$(records credential.use '[.d.name, .d.to, .d.tool]')" = "[\"forge\",\"localhost:${PORT[good]}\",\"bearer\"]
[\"forge\",\"localhost:${PORT[good]}\",\"private\"]
[\"forge\",\"localhost:${PORT[good]}\",\"echo\"]
[\"forge\",\"localhost:${PORT[good]}\",\"page\"]" ]
		run bash -c 'grep -rlF s3cret/value-of=the-forge "$CUSTODY_ROOT" "$CUSTODY_HOME" | sort -u'
		[[ $output == */credentials/forge.credential && ${#lines[@]} -eq 1 ]]
	done
}

@test "ISO-12: a credential of another host, with a line end, or of no name is not sent" {
	printf %s s3cret/value-of=the-forge | "$CUSTODY" credential add elsewhere --host api.example.org >/dev/null
	printf 's3cret-value\r\nX-Evil: 1' | "$CUSTODY" credential add lines --host localhost >/dev/null
	tools "$(rest other /text '{"credential": "elsewhere"}')" "$(rest lines /text '{"credential": "lines"}')"
	inside 'assert call("other") == ["credential"]
assert "no header can have" in error("lines"), error("lines")'
	assert_status 0
	tools "$(rest t /text '{"credential": "missing"}')"
	custody_run --profile "$PROFILE" -- touch ran
	[ "$status" -ne 0 ]
	[[ $stderr == *"tool 't' needs credential 'missing'"* ]]
	[ ! -e "$CUSTODY_HOME/work/ran" ]
	[ -z "$(requests)" ]
}

@test "ISO-9: without custody-rest, or with certificates that the command can change, the run is refused by name" {
	local libexec
	libexec=$CUSTODY_HOME/libexec
	cp -r "${CUSTODY%/bin/custody}/libexec/custody" "$libexec"
	rm "$libexec/custody-rest"
	tools "$(rest t /text)"
	CUSTODY_LIBEXEC=$libexec custody_run --profile "$PROFILE" -- touch ran
	[ "$status" -ne 0 ]
	[[ $stderr == *"tool 't' needs"*custody-rest*libcurl4-gnutls-dev* ]]
	[ ! -e "$CUSTODY_HOME/work/ran" ]
	cp "$FORGE/ca.crt" "$CUSTODY_HOME/work/ca.crt"
	tools "$(rest t /text "{\"ca\": \"$CUSTODY_HOME/work/ca.crt\"}")"
	custody_run --profile "$PROFILE" -- touch ran
	[ "$status" -ne 0 ]
	[[ $stderr == *"'$CUSTODY_HOME/work/ca.crt' is in"* ]]
	ln -s "$FORGE/ca.crt" "$CUSTODY_HOME/ca.crt"
	tools "$(rest t /text "{\"ca\": \"$CUSTODY_HOME/ca.crt\"}")"
	custody_run --profile "$PROFILE" -- touch ran
	[ "$status" -ne 0 ]
	[[ $stderr == *"has a link on the way: write '$FORGE/ca.crt'"* ]]
	[ ! -e "$CUSTODY_HOME/work/ran" ]
	[ -z "$(requests)" ]
}
