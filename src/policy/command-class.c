/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-class.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "policy/command-classifier.h"

/* Nested too deeply to parse: any delete among the words counts as unbounded. */
static void judge_depths(struct classifier *k, const struct shell_word *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct command_row *row = command_row_find(command_base(w[i].text, &(bool){ false }));

		if (row && (row->judge == command_judge_rm || row->judge == command_judge_find))
			classifier_add_unbounded(k, w[i].text, "nested too deeply to be checked");
	}
}

static bool only_asks(const struct simple_command *c)
{
	return c->n == 2 && (str_eq(c->w[1].text, "--version") || str_eq(c->w[1].text, "--help"));
}

void classifier_read_command(struct classifier *k, const struct shell_word *w, size_t n)
{
	const struct command_row *row;
	const char *name;
	bool own;

	if (n == 0 || !classifier_spend(k, n + 8)) /* the table lookup costs more than the words */
		return;
	if (k->text.depth >= CLASSIFIER_DEPTH_MAX) {
		classifier_add_unparsable(k, w[0].text, "nested too deeply");
		judge_depths(k, w, n);
		return;
	}
	k->text.depth++;
	name = command_base(w[0].text, &own);
	row = command_row_find(name);
	if (command_text_is_unknown(w[0].text)) {
		struct command_part *p = classifier_add_part(k, w, n);

		if (p)
			p->altered = true;
		classifier_probe_unnamed(k, w, n);
	} else if (!row || own) {
		struct command_part *p = classifier_add_part(k, w, n);

		if (p)
			p->altered = p->altered || own;
		classifier_add_unknown(k, w[0].text, own ? "not in a system directory" : "unknown program");
		if (row)
			row->judge(&(struct classifier){ .arena = k->arena,
							 .place = k->place,
							 .class = k->class,
							 .shell.cwds = k->shell.cwds,
							 .text.depth = k->text.depth,
							 .probing = 1,
							 .fuel = k->fuel },
				   &(struct simple_command){ row, w, n });
		classifier_probe_lookalike(k, w, n);
		classifier_probe_arguments(k, w, n);
	} else if (only_asks(&(struct simple_command){ row, w, n }) && !command_row_deletes(row)) {
		(void)classifier_add_part(k, w, n);
	} else {
		row->judge(k, &(struct simple_command){ row, w, n });
	}
	k->text.depth--;
}

static void judge_redirects(struct classifier *k, const struct shell_redirect *d)
{
	for (; d; d = d->next) {
		if (d->kind == SHELL_REDIRECT_WRITE || d->kind == SHELL_REDIRECT_APPEND)
			classifier_add_write(k, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/tcp/"))
			classifier_add_write(k, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/udp/"))
			classifier_add_write(k, d->word.text, OUTCOME_SOFT);
	}
}

/* Words that may become a command through a variable: known programs are classified as if they ran. */
static void judge_perhaps(struct classifier *k, const struct shell_command *c)
{
	const struct command_row *row = command_row_find(command_base(c->words[0].text, &(bool){ false }));

	if (row && row->judge != command_judge_read)
		classifier_read_command(k, c->words, c->n_words);
	for (size_t i = 0; i < c->n_words; i++)
		if (strpbrk(c->words[i].text, " \t\n`$"))
			classifier_probe_text(k, c->words[i].text);
}

static void judge_simple(struct classifier *k, const struct shell_command *c)
{
	const struct shell_redirect *outer = k->text.redirects;
	bool altered = k->text.altered;

	classifier_settle_cd(k, c);
	k->text.looping = c->loops;
	for (const struct shell_assignment *a = c->assignments; a; a = a->next) {
		classifier_read_variable(k, a->name, a->value.text);
		k->text.altered = true;
	}
	judge_redirects(k, c->redirects);
	k->text.redirects = c->redirects;
	if (c->perhaps && c->n_words > 0)
		judge_perhaps(k, c);
	else
		classifier_read_command(k, c->words, c->n_words);
	k->text.redirects = outer;
	if (k->shell.cd_pending)
		k->shell.cd_scope = c->scope;
	/* An assignment without a command stays in effect for the commands after it. */
	if (c->n_words > 0)
		k->text.altered = altered;
}

void classifier_read_text(struct classifier *k, const char *text, bool same_shell)
{
	const struct classifier_text outer_text = k->text;
	const struct classifier_shell outer_shell = k->shell;
	struct shell parsed;

	if (k->text.depth >= CLASSIFIER_DEPTH_MAX) {
		classifier_add_unparsable(k, text, "nested too deeply");
		classifier_probe_raw(k, text);
		return;
	}
	if (!classifier_spend(k, strlen(text)) || shell_split(k->arena, text, strlen(text), &parsed) < 0)
		return;
	k->text.depth++;
	if (parsed.why) {
		classifier_add_unparsable(k, text, parsed.why);
		classifier_probe_raw(k, text);
	}
	if (command_text_is_unknown(text))
		classifier_add_unknown(k, text, "part of the shell text is known only at run time");
	k->shell.cd_pending = false;
	k->text.commands = parsed.first;
	for (const struct shell_command *c = parsed.first; c; c = c->next)
		judge_simple(k, c);
	classifier_settle_cd(k, NULL);
	k->text = outer_text;
	if (!same_shell)
		k->shell = outer_shell;
}

/* Joined by single blanks. */
char *classifier_join_words(struct classifier *k, const struct shell_word *w, size_t n)
{
	size_t len = 1, at = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		len += strlen(w[i].text) + 1;
	text = arena_alloc(k->arena, len);
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t one = strlen(w[i].text);

		if (i > 0)
			text[at++] = ' ';
		memcpy(text + at, w[i].text, one);
		at += one;
	}
	text[at] = '\0';
	return text;
}

static struct shell_word *words_of(struct arena *a, char *const *argv, size_t *ret_n)
{
	struct shell_word *w;
	size_t n = 0;

	while (argv[n])
		n++;
	w = arena_alloc(a, (n + 1) * sizeof(*w));
	for (size_t i = 0; w && i < n; i++)
		w[i] = (struct shell_word){ argv[i],
					    strchr(argv[i], SHELL_UNKNOWN) ? SHELL_WORD_UNKNOWN : 0 };
	*ret_n = n;
	return w;
}

/* A fetch and a run in one command line, in either order: downloaded text may be executed. */
static void judge_fetch_and_run(struct classifier *k)
{
	if (!(k->class->traits & COMMAND_FETCHES) || !(k->class->traits & COMMAND_RUNS))
		return;
	classifier_add_finding(k, "fetch-and-run", "", "runs downloaded code");
	classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_UNTRUSTED);
}

int command_classify(struct arena *a, const struct command_place *place, char *const *argv,
		     struct command_class *ret)
{
	struct classifier k = { .arena = a, .place = place, .class = ret, .fuel = CLASSIFIER_FUEL };
	struct shell_word *w;
	size_t n;

	ret->outcome = OUTCOME_REVERSIBLE;
	ret->domain = DOMAIN_WORKSPACE;
	ret->traits = 0;
	ret->n_findings = 0;
	ret->parts = NULL;
	ret->parts_tail = &ret->parts;
	if (place->cwd && place->cwd[0] == '/')
		k.shell.cwds = (struct classifier_cwds){ .v = { place->cwd }, .n = 1 };
	else
		k.shell.cwds.unknown = true;
	w = words_of(a, argv, &n);
	if (w && n > 0) {
		classifier_read_environment(&k);
		classifier_read_command(&k, w, n);
		judge_fetch_and_run(&k);
	} else if (w) {
		classifier_add_unknown(&k, "", "no command");
	}
	if (a->error == -ENOMEM)
		return -ENOMEM;
	if (a->error)
		(void)classifier_spend(&k, CLASSIFIER_FUEL + 1);
	return 0;
}
