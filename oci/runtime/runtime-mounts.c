/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/runtime/runtime-schema.h"

#define ALL 0
#define V1_21 LIBCRUN_NUMBER(1, 21, 0)
#define V1_28 LIBCRUN_NUMBER(1, 28, 0)
#define NEVER UINT_MAX

/*
 * The options of the specification and libcrun's own, with the first verified libcrun that has them.  For recursive ones libcrun
 * passes flags of mount(2) to mount_setattr(2), where only ro, nosuid, nodev and noexec have the same number: rrelatime would
 * set nosymfollow, rsync noatime.  remount is about a mount of the image, and a container starts without any.
 */
/* clang-format off */
static const struct option {
	const char *name;
	unsigned int since;
} options[] = {
	{ "async", ALL }, { "atime", ALL }, { "bind", ALL }, { "copy-symlink", V1_21 }, { "defaults", ALL },
	{ "dest-nofollow", V1_28 }, { "dev", ALL }, { "diratime", ALL }, { "dirsync", ALL }, { "exec", ALL },
	{ "idmap", ALL }, { "iversion", NEVER }, { "lazytime", NEVER }, { "loud", NEVER }, { "mand", ALL },
	{ "noatime", ALL }, { "nodev", ALL }, { "nodiratime", ALL }, { "noexec", ALL }, { "noiversion", NEVER },
	{ "nolazytime", NEVER }, { "nomand", ALL }, { "norelatime", ALL }, { "nostrictatime", ALL },
	{ "nosuid", ALL }, { "nosymfollow", NEVER }, { "private", ALL }, { "rasync", NEVER },
	{ "ratime", NEVER }, { "rbind", ALL }, { "rdev", ALL }, { "rdiratime", NEVER }, { "rdirsync", NEVER },
	{ "relatime", ALL }, { "remount", NEVER }, { "rexec", ALL }, { "ridmap", V1_21 }, { "rmand", NEVER },
	{ "rnoatime", NEVER }, { "rnodev", ALL }, { "rnodiratime", NEVER }, { "rnoexec", ALL },
	{ "rnomand", NEVER }, { "rnorelatime", NEVER }, { "rnostrictatime", NEVER }, { "rnosuid", ALL },
	{ "rnosymfollow", NEVER }, { "ro", ALL }, { "rprivate", ALL }, { "rrelatime", NEVER }, { "rro", ALL },
	{ "rrw", ALL }, { "rshared", ALL }, { "rslave", ALL }, { "rstrictatime", NEVER }, { "rsuid", ALL },
	{ "rsymfollow", NEVER }, { "rsync", NEVER }, { "runbindable", ALL }, { "rw", ALL }, { "shared", ALL },
	{ "silent", NEVER }, { "slave", ALL }, { "src-nofollow", V1_28 }, { "strictatime", ALL },
	{ "suid", ALL }, { "symfollow", NEVER }, { "sync", ALL }, { "tmpcopyup", ALL }, { "unbindable", ALL },
};
/* clang-format on */

const char *runtime_mounts_option(size_t n, unsigned int libcrun)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].since <= libcrun && n-- == 0)
			return options[i].name;
	return NULL;
}

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (str_eq(options[i].name, name))
			return &options[i];
	return NULL;
}

/* idmap=uids=0-1000-1: mappings as libcrun's own option. */
static const char *plain_name(const char *option)
{
	if (str_starts(option, "idmap="))
		return "idmap";
	return str_starts(option, "ridmap=") ? "ridmap" : option;
}

static bool has_word(struct jspan mount, const char *key, const char *word)
{
	struct jspan list, item;
	const char *at = NULL;

	if (jspan_get(mount, key, &list) <= 0)
		return false;
	if (jspan_is(list, '"'))
		return jspan_string_is(list, word);
	while (jspan_next_item(list, &at, &item) > 0)
		if (jspan_string_is(item, word))
			return true;
	return false;
}

static bool is_set(struct jspan mount, const char *key)
{
	struct jspan list, item;
	const char *at = NULL;

	return jspan_get(mount, key, &list) > 0 && jspan_next_item(list, &at, &item) > 0;
}

static int refuse(struct jspan mount, const char *option, const char *why, struct fault *f)
{
	_cleanup_free_ char *where = NULL;
	struct jspan destination;

	if (jspan_get(mount, "destination", &destination) > 0)
		where = jspan_string(destination);
	return fault_set(f, ENOTSUP, "config.json: mount option '%s' of '%s' %s", option, where ? where : "?",
			 why);
}

static int require_option(struct jspan mount, struct jspan item, bool strict, unsigned int libcrun,
			  struct fault *f)
{
	_cleanup_free_ char *text = jspan_string(item);
	const struct option *o = text ? find(plain_name(text)) : NULL;

	if (!text)
		return refuse(mount, "?", "is not a string", f);
	if (o && o->since > libcrun)
		return refuse(mount, text, "is not supported with libcrun " LIBCRUN_VERSION "; remove it", f);
	if (!o && strict)
		return refuse(mount, text, "is unknown, and this type of mount would ignore it; remove it",
			      f);
	return 0;
}

static int require_mount(struct jspan mount, unsigned int libcrun, struct fault *f)
{
	bool strict = has_word(mount, "options", "bind") || has_word(mount, "options", "rbind") ||
		      has_word(mount, "type", "bind") || has_word(mount, "type", "cgroup");
	struct jspan list = { 0 }, item;
	const char *at = NULL;
	int r = 0;

	/* libcrun would map with the namespace of its caller, or of the container, in place of the missing one. */
	if (is_set(mount, "uidMappings") != is_set(mount, "gidMappings"))
		return refuse(mount, "idmap", "has 'uidMappings' or 'gidMappings'; it needs both", f);
	if (jspan_get(mount, "options", &list) <= 0)
		return 0;
	while (r == 0 && jspan_next_item(list, &at, &item) > 0)
		r = require_option(mount, item, strict, libcrun, f);
	/* libcrun 1.28 would mount the file that the link names. */
	if (r == 0 && has_word(mount, "options", "src-nofollow") &&
	    !has_word(mount, "options", "dest-nofollow"))
		r = refuse(mount, "src-nofollow", "needs 'dest-nofollow' as well; add it", f);
	return r;
}

int runtime_mounts_require(struct jspan config, unsigned int libcrun, struct fault *f)
{
	struct jspan list, item;
	const char *at = NULL;
	int r = 0;

	if (jspan_get(config, "mounts", &list) <= 0)
		return 0;
	while (r == 0 && jspan_next_item(list, &at, &item) > 0)
		r = require_mount(item, libcrun, f);
	return r;
}
