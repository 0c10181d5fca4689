/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cli/command-help.h"
#include "cli/completion.h"

/*
 * The script has one case per command that sets: options (what can be typed), values (options with a value, as
 * NAME=KIND), first and more (kinds of the arguments), subs (sub-commands).  A KIND "a|b" is a list of words.
 */
static const char walker[] =
	"_custody_values() { # KIND PREFIX WORD\n"
	"	local words\n"
	"	case $1 in\n"
	"	'') return ;;\n"
	"	*\\|*) words=${1//|/ } ;;\n"
	"	file | program)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		[[ $3 == *:* ]] || mapfile -t COMPREPLY < <(compgen -P \"$2\" -f -- \"$3\")\n"
	"		[[ $1 == file || $3 == */* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
	"<(compgen -c -- \"$3\")\n"
	"		return ;;\n"
	"	directory)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		mapfile -t COMPREPLY < <(compgen -P \"$2\" -d -- \"$3\")\n"
	"		return ;;\n"
	"	topic)\n"
	"		_custody_table \"$topic\" || return\n"
	"		words=$subs ;;\n"
	"	*) words=$(\"${COMP_WORDS[0]}\" completion --values \"$1\" ${lane:+--lane \"$lane\"} "
	"2>/dev/null) ;;\n"
	"	esac\n"
	"	mapfile -t COMPREPLY < <(compgen -P \"$2\" -W \"$words\" -- \"$3\")\n"
	"}\n"
	"\n"
	"_custody_kind() { # OPTION: sets kind; false if it takes no value\n"
	"	local entry\n"
	"	for entry in $values; do\n"
	"		kind=${entry#*=}\n"
	"		[[ ${entry%%=*} != \"$1\" ]] || return 0\n"
	"	done\n"
	"	kind=\n"
	"	return 1\n"
	"}\n"
	"\n"
	"_custody() {\n"
	"	local -a typed=()\n"
	"	local i j word cur prefix= command= topic= lane= ended= waiting= args=0 kind= option=\n"
	"	local options= values= first= more= subs= options_first=\n"
	"	COMPREPLY=()\n"
	"	# Readline splits words at '=' and ':': join them again.\n"
	"	for ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		if [[ ${#typed[@]} -gt 0 && ($word == [=:] || ${COMP_WORDS[i - 1]} == [=:]) ]]; "
	"then\n"
	"			typed[${#typed[@]} - 1]+=$word\n"
	"		else\n"
	"			typed+=(\"$word\")\n"
	"		fi\n"
	"	done\n"
	"	_custody_table ''\n"
	"	for ((i = 0; i < ${#typed[@]} - 1; i++)); do\n"
	"		word=${typed[i]}\n"
	"		if [[ -n $waiting ]]; then\n"
	"			[[ $option != --lane ]] || lane=$word\n"
	"			waiting=\n"
	"		elif [[ -n $ended || $word != -?* ]]; then\n"
	"			if [[ -n $subs ]]; then\n"
	"				command+=${command:+ }$word\n"
	"				_custody_table \"$command\" || return\n"
	"			else\n"
	"				args=$((args + 1)) ended=${ended:-$options_first} topic+=${topic:+ "
	"}$word\n"
	"			fi\n"
	"		elif [[ $word == -- ]]; then\n"
	"			ended=1\n"
	"		elif [[ $word == --*=* ]]; then\n"
	"			[[ $word != --lane=* ]] || lane=${word#*=}\n"
	"		elif [[ $word == --* ]]; then\n"
	"			option=$word\n"
	"			! _custody_kind \"$word\" || waiting=1\n"
	"		else\n"
	"			for ((j = 1; j < ${#word}; j++)); do\n"
	"				option=-${word:j:1}\n"
	"				if _custody_kind \"$option\"; then\n"
	"					[[ $((j + 1)) -lt ${#word} ]] || waiting=1\n"
	"					break\n"
	"				fi\n"
	"			done\n"
	"		fi\n"
	"	done\n"
	"	cur=${typed[${#typed[@]} - 1]}\n"
	"	if [[ -n $waiting ]]; then\n"
	"		_custody_kind \"$option\"\n"
	"		_custody_values \"$kind\" '' \"$cur\"\n"
	"	elif [[ -z $ended && $cur == --*=* ]]; then\n"
	"		[[ $COMP_WORDBREAKS == *=* ]] || prefix=${cur%%=*}=\n"
	"		_custody_kind \"${cur%%=*}\" && _custody_values \"$kind\" \"$prefix\" \"${cur#*=}\"\n"
	"	elif [[ -n $subs ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$subs --help\" -- \"$cur\")\n"
	"	elif [[ -z $ended && $cur == -* ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
	"	elif [[ $args -eq 0 ]]; then\n"
	"		_custody_values \"$first\" '' \"$cur\"\n"
	"	else\n"
	"		_custody_values \"$more\" '' \"$cur\"\n"
	"	fi\n"
	"}\n"
	"complete -F _custody custody\n";

static const char *kind_of(unsigned int candidates, const char *words)
{
	const char *name = command_candidates_name(candidates);

	return candidates == CANDIDATES_WORDS ? words : name ? name : "";
}

static void print_options(const struct option *table, FILE *out)
{
	for (const struct option *o = table; o->name; o++) {
		if (!option_is_listed(o))
			continue;
		fprintf(out, "--%s ", o->name);
		if (o->letter)
			fprintf(out, "-%c ", o->letter);
	}
	fprintf(out, "--help -h");
}

static void print_values(const struct option *table, FILE *out)
{
	const char *blank = "";

	for (const struct option *o = table; o->name; o++) {
		/* A value that is optional stands behind '=' only: the next word is no value. */
		if (!option_is_listed(o) || !option_takes_value(o) || (o->flags & OPTION_OPTIONAL_VALUE))
			continue;
		fprintf(out, "%s--%s=%s", blank, o->name, kind_of(o->candidates, o->value));
		if (o->letter)
			fprintf(out, " -%c=%s", o->letter, kind_of(o->candidates, o->value));
		blank = " ";
	}
}

static void print_names(const struct command *table, FILE *out)
{
	for (const struct command *c = table; c->name; c++)
		fprintf(out, "%s%s", c == table ? "" : " ", c->name);
}

static void print_command(const struct command *group, const struct command *c, FILE *out)
{
	fprintf(out, "	'%s%s%s')\n		options='", group ? group->name : "", group ? " " : "",
		c->name);
	print_options(c->options, out);
	fprintf(out, "'\n		values='");
	print_values(c->options, out);
	fprintf(out, "'\n		first='%s' more='%s' options_first='%s' subs='",
		kind_of(c->first, c->args),
		kind_of(c->first == CANDIDATES_PROGRAM ? CANDIDATES_FILE : c->more, c->args),
		c->flags & COMMAND_OPTIONS_FIRST ? "1" : "");
	if (c->subs)
		print_names(c->subs, out);
	fprintf(out, "'\n		;;\n");
	for (const struct command *s = c->subs; s && s->name; s++)
		print_command(c, s, out);
}

void completion_print_bash(const struct command *table, FILE *out)
{
	fprintf(out, "# bash completion of custody; generated by: custody completion bash\n"
		     "# shellcheck shell=bash disable=SC1007,SC2034\n\n"
		     "_custody_table() { # COMMAND: false if it is unknown\n"
		     "	case $1 in\n"
		     "	'')\n"
		     "		options='--help -h --version' values='' first='' more='' options_first='' "
		     "subs='");
	print_names(table, out);
	fprintf(out, "'\n		;;\n");
	for (const struct command *c = table; c->name; c++)
		print_command(NULL, c, out);
	fprintf(out, "	*) return 1 ;;\n	esac\n}\n\n%s", walker);
}
