/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "container/container-audit.h"
#include "container/warden-handover.h"
#include "oci/bundle/hook-args.h"
#include "oci/hook/hook.h"

/*
 * The caller reports that the container is deleted, and passes its id.  That is not trusted: a session is changed only if
 * its first process has exited (container/container-audit.h).
 */
struct hook_audit {
	struct hook_args terms;
	struct dirs dirs;
	int sessions; /* RUN/sessions */
	struct container_audit audit;
};

static void audit_done(struct hook_audit *a)
{
	fd_close(a->sessions);
	dirs_done(&a->dirs);
	hook_args_done(&a->terms);
}

static int locate(struct hook_audit *a, char **args, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	int r = hook_args_parse(args, &a->terms, f);

	if (r >= 0)
		r = hook_args_use_env(&a->terms, f);
	if (r < 0)
		return r;
	r = dirs_load_lane(a->terms.lane, &a->dirs, f);
	if (r < 0)
		return r;
	path = path_join(a->dirs.run, "sessions");
	if (!path)
		return fault_errno(f, ENOMEM, "sessions");
	a->sessions = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->sessions < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, dirs_require_own(a->sessions, path, f), "audit");
}

/* Is the current session of this container and this lane? */
static bool is_ours(const struct hook_audit *h)
{
	const struct container_audit *a = &h->audit;
	char name[WARDEN_HANDOVER_SIZE], used[WARDEN_HANDOVER_SIZE];
	enum lane lane;

	warden_handover_name(a->container, false, name);
	warden_handover_name(a->container, true, used);
	return (container_audit_has(a, name) || container_audit_has(a, used)) &&
	       lane_read_stamp(a->dir, a->session, &lane, NULL) == 1 && lane == h->terms.lane;
}

static int close_all(struct hook_audit *h, struct fault *f)
{
	struct container_audit *a = &h->audit;
	_cleanup_dir_ DIR *d = NULL;
	const struct dirent *e;
	int fd = fcntl(h->sessions, F_DUPFD_CLOEXEC, 3), r = 0;

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		fd_close(fd);
		return fault_errno(f, errno, "read the sessions");
	}
	while (r >= 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		a->session = e->d_name;
		a->dir = openat(h->sessions, a->session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (a->dir >= 0 && is_ours(h))
			r = container_audit_close(a, f);
		a->dir = fd_close(a->dir);
	}
	return r;
}

int hook_audit(const struct hook_state *s, char **args, struct fault *f)
{
	_cleanup_(audit_done) struct hook_audit h = { .sessions = -EBADF };
	int r;

	h.audit = (struct container_audit){ .dirs = &h.dirs, .container = s->id, .dir = -EBADF };
	container_audit_begin(&h.audit);
	r = locate(&h, args, f);
	h.audit.sessions = h.sessions;
	return r < 0 || h.sessions < 0 ? r : close_all(&h, f);
}
