/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes in .git as lines for people: objects as a number, refs, and the commits that the copy's reflog names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/cmd-review.h"
#include "tty/colour.h"

#define SHORT 7 /* digits of an object id, as git prints it */

/* A payload wrote TEXT: escaped, on a pipe as well, because it stands between lines of our own. */
static void put_text(const char *before, const char *text, const char *after)
{
	_cleanup_free_ char *shown = str_escape(text);

	printf("%s%s%s", before, shown ? shown : "(out of memory)", after);
}

/* An id in short, or the name of another ref. */
static void put_value(const char *value)
{
	if (!value)
		printf("none");
	else if (str_starts(value, "ref: "))
		put_text("", value + 5, "");
	else
		printf("%.*s", SHORT, value);
}

static void print_ref(const struct git_ref *ref)
{
	put_text("         ", ref->name, ": ");
	put_value(ref->old);
	printf(" -> ");
	put_value(ref->new);
	putchar('\n');
}

static void print_log(bool colour, const struct git_log *l)
{
	printf("         %s", colour_begin(colour, COLOUR_COMMIT));
	put_text("", *l->action ? l->action : "?", " ");
	printf("%.*s%s", SHORT, l->new, colour_end(colour));
	if (*l->subject)
		put_text(" ", l->subject, "");
	put_text(" (", l->name, ")\n");
}

static bool is_empty(const struct git_repository *g)
{
	return !g->objects_added && !g->objects_removed && !g->others && !g->n_refs && !g->n_log;
}

static void put_count(const char **comma, size_t n, const char *one, const char *many)
{
	if (!n)
		return;
	printf("%s%zu %s", *comma, n, n == 1 ? one : many);
	*comma = ", ";
}

static void print_repository(bool colour, const struct git_repository *g)
{
	_cleanup_free_ char *name = NULL;
	const char *comma = ": ";

	printf("git      %s", review_quote(g->path, &name));
	put_count(&comma, g->objects_added, "new object", "new objects");
	put_count(&comma, g->objects_removed, "removed object", "removed objects");
	put_count(&comma, g->n_refs, "ref", "refs");
	put_count(&comma, g->others, "other file", "other files");
	printf(" (--git-objects lists them)\n");
	for (size_t i = 0; i < g->n_refs; i++)
		print_ref(&g->refs[i]);
	if (g->n_log)
		printf("         its reflog says:\n");
	for (size_t i = 0; i < g->n_log; i++)
		print_log(colour, &g->log[i]);
	if (g->n_more)
		printf("         and %zu more\n", g->n_more);
}

void review_print_git(const struct review_call *r, bool colour)
{
	for (size_t i = 0; i < r->git.n; i++)
		if (!is_empty(&r->git.items[i]))
			print_repository(colour, &r->git.items[i]);
}

static struct jdoc *value_or_null(const char *value)
{
	return value ? ledger_text(value) : jdoc_new_null();
}

static void describe_repository(const struct git_repository *g, struct jdoc *rows)
{
	struct jdoc *o = jdoc_append_object(rows), *refs, *log;

	jdoc_set(o, "path", ledger_text(g->path));
	jdoc_set_int(o, "objects_added", (int64_t)g->objects_added);
	jdoc_set_int(o, "objects_removed", (int64_t)g->objects_removed);
	refs = jdoc_set_array(o, "refs");
	for (size_t i = 0; i < g->n_refs; i++) {
		struct jdoc *x = jdoc_append_object(refs);

		jdoc_set(x, "name", ledger_text(g->refs[i].name));
		jdoc_set(x, "old", value_or_null(g->refs[i].old));
		jdoc_set(x, "new", value_or_null(g->refs[i].new));
	}
	log = jdoc_set_array(o, "reflog");
	for (size_t i = 0; i < g->n_log; i++) {
		const struct git_log *l = &g->log[i];
		struct jdoc *x = jdoc_append_object(log);

		jdoc_set_string(x, "old", l->old);
		jdoc_set_string(x, "new", l->new);
		jdoc_set(x, "author", ledger_text(l->name));
		jdoc_set_int(x, "time", l->time);
		jdoc_set(x, "action", ledger_text(l->action));
		jdoc_set(x, "subject", ledger_text(l->subject));
	}
	jdoc_set_int(o, "reflog_left_out", (int64_t)g->n_more);
}

void review_describe_git(const struct review_call *r, struct jdoc *doc)
{
	struct jdoc *rows = jdoc_set_array(doc, "repositories");

	for (size_t i = 0; i < r->git.n; i++)
		if (!is_empty(&r->git.items[i]))
			describe_repository(&r->git.items[i], rows);
}
