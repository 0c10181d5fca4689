/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layer/layer.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* clang-format off */
static const struct layer_info layers[_LAYER_MAX] = {
	[LAYER_USER_NS] = { "user-namespace", "CONFIG_USER_NS, user.max_user_namespaces above 0",
		"root inside is an unprivileged id outside" },
	[LAYER_PID_NS] = { "pid-namespace", "CONFIG_PID_NS, CAP_SYS_ADMIN in the user namespace",
		"processes outside are neither visible nor reachable by signals; all inside are killed when PID 1 exits" },
	[LAYER_MOUNT_NS] = { "mount-namespace", "CAP_SYS_ADMIN in the user namespace",
		"only files mounted for it are reachable; its mounts are not visible outside" },
	[LAYER_NET_NS] = { "network-namespace", "CONFIG_NET_NS, CAP_SYS_ADMIN in the user namespace",
		"only a private loopback interface; abstract sockets outside are not reachable" },
	[LAYER_IPC_NS] = { "ipc-namespace", "CONFIG_IPC_NS, CAP_SYS_ADMIN in the user namespace",
		"shared memory, semaphores and message queues outside are not reachable" },
	[LAYER_UTS_NS] = { "uts-namespace", "CONFIG_UTS_NS, CAP_SYS_ADMIN in the user namespace",
		"the host name can be neither read nor changed" },
	[LAYER_CGROUP_NS] = { "cgroup-namespace", "CONFIG_CGROUPS, Linux 4.6, CAP_SYS_ADMIN in the user namespace",
		"the host's cgroup tree is not visible" },
	[LAYER_ROOT] = { "read-only-root", "mount namespace, pivot_root",
		"the system is read-only; homes and secrets of the host are not mounted" },
	[LAYER_MASKS] = { "masked-paths", "mount namespace",
		"/proc/kcore, keys, sysrq-trigger and other interfaces to the kernel are hidden or read-only" },
	[LAYER_DEVICES] = { "private-devices", "mount namespace, tmpfs",
		"only harmless device nodes exist, none can be created" },
	[LAYER_WORKTREE] = { "worktree", "overlayfs in a user namespace (Linux 5.11), idmapped mounts as root (5.19)",
		"the worktree is written only as the profile allows" },
	[LAYER_CAPABILITIES] = { "capabilities", "none: dropping capabilities is always allowed",
		"no capability is left, not even in its own user namespace" },
	[LAYER_NO_NEW_PRIVS] = { "no-new-privs", "Linux 3.5",
		"set-id programs and file capabilities add no privilege" },
	[LAYER_SECCOMP] = { "seccomp", "CONFIG_SECCOMP_FILTER",
		"system calls outside an allow-list fail or kill" },
	[LAYER_SESSION] = { "session", "CONFIG_UNIX98_PTYS, devpts",
		"a terminal of the host can be neither read nor written" },
	[LAYER_DESCRIPTORS] = { "descriptors", "/proc in the container",
		"no open file of the host is inherited beyond stdin, stdout and stderr" },
	[LAYER_ENVIRONMENT] = { "environment", "nothing",
		"variables of the caller, and secrets in them, are not passed" },
	[LAYER_CWD] = { "working-directory", "a directory inside the container that is not below /proc, /dev or /sys",
		"the command starts in a directory of its own mounts, never in one of the host" },
	[LAYER_PROCESS] = { "process-state", "a filter that allows personality, prctl, getpriority, getitimer, sched_getscheduler and ioprio_get",
		"umask, ignored signals, groups, priorities, personality and OOM protection of the caller are not inherited" },
	[LAYER_MEMORY_LIMIT] = { "memory-limit", "cgroup controller memory, writable or delegated",
		"exceeding the memory limit kills the container, not processes of the host" },
	[LAYER_PIDS_LIMIT] = { "pids-limit", "cgroup controller pids, writable or delegated",
		"a fork bomb stops at the limit" },
	[LAYER_CPU_LIMIT] = { "cpu-limit", "cgroup controller cpu, writable or delegated",
		"CPU time per period is bounded" },
	[LAYER_DISK_LIMIT] = { "disk-limit", "a worktree whose upper can be measured (overlay or tmpfs)",
		"bytes written to the worktree's upper are bounded" },
	[LAYER_TIME_LIMIT] = { "time-limit", "pidfd (Linux 5.3)",
		"all processes inside are killed after the time limit" },
};
/* clang-format on */

const struct layer_info *layer_info(enum layer l)
{
	assert((unsigned int)l < _LAYER_MAX);
	return &layers[l];
}

int layer_from_name(const char *name)
{
	for (int i = 0; i < _LAYER_MAX; i++)
		if (strcmp(layers[i].name, name) == 0)
			return i;
	return -1;
}

const char *layer_state_name(enum layer_state s)
{
	static const char *const names[] = {
		[LAYER_STATE_REFUSED] = "refused",
		[LAYER_STATE_PROVEN] = "proven",
		[LAYER_STATE_PROVEN_AFTER_START] = "proven-after-start",
		[LAYER_STATE_OPTIONAL_MISSING] = "optional-missing",
		[LAYER_STATE_NOT_ASKED] = "not-asked",
	};

	/* An undefined state is not a proof. */
	if ((size_t)s >= ARRAY_SIZE(names))
		return names[LAYER_STATE_REFUSED];
	return names[s];
}
