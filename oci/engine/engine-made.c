/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-made.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-place.h"
#include "oci/engine/engine-pod.h"

#define DRAWN 64 /* digits of a random id */

/* "/run/x/ID/hosts": where ID begins, or NULL.  Only ids that engines draw at random. */
static const char *find_component(const char *path, const char *id)
{
	size_t len = id ? strlen(id) : 0;

	if (len < 32)
		return NULL;
	for (const char *at = path; (at = strstr(at, id)); at += len)
		if (at > path && at[-1] == '/' && at[len] == '/')
			return at;
	return NULL;
}

static const char *find_own(const char *source, const struct engine_names *names)
{
	const char *at = find_component(source, names->id);

	if (!at)
		at = find_component(source, names->sandbox);
	return at ? at : find_component(source, names->pod_uid);
}

/* clang-format off */
static const struct {
	const char *destination, *base;
} files[] = {
	{ "/etc/hosts",             "hosts" },         /* podman, docker */
	{ "/etc/hosts",             "etc-hosts" },     /* kubelet */
	{ "/etc/hostname",          "hostname" },
	{ "/etc/resolv.conf",       "resolv.conf" },
	{ "/run/.containerenv",     ".containerenv" }, /* podman */
	{ "/var/run/.containerenv", ".containerenv" },
	{ "/dev/shm",               "shm" },           /* podman, CRI */
};
/* clang-format on */

static bool is_file(const struct jdoc *mount, const struct engine_names *names)
{
	const char *source = engine_text(mount, "source"), *destination = engine_text(mount, "destination");
	const char *base = source ? strrchr(source, '/') : NULL;

	for (size_t i = 0; base && i < ARRAY_SIZE(files); i++)
		if (str_eq(destination, files[i].destination) && strcmp(base + 1, files[i].base) == 0)
			return find_own(source, names);
	/* Secrets are written into a directory of the container. */
	return source && destination &&
	       (str_eq(destination, "/run/secrets") || str_starts(destination, "/run/secrets/")) &&
	       find_component(source, names->id);
}

char *engine_made_dir(const struct jdoc *config, const struct engine_names *names)
{
	for (size_t i = 0; i < engine_count(config, "mounts"); i++) {
		const struct jdoc *mount = engine_item(config, "mounts", i);
		const char *source = engine_text(mount, "source"),
			   *at = source && is_file(mount, names) ? find_component(source, names->id) : NULL;

		if (at)
			return strndup(source, (size_t)(at - source) + strlen(names->id));
	}
	return NULL;
}

static bool read_birth(const char *path, struct statx_timestamp *ret)
{
	struct statx st;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
		return false;
	*ret = st.stx_btime;
	return true;
}

void engine_made_since(const struct jdoc *config, struct engine_names *names)
{
	_cleanup_free_ char *dir = engine_made_dir(config, names);

	names->has_made = dir && read_birth(dir, &names->made);
}

/* ".../volumes/<64 digits>/_data": docker and podman name a volume so for which the caller gave no name. */
static bool is_unnamed_volume(const char *source)
{
	static const char before[] = "/volumes/", after[] = "/_data";
	size_t len = strlen(source), tail = sizeof(before) - 1 + DRAWN + sizeof(after) - 1;
	const char *at = source + len - tail;

	return len > tail && str_starts(at, before) && str_ends(source, after) &&
	       strspn(at + sizeof(before) - 1, "0123456789abcdef") == DRAWN;
}

/* The caller may have named an older volume by its id: its content is not this container's. */
static bool is_new_volume(const char *source, const struct engine_names *names)
{
	struct statx_timestamp birth;

	return names->has_made && is_unnamed_volume(source) && read_birth(source, &birth) &&
	       (birth.tv_sec > names->made.tv_sec ||
		(birth.tv_sec == names->made.tv_sec && birth.tv_nsec >= names->made.tv_nsec));
}

/*
 * SOURCE leads to nothing else, and no other user put it there: a link would bind any directory of the host.  TAIL: the part of it that
 * the engine names, "/ID/hosts"; files below ID may belong to root of the container's user namespace.  A file that does not exist is
 * refused once the container is created (engine-pin.h).
 */
static bool is_in_place(const char *source, const char *tail)
{
	_cleanup_free_ char *real = realpath(source, NULL);

	if (!real)
		return true;
	if (!str_ends(real, tail))
		return false;
	/* The directory ID, of which those above count. */
	real[strlen(real) - strlen(tail) + 1 + strcspn(tail + 1, "/")] = '\0';
	return engine_place_is_own(real);
}

bool engine_made_is(const struct jdoc *mount, const struct engine_names *names)
{
	const char *source = engine_text(mount, "source"), *own = source ? find_own(source, names) : NULL;

	if (own && is_file(mount, names))
		return is_in_place(source, own - 1);
	if (!source || engine_pod_is_made(source, names))
		return source != NULL;
	return is_new_volume(source, names) && is_in_place(source, strrchr(source, '/') - DRAWN - 1);
}
