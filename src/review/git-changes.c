/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/git-changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/tree-at.h"
#include "review/reflog.h"

#define REF_MAX 1024
#define LOG_MAX ((size_t)4 * 1024 * 1024)

struct fold {
	struct tree_at base, upper;
	struct git_changes *ret;
	const char
		*whole; /* the trees are this .git directory; NULL: a .git directory is somewhere in them */
};

/* The rest of PATH behind "/.git": "" or "/..."; NULL: PATH is not in a .git directory.  The first one counts. */
static const char *find_git(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, ".git", 4) == 0 && (p[4] == '\0' || p[4] == '/'))
			return p + 4;
	}
	return NULL;
}

bool git_changes_has(const char *path)
{
	return find_git(path) != NULL;
}

static const struct change_side *side_of(const struct change *ch)
{
	return ch->kind == CHANGE_DELETED ? &ch->old : &ch->new;
}

/* Nothing about it deserves attention but that it is there. */
static bool is_plain(const struct change *ch)
{
	const struct change_side *s = side_of(ch);

	if (!ch->picked || ch->refused || ch->privileged || ch->attributes || (s->mode & 07000) ||
	    (!S_ISREG(s->mode) && !S_ISDIR(s->mode)))
		return false;
	if (ch->kind == CHANGE_MODIFIED)
		return ch->old.mode == ch->new.mode && ch->old.uid == ch->new.uid &&
		       ch->old.gid == ch->new.gid;
	return ch->kind == CHANGE_ADDED || ch->kind == CHANGE_DELETED;
}

static size_t count_hex(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* "pack-ID.idx" */
static bool is_pack(const char *name)
{
	static const char *const ends[] = { ".pack", ".idx", ".rev", ".bitmap", ".mtimes", NULL };
	size_t n;

	if (!str_starts(name, "pack-"))
		return false;
	n = count_hex(name + 5);
	for (size_t i = 0; ends[i]; i++)
		if ((n == 40 || n == 64) && str_eq(name + 5 + n, ends[i]))
			return true;
	return false;
}

/* Names that git gives to its objects: `info/alternates` is none, it names another place. */
static bool is_object(const char *name, bool dir)
{
	if (dir)
		return !*name || str_eq(name, "pack") || (count_hex(name) == 2 && !name[2]);
	if (str_starts(name, "pack/"))
		return is_pack(name + 5);
	if (count_hex(name) != 2 || name[2] != '/')
		return false;
	return (count_hex(name + 3) == 38 || count_hex(name + 3) == 62) && !name[3 + count_hex(name + 3)];
}

static struct git_repository *find_repository(struct git_changes *g, const char *path, size_t len,
					      struct fault *f)
{
	struct git_repository *grown, *last = g->n ? &g->items[g->n - 1] : NULL;

	/* The list is sorted: the entries of one directory follow each other. */
	if (last && strncmp(last->path, path, len) == 0 && !last->path[len])
		return last;
	grown = reallocarray(g->items, g->n + 1, sizeof(*grown));
	if (grown)
		g->items = grown;
	if (grown)
		g->items[g->n] = (struct git_repository){ .path = strndup(path, len) };
	if (!grown || !g->items[g->n].path) {
		(void)fault_errno(f, ENOMEM, "changes of a repository");
		return NULL;
	}
	return &g->items[g->n++];
}

/* The content of one side, "" if it is missing; NULL: it cannot be read, is longer than MAX, or has a NUL. */
static char *read_side(struct fold *x, const struct change *ch, bool new, size_t max, size_t *ret_len)
{
	const struct change_side *s = new ? &ch->new : &ch->old;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;

	*ret_len = 0;
	if (!s->mode || (new && ch->kind == CHANGE_DELETED))
		return strdup("");
	if (!S_ISREG(s->mode) || s->size > max)
		return NULL;
	if (new && !ch->data)
		fd = tree_at_open(&x->upper, ch->path);
	else
		fd = tree_at_open(&x->base, new ? ch->data : ch->path);
	if (fd < 0 || fd_read_all(fd, max, &text, ret_len, NULL) < 0 || memchr(text, '\0', *ret_len))
		return NULL;
	return TAKE_PTR(text);
}

/* An object id or "ref: NAME", and a line feed.  "" gives NULL. */
static bool read_ref(struct fold *x, const struct change *ch, bool new, char **ret)
{
	size_t len, n;
	_cleanup_free_ char *text = read_side(x, ch, new, REF_MAX, &len);

	*ret = NULL;
	if (!text)
		return false;
	if (!len)
		return !(new ? ch->kind != CHANGE_DELETED : ch->old.mode != 0);
	n = len - (text[len - 1] == '\n');
	text[n] = '\0';
	if (strchr(text, '\n') || (reflog_id_length(text, n) != n && !str_starts(text, "ref: ")))
		return false;
	*ret = TAKE_PTR(text);
	return true;
}

/* 1: folded. */
static int fold_ref(struct fold *x, struct git_repository *r, const struct change *ch, const char *name,
		    struct fault *f)
{
	struct git_ref ref = { 0 }, *grown = NULL;

	if (r->n_refs >= GIT_CHANGES_REFS)
		return 0;
	if (!read_ref(x, ch, false, &ref.old) || !read_ref(x, ch, true, &ref.new)) {
		free(ref.old);
		return 0;
	}
	ref.name = strdup(name);
	grown = ref.name ? reallocarray(r->refs, r->n_refs + 1, sizeof(*grown)) : NULL;
	if (!grown) {
		free(ref.name);
		free(ref.old);
		free(ref.new);
		return fault_errno(f, ENOMEM, "refs");
	}
	r->refs = grown;
	r->refs[r->n_refs++] = ref;
	return 1;
}

static char *copy_span(const struct reflog_span *s)
{
	return s->len ? strndup(s->text, s->len) : strdup("");
}

static void log_done(struct git_log *l)
{
	free(l->old);
	free(l->new);
	free(l->name);
	free(l->action);
	free(l->subject);
}

static int add_log(struct git_repository *r, const struct reflog_entry *e, struct fault *f)
{
	struct git_log l, *grown;

	if (r->n_log >= GIT_CHANGES_LOG) {
		r->n_more++;
		return 0;
	}
	l = (struct git_log){ .old = copy_span(&e->old),
			      .new = copy_span(&e->new),
			      .name = copy_span(&e->name),
			      .action = copy_span(&e->action),
			      .subject = copy_span(&e->subject),
			      .time = e->time };
	grown = reallocarray(r->log, r->n_log + 1, sizeof(*grown));
	if (grown)
		r->log = grown;
	if (!grown || !l.old || !l.new || !l.name || !l.action || !l.subject) {
		log_done(&l);
		return fault_errno(f, ENOMEM, "reflog");
	}
	r->log[r->n_log++] = l;
	return 0;
}

/* The lines of TEXT; KEEP: they are listed, else only checked.  1: all of them are lines of a reflog. */
static int read_lines(struct git_repository *r, const char *text, size_t len, bool keep, struct fault *f)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		struct reflog_entry e;

		if (!end || reflog_parse(text, (size_t)(end - text), &e) < 0)
			return 0;
		if (keep && add_log(r, &e, f) < 0)
			return -ENOMEM;
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	return 1;
}

/* Only a reflog that grew: one that was written anew is shown as it is. */
static int fold_log(struct fold *x, struct git_repository *r, const struct change *ch, const char *name,
		    struct fault *f)
{
	size_t old_len, new_len;
	_cleanup_free_ char *old = read_side(x, ch, false, LOG_MAX, &old_len);
	_cleanup_free_ char *new = read_side(x, ch, true, LOG_MAX, &new_len);
	int e;

	if (!old || !new || ch->kind == CHANGE_DELETED || new_len <= old_len ||
	    (old_len && (memcmp(old, new, old_len) != 0 || old[old_len - 1] != '\n')))
		return 0;
	e = read_lines(r, new + old_len, new_len - old_len, false, f);
	if (e > 0 && str_eq(name, "HEAD"))
		e = read_lines(r, new + old_len, new_len - old_len, true, f);
	return e;
}

static int fold_file(struct fold *x, struct git_repository *r, const struct change *ch, const char *name,
		     struct fault *f)
{
	int e = 0;

	if (str_starts(name, "objects/")) {
		/* An object never changes. */
		e = ch->kind != CHANGE_MODIFIED && is_object(name + 8, false);
		r->objects_added += e && ch->kind == CHANGE_ADDED;
		r->objects_removed += e && ch->kind == CHANGE_DELETED;
		return e;
	}
	if (str_starts(name, "refs/") || str_eq(name, "HEAD"))
		return fold_ref(x, r, ch, name, f);
	if (str_starts(name, "logs/"))
		e = fold_log(x, r, ch, name + 5, f);
	else
		e = str_eq(name, "index") || str_eq(name, "COMMIT_EDITMSG") || str_eq(name, "ORIG_HEAD");
	r->others += e > 0;
	return e;
}

static bool is_directory_of_git(const char *name)
{
	return str_starts(name, "objects/")
		       ? is_object(name + 8, true)
		       : str_starts(name, "refs/") || str_starts(name, "logs/") || str_eq(name, "logs") ||
				 str_eq(name, "objects") || str_eq(name, "refs");
}

/*
 * The name of PATH in its .git directory, whose path is the first *RET_LEN bytes of *RET_GIT; NULL: it is in none.  What a linked
 * worktree has of its own, worktrees/NAME, has the names that a .git directory has.
 */
static const char *name_in_git(const struct fold *x, const char *path, const char **ret_git, size_t *ret_len)
{
	const char *rest = x->whole ? path : find_git(path), *own;

	if (!rest || (!x->whole && rest[0] != '/'))
		return NULL;
	*ret_git = x->whole ? x->whole : path;
	*ret_len = x->whole ? strlen(x->whole) : (size_t)(rest - path);
	rest += !x->whole;
	own = x->whole && str_starts(rest, "worktrees/") ? strchr(rest + strlen("worktrees/"), '/') : NULL;
	return own ? own + 1 : rest;
}

static int fold_one(struct fold *x, struct change *ch, struct fault *f)
{
	const char *git, *name;
	struct git_repository *r;
	size_t len;
	int e;

	name = name_in_git(x, ch->path, &git, &len);
	if (!name || !is_plain(ch))
		return 0;
	if (S_ISDIR(side_of(ch)->mode)) {
		ch->folded = is_directory_of_git(name);
		return 0;
	}
	r = find_repository(x->ret, git, len, f);
	if (!r)
		return -ENOMEM;
	e = fold_file(x, r, ch, name, f);
	ch->folded = e > 0;
	return e < 0 ? e : 0;
}

int git_changes_fold(struct changes *c, int base, int upper, const char *whole, struct git_changes *ret,
		     struct fault *f)
{
	_cleanup_git_changes_ struct git_changes all = { 0 };
	struct fold x = { .base = TREE_AT_NONE, .upper = TREE_AT_NONE, .ret = &all, .whole = whole };
	int e = tree_at_init(&x.base, base, f);

	if (e == 0)
		e = tree_at_init(&x.upper, upper, f);
	for (size_t i = 0; i < c->n && e == 0; i++)
		e = fold_one(&x, &c->items[i], f);
	tree_at_done(&x.base);
	tree_at_done(&x.upper);
	if (e < 0)
		return e;
	*ret = all;
	all = (struct git_changes){ 0 };
	return 0;
}

static void repository_done(struct git_repository *r)
{
	for (size_t i = 0; i < r->n_refs; i++) {
		free(r->refs[i].name);
		free(r->refs[i].old);
		free(r->refs[i].new);
	}
	for (size_t i = 0; i < r->n_log; i++)
		log_done(&r->log[i]);
	free(r->refs);
	free(r->log);
	free(r->path);
}

void git_changes_done(struct git_changes *g)
{
	for (size_t i = 0; i < g->n; i++)
		repository_done(&g->items[i]);
	free(g->items);
	*g = (struct git_changes){ 0 };
}
