/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-pause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-mount.h"

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

static bool mounts_nothing(const struct engine_work *w)
{
	for (size_t i = 0; i < engine_count(w->config, "mounts"); i++)
		if (engine_mount_kind(engine_item(w->config, "mounts", i), &w->names) == ENGINE_MOUNT_BIND)
			return false;
	return true;
}

static bool has_hooks(const struct engine_work *w)
{
	const struct jdoc *hooks = jdoc_get(w->config, "hooks");

	return hooks && (hooks->type != JDOC_OBJECT || hooks->n_members > 0);
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
	       mounts_nothing(w) && !has_hooks(w) && engine_count(w->config, "linux.devices") == 0;
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
