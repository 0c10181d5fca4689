/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/migrate-impl.h"
#include "state/migrate-stamp.h"

/* Location of PATH of the old tree after the migration, or after an earlier one. 0: not known. */
static int find_moved(const struct migrate_plan *p, const char *path, enum lane *ret_lane, char **ret,
		      struct fault *f)
{
	const char *slash = strchr(path, '/'), *rest;
	int found = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].action == MIGRATE_MOVE && str_eq(p->items[i].from, path)) {
			*ret_lane = p->items[i].lane;
			*ret = strdup(p->items[i].to);
			return *ret ? 1 : fault_errno(f, ENOMEM, "plan");
		}
	/* Exists in the old place: it stays, and so does its pointer. */
	if (!slash || strchr(slash + 1, '/') || migrate_is_taken(p, path))
		return 0;
	for (unsigned int i = 0; i < _LANE_MAX; i++) {
		enum lane named = (enum lane)i;
		_cleanup_free_ char *to = NULL;

		rest = migrate_prefix(slash + 1, false, &named);
		if (asprintf(&to, "%s/%.*s/%s", lane_name((enum lane)i), (int)(slash - path), path,
			     rest ? rest : slash + 1) < 0) {
			to = NULL;
			return fault_errno(f, ENOMEM, "plan");
		}
		if (named != (enum lane)i || !migrate_is_taken(p, to))
			continue;
		if (found++)
			continue;
		*ret_lane = (enum lane)i;
		*ret = TAKE_PTR(to);
	}
	if (found == 2) {
		free(*ret);
		*ret = NULL;
	}
	return found == 1;
}

/* One absolute path and a newline; the part of it below the tree, NULL for anything else. */
static int read_pointer(const struct migrate_plan *p, const char *name, char **ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(p->dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL, *path = NULL;
	struct stat st;
	size_t len, n = strlen(p->dir);

	*ret = NULL;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fd_read_all(fd, MIGRATE_POINTER_MAX, &text, &len, NULL) < 0)
		return 0;
	if (strlen(text) != len || len == 0 || text[len - 1] != '\n' || strchr(text, '\n') != text + len - 1)
		return 0;
	text[len - 1] = '\0';
	if (text[0] != '/' || path_normalize(text, &path, NULL) < 0 || !path_is_below(path, p->dir) ||
	    !path[n])
		return 0;
	*ret = strdup(path + n + 1);
	return *ret ? 1 : fault_errno(f, ENOMEM, "plan");
}

/* An earlier run may have written the new pointer and been killed before it removed the old one. */
static bool has_text(const struct migrate_plan *p, const char *path, const char *text)
{
	_cleanup_close_ int fd =
		openat(p->dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *there = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, MIGRATE_POINTER_MAX, &there, &len, NULL) == 0 &&
	       len == strlen(text) && strcmp(there, text) == 0;
}

int migrate_plan_pointer(struct migrate_plan *p, const char *name, struct fault *f)
{
	_cleanup_free_ char *path = NULL, *moved = NULL;
	enum lane by_name = LANE_SANDBOX, lane = LANE_SANDBOX;
	const char *rest = migrate_prefix(name, true, &by_name);
	struct migrate_item *i;
	int r;

	r = migrate_add(p, NULL, name, &i, f);
	if (r < 0)
		return r;
	r = read_pointer(p, name, &path, f);
	if (r == 0)
		return migrate_explain(i, MIGRATE_LEAVE, f,
				       "it is not one line with the path of a session in '%s'", p->dir);
	if (r > 0)
		r = find_moved(p, path, &lane, &moved, f);
	if (r < 0)
		return r;
	if (r == 0)
		return migrate_explain(i, MIGRATE_LEAVE, f,
				       "it points to '%s', which is missing or is not migrated", path);
	if (rest && lane != by_name)
		return migrate_explain(i, MIGRATE_CONFLICT, f,
				       "lane '%s' in its name, but it points to '%s' of lane '%s'",
				       lane_name(by_name), path, lane_name(lane));
	if (asprintf(&i->text, "%s/%s\n", p->dir, moved) < 0) {
		i->text = NULL;
		return fault_errno(f, ENOMEM, "plan");
	}
	r = migrate_set_target(i, lane, NULL, rest ? rest : name, f);
	if (r < 0)
		return r;
	if (has_text(p, i->to, i->text)) {
		i->action = MIGRATE_POINT;
		return 0;
	}
	return migrate_settle(p, i, MIGRATE_POINT, f);
}
