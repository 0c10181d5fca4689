#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command table: help, manual pages and completions are generated from it and agree; all commands parse alike.

load ../lib/suite.bash

MAN=$BATS_TEST_DIRNAME/../../docs/man

setup() {
	custody_setup
	export LC_ALL=C
	"$CUSTODY" help --json >"$CUSTODY_HOME/table"
}
teardown() { custody_teardown; }

# commands: every command that can be called, a line each: "run", "evidence show".
commands() {
	jq -r '.commands[] | .name as $n | if .commands then .commands[] | $n + " " + .name else $n end' "$CUSTODY_HOME/table"
}

# rows FILTER: "COMMAND<tab>VALUE" for every row of the table that FILTER makes of a command.
rows() {
	jq -r '.commands[] | .name as $n | if .commands then .commands[] | .name = $n + " " + .name else . end
		| .name as $c | ('"$1"') | $c + "\t" + tostring' "$CUSTODY_HOME/table"
}

# options: every option that stdin names, a line each.
options() {
	grep -oE '(^|[^a-zA-Z0-9-])--?[a-zA-Z][a-z0-9-]*' | grep -oE -e '--?[a-zA-Z][a-z0-9-]*$' | sort -u
}

# call COMMAND [ARGUMENT...]: COMMAND may be two words.
call() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # words
	run --separate-stderr "$CUSTODY" $name "$@"
}

@test "help: every command answers --help and -h as 'custody help' does, and does nothing else" {
	local name n=0
	rm -rf "$CUSTODY_ROOT" && mkdir "$CUSTODY_ROOT"
	while read -r name; do
		# shellcheck disable=SC2086 # words
		run -0 --separate-stderr "$CUSTODY" help $name
		[[ $output == "usage: custody $name"* ]]
		[ -z "$stderr" ]
		local help=$output option
		for option in --help -h; do
			call "$name" $option
			assert_status 0
			[ "$output" = "$help" ]
			[ -z "$stderr" ]
		done
		n=$((n + 1))
	done < <(commands && jq -r '.commands[] | select(.commands) | .name' "$CUSTODY_HOME/table")
	[ "$n" -ge 50 ]
	[ -z "$(ls -A "$CUSTODY_ROOT")" ]
}

@test "help: an unknown command is a mistake, and the nearest is named" {
	run -64 --separate-stderr "$CUSTODY" help aprove
	assert_stderr_has "did you mean 'custody approve'?"
	run -64 --separate-stderr "$CUSTODY" evidence shwo
	assert_stderr_has "did you mean 'custody evidence show'?"
	run -64 --separate-stderr "$CUSTODY" help evidence shwo
	assert_stderr_has "did you mean 'custody evidence show'?"
	run -64 --separate-stderr "$CUSTODY" help run x
}

@test "help: help, manual page and completions have every option of every command" {
	local name option letter missing="" n=0 shell
	for shell in bash zsh fish; do
		"$CUSTODY" completion $shell >"$CUSTODY_HOME/$shell"
	done
	mkdir "$CUSTODY_HOME/man"
	bash "$MAN/sections.sh" "$CUSTODY" "$CUSTODY_HOME/man"
	while IFS=$'\t' read -r name option; do
		letter=${option##*,} option=${option%,*} n=$((n + 1))
		# shellcheck disable=SC2086 # words
		"$CUSTODY" help $name | grep -qE -- "^ +${letter:+-$letter, }--$option( |\[|\$)" || missing+=" help $name --$option;"
		sed -n "/^### custody $name\$/,/^##* /p" "$CUSTODY_HOME"/man/*.md | grep -qF -- "${letter:+**-$letter**, }**--$option**" || missing+=" man $name --$option;"
		grep -A1 "^	'$name')" "$CUSTODY_HOME/bash" | grep -qE -- "[ ']--$option ${letter:+-$letter }" || missing+=" bash $name --$option;"
		sed -n "/^_custody_${name/ /_}() {/,/^}/p" "$CUSTODY_HOME/zsh" | grep -qE -- "'\*?--$option(=-?)?\[" || missing+=" zsh $name --$option;"
		grep -qF -- "__custody_at '$name'\" -l $option${letter:+ -s $letter}" "$CUSTODY_HOME/fish" || missing+=" fish $name --$option;"
	done < <(rows '.options[] | select(.listed) | .name + "," + (.letter // "")')
	echo "missing:$missing"
	[ -z "$missing" ]
	[ "$n" -ge 150 ]
}

@test "help: the generated sections of the manual pages are those of the table; every command has a page" {
	local name page
	mkdir "$CUSTODY_HOME/man"
	bash "$MAN/sections.sh" "$CUSTODY" "$CUSTODY_HOME/man"
	for page in "$CUSTODY_HOME"/man/*.md; do
		diff -u "$MAN/${page##*/}" "$page" || custody_fail "${page##*/} is outdated: make man-sections"
	done
	for name in $(jq -r '.commands[].name' "$CUSTODY_HOME/table"); do
		grep -lE "^<!-- generated: synopsis (.* )?$name( .*)? -->" "$MAN"/*.1.md
		grep -lE "^<!-- generated: options (.* )?$name( .*)? -->" "$MAN"/*.1.md
		grep -lE "^custody.*\b$name\b.* - " "$MAN"/*.1.md
	done
}

@test "options: --lane=X and --lane X are the same for every command" {
	local name n=0 first status1
	"$CUSTODY" ledger init >/dev/null
	while IFS=$'\t' read -r name _; do
		call "$name" --lane=nowhere a b
		first=$stderr status1=$status
		call "$name" --lane nowhere a b
		[ "$stderr" = "$first" ] && [ "$status" = "$status1" ] || custody_fail "$name: '$first' ($status1), '$stderr' ($status)"
		[ "$status" -ne 0 ]
		call "$name" --lane
		assert_stderr_has "--lane needs a value: LANE"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		n=$((n + 1))
	done < <(rows '.options[] | select(.name == "lane" and .listed) | .name')
	[ "$n" -ge 35 ]
}

@test "options: behind -- there are no options, for every command" {
	local name max expected
	while IFS=$'\t' read -r name max; do
		IFS=, read -r max expected <<<"$max"
		# One argument more than it takes, each of which looks like an option.
		# shellcheck disable=SC2046 # words
		call "$name" -- $(printf -- '--json %.0s' $(seq 0 "$max"))
		assert_status "$expected"
		assert_stderr_has "unexpected argument '--json'; usage: custody $name"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done < <(rows 'select(.max_args != null) | "\(.max_args),\(.usage_status)"')
	run -0 "$CUSTODY" run -q -- echo -- --json
	[ "$output" = '-- --json' ]
}

@test "options: an unknown option names the nearest and the help, with the status of the command" {
	local name option expected
	while IFS=$'\t' read -r name option; do
		IFS=, read -r option expected <<<"$option"
		# A letter too many at the end.
		call "$name" "--${option}q"
		assert_status "$expected"
		[[ $stderr == "custody $name: unknown option '--${option}q'; did you mean '--"*"'? (see: custody help $name)" ]] || custody_fail "$stderr"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		call "$name" -Z
		assert_status "$expected"
		[ "$stderr" = "custody $name: unknown option '-Z' (see: custody help $name)" ]
		call "$name" "--no-such-option-at-all"
		assert_status "$expected"
		assert_stderr_has "(see: custody help $name)"
	done < <(rows '.usage_status as $s | [.options[] | select(.listed) | .name][0] | select(.) | "\(.),\($s)"')
}

@test "options: too few and too many arguments give the usage in one line" {
	local name min expected
	while IFS=$'\t' read -r name min; do
		IFS=, read -r min expected <<<"$min"
		[ "$name" != bundle ] || continue # it misses its -o first
		call "$name"
		assert_status "$expected"
		assert_stderr_has "custody $name: missing argument; usage: custody $name"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done < <(rows 'select(.min_args > 0) | "\(.min_args),\(.usage_status)"')
}

@test "options: Docker's spellings work, or one line names what to use instead" {
	run -0 --separate-stderr "$CUSTODY" run -i --rm --init -- echo ok
	[ "$output" = ok ]
	run -0 "$CUSTODY" run -it --rm -- sh -c 'test -t 0 && echo terminal'
	[[ $output == *terminal* ]]
	printf 'A=1\n# no\nB=2\n' >vars
	run -0 "$CUSTODY" run -q --env-file vars --env B=3 -- sh -c 'echo $A$B'
	[ "$output" = 13 ]
	local options text
	while IFS=: read -r options text; do
		# shellcheck disable=SC2086 # words
		run -125 --separate-stderr "$CUSTODY" run $options -- touch ran
		assert_stderr_has "$text"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done <<-'END'
		-p 8080=80:profile
		--publish 80:--network host
		--entrypoint sh:custody run -- PROGRAM
		--user 1000:process.user
		-u 1000:process.user
		--gpus all:devices
		--privileged:dangerous
		--cap-add NET_ADMIN:capabilities
		--mount type=bind:--volume
		--platform linux/arm64:no images
		--pull always:no images
		--restart always:systemd
		--read-only:read-only already
	END
	run -125 --separate-stderr "$CUSTODY" run -p 8080:80 -- touch ran
	[ "$stderr" = "custody run: -p is --profile; '8080:80' looks like a port, and ports are not published: use --network host" ]
	[ ! -e ran ]
}

# complete_bash WORD...: candidates for the last word, a line each.
complete_bash() {
	# shellcheck disable=SC2016 # expanded there
	bash --norc -c 'set -u; source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_custody && [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' - "$CUSTODY_HOME/bash" "$@" | sort
}

@test "completion: bash completes commands, options and values" {
	"$CUSTODY" completion bash >"$CUSTODY_HOME/bash"
	bash -n "$CUSTODY_HOME/bash"
	[ "$(complete_bash "$CUSTODY" ev)" = evidence ]
	[ "$(complete_bash "$CUSTODY" '' | wc -l)" -ge 28 ]
	[ "$(complete_bash "$CUSTODY" evidence re)" = restore ]
	[ "$(complete_bash "$CUSTODY" evidence rm --fo)" = --force ]
	[ "$(complete_bash "$CUSTODY" run --net)" = --network ]
	[ "$(complete_bash "$CUSTODY" run --network '')" = $'host\nnone' ]
	[ "$(complete_bash "$CUSTODY" run --network = h)" = host ]
	[ "$(complete_bash "$CUSTODY" run -q --network =)" = $'host\nnone' ]
	[ "$(complete_bash "$CUSTODY" run --lane p)" = prod ]
	[ "$(complete_bash "$CUSTODY" run -qp off)" = offline ]
	[ "$(complete_bash "$CUSTODY" completion '')" = $'bash\nfish\nzsh' ]
	[ "$(complete_bash "$CUSTODY" help evi)" = evidence ]
	[ "$(complete_bash "$CUSTODY" help evidence res)" = restore ]
	[ "$(complete_bash "$CUSTODY" doctor --engine pod)" = podman ]
	# The options of a payload are its own.
	[ -z "$(complete_bash "$CUSTODY" run ls --net)" ]
	[ -z "$(complete_bash "$CUSTODY" run -- ls --net)" ]
	touch result.json
	[ "$(complete_bash "$CUSTODY" run --result res)" = result.json ]
	[ "$(complete_bash "$CUSTODY" run -v resu)" = result.json ]
	[ -z "$(complete_bash "$CUSTODY" nonsense '')" ]
}

@test "completion: sessions are completed, and a name that a shell would run is not offered" {
	local id
	"$CUSTODY" completion bash >"$CUSTODY_HOME/bash"
	"$CUSTODY" run -q --name nightly -- true
	# shellcheck disable=SC2016 # it must not be expanded
	"$CUSTODY" run -q --name '$(touch pwned)' -- true
	# shellcheck disable=SC2016 # it must not be expanded
	"$CUSTODY" run -q --name 'a`touch pwned`b' -- true
	[ "$(complete_bash "$CUSTODY" show ni)" = nightly ]
	# `last`, and of each its id and its digits.
	[ "$(complete_bash "$CUSTODY" show '' | wc -l)" -eq 8 ]
	id=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	[ "$(complete_bash "$CUSTODY" logs "${id%??}")" = "$id" ]
	[ "$(complete_bash "$CUSTODY" logs "${id: -8}")" = "${id: -8}" ]
	[ "$(complete_bash "$CUSTODY" show las)" = last ]
	[ "$(complete_bash "$CUSTODY" ledger show --session "${id%??}")" = "$id" ]
	[ -z "$(complete_bash "$CUSTODY" show --lane prod '')" ]
	[ ! -e pwned ]
}

@test "completion: diff, apply and discard offer sessions with changes, stop offers running ones" {
	local id verb
	"$CUSTODY" completion bash >"$CUSTODY_HOME/bash"
	"$CUSTODY" run -q -- true
	for verb in diff apply discard stop; do
		[ -z "$(complete_bash "$CUSTODY" $verb '')" ]
	done
	"$CUSTODY" run -q --name changed -- touch new
	id=$("$CUSTODY" sessions --json | jq -r '.sessions[0].session')
	for verb in diff apply discard; do
		[ "$(complete_bash "$CUSTODY" $verb '')" = "$(printf '%s\n' last "$id" "${id: -8}" changed | sort)" ]
	done
	[ -z "$(complete_bash "$CUSTODY" stop '')" ]
	id=$("$CUSTODY" run -d -- sleep 1000)
	[ "$(complete_bash "$CUSTODY" stop '')" = "$(printf '%s\n' last "$id" "${id: -8}" | sort)" ]
	"$CUSTODY" stop --time 0 "$id"
}

@test "completion: without any state nothing is printed and nothing is created" {
	local kind
	rm -rf "$CUSTODY_ROOT"
	for kind in session session-id kept running request grant approver evidence sandbox nonsense; do
		run -0 --separate-stderr "$CUSTODY" completion --values $kind
		[ -z "$output" ] && [ -z "$stderr" ]
	done
	run -0 --separate-stderr "$CUSTODY" completion --values profile
	[[ $output == *offline* ]] && [ -z "$stderr" ]
	[ ! -e "$CUSTODY_ROOT" ]
	CUSTODY_ROOT=/proc/none run -0 --separate-stderr "$CUSTODY" completion --values session
	[ -z "$output" ] && [ -z "$stderr" ]
	mkdir "$CUSTODY_ROOT"
}

# complete_zsh LINE WORD...: zsh in a pseudo terminal completes each LINE to one that ends with WORD.
complete_zsh() {
	local -a pairs=("$@")
	# shellcheck disable=SC2016 # expanded there
	PATH=${CUSTODY%/*}:$PATH timeout 120 zsh -f -c 'zmodload zsh/zpty
		expect() { local all= part; repeat 200; do while zpty -r -t z part; do all+=$part; done; [[ $all == *$1* ]] && return 0; sleep 0.1; done; print -r "no $1 in: $all"; return 1 }
		zpty z zsh -f -i
		zpty -w z "PS1=; unsetopt beep zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -D -u; source $1; print re\"\"ady"
		expect ready || exit 1
		shift
		for line word in "$@"; do
			zpty -n -w z "$line$(print -n "\t")"
			expect "$word" || exit 1
			zpty -n -w z "$(print -n "\x15")"
		done' - "$CUSTODY_HOME/_custody" "${pairs[@]}" </dev/null
}

@test "completion: zsh and fish read their scripts and complete" {
	"$CUSTODY" completion zsh >"$CUSTODY_HOME/_custody"
	"$CUSTODY" completion fish >"$CUSTODY_HOME/custody.fish"
	if command -v zsh >/dev/null; then
		zsh -n "$CUSTODY_HOME/_custody"
		complete_zsh 'custody evid' evidence 'custody evidence res' restore 'custody run --network=h' host 'custody run -p off' offline \
			'custody stop --lane p' prod
		# shellcheck disable=SC2016 # expanded there
		zsh -f -c 'autoload -U compinit && compinit -D -u && source "$1" && (( $+functions[_custody_evidence_restore] )) && [[ ${_comps[custody]} == _custody ]]' - "$CUSTODY_HOME/_custody"
	fi
	if command -v fish >/dev/null; then
		fish -n "$CUSTODY_HOME/custody.fish"
		run -0 env PATH="${CUSTODY%/*}:$PATH" fish --no-config -c 'source $argv[1]; complete -C "custody evidence res"; complete -C "custody run --network "; complete -C "custody run --lane="; complete -C "custody stop --ti"' "$CUSTODY_HOME/custody.fish"
		[[ $output == *restore* && $output == *host* && $output == *prod* && $output == *--time* ]]
	fi
	run -64 --separate-stderr "$CUSTODY" completion tcsh
	assert_stderr_has "unknown shell 'tcsh'"
}

@test "completion: the scripts are installed where shells look for them" {
	local share=${CUSTODY%/*}/../share
	diff <("$CUSTODY" completion bash) "$share/bash-completion/completions/custody"
	diff <("$CUSTODY" completion zsh) "$share/zsh/site-functions/_custody"
	diff <("$CUSTODY" completion fish) "$share/fish/vendor_completions.d/custody.fish"
}

@test "help: every option of custody-runtime stands in its manual, and every one of the manual is known" {
	local rt=${CUSTODY%/*}/custody-runtime verb known
	known=$({ "$rt" help && for verb in $("$rt" help | awk '/^  [a-z]/ { print $1 }'); do "$rt" help "$verb"; done; } |
		sed -nE 's/^ +(-[a-zA-Z] )? *(--[a-z-]+).*/\1 \2/p' | options)
	[ "$(wc -l <<<"$known")" -ge 50 ]
	diff <(echo "$known") <(sed -n '/^## OPTIONS OF/,/^## GOVERNED/p' "$MAN/custody-runtime.8.md" | options)
}

# examples: lines of README.md and of the manual's pages that begin with custody, without the command that is run.
examples() {
	cat "$MAN"/../../README.md "$MAN"/*.1.md | sed -nE 's/^    (\$ |[a-z]+\$ +|CUSTODY_ALLOW_PROD=1 )?(custody [a-z].*)/\2/p' |
		sed 's/[#|;].*//; s/ -- .*//; s/[>"`].*//'
}

@test "help: every command and option of an example in README.md and in the manual exists" {
	local line name option n=0 unknown=""
	while read -r line; do
		name=$(cut -d' ' -f2 <<<"$line")
		commands | grep -qxF -e "$name" || name=$(cut -d' ' -f2-3 <<<"$line")
		commands | grep -qxF -e "$name" || { unknown+=" custody $name;" && continue; }
		for option in $(options <<<"$line"); do
			# shellcheck disable=SC2086 # words
			"$CUSTODY" help $name | options | grep -qxF -e "$option" || unknown+=" $name $option;"
		done
		n=$((n + 1))
	done < <(examples)
	echo "unknown:$unknown"
	[ -z "$unknown" ]
	[ "$n" -ge 60 ]
}

@test "help: recover takes no option of run: nothing is recovered by mistake" {
	local option
	for option in --dry-run --json --yes; do
		run -64 --separate-stderr "$CUSTODY" recover $option
		assert_stderr_has "unknown option '$option'"
		[ -z "$output" ]
	done
	[ ! -e "$CUSTODY_ROOT/sandbox/ledger" ]
}

@test "help: ps, ls, kill and rm are sessions, stop and discard; list is ls" {
	custody_run --name first -- sh -c 'echo x >new'
	assert_status 0
	id=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	for word in ps ls; do
		[ "$("$CUSTODY" "$word" --all --json)" = "$("$CUSTODY" sessions --all --json)" ]
	done
	run --separate-stderr "$CUSTODY" kill "$id"
	[ "$output$stderr" = "$("$CUSTODY" stop "$id" 2>&1)" ] || custody_fail "$output$stderr"
	run --separate-stderr "$CUSTODY" rm "$id"
	assert_status 0
	[ "$("$CUSTODY" diff "$id" 2>&1)" != "" ]
	run "$CUSTODY" diff "$id"
	[ "$status" -ne 0 ]
	[ "$("$CUSTODY" profile list)" = "$("$CUSTODY" profile ls)" ]
	[ "$("$CUSTODY" help ps)" = "$("$CUSTODY" help sessions)" ]
}

@test "help: commands of docker without one of ours are answered by name, and nothing starts" {
	for word in inspect attach start restart create images pull build cp; do
		run --separate-stderr "$CUSTODY" "$word" x
		assert_status 64
		assert_stderr_has "unknown command '$word'"
		[[ $stderr == *"use 'custody "* || $stderr == *"custody has no images"* ]] || custody_fail "$stderr"
	done
	[ -z "$("$CUSTODY" sessions --all --json | jq -r '.sessions[]')" ]
}

@test "help: habits of docker run that change nothing are accepted" {
	custody_run -i --rm --init -- echo fine
	assert_status 0
	[ "$output" = fine ]
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" run -it --rm -- sh -c 'test -t 0 && echo TTY'
	assert_status 0
	assert_output_has TTY
}
