/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-image.h"
#include "oci/engine/engine-mount.h"

/* PATH of the image where the engine gives none: execvp's. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *find_path(const struct jdoc *config)
{
	/* libcrun takes the last one. */
	for (size_t i = engine_count(config, "process.env"); i-- > 0;) {
		const struct jdoc *v = engine_item(config, "process.env", i);

		if (engine_is(v, JDOC_STRING) && str_starts(v->string, "PATH="))
			return v->string + strlen("PATH=");
	}
	return DEFAULT_PATH;
}

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* PATH inside, below BASE on the host. */
static int open_below(const char *base, const char *path)
{
	_cleanup_close_ int root = -EBADF;
	int fd;

	if (!*path) { /* a bind of the file itself */
		fd = open(base, READ_FLAGS);
		return fd < 0 ? -errno : fd;
	}
	root = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : path_open_in_root(root, path, READ_FLAGS, 0, NULL);
}

/* PATH inside, in the root or in the bind that covers it.  A link that leads from one into the other is not followed. */
static int open_inside(const struct engine_work *w, const char *path)
{
	const struct jdoc *mount;
	_cleanup_free_ char *plain = NULL, *target = NULL;
	const char *source;

	/* With "..": by the root only, which is where it ends. */
	if (path_normalize(path, &plain, NULL) < 0)
		return open_below(w->in->rootfs, path);
	mount = engine_mount_of(w->config, plain);
	if (!mount)
		return open_below(w->in->rootfs, plain);
	source = engine_text(mount, "source");
	if (engine_mount_kind(mount, &w->names) != ENGINE_MOUNT_BIND || !source ||
	    path_normalize(engine_text(mount, "destination"), &target, NULL) < 0)
		return -ENOENT;
	return open_below(source, plain + (strcmp(target, "/") == 0 ? 0 : strlen(target)));
}

/* Opens PATH of the container; negative: none. */
typedef int (*open_fn)(const void *arg, const char *path);

static int open_judged(const void *arg, const char *path)
{
	return open_inside(arg, path);
}

static int open_created(const void *arg, const char *path)
{
	return path_open_in_root(*(const int *)arg, path, O_PATH | O_CLOEXEC, 0, NULL);
}

struct program_search {
	const struct jdoc *config;
	open_fn open;
	const void *arg;
	char path[PATH_MAX]; /* found */
	struct stat st;
};

static int open_program(struct program_search *s, const char *dir, size_t len, const char *name)
{
	const char *cwd = engine_text(s->config, "process.cwd");
	_cleanup_close_ int fd = -EBADF;
	int n;

	if (*name == '/')
		n = snprintf(s->path, sizeof(s->path), "%s", name);
	else if (len > 0 && *dir == '/')
		n = snprintf(s->path, sizeof(s->path), "%.*s/%s", (int)len, dir, name);
	else /* from the working directory */
		n = snprintf(s->path, sizeof(s->path), "%s/%.*s/%s", cwd ? cwd : "", (int)len, dir, name);
	if (n < 0 || n >= (int)sizeof(s->path))
		return -ENAMETOOLONG;
	fd = s->open(s->arg, s->path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &s->st) < 0)
		return -errno;
	if (!S_ISREG(s->st.st_mode) || !(s->st.st_mode & 0111))
		return -EACCES;
	return TAKE_FD(fd);
}

static int search(struct program_search *s, const char *name)
{
	const char *dir = find_path(s->config);
	int fd = -ENOENT;

	if (strchr(name, '/'))
		return open_program(s, "", 0, name);
	/* An empty one is the working directory, also at the end. */
	for (bool more = true; more && fd < 0;) {
		size_t len = strcspn(dir, ":");

		fd = open_program(s, dir, len, name);
		more = dir[len] == ':';
		dir += len + more;
	}
	return fd;
}

int engine_program_find(const struct jdoc *config, int root, struct stat *ret)
{
	struct program_search s = { .config = config, .open = open_created, .arg = &root };
	const struct jdoc *name =
		engine_count(config, "process.args") > 0 ? engine_item(config, "process.args", 0) : NULL;
	_cleanup_close_ int fd = engine_is(name, JDOC_STRING) ? search(&s, name->string) : -ENOENT;

	if (fd < 0)
		return fd;
	*ret = s.st;
	return 0;
}

int engine_program_read(struct engine_work *w, struct jdoc **ret)
{
	struct program_search s = { .config = w->config, .open = open_judged, .arg = w };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_close_ int fd = w->c->argv[0] ? search(&s, w->c->argv[0]) : -ENOENT;
	char hex[DIGEST_HEX_SIZE];
	struct digest digest;
	int r;

	d = fd < 0 ? jdoc_new_null() : jdoc_new_object();
	if (!d)
		return fault_errno(w->f, ENOMEM, "program");
	if (fd >= 0) {
		engine_pin_program(&w->c->pins, &s.st);
		jdoc_set_string(d, "path", s.path);
		if (s.st.st_size > (off_t)ENGINE_PROGRAM_MAX) {
			jdoc_set_int(d, "size", s.st.st_size);
		} else {
			r = digest_fd(fd, &digest, w->f);
			if (r < 0)
				return r;
			digest_to_hex(&digest, hex);
			jdoc_set_string(d, "sha256", hex);
		}
	}
	*ret = TAKE_PTR(d);
	return 0;
}
