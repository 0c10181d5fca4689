/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
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

/* Programs that run the program, or the first script, after them, and their options with a value. */
static const struct wrapper {
	const char *name, *options;
} wrappers[] = {
	{ "busybox", "" },	   { "chrt", "TPDp" },
	{ "doas", "uC" },	   { "env", "uCS" },
	{ "ionice", "cnpPu" },	   { "nice", "n" },
	{ "nohup", "" },	   { "setsid", "" },
	{ "stdbuf", "ioe" },	   { "strace", "oeEpsaSuPIObX" },
	{ "sudo", "ugpChrtTUDR" }, { "taskset", "" },
	{ "time", "fo" },	   { "timeout", "ks" },
	{ "toybox", "" },	   { "xargs", "aEILnPsd" },
};
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

const struct operand *operand_of(const struct subject *s, size_t arg, bool searched)
{
	for (size_t i = 0; i < s->n_operands; i++)
		if (s->operands[i].arg == arg && s->operands[i].searched == searched)
			return &s->operands[i];
	return NULL;
}

/* A word between a wrapper and its command: an option, NAME=value, or a number. */
static bool is_setting(const char *word)
{
	return word[0] == '-' || strchr(word, '=') || (word[0] >= '0' && word[0] <= '9');
}

static const struct wrapper *find_wrapper(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		if (strcmp(wrappers[i].name, name) == 0)
			return &wrappers[i];
	return NULL;
}

struct operand_reader operand_reader_new(const struct subject *s)
{
	struct operand_reader r = { .role = OPERAND_ROLE_COMMAND, .options = "", .path = "" };

	for (size_t i = 0; s->env && s->env[i]; i++)
		if (str_starts(s->env[i], "PATH="))
			r.path = s->env[i] + strlen("PATH=");
	return r;
}

enum operand_role operand_reader_role(struct operand_reader *r, const char *word)
{
	if (r->role == OPERAND_ROLE_SCRIPT && is_code_option(word, r->shell))
		r->role = OPERAND_ROLE_DATA;
	return r->value ? OPERAND_ROLE_DATA : r->role;
}

/* An option, an assignment of env or a number; the last letter of an option may have its value in the next word. */
static void pass_setting(struct operand_reader *r, const char *word)
{
	size_t len = strlen(word);

	if (r->env && str_starts(word, "PATH="))
		r->path = word + strlen("PATH=");
	if (r->env &&
	    (strcmp(word, "-") == 0 || strcmp(word, "-i") == 0 || strcmp(word, "--ignore-environment") == 0))
		r->path = "";
	r->value = len > 1 && word[0] == '-' && word[1] != '-' && strchr(r->options, word[len - 1]);
}

void operand_reader_pass(struct operand_reader *r, const char *word, bool first, bool found)
{
	const struct wrapper *wrapper;
	char name[32];

	if (r->value || r->role == OPERAND_ROLE_DATA) {
		r->value = false;
		return;
	}
	plain_name(word, name);
	wrapper = find_wrapper(name);
	if (found && !wrapper && !is_in(interpreters, name)) {
		r->role = OPERAND_ROLE_DATA;
		return;
	}
	if (r->role == OPERAND_ROLE_SCRIPT)
		return;
	if (is_in(interpreters, name)) {
		r->role = OPERAND_ROLE_SCRIPT;
		r->shell = is_in(shells, name);
	} else if (wrapper) {
		r->options = wrapper->options;
		r->env = strcmp(name, "env") == 0;
	} else if (!first && is_setting(word)) {
		pass_setting(r, word);
	} else {
		r->role = OPERAND_ROLE_DATA;
	}
}
