/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tap.h"

#include "policy/command-grammar.h"

/*
 * tests/data/policy/options/PROGRAM: every option of the program in Debian 12, one on a line, then ':' if it takes a
 * value, '?' if the value is optional, '::' for two, '$' for a command. The grammar is compared with it in both
 * directions. With --rows the grammar is printed for other tests.
 */

#define OPTIONS_MAX 512

struct option {
	char text[64];
	char value[4];
};

struct data {
	char program[64], package[128];
	struct option options[OPTIONS_MAX];
	size_t n;
};

static const struct command_place place = { .cwd = "/work", .home = "/home/user", .worktree = "/work" };

static const char *file_name(const char *row)
{
	static char name[64];

	if (strcmp(row, ":") == 0)
		return "colon";
	if (strcmp(row, "[") == 0)
		return "bracket";
	if (strcmp(row, "[[") == 0)
		return "brackets";
	(void)snprintf(name, sizeof(name), "%s", row);
	if (strchr(name, ' '))
		*strchr(name, ' ') = '-';
	return name;
}

static bool load(const char *row, struct data *ret)
{
	const char *srcdir = getenv("SRCDIR");
	char path[4096], line[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/tests/data/policy/options/%s", srcdir ? srcdir : ".",
		       file_name(row));
	f = fopen(path, "re");
	ret->n = 0;
	ret->program[0] = ret->package[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		struct option *o = &ret->options[ret->n];

		if (sscanf(line, "program %63[^\n]", ret->program) == 1 ||
		    sscanf(line, "package %127[^\n]", ret->package) == 1)
			continue;
		o->value[0] = '\0';
		if (sscanf(line, "%63s %3s", o->text, o->value) >= 1 && ret->n < OPTIONS_MAX - 1)
			ret->n++;
	}
	if (f)
		(void)fclose(f);
	return f && strcmp(ret->program, row) == 0 && ret->package[0];
}

/* Options are words after one dash, or "key=". */
static bool has_words(const struct grammar_row *r)
{
	return r->flags & GRAMMAR_WORDS || r->operands == GRAMMAR_DD;
}

static int kind_of(const struct grammar_row *r, const char *option)
{
	if (r->operands == GRAMMAR_DD)
		return grammar_long_kind(r, option, strcspn(option, "="));
	if (r->flags & GRAMMAR_WORDS)
		return grammar_long_kind(r, option + 1, strlen(option + 1));
	if (option[1] == '-')
		return grammar_long_kind(r, option + 2, strlen(option + 2));
	if (option[2])
		return -1;
	if (r->flags & GRAMMAR_DIGITS && option[1] >= '0' && option[1] <= '9')
		return '\0';
	return grammar_short_kind(r, option[1]);
}

static bool same_value(int kind, const char *value)
{
	switch (kind) {
	case '\0':
		return value[0] == '\0';
	case '?':
	case '~':
		return strcmp(value, "?") == 0;
	case '%': /* git log takes the format of --format and --pretty behind '=' only */
		return true;
	case '"':
		return strcmp(value, "::") == 0;
	case '$':
		return strcmp(value, "$") == 0;
	default:
		return strcmp(value, ":") == 0;
	}
}

/* Words of one command line; a value never looks like an option. */
struct words {
	char *argv[16];
	size_t n;
};

static void add(struct words *w, const char *word)
{
	w->argv[w->n++] = (char *)word;
	w->argv[w->n] = NULL;
}

static bool is_unknown(const struct words *w)
{
	_cleanup_arena_ struct arena a;
	struct command_class c;

	arena_init(&a);
	return command_classify(&a, &place, w->argv, &c) == 0 && c.traits & COMMAND_UNKNOWN;
}

/* The words of ROW up to its options. */
static struct words words_of(const struct grammar_row *r, char name[64])
{
	struct words w = { .n = 0 };
	char *space;

	(void)snprintf(name, 64, "%s", r->name);
	space = strchr(name, ' ');
	if (space)
		*space = '\0';
	add(&w, name);
	if (space)
		add(&w, space + 1);
	return w;
}

static bool raises(const struct grammar_row *r, const char *option, const char *value)
{
	char name[64];
	struct words w = words_of(r, name);

	add(&w, option);
	if (value)
		add(&w, value);
	if (is_unknown(&w))
		return true;
	printf("# %s: '%s%s%s' is recognised\n", r->name, option, value ? " " : "", value ? value : "");
	return false;
}

/* Is TEXT itself, or the begin of it, an option that the row lists? */
static bool is_listed(const struct grammar_row *r, const char *text)
{
	return kind_of(r, text) >= 0;
}

/* -xVALUE, and -ax behind each flag that the row lists. */
static bool short_spellings_raise(const struct grammar_row *r, const struct option *o)
{
	char text[80];
	bool ok = true;

	(void)snprintf(text, sizeof(text), "%svalue", o->text);
	ok = raises(r, text, NULL);
	for (const char *p = r->shorts; p && *p; p++) {
		if (strchr(":#<>?\"/$!&~=%^", *p) || grammar_short_kind(r, *p) != '\0')
			continue;
		(void)snprintf(text, sizeof(text), "-%c%c", *p, o->text[1]);
		ok = raises(r, text, o->value[0] == ':' ? "value" : NULL) && ok;
	}
	return ok;
}

static bool long_spellings_raise(const struct grammar_row *r, const struct option *o)
{
	char text[80];
	size_t len = strlen(o->text);
	bool ok;

	ok = snprintf(text, sizeof(text), "%s=value", o->text) < (int)sizeof(text) && raises(r, text, NULL);
	for (; len > 3; len--) {
		(void)snprintf(text, sizeof(text), "%.*s", (int)len - 1, o->text);
		if (is_listed(r, text)) /* the exact name of another option */
			continue;
		ok = raises(r, text, o->value[0] == ':' ? "value" : NULL) && ok;
		(void)snprintf(text, sizeof(text), "%.*s=value", (int)len - 1, o->text);
		ok = raises(r, text, NULL) && ok;
	}
	return ok;
}

static bool spellings_raise(const struct grammar_row *r, const struct option *o)
{
	bool ok = raises(r, o->text, NULL);

	if (o->value[0] == ':')
		ok = raises(r, o->text, "value") && ok;
	if (has_words(r))
		return ok;
	if (o->text[1] == '-')
		return long_spellings_raise(r, o) && ok;
	return (o->text[2] || short_spellings_raise(r, o)) && ok;
}

/* test, [[, sh -o ...: the words are read as a whole. */
static bool has_own_reader(const struct grammar_row *r)
{
	return r->operands == GRAMMAR_TEST || r->operands == GRAMMAR_CONDITION;
}

static struct data data;

static void rows_are_sorted(void)
{
	for (size_t i = 1; i < grammar_n_rows; i++)
		CHECK(strcmp(grammar_rows[i - 1].name, grammar_rows[i].name) < 0);
}

static void every_row_has_its_data(void)
{
	bool ok = true;

	for (size_t i = 0; i < grammar_n_rows; i++)
		if (!load(grammar_rows[i].name, &data)) {
			printf("# no data for '%s'\n", grammar_rows[i].name);
			ok = false;
		}
	CHECK(ok);
}

static void GOV_5_an_option_that_is_not_listed_raises_the_level_in_every_spelling(void)
{
	size_t n = 0;
	bool ok = true;

	for (size_t i = 0; i < grammar_n_rows; i++) {
		const struct grammar_row *r = &grammar_rows[i];

		if (has_own_reader(r) || !load(r->name, &data))
			continue;
		for (size_t o = 0; o < data.n; o++) {
			if (kind_of(r, data.options[o].text) >= 0)
				continue;
			n++;
			if (r->flags & GRAMMAR_TOTAL && r->operands != GRAMMAR_TEXT) {
				printf("# %s: '%s' is not listed\n", r->name, data.options[o].text);
				ok = false;
			}
			ok = spellings_raise(r, &data.options[o]) && ok;
		}
	}
	printf("# %zu options that no row lists\n", n);
	CHECK(ok && n > 500);
}

/* Is OPTION of the row in the data, with the same kind of value? */
static bool is_in_data(const struct grammar_row *r, const char *option, int kind)
{
	for (size_t i = 0; i < data.n; i++)
		if (strcmp(data.options[i].text, option) == 0 && same_value(kind, data.options[i].value))
			return true;
	printf("# %s: '%s' (%c) is not in the data\n", r->name, option, kind ? kind : '-');
	return false;
}

static bool row_is_in_data(const struct grammar_row *r)
{
	const char *kinds = ":#<>?\"/$!&~=%^";
	bool ok = !(has_words(r) && r->shorts); /* would never be read */
	char text[80];

	for (const char *p = r->shorts; p && *p; p++) {
		if (strchr(kinds, *p))
			continue;
		(void)snprintf(text, sizeof(text), "-%c", *p);
		ok = is_in_data(r, text, grammar_short_kind(r, *p)) && ok;
	}
	for (const char *p = r->longs, *stop; p && *p; p = *stop ? stop + 1 : stop) {
		size_t len;

		stop = strchrnul(p, ' ');
		len = (size_t)(stop - p);
		len -= len > 0 && strchr(kinds, stop[-1]) != NULL;
		(void)snprintf(text, sizeof(text), "%s%.*s%s",
			       r->operands == GRAMMAR_DD  ? ""
			       : r->flags & GRAMMAR_WORDS ? "-"
							  : "--",
			       (int)len, p, r->operands == GRAMMAR_DD ? "=" : "");
		ok = is_in_data(r, text, grammar_long_kind(r, p, len)) && ok;
	}
	return ok;
}

static void every_listed_option_exists_with_the_same_kind_of_value(void)
{
	bool ok = true;

	for (size_t i = 0; i < grammar_n_rows; i++)
		if (load(grammar_rows[i].name, &data))
			ok = row_is_in_data(&grammar_rows[i]) && ok;
	CHECK(ok);
}

/* Operands with which the program does its work on the files a.txt and dir. */
static const char *sample_of(const struct grammar_row *r)
{
	switch ((enum grammar_operands)r->operands) {
	case GRAMMAR_READS:
	case GRAMMAR_ONE_READ:
		return "a.txt";
	case GRAMMAR_TEXT:
	case GRAMMAR_BUILTIN:
	case GRAMMAR_PRINTF:
		return "1";
	case GRAMMAR_WRITES:
	case GRAMMAR_TAR:
		return "a.txt dir";
	case GRAMMAR_COMMAND:
		return "true";
	case GRAMMAR_FORMAT:
		return "+%s";
	case GRAMMAR_NAMES:
	case GRAMMAR_SETTINGS:
		return "x";
	case GRAMMAR_TEST:
		return "-f a.txt";
	case GRAMMAR_CONDITION:
		return "-f a.txt ]]";
	case GRAMMAR_SED:
		return "1p a.txt";
	case GRAMMAR_AWK:
		return "{print} a.txt";
	case GRAMMAR_DD:
		return "if=a.txt";
	case GRAMMAR_KEYS:
		return "kernel.ostype";
	case GRAMMAR_KILL:
		return "999999";
	case GRAMMAR_FIND:
		return "dir";
	case GRAMMAR_IP:
		return "addr show";
	case GRAMMAR_SHELL:
		return "-c true";
	case GRAMMAR_HOST:
	case GRAMMAR_SSH:
		return "localhost";
	case GRAMMAR_GIT:
		return "status";
	case GRAMMAR_NO_OPERANDS:
	case GRAMMAR_SET:
		break;
	}
	return "-";
}

/*
 * One line for each row: name, flags, kind of operands, short options, long options, words of the first operand, sample
 * operands; tabs between, '-' for nothing. command-grammar.h says what the kinds mean.
 */
static int print_rows(void)
{
	for (size_t i = 0; i < grammar_n_rows; i++) {
		const struct grammar_row *r = &grammar_rows[i];

		printf("%s\t%s%s%s%s%s-\t%c\t%s\t%s\t%s\t%s\n", r->name,
		       r->flags & GRAMMAR_POSIX ? "posix," : "", r->flags & GRAMMAR_TOTAL ? "total," : "",
		       r->flags & GRAMMAR_DIGITS ? "digits," : "", r->flags & GRAMMAR_WORDS ? "words," : "",
		       r->flags & GRAMMAR_RESPONSE ? "response," : "", r->operands,
		       r->shorts ? r->shorts : "-", r->longs ? r->longs : "-", r->words ? r->words : "-",
		       sample_of(r));
	}
	return 0;
}

int run_tests(void);
#define main run_tests
TAP_MAIN(T(rows_are_sorted), T(every_row_has_its_data),
	 T(GOV_5_an_option_that_is_not_listed_raises_the_level_in_every_spelling),
	 T(every_listed_option_exists_with_the_same_kind_of_value))
#undef main

int main(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "--rows") == 0 ? print_rows() : run_tests();
}
