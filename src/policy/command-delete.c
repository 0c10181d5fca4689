/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "policy/command-grammar.h"

/* rm, rmdir, unlink, shred: every operand is deleted. */
void command_judge_rm(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_change(k, c->row->outcome, DOMAIN_WORKSPACE);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is_operand(&at))
			classifier_add_delete(k, c->w[0].text, at.word);
		else if (at.name && strchr(at.name, SHELL_UNKNOWN))
			classifier_add_unknown_delete(k, at.name, "deletes files whose names are not known");
	}
}

/* --- find ---------------------------------------------------------------------------------------------------- */

struct find {
	const struct simple_command *c;
	size_t first; /* word of the expression */
	enum command_reach
		reach; /* REACH_NAMED: matches lie below named directories, or are selected by name */
	const char *start;
	const char *match; /* stands for a match */
};

/* Words that follow the word of an expression as its values; -1: not a word that find knows. */
static int count_values(const char *word)
{
	const struct grammar_row *row = grammar_find("find", 4);
	int kind = word[0] == '-' ? grammar_long_kind(row, word + 1, strlen(word + 1)) : -1;

	if (str_starts(word, "-newer") && strlen(word) == 8)
		return 1;
	if (kind < 0)
		return -1;
	return kind == '"' ? 2 : kind != '\0' && strchr(":<>", kind) ? 1 : 0;
}

/* True if every match must satisfy a -name test with literal characters before it is deleted. */
static bool has_own_name(const struct simple_command *c, size_t from)
{
	for (size_t i = from; i < c->n; i++) {
		const char *t = c->w[i].text;

		if (str_eq(t, "-o") || str_eq(t, "-or") || str_eq(t, "!") || str_eq(t, "-not") ||
		    str_eq(t, ",") || t[0] == '(' || command_text_is_unknown(t))
			return false;
	}
	for (size_t i = from; i + 1 < c->n; i++) {
		const char *t = c->w[i].text, *name = c->w[i + 1].text;
		int values = count_values(t);

		if (values < 0 || str_eq(t, "-delete") || str_starts(t, "-exec") || str_starts(t, "-ok"))
			return false;
		if (str_eq(t, "-name") || str_eq(t, "-iname"))
			return !command_pattern_is_broad(name, strlen(name)) && !str_eq(name, ".") &&
			       !str_eq(name, "..");
		i += (size_t)values;
	}
	return false;
}

static void find_widen(struct find *f, enum command_reach reach)
{
	if (reach > f->reach)
		f->reach = reach;
}

static void find_starts(struct classifier *k, struct find *f)
{
	const struct simple_command *c = f->c;
	const char *why;
	size_t i = 1;
	bool any = false;

	while (i < c->n &&
	       (str_eq(c->w[i].text, "-H") || str_eq(c->w[i].text, "-L") || str_eq(c->w[i].text, "-P") ||
		str_starts(c->w[i].text, "-O") || str_eq(c->w[i].text, "-D"))) {
		/* Links are followed out of the named directories. */
		if (str_eq(c->w[i].text, "-L") || (str_eq(c->w[i].text, "-H") && k->links))
			find_widen(f, REACH_WHOLE);
		i += str_eq(c->w[i].text, "-D") ? 2 : 1;
	}
	for (; i < c->n && !strchr("-(!,", c->w[i].text[0]); i++) {
		any = true;
		f->start = c->w[i].text;
		if (f->start[0] == SHELL_UNKNOWN)
			classifier_add_unknown(k, "find", "a word known only at run time, may be an action");
		find_widen(f, classifier_path_reach(k, c->w[i].text, &why));
	}
	for (size_t o = i; o < c->n; o++) {
		if (str_eq(c->w[o].text, "-follow"))
			find_widen(f, REACH_WHOLE);
		if (str_eq(c->w[o].text, "-files0-from"))
			find_widen(f, REACH_UNKNOWN);
	}
	f->first = i;
	if (!any) {
		f->start = ".";
		find_widen(f, classifier_path_reach(k, ".", &why));
	}
}

/* A word that has the reach of a match: "*" for all, a path below the start for a bounded find. */
static const char *find_match(struct classifier *k, const struct find *f)
{
	size_t len = strlen(f->start);
	char *found = arena_alloc(k->arena, len + 8);

	if (!found || f->reach == REACH_UNKNOWN)
		return "\x01";
	if (f->reach == REACH_WHOLE)
		return f->start[0] == '/' || f->start[0] == '~' ? f->start : "*";
	memcpy(found, f->start, len);
	memcpy(found + len, "/found", 7);
	return found;
}

/* sed, awk and shells read a name inside their text as code: a directory can be called "w file". */
static bool reads_code(const struct shell_word *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = command_base(w[i].text, &(bool){ false });
		const struct grammar_row *row = grammar_find(name, strlen(name));

		if (row && (row->operands == GRAMMAR_SED || row->operands == GRAMMAR_AWK ||
			    row->operands == GRAMMAR_SHELL))
			return true;
	}
	return false;
}

/* -execdir: in the directory of a match, for a start the one above it. There git has another configuration. */
static void read_in_directories(struct classifier *k, const struct find *f, const struct shell_word *w,
				size_t n)
{
	const struct classifier_cwds cwds = k->shell.cwds;

	k->shell.cwds.climbed = true;
	classifier_read_command(k, w, n);
	for (size_t i = 1; i < f->first; i++) {
		const char *t = f->c->w[i].text, *slash = strrchr(t, '/');
		const char *above = slash == t ? "/"
				    : slash    ? arena_text(k->arena, t, (size_t)(slash - t))
					       : NULL;

		k->shell.cwds = cwds;
		if (!above)
			continue;
		classifier_chdir(k, above);
		classifier_probe_command(k, w, n);
	}
	k->shell.cwds = cwds;
}

/* The words between -exec and ";" or "+", with {} as the match. Returns the index after them. */
static size_t find_exec(struct classifier *k, const struct find *f, size_t from)
{
	const struct simple_command *c = f->c;
	bool plus = str_starts(c->w[from - 1].text, "-exec");
	size_t n = 0;
	struct shell_word *w;

	while (from + n < c->n && !str_eq(c->w[from + n].text, ";") &&
	       !(plus && str_eq(c->w[from + n].text, "+") && n > 0 && str_eq(c->w[from + n - 1].text, "{}")))
		n++;
	w = arena_alloc(k->arena, (n + 1) * sizeof(*w));
	if (!w)
		return c->n;
	for (size_t i = 0; i < n; i++) {
		const char *text = classifier_replace(k, c->w[from + i].text, "{}", f->match);

		if (text != c->w[from + i].text && !str_eq(c->w[from + i].text, "{}") &&
		    reads_code(c->w + from, n))
			classifier_add_unknown(k, c->w[from + i].text,
					       "a file's name becomes a part of code");
		w[i] = text == c->w[from + i].text
			       ? c->w[from + i]
			       : (struct shell_word){ text,
						      f->reach == REACH_UNKNOWN ? SHELL_WORD_UNKNOWN : 0 };
	}
	if (str_eq(c->w[from - 1].text, "-execdir") || str_eq(c->w[from - 1].text, "-okdir"))
		read_in_directories(k, f, w, n);
	else
		classifier_read_command(k, w, n);
	return from + n + 1;
}

static bool stands_in_worktree(const struct classifier *k)
{
	if (k->shell.cwds.unknown || k->shell.cwds.n == 0 || !k->place->worktree)
		return false;
	for (size_t i = 0; i < k->shell.cwds.n; i++)
		if (!path_is_below(k->shell.cwds.v[i], k->place->worktree))
			return false;
	return true;
}

void command_judge_find(struct classifier *k, const struct simple_command *c)
{
	struct find f = { .c = c, .start = "." };

	(void)classifier_add_part(k, c->w, c->n);
	find_starts(k, &f);
	/* A -name test bounds a delete in the worktree, never in "/" or a home. */
	if (f.reach == REACH_WHOLE && has_own_name(c, f.first) &&
	    (str_eq(f.start, ".") || str_eq(f.start, "./")) && f.first <= 2 && stands_in_worktree(k)) {
		f.reach = REACH_NAMED;
		f.start = "./named";
	}
	f.match = find_match(k, &f);
	for (size_t i = f.first; i < c->n;) {
		const char *t = c->w[i].text;

		if (str_eq(t, "-delete")) {
			classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
			classifier_add_reach(k, f.reach, "find -delete", "deletes every match");
			if (f.reach == REACH_NAMED)
				classifier_add_delete(k, c->w[0].text, f.start);
			i++;
		} else if (str_eq(t, "-exec") || str_eq(t, "-execdir") || str_eq(t, "-ok") ||
			   str_eq(t, "-okdir")) {
			i = find_exec(k, &f, i + 1);
		} else if (str_starts(t, "-fprint") || str_eq(t, "-fls")) {
			classifier_add_write(k, i + 1 < c->n ? c->w[i + 1].text : "\x01", OUTCOME_SOFT);
			i += str_eq(t, "-fprintf") ? 3 : 2;
		} else if (command_text_is_unknown(t)) {
			classifier_add_unknown_delete(k, t, "may be -delete");
			i++;
		} else {
			i += count_values(t) > 0 ? (size_t)count_values(t) + 1 : 1;
		}
	}
}
