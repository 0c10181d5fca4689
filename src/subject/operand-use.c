/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "subject/operand-path.h"

static bool is_in(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

/* Name of a program without directory and version: "/usr/bin/python3.11" is "python". */
static void plain_name(const char *word, char name[32])
{
	const char *slash = strrchr(word, '/');
	size_t len;

	(void)snprintf(name, 32, "%s", slash ? slash + 1 : word);
	for (len = strlen(name); len > 1 && strchr("0123456789.-", name[len - 1]); len--)
		name[len - 1] = '\0';
}

/* Programs that run the program, or the first script, after them. */
static const char *const wrappers[] = { "busybox", "chrt",    "doas",	"env",	  "ionice", "nice",
					"nohup",   "setsid",  "sudo",	"stdbuf", "strace", "taskset",
					"time",	   "timeout", "toybox", "xargs",  NULL };
static const char *const interpreters[] = { "ash",   "bash",	"bun",	  "dash", "deno",    "expect",
					    "fish",  "guile",	"groovy", "java", "julia",   "ksh",
					    "lua",   "luajit",	"mksh",	  "node", "nodejs",  "perl",
					    "php",   "pypy",	"python", "ruby", "Rscript", "sh",
					    "tclsh", "escript", "zsh",	  NULL };
static const char *const code_options[] = { "-c", "-e", "-E", "-m", "-r", "--eval", "--command", NULL };

static const char *const shells[] = { "ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh", NULL };

/* The next word is code and not a script.  A shell's -e is an option, its -ec includes a -c. */
static bool is_code_option(const char *word, bool shell)
{
	if (!shell)
		return is_in(code_options, word);
	return strcmp(word, "--command") == 0 || (word[0] == '-' && word[1] != '-' && strchr(word, 'c'));
}

struct operand *operand_at(const struct subject *s, size_t arg)
{
	for (size_t i = 0; i < s->n_operands; i++)
		if (s->operands[i].arg == arg)
			return &s->operands[i];
	return NULL;
}

/* A word between a wrapper and its command: an option, NAME=value, or a number. */
static bool is_setting(const char *word)
{
	return word[0] == '-' || strchr(word, '=') || (word[0] >= '0' && word[0] <= '9');
}

/*
 * Which operands are executed, from the command line alone: argv[0], the command of a wrapper, an
 * interpreter's script.
 */
void operand_mark_programs(const struct subject *s)
{
	bool command = true, script = false, shell = false;
	char name[32];

	for (size_t i = 0; s->argv[i]; i++) {
		struct operand *o = operand_at(s, i);

		plain_name(s->argv[i], name);
		if (script && is_code_option(s->argv[i], shell))
			return;
		if (o && o->at == 0 && (command || script)) {
			if (i > 0)
				o->use = OPERAND_RUNS;
			if (!is_in(wrappers, name) && !is_in(interpreters, name))
				return;
		}
		if (!command)
			continue;
		if (is_in(interpreters, name)) {
			command = false;
			script = true;
			shell = is_in(shells, name);
		} else if (!is_in(wrappers, name) && (i == 0 || !is_setting(s->argv[i]))) {
			return;
		}
	}
}
