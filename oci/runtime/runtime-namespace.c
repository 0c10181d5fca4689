/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-namespace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NAMESPACES_MAX 64 /* there are eight */

/* Once each: libcrun would take one of them, and another reader of the file the other. */
static int require_once(struct jspan list, struct fault *f)
{
	struct jspan item, type, other, its;
	const char *at = NULL, *rest;
	unsigned int n = 0;

	while (jspan_next_item(list, &at, &item) > 0) {
		_cleanup_free_ char *name = NULL;

		/* Each is compared with each. */
		if (++n > NAMESPACES_MAX)
			return fault_set(f, EINVAL, "config.json: more than %d 'linux.namespaces'",
					 NAMESPACES_MAX);

		if (jspan_get(item, "type", &type) <= 0)
			continue;
		name = jspan_string(type);
		if (!name)
			return fault_set(f, EINVAL,
					 "config.json: a 'type' in 'linux.namespaces' is not a string");
		for (rest = at; rest && jspan_next_item(list, &rest, &other) > 0;)
			if (jspan_get(other, "type", &its) > 0 && jspan_string_is(its, name))
				return fault_set(f, EINVAL, "config.json: namespace %.*s is repeated",
						 (int)type.len, type.at);
	}
	return 0;
}

static bool has_no_path(struct jspan item)
{
	struct jspan path;
	int r = jspan_get(item, "path", &path);

	return r == 0 || (r > 0 && path.len == strlen("null") && !memcmp(path.at, "null", path.len));
}

/*
 * Without a mount namespace of its own libcrun would mount the container's file systems in the namespace of its caller, or in the
 * one that `path` names, where they stay.
 */
int runtime_namespace_require(struct jspan object, struct fault *f)
{
	struct jspan section = { 0 }, list = { 0 }, item, type;
	const char *at = NULL;

	if (jspan_get(object, "linux", &section) > 0 && jspan_get(section, "namespaces", &list) > 0)
		while (jspan_next_item(list, &at, &item) > 0)
			if (jspan_get(item, "type", &type) > 0 && jspan_string_is(type, "mount") &&
			    has_no_path(item))
				return require_once(list, f);
	return fault_set(
		f, EINVAL,
		"config.json: 'linux.namespaces' has no mount namespace of the container's own, so its "
		"file systems would be mounted on the host; add {\"type\": \"mount\"} without a path");
}
