/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Which cgroup hierarchies this host mounts and where in each of them this process is. A controller belongs
 * to v1 or v2, never both; on a hybrid host v2 serves membership and killing, v1 the limits.
 */
enum cgroup_controller {
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	_CGROUP_CONTROLLER_MAX,
};
#define CGROUP_BIT(c) (1u << (c))

struct cgroup_host {
	char *v1[_CGROUP_CONTROLLER_MAX]; /* directory of our own cgroup; NULL: not a v1 controller here */
	char *v1_root[_CGROUP_CONTROLLER_MAX]; /* mount point of the controller's hierarchy */
	char *v2;			       /* likewise */
	char *v2_root;			       /* mount point of v2 */
};

const char *cgroup_controller_name(enum cgroup_controller c); /* "memory" */

/* Pure: the two texts are /proc/self/mountinfo and /proc/self/cgroup. */
int cgroup_host_parse(const char *mountinfo, const char *self, struct cgroup_host *ret,
		      struct fault *f) _must_check_;
int cgroup_host_load(struct cgroup_host *ret, struct fault *f) _must_check_;
/* The same with the directories of another process, as far as our mounts show them. */
int cgroup_host_load_of(pid_t pid, struct cgroup_host *ret, struct fault *f) _must_check_;
/* ROOT/custody-user-UID, the directory that `custody setup` makes for a user in a hierarchy; heap, NULL on ENOMEM. */
char *cgroup_host_user_dir(const char *root, uid_t uid);
/*
 * Where this user may create a v1 cgroup for C: our own cgroup, else the directory that `custody setup` made. Heap; NULL
 * without a fault: nowhere.
 */
int cgroup_host_v1_parent(const struct cgroup_host *h, enum cgroup_controller c, char **ret,
			  struct fault *f) _must_check_;
void cgroup_host_done(struct cgroup_host *h);
#define _cleanup_cgroup_host_ _cleanup_(cgroup_host_done)
