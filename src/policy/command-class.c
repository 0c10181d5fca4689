/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-class.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "policy/command-judge.h"

/* Too deep to be judged: a delete among the words is one without a bound. */
static void judge_depths(struct judge *j, const struct shell_word *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct command_row *row = command_row_find(command_base(w[i].text, &(bool){ false }));

		if (row && (row->judge == judge_rm || row->judge == judge_find))
			judge_unbounded(j, w[i].text, "nested too deeply to be judged");
	}
}

static bool only_asks(const struct command *c)
{
	return c->n == 2 && (str_eq(c->w[1].text, "--version") || str_eq(c->w[1].text, "--help"));
}

void judge_command(struct judge *j, const struct shell_word *w, size_t n)
{
	const struct command_row *row;
	const char *name;
	bool own;

	if (n == 0 || !judge_spend(j, n + 8)) /* finding its row is the larger part */
		return;
	if (j->depth >= JUDGE_DEPTH_MAX) {
		judge_unparsable(j, w[0].text, "nested too deeply");
		judge_depths(j, w, n);
		return;
	}
	j->depth++;
	name = command_base(w[0].text, &own);
	row = command_row_find(name);
	if (text_is_unknown(w[0].text)) {
		struct command_part *p = judge_part(j, w, n);

		if (p)
			p->altered = true;
		judge_nameless(j, w, n);
	} else if (!row || own) {
		struct command_part *p = judge_part(j, w, n);

		if (p)
			p->altered = p->altered || own;
		judge_unknown(j, w[0].text,
			      own ? "a program of its own" : "not a program that is recognised");
		if (row)
			row->judge(&(struct judge){ .arena = j->arena,
						    .place = j->place,
						    .class = j->class,
						    .cwds = j->cwds,
						    .depth = j->depth,
						    .probing = 1,
						    .fuel = j->fuel },
				   &(struct command){ row, w, n });
		judge_likeness(j, w, n);
		judge_probe_arguments(j, w, n);
	} else if (only_asks(&(struct command){ row, w, n }) && !command_row_deletes(row)) {
		(void)judge_part(j, w, n);
	} else {
		row->judge(j, &(struct command){ row, w, n });
	}
	j->depth--;
}

static void judge_redirects(struct judge *j, const struct shell_redirect *d)
{
	for (; d; d = d->next) {
		if (d->kind == SHELL_REDIRECT_WRITE || d->kind == SHELL_REDIRECT_APPEND)
			judge_write(j, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/tcp/"))
			judge_write(j, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/udp/"))
			judge_write(j, d->word.text, OUTCOME_SOFT);
	}
}

/* Words that a variable may become a command of: known programs are taken at their word. */
static void judge_perhaps(struct judge *j, const struct shell_command *c)
{
	const struct command_row *row = command_row_find(command_base(c->words[0].text, &(bool){ false }));

	if (row && row->judge != judge_read)
		judge_command(j, c->words, c->n_words);
	for (size_t i = 0; i < c->n_words; i++)
		if (strpbrk(c->words[i].text, " \t\n`$"))
			judge_probe_text(j, c->words[i].text);
}

static void judge_simple(struct judge *j, const struct shell_command *c)
{
	const struct shell_redirect *outer = j->redirects;
	bool altered = j->altered;

	judge_settle(j, c);
	j->looping = c->loops;
	for (const struct shell_assignment *a = c->assignments; a; a = a->next) {
		judge_variable(j, a->name, a->value.text);
		j->altered = true;
	}
	judge_redirects(j, c->redirects);
	j->redirects = c->redirects;
	if (c->perhaps && c->n_words > 0)
		judge_perhaps(j, c);
	else
		judge_command(j, c->words, c->n_words);
	j->redirects = outer;
	if (j->cd_pending)
		j->cd_scope = c->scope;
	/* A variable that stands alone stays set for the commands after it. */
	if (c->n_words > 0)
		j->altered = altered;
}

void judge_shell_text(struct judge *j, const char *text, bool same_shell)
{
	struct judge outer = *j;
	struct shell shell;

	if (j->depth >= JUDGE_DEPTH_MAX) {
		judge_unparsable(j, text, "nested too deeply");
		judge_probe_crude(j, text);
		return;
	}
	if (!judge_spend(j, strlen(text)))
		return;
	j->depth++;
	if (shell_split(j->arena, text, strlen(text), &shell) < 0)
		return;
	if (shell.why) {
		judge_unparsable(j, text, shell.why);
		judge_probe_crude(j, text);
	}
	if (text_is_unknown(text))
		judge_unknown(j, text, "part of the shell's text cannot be known");
	j->cd_pending = false;
	for (const struct shell_command *c = shell.first; c; c = c->next) {
		j->shell = shell.first;
		judge_simple(j, c);
	}
	judge_settle(j, NULL);
	j->depth = outer.depth;
	j->shell = outer.shell;
	j->altered = outer.altered;
	j->looping = outer.looping;
	j->cd_pending = false;
	if (!same_shell) {
		j->cwds = outer.cwds;
		j->before = outer.before;
		j->cd_pending = outer.cd_pending;
		j->cd_scope = outer.cd_scope;
		j->lost = outer.lost;
		j->redirects = outer.redirects;
	}
}

/* With a blank between each two. */
char *judge_join_words(struct judge *j, const struct shell_word *w, size_t n)
{
	size_t len = 1, at = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		len += strlen(w[i].text) + 1;
	text = arena_alloc(j->arena, len);
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

/* Downloaded text that is run, in whatever order the words stand. */
static void judge_fetch_and_run(struct judge *j)
{
	if (!(j->class->traits & COMMAND_FETCHES) || !(j->class->traits & COMMAND_RUNS))
		return;
	judge_note(j, "fetch-and-run", "", "what came from the network is run");
	judge_change(j, OUTCOME_IRREVERSIBLE, DOMAIN_UNTRUSTED);
}

int command_classify(struct arena *a, const struct command_place *place, char *const *argv,
		     struct command_class *ret)
{
	struct judge j = { .arena = a, .place = place, .class = ret, .fuel = JUDGE_FUEL };
	struct shell_word *w;
	size_t n;

	ret->outcome = OUTCOME_REVERSIBLE;
	ret->domain = DOMAIN_WORKSPACE;
	ret->traits = 0;
	ret->n_notes = 0;
	ret->parts = NULL;
	ret->parts_tail = &ret->parts;
	if (place->cwd && place->cwd[0] == '/')
		j.cwds = (struct judge_cwds){ .v = { place->cwd }, .n = 1 };
	else
		j.cwds.unknown = true;
	w = words_of(a, argv, &n);
	if (w && n > 0) {
		judge_environment(&j);
		judge_command(&j, w, n);
		judge_fetch_and_run(&j);
	} else if (w) {
		judge_unknown(&j, "", "no command");
	}
	if (a->error == -ENOMEM)
		return -ENOMEM;
	if (a->error)
		(void)judge_spend(&j, JUDGE_FUEL + 1);
	return 0;
}
