/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/runtime/runtime-guard.h"
#include "oci/runtime/runtime-root.h"

static void log_message(void *arg, int err, const char *text, bool warning)
{
	runtime_log_write(arg, warning ? LEVEL_WARNING : LEVEL_ERROR, err, text);
}

static int choose_manager(const struct runtime_options *o, struct runtime_call *c, struct fault *f)
{
	const char *name = o->cgroup_manager;

	c->systemd_cgroup = o->systemd_cgroup || str_eq(name, "systemd");
	c->no_cgroup = str_eq(name, "disabled");
	if (!name || c->no_cgroup || str_eq(name, "systemd") || str_eq(name, "cgroupfs"))
		return 0;
	return fault_set(f, EINVAL, "unknown --cgroup-manager '%s'; one of cgroupfs, systemd, disabled",
			 name);
}

/*
 * Socket activation: descriptors 3.. belong to the container, as with runc and crun, when the caller means this process: its pid,
 * or 1, which podman sets for the container.  A variable that a service left in the environment names no descriptors.
 */
static int count_listen_fds(int *ret)
{
	const char *text = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
	uint64_t n, whose;

	*ret = 0;
	if (text && pid && str_to_u64(pid, &whose) == 0 && (whose == 1 || whose == (uint64_t)getpid()) &&
	    str_to_u64(text, &n) == 0 && n <= RUNTIME_FDS_MAX)
		*ret = (int)n;
	return *ret;
}

int runtime_job_init(struct runtime_job *job, const struct runtime_options *o, const struct runtime_log *log,
		     char **argv, struct fault *f)
{
	struct runtime_call *c = &job->call;
	const char *id = o->n_args > 0 ? o->args[0] : NULL;
	int r;

	*job = (struct runtime_job){ .options = o, .log = log, .argv = argv };
	if (id && !o->regex) {
		r = runtime_id_require(id, f);
		if (r < 0)
			return r;
	}
	r = runtime_root_find(o->root, o->regex ? NULL : id, &job->root, f);
	if (r == 0 && (id || o->verb == VERB_LIST))
		r = runtime_root_require(job->root, f);
	if (r < 0)
		return r;
	/* Before create changes to the bundle: a relative name belongs to the caller's directory. */
	if (o->pid_file)
		r = runtime_path_from_cwd(o->pid_file, &job->pid_file, f);
	if (r < 0)
		return r;
	*c = (struct runtime_call){
		.state_root = job->root,
		.id = id,
		.console_socket = o->console_socket,
		.pid_file = job->pid_file,
		.notify_socket = o->notify_socket ? o->notify_socket : getenv("NOTIFY_SOCKET"),
		.detach = o->detach,
		.no_new_keyring = o->no_new_keyring,
		.no_pivot = o->no_pivot,
		.ignore_paused = o->ignore_paused,
		.warnings = log->level >= LEVEL_WARNING,
		.report = log_message,
		.report_arg = (void *)log,
	};
	c->preserve_fds = (int)o->preserve_fds + count_listen_fds(&c->listen_fds);
	return choose_manager(o, c, f);
}

void runtime_job_done(struct runtime_job *job)
{
	free(job->root);
	free(job->pid_file);
	*job = (struct runtime_job){ 0 };
}

/* Installed, or beside this program in a build tree. */
static int find_helper(char **ret, struct fault *f)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	if (access(PKGLIBEXECDIR "/custody-runtime-systemd", X_OK) == 0) {
		*ret = strdup(PKGLIBEXECDIR "/custody-runtime-systemd");
		return *ret ? 0 : fault_errno(f, ENOMEM, "systemd cgroups");
	}
	own[n < 0 ? 0 : n] = '\0';
	slash = strrchr(own, '/');
	if (slash) {
		*slash = '\0';
		*ret = path_join(own, "custody-runtime-systemd");
		if (*ret && access(*ret, X_OK) == 0)
			return 0;
		free(TAKE_PTR(*ret));
	}
	return fault_set(
		f, ENOTSUP,
		"systemd cgroups need '" PKGLIBEXECDIR "/custody-runtime-systemd', which is not "
		"installed (it is built where libsystemd is found); or use --cgroup-manager cgroupfs");
}

bool runtime_systemd_available(void)
{
	_cleanup_free_ char *helper = NULL;

	return runtime_has_systemd || find_helper(&helper, NULL) == 0;
}

int runtime_need_systemd(struct runtime_job *job, struct fault *f)
{
	_cleanup_free_ char *helper = NULL;
	int r;

	if (runtime_has_systemd)
		return 0;
	r = find_helper(&helper, f);
	return r < 0 ? r : runtime_guard_enter(helper, job->argv, f);
}
