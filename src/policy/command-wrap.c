/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

/*
 * Programs and builtins that run the rest of their words.  A wrapper whose options are read wrongly shows a "program"
 * that is not recognised: that is unknown, and its arguments are probed, so nothing hides behind a strange option.
 */

static bool sets_variable(const char *text)
{
	return strchr(text, '=') != NULL && text[0] != '=';
}

static void set_variable(struct judge *j, const char *text)
{
	const char *equals = strchr(text, '=');
	char *name = arena_text(j->arena, text, (size_t)(equals - text));

	if (name)
		judge_variable(j, name, equals + 1);
}

/* With row->skip operands of its own before the command: `timeout 5 make`. */
void judge_wrapper(struct judge *j, const struct command *c)
{
	struct command_part *part = judge_part(j, c->w, c->n);
	unsigned int skip = c->row->skip;
	struct judge_cwds cwds = j->cwds;
	struct word_iter o;
	struct word_read at;

	words_init(&o, c, true);
	judge_trait(j, c->row->traits);
	judge_domain(j, c->row->domain);
	if (c->row->domain == DOMAIN_SYSTEM)
		judge_note(j, "privilege", c->w[0].text, "runs with other rights, or in another system");
	if (part)
		part->clear = c->row->domain == DOMAIN_WORKSPACE && c->row->traits == 0;
	while (words_next(&o, &at)) {
		if (word_is_operand(&at)) {
			/* sudo X=1 cmd */
			if (c->row->domain == DOMAIN_SYSTEM && sets_variable(at.word)) {
				set_variable(j, at.word);
				o.ended = false;
				continue;
			}
			if (skip-- > 0)
				continue;
			judge_command(j, c->w + at.at, c->n - at.at);
			j->cwds = cwds;
			return;
		}
		if (word_is_option(&at, c->row->bad)) {
			judge_unknown(j, c->w[0].text, "an option that runs or writes something of its own");
			for (size_t i = at.at; i < c->n; i++)
				judge_probe_text(j, c->w[i].text);
		}
		/* The directory, where the option has one of its usual names. */
		if (at.value && word_is_option(&at, " chdir,working-directory,cwd"))
			judge_chdir(j, at.value);
	}
	j->cwds = cwds;
	/* Alone: a shell (sudo -i, chroot DIR), or nothing. */
	if (c->row->domain == DOMAIN_SYSTEM)
		judge_unknown(j, c->w[0].text, "starts a shell or acts by its options");
}

/* env -S 'rm -rf' /: the words of TEXT, then the rest. */
static void judge_split_string(struct judge *j, const char *text, const struct command *c, size_t from)
{
	struct shell_word *w = arena_alloc(j->arena, (c->n - from + 1) * sizeof(*w));
	char *all;

	if (!w)
		return;
	w[0] = (struct shell_word){ text, 0 };
	for (size_t i = from; i < c->n; i++)
		w[1 + i - from] = c->w[i];
	all = judge_join_words(j, w, c->n - from + 1);
	if (all)
		judge_shell_text(j, all, false);
}

void judge_env(struct judge *j, const struct command *c)
{
	struct command_part *part = judge_part(j, c->w, c->n);
	struct judge_cwds cwds = j->cwds;
	bool altered = j->altered, first = true;
	struct word_iter o;
	struct word_read at;

	words_init(&o, c, true);
	while (words_next(&o, &at)) {
		if (word_is_operand(&at) && sets_variable(at.word)) {
			set_variable(j, at.word);
			j->altered = true;
			first = false;
			continue;
		}
		if (word_is_operand(&at)) {
			if (part)
				part->clear = first;
			judge_command(j, c->w + at.at, c->n - at.at);
			break;
		}
		if (word_is_option(&at, "S split-string") && at.value) {
			judge_split_string(j, at.value, c, o.i);
			break;
		}
		if (word_is_option(&at, "C chdir") && at.value)
			judge_chdir(j, at.value);
		j->altered = true;
		first = false;
	}
	j->cwds = cwds;
	j->altered = altered;
}

/* su [options] [-] [user [args]]: -c anywhere is a shell's text; args go to the user's shell. */
void judge_su(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;
	bool text = false;

	(void)judge_part(j, c->w, c->n);
	judge_domain(j, DOMAIN_SYSTEM);
	judge_trait(j, COMMAND_CHANGES);
	judge_note(j, "privilege", c->w[0].text, "runs with other rights, or in another system");
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (!word_is_option(&at, "c command,session-command") || !at.value)
			continue;
		text = true;
		judge_shell_text(j, at.value, false);
	}
	if (!text)
		judge_unknown(j, c->w[0].text, "starts a shell");
	judge_printed(j);
	judge_probe_arguments(j, c->w, c->n);
}

/* WORD with every TOKEN in it made unknown. */
static const char *replace(struct judge *j, const char *word, const char *token)
{
	const char *hit = strstr(word, token);
	char *copy;

	if (!hit)
		return word;
	copy = arena_text(j->arena, word, strlen(word));
	if (!copy)
		return "\x01";
	/* Only whether and where it is unknown matters, not how long it is. */
	memset(copy + (hit - word), SHELL_UNKNOWN, strlen(token));
	return copy;
}

void judge_xargs(struct judge *j, const struct command *c)
{
	const char *token = "{}";
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, true);
	while (words_next(&o, &at)) {
		struct shell_word *w;
		size_t n;

		if (!word_is_operand(&at)) {
			if (word_is_option(&at, "Ii replace") && at.value && *at.value)
				token = at.value;
			continue;
		}
		n = c->n - at.at;
		w = arena_alloc(j->arena, (n + 1) * sizeof(*w));
		if (!w)
			return;
		for (size_t i = 0; i < n; i++)
			w[i] = (struct shell_word){ replace(j, c->w[at.at + i].text, token),
						    c->w[at.at + i].flags };
		w[n] = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT };
		judge_command(j, w, n + 1);
		return;
	}
}

void judge_eval(struct judge *j, const struct command *c)
{
	char *text = judge_join_words(j, c->w + 1, c->n - 1);
	struct command_part *part = judge_part(j, c->w, c->n);

	if (part)
		part->clear = true;
	if (text)
		judge_shell_text(j, text, true);
}

/* command, builtin, exec: the words that follow, in this very shell. */
void judge_command_builtin(struct judge *j, const struct command *c)
{
	struct command_part *part = judge_part(j, c->w, c->n);
	struct word_iter o;
	struct word_read at;

	if (part)
		part->clear = true;
	words_init(&o, c, true);
	while (words_next(&o, &at)) {
		if (word_is_operand(&at)) {
			judge_command(j, c->w + at.at, c->n - at.at);
			return;
		}
		if (str_eq(c->row->name, "command") && (at.c == 'v' || at.c == 'V'))
			return;
	}
}

/* alias x='rm -rf': whoever uses it adds words that are not seen here. */
void judge_alias(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		const char *equals = strchr(c->w[i].text, '=');
		struct shell_word with_more[2] = { { equals ? equals + 1 : "", 0 },
						   { "\x01", SHELL_WORD_UNKNOWN } };
		char *text;

		if (!equals)
			continue;
		judge_unknown(j, c->w[i].text, "gives a name another meaning");
		text = judge_join_words(j, with_more, 2);
		if (text)
			judge_probe_text(j, text);
	}
}

/* hash -p /bin/rm ls */
void judge_hash(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		const struct shell_word meant[2] = { { at.value, 0 }, { "\x01", SHELL_WORD_UNKNOWN } };

		if (at.c != 'p' || !at.value)
			continue;
		judge_unknown(j, at.value, "gives a name another meaning");
		judge_probe_command(j, meant, 2);
	}
}

void judge_trap(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		if (c->w[i].text[0] == '-')
			continue;
		judge_shell_text(j, c->w[i].text, false);
		return;
	}
}

/* busybox rm -rf /, toybox: the applet is the program. */
void judge_busybox(struct judge *j, const struct command *c)
{
	struct command_part *part = judge_part(j, c->w, c->n);

	if (part)
		part->clear = true;
	if (c->n > 1 && c->w[1].text[0] != '-')
		judge_command(j, c->w + 1, c->n - 1);
	else if (c->n > 1)
		judge_unknown(j, c->w[0].text, "an option that runs or writes something");
}

/* A subscript is evaluated: declare 'a[$(rm -rf /)]=1'. */
static void judge_subscripts(struct judge *j, const struct command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (strstr(c->w[i].text, "$(") || strchr(c->w[i].text, '`')) {
			judge_unknown(j, c->w[i].text, "the shell evaluates this word");
			judge_probe_crude(j, c->w[i].text);
		}
}

void judge_export(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	judge_subscripts(j, c);
	for (size_t i = 1; i < c->n; i++)
		if (c->row->skip == 0 && sets_variable(c->w[i].text) && c->w[i].text[0] != '-') {
			set_variable(j, c->w[i].text);
			j->altered = true;
		}
}

/* set -- rm -rf /; "$@" */
void judge_set(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	for (size_t i = 1; i < c->n; i++)
		if (c->w[i].text[0] != '-' && c->w[i].text[0] != '+') {
			judge_probe_command(j, c->w + i, c->n - i);
			return;
		}
}
