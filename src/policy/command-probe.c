/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

void judge_probe_command(struct judge *j, const struct shell_word *w, size_t n)
{
	struct judge before = *j;

	j->probing++;
	judge_command(j, w, n);
	before.fuel = j->fuel;
	*j = before;
}

void judge_probe_text(struct judge *j, const char *text)
{
	struct judge before = *j;

	j->probing++;
	judge_shell_text(j, text, false);
	before.fuel = j->fuel;
	*j = before;
}

/* Names of functions that delete trees, in languages that are not read here. */
static bool mentions_tree_delete(const char *text)
{
	static const char *const names[] = { "rmtree",	   "remove_tree", "rimraf",	    "rmSync",
					     "rmdirSync",  "rm_rf",	  "rm_r",	    "fs.rm(",
					     "removedirs", "RemoveAll",	  "remove_dir_all", "deltree",
					     NULL };

	for (size_t i = 0; names[i]; i++)
		if (strstr(text, names[i]))
			return true;
	return false;
}

/* Words between separators, as if they were typed; each that deletes is judged with what follows it. */
static void probe_words(struct judge *j, const char *text, const char *drop)
{
	size_t len = strlen(text), n = 0;
	struct shell_word *w = arena_alloc(j->arena, (len + 2) * sizeof(*w));
	char *copy = arena_alloc(j->arena, len + 2), *out = copy;
	bool open = false;

	if (!w || !copy)
		return;
	for (const char *p = text;; p++) {
		bool ends = !*p || strchr(";|&\n", *p), separates = ends || strchr(" \t()<>{}[],'\"`=!", *p);

		if (!ends && strchr(drop, *p))
			continue;
		if (!separates) {
			if (!open)
				w[n++] = (struct shell_word){ out, 0 };
			open = true;
			*out++ = *p;
			continue;
		}
		if (open)
			*out++ = '\0';
		open = false;
		/* bash's !(x), +(x): any name may match. */
		if (*p == '(' && p > text && strchr("!@+?*", p[-1]))
			w[n++] = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		if (!ends)
			continue;
		for (size_t i = 0; i < n; i++)
			if (command_row_deletes(
				    command_row_find(command_base(w[i].text, &(bool){ false })))) {
				judge_probe_command(j, w + i, n - i);
				break;
			}
		n = 0;
		if (!*p)
			return;
	}
}

void judge_probe_crude(struct judge *j, const char *text)
{
	if (!judge_spend(j, strlen(text)))
		return;
	if (mentions_tree_delete(text))
		judge_unbounded(j, text, "what it deletes cannot be known");
	probe_words(j, text, "\\");
	probe_words(j, text, "'\"\\");
}

/* An unrecognised program may run what its arguments say: "foo rm -rf /", "foo -c 'rm -rf /'". */
void judge_probe_arguments(struct judge *j, const struct shell_word *w, size_t n)
{
	unsigned int tried = 0;

	for (size_t i = 1; i < n && tried < 8; i++) {
		const char *text = w[i].text;

		if (strpbrk(text, " \t\n;|&")) {
			tried++;
			judge_probe_text(j, text);
		} else if (command_row_deletes(command_row_find(command_base(text, &(bool){ false })))) {
			tried++;
			judge_probe_command(j, w + i, n - i);
		}
	}
}

/* ./x -rf /: it may be a copy of rm. */
void judge_likeness(struct judge *j, const struct shell_word *w, size_t n)
{
	bool recursive = false, force = false;
	const char *why;

	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		if (t[0] != '-')
			continue;
		recursive =
			recursive || (t[1] != '-' ? strpbrk(t, "rR") != NULL : str_starts(t, "--recursive"));
		force = force || (t[1] != '-' ? strchr(t, 'f') != NULL : str_starts(t, "--force"));
	}
	for (size_t i = 1; recursive && force && i < n; i++)
		if (w[i].text[0] != '-' && path_is_unbounded(j, w[i].text, &why)) {
			judge_unbounded(j, w[i].text, "the program may be rm");
			return;
		}
}

/* The name itself is not known: it may be rm.  "/", "~" and "*" tell by themselves, others with a -r. */
void judge_nameless(struct judge *j, const struct shell_word *w, size_t n)
{
	bool recursive = false;

	judge_unknown(j, w[0].text, "which program it is cannot be known");
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		recursive = recursive || (t[0] == '-' && t[1] != '-' && strpbrk(t, "rR\x01")) ||
			    (str_starts(t, "--r") && str_starts("--recursive", t)) || str_eq(t, "-delete");
	}
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text, *why;
		bool plain = t[0] == '/' || t[0] == '~' || t[0] == '*';

		if (t[0] != '-' && (plain || recursive) && path_is_unbounded(j, t, &why)) {
			judge_unbounded(j, t, "the program may be rm");
			return;
		}
	}
	judge_probe_arguments(j, w, n);
}
