/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/dispatch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "base/str.h"
#include "base/exit-status.h"
#include "state/lane.h"
#include "ledger/ledger-record.h"

void command_print_help(const struct command *table, FILE *out)
{
	fprintf(out, "usage: " PACKAGE_NAME " COMMAND [ARGUMENTS]\n\n");
	for (const struct command *c = table; c->name; c++)
		fprintf(out, "  %-9s %s\n", c->name, c->help);
	fprintf(out, "\n'" PACKAGE_NAME " help COMMAND' has its arguments.\n");
}

static const struct command *find(const struct command *table, const char *name)
{
	for (const struct command *c = table; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* The spellings that people try before they know that help and version are commands. */
static const char *canonical(const char *word)
{
	if (asks_for_help(word))
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

/* Entry nearest to a mistyped NAME, or NULL. */
static const struct command *nearest(const struct command *table, const char *name)
{
	const char *names[COMMANDS_MAX + 1] = { NULL };
	size_t n = 0;
	int at;

	for (const struct command *c = table; c->name && n < COMMANDS_MAX; c++)
		names[n++] = c->name;
	at = str_nearest(name, names);
	return at < 0 ? NULL : &table[at];
}

static int refuse(const struct command *table, const char *name, FILE *err)
{
	_cleanup_free_ char *shown = str_escape(name);
	const struct command *c = nearest(table, name);

	fprintf(err, PACKAGE_NAME ": no command '%s'", shown ? shown : "?");
	if (c)
		fprintf(err, "; did you mean '" PACKAGE_NAME " %s'?\n", c->name);
	else
		fprintf(err, "; '" PACKAGE_NAME " help' lists them\n");
	return STATUS_USAGE;
}

int command_help(const struct command *table, const char *name, FILE *out, FILE *err)
{
	const struct command *c = find(table, name);
	char help[] = "--help";

	if (!c)
		return refuse(table, name, err);
	if (c->own_help)
		return c->run(2, (char *[]){ (char *)c->name, help, NULL }, NULL);
	fprintf(out, "usage: " PACKAGE_NAME " %s%s%s\n\n%s\n", c->name, *c->args ? " " : "", c->args,
		c->help);
	return STATUS_OK;
}

int command_run(const struct command *table, int argc, char **argv, FILE *err)
{
	_cleanup_fault_ struct fault f = { 0 };
	/* What a message quotes may come from a hostile tree: nothing that a terminal would obey. */
	_cleanup_free_ char *text = NULL;
	const struct command *c;
	int n = argc - 2, r;

	if (argc < 2) {
		fprintf(err, PACKAGE_NAME ": no command given; '" PACKAGE_NAME " help' lists them\n");
		return STATUS_USAGE;
	}
	c = find(table, canonical(argv[1]));
	if (!c)
		return refuse(table, argv[1], err);
	if (n > 0 && !c->own_help && asks_for_help(argv[2]))
		return command_help(table, c->name, stdout, err);
	if (n < c->min_args || (c->max_args >= 0 && n > c->max_args)) {
		fprintf(err, "usage: " PACKAGE_NAME " %s%s%s\n", c->name, *c->args ? " " : "", c->args);
		return STATUS_USAGE;
	}
	if (c->acts)
		process_ignore_sigpipe();
	r = c->run(argc - 1, argv + 1, &f);
	if (r >= 0)
		return r;
	text = str_escape(fault_text(&f));
	fprintf(err, PACKAGE_NAME " %s: %s\n", c->name, text ? text : "out of memory");
	return r == -LANE_REFUSED ? STATUS_LANE : STATUS_FAILED;
}

int command_put_json(const struct strbuf *text, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf ascii = { 0 };

	if (isatty(STDOUT_FILENO)) {
		record_put_ascii(&ascii, text->text, text->len);
		text = &ascii;
	}
	if (text->broken)
		return fault_errno(f, ENOMEM, "print");
	(void)fputs(text->text, stdout);
	return 0;
}
