/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "state/migrate-impl.h"
#include "state/state-version.h"

/*
 * Order of this file, and the state after a kill at each point:
 * 1. Create the lanes' states with lane and version.		The old tree is unchanged.
 * 2. Write the plan to the ledgers, synced.			Records of moves that did not happen; the next plan shows them.
 * 3. Move each item by one rename that MUST NOT replace.	Each is in one place.  A directory is stamped before.
 * 4. Write each new pointer before removing the old one.	Both exist and agree; the next plan sees that.
 * 5. Remove directories that are now empty.
 */

#define RECORD_ITEMS 100
#define TEMP ".migrate"

static const char *const emptied[] = { "sessions", "grants", "reports", NULL };

bool migrate_has_work(const struct migrate_plan *p, enum lane lane)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].to && p->items[i].lane == lane)
			return true;
	return false;
}

static int tell_some(struct ledger *l, const struct migrate_plan *p, enum lane lane, size_t *at,
		     struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = "state.migrate", .d = d };
	struct jdoc *items = jdoc_set_array(d, "items");

	jdoc_set(d, "dir", ledger_text(p->dir));
	jdoc_set_string(d, "lane", lane_name(lane));
	jdoc_set_int(d, "uid", (int64_t)getuid());
	jdoc_set_int(d, "conflicts", (int64_t)migrate_count(p, MIGRATE_CONFLICT));
	for (size_t n = 0; *at < p->n && n < RECORD_ITEMS; (*at)++) {
		const struct migrate_item *i = &p->items[*at];
		struct jdoc *o;

		if (!i->to || i->lane != lane)
			continue;
		o = jdoc_append_object(items);
		jdoc_set(o, "from", ledger_text(i->from));
		jdoc_set(o, "to", ledger_text(i->to));
		n++;
	}
	if (items->n_items == 0)
		return 0;
	return ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, f);
}

static int record_plan(const struct migrate_plan *p, const char *state, enum lane lane,
		       struct lane_pass *prod, const struct ledger_run *run, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	size_t at = 0;
	int r;

	r = ledger_open(state, &(struct ledger_options){ .create = true }, &l, NULL, f);
	if (r == 0 && lane == LANE_PROD)
		r = lane_record(prod, l, run, f);
	while (r == 0 && at < p->n)
		r = tell_some(l, p, lane, &at, f);
	return r < 0 ? fault_wrap(f, r, "ledger of lane '%s'", lane_name(lane)) : 0;
}

static int open_lane(const struct migrate_plan *p, enum lane lane, struct lane_pass *prod,
		     const struct ledger_run *run, struct fault *f)
{
	_cleanup_free_ char *state = path_join(p->dir, lane_name(lane));
	_cleanup_close_ int fd = -EBADF;

	if (!state)
		return fault_errno(f, ENOMEM, "migrate");
	fd = state_open_lane(state, lane, f);
	if (fd < 0)
		return fd;
	return record_plan(p, state, lane, prod, run, f);
}

static int sync_dir(int fd, const char *name, struct fault *f)
{
	return fsync(fd) < 0 ? fault_errno(f, errno, "fsync '%s'", name) : 0;
}

/* Opens the parent directory of PATH, below the tree; no link is followed. *RET_NAME points into PATH. */
static int open_parent(const struct migrate_plan *p, const char *path, bool make, const char **ret_name,
		       struct fault *f)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");

	if (!dir)
		return fault_errno(f, ENOMEM, "migrate");
	*ret_name = slash ? slash + 1 : path;
	if (make)
		return path_make_dirs(p->dirfd, dir, 0700, f);
	return path_open_beneath(p->dirfd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
}

static int become_conflict(struct migrate_item *i, struct fault *f)
{
	free(i->why);
	if (asprintf(&i->why, "'%s' exists already: compare them and remove one", i->to) < 0) {
		i->why = NULL;
		return fault_errno(f, ENOMEM, "migrate");
	}
	i->action = MIGRATE_CONFLICT;
	free(i->to);
	i->to = NULL;
	return 0;
}

static int stamp(int from, const char *name, enum lane lane, struct fault *f)
{
	_cleanup_close_ int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum lane there;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", name);
	r = lane_read_stamp(fd, name, &there, f);
	if (r != 0)
		return r < 0 ? r : lane_require_name(lane, lane_name(there), name, f);
	(void)unlinkat(fd, ".lane", 0); /* left by a run that was killed while it wrote the stamp */
	return lane_stamp(fd, lane, f);
}

static int move(const struct migrate_plan *p, struct migrate_item *i, struct fault *f)
{
	const char *from_name, *to_name;
	_cleanup_close_ int from = open_parent(p, i->from, false, &from_name, f);
	_cleanup_close_ int to = from < 0 ? -EBADF : open_parent(p, i->to, true, &to_name, f);
	int r = 0;

	if (from < 0 || to < 0)
		return from < 0 ? from : to;
	if (i->directory)
		r = stamp(from, from_name, i->lane, f);
	if (r < 0)
		return r;
	if (renameat2(from, from_name, to, to_name, RENAME_NOREPLACE) < 0)
		return errno == EEXIST ? become_conflict(i, f)
				       : fault_errno(f, errno, "rename to '%s'", i->to);
	i->done = true;
	return 0;
}

static int write_pointer(int dir, const char *name, const char *text, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	/* A fixed name: the file of a killed run is overwritten. */
	if (unlinkat(dir, TEMP, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", TEMP);
	fd = openat(dir, TEMP, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", TEMP);
	r = fd_write_all(fd, text, strlen(text), f);
	if (r == 0 && fsync(fd) < 0)
		r = fault_errno(f, errno, "fsync '%s'", TEMP);
	if (r == 0 && renameat2(dir, TEMP, dir, name, RENAME_NOREPLACE) < 0)
		r = errno == EEXIST ? -EEXIST : fault_errno(f, errno, "rename to '%s'", name);
	if (r < 0)
		(void)unlinkat(dir, TEMP, 0);
	return r;
}

static int point(const struct migrate_plan *p, struct migrate_item *i, struct fault *f)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(p, i->to, true, &name, f);
	_cleanup_free_ char *there = NULL;
	int r;

	if (dir < 0)
		return dir;
	r = write_pointer(dir, name, i->text, f);
	if (r == -EEXIST) {
		_cleanup_close_ int fd =
			openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		size_t len;

		if (fd < 0 || fd_read_all(fd, MIGRATE_POINTER_MAX, &there, &len, NULL) < 0 ||
		    !str_eq(there, i->text))
			return become_conflict(i, f);
		r = 0;
	}
	if (r == 0)
		r = sync_dir(dir, i->to, f);
	if (r < 0)
		return r;
	if (unlinkat(p->dirfd, i->from, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", i->from);
	i->done = true;
	return sync_dir(p->dirfd, p->dir, f);
}

int migrate_apply(struct migrate_plan *p, struct lane_pass *prod, const struct ledger_run *run,
		  struct fault *f)
{
	int r = 0;

	if (migrate_has_work(p, LANE_PROD) && !prod)
		return fault_set(f, LANE_REFUSED,
				 "entries of lane 'prod' are moved only with both of its keys");
	for (unsigned int l = 0; l < _LANE_MAX && r == 0; l++)
		if (migrate_has_work(p, (enum lane)l))
			r = open_lane(p, (enum lane)l, prod, run, f);
	for (size_t i = 0; i < p->n && r == 0; i++)
		if (p->items[i].action == MIGRATE_MOVE)
			r = fault_wrap(f, move(p, &p->items[i], f), "move '%s/%s'", p->dir, p->items[i].from);
	/* Once for all items: a move that a power loss undoes is in the next plan again. */
	if (r == 0 && migrate_count(p, MIGRATE_MOVE) && syncfs(p->dirfd) < 0)
		r = fault_errno(f, errno, "sync '%s'", p->dir);
	for (size_t i = 0; i < p->n && r == 0; i++)
		if (p->items[i].action == MIGRATE_POINT)
			r = fault_wrap(f, point(p, &p->items[i], f), "pointer '%s/%s'", p->dir,
				       p->items[i].from);
	/* Not empty: some entries stay. */
	for (size_t i = 0; emptied[i] && r == 0; i++)
		(void)unlinkat(p->dirfd, emptied[i], AT_REMOVEDIR);
	return r;
}
