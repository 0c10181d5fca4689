/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

/* Programs that read, unless one of the options in row->bad is there. */
void judge_read(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	if (!c->row->bad)
		return;
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		bool may_be_option = word_is_operand(&at) && !o.ended && at.word[0] == SHELL_UNKNOWN;

		/* What it writes or runs with it is not followed. */
		if (word_is_option(&at, c->row->bad) || may_be_option)
			judge_unknown(j, c->w[0].text, "an option that runs or writes something");
	}
}

/* Programs that are the same whatever their words. */
void judge_fixed(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	judge_change(j, c->row->outcome, c->row->domain);
	judge_trait(j, c->row->traits);
	if (str_eq(c->row->name, "mount"))
		j->links = true;
	if (c->row->domain == DOMAIN_SYSTEM)
		judge_note(j, "system-tool", c->w[0].text, "changes the system");
	else if (c->row->traits & COMMAND_RUNS)
		judge_note(j, "runs-programs", c->w[0].text, "runs other programs");
	if (c->row->traits & COMMAND_RUNS)
		judge_probe_arguments(j, c->w, c->n);
}

/* Every operand is written: touch, mkdir, tee, truncate. */
void judge_operands(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;
	unsigned int skip = c->row->skip;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad))
			judge_unknown(j, c->w[0].text, "an option that runs or writes something");
		if (!word_is_operand(&at))
			continue;
		if (skip > 0)
			skip--;
		else
			judge_write(j, at.word, c->row->outcome);
	}
}

/* chmod, chown: the first operand is the mode; for a whole tree the old ones are lost. */
void judge_mode(struct judge *j, const struct command *c)
{
	bool recursive = false, first = true;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at))
		recursive = recursive || word_is_option(&at, "R recursive");
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		const char *why;
		bool whole;

		if (word_is_option(&at, " reference"))
			first = false;
		if (!word_is_operand(&at))
			continue;
		/* "-x" is a mode for chmod. */
		if (first) {
			first = false;
			continue;
		}
		whole = recursive && path_is_unbounded(j, at.word, &why);
		if (whole)
			judge_note(j, "whole-tree", at.word, "changes modes or owners of a whole tree");
		judge_write(j, at.word, whole ? OUTCOME_IRREVERSIBLE : OUTCOME_SOFT);
	}
}

/* cp, mv, ln, install: the last operand or -t is written; mv takes the others away, ln -s points to them. */
void judge_copy(struct judge *j, const struct command *c)
{
	bool moves = str_eq(c->row->name, "mv"), links = str_eq(c->row->name, "ln"), target = false;
	const char *last = NULL, *why;
	size_t operands = 0;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_change(j, OUTCOME_REVERSIBLE, DOMAIN_WORKSPACE);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad))
			judge_unknown(j, c->w[0].text, "an option that runs a program");
		if (word_is_option(&at, "t target-directory") && at.value) {
			target = true;
			judge_write(j, at.value, OUTCOME_SOFT);
		}
		if (!word_is_operand(&at))
			continue;
		if (last && moves)
			judge_write(j, last, OUTCOME_SOFT);
		if ((last || operands == 0) && links && path_is_unbounded(j, at.word, &why))
			j->links = true;
		last = at.word;
		operands++;
	}
	if (!last)
		return;
	if (target && moves)
		judge_write(j, last, OUTCOME_SOFT);
	if (!target)
		judge_write(j, operands == 1 && links ? "." : last, OUTCOME_SOFT);
}

void judge_dd(struct judge *j, const struct command *c)
{
	(void)judge_part(j, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		if (str_starts(c->w[i].text, "of="))
			judge_write(j, c->w[i].text + 3, OUTCOME_SOFT);
		else if (text_is_unknown(c->w[i].text) && !strchr(c->w[i].text, '='))
			judge_write(j, "\x01", OUTCOME_SOFT);
	}
}

static bool has_mode(const char *word, const char *letters)
{
	if (word[0] == '-' && word[1] == '-')
		return false;
	return strpbrk(word, letters) != NULL;
}

/* "tar xC /": the letters of a first word without a dash take the words after it, in their order. */
static void judge_bundle(struct judge *j, const struct command *c, bool lists)
{
	size_t next = 2;

	for (const char *p = c->n > 1 && c->w[1].text[0] != '-' ? c->w[1].text : ""; *p; p++) {
		if (strchr("IF", *p))
			judge_unknown(j, c->w[0].text, "an option that runs a program");
		if (*p == 'P' && !lists)
			judge_write(j, "\x01", OUTCOME_SOFT);
		if (!strchr("fCXTbIFgLKNVH", *p) || next >= c->n)
			continue;
		if (*p == 'C' && !lists)
			judge_write(j, c->w[next].text, OUTCOME_SOFT);
		next++;
	}
}

void judge_tar(struct judge *j, const struct command *c)
{
	bool deletes = false, lists = false, zip = str_eq(c->row->name, "unzip");
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	lists = !zip && c->n > 1 && has_mode(c->w[1].text, "t") && !has_mode(c->w[1].text, "xcruA");
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad)) {
			judge_unknown(j, c->w[0].text, "an option that runs a program");
			if (at.value)
				judge_probe_crude(j, at.value);
		}
		deletes = deletes || (at.name && word_is_option(&at, " remove-files,recursive-unlink"));
		lists = lists || (at.name && word_is_option(&at, " list"));
		lists = lists || (zip && word_is_option(&at, "lptvZ"));
		if (word_is_option(&at, zip ? "d" : "C directory") && at.value && !lists)
			judge_write(j, at.value, OUTCOME_SOFT);
		if (!zip && word_is_option(&at, "P absolute-names") && !lists)
			judge_write(j, "\x01", OUTCOME_SOFT);
	}
	if (!zip)
		judge_bundle(j, c, lists);
	if (!lists)
		judge_write(j, "./archive", OUTCOME_SOFT);
	words_init(&o, c, false);
	while (deletes && words_next(&o, &at))
		if (word_is_operand(&at))
			judge_delete(j, "tar --remove-files", at.word);
}
