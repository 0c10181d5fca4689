/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

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
			classifier_add_unbounded(k, at.name, "deletes files whose names are not known");
	}
}

/* --- find ---------------------------------------------------------------------------------------------------- */

struct find {
	const struct simple_command *c;
	size_t first; /* word of the expression */
	bool bounded; /* matches lie below named directories, or are selected by name */
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

		if (str_eq(t, "-delete") || str_starts(t, "-exec") || str_starts(t, "-ok"))
			return false;
		if (str_eq(t, "-name") || str_eq(t, "-iname"))
			return !command_pattern_is_broad(name, strlen(name)) && !str_eq(name, ".") &&
			       !str_eq(name, "..");
		if (takes_argument(t))
			i++;
	}
	return false;
}

static void find_starts(struct classifier *k, struct find *f)
{
	const struct simple_command *c = f->c;
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
			classifier_add_unknown(k, "find", "a word known only at run time, may be an action");
		roots = roots || classifier_path_is_unbounded(k, c->w[i].text, &why);
	}
	for (size_t o = i; o < c->n; o++)
		roots = roots || str_eq(c->w[o].text, "-follow") || str_eq(c->w[o].text, "-files0-from");
	f->first = i;
	if (!any) {
		f->start = ".";
		roots = roots || classifier_path_is_unbounded(k, ".", &why);
	}
	f->bounded = !roots;
}

/* The words between -exec and ";" or "+", with {} as the match. Returns the index after them. */
static size_t find_exec(struct classifier *k, const struct find *f, size_t from)
{
	const struct simple_command *c = f->c;
	size_t n = 0, name = strlen(f->start);
	char *found = arena_alloc(k->arena, name + 8);
	struct shell_word *w;

	while (from + n < c->n && !str_eq(c->w[from + n].text, ";") &&
	       !(str_eq(c->w[from + n].text, "+") && n > 0 && str_eq(c->w[from + n - 1].text, "{}")))
		n++;
	w = arena_alloc(k->arena, (n + 1) * sizeof(*w));
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
	classifier_read_command(k, w, n);
	/* Inside shell text {} is replaced by an unknown word. */
	for (size_t i = 0; i < n; i++)
		if (strstr(c->w[from + i].text, "{}") && !str_eq(c->w[from + i].text, "{}"))
			classifier_probe_raw(k, c->w[from + i].text);
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
	if (!f.bounded && has_own_name(c, f.first)) {
		/* A -name test bounds a delete in the worktree, never in "/" or a home. */
		f.bounded = str_eq(f.start, ".") || str_eq(f.start, "./");
		f.bounded = f.bounded && f.first <= 2 && stands_in_worktree(k);
		if (f.bounded)
			f.start = "./named";
	}
	for (size_t i = f.first; i < c->n;) {
		const char *t = c->w[i].text;

		if (str_eq(t, "-delete")) {
			classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
			if (!f.bounded)
				classifier_add_unbounded(k, "find -delete", "deletes every match");
			else
				classifier_add_delete(k, c->w[0].text, f.start);
			i++;
		} else if (str_eq(t, "-exec") || str_eq(t, "-execdir") || str_eq(t, "-ok") ||
			   str_eq(t, "-okdir")) {
			i = find_exec(k, &f, i + 1);
		} else if (str_starts(t, "-fprint") || str_eq(t, "-fls")) {
			classifier_add_write(k, i + 1 < c->n ? c->w[i + 1].text : "\x01", OUTCOME_SOFT);
			i += 2;
		} else if (command_text_is_unknown(t)) {
			classifier_add_unbounded(k, t, "may be -delete");
			i++;
		} else {
			i += takes_argument(t) ? 2 : 1;
		}
	}
}
