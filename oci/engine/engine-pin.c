/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-pin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-image.h"
#include "oci/engine/engine-mount.h"

static struct engine_pin pin_of(const struct stat *st)
{
	return (struct engine_pin){ .dev = st->st_dev, .ino = st->st_ino, .exists = true };
}

void engine_pin_root(struct engine_pins *p, int fd)
{
	struct stat st;

	p->root = fd >= 0 && fstat(fd, &st) == 0 ? pin_of(&st) : (struct engine_pin){ 0 };
}

void engine_pin_program(struct engine_pins *p, const struct stat *st)
{
	p->program = pin_of(st);
}

int engine_pin_binds(struct engine_pins *p, const struct jdoc *config, struct fault *f)
{
	p->n = engine_count(config, "mounts");
	p->binds = calloc(p->n + 1, sizeof(*p->binds));
	if (!p->binds)
		return fault_errno(f, ENOMEM, "config.json");
	for (size_t i = 0; i < p->n; i++) {
		const struct jdoc *mount = engine_item(config, "mounts", i);
		const char *source = engine_text(mount, "source");
		struct stat st;

		/* The broker's does not exist yet: engine_pin_broker. */
		if (engine_mount_is_bind(mount) && source && stat(source, &st) == 0)
			p->binds[i] = pin_of(&st);
	}
	return 0;
}

void engine_pin_broker(struct engine_pins *p, size_t mount, const struct stat *st)
{
	p->binds[mount] = pin_of(st);
}

static bool is_same(const struct engine_pin *p, const struct stat *st)
{
	return p->exists && p->dev == st->st_dev && p->ino == st->st_ino;
}

static bool is_at_or_above(const struct jdoc *path, const char *target)
{
	_cleanup_free_ char *plain = NULL;

	return engine_is(path, JDOC_STRING) && path_normalize(path->string, &plain, NULL) == 0 &&
	       path_is_below(target, plain);
}

/* By a later mount or a mask, or by the terminal: the source is not visible there. */
static bool is_covered(const struct jdoc *config, size_t i, const char *target)
{
	const struct jdoc *masked = engine_at(config, "linux.maskedPaths");

	for (size_t k = i + 1; k < engine_count(config, "mounts"); k++) {
		_cleanup_free_ char *other = engine_mount_target(engine_item(config, "mounts", k));

		if (other && path_is_below(target, other))
			return true;
	}
	for (size_t k = 0; engine_is(masked, JDOC_ARRAY) && k < masked->n_items; k++)
		if (is_at_or_above(masked->items[k], target))
			return true;
	return str_eq(target, "/dev/console");
}

/* libcrun mounts the link itself. */
static bool is_of_link(const struct jdoc *mount)
{
	const struct jdoc *options = jdoc_get(mount, "options");

	return engine_list_has(options, "src-nofollow") || engine_list_has(options, "copy-symlink");
}

static int require_bind(const struct engine_pin *p, const struct jdoc *config, size_t i, int root,
			struct fault *f)
{
	const struct jdoc *mount = engine_item(config, "mounts", i);
	_cleanup_free_ char *target = engine_mount_is_bind(mount) ? engine_mount_target(mount) : NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (!target || is_of_link(mount) || is_covered(config, i, target))
		return 0;
	fd = path_open_in_root(root, target, O_PATH | O_CLOEXEC, 0, f);
	if (fd < 0)
		return fault_wrap(f, fd, "'mounts[%zu]'", i);
	if (fstat(fd, &st) == 0 && is_same(p, &st))
		return 0;
	return fault_set(
		f, EPERM,
		"config.json: 'mounts[%zu].source' was exchanged while the container was created: what "
		"is mounted on '%.200s' is another file than the one that was judged",
		i, target);
}

static int require_root(const struct engine_pins *p, int root, struct fault *f)
{
	struct stat st;

	if (fstat(root, &st) == 0 && is_same(&p->root, &st))
		return 0;
	return fault_set(
		f, EPERM,
		"config.json: 'root.path' was exchanged while the container was created: its root is "
		"another directory than the one that was judged");
}

static int require_program(const struct engine_pins *p, const struct jdoc *config, int root, struct fault *f)
{
	struct stat st;

	if (!p->program.exists)
		return 0;
	if (engine_program_find(config, root, &st) == 0 && is_same(&p->program, &st))
		return 0;
	return fault_set(
		f, EPERM,
		"config.json: 'process.args[0]' names another file inside than the one that was judged: "
		"it was exchanged, or a link of the image leads to it; give its full path");
}

int engine_pins_require(const struct engine_pins *p, const struct jdoc *config, pid_t pid, struct fault *f)
{
	char path[sizeof("/proc//root") + 3 * sizeof(pid_t)];
	_cleanup_close_ int root = -EBADF;
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return fault_errno(f, errno, "open the root of the container");
	r = require_root(p, root, f);
	for (size_t i = 0; r == 0 && i < p->n; i++)
		r = require_bind(&p->binds[i], config, i, root, f);
	return r < 0 ? r : require_program(p, config, root, f);
}

void engine_pins_done(struct engine_pins *p)
{
	free(p->binds);
	*p = (struct engine_pins){ 0 };
}
