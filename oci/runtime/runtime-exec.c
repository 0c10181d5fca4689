/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "oci/engine/engine-exec.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-guard.h"
#include "oci/runtime/runtime-hold.h"
#include "oci/runtime/runtime-labels.h"
#include "oci/runtime/runtime-process.h"
#include "oci/runtime/runtime-types.h"
#include "oci/runtime/runtime-verbs.h"

static int load_config(const struct runtime_call *c, struct runtime_json *ret, struct fault *f)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/config.json", c->state_root, c->id) < 0)
		return fault_errno(f, ENOMEM, "exec");
	return runtime_json_load(path, ret, f);
}

static int require_running(const struct runtime_job *job, struct fault *f)
{
	_cleanup_entry_ struct runtime_entry e = { 0 };
	int r = runtime_entry_load(&job->call, &e, f);

	if (r < 0)
		return r;
	if (e.pid == 0)
		return fault_set(f, ESRCH, "cannot exec in container '%s': it is stopped", job->call.id);
	return 0;
}

static int make_process(const struct runtime_job *job, struct strbuf *out, struct fault *f)
{
	_cleanup_runtime_json_ struct runtime_json json = { 0 };
	const struct runtime_options *o = job->options;
	int r;

	if (!o->process) {
		r = require_running(job, f);
		if (r == 0)
			r = load_config(&job->call, &json, f);
		return r < 0 ? r : runtime_process_make(json.object, o, out, f);
	}
	r = runtime_json_load(o->process, &json, f);
	if (r == 0)
		r = runtime_types_require_process(json.object, f);
	if (r == 0)
		strbuf_add(out, json.object.at, json.object.len);
	return r;
}

static int require_labels(const struct strbuf *process, struct fault *f)
{
	struct jspan object;

	if (process->broken || jspan_root(process->text, process->len, &object) < 0)
		return fault_set(f, EINVAL, "exec: the process cannot be read");
	return runtime_labels_require_process(object, "process", f);
}

/* libcrun reads a process from a path only; the /proc path of a memfd cannot be replaced by another process. */
static int store(const struct strbuf *text, struct fault *f)
{
	_cleanup_close_ int fd = memfd_create("process.json", MFD_CLOEXEC);
	int r;

	if (fd < 0 || text->broken)
		return fault_errno(f, fd < 0 ? errno : ENOMEM, "exec: process");
	r = fd_write_all(fd, text->text, text->len, f);
	return r < 0 ? r : TAKE_FD(fd);
}

/* A sub-cgroup, not a neighbour of the container's. */
static int require_below(const char *cgroup, struct fault *f)
{
	_cleanup_free_ char *absolute = cgroup ? path_join("/", cgroup) : NULL, *plain = NULL;

	if (!cgroup)
		return 0;
	if (!absolute)
		return fault_errno(f, ENOMEM, "exec");
	if (path_normalize(absolute, &plain, NULL) < 0)
		return fault_set(f, EINVAL,
				 "--cgroup '%s' is not a sub-cgroup of the container's: it has '..'", cgroup);
	return 0;
}

static int call_libcrun(struct runtime_job *job, const struct strbuf *text, int *ret_status, struct fault *f)
{
	_cleanup_close_ int fd = store(text, f);
	char path[sizeof("/proc/self/fd/") + 11];

	if (fd < 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return runtime_exec(&job->call, path, job->options->cgroup, ret_status, f);
}

static int call_in_child(struct runtime_job *job, void *arg, int *ret_status, struct fault *f)
{
	engine_exec_forget(arg);
	return call_libcrun(job, engine_exec_text(arg), ret_status, f);
}

static int on_started(void *arg, pid_t pid, int pidfd, int parent, struct fault *f)
{
	return engine_exec_start(arg, pid, pidfd, parent, f);
}

static int exec_governed(struct runtime_job *job, struct engine_exec *x, struct fault *f)
{
	_cleanup_free_ char *parent = engine_exec_parent(x);
	const struct runtime_hold h = {
		.job = job, .call = call_in_child, .started = on_started, .arg = x, .parent = parent
	};
	int status = 0, r = parent ? runtime_hold_run(&h, &status, f) : fault_errno(f, ENOMEM, "exec");

	return r < 0 ? engine_exec_refuse(x, r, f) : status;
}

/* Decides; *RET NULL: the container is not governed. */
static int decide(struct runtime_job *job, const struct strbuf *process, struct engine_exec **ret,
		  struct fault *f)
{
	_cleanup_free_ char *dir = path_join(job->call.state_root, job->call.id);
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	const struct engine_exec_call call = { .id = job->call.id,
					       .dir = dir,
					       .text = process->text,
					       .len = process->len,
					       .cgroup = job->options->cgroup,
					       .preserved = (unsigned int)job->call.preserve_fds,
					       .allow_prod = job->options->allow_prod,
					       .argv = job->argv };
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "exec");
	r = engine_exec_open(&call, ret, f);
	/* In the words that engines expect.  libcrun must not look again: the container may have been created meanwhile. */
	if (r == -ENOENT && !*ret && runtime_entry_load(&job->call, &entry, NULL) == -ENOENT)
		return fault_set(f, ENOENT, "container '%s' does not exist", job->call.id);
	return r;
}

int runtime_verb_exec(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	_cleanup_engine_exec_ struct engine_exec *governed = NULL;
	_cleanup_strbuf_ struct strbuf process = { 0 };
	int r, status = 0;

	if (!o->process && o->n_args < 2)
		return fault_set(f, EINVAL,
				 "exec: missing command; usage: custody-runtime exec [OPTION...] ID CMD...");
	r = require_below(o->cgroup, f);
	if (r == 0)
		r = runtime_guard_enter(NULL, job->argv, f);
	if (r == 0)
		r = make_process(job, &process, f);
	if (r == 0)
		r = require_labels(&process, f);
	if (r == 0)
		r = decide(job, &process, &governed, f);
	if (r < 0)
		return r;
	if (governed)
		return exec_governed(job, governed, f);
	r = call_libcrun(job, &process, &status, f);
	return r < 0 ? r : status;
}
