/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

#define PROBES_MAX 64 /* of the words of one command; decoys before a delete cost fuel */

void classifier_probe_command(struct classifier *k, const struct shell_word *w, size_t n)
{
	struct classifier before = *k;

	k->probing++;
	classifier_read_command(k, w, n);
	before.fuel = k->fuel;
	*k = before;
}

void classifier_probe_text(struct classifier *k, const char *text)
{
	struct classifier before = *k;

	k->probing++;
	classifier_read_text(k, text, false);
	before.fuel = k->fuel;
	*k = before;
}

/* A quoted word of TEXT names a root, or a function returns the working directory or the home. */
static bool mentions_root(struct classifier *k, const char *text)
{
	static const char *const names[] = { "getcwd",	  "cwd(",   "Dir.pwd", "homedir",
					     "Path.home", "curdir", "(/)",     NULL };
	const char *why;

	for (size_t i = 0; names[i]; i++)
		if (strstr(text, names[i]))
			return true;
	for (const char *p = strpbrk(text, "'\""), *end; p; p = strpbrk(end + 1, "'\"")) {
		const char *word;

		end = strchr(p + 1, *p);
		if (!end)
			return false;
		word = arena_text(k->arena, p + 1, (size_t)(end - p - 1));
		if (!word || classifier_path_reach(k, word, &why) == REACH_WHOLE)
			return true;
	}
	return false;
}

/* Functions that delete trees, in languages that are not parsed. */
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

/*
 * Splits TEXT at separators; each word that names a deleting program is classified with the words after it.
 */
static void probe_words(struct classifier *k, const char *text, const char *drop)
{
	size_t len = strlen(text), n = 0;
	struct shell_word *w = arena_alloc(k->arena, (len + 2) * sizeof(*w));
	char *copy = arena_alloc(k->arena, len + 2), *out = copy;
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
			w[n++] = (struct shell_word){ "*", 0 };
		if (!ends)
			continue;
		for (size_t i = 0; i < n; i++)
			if (command_row_deletes(
				    command_row_find(command_base(w[i].text, &(bool){ false })))) {
				classifier_probe_command(k, w + i, n - i);
				break;
			}
		n = 0;
		if (!*p)
			return;
	}
}

void classifier_probe_raw(struct classifier *k, const char *text)
{
	if (!classifier_spend(k, strlen(text)))
		return;
	if (mentions_tree_delete(text))
		classifier_add_reach(k, mentions_root(k, text) ? REACH_WHOLE : REACH_UNKNOWN, text,
				     "deletes files whose names are not known");
	probe_words(k, text, "\\");
	probe_words(k, text, "'\"\\");
}

/* An unknown program may execute its arguments: "foo rm -rf /", "foo -c 'rm -rf /'". */
void classifier_probe_arguments(struct classifier *k, const struct shell_word *w, size_t n)
{
	unsigned int tried = 0;

	for (size_t i = 1; i < n && tried < PROBES_MAX; i++) {
		const char *text = w[i].text;

		if (strpbrk(text, " \t\n;|&")) {
			tried++;
			classifier_probe_text(k, text);
		} else if (command_row_deletes(command_row_find(command_base(text, &(bool){ false })))) {
			tried++;
			classifier_probe_command(k, w + i, n - i);
		}
	}
}

/* ./x -rf /: it may be a copy of rm. */
void classifier_probe_lookalike(struct classifier *k, const struct shell_word *w, size_t n)
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
		if (w[i].text[0] != '-')
			classifier_add_reach(k, classifier_path_reach(k, w[i].text, &why), w[i].text,
					     "the program may be rm");
}

/* The program's name is not known: it may be rm. "/", "~" and "*" count alone, other operands with -r. */
void classifier_probe_unnamed(struct classifier *k, const struct shell_word *w, size_t n)
{
	bool recursive = false;

	classifier_add_unknown(k, w[0].text, "program name is known only at run time");
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		recursive = recursive || (t[0] == '-' && t[1] != '-' && strpbrk(t, "rR\x01")) ||
			    (str_starts(t, "--r") && str_starts("--recursive", t)) || str_eq(t, "-delete");
	}
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text, *why;
		bool plain = t[0] == '/' || t[0] == '~' || t[0] == '*';

		if (t[0] != '-' && (plain || recursive))
			classifier_add_reach(k, classifier_path_reach(k, t, &why), t,
					     "the program may be rm");
	}
	classifier_probe_arguments(k, w, n);
}
