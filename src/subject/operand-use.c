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
/* Programs that run the first script after them; letters of options with a value, and of those whose value is code. */
static const struct interpreter {
	const char *name, *options, *code;
} interpreters[] = {
	{ "ash", "oO", "c" },	 { "bash", "oO", "c" },	    { "bun", "", "e" },	     { "dash", "oO", "c" },
	{ "deno", "", "e" },	 { "escript", "", "" },	    { "expect", "", "c" },   { "fish", "", "c" },
	{ "groovy", "", "e" },	 { "guile", "L", "c" },	    { "java", "", "" },	     { "julia", "", "eE" },
	{ "ksh", "oO", "c" },	 { "lua", "l", "e" },	    { "luajit", "l", "e" },  { "mksh", "oO", "c" },
	{ "node", "", "epr" },	 { "nodejs", "", "epr" },   { "perl", "I", "eE" },   { "php", "dcz", "r" },
	{ "pypy", "WXQ", "cm" }, { "python", "WXQ", "cm" }, { "ruby", "ICEr", "e" }, { "Rscript", "", "e" },
	{ "sh", "oO", "c" },	 { "tclsh", "", "" },	    { "zsh", "oO", "c" },
};

static const char *const shells[] = { "ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh", NULL };

/* Long options of wrappers and interpreters with their value in the next word, unless it follows a '='. */
static const char *const long_options[] = { "--unset",	   "--chdir",	   "--signal",	  "--kill-after",
					    "--input",	   "--output",	   "--error",	  "--class",
					    "--classdata", "--adjustment", "--user",	  "--group",
					    "--arg-file",  "--delimiter",  "--max-args",  "--max-procs",
					    "--max-chars", "--rcfile",	   "--init-file", NULL };

/* The next word is code and not a script.  A shell's -ec includes a -c; perl's -pe ends with -e. */
static bool is_code_option(const struct operand_reader *r, const char *word)
{
	size_t len = strlen(word);

	if (strcmp(word, "--command") == 0 || strcmp(word, "--eval") == 0)
		return true;
	if (len < 2 || word[0] != '-' || word[1] == '-' || !*r->code)
		return false;
	if (r->shell)
		return strchr(word, 'c') != NULL;
	return strspn(word + 1, "abcdefghijklmnopqrstuvwxyzEI0123456789") == len - 1 &&
	       strchr(r->code, word[len - 1]);
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

static const struct interpreter *find_interpreter(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (strcmp(interpreters[i].name, name) == 0)
			return &interpreters[i];
	return NULL;
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
	struct operand_reader r = { .role = OPERAND_ROLE_COMMAND, .options = "", .code = "", .path = "" };

	for (size_t i = 0; s->env && s->env[i]; i++)
		if (str_starts(s->env[i], "PATH="))
			r.path = s->env[i] + strlen("PATH=");
	return r;
}

enum operand_role operand_reader_role(struct operand_reader *r, const char *word)
{
	if (r->role == OPERAND_ROLE_SCRIPT && !r->value && is_code_option(r, word))
		r->role = OPERAND_ROLE_DATA;
	return r->value ? OPERAND_ROLE_DATA : r->role;
}

/* Its last letter, or a long name, may have its value in the next word. */
static void pass_option(struct operand_reader *r, const char *word)
{
	size_t len = strlen(word);

	r->value =
		is_in(long_options, word) || (len > 1 && (word[0] == '-' || (r->shell && word[0] == '+')) &&
					      word[1] != '-' && strchr(r->options, word[len - 1]));
}

/* An option, an assignment of env or a number. */
static void pass_setting(struct operand_reader *r, const char *word)
{
	if (r->env && str_starts(word, "PATH="))
		r->path = word + strlen("PATH=");
	if (r->env &&
	    (strcmp(word, "-") == 0 || strcmp(word, "-i") == 0 || strcmp(word, "--ignore-environment") == 0))
		r->path = "";
	pass_option(r, word);
}

void operand_reader_pass(struct operand_reader *r, const char *word, bool first, bool found)
{
	const struct wrapper *wrapper;
	const struct interpreter *interpreter;
	char name[32];

	if (r->value || r->role == OPERAND_ROLE_DATA) {
		r->value = false;
		return;
	}
	plain_name(word, name);
	wrapper = find_wrapper(name);
	interpreter = find_interpreter(name);
	if (found && !wrapper && !interpreter) {
		r->role = OPERAND_ROLE_DATA;
		return;
	}
	if (r->role == OPERAND_ROLE_SCRIPT) {
		pass_option(r, word);
	} else if (interpreter) {
		r->role = OPERAND_ROLE_SCRIPT;
		r->shell = is_in(shells, name);
		r->options = interpreter->options;
		r->code = interpreter->code;
	} else if (wrapper) {
		r->options = wrapper->options;
		r->env = strcmp(name, "env") == 0;
	} else if (!first && is_setting(word)) {
		pass_setting(r, word);
	} else {
		r->role = OPERAND_ROLE_DATA;
	}
}

void operand_forget(struct subject *s)
{
	for (size_t i = 0; i < s->n_operands; i++)
		free(s->operands[i].path);
	free(s->operands);
	for (size_t i = 0; i < s->n_operand_links; i++) {
		free(s->operand_links[i].path);
		free(s->operand_links[i].text);
	}
	free(s->operand_links);
	operand_lower_free(s->lower);
	s->operands = NULL;
	s->operand_links = NULL;
	s->lower = NULL;
	s->n_operands = s->n_operand_links = 0;
}
