/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

/* --- shells -------------------------------------------------------------------------------------------------- */

/* echo 'rm -rf /' | sh */
void judge_printed(struct judge *j)
{
	if (j->printed == j->shell)
		return;
	j->printed = j->shell;
	for (const struct shell_command *c = j->shell; c; c = c->next) {
		for (const struct shell_redirect *d = c->redirects; d; d = d->next)
			if (d->kind == SHELL_REDIRECT_HERE)
				judge_probe_text(j, d->word.text);
		if (c->n_words < 2 ||
		    (!str_eq(c->words[0].text, "echo") && !str_eq(c->words[0].text, "printf")))
			continue;
		judge_probe_command(j, c->words + 1, c->n_words - 1);
		for (size_t i = 1; i < c->n_words; i++)
			if (strpbrk(c->words[i].text, " \t\n;"))
				judge_probe_crude(j, c->words[i].text);
	}
}

static bool judge_heredoc(struct judge *j)
{
	bool any = false;

	for (const struct shell_redirect *d = j->redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_HERE) {
			judge_shell_text(j, d->word.text, false);
			any = true;
		}
	return any;
}

/* The text of -c, and the words that become its parameters: sh -c '"$@"' x rm -rf / */
static void judge_text_operand(struct judge *j, const struct command *c, size_t at)
{
	judge_shell_text(j, c->w[at].text, false);
	for (size_t i = at + 1; i < c->n && i < at + 3; i++)
		judge_probe_command(j, c->w + i, c->n - i);
}

/*
 * "-c" anywhere among the options: the first operand is the text.  "-o NAME" takes its argument from the next word
 * even in a cluster (-oc NAME TEXT), and "+o NAME" does so too.
 */
void judge_shell(struct judge *j, const struct command *c)
{
	struct command_part *part = judge_part(j, c->w, c->n);
	bool text = false;
	size_t names = 0;
	struct word_iter o;
	struct word_read at;

	words_init(&o, c, true);
	for (;;) {
		if (!o.cluster) {
			o.i += names;
			names = 0;
		}
		if (o.i > o.n || !words_next(&o, &at))
			break;
		if (word_is_operand(&at) && !o.dashes && at.word[0] == '+') {
			o.ended = false;
			names = strchr(at.word, 'o') || strchr(at.word, 'O') ? 1 : 0;
			continue;
		}
		if (word_is_operand(&at) && !o.dashes && str_eq(at.word, "-"))
			continue;
		if (word_is_operand(&at) && text) {
			if (part)
				part->clear = true;
			judge_text_operand(j, c, at.at);
			return;
		}
		if (word_is_operand(&at)) {
			judge_unknown(j, at.word, "a script that is not read here");
			judge_probe_arguments(j, c->w, c->n);
			judge_printed(j);
			return;
		}
		text = text || at.c == 'c';
		names += at.c == 'o' || at.c == 'O';
		if (word_is_option(&at, " rcfile,init-file"))
			judge_unknown(j, c->w[0].text, "a script that is not read here");
	}
	if (judge_heredoc(j)) {
		if (part)
			part->clear = true;
		return;
	}
	judge_unknown(j, c->w[0].text, "reads its commands from somewhere else");
	/* A text that looks like an option: refused by the shells that are known here. */
	for (size_t i = 1; text && i < c->n; i++)
		judge_probe_crude(j, c->w[i].text);
	judge_printed(j);
}

/* fish, csh, zsh ...: another language; what looks like a delete still counts. */
void judge_foreign_shell(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	judge_unknown(j, c->w[0].text, "a shell whose language is not read here");
	judge_probe_arguments(j, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		judge_probe_text(j, c->w[i].text);
		judge_probe_crude(j, c->w[i].text);
	}
	judge_printed(j);
}

/* python, perl, node ...: with code in their words or in a file. */
void judge_code(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	judge_trait(j, c->row->traits);
	judge_unknown(j, c->w[0].text, "runs code that is not read here");
	for (size_t i = 1; i < c->n; i++)
		judge_probe_crude(j, c->w[i].text);
	for (const struct shell_redirect *d = j->redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_HERE)
			judge_probe_crude(j, d->word.text);
	judge_printed(j);
}

/* at, batch: a shell's text from standard input, for later. */
void judge_at(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	judge_change(j, OUTCOME_SOFT, DOMAIN_SYSTEM);
	judge_note(j, "system-tool", c->w[0].text, "runs something later, outside");
	judge_unknown(j, c->w[0].text, "reads its commands from somewhere else");
	judge_printed(j);
}

/* A program that only prints fields is a read; one that could start something is not. */
void judge_awk(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;
	bool program = false;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, true);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad)) {
			judge_unknown(j, c->w[0].text, "runs code that is not read here");
		} else if (word_is_operand(&at) && !program) {
			program = true;
			o.ended = true;
			if (strpbrk(at.word, "|>@\x01") || strstr(at.word, "system") ||
			    strstr(at.word, "getline") || strstr(at.word, "close")) {
				judge_unknown(j, c->w[0].text, "code that may run or write something");
				judge_probe_crude(j, at.word);
			}
		}
	}
}

/* --- sed ----------------------------------------------------------------------------------------------------- */

static const char *skip_delimited(const char *p, char delimiter)
{
	for (; *p && *p != delimiter; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p == delimiter ? p + 1 : NULL;
}

static const char *skip_address(const char *p)
{
	for (;;) {
		if (*p == '/')
			p = skip_delimited(p + 1, '/');
		else
			p += *p == '$' ? 1 : strspn(p, "0123456789~+");
		if (!p)
			return NULL;
		p += strspn(p, "I ");
		if (*p != ',')
			break;
		p++;
	}
	return p + strspn(p, "! ");
}

/* Only commands that print, delete lines from the stream, or substitute without the flags e and w. */
static bool sed_is_plain(const char *script)
{
	for (const char *p = script; *p;) {
		p += strspn(p, " \t\n;");
		if (!*p)
			break;
		p = skip_address(p);
		if (!p || !*p)
			return false;
		if (*p == 's' || *p == 'y') {
			char delimiter = p[1];

			if (!delimiter || delimiter == '\\' || delimiter == '\n')
				return false;
			p = skip_delimited(p + 2, delimiter);
			p = p ? skip_delimited(p, delimiter) : NULL;
			if (!p)
				return false;
			p += strspn(p, "gpiImM0123456789");
		} else if (strchr("pdDqQgGhHnNxlP=", *p)) {
			p++;
			p += strspn(p, "0123456789");
		} else {
			return false;
		}
		p += strspn(p, " \t");
		if (*p && *p != ';' && *p != '\n')
			return false;
	}
	return true;
}

static void judge_sed_script(struct judge *j, const char *script)
{
	if (!text_is_unknown(script) && sed_is_plain(script))
		return;
	judge_unknown(j, script, "a sed script that may run or write something");
	judge_probe_crude(j, script);
}

void judge_sed(struct judge *j, const struct command *c)
{
	bool script = false, in_place = false;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		script = script || word_is_option(&at, "ef expression,file");
		if (at.c == 'i' || (at.name && word_is_option(&at, " in-place"))) {
			in_place = true;
			o.cluster = NULL; /* the rest is the suffix */
		}
	}
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (at.c == 'i')
			o.cluster = NULL;
		if (word_is_option(&at, "e expression")) {
			judge_sed_script(j, at.value ? at.value : "\x01");
		} else if (word_is_option(&at, "f file")) {
			judge_unknown(j, c->w[0].text, "a sed script that is not read here");
		} else if (word_is_operand(&at) && !script) {
			script = true;
			judge_sed_script(j, at.word);
		} else if (word_is_operand(&at) && in_place) {
			judge_write(j, at.word, OUTCOME_SOFT);
		}
	}
}
