/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/* --- shells -------------------------------------------------------------------------------------------------- */

/* echo 'rm -rf /' | sh */
void classifier_read_printed(struct classifier *k)
{
	const char *printed;

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
		printed = classifier_printed_text(k, c);
		if (printed)
			classifier_probe_text(k, printed);
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
	const struct shell_word *params = k->params;
	size_t n_params = k->n_params;

	k->params = c->w + at + 1;
	k->n_params = c->n - at - 1;
	classifier_read_text(k, c->w[at].text, false);
	k->params = params;
	k->n_params = n_params;
	for (size_t i = at + 1; i < c->n && i < at + 3; i++)
		classifier_probe_command(k, c->w + i, c->n - i);
}

/*
 * "-c" anywhere among the options makes the first operand the text. "-o NAME" takes its argument from the
 * next word even in a cluster (-oc NAME TEXT), and "+o NAME" does so too.
 */
static void judge_shell(struct classifier *k, const struct simple_command *c)
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

void command_judge_shell(struct classifier *k, const struct simple_command *c)
{
	bool outer = k->text.bash;

	k->text.bash = str_eq(c->row->name, "bash");
	judge_shell(k, c);
	k->text.bash = outer;
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

/* A program of awk that the grammar does not list is code. */
void command_judge_awk(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	for (size_t i = 1; i < c->n; i++)
		classifier_probe_raw(k, c->w[i].text);
}

/* --- sed ----------------------------------------------------------------------------------------------------- */

static bool takes_script(const struct option_word *at)
{
	return option_word_is(at, "ef expression,file");
}

/* -i anywhere makes every file a target; the rest of its word is the suffix. */
static bool is_in_place(struct option_iter *o, const struct option_word *at)
{
	if (at->c == 'i')
		o->cluster = NULL;
	return at->c == 'i' || (at->name && option_word_is(at, " in-place"));
}

void command_judge_sed(struct classifier *k, const struct simple_command *c)
{
	bool script = false, in_place = false;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		script = script || takes_script(&at);
		in_place = is_in_place(&o, &at) || in_place;
	}
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		(void)is_in_place(&o, &at);
		if (at.value && takes_script(&at)) {
			classifier_probe_raw(k, at.value);
		} else if (option_word_is_operand(&at) && !script) {
			script = true;
			classifier_probe_raw(k, at.word);
		} else if (option_word_is_operand(&at) && in_place) {
			classifier_add_write(k, at.word, OUTCOME_SOFT);
		}
	}
}
