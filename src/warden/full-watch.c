/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/full-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "layer/layer.h"

static void add(struct full_watch *w, int root, const char *path, const char *key)
{
	int fd;

	if (w->n == FULL_PLACES_MAX)
		return;
	fd = path_open_in_root(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, NULL);
	if (fd >= 0)
		w->places[w->n++] = (struct full_place){ .fd = fd, .path = path, .key = key };
}

static const char *key_of(const struct subject *s, const struct subject_mount *m)
{
	for (size_t i = 0; i < s->profile->n_fs_tmpfs; i++)
		if (str_eq(s->profile->fs_tmpfs[i].path, m->target))
			return "filesystem.tmpfs";
	return "limits.tmp";
}

void full_watch_open(struct full_watch *w, const struct subject *s, pid_t init)
{
	char name[sizeof("/proc//root") + 3 * sizeof(pid_t)];
	_cleanup_close_ int root = -EBADF;

	(void)snprintf(name, sizeof(name), "/proc/%d/root", (int)init);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return;
	if (s->layers & LAYER_BIT(LAYER_DEVICES))
		add(w, root, "/dev/shm", "limits.shm");
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_TMPFS)
			add(w, root, s->mounts[i].target, key_of(s, &s->mounts[i]));
	if (s->profile->workspace == PROFILE_WORKSPACE_TMPFS)
		add(w, root, subject_work_target(s), s->profile->limit_disk ? "limits.disk" : "limits.tmp");
	if (s->kept_home)
		add(w, root, s->home, NULL);
}

void full_watch_look(struct full_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct full_place *p = &w->places[i];
		struct statvfs fs;

		if (p->was_full || fstatvfs(p->fd, &fs) < 0)
			continue;
		p->bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
		p->was_full = fs.f_blocks > 0 && (fs.f_bavail == 0 || (fs.f_files > 0 && fs.f_favail == 0));
	}
}

struct jdoc *full_watch_list(const struct full_watch *w)
{
	struct jdoc *list = NULL, *o;

	for (size_t i = 0; i < w->n; i++) {
		const struct full_place *p = &w->places[i];

		if (!p->was_full)
			continue;
		if (!list)
			list = jdoc_new_array();
		o = jdoc_append_object(list);
		jdoc_set_string(o, "path", p->path);
		jdoc_set_int(o, "bytes", (int64_t)p->bytes);
		jdoc_set(o, "limit", p->key ? jdoc_new_string(p->key) : jdoc_new_null());
	}
	return list;
}

char *full_watch_text(const struct full_watch *w)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char size[UNIT_TEXT_SIZE];

	for (size_t i = 0; i < w->n; i++) {
		const struct full_place *p = &w->places[i];

		if (!p->was_full)
			continue;
		strbuf_puts(&b, b.len ? "; " : "no space was left: ");
		if (p->key)
			strbuf_printf(&b, "%s is full (%s; %s of the profile raises it)", p->path,
				      unit_text_bytes(p->bytes, size), p->key);
		else
			strbuf_printf(&b, "the disk of the kept home %s is full (custody df, custody prune)",
				      p->path);
	}
	return b.len ? strbuf_take(&b) : NULL;
}

void full_watch_done(struct full_watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->places[i].fd = fd_close(w->places[i].fd);
	w->n = 0;
}
