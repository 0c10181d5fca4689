/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "layer/layer-proof.h"

#define TEXT_MAX ((size_t)8 * 1024 * 1024)

int container_facts_read_text(int procfd, const char *name, char **ret)
{
	_cleanup_close_ int fd = openat(procfd, name, O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd < 0 ? -errno : fd_read_all(fd, TEXT_MAX, ret, &len, NULL);
}

static uint64_t read_own_number(const char *path, uint64_t otherwise)
{
	_cleanup_free_ char *text = NULL;
	uint64_t n = otherwise;

	if (container_facts_read_text(AT_FDCWD, path, &text) == 0) {
		text[strcspn(text, "\n")] = '\0';
		if (str_to_u64(text, &n) < 0)
			n = otherwise;
	}
	return n;
}

int container_outside_read(struct container_outside *ret, struct fault *f)
{
	struct container_outside o = { 0 };
	struct stat root, version;
	int r = proof_host_namespaces(o.ns, f);

	if (r < 0)
		return r;
	if (stat("/", &root) < 0 || stat("/proc/version", &version) < 0)
		return fault_errno(f, errno, "read own root and /proc/version");
	o.root_dev = root.st_dev;
	o.root_ino = root.st_ino;
	o.host_uid = version.st_uid;
	o.host_gid = version.st_gid;
	o.no_uid = read_own_number("/proc/sys/kernel/overflowuid", 65534);
	o.no_gid = read_own_number("/proc/sys/kernel/overflowgid", 65534);
	*ret = o;
	return 0;
}

static int read_status(int procfd, struct container_facts *x)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int r = container_facts_read_text(procfd, "status", &text);

	free(x->status.groups);
	x->status = (struct container_status){ 0 };
	if (r == 0)
		r = container_status_parse(text, &x->status);
	x->status.err = -r;
	x->dumpable_err = fstatat(procfd, "status", &st, 0) < 0 ? errno : 0;
	if (!x->dumpable_err)
		x->files_owner = st.st_uid;
	return r == -ENOMEM ? r : 0;
}

static void read_exe(int procfd, struct container_facts *x)
{
	struct stat st;

	x->exe_seen = fstatat(procfd, "exe", &st, 0) == 0;
	if (x->exe_seen) {
		x->exe_dev = st.st_dev;
		x->exe_ino = st.st_ino;
	}
}

static void read_namespaces(int procfd, struct container_facts *x)
{
	static const char *const names[_INIT_NS_MAX] = { "ns/user", "ns/pid", "ns/mnt",	   "ns/net",
							 "ns/ipc",  "ns/uts", "ns/cgroup", "ns/time" };
	struct stat st;

	for (unsigned int n = 0; n < _INIT_NS_MAX; n++)
		if (fstatat(procfd, names[n], &st, 0) == 0)
			x->ns[n] = st.st_ino;
		else if (n != INIT_NS_TIME)
			x->ns_err = errno;
}

static int read_map(int procfd, const char *name, struct container_map *ret)
{
	_cleanup_free_ char *text = NULL;
	int r = container_facts_read_text(procfd, name, &text);

	return r < 0 ? r : container_map_parse(text, ret);
}

static void read_maps(int procfd, struct container_facts *x)
{
	_cleanup_free_ char *text = NULL;
	int r = read_map(procfd, "uid_map", &x->uids);

	if (r == 0)
		r = read_map(procfd, "gid_map", &x->gids);
	x->map_err = -r;
	x->setgroups_denied =
		container_facts_read_text(procfd, "setgroups", &text) == 0 && str_starts(text, "deny");
}

static void read_process(int procfd, struct container_facts *x)
{
	_cleanup_free_ char *stat = NULL, *oom = NULL;
	int r = container_facts_read_text(procfd, "stat", &stat);

	if (r == 0)
		r = container_stat_parse(stat, x);
	x->stat_err = -r;
	r = container_facts_read_text(procfd, "oom_score_adj", &oom);
	if (r == 0) {
		oom[strcspn(oom, "\n")] = '\0';
		r = str_to_i64(oom, &x->oom_score_adj);
	}
	x->oom_err = -r;
	if (container_facts_read_text(procfd, "limits", &x->rlimits) < 0)
		x->rlimits = NULL;
}

int container_facts_read_start(int procfd, struct container_facts *ret, struct fault *f)
{
	int r;

	/* First: a status that is read after the program is seen is that of the program, whose filter is in force. */
	read_exe(procfd, ret);
	r = read_status(procfd, ret);
	return r < 0 ? fault_errno(f, -r, "read the first process of the container") : 0;
}

int container_facts_read(int procfd, const struct container_asked *a, struct container_facts *ret,
			 struct fault *f)
{
	int r;

	*ret = (struct container_facts){ 0 };
	r = read_status(procfd, ret);
	read_exe(procfd, ret);
	read_namespaces(procfd, ret);
	read_maps(procfd, ret);
	read_process(procfd, ret);
	if (r == 0)
		r = container_facts_read_mounts(procfd, a, ret);
	if (r == 0)
		r = container_facts_read_descriptors(procfd, ret);
	if (r == 0)
		r = container_facts_read_limits(procfd, ret);
	if (r < 0) {
		container_facts_done(ret);
		return fault_errno(f, -r, "read the first process of the container");
	}
	return 0;
}

void container_facts_done(struct container_facts *x)
{
	for (size_t i = 0; i < x->n_mounts; i++) {
		free(x->mounts[i].point);
		free(x->mounts[i].flags);
		free(x->mounts[i].tags);
		free(x->mounts[i].type);
		free(x->mounts[i].super);
	}
	for (size_t i = 0; i < x->n_fds; i++)
		free(x->fds[i].target);
	for (size_t i = 0; i < x->n_devices; i++)
		free(x->devices[i].name);
	free(x->mounts);
	free(x->fds);
	free(x->devices);
	free(x->masked);
	free(x->read_only);
	free(x->targets);
	free(x->rlimits);
	free(x->status.groups);
	*x = (struct container_facts){ 0 };
}
