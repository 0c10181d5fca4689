/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-outgoing.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOTE_REFS "--glob=refs/remote/*"

void git_outgoing_done(struct git_outgoing *o)
{
	strbuf_done(&o->commits);
	strbuf_done(&o->text);
	free(o->changes);
	o->changes = NULL;
}

static int load_commits(struct git_outgoing *o, struct fault *f)
{
	const char *argv[] = { "rev-list", "--topo-order", "--max-count=1001",
			       o->commit,  "--not",	   REMOTE_REFS,
			       NULL };
	int r = git_run(o->box, GIT_CLEAN, argv, NULL, &o->commits, f);

	if (r < 0)
		return r;
	o->n_commits = o->commits.len / GIT_OID_SIZE;
	if (o->n_commits > GIT_COMMITS_MAX)
		return fault_set(f, EFBIG, "more than %d commits would be sent: send them in parts",
				 GIT_COMMITS_MAX);
	return 0;
}

/* Of a merge, what differs from all of its parents: the rest came with one of them, or is at the remote. */
static int load_changes(struct git_outgoing *o, struct fault *f)
{
	static const char *const argv[] = { "diff-tree",   "--stdin",	   "--no-commit-id", "-r",
					    "-z",	   "-c",	   "--root",	     "--raw",
					    "--no-abbrev", "--no-renames", "--no-ext-diff",  "--no-textconv",
					    NULL };
	size_t at = 0, room = 0;
	int r = git_run(o->box, GIT_CLEAN, argv, &o->commits, &o->text, f);

	while (r >= 0) {
		if (o->n_changes == room) {
			struct git_change *more;

			room = room ? 2 * room : 256;
			more = reallocarray(o->changes, room, sizeof(*more));
			if (!more)
				return fault_errno(f, ENOMEM, "changes");
			o->changes = more;
		}
		r = git_change_next(&o->text, &at, &o->changes[o->n_changes], f);
		if (r <= 0)
			break;
		if (++o->n_changes > GIT_CHANGES_MAX)
			return fault_set(f, EFBIG, "more than %d changes would be sent: send them in parts",
					 GIT_CHANGES_MAX);
	}
	return r;
}

static bool has_content(const struct git_change *c)
{
	return !str_eq(c->new_mode, "000000") && !str_eq(c->new_mode, "160000");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **sort_texts(const struct git_outgoing *o, bool oids)
{
	const char **list = calloc(o->n_changes + 1, sizeof(*list));

	for (size_t i = 0; list && i < o->n_changes; i++)
		if (!oids)
			list[i] = o->changes[i].path;
		else /* The id of a submodule can be that of any object: it is not inspected as a content. */
			list[i] = has_content(&o->changes[i]) ? o->changes[i].new_oid : "";
	if (list)
		qsort(list, o->n_changes, sizeof(*list), by_text);
	return list;
}

static int count_files(struct git_outgoing *o, struct fault *f)
{
	_cleanup_free_ const char **paths = sort_texts(o, false);

	if (!paths)
		return fault_errno(f, ENOMEM, "changes");
	for (size_t i = 0; i < o->n_changes; i++)
		o->n_files += i == 0 || strcmp(paths[i - 1], paths[i]) != 0;
	return 0;
}

int git_outgoing_load(struct git_outgoing *o, struct fault *f)
{
	int r = load_commits(o, f);

	if (r == 0)
		r = load_changes(o, f);
	return r < 0 ? r : count_files(o, f);
}

static struct inspect_change to_inspect(const struct git_change *c)
{
	struct inspect_change i = {
		.status = c->status, .old_path = c->from, .path = c->path, .oid = c->new_oid
	};
	const char *old_mode = c->old_mode, *mode = c->new_mode;
	uint64_t value;

	/* A mode that is none is a finding. */
	i.old_mode = str_take_u64(&old_mode, 8, &value) == 0 && !*old_mode ? (uint32_t)value : UINT32_MAX;
	i.mode = str_take_u64(&mode, 8, &value) == 0 && !*mode ? (uint32_t)value : UINT32_MAX;
	return i;
}

/* Ids for `git cat-file --batch`: the contents of the changes, in their order, then every new object that is in no change. */
static int list_objects(const struct git_outgoing *o, struct strbuf *ret, struct fault *f)
{
	const char *argv[] = { "rev-list",  "--objects", "--no-object-names", o->commit, "--not",
			       REMOTE_REFS, NULL };
	_cleanup_free_ const char **known = sort_texts(o, true);
	_cleanup_strbuf_ struct strbuf all = { 0 };
	int r = known ? git_run(o->box, GIT_CLEAN, argv, NULL, &all, f) : fault_errno(f, ENOMEM, "objects");

	for (size_t i = 0; r == 0 && i < o->n_changes; i++)
		if (has_content(&o->changes[i]))
			strbuf_printf(ret, "%s\n", o->changes[i].new_oid);
	for (size_t at = 0; r == 0 && at + GIT_OID_SIZE <= all.len; at += GIT_OID_SIZE) {
		const char *oid = all.text + at;

		all.text[at + GIT_OID_SIZE - 1] = '\0';
		if (!git_oid_is_valid(oid))
			return fault_set(f, EREMOTEIO, "unexpected output of 'git rev-list'");
		if (!bsearch(&oid, known, o->n_changes, sizeof(*known), by_text))
			strbuf_printf(ret, "%s\n", oid);
	}
	return r;
}

struct object {
	char oid[GIT_OID_SIZE], type[16];
	size_t size;
	char *bytes; /* NULL: larger than INSPECT_TEXT_MAX */
};

/* "OID TYPE SIZE" LF, the bytes, LF.  1; 0: the end. */
static int read_object(FILE *in, struct object *ret, struct fault *f)
{
	char line[GIT_OID_SIZE + 48];
	uint64_t size;
	char *type, *text;

	if (!fgets(line, sizeof(line), in))
		return 0;
	line[strcspn(line, "\n")] = '\0';
	type = line + GIT_OID_SIZE;
	text = strlen(line) > GIT_OID_SIZE ? strchr(type, ' ') : NULL;
	if (!text || strlen(line) < GIT_OID_SIZE || text - type >= (ptrdiff_t)sizeof(ret->type) ||
	    str_to_u64(text + 1, &size) < 0)
		return fault_set(f, EREMOTEIO, "an object cannot be read");
	line[GIT_OID_SIZE - 1] = *text = '\0';
	*ret = (struct object){ .size = (size_t)size };
	memcpy(ret->oid, line, GIT_OID_SIZE);
	memcpy(ret->type, type, strlen(type) + 1);
	if (size <= INSPECT_TEXT_MAX) {
		ret->bytes = malloc((size_t)size + 1);
		if (!ret->bytes)
			return fault_errno(f, ENOMEM, "object");
		if (fread(ret->bytes, 1, (size_t)size + 1, in) != size + 1) {
			free(ret->bytes);
			return fault_set(f, EREMOTEIO, "an object cannot be read");
		}
		return 1;
	}
	for (uint64_t left = size + 1; left > 0; left--)
		if (getc_unlocked(in) == EOF)
			return fault_set(f, EREMOTEIO, "an object cannot be read");
	return 1;
}

/*
 * The names of files are in the changes.  A directory without any file is in none of them, and is no entry that git writes; its name,
 * and those of the directories around it, are sent all the same.
 */
static int inspect_tree(const char *place, const struct object *b, struct inspect_found *found,
			struct fault *f)
{
	struct git_tree_entry e;
	size_t at = 0;
	int r;

	while ((r = git_tree_next(b->bytes, b->size, &at, &e, f)) > 0) {
		const struct inspect_change c = {
			.status = 'A', .path = e.name, .mode = 040000, .oid = e.oid
		};

		if (e.is_directory)
			inspect_text(place, e.name, e.len, found);
		if (str_eq(e.oid, GIT_EMPTY_TREE))
			inspect_change(&c, found);
	}
	return r;
}

static int inspect_other(const struct object *b, struct inspect_found *found, struct fault *f)
{
	struct inspect_change c = { .status = 'A', .path = b->oid, .mode = 0100644 };
	char place[GIT_OID_SIZE + 16];

	if (!str_eq(b->type, "commit") && !str_eq(b->type, "blob") && !str_eq(b->type, "tree"))
		return fault_set(f, EREMOTEIO, "an object has another type");
	(void)snprintf(place, sizeof(place), "%.6s %s", b->type, b->oid);
	if (b->bytes && str_eq(b->type, "tree"))
		return inspect_tree(place, b, found, f);
	if (b->bytes)
		inspect_text(place, b->bytes, b->size, found);
	else
		inspect_too_large(&c, found);
	return 0;
}

static int inspect_one(const struct git_change *c, const struct object *b, struct inspect_found *found,
		       struct fault *f)
{
	const struct inspect_change i = to_inspect(c);

	if (!str_eq(b->type, "blob") || !str_eq(b->oid, c->new_oid))
		return fault_set(f, EREMOTEIO, "an object has another type");
	if (b->bytes)
		inspect_content(&i, b->bytes, b->size, found);
	else
		inspect_too_large(&i, found);
	return 0;
}

/* The N objects that were asked for, each of them. */
static int inspect_all(const struct git_outgoing *o, FILE *in, size_t n, struct inspect_found *found,
		       struct fault *f)
{
	size_t next = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *bytes = NULL;
		struct object b;
		int r = read_object(in, &b, f);

		if (r <= 0)
			return r < 0 ? r : fault_set(f, EREMOTEIO, "not all objects can be read");
		bytes = b.bytes;
		while (next < o->n_changes && !has_content(&o->changes[next]))
			next++;
		r = next < o->n_changes ? inspect_one(&o->changes[next], &b, found, f)
					: inspect_other(&b, found, f);
		next++;
		if (r < 0)
			return r;
	}
	return 0;
}

static int inspect_objects(const struct git_outgoing *o, const struct strbuf *ids,
			   struct inspect_found *found, struct fault *f)
{
	static const char *const argv[] = { "cat-file", "--batch", NULL };
	_cleanup_git_child_ struct git_child c = GIT_CHILD_NONE;
	int r = git_start(o->box, GIT_CLEAN, argv, ids, &c, f), status;
	FILE *in = r < 0 ? NULL : fdopen(c.out, "re");

	if (r < 0)
		return r;
	if (!in)
		return fault_errno(f, errno, "git");
	c.out = -EBADF;
	r = inspect_all(o, in, ids->len / GIT_OID_SIZE, found, f);
	(void)fclose(in);
	status = git_finish(&c);
	return r == 0 && status != 0 ? fault_set(f, EREMOTEIO, "'git cat-file' failed with status %d", status)
				     : r;
}

int git_outgoing_inspect(const struct git_outgoing *o, struct inspect_found *found, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf ids = { 0 };
	int r = list_objects(o, &ids, f);

	for (size_t i = 0; r == 0 && i < o->n_changes; i++) {
		const struct inspect_change c = to_inspect(&o->changes[i]);

		inspect_change(&c, found);
	}
	return r < 0 ? r : inspect_objects(o, &ids, found, f);
}
