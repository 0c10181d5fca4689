/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-namespace.h"
#include "subject/placement.h"

#define RUN_DIR "/run" /* of CUSTODY_DIR */

/* --- the command's user --------------------------------------------------------------------------------------- */

static int64_t number_at(const struct jdoc *d, const char *key, int64_t missing)
{
	const struct jdoc *v = jdoc_get(d, key);

	return engine_is(v, JDOC_INT) && !v->wide ? v->integer : missing;
}

/* The runtime's id of INSIDE; false: it has none. */
static bool map_id(const struct jdoc *config, const char *mappings, int64_t inside, uint32_t *ret)
{
	for (size_t i = 0; i < engine_count(config, mappings); i++) {
		const struct jdoc *m = engine_item(config, mappings, i);
		const int64_t from = number_at(m, "containerID", -1), to = number_at(m, "hostID", -1),
			      size = number_at(m, "size", 0);

		if (from < 0 || to < 0 || inside < from || inside - from >= size ||
		    to + (inside - from) >= UINT32_MAX)
			continue;
		*ret = (uint32_t)(to + (inside - from));
		return true;
	}
	return false;
}

static int find_owner(struct engine_work *w)
{
	const struct jdoc *user = engine_at(w->config, "process.user");
	const int64_t uid = number_at(user, "uid", 0), gid = number_at(user, "gid", 0);
	struct engine_broker *b = &w->c->broker;

	switch (engine_namespace_state(w->config, ENGINE_NS_USER)) {
	case ENGINE_NS_HOST:
		b->uid = (uid_t)uid;
		b->gid = (gid_t)gid;
		return 0;
	case ENGINE_NS_JOINED:
		return fault_set(w->f, ENOTSUP,
				 "config.json: 'linux.namespaces': a broker in a user namespace that the "
				 "container joins is not supported, because the owner of its socket is not "
				 "known: use a user namespace of its own, or a profile without 'broker'");
	case ENGINE_NS_OWN:
		break;
	}
	if (map_id(w->config, "linux.uidMappings", uid, &b->uid) &&
	    map_id(w->config, "linux.gidMappings", gid, &b->gid))
		return 0;
	return fault_set(w->f, EPERM,
			 "config.json: 'process.user' %lld:%lld has no id outside ('linux.uidMappings', "
			 "'linux.gidMappings'), which the broker's socket needs",
			 (long long)uid, (long long)gid);
}

/* --- the place ------------------------------------------------------------------------------------------------ */

/* /var/run of an image is a link to /run. */
static const char *without_var(const char *target)
{
	return path_is_below(target, "/var/run") ? target + strlen("/var") : target;
}

static int refuse_mount(const struct engine_work *w, size_t i, const char *target, const char *why)
{
	return fault_set(w->f, EPERM,
			 "config.json: 'mounts[%zu].destination' '%.200s': %s: mount it elsewhere, or use a "
			 "profile without 'broker'",
			 i, target, why);
}

/* 1: a tmpfs there has the directory in place of the image. */
static int check_mount(const struct engine_work *w, size_t i)
{
	const struct jdoc *mount = engine_item(w->config, "mounts", i);
	_cleanup_free_ char *plain = engine_mount_target(mount);
	const char *target = plain ? without_var(plain) : "/";

	if (path_is_below(target, CUSTODY_DIR))
		return refuse_mount(w, i, plain, "'" CUSTODY_DIR "' is the broker's");
	if (!path_is_below(CUSTODY_DIR, target))
		return 0;
	if (engine_mount_is_bind(mount) || !str_eq(engine_text(mount, "type"), "tmpfs"))
		return refuse_mount(w, i, plain,
				    "the broker's '" CUSTODY_DIR "' would be created in it, outside of the "
				    "container");
	return engine_mount_is_readonly(mount)
		       ? refuse_mount(w, i, plain,
				      "the broker's '" CUSTODY_DIR "' cannot be created there, because it is "
				      "read-only")
		       : 1;
}

static int check_paths(const struct engine_work *w, const char *key)
{
	const struct jdoc *list = jdoc_get(jdoc_get(w->config, "linux"), key);

	for (size_t i = 0; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++) {
		_cleanup_free_ char *plain = NULL;
		const char *target;

		if (!engine_is(list->items[i], JDOC_STRING) ||
		    path_normalize(list->items[i]->string, &plain, NULL) < 0)
			continue;
		target = without_var(plain);
		if (path_is_below(CUSTODY_DIR, target) || path_is_below(target, CUSTODY_DIR))
			return fault_set(w->f, EPERM,
					 "config.json: 'linux.%s' has '%.200s', which hides the broker's "
					 "'" CUSTODY_DIR "': use a profile without 'broker'",
					 key, plain);
	}
	return 0;
}

static bool is_empty(int fd)
{
	_cleanup_dir_ DIR *d = fdopendir(fd);
	const struct dirent *e;
	bool empty = d != NULL;

	if (!d)
		(void)fd_close(fd);
	errno = 0;
	while (empty && (e = readdir(d)))
		empty = str_eq(e->d_name, ".") || str_eq(e->d_name, "..");
	return empty && errno == 0;
}

static int refuse_image(const struct engine_work *w, const char *path, const char *why)
{
	return fault_set(w->f, EPERM,
			 "config.json: 'root.path': '%s' of the image %s, and the broker's socket belongs "
			 "into '" CUSTODY_DIR "': use another image, or a profile without 'broker'",
			 path, why);
}

/* FD: the directory in which NAME, whose path inside is PATH, is looked for or will be created. */
static int enter(const struct engine_work *w, int fd, const char *name, const char *path, int *ret)
{
	struct statvfs fs;

	*ret = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret >= 0)
		return 0;
	if (errno == ENOTDIR || errno == ELOOP)
		return refuse_image(w, path, "is no directory");
	if (errno != ENOENT)
		return fault_errno(w->f, errno, "open '%s' of the image", path);
	if (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_RDONLY)
		return refuse_image(w, path, "does not exist, its root is a read-only file system");
	return 0;
}

/* libcrun creates missing directories.  Behind a link of the image that would be another place, perhaps in a mount of the engine. */
static int check_image(const struct engine_work *w)
{
	_cleanup_close_ int root = open(w->in->rootfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC), run = -EBADF;
	int own = -EBADF, r;

	if (root < 0)
		return fault_errno(w->f, errno, "open '%s'", w->in->rootfs);
	r = enter(w, root, &RUN_DIR[1], RUN_DIR, &run);
	if (r == 0 && run >= 0)
		r = enter(w, run, &CUSTODY_DIR[sizeof(RUN_DIR)], CUSTODY_DIR, &own);
	/* The mount point of an earlier start is empty. */
	if (r == 0 && own >= 0 && !is_empty(own))
		r = refuse_image(w, CUSTODY_DIR, "is not empty");
	return r;
}

/* Evidence of the session would have its token. */
static int check_worktree(const struct engine_work *w)
{
	_cleanup_free_ char *plain = NULL;

	if (path_normalize(w->c->worktree, &plain, NULL) < 0 ||
	    !path_is_below(without_var(plain), CUSTODY_DIR))
		return 0;
	return fault_set(w->f, EPERM,
			 "config.json: the worktree '%.200s' (annotation custody.worktree, else "
			 "'process.cwd') is the broker's directory: name another one",
			 plain);
}

static int check_place(const struct engine_work *w)
{
	int on_tmpfs = 0, r = check_worktree(w);

	for (size_t i = 0; r >= 0 && i < engine_count(w->config, "mounts"); i++) {
		r = check_mount(w, i);
		on_tmpfs |= r > 0;
	}
	if (r >= 0)
		r = check_paths(w, "maskedPaths");
	if (r == 0)
		r = check_paths(w, "readonlyPaths");
	return r < 0 || on_tmpfs ? r : check_image(w);
}

/* --- which processes are the container's ---------------------------------------------------------------------- */

/* As libcrun names it: a path, or SLICE:PREFIX:NAME for systemd. */
static int find_cgroup(struct engine_work *w)
{
	const char *path = engine_text(jdoc_get(w->config, "linux"), "cgroupsPath");
	const char *prefix = path ? strchr(path, ':') : NULL, *name = prefix ? strchr(prefix + 1, ':') : NULL;
	char **to = &w->c->broker.cgroup;
	int n;

	if (str_eq(path, "/"))
		path = NULL;
	if (name && *path != '/')
		n = name > prefix + 1
			    ? asprintf(to, "/%.*s-%s.scope", (int)(name - prefix - 1), prefix + 1, name + 1)
			    : asprintf(to, "/%s.scope", name + 1);
	else
		n = asprintf(to, "%s%s", path && *path == '/' ? "" : "/", path && *path ? path : w->in->id);
	if (n < 0) {
		*to = NULL;
		return fault_errno(w->f, ENOMEM, "config.json");
	}
	for (size_t len = strlen(*to); len > 1 && (*to)[len - 1] == '/'; len--)
		(*to)[len - 1] = '\0';
	return 0;
}

static int find_processes(struct engine_work *w)
{
	struct engine_broker *b = &w->c->broker;

	b->pid_shared = engine_namespace_state(w->config, ENGINE_NS_PID) != ENGINE_NS_OWN;
	if (b->pid_shared && w->in->no_cgroup)
		return fault_set(w->f, ENOTSUP,
				 "the container has neither a cgroup nor a pid namespace of its own: a "
				 "broker cannot tell its processes from others; use a profile without "
				 "'broker'");
	return find_cgroup(w);
}

/* --- which programs the command could change -------------------------------------------------------------------- */

static int add_place(struct engine_work *w, const char *path)
{
	_cleanup_free_ char *real = path ? realpath(path, NULL) : NULL;

	if (real && strv_append(&w->c->broker.places, real) < 0)
		return fault_errno(w->f, ENOMEM, "config.json");
	return 0;
}

/* Volumes that the engine made, too. */
static int find_places(struct engine_work *w)
{
	int r = add_place(w, w->in->rootfs);

	for (size_t i = 0; r == 0 && i < engine_count(w->config, "mounts"); i++) {
		const struct jdoc *mount = engine_item(w->config, "mounts", i);

		if (engine_mount_is_bind(mount) && !engine_mount_is_readonly(mount))
			r = add_place(w, engine_text(mount, "source"));
	}
	return r;
}

/* --- the merge -------------------------------------------------------------------------------------------------- */

/* Last: nothing of the engine covers it. */
static void add_mount(struct engine_work *w)
{
	static const char *const words[] = { "bind", "ro", "nosuid", "nodev", "private", NULL };
	struct jdoc *mounts = engine_make(w->config, "mounts", JDOC_ARRAY), *mount, *options;

	w->c->broker.mount = engine_count(w->config, "mounts");
	mount = jdoc_append_object(mounts);
	jdoc_set_string(mount, "destination", CUSTODY_DIR);
	jdoc_set_string(mount, "type", "bind");
	jdoc_set_string(mount, "source", w->in->broker_source);
	options = jdoc_set_array(mount, "options");
	for (size_t i = 0; words[i]; i++)
		jdoc_append_string(options, words[i]);
}

/* The container of a pod calls no tools. */
int engine_merge_broker(struct engine_work *w)
{
	int r;

	if (!w->in->broker || w->c->pause)
		return 0;
	r = find_owner(w);
	if (r == 0)
		r = find_processes(w);
	if (r == 0)
		r = check_place(w);
	if (r == 0)
		r = find_places(w);
	if (r < 0)
		return r;
	add_mount(w);
	w->c->broker.open = true;
	return 0;
}

void engine_broker_done(struct engine_broker *b)
{
	free(b->cgroup);
	strv_free(b->places);
	*b = (struct engine_broker){ 0 };
}
