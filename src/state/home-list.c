/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/home-list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dir.h"
#include "base/disk-usage.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger-action.h"

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int home_list(const struct dirs *d, char ***ret, struct fault *f)
{
	_cleanup_dir_ DIR *dir = opendir(d->homes);
	_cleanup_strv_ char **ids = NULL;
	const struct dirent *e;

	if (!dir && errno != ENOENT)
		return fault_errno(f, errno, "open '%s'", d->homes);
	while (dir && (e = readdir(dir)))
		if (home_id_is_valid(e->d_name) && strv_append(&ids, e->d_name) < 0)
			return fault_errno(f, ENOMEM, "homes");
	if (ids)
		qsort(ids, strv_len(ids), sizeof(*ids), compare);
	*ret = TAKE_PTR(ids);
	return 0;
}

static uint64_t size_of(const struct home_dir *h)
{
	_cleanup_disk_usage_ struct disk_usage *usage = NULL;
	_cleanup_close_ int fd = openat(h->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct disk_usage_size size = { 0 };

	if (fd < 0 || disk_usage_new(&usage, NULL) < 0 || disk_usage_measure(usage, fd, &size, NULL) < 0)
		return 0;
	return size.bytes;
}

static int record(const struct dirs *d, const char *id, uint64_t bytes, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();

	jdoc_set_string(o, "home", id);
	jdoc_set_int(o, "bytes", (int64_t)bytes);
	jdoc_set_string(o, "why", "by-hand");
	return ledger_action_append(d->state, d->user, "home.expire", NULL, o, f);
}

static int prune_one(const struct home_prune *p, const char *id, struct fault *f)
{
	_cleanup_home_dir_ struct home_dir *h = NULL;
	_cleanup_fault_ struct fault why = { 0 };
	const uint64_t now_us = clock_wall_us();
	uint64_t used_us, bytes;
	/* The lock also where nothing is removed: the answer is the same. */
	int r = home_dir_open(p->dirs, id, NULL, HOME_CLEAR, &h, &why);

	if (r == -EBUSY || r == -ENOENT)
		return 0;
	if (r < 0)
		return fault_set(f, -r, "%s", fault_text(&why));
	used_us = home_dir_used_us(h, NULL);
	/* If the clock was set back, no home is old. */
	if (p->older_s && (used_us >= now_us || (now_us - used_us) / 1000000 < p->older_s))
		return 0;
	bytes = size_of(h);
	if (!p->dry_run) {
		r = record(p->dirs, id, bytes, f);
		if (r == 0)
			r = home_dir_remove(p->dirs, h, f);
	}
	if (r == 0 && p->told)
		p->told(p->arg, id, "by-hand", bytes);
	return r;
}

/* The rests of killed removals. */
static int sweep(const struct dirs *d, struct fault *f)
{
	_cleanup_dir_ DIR *dir = opendir(d->homes);
	const struct dirent *e;
	int r = 0;

	while (r == 0 && dir && (e = readdir(dir)))
		if (str_starts(e->d_name, HOME_GONE))
			r = path_remove_tree(dirfd(dir), e->d_name, f);
	return r;
}

int home_prune(const struct home_prune *p, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	int r = p->dry_run ? 0 : sweep(p->dirs, f);

	if (r == 0)
		r = home_list(p->dirs, &ids, f);
	for (char **id = ids; r == 0 && id && *id; id++)
		r = prune_one(p, *id, f);
	return r < 0 ? fault_wrap(f, r, "remove homes") : 0;
}
