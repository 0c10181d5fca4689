/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/mount-watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "profile/profile-file.h"

#define TOUCHED (IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE)

/* NAME in a directory that other users can change. */
struct mount_watch_step {
	int watch;
	char *path;
	const char *name; /* in PATH */
};

void mount_watch_done(struct mount_watch *w)
{
	for (size_t i = 0; i < w->n_steps; i++)
		free(w->steps[i].path);
	free(w->steps);
	(void)fd_close(w->fd);
	*w = MOUNT_WATCH_NONE;
}

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid() || profile_owner_is_unmapped(st->st_uid);
}

/* Can only root and the caller replace the name of ENTRY in DIR? */
static bool is_settled(const struct stat *dir, const struct stat *entry)
{
	if (!is_ours(dir))
		return false;
	return !(dir->st_mode & (S_IWGRP | S_IWOTH)) || ((dir->st_mode & S_ISVTX) && is_ours(entry));
}

static int open_watch(struct mount_watch *w, struct fault *f)
{
	if (w->fd >= 0)
		return 0;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0 && errno == EMFILE)
		return fault_set(f, EMFILE,
				 "cannot watch mount sources: no inotify instance is left for this user: "
				 "sysctl -w fs.inotify.max_user_instances=1024");
	return w->fd < 0 ? fault_errno(f, errno, "inotify") : 0;
}

static int watch_step(struct mount_watch *w, const char *dir, const char *name, size_t len, struct fault *f)
{
	struct mount_watch_step *grown, *step;
	int r = open_watch(w, f), watch;

	if (r < 0)
		return r;
	watch = inotify_add_watch(w->fd, dir, TOUCHED | IN_ONLYDIR);
	if (watch < 0)
		return fault_errno(f, errno,
				   "'%s' can be changed by other users while the run is prepared, and cannot "
				   "be watched: choose another directory",
				   dir);
	grown = reallocarray(w->steps, w->n_steps + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	w->steps = grown;
	grown[w->n_steps] = (struct mount_watch_step){ .watch = watch };
	step = &grown[w->n_steps++];
	if (asprintf(&step->path, "%s/%.*s", dir[1] ? dir : "", (int)len, name) < 0) {
		step->path = NULL;
		return fault_errno(f, ENOMEM, "'%s'", dir);
	}
	step->name = strrchr(step->path, '/') + 1;
	return 0;
}

/* From the top: the replacement of a parent of a watched directory is seen by the watch above it. */
static int watch_path(struct mount_watch *w, const char *path, struct fault *f)
{
	_cleanup_free_ char *prefix = strdup(path);
	struct stat dir, entry, next;
	int r = 0;

	if (!prefix)
		return fault_errno(f, ENOMEM, "'%s'", path);
	if (stat("/", &dir) < 0)
		return fault_errno(f, errno, "stat '/'");
	for (size_t at = 0; r == 0 && path[at] == '/' && path[at + 1];) {
		size_t len = strcspn(path + at + 1, "/"), end = at + 1 + len;

		prefix[end] = '\0';
		if (lstat(prefix, &entry) < 0 || stat(prefix, &next) < 0)
			return fault_errno(f, errno, "stat '%s'", prefix);
		prefix[end] = path[end];
		prefix[at] = '\0';
		if (len > 0 &&
		    (!is_settled(&dir, &entry) || (w->rootless && subject_is_shared(w->subject, prefix))))
			r = watch_step(w, at ? prefix : "/", path + at + 1, len, f);
		prefix[at] = '/';
		dir = next;
		at = end;
	}
	return r;
}

static int require_same(const char *path, const struct subject_file *want, struct fault *f)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (st.st_dev == want->device && st.st_ino == want->inode)
		return 0;
	return fault_set(f, EPERM, "'%s' was replaced after it was checked: restore it, or retry", path);
}

typedef int (*visit_fn)(struct mount_watch *w, const char *path, const struct subject_file *file,
			struct fault *f);

/* Paths that the runtime mounts by name. */
static int visit(struct mount_watch *w, visit_fn fn, struct fault *f)
{
	const struct subject *s = w->subject;
	int r = 0;

	if (w->rootless && s->worktree && s->profile->workspace != PROFILE_WORKSPACE_TMPFS)
		r = fn(w, s->worktree, &s->worktree_file, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];

		if (m->kind != SUBJECT_MOUNT_TMPFS && (w->rootless || !m->idmap))
			r = fn(w, m->source, &m->file, f);
	}
	return r;
}

static int begin_one(struct mount_watch *w, const char *path, const struct subject_file *file,
		     struct fault *f)
{
	size_t before = w->n_steps;
	int r = watch_path(w, path, f);

	return r < 0 || w->n_steps == before ? r : require_same(path, file, f);
}

static int end_one(struct mount_watch *w, const char *path, const struct subject_file *file, struct fault *f)
{
	(void)w;
	return require_same(path, file, f);
}

int mount_watch_open(const struct subject *s, bool rootless, struct mount_watch *ret, struct fault *f)
{
	_cleanup_mount_watch_ struct mount_watch w = { .fd = -EBADF, .subject = s, .rootless = rootless };
	int r = visit(&w, begin_one, f);

	if (r < 0)
		return r;
	*ret = w;
	w = MOUNT_WATCH_NONE;
	return 0;
}

static int judge_event(const struct mount_watch *w, const struct inotify_event *e, struct fault *f)
{
	if (e->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT))
		return fault_set(f, EPERM, "too many changes in parent directories of a mount source; retry");
	for (size_t i = 0; i < w->n_steps; i++)
		if (w->steps[i].watch == e->wd && e->len > 0 && strcmp(w->steps[i].name, e->name) == 0)
			return fault_set(f, EPERM,
					 "'%s', a mount source or a parent directory of one, was replaced "
					 "while the run was prepared: retry",
					 w->steps[i].path);
	return 0;
}

int mount_watch_verify(const struct mount_watch *w, struct fault *f)
{
	_Alignas(struct inotify_event) char room[4096];
	struct mount_watch all = *w;
	ssize_t n;
	int r = 0;

	if (w->fd < 0)
		return 0;
	/* State first, then events: a replacement that was undone before this check has left an event. */
	r = visit(&all, end_one, f);
	while (r == 0 && (n = read(w->fd, room, sizeof(room))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : fault_errno(f, errno, "inotify");
		for (ssize_t at = 0; r == 0 && at < n;) {
			const struct inotify_event *e = (const struct inotify_event *)(room + at);

			r = judge_event(w, e, f);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	return r;
}
