/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-filesystem.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-mount.h"

/* clang-format off */
static const struct {
	const char *type;
	const char *place; /* masked and made read-only below this path only; NULL: anywhere */
} listed[] = {
	{ "proc",    "/proc" },
	{ "sysfs",   "/sys" },
	{ "tmpfs",   NULL },
	{ "ramfs",   NULL },
	{ "devpts",  NULL },
	{ "mqueue",  NULL },
	{ "cgroup",  NULL },
	{ "cgroup2", NULL },
};
/* clang-format on */

#define NOT_LISTED ARRAY_SIZE(listed)

static size_t find(const char *type)
{
	size_t i = 0;

	while (type && i < ARRAY_SIZE(listed) && strcmp(listed[i].type, type) != 0)
		i++;
	return type ? i : NOT_LISTED;
}

bool engine_filesystem_is_listed(const char *type)
{
	return find(type) != NOT_LISTED;
}

/* A second /proc has nothing masked: /proc/sys/kernel/core_pattern is a program that the host's kernel starts as root. */
static int require_place(struct engine_work *w, size_t i, const char *type, const char *place)
{
	_cleanup_free_ char *plain = engine_mount_target(engine_item(w->config, "mounts", i));

	if (!place || !engine_asks(w, LAYER_MASKS) || str_eq(plain, place))
		return 0;
	return engine_require_danger(w, "no-masked-paths",
				     "'mounts[%zu]': %s at '%.200s', where nothing of it is masked", i, type,
				     plain ? plain : "");
}

static bool must_be_readonly(const struct engine_work *w, const char *type)
{
	const struct profile *p = w->in->profile;

	/* Files of devices and of the kernel, most of which ask for no capability but the owner's id. */
	if (strcmp(type, "sysfs") == 0)
		return engine_asks(w, LAYER_MASKS);
	/* The files with the limits. */
	return str_starts(type, "cgroup") && (p->limit_memory || p->limit_pids || p->limit_cpu_percent);
}

int engine_filesystem_require(struct engine_work *w, size_t i)
{
	struct jdoc *mount = engine_item(w->config, "mounts", i);
	const char *type = engine_text(mount, "type");
	size_t at = find(type);
	int r;

	if (at == NOT_LISTED)
		return engine_require_danger(w, "rw-root",
					     "'mounts[%zu].type': a file system of type '%.64s'", i,
					     type ? type : "");
	r = require_place(w, i, type, listed[at].place);
	if (r == 0 && must_be_readonly(w, type) && !engine_mount_is_readonly(mount))
		jdoc_append_string(engine_make(mount, "options", JDOC_ARRAY), "ro");
	return r;
}
