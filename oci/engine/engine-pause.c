/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-pause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-filesystem.h"
#include "oci/engine/engine-hook.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-namespace.h"

/* Start of a static or dynamic C program, signals, reaping.  No socket, no new file, no other process. */
static const char *const calls[] = {
	"access",
	"arch_prctl",
	"brk",
	"capget",
	"capset",
	"chdir",
	"clock_gettime",
	"close",
	"close_range",
	"dup2",
	"dup3",
	"execve",
	"exit",
	"exit_group",
	"fchdir",
	"fcntl",
	"fstat",
	"fstatfs",
	"futex",
	"getcwd",
	"getdents64",
	"getpid",
	"getppid",
	"getrandom",
	"gettid",
	"lseek",
	"mmap",
	"mprotect",
	"munmap",
	"nanosleep",
	"newfstatat",
	"open",
	"openat",
	"pause",
	"pread64",
	"prctl",
	"prlimit64",
	"read",
	"readlink",
	"readlinkat",
	"rseq",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigsuspend",
	"set_robust_list",
	"set_tid_address",
	"setgid",
	"setgroups",
	"setsid",
	"setuid",
	"sigaltstack",
	"stat",
	"uname",
	"wait4",
	"waitid",
	"write",
	"writev",
};

/* A writable cgroup hierarchy has the limits of the pod, and more. */
static bool is_plain(const struct engine_work *w, const struct jdoc *mount)
{
	const char *type = engine_text(mount, "type");

	switch (engine_mount_kind(mount, &w->names)) {
	case ENGINE_MOUNT_BIND:
		return false;
	case ENGINE_MOUNT_ENGINE:
		return true;
	case ENGINE_MOUNT_OTHER:
		break;
	}
	return engine_filesystem_is_listed(type) &&
	       (!str_starts(type, "cgroup") || engine_mount_is_readonly(mount));
}

static bool mounts_nothing(const struct engine_work *w)
{
	for (size_t i = 0; i < engine_count(w->config, "mounts"); i++)
		if (!is_plain(w, engine_item(w->config, "mounts", i)))
			return false;
	return true;
}

/* With the processes of others it could write into their memory. */
static bool is_alone(const struct engine_work *w)
{
	return engine_namespace_state(w->config, ENGINE_NS_PID) == ENGINE_NS_OWN &&
	       engine_namespace_state(w->config, ENGINE_NS_MOUNT) == ENGINE_NS_OWN &&
	       engine_namespace_state(w->config, ENGINE_NS_IPC) == ENGINE_NS_OWN && w->in->preserved == 0;
}

bool engine_pause_is(const struct engine_work *w)
{
	const struct jdoc *a = jdoc_get(w->config, "annotations");

	if (!w->in->isolate || !engine_asks(w, LAYER_SECCOMP) || !engine_asks(w, LAYER_CAPABILITIES))
		return false;
	return engine_is(a, JDOC_OBJECT) &&
	       str_eq(jdoc_get_string(a, "io.kubernetes.cri.container-type"), "sandbox") &&
	       engine_count(w->config, "process.args") == 1 &&
	       engine_is(engine_item(w->config, "process.args", 0), JDOC_STRING) &&
	       strcmp(engine_item(w->config, "process.args", 0)->string, "/pause") == 0 &&
	       mounts_nothing(w) && is_alone(w) && engine_hook_count(w->config) == 0 &&
	       engine_count(w->config, "linux.devices") == 0;
}

static void clear_capabilities(struct engine_work *w)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *caps = engine_at(w->config, "process.capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		(void)jdoc_set_array(caps, sets[i]);
}

/* Names that the merged filter allows for every argument: nothing is added to it. */
static bool is_allowed(const struct jdoc *list, const char *name)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (str_eq(engine_text(list->items[i], "action"), "SCMP_ACT_ALLOW") &&
		    engine_count(list->items[i], "args") == 0 &&
		    engine_list_has(jdoc_get(list->items[i], "names"), name))
			return true;
	return false;
}

/* containerd gives the pod's annotations to this container, too: custody.worktree names a directory of the others. */
static int forget_worktree(struct engine_work *w)
{
	free(w->c->worktree);
	w->c->worktree = strdup("/");
	return w->c->worktree ? 0 : fault_errno(w->f, ENOMEM, "config.json");
}

int engine_pause_confine(struct engine_work *w)
{
	const struct jdoc *list = engine_at(w->config, "linux.seccomp.syscalls");
	struct jdoc *seccomp = engine_at(w->config, "linux.seccomp"), *names = jdoc_new_array(), *out, *rule;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (is_allowed(list, calls[i]))
			jdoc_append_string(names, calls[i]);
	out = jdoc_new_array();
	rule = jdoc_append_object(out);
	jdoc_set(rule, "names", names);
	jdoc_set_string(rule, "action", "SCMP_ACT_ALLOW");
	jdoc_set(seccomp, "syscalls", out);
	jdoc_set_string(seccomp, "defaultAction", "SCMP_ACT_ERRNO");
	jdoc_set_int(seccomp, "defaultErrnoRet", EPERM);
	clear_capabilities(w);
	jdoc_set_bool(jdoc_get(w->config, "root"), "readonly", true);
	return forget_worktree(w);
}
