/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command-help.h"

#include <string.h>

#include "base/exit-status.h"

#define COLUMNS 100
#define TEXT_COLUMN 34
#define USAGE_OPTIONS_MAX 8 /* more are printed as [OPTIONS] */

static const struct option help_option = { .name = "help", .letter = 'h', .help = "print this help" };

const char *command_candidates_name(enum candidates kind)
{
	static const char *const names[] = {
		[CANDIDATES_WORDS] = "words",
		[CANDIDATES_FILE] = "file",
		[CANDIDATES_DIRECTORY] = "directory",
		[CANDIDATES_PROGRAM] = "program",
		[CANDIDATES_TOPIC] = "topic",
		[CANDIDATES_SESSION] = "session",
		[CANDIDATES_SESSION_ID] = "session-id",
		[CANDIDATES_KEPT] = "kept",
		[CANDIDATES_RUNNING] = "running",
		[CANDIDATES_PROFILE] = "profile",
		[CANDIDATES_LANE] = "lane",
		[CANDIDATES_REQUEST] = "request",
		[CANDIDATES_GRANT] = "grant",
		[CANDIDATES_APPROVER] = "approver",
		[CANDIDATES_EVIDENCE] = "evidence",
		[CANDIDATES_SANDBOX] = "sandbox",
		[CANDIDATES_CREDENTIAL] = "credential",
	};

	return names[kind];
}

/* --- usage --------------------------------------------------------------------------------------------------------- */

static size_t count_listed(const struct option *table)
{
	size_t n = 0;

	for (const struct option *o = table; o->name; o++)
		n += option_is_listed(o);
	return n;
}

static void put_value(struct strbuf *b, const struct option *o)
{
	if (option_takes_value(o))
		strbuf_printf(b, o->flags & OPTION_OPTIONAL_VALUE ? "[=%s]" : " %s", o->value);
}

/* An option, with those of its group that stand behind it. */
static const struct option *put_usage_option(struct strbuf *b, const struct option *o)
{
	const char *open = o->flags & OPTION_REQUIRED ? "" : "[", *close = *open ? "]" : "";

	strbuf_printf(b, " %s--%s", open, o->name);
	put_value(b, o);
	while (o->group && o[1].name && o[1].group == o->group) {
		o++;
		strbuf_printf(b, " | --%s", o->name);
		put_value(b, o);
	}
	strbuf_puts(b, close);
	return o;
}

void command_help_usage(struct strbuf *b, const struct command *group, const struct command *c)
{
	bool all = count_listed(c->options) <= USAGE_OPTIONS_MAX;

	strbuf_printf(b, PACKAGE_NAME " %s%s%s", group ? group->name : "", group ? " " : "", c->name);
	if (c->subs)
		strbuf_puts(b, " COMMAND");
	for (const struct option *o = c->options; o->name; o++)
		if (option_is_listed(o) && (all || (o->flags & OPTION_REQUIRED)))
			o = put_usage_option(b, o);
	if (!all)
		strbuf_puts(b, " [OPTIONS]");
	if (c->args[0])
		strbuf_printf(b, " %s", c->args);
}

/* --- help ---------------------------------------------------------------------------------------------------------- */

void command_help_option(struct strbuf *b, const struct option *o, const char *mark, const char *slant)
{
	if (o->letter)
		strbuf_printf(b, "%s-%c%s, ", mark, o->letter, mark);
	strbuf_printf(b, "%s--%s%s", mark, o->name, mark);
	if (option_takes_value(o))
		strbuf_printf(b, o->flags & OPTION_OPTIONAL_VALUE ? "[=%s%s%s]" : " %s%s%s", slant, o->value,
			      slant);
}

void command_help_text(struct strbuf *b, const struct option *o)
{
	strbuf_puts(b, o->help);
	if (o->flags & OPTION_LIST)
		strbuf_puts(b, "; may be repeated");
	if (o->flags & OPTION_REQUIRED)
		strbuf_puts(b, "; required");
}

/* TEXT from TEXT_COLUMN on, broken at blanks. */
static void print_wrapped(const char *text, FILE *out)
{
	size_t column = TEXT_COLUMN;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > TEXT_COLUMN && column + 1 + n > COLUMNS) {
			fprintf(out, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (column > TEXT_COLUMN) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)n, text);
		column += n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void print_option(const struct option *o, FILE *out)
{
	_cleanup_strbuf_ struct strbuf left = { 0 }, text = { 0 };
	int indent = o->letter ? 2 : 6;

	command_help_option(&left, o, "", "");
	command_help_text(&text, o);
	if (left.broken || text.broken)
		return;
	fprintf(out, "%*s%s", indent, "", left.text);
	if ((size_t)indent + left.len + 2 > TEXT_COLUMN)
		fprintf(out, "\n%*s", TEXT_COLUMN, "");
	else
		fprintf(out, "%*s", TEXT_COLUMN - indent - (int)left.len, "");
	print_wrapped(text.text, out);
}

static void print_usage(const struct command *group, const struct command *c, const char *before, FILE *out)
{
	_cleanup_strbuf_ struct strbuf usage = { 0 };

	command_help_usage(&usage, group, c);
	fprintf(out, "%s%s\n", before, usage.broken ? "out of memory" : usage.text);
}

static void print_sentence(const char *text, FILE *out)
{
	fprintf(out, "%c%s.\n", text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0], text + 1);
}

static void print_subs(const struct command *c, FILE *out)
{
	fprintf(out, "\ncommands:\n");
	for (const struct command *s = c->subs; s->name; s++) {
		print_usage(c, s, "  ", out);
		fprintf(out, "        %s\n", s->summary);
	}
	fprintf(out, "\n'" PACKAGE_NAME " help %s COMMAND' lists the options of one.\n", c->name);
}

int command_help_print(const struct command *group, const struct command *c, FILE *out)
{
	print_usage(group, c, "usage: ", out);
	fputc('\n', out);
	print_sentence(c->summary, out);
	if (c->subs) {
		print_subs(c, out);
		return STATUS_OK;
	}
	fprintf(out, "\noptions:\n");
	for (const struct option *o = c->options; o->name; o++)
		if (option_is_listed(o))
			print_option(o, out);
	print_option(&help_option, out);
	return STATUS_OK;
}

int command_help_list(const struct command *table, FILE *out)
{
	fprintf(out, "usage: " PACKAGE_NAME " COMMAND [OPTIONS] [ARGUMENTS]\n\n");
	for (const struct command *c = table; c->name; c++)
		fprintf(out, "  %-10s  %s\n", c->name, c->summary);
	fprintf(out, "\n'" PACKAGE_NAME " help COMMAND' lists the options of one.\n");
	return STATUS_OK;
}

/* --- manual page --------------------------------------------------------------------------------------------------- */

int command_help_synopsis(const struct command *c, FILE *out)
{
	for (const struct command *s = c->subs; s && s->name; s++)
		print_usage(c, s, "    ", out);
	if (!c->subs)
		print_usage(NULL, c, "    ", out);
	return STATUS_OK;
}

/* A definition list of Markdown, as go-md2man reads it. */
static void print_definition(const struct option *o, FILE *out)
{
	_cleanup_strbuf_ struct strbuf left = { 0 }, text = { 0 };

	command_help_option(&left, o, "**", "*");
	command_help_text(&text, o);
	if (left.broken || text.broken)
		return;
	fprintf(out, "\n%s\n:   ", left.text);
	print_sentence(text.text, out);
}

int command_help_options(const struct command *group, const struct command *c, FILE *out)
{
	for (const struct command *s = c->subs; s && s->name; s++)
		(void)command_help_options(c, s, out);
	if (c->subs || count_listed(c->options) == 0)
		return STATUS_OK;
	fprintf(out, "\n### custody %s%s%s\n", group ? group->name : "", group ? " " : "", c->name);
	for (const struct option *o = c->options; o->name; o++)
		if (option_is_listed(o))
			print_definition(o, out);
	return STATUS_OK;
}

/* --- JSON ---------------------------------------------------------------------------------------------------------- */

static void describe_option(struct jdoc *list, const struct option *o)
{
	struct jdoc *d = jdoc_append_object(list);
	const char letter[2] = { o->letter };
	_cleanup_strbuf_ struct strbuf text = { 0 };

	command_help_text(&text, o);
	jdoc_set_string(d, "name", o->name);
	jdoc_set(d, "letter", o->letter ? jdoc_new_string(letter) : jdoc_new_null());
	jdoc_set_string(d, "kind", option_kind_name(o->kind));
	jdoc_set(d, "value", option_takes_value(o) ? jdoc_new_string(o->value) : jdoc_new_null());
	jdoc_set(d, "candidates",
		 o->candidates ? jdoc_new_string(command_candidates_name(o->candidates)) : jdoc_new_null());
	jdoc_set_string(d, "help", text.text ? text.text : "");
	jdoc_set_bool(d, "list", (o->flags & OPTION_LIST) != 0);
	jdoc_set_bool(d, "optional_value", (o->flags & OPTION_OPTIONAL_VALUE) != 0);
	jdoc_set_bool(d, "required", (o->flags & OPTION_REQUIRED) != 0);
	jdoc_set_bool(d, "listed", option_is_listed(o));
}

static void describe_commands(struct jdoc *list, const struct command *table, const struct command *group)
{
	for (const struct command *c = table; c->name; c++) {
		struct jdoc *d = jdoc_append_object(list), *options;
		_cleanup_strbuf_ struct strbuf usage = { 0 };

		command_help_usage(&usage, group, c);
		jdoc_set_string(d, "name", c->name);
		jdoc_set_string(d, "usage", usage.text ? usage.text : "");
		jdoc_set_string(d, "summary", c->summary);
		jdoc_set_string(d, "args", c->args);
		jdoc_set_int(d, "min_args", c->min_args);
		jdoc_set(d, "max_args", c->max_args < 0 ? jdoc_new_null() : jdoc_new_int(c->max_args));
		jdoc_set_int(d, "usage_status", c->flags & COMMAND_FAILS_125 ? STATUS_FAILED : STATUS_USAGE);
		options = jdoc_set_array(d, "options");
		for (const struct option *o = c->options; o->name; o++)
			describe_option(options, o);
		if (c->subs)
			describe_commands(jdoc_set_array(d, "commands"), c->subs, c);
	}
}

struct jdoc *command_help_describe(const struct command *table)
{
	struct jdoc *d = jdoc_new_object();

	jdoc_set_int(d, "schema_version", 1);
	describe_commands(jdoc_set_array(d, "commands"), table, NULL);
	return d;
}
