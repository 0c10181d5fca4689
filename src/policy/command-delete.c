/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

/* rm and its kin: what they delete is named, or it is not. */
void judge_rm(struct judge *j, const struct command *c)
{
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_change(j, c->row->outcome, DOMAIN_WORKSPACE);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_operand(&at))
			judge_delete(j, c->w[0].text, at.word);
		else if (at.name && strchr(at.name, SHELL_UNKNOWN))
			judge_unbounded(j, at.name, "what it deletes cannot be known");
	}
}

/* --- find ---------------------------------------------------------------------------------------------------- */

struct find {
	const struct command *c;
	size_t first; /* word of the expression */
	bool bounded; /* what is found lies below named directories, or has a name of its own */
	const char *start;
};

static bool takes_argument(const char *word)
{
	static const char *const words[] = {
		"-name",     "-iname",	    "-path",	  "-ipath",    "-wholename", "-regex", "-iregex",
		"-type",     "-size",	    "-mtime",	  "-mmin",     "-atime",     "-amin",  "-ctime",
		"-cmin",     "-newer",	    "-anewer",	  "-cnewer",   "-user",	     "-group", "-uid",
		"-gid",	     "-perm",	    "-maxdepth",  "-mindepth", "-fstype",    "-links", "-inum",
		"-samefile", "-printf",	    "-regextype", "-used",     "-xtype",     "-lname", "-ilname",
		"-context",  "-iwholename", NULL
	};

	for (size_t i = 0; words[i]; i++)
		if (str_eq(word, words[i]))
			return true;
	return str_starts(word, "-newer") && strlen(word) == 8;
}

/* Conditions that all must hold, a name with characters of its own among them, before anything is deleted. */
static bool has_own_name(const struct command *c, size_t from)
{
	for (size_t i = from; i < c->n; i++) {
		const char *t = c->w[i].text;

		if (str_eq(t, "-o") || str_eq(t, "-or") || str_eq(t, "!") || str_eq(t, "-not") ||
		    str_eq(t, ",") || t[0] == '(' || text_is_unknown(t))
			return false;
	}
	for (size_t i = from; i + 1 < c->n; i++) {
		const char *t = c->w[i].text, *name = c->w[i + 1].text;

		if (str_eq(t, "-delete") || str_starts(t, "-exec") || str_starts(t, "-ok"))
			return false;
		if (str_eq(t, "-name") || str_eq(t, "-iname"))
			return !pattern_is_broad(name, strlen(name)) && !str_eq(name, ".") &&
			       !str_eq(name, "..");
		if (takes_argument(t))
			i++;
	}
	return false;
}

static void find_starts(struct judge *j, struct find *f)
{
	const struct command *c = f->c;
	const char *why;
	size_t i = 1;
	bool any = false, roots = false;

	while (i < c->n &&
	       (str_eq(c->w[i].text, "-H") || str_eq(c->w[i].text, "-L") || str_eq(c->w[i].text, "-P") ||
		str_starts(c->w[i].text, "-O") || str_eq(c->w[i].text, "-D"))) {
		/* Links are followed out of the named directories. */
		roots = roots || str_eq(c->w[i].text, "-L");
		i += str_eq(c->w[i].text, "-D") ? 2 : 1;
	}
	for (; i < c->n && !strchr("-(!,", c->w[i].text[0]); i++) {
		any = true;
		f->start = c->w[i].text;
		if (f->start[0] == SHELL_UNKNOWN)
			judge_unknown(j, "find", "a word that may be an action");
		roots = roots || path_is_unbounded(j, c->w[i].text, &why);
	}
	for (size_t k = i; k < c->n; k++)
		roots = roots || str_eq(c->w[k].text, "-follow") || str_eq(c->w[k].text, "-files0-from");
	f->first = i;
	if (!any) {
		f->start = ".";
		roots = roots || path_is_unbounded(j, ".", &why);
	}
	f->bounded = !roots;
}

/* The words between -exec and ";" or "+", {} being what is found.  Returns the index after them. */
static size_t find_exec(struct judge *j, const struct find *f, size_t from)
{
	const struct command *c = f->c;
	size_t n = 0, name = strlen(f->start);
	char *found = arena_alloc(j->arena, name + 8);
	struct shell_word *w;

	while (from + n < c->n && !str_eq(c->w[from + n].text, ";") &&
	       !(str_eq(c->w[from + n].text, "+") && n > 0 && str_eq(c->w[from + n - 1].text, "{}")))
		n++;
	w = arena_alloc(j->arena, (n + 1) * sizeof(*w));
	if (!w || !found)
		return c->n;
	memcpy(found, f->start, name);
	memcpy(found + name, "/found", 7);
	for (size_t i = 0; i < n; i++) {
		const char *text = c->w[from + i].text;

		w[i] = c->w[from + i];
		if (str_eq(text, "{}") && f->bounded)
			w[i].text = found;
		else if (strstr(text, "{}"))
			w[i] = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
	}
	judge_command(j, w, n);
	/* Inside of a shell's text {} is a word of a stranger. */
	for (size_t i = 0; i < n; i++)
		if (strstr(c->w[from + i].text, "{}") && !str_eq(c->w[from + i].text, "{}"))
			judge_probe_crude(j, c->w[from + i].text);
	return from + n + 1;
}

static bool stands_in_worktree(const struct judge *j)
{
	if (j->cwds.unknown || j->cwds.n == 0 || !j->place->worktree)
		return false;
	for (size_t i = 0; i < j->cwds.n; i++)
		if (!path_is_below(j->cwds.v[i], j->place->worktree))
			return false;
	return true;
}

void judge_find(struct judge *j, const struct command *c)
{
	struct find f = { .c = c, .start = "." };

	(void)judge_part(j, c->w, c->n);
	find_starts(j, &f);
	if (!f.bounded && has_own_name(c, f.first)) {
		/* A name of its own bounds the worktree, never "/" or a home. */
		f.bounded = str_eq(f.start, ".") || str_eq(f.start, "./");
		f.bounded = f.bounded && f.first <= 2 && stands_in_worktree(j);
		if (f.bounded)
			f.start = "./named";
	}
	for (size_t i = f.first; i < c->n;) {
		const char *t = c->w[i].text;

		if (str_eq(t, "-delete")) {
			judge_change(j, OUTCOME_SOFT, DOMAIN_WORKSPACE);
			if (!f.bounded)
				judge_unbounded(j, "find -delete", "it deletes all that is found");
			else
				judge_delete(j, c->w[0].text, f.start);
			i++;
		} else if (str_eq(t, "-exec") || str_eq(t, "-execdir") || str_eq(t, "-ok") ||
			   str_eq(t, "-okdir")) {
			i = find_exec(j, &f, i + 1);
		} else if (str_starts(t, "-fprint") || str_eq(t, "-fls")) {
			judge_write(j, i + 1 < c->n ? c->w[i + 1].text : "\x01", OUTCOME_SOFT);
			i += 2;
		} else if (text_is_unknown(t)) {
			judge_unbounded(j, t, "it may be -delete");
			i++;
		} else {
			i += takes_argument(t) ? 2 : 1;
		}
	}
}
