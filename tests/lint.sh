#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: mechanical checks of the text of the sources.  `make lint` calls it with the compiler's flags in
# LINT_CPPFLAGS; LINT_ONLY="banned shellcheck" runs a part.
# shellcheck disable=SC2317 # the checks are called by their names
cd "$SRCDIR" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
all='format words banned bats shellcheck cppcheck clang-tidy'
# shellcheck disable=SC2086 # a list of words
set -- ${LINT_ONLY:-$all}
echo "1..$#"
num=0 failed=0

c_files() {
	find src oci tests contrib -name '*.[ch]' | sort
}
shell_files() {
	find . \( -name .git -o -name 'build*' -o -name autom4te.cache \) -prune -o \
		\( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \) -print | sort
	# Scripts without a suffix are recognised by their first line.
	find contrib .ci -type f ! -name '*.*' | while read -r file; do
		head -n 1 "$file" | grep -qE '^#!.*sh( |$)' && printf './%s\n' "$file"
	done
}

# A call, why not, and what instead.  Comments and strings are cut out before looking.
banned_calls() {
	cat <<'END'
strtol|str_to_i64
strtoul|str_to_u64
strtoll|str_to_i64
strtoull|str_to_u64
atoi|str_to_i64
atol|str_to_i64
strcpy|strbuf, or memcpy with a checked length
strcat|strbuf
strncpy|memcpy with a checked length
strncat|strbuf
stpcpy|strbuf
sprintf|snprintf or strbuf_printf
vsprintf|vsnprintf
gets|fd_read_all
strtok|a loop with strcspn
system|fork and execve
popen|fork and execve
dup|fcntl(F_DUPFD_CLOEXEC, 3)
creat|openat with O_CLOEXEC
mktemp|O_TMPFILE, or O_EXCL with a random name
tmpnam|O_TMPFILE
tempnam|O_TMPFILE
basename|strrchr
dirname|strrchr
alloca|malloc with _cleanup_free_
rand|getrandom
random|getrandom
asctime|clock_format
ctime|clock_format
localtime|gmtime_r
gmtime|gmtime_r
readdir_r|readdir
END
}
strip_comments() { # keeps line numbers
	awk '{
		out = ""; line = $0
		while (line != "") {
			if (inside) {
				at = index(line, "*/")
				if (!at) { line = ""; break }
				line = substr(line, at + 2); inside = 0
			} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
				out = out substr(line, 1, RSTART - 1); tok = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				if (tok == "/*") inside = 1
				else if (tok == "//") line = ""
				else out = out "\"\""
			} else { out = out line; line = "" }
		}
		print out
	}' "$1"
}
lint_banned() {
	pattern=$(banned_calls | cut -d'|' -f1 | paste -sd'|')
	c_files | grep -E '^(src|oci)/' | while read -r file; do
		strip_comments "$file" | grep -nE "(^|[^A-Za-z0-9_.>])($pattern)[[:space:]]*\(" | while IFS=: read -r line text; do
			for call in $(printf '%s\n' "$text" | grep -oE "(^|[^A-Za-z0-9_.>])($pattern)[[:space:]]*\(" | grep -oE '[a-z0-9_]+'); do
				echo "$file:$line: $call() is banned; use $(banned_calls | sed -n "s/^$call|//p")"
			done
		done
	done >"$tmp/banned"
	cat "$tmp/banned"
	[ ! -s "$tmp/banned" ]
}
lint_format() {
	c_files | xargs clang-format --dry-run -Werror
}
lint_shellcheck() {
	shell_files | xargs shellcheck -x --severity=warning --exclude=SC2034,SC2119,SC2120,SC2154
}
lint_cppcheck() {
	# This cppcheck does not follow the cleanup attribute everywhere and stumbles over statement expressions.
	cppcheck -q --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -j 2 \
		--suppress=internalAstError --suppress=memleak --suppress=resourceLeak \
		--suppress=missingInclude --suppress=unknownMacro --suppress=normalCheckLevelMaxBranches \
		--suppress=checkersReport -DPACKAGE_NAME='"custody"' -DPACKAGE_VERSION='"0"' -D__linux__ -D__x86_64__ -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 \
		-Isrc -I. src oci
}
lint_clang_tidy() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	find src oci tests/fuzz -name '*.c' | sort |
		xargs -P 2 -n 4 sh -c 'clang-tidy --quiet "$@" -- -std=gnu11 $LINT_CPPFLAGS \
			-DPKGDATADIR=\"/\" -DPKGLIBEXECDIR=\"/\" -DBINDIR=\"/\" 2>/dev/null' lint
}
lint_words() {
	sh tests/check-words.sh
}
# Lines of a bats file that cannot fail.  `set -e` ignores a negated command: its status counts only as the last one of a
# function.  `|| return 0` in a test passes silently where it should skip.
unfailing() {
	awk '
		function report(line, what) { printf "%s:%d: %s\n", FILENAME, line, what; found = 1 }
		FNR == 1 { test = function_ = negated = 0 }
		/^@test / { test = function_ = 1 }
		/^[a-z_0-9]+\(\) \{/ { function_ = 1 }
		/^[\t ]*(#.*)?$/ { next }
		negated && !/^\t*}/ { report(negated, "set -e ignores this: if CMD; then custody_fail ...; fi, or ! CMD || custody_fail ...") }
		{ negated = 0 }
		/^}/ { test = function_ = 0 }
		function_ && /^\t+! [^-]/ && !/\|\||&&|\\$|; (then|do)$/ { negated = FNR }
		test && /\|\| return 0/ { report(FNR, "passes without a check: skip_without, or an if around the rest") }
		END { exit found }' "$@"
}
lint_bats() {
	# The check itself: two wrong lines are found, three right ones are not.
	printf '@test "x" {\n\t! wrong\n\ttrue || return 0\n}\nf() {\n\t! g || h\n\t! last\n}\nf() {\n\ttrue || return 0\n}\n' >"$tmp/sample"
	if unfailing "$tmp/sample" >"$tmp/found" || [ "$(cut -d: -f2 "$tmp/found" | paste -sd' ')" != '2 3' ]; then
		echo 'the check of bats files does not work:'
		cat "$tmp/found"
		return 1
	fi
	unfailing tests/integration/*.bats tests/conformance/*.bats tests/lib/*.bash tests/integration/*.bash tests/conformance/*.bash
}
tool_of() {
	case $1 in format) echo clang-format ;; banned | words | bats) echo awk ;; *) echo "$1" ;; esac
}
for check; do
	num=$((num + 1))
	tool=$(tool_of "$check")
	if ! command -v "$tool" >/dev/null; then
		echo "# $tool is not installed: apt-get install $tool"
		ok='not ok'
	elif "lint_$(echo "$check" | tr - _)" >"$tmp/out" 2>&1; then
		ok=ok
	else
		ok='not ok'
		sed 's/^/# /' "$tmp/out"
	fi
	[ "$ok" = ok ] || failed=$((failed + 1))
	echo "$ok $num - lint: $check"
done
exit "$((failed > 0))"
