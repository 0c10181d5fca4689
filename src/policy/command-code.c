/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/* --- shells -------------------------------------------------------------------------------------------------- */

/* echo 'rm -rf /' | sh */
void classifier_read_printed(struct classifier *k)
{
	if (k->printed == k->text.commands)
		return;
	k->printed = k->text.commands;
	for (const struct shell_command *c = k->text.commands; c; c = c->next) {
		for (const struct shell_redirect *d = c->redirects; d; d = d->next)
			if (d->kind == SHELL_REDIRECT_HERE)
				classifier_probe_text(k, d->word.text);
		if (c->n_words < 2 ||
		    (!str_eq(c->words[0].text, "echo") && !str_eq(c->words[0].text, "printf")))
			continue;
		classifier_probe_command(k, c->words + 1, c->n_words - 1);
		for (size_t i = 1; i < c->n_words; i++)
			if (strpbrk(c->words[i].text, " \t\n;"))
				classifier_probe_raw(k, c->words[i].text);
	}
}

static bool judge_heredoc(struct classifier *k)
{
	bool any = false;

	for (const struct shell_redirect *d = k->text.redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_HERE) {
			classifier_read_text(k, d->word.text, false);
			any = true;
		}
	return any;
}

/* The text of -c, and the words that become its parameters: sh -c '"$@"' x rm -rf / */
static void judge_text_operand(struct classifier *k, const struct simple_command *c, size_t at)
{
	classifier_read_text(k, c->w[at].text, false);
	for (size_t i = at + 1; i < c->n && i < at + 3; i++)
		classifier_probe_command(k, c->w + i, c->n - i);
}

/*
 * "-c" anywhere among the options makes the first operand the text. "-o NAME" takes its argument from the
 * next word even in a cluster (-oc NAME TEXT), and "+o NAME" does so too.
 */
void command_judge_shell(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	bool text = false;
	size_t names = 0;
	struct option_iter o;
	struct option_word at;

	option_iter_init(&o, c, true);
	for (;;) {
		if (!o.cluster) {
			o.i += names;
			names = 0;
		}
		if (o.i > o.n || !option_iter_next(&o, &at))
			break;
		if (option_word_is_operand(&at) && !o.dashes && at.word[0] == '+') {
			o.ended = false;
			names = strchr(at.word, 'o') || strchr(at.word, 'O') ? 1 : 0;
			continue;
		}
		if (option_word_is_operand(&at) && !o.dashes && str_eq(at.word, "-"))
			continue;
		if (option_word_is_operand(&at) && text) {
			if (part)
				part->clear = true;
			judge_text_operand(k, c, at.at);
			return;
		}
		if (option_word_is_operand(&at)) {
			classifier_add_unknown(k, at.word, "runs a script that policy does not read");
			classifier_probe_arguments(k, c->w, c->n);
			classifier_read_printed(k);
			return;
		}
		text = text || at.c == 'c';
		names += at.c == 'o' || at.c == 'O';
		if (option_word_is(&at, " rcfile,init-file"))
			classifier_add_unknown(k, c->w[0].text, "runs a script that policy does not read");
	}
	if (judge_heredoc(k)) {
		if (part)
			part->clear = true;
		return;
	}
	classifier_add_unknown(k, c->w[0].text, "reads its commands from standard input or a file");
	/* Text that looks like an option: known shells refuse it. */
	for (size_t i = 1; text && i < c->n; i++)
		classifier_probe_raw(k, c->w[i].text);
	classifier_read_printed(k);
}

/* fish, csh, zsh ...: not parsed; words that look like a delete still count. */
void command_judge_foreign_shell(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_unknown(k, c->w[0].text, "a shell whose language policy does not parse");
	classifier_probe_arguments(k, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		classifier_probe_text(k, c->w[i].text);
		classifier_probe_raw(k, c->w[i].text);
	}
	classifier_read_printed(k);
}

/* python, perl, node ...: code in an argument or in a file. */
void command_judge_code(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_traits(k, c->row->traits);
	classifier_add_unknown(k, c->w[0].text, "runs code that policy does not read");
	for (size_t i = 1; i < c->n; i++)
		classifier_probe_raw(k, c->w[i].text);
	for (const struct shell_redirect *d = k->text.redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_HERE)
			classifier_probe_raw(k, d->word.text);
	classifier_read_printed(k);
}

/* at, batch: shell text from standard input, run later. */
void command_judge_at(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_SYSTEM);
	classifier_add_finding(k, "system-tool", c->w[0].text, "runs a command later, outside the sandbox");
	classifier_add_unknown(k, c->w[0].text, "reads its commands from standard input or a file");
	classifier_read_printed(k);
}

/* An awk program that only prints fields is read-only; one that may run a command is not. */
void command_judge_awk(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;
	bool program = false;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad)) {
			classifier_add_unknown(k, c->w[0].text, "runs code that policy does not read");
		} else if (option_word_is_operand(&at) && !program) {
			program = true;
			o.ended = true;
			if (strpbrk(at.word, "|>@\x01") || strstr(at.word, "system") ||
			    strstr(at.word, "getline") || strstr(at.word, "close")) {
				classifier_add_unknown(k, c->w[0].text,
						       "code that may run programs or write files");
				classifier_probe_raw(k, at.word);
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

static void judge_sed_script(struct classifier *k, const char *script)
{
	if (!command_text_is_unknown(script) && sed_is_plain(script))
		return;
	classifier_add_unknown(k, script, "a sed script that may run programs or write files");
	classifier_probe_raw(k, script);
}

void command_judge_sed(struct classifier *k, const struct simple_command *c)
{
	bool script = false, in_place = false;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		script = script || option_word_is(&at, "ef expression,file");
		if (at.c == 'i' || (at.name && option_word_is(&at, " in-place"))) {
			in_place = true;
			o.cluster = NULL; /* the rest is the suffix */
		}
	}
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (at.c == 'i')
			o.cluster = NULL;
		if (option_word_is(&at, "e expression")) {
			judge_sed_script(k, at.value ? at.value : "\x01");
		} else if (option_word_is(&at, "f file")) {
			classifier_add_unknown(k, c->w[0].text,
					       "a sed script in a file that policy does not read");
		} else if (option_word_is_operand(&at) && !script) {
			script = true;
			judge_sed_script(k, at.word);
		} else if (option_word_is_operand(&at) && in_place) {
			classifier_add_write(k, at.word, OUTCOME_SOFT);
		}
	}
}
