/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define THREADS_MAX 4
#define DIRS_MIN 8   /* fewer directories are not worth a thread */
#define DEPTH_MAX 16 /* directories with a single entry that are passed on the way down */

struct work {
	int fd;
	char **names;
	size_t n;
	atomic_size_t next;
};

/* Failures are found again, and reported, when the rest is removed. */
static void *remove_some(void *arg)
{
	struct work *w = arg;
	size_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < w->n)
		(void)!path_remove_tree(w->fd, w->names[i], NULL);
	return NULL;
}

/* The directories in FD; *RET_ALL counts all entries. */
static char **list_directories(int fd, size_t *ret_all)
{
	_cleanup_close_ int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char **names = NULL;
	const struct dirent *e;
	DIR *d;

	*ret_all = 0;
	d = list < 0 ? NULL : fdopendir(list);
	if (!d)
		return NULL;
	(void)TAKE_FD(list);
	while ((e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		(*ret_all)++;
		if (e->d_type == DT_DIR && strv_append(&names, e->d_name) < 0)
			break;
	}
	(void)closedir(d);
	return names;
}

static void remove_wide(struct work *w)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[THREADS_MAX];
	size_t n = 0;

	while (n + 1 < THREADS_MAX && (long)n + 1 < cpus &&
	       pthread_create(&threads[n], NULL, remove_some, w) == 0)
		n++;
	(void)remove_some(w);
	while (n > 0)
		(void)pthread_join(threads[--n], NULL);
}

int path_remove_wide_tree(int dirfd, const char *name, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (int depth = 0; fd >= 0 && depth < DEPTH_MAX; depth++) {
		size_t all;
		_cleanup_strv_ char **names = list_directories(fd, &all);
		struct work w = { .fd = fd, .names = names, .n = strv_len(names) };
		int next;

		if (w.n >= DIRS_MIN)
			remove_wide(&w);
		if (w.n != 1 || all != 1)
			break;
		next = openat(fd, names[0], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(fd);
		fd = next;
	}
	return path_remove_tree(dirfd, name, f);
}
