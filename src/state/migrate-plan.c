/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "state/migrate-impl.h"
#include "state/migrate-stamp.h"
#include "state/state-version.h"

#define ITEMS_MAX ((size_t)1 << 20)
#define CURRENT "current"
#define AUDIT_PEER "audit_peer"
#define SESSION_SUFFIX ".session.json"

/* Entries that have their own directory in both layouts. */
static const char *const kinds[] = { "sessions", "grants", "reports", NULL };

void migrate_done(struct migrate_plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->items[i].from);
		free(p->items[i].to);
		free(p->items[i].text);
		free(p->items[i].why);
	}
	free(p->items);
	free(p->dir);
	p->dirfd = fd_close(p->dirfd);
	p->items = NULL;
	p->n = 0;
	p->dir = NULL;
}

/* PARENT NULL: FROM is directly in the tree. RET borrowed until the next one is added. */
int migrate_add(struct migrate_plan *p, const char *parent, const char *name, struct migrate_item **ret,
		struct fault *f)
{
	struct migrate_item *items;

	if (p->n == ITEMS_MAX)
		return fault_set(f, E2BIG, "'%s' holds more than %zu entries", p->dir, ITEMS_MAX);
	items = reallocarray(p->items, p->n + 1, sizeof(*items));
	if (!items)
		return fault_errno(f, ENOMEM, "plan");
	p->items = items;
	items[p->n] = (struct migrate_item){ .action = MIGRATE_LEAVE };
	items[p->n].from = parent ? path_join(parent, name) : strdup(name);
	if (!items[p->n].from)
		return fault_errno(f, ENOMEM, "plan");
	*ret = &items[p->n++];
	return 0;
}

int migrate_explain(struct migrate_item *i, enum migrate_action action, struct fault *f, const char *fmt, ...)
{
	va_list args;
	int n;

	i->action = action;
	free(i->why);
	free(i->to);
	i->to = NULL;
	va_start(args, fmt);
	n = vasprintf(&i->why, fmt, args);
	va_end(args);
	if (n >= 0)
		return 0;
	i->why = NULL;
	return fault_errno(f, ENOMEM, "plan");
}

int migrate_set_target(struct migrate_item *i, enum lane lane, const char *kind, const char *name,
		       struct fault *f)
{
	i->lane = lane;
	if (asprintf(&i->to, "%s/%s%s%s", lane_name(lane), kind ? kind : "", kind ? "/" : "", name) >= 0)
		return 0;
	i->to = NULL;
	return fault_errno(f, ENOMEM, "plan");
}

bool migrate_is_taken(const struct migrate_plan *p, const char *path)
{
	struct stat st;

	return fstatat(p->dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

int migrate_settle(struct migrate_plan *p, struct migrate_item *i, enum migrate_action action,
		   struct fault *f)
{
	_cleanup_free_ char *to = strdup(i->to);

	if (!to)
		return fault_errno(f, ENOMEM, "plan");
	i->action = action;
	if (migrate_is_taken(p, to))
		return migrate_explain(i, MIGRATE_CONFLICT, f,
				       "'%s' exists already: compare them and remove one", to);
	return 0;
}

static int compare_targets(const void *a, const void *b)
{
	return strcmp((*(struct migrate_item *const *)a)->to, (*(struct migrate_item *const *)b)->to);
}

/* Two entries, such as test_a and a stamped a, may have the same target: then neither is moved. */
static int refuse_doubles(struct migrate_plan *p, struct fault *f)
{
	_cleanup_free_ struct migrate_item **by_target = calloc(p->n + 1, sizeof(*by_target));
	size_t n = 0, last;
	int r = 0;

	if (!by_target)
		return fault_errno(f, ENOMEM, "plan");
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].to)
			by_target[n++] = &p->items[i];
	if (n > 0)
		qsort(by_target, n, sizeof(struct migrate_item *), compare_targets);
	for (size_t i = 0; i < n && r == 0; i = last) {
		for (last = i + 1; last < n && strcmp(by_target[i]->to, by_target[last]->to) == 0;)
			last++;
		for (size_t k = i; last - i > 1 && k < last && r == 0; k++)
			r = migrate_explain(by_target[k], MIGRATE_CONFLICT, f,
					    "'%s' has the same target: rename one of them",
					    by_target[k == i ? i + 1 : i]->from);
	}
	return r;
}

static const char *type_text(mode_t mode)
{
	if (S_ISLNK(mode))
		return "a symbolic link, which is not followed";
	return "neither a file nor a directory";
}

/* One session, grant or report called NAME in DIRFD, which is PARENT in the tree (NULL: the tree itself). */
static int plan_entry(struct migrate_plan *p, int dirfd, const char *parent, const char *kind,
		      const char *name, struct fault *f)
{
	struct migrate_item *i;
	enum lane by_name = LANE_SANDBOX, by_stamp = LANE_SANDBOX;
	const char *rest = migrate_prefix(name, false, &by_name);
	enum migrate_stamp stamp;
	struct stat st;
	int r;

	r = migrate_add(p, parent, name, &i, f);
	if (r < 0)
		return r;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "stat '%s/%s'", p->dir, i->from);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return migrate_explain(i, MIGRATE_LEAVE, f, "it is %s", type_text(st.st_mode));
	i->directory = S_ISDIR(st.st_mode);
	stamp = migrate_read_stamp(dirfd, name, i->directory, &by_stamp);
	if (stamp == MIGRATE_STAMP_ODD)
		return migrate_explain(i, MIGRATE_CONFLICT, f,
				       "its lane stamp is unreadable, unknown or ambiguous");
	if (rest && stamp == MIGRATE_STAMP_FOUND && by_stamp != by_name)
		return migrate_explain(i, MIGRATE_CONFLICT, f,
				       "lane '%s' in its name and lane '%s' in its stamp differ",
				       lane_name(by_name), lane_name(by_stamp));
	if (!rest && stamp == MIGRATE_STAMP_NONE)
		return migrate_explain(i, MIGRATE_LEAVE, f,
				       "it has no lane stamp: mv '%s/%s' to test_%s or prod_%s there", p->dir,
				       i->from, name, name);
	r = migrate_set_target(i, rest ? by_name : by_stamp, kind, rest ? rest : name, f);
	return r < 0 ? r : migrate_settle(p, i, MIGRATE_MOVE, f);
}

static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int list(int dirfd, const char *name, char ***ret, struct fault *f)
{
	struct dirent **found = NULL;
	_cleanup_strv_ char **names = NULL;
	int n, r = 0;

	n = scandirat(dirfd, name, &found, NULL, compare);
	if (n < 0)
		return fault_errno(f, errno, "read directory '%s'", name);
	for (int i = 0; i < n; i++) {
		if (found[i]->d_name[0] != '.' && r == 0)
			r = strv_append(&names, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (r < 0)
		return fault_errno(f, ENOMEM, "read directory '%s'", name);
	*ret = TAKE_PTR(names);
	return 0;
}

static int plan_kind(struct migrate_plan *p, const char *kind, struct fault *f)
{
	_cleanup_close_ int fd = openat(p->dirfd, kind, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_strv_ char **names = NULL;
	struct migrate_item *i;
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		r = migrate_add(p, NULL, kind, &i, f);
		return r < 0 ? r : migrate_explain(i, MIGRATE_LEAVE, f, "it is not a directory");
	}
	if (fd < 0)
		return fault_errno(f, errno, "open '%s/%s'", p->dir, kind);
	r = list(fd, ".", &names, f);
	for (size_t n = 0; r == 0 && names && names[n]; n++)
		r = plan_entry(p, fd, kind, kind, names[n], f);
	return r;
}

/* The lane of a peer file is in its name only: its format has no field for a stamp. */
static int plan_peer(struct migrate_plan *p, const char *name, struct fault *f)
{
	enum lane lane = LANE_SANDBOX;
	const char *rest = migrate_prefix(name, false, &lane);
	struct migrate_item *i;
	struct stat st;
	int r;

	r = migrate_add(p, NULL, name, &i, f);
	if (r < 0)
		return r;
	if (fstatat(p->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "stat '%s/%s'", p->dir, name);
	if (!S_ISREG(st.st_mode))
		return migrate_explain(i, MIGRATE_LEAVE, f, "it is not a file");
	if (!rest)
		return migrate_explain(i, MIGRATE_LEAVE, f,
				       "it has no lane stamp: mv it to test_" AUDIT_PEER
				       " or prod_" AUDIT_PEER);
	r = migrate_set_target(i, lane, NULL, rest, f);
	return r < 0 ? r : migrate_settle(p, i, MIGRATE_MOVE, f);
}

static bool is_pointer(const char *name)
{
	return strcmp(name, CURRENT) == 0 || str_ends(name, "." CURRENT) || str_ends(name, "_" CURRENT);
}

static int plan_top(struct migrate_plan *p, char **names, bool pointers, struct fault *f)
{
	struct migrate_item *i;
	enum lane lane;
	int r = 0;

	for (size_t n = 0; r == 0 && names && names[n]; n++) {
		const char *name = names[n];

		if (is_pointer(name) != pointers)
			continue;
		if (pointers) {
			r = migrate_plan_pointer(p, name, f);
		} else if (str_eq(name, AUDIT_PEER) || str_ends(name, "_" AUDIT_PEER)) {
			r = plan_peer(p, name, f);
		} else if (str_ends(name, SESSION_SUFFIX)) {
			r = plan_entry(p, p->dirfd, NULL, "sessions", name, f);
		} else if (migrate_prefix(name, true, &lane)) {
			r = migrate_add(p, NULL, name, &i, f);
			if (r == 0)
				r = migrate_explain(
					i, MIGRATE_LEAVE, f,
					"unknown entry: move it into sessions, grants or reports");
		}
	}
	return r;
}

static int open_tree(const char *dir, struct migrate_plan *p, struct fault *f)
{
	int r;

	r = path_normalize(dir, &p->dir, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", dir);
	p->dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dirfd < 0)
		return fault_errno(f, errno, "open '%s'", p->dir);
	r = dirs_require_own(p->dirfd, p->dir, f);
	if (r < 0)
		return r;
	if (flock(p->dirfd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? fault_set(f, EBUSY, "another migration of '%s' is running", p->dir)
			       : fault_errno(f, errno, "lock '%s'", p->dir);
	return 0;
}

int migrate_plan(const char *dir, struct migrate_plan *ret, struct fault *f)
{
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };
	_cleanup_strv_ char **names = NULL;
	int r;

	r = open_tree(dir, &p, f);
	if (r == 0)
		r = list(p.dirfd, ".", &names, f);
	for (size_t i = 0; kinds[i] && r == 0; i++)
		r = plan_kind(&p, kinds[i], f);
	if (r == 0)
		r = plan_top(&p, names, false, f);
	if (r == 0)
		r = refuse_doubles(&p, f);
	/* Pointers last: their targets are planned now. */
	if (r == 0)
		r = plan_top(&p, names, true, f);
	if (r == 0)
		r = refuse_doubles(&p, f);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct migrate_plan){ .dirfd = -EBADF };
	return 0;
}

size_t migrate_count(const struct migrate_plan *p, enum migrate_action action)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->items[i].action == action;
	return n;
}

const char *migrate_action_name(enum migrate_action action)
{
	static const char *const names[] = { "move", "point", "left", "conflict" };

	return names[action];
}

struct jdoc *migrate_describe(const struct migrate_plan *p, bool applied)
{
	struct jdoc *d = jdoc_new_object(), *items;

	jdoc_set_int(d, "schema_version", 1);
	jdoc_set(d, "dir", ledger_text(p->dir));
	jdoc_set_bool(d, "applied", applied);
	items = jdoc_set_array(d, "items");
	for (size_t i = 0; i < p->n; i++) {
		struct jdoc *o = jdoc_append_object(items);

		jdoc_set_string(o, "action", migrate_action_name(p->items[i].action));
		jdoc_set(o, "from", ledger_text(p->items[i].from));
		if (p->items[i].to) {
			jdoc_set_string(o, "lane", lane_name(p->items[i].lane));
			jdoc_set(o, "to", ledger_text(p->items[i].to));
		}
		if (p->items[i].why)
			jdoc_set(o, "why", ledger_text(p->items[i].why));
	}
	return d;
}
