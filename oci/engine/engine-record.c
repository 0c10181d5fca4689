/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#define RECORD_MAX ((size_t)256 * 1024)
#define NAME "custody.json"

static const char *const variables[] = {
	"CUSTODY_ROOT",	  "CUSTODY_LIBEXEC", "CUSTODY_DATADIR", "HOME", "LOGNAME", "XDG_CONFIG_HOME",
	"XDG_STATE_HOME", "XDG_DATA_HOME",   "XDG_RUNTIME_DIR", NULL
};

struct jdoc *engine_record_make(const struct dirs *d, const char *session)
{
	_cleanup_free_ char *path = NULL;
	struct jdoc *r = jdoc_new_object(), *env = jdoc_set_object(r, "env");

	if (asprintf(&path, "%s/sessions/%s", d->run, session) < 0)
		path = NULL;
	jdoc_set_string(r, "lane", lane_name(d->lane));
	jdoc_set_string(r, "session", session);
	jdoc_set_string(r, "path", path);
	for (const char *const *name = variables; *name; name++)
		if (getenv(*name))
			jdoc_set_string(env, *name, getenv(*name));
	return r;
}

static int take(const struct jdoc *d, struct engine_record *ret)
{
	const struct jdoc *g = jdoc_get(d, "governed"), *env = jdoc_get(g, "env"),
			  *resources = jdoc_get(g, "resources");
	const char *session = jdoc_get_string(g, "session"), *path = jdoc_get_string(g, "path");

	if (!g)
		return 0;
	if (!session || strchr(session, '/') || !path || path[0] != '/' || !env || env->type != JDOC_OBJECT ||
	    lane_parse(jdoc_get_string(g, "lane"), &ret->lane, NULL) < 0)
		return -EINVAL;
	ret->governed = true;
	ret->session = strdup(session);
	ret->path = strdup(path);
	ret->env = jdoc_copy(env);
	if (resources && resources->type == JDOC_OBJECT) {
		ret->resources = jdoc_copy(resources);
		if (!ret->resources)
			return -ENOMEM;
	}
	return ret->session && ret->path && ret->env ? 0 : -ENOMEM;
}

int engine_record_read(const char *dir, struct engine_record *ret, struct fault *f)
{
	/* Resources may have 18446744073709551615 for no limit. */
	static const struct jdoc_limits limits = { .wide = true };
	_cleanup_engine_record_ struct engine_record r = { 0 };
	_cleanup_free_ char *path = path_join(dir, NAME), *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	size_t len;
	int e;

	if (!path)
		return fault_errno(f, ENOMEM, "record");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	e = fd_require_private(fd, geteuid(), f);
	if (e >= 0)
		e = fd_read_all(fd, RECORD_MAX, &text, &len, f);
	if (e >= 0)
		e = jdoc_parse(text, len, path, &limits, &d, f);
	if (e < 0)
		return e;
	e = take(d, &r);
	if (e < 0)
		return fault_errno(f, -e, "'%s' is not a record of custody-runtime", path);
	*ret = r;
	r = (struct engine_record){ 0 };
	return 0;
}

int engine_record_dirs(const struct engine_record *r, struct dirs *ret, struct fault *f)
{
	for (const char *const *name = variables; *name; name++) {
		const char *value = jdoc_get_string(r->env, *name);
		int e = value ? setenv(*name, value, 1) : unsetenv(*name);

		if (e < 0)
			return fault_errno(f, errno, "environment");
	}
	return dirs_load_lane(r->lane, ret, f);
}

void engine_record_done(struct engine_record *r)
{
	free(r->session);
	free(r->path);
	jdoc_free(r->env);
	jdoc_free(r->resources);
	*r = (struct engine_record){ 0 };
}
