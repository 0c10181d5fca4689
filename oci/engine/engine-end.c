/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-end.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "container/container-audit.h"

void engine_end_begin(const char *dir, const char *container, struct engine_end *ret)
{
	*ret = (struct engine_end){ .container = container };
	(void)!engine_record_read(dir, &ret->record, NULL);
}

static int close_session(const struct engine_end *e, const struct dirs *d, struct fault *f)
{
	_cleanup_free_ char *path = path_join(d->run, "sessions");
	_cleanup_close_ int sessions = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
					    : -EBADF,
			    dir = -EBADF;
	struct container_audit a = {
		.dirs = d, .container = e->container, .session = e->record.session, .killed = true
	};
	int r;

	if (sessions < 0)
		return 0;
	r = dirs_require_own(sessions, path, f);
	if (r < 0)
		return r;
	dir = openat(sessions, e->record.session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Removed: its end is recorded. */
	if (dir < 0)
		return 0;
	a.sessions = sessions;
	a.dir = dir;
	container_audit_begin(&a);
	r = container_audit_close(&a, f);
	/* Its warden removed it in between. */
	return r == -ENOENT ? 0 : r;
}

int engine_end_wait(const struct engine_end *e, struct fault *f)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	int r;

	if (!e->record.governed)
		return 0;
	r = engine_record_dirs(&e->record, &d, f);
	return r < 0 ? r : close_session(e, &d, f);
}

void engine_end_done(struct engine_end *e)
{
	engine_record_done(&e->record);
}
