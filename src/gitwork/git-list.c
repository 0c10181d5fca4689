/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/walk.h"

/* The text up to END, which becomes a NUL; NULL: END is missing. */
static char *take(struct strbuf *b, size_t *at, char end)
{
	char *from = b->text + *at, *to = *at < b->len ? memchr(from, end, b->len - *at) : NULL;

	if (!to)
		return NULL;
	*to = '\0';
	*at += (size_t)(to - from) + 1;
	return from;
}

/* Of a merge, ":::MODE MODE MODE OID OID OID MM": N parents and the result, of which the last one is new. */
static bool take_sides(struct strbuf *b, size_t *at, size_t n, const char **ret_old, const char **ret_new)
{
	*ret_old = take(b, at, ' ');
	for (size_t i = 1; *ret_old && i < n; i++)
		if (!take(b, at, ' '))
			return false;
	*ret_new = take(b, at, ' ');
	return *ret_old && *ret_new;
}

static bool is_status(const char *status, size_t n)
{
	if (n == 1)
		return strchr("ACDMRT", *status) != NULL && *status;
	return strlen(status) == n && strspn(status, "ADMT") == n;
}

/* ":100644 100755 OID OID M" NUL path NUL, and another path after R and C. */
int git_change_next(struct strbuf *b, size_t *at, struct git_change *ret, struct fault *f)
{
	const char *status, *first, *second = NULL;
	struct git_change c = { 0 };
	size_t n = 0;

	if (*at >= b->len)
		return 0;
	for (; *at < b->len && b->text[*at] == ':'; n++)
		++*at;
	if (n == 0 || n > GIT_PARENTS_MAX || !take_sides(b, at, n, &c.old_mode, &c.new_mode) ||
	    !take_sides(b, at, n, &c.old_oid, &c.new_oid))
		return fault_set(f, EUCLEAN, "unexpected output of git");
	status = take(b, at, '\0');
	first = take(b, at, '\0');
	if (status && (*status == 'R' || *status == 'C'))
		second = take(b, at, '\0');
	if (!git_oid_is_valid(c.old_oid) || !git_oid_is_valid(c.new_oid) || !status || !first ||
	    !is_status(status, n) || ((*status == 'R' || *status == 'C') && !second))
		return fault_set(f, EUCLEAN, "unexpected output of git");
	c.status = *status;
	c.path = second ? second : first;
	c.from = second ? first : NULL;
	*ret = c;
	return 1;
}

#define OID_BYTES ((GIT_OID_SIZE - 1) / 2)

/* "40000 NAME" NUL, 20 bytes. */
int git_tree_next(const char *bytes, size_t len, size_t *at, struct git_tree_entry *ret, struct fault *f)
{
	const char *mode = bytes + *at, *space, *nul;
	struct git_tree_entry e = { 0 };

	if (*at >= len)
		return 0;
	nul = memchr(mode, '\0', len - *at);
	space = nul ? memchr(mode, ' ', (size_t)(nul - mode)) : NULL;
	if (!space || len - (size_t)(nul + 1 - bytes) < OID_BYTES)
		return fault_set(f, EUCLEAN, "a directory of the repository is damaged");
	e.name = space + 1;
	e.len = (size_t)(nul - e.name);
	e.is_directory = space - mode == 5 && memcmp(mode, "40000", 5) == 0;
	digest_hex(nul + 1, OID_BYTES, e.oid);
	*at = (size_t)(nul + 1 - bytes) + OID_BYTES;
	*ret = e;
	return 1;
}

void git_put_path(struct jdoc *object, const char *key, const char *path)
{
	const size_t len = strlen(path);
	_cleanup_free_ char *hex = NULL, *name = NULL;

	if (str_is_utf8(path, len)) {
		jdoc_set_string(object, key, path);
		return;
	}
	hex = malloc(2 * len + 1);
	if (hex)
		digest_hex(path, len, hex);
	if (asprintf(&name, "%s_hex", key) < 0)
		name = NULL;
	jdoc_set_string(object, name ? name : key, hex);
}

int git_put_changes(struct jdoc *list, struct strbuf *text, struct fault *f)
{
	struct git_change c;
	size_t at = 0;
	int r;

	while ((r = git_change_next(text, &at, &c, f)) > 0) {
		struct jdoc *d = jdoc_append_object(list);
		const char status[2] = { c.status, '\0' };

		jdoc_set_string(d, "status", status);
		jdoc_set_string(d, "old_mode", c.old_mode);
		jdoc_set_string(d, "new_mode", c.new_mode);
		jdoc_set_string(d, "old", c.old_oid);
		jdoc_set_string(d, "new", c.new_oid);
		git_put_path(d, "path", c.path);
		if (c.from)
			git_put_path(d, "from", c.from);
	}
	return r;
}

static void put_name(struct jdoc *list, const char *path, const char *end)
{
	_cleanup_strbuf_ struct strbuf name = { 0 };

	strbuf_puts(&name, path);
	strbuf_puts(&name, end);
	git_put_path(jdoc_append_object(list), "path", name.text ? name.text : "");
}

/* One entry of the walk. */
static void judge(struct jdoc *list, struct walk *w, const struct walk_entry *e, int event,
		  const struct git_index *x)
{
	if (event == WALK_ENTER && e->depth > 0) {
		if (str_eq(e->path, ".git") || git_index_has_submodule(x, e->path)) {
			walk_skip(w);
		} else if (!git_index_has_below(x, e->path)) {
			put_name(list, e->path, "/");
			walk_skip(w);
		}
	}
	if ((event == WALK_ENTRY || event == WALK_ERROR) && e->depth > 0 && !git_index_has(x, e->path))
		put_name(list, e->path, "");
}

int git_put_untracked(struct jdoc *list, const struct git_source *s, const struct git_index *x,
		      struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	size_t n = 0;
	int r = walk_new(s->top, WALK_SORTED | WALK_UNSEEN_FILES, &w, f);

	while (r >= 0 && (r = walk_next(w, &e, f)) > WALK_END) {
		if (++n > GIT_ENTRIES_MAX)
			return fault_set(f, EFBIG, "the worktree has more than %d entries", GIT_ENTRIES_MAX);
		judge(list, w, &e, r, x);
		if (list->n_items > GIT_UNTRACKED_MAX)
			return fault_set(f, EFBIG, "the worktree has more than %d untracked names",
					 GIT_UNTRACKED_MAX);
	}
	return r < 0 ? r : 0;
}
