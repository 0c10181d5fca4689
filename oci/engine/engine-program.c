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
	for (size_t i = 0; i < engine_count(config, "process.env"); i++) {
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

static int open_program(const struct engine_work *w, const char *path, struct stat *st)
{
	_cleanup_close_ int fd = open_inside(w, path);

	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode) || !(st->st_mode & 0111))
		return -EACCES;
	return TAKE_FD(fd);
}

static int search(const struct engine_work *w, const char *name, char path[PATH_MAX], struct stat *st)
{
	const char *dirs = find_path(w->config), *cwd = engine_text(w->config, "process.cwd");

	if (*name == '/') {
		if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return open_program(w, path, st);
	}
	if (strchr(name, '/')) {
		if (snprintf(path, PATH_MAX, "%s/%s", cwd ? cwd : "", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return open_program(w, path, st);
	}
	for (const char *dir = dirs; *dir;) {
		size_t len = strcspn(dir, ":");
		int fd = -ENOENT;

		if (*dir == '/' && snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dir, name) < PATH_MAX)
			fd = open_program(w, path, st);
		if (fd >= 0)
			return fd;
		dir += len + (dir[len] == ':');
	}
	return -ENOENT;
}

int engine_program_read(struct engine_work *w, struct jdoc **ret)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX], hex[DIGEST_HEX_SIZE];
	struct digest digest;
	struct stat st;
	int r;

	fd = w->c->argv[0] ? search(w, w->c->argv[0], path, &st) : -ENOENT;
	d = fd < 0 ? jdoc_new_null() : jdoc_new_object();
	if (!d)
		return fault_errno(w->f, ENOMEM, "program");
	if (fd >= 0) {
		jdoc_set_string(d, "path", path);
		if (st.st_size > (off_t)ENGINE_PROGRAM_MAX) {
			jdoc_set_int(d, "size", st.st_size);
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
