/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/* Builtins of a shell that give a name another meaning, or run text later. */

/* The commands of this text whose name is NAME run BODY with their words. */
static void probe_uses(struct classifier *k, const char *name, const char *body)
{
	for (const struct shell_command *c = k->text.commands; c; c = c->next) {
		struct shell_word *w;
		char *text;

		if (c->n_words == 0 || !str_eq(c->words[0].text, name))
			continue;
		w = arena_alloc(k->arena, c->n_words * sizeof(*w));
		if (!w)
			return;
		memcpy(w, c->words, c->n_words * sizeof(*w));
		w[0].text = body;
		text = classifier_join_words(k, w, c->n_words);
		if (text)
			classifier_probe_text(k, text);
	}
}

/* alias x='rm -rf': a use in another text adds words that are not known here. */
void command_judge_alias(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		const char *equals = strchr(c->w[i].text, '=');
		struct shell_word with_more[2] = { { equals ? equals + 1 : "", 0 },
						   { "\x01", SHELL_WORD_UNKNOWN } };
		char *text, *name;

		if (!equals)
			continue;
		classifier_add_unknown(k, c->w[i].text, "redefines a command name");
		text = classifier_join_words(k, with_more, 2);
		if (text)
			classifier_probe_text(k, text);
		name = arena_text(k->arena, c->w[i].text, (size_t)(equals - c->w[i].text));
		if (name)
			probe_uses(k, name, equals + 1);
	}
}

/* hash -p /bin/rm ls */
void command_judge_hash(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		const struct shell_word meant[2] = { { at.value, 0 }, { "\x01", SHELL_WORD_UNKNOWN } };

		if (at.c != 'p' || !at.value)
			continue;
		classifier_add_unknown(k, at.value, "redefines a command name");
		classifier_probe_command(k, meant, 2);
		for (size_t i = 1; i < c->n; i++)
			probe_uses(k, c->w[i].text, at.value);
	}
}

/* trap [-lp] [--] TEXT SIGNAL ...: NULL if it sets nothing. */
static const char *trap_text(const struct simple_command *c)
{
	const char *first = c->n > 1 ? c->w[1].text : "-";

	if (str_eq(first, "--"))
		return c->n > 2 ? c->w[2].text : NULL;
	/* "-" resets; with other options it prints, or is refused. */
	return first[0] == '-' ? NULL : first;
}

/* The text runs at any time: in each directory to which this shell changes, and what it changes holds from here on. */
void command_judge_trap(struct classifier *k, const struct simple_command *c)
{
	const char *text = trap_text(c);
	const struct classifier_shell before = k->shell;

	(void)classifier_add_part(k, c->w, c->n);
	if (!text || str_eq(text, "-"))
		return;
	k->shell.cwds.unknown = k->shell.cwds.unknown || k->text.moves;
	classifier_read_text(k, text, true);
	if (!classifier_cwds_equal(&k->shell.cwds, &before.cwds) || k->shell.lost != before.lost ||
	    k->shell.renamed != before.renamed)
		k->shell.cwds.unknown = true;
	else
		k->shell = before;
}
