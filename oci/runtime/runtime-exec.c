/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-guard.h"
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

int runtime_verb_exec(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	_cleanup_strbuf_ struct strbuf process = { 0 };
	_cleanup_close_ int fd = -EBADF;
	char path[sizeof("/proc/self/fd/") + 11];
	int r, status;

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
	if (r < 0)
		return r;
	fd = store(&process, f);
	if (fd < 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = runtime_exec(&job->call, path, o->cgroup, &status, f);
	return r < 0 ? r : status;
}
