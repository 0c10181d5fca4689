/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-mount.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-device.h"
#include "oci/engine/engine-filesystem.h"
#include "oci/engine/engine-made.h"

/* As of custody's own runs, and what engines mask in /sys. */
const char *const engine_masked_paths[] = {
	"/proc/acpi",
	"/proc/asound",
	"/proc/interrupts",
	"/proc/kallsyms",
	"/proc/kcore",
	"/proc/key-users",
	"/proc/keys",
	"/proc/kmsg",
	"/proc/latency_stats",
	"/proc/sched_debug",
	"/proc/scsi",
	"/proc/timer_list",
	"/proc/timer_stats",
	"/sys/firmware",
	"/sys/fs/selinux",
	"/sys/dev/block",
	"/sys/devices/virtual/powercap",
	NULL,
};

const char *const engine_readonly_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};

bool engine_mount_is_readonly(const struct jdoc *mount)
{
	const struct jdoc *options = jdoc_get(mount, "options");
	bool ro = false;

	/* The last one applies, but of rrw: it is applied to the tree after all others. */
	for (size_t i = 0; engine_is(options, JDOC_ARRAY) && i < options->n_items; i++) {
		const char *o = engine_is(options->items[i], JDOC_STRING) ? options->items[i]->string : "";

		if (strcmp(o, "rrw") == 0)
			return false;
		if (strcmp(o, "ro") == 0 || strcmp(o, "rro") == 0)
			ro = true;
		if (strcmp(o, "rw") == 0)
			ro = false;
	}
	return ro;
}

bool engine_mount_is_bind(const struct jdoc *mount)
{
	const struct jdoc *options = jdoc_get(mount, "options");

	return str_eq(engine_text(mount, "type"), "bind") || engine_list_has(options, "bind") ||
	       engine_list_has(options, "rbind");
}

enum engine_mount_kind engine_mount_kind(const struct jdoc *mount, const struct engine_names *names)
{
	if (!engine_mount_is_bind(mount))
		return ENGINE_MOUNT_OTHER;
	return engine_made_is(mount, names) ? ENGINE_MOUNT_ENGINE : ENGINE_MOUNT_BIND;
}

/* Sockets, FIFOs and devices are written through a read-only mount as well. */
static bool is_channel(const char *source)
{
	struct stat st;

	return source && stat(source, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	       !(S_ISCHR(st.st_mode) && engine_device_is_harmless(major(st.st_rdev), minor(st.st_rdev)));
}

bool engine_mount_is_writable_bind(const struct jdoc *mount, const struct engine_names *names)
{
	return engine_mount_kind(mount, names) == ENGINE_MOUNT_BIND &&
	       (!engine_mount_is_readonly(mount) || is_channel(engine_text(mount, "source")));
}

char *engine_mount_target(const struct jdoc *mount)
{
	const char *destination = engine_text(mount, "destination");
	_cleanup_free_ char *full = destination ? path_join("/", destination) : NULL;
	char *plain = NULL;

	return full && path_normalize(full, &plain, NULL) == 0 ? plain : NULL;
}

const struct jdoc *engine_mount_of(const struct jdoc *config, const char *path)
{
	for (size_t i = engine_count(config, "mounts"); i-- > 0;) {
		const struct jdoc *mount = engine_item(config, "mounts", i);
		_cleanup_free_ char *plain = engine_mount_target(mount);

		if (plain && path_is_below(path, plain))
			return mount;
	}
	return NULL;
}

static int require_source(const struct engine_work *w, size_t i, const char *source, bool rw)
{
	/* A path that does not exist: libcrun creates it, or fails. */
	_cleanup_free_ char *real = realpath(source, NULL), *plain = NULL;
	const char *path = real, *word;
	int r = 0;

	if (!real && path_normalize(source, &plain, NULL) == 0)
		path = plain;
	if (!path)
		return fault_set(w->f, EPERM,
				 "config.json: 'mounts[%zu].source' '%.200s': not a plain absolute path, and "
				 "it does not exist",
				 i, source);
	for (int write = rw; r == 0 && write >= 0; write--) {
		word = profile_path_danger(path, write, w->in->home);
		if (word)
			r = engine_require_danger(w, word, "'mounts[%zu]': %s '%.200s'", i,
						  write ? "writing" : "reaching", path);
	}
	return r;
}

static int require_no_device(const struct engine_work *w, size_t i, const char *source)
{
	struct stat st;

	if (!engine_asks(w, LAYER_DEVICES) || stat(source, &st) < 0 ||
	    (!S_ISBLK(st.st_mode) && !S_ISCHR(st.st_mode)))
		return 0;
	if (S_ISCHR(st.st_mode) && engine_device_is_harmless(major(st.st_rdev), minor(st.st_rdev)))
		return 0;
	return engine_require_danger(w, "no-private-devices", "'mounts[%zu]': '%.200s' is a device", i,
				     source);
}

/* A process that writes into a shared mount changes the mounts of the host. */
static const char *unshared(const char *option)
{
	if (strcmp(option, "shared") == 0)
		return "slave";
	return strcmp(option, "rshared") == 0 ? "rslave" : NULL;
}

static void unshare_options(struct jdoc *mount)
{
	struct jdoc *options = jdoc_get(mount, "options");

	for (size_t i = 0; engine_is(options, JDOC_ARRAY) && i < options->n_items; i++) {
		struct jdoc *o = options->items[i];
		const char *word = engine_is(o, JDOC_STRING) ? unshared(o->string) : NULL;

		if (!word)
			continue;
		options->items[i] = jdoc_new_string(word);
		jdoc_free(o);
		if (!options->items[i]) {
			options->items[i] = jdoc_new_null();
			options->broken = true;
		}
	}
}

/* libcrun takes a relative one from the bundle, where "../.." is the host's root. */
static int resolve_source(struct engine_work *w, struct jdoc *mount, size_t i)
{
	const char *source = engine_text(mount, "source");
	_cleanup_free_ char *full = NULL;

	if (!source || !*source)
		return fault_set(w->f, EPERM, "config.json: 'mounts[%zu]': a bind without a source", i);
	if (*source == '/')
		return 0;
	full = path_join(w->in->bundle, source);
	if (!full)
		return fault_errno(w->f, ENOMEM, "config.json");
	jdoc_set_string(mount, "source", full);
	return 0;
}

static int merge_bind(struct engine_work *w, struct jdoc *mount, size_t i)
{
	const char *source;
	int r = resolve_source(w, mount, i);

	if (r < 0 || engine_mount_kind(mount, &w->names) != ENGINE_MOUNT_BIND)
		return r;
	source = engine_text(mount, "source");
	r = require_source(w, i, source, !engine_mount_is_readonly(mount));
	return r < 0 ? r : require_no_device(w, i, source);
}

/* Another root would run under the name of the image, which is that of `root.path`. */
static int require_target(struct engine_work *w, const struct jdoc *mount, size_t i)
{
	_cleanup_free_ char *plain = engine_mount_target(mount);

	if (plain && strcmp(plain, "/") != 0)
		return 0;
	return fault_set(w->f, EPERM,
			 "config.json: 'mounts[%zu].destination' '%.200s': must be a path without '..', and "
			 "not the root",
			 i, engine_text(mount, "destination") ? engine_text(mount, "destination") : "");
}

static int merge_mount(struct engine_work *w, size_t i)
{
	struct jdoc *mount = engine_item(w->config, "mounts", i);
	int r;

	if (mount->type != JDOC_OBJECT)
		return fault_set(w->f, EPERM, "config.json: 'mounts[%zu]' is no object", i);
	unshare_options(mount);
	r = require_target(w, mount, i);
	if (r < 0)
		return r;
	return engine_mount_is_bind(mount) ? merge_bind(w, mount, i) : engine_filesystem_require(w, i);
}

static void unite(struct jdoc *list, const char *const *paths)
{
	for (size_t i = 0; paths[i]; i++)
		if (!engine_list_has(list, paths[i]))
			jdoc_append_string(list, paths[i]);
}

int engine_merge_mounts(struct engine_work *w)
{
	struct jdoc *linux_part = engine_make(w->config, "linux", JDOC_OBJECT);
	const char *propagation = engine_text(linux_part, "rootfsPropagation");
	int r = 0;

	for (size_t i = 0; r == 0 && i < engine_count(w->config, "mounts"); i++)
		r = merge_mount(w, i);
	if (r < 0)
		return r;
	if (propagation && unshared(propagation))
		jdoc_set_string(linux_part, "rootfsPropagation", unshared(propagation));
	if (engine_asks(w, LAYER_MASKS)) {
		unite(engine_make(linux_part, "maskedPaths", JDOC_ARRAY), engine_masked_paths);
		unite(engine_make(linux_part, "readonlyPaths", JDOC_ARRAY), engine_readonly_paths);
	}
	return 0;
}
