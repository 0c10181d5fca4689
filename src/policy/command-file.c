/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"
#include "policy/command-grammar.h"

/* Programs that only read, with the words that their grammar lists. */
void command_judge_read(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
}

/* Programs whose class does not depend on their arguments. */
void command_judge_fixed(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_change(k, c->row->outcome, c->row->domain);
	classifier_add_traits(k, c->row->traits);
	if (str_eq(c->row->name, "mount"))
		k->links = true;
	if (c->row->domain == DOMAIN_SYSTEM)
		classifier_add_finding(k, "system-tool", c->w[0].text, "changes the system");
	else if (c->row->traits & COMMAND_RUNS)
		classifier_add_finding(k, "runs-programs", c->w[0].text, "runs other programs");
	if (c->row->traits & COMMAND_RUNS)
		classifier_probe_arguments(k, c->w, c->n);
}

/* Every operand is written: touch, mkdir, tee, truncate. */
void command_judge_operands(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;
	unsigned int skip = c->row->skip;

	(void)classifier_add_part(k, c->w, c->n);
	/* "xxd a -b" writes a file -b. */
	option_iter_init(&o, c, str_eq(c->row->name, "xxd"));
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text,
					       "an option that runs a program or writes a file");
		if (!option_word_is_operand(&at))
			continue;
		if (skip > 0)
			skip--;
		else
			classifier_add_write(k, at.word, c->row->outcome);
	}
}

/* chmod -rwx FILE: a mode that looks like options. */
static bool is_dashed_mode(const struct simple_command *c, const struct option_word *at)
{
	return str_eq(c->row->name, "chmod") && at->c && strchr("rwxXstugoa,+=01234567", at->c);
}

/* chmod, chown: the first operand is the mode; with -R the old modes cannot be restored. */
void command_judge_mode(struct classifier *k, const struct simple_command *c)
{
	bool recursive = false, first = true;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		recursive = recursive || option_word_is(&at, "R recursive");
		first = first && !is_dashed_mode(c, &at) && !option_word_is(&at, " reference");
	}
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		const char *why;
		bool whole;

		if (!option_word_is_operand(&at))
			continue;
		if (first) {
			first = false;
			continue;
		}
		whole = recursive && classifier_path_is_unbounded(k, at.word, &why);
		if (whole)
			classifier_add_finding(k, "whole-tree", at.word,
					       "changes modes or owners of a whole directory tree");
		classifier_add_write(k, at.word, whole ? OUTCOME_IRREVERSIBLE : OUTCOME_SOFT);
	}
}

/* cp, mv, ln, install: the last operand or -t is written; mv removes the others, ln -s links to them. */
void command_judge_copy(struct classifier *k, const struct simple_command *c)
{
	bool moves = str_eq(c->row->name, "mv"), links = str_eq(c->row->name, "ln"), target = false;
	const char *last = NULL, *why;
	size_t operands = 0;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_change(k, OUTCOME_REVERSIBLE, DOMAIN_WORKSPACE);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text, "an option that runs a program");
		if (option_word_is(&at, "t target-directory") && at.value) {
			target = true;
			classifier_add_write(k, at.value, OUTCOME_SOFT);
		}
		if (!option_word_is_operand(&at))
			continue;
		if (last && moves)
			classifier_add_write(k, last, OUTCOME_SOFT);
		if ((last || operands == 0) && links && classifier_path_is_unbounded(k, at.word, &why))
			k->links = true;
		last = at.word;
		operands++;
	}
	if (!last)
		return;
	if (target && moves)
		classifier_add_write(k, last, OUTCOME_SOFT);
	if (!target)
		classifier_add_write(k, operands == 1 && links ? "." : last, OUTCOME_SOFT);
}

void command_judge_dd(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	for (size_t i = 1; i < c->n; i++) {
		if (str_starts(c->w[i].text, "of="))
			classifier_add_write(k, c->w[i].text + 3, OUTCOME_SOFT);
		else if (command_text_is_unknown(c->w[i].text) && !strchr(c->w[i].text, '='))
			classifier_add_write(k, "\x01", OUTCOME_SOFT);
	}
}

/* Of a first word without a dash every letter is an option. */
static bool has_mode(const char *word, const char *letters)
{
	return word[0] != '-' && strpbrk(word, letters) != NULL;
}

/*
 * "tar xC /": letters of a first word without a dash take their arguments from the following words, in order.
 */
static void judge_bundle(struct classifier *k, const struct simple_command *c, bool lists)
{
	size_t next = 2;

	for (const char *p = c->n > 1 && c->w[1].text[0] != '-' ? c->w[1].text : ""; *p; p++) {
		if (strchr("IF", *p))
			classifier_add_unknown(k, c->w[0].text, "an option that runs a program");
		if (*p == 'P' && !lists)
			classifier_add_write(k, "\x01", OUTCOME_SOFT);
		if (!strchr("fCXTbIFgLKNVH", *p) || next >= c->n)
			continue;
		if (*p == 'C' && !lists)
			classifier_add_write(k, c->w[next].text, OUTCOME_SOFT);
		next++;
	}
}

/* Are the options those of a list? With two modes tar does nothing. */
static bool tar_lists(const struct simple_command *c)
{
	struct grammar_iter g = { .row = grammar_find("tar", 3), .w = c->w, .n = c->n, .i = 1 };
	struct grammar_item at;
	bool lists = c->n > 1 && has_mode(c->w[1].text, "t");

	if (c->n > 1 && has_mode(c->w[1].text, "xcruAd"))
		return false;
	while (grammar_iter_next(&g, &at)) {
		lists = lists || grammar_item_is(&at, "t list");
		if (grammar_item_is(
			    &at, "xcruAd extract,get,create,append,update,catenate,concatenate,delete,diff"))
			return false;
	}
	return lists;
}

void command_judge_tar(struct classifier *k, const struct simple_command *c)
{
	bool deletes = false, lists = false, zip = str_eq(c->row->name, "unzip");
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	lists = !zip && tar_lists(c);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad)) {
			classifier_add_unknown(k, c->w[0].text, "an option that runs a program");
			if (at.value)
				classifier_probe_raw(k, at.value);
		}
		deletes = deletes || (at.name && option_word_is(&at, " remove-files,recursive-unlink"));
		lists = lists || (zip && option_word_is(&at, "lptvZ"));
		if (option_word_is(&at, zip ? "d" : "C directory") && at.value && !lists)
			classifier_add_write(k, at.value, OUTCOME_SOFT);
		if (!zip && option_word_is(&at, "P absolute-names") && !lists)
			classifier_add_write(k, "\x01", OUTCOME_SOFT);
	}
	if (!zip)
		judge_bundle(k, c, lists);
	if (!lists)
		classifier_add_write(k, "./archive", OUTCOME_SOFT);
	option_iter_init(&o, c, false);
	while (deletes && option_iter_next(&o, &at))
		if (option_word_is_operand(&at))
			classifier_add_delete(k, "tar --remove-files", at.word);
}
