/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/libcrun/libcrun-counters.h"
#include "oci/libcrun/libcrun-guard.h"
#include "oci/libcrun/libcrun-ids.h"
#include "oci/libcrun/libcrun-source.h"
#include "oci/libcrun/libcrun-target.h"
#include "oci/libcrun/libcrun.h"

/*
 * custody run on libcrun.
 *
 * 1. MUST NOT touch a container definition: JSON in, JSON out (the reason is in libcrun.h).
 * 2. MUST test results with `!= 0`: failures are -status-1, or positive, and may have no text.
 * 3. MUST run create and start in a process that exits soon: libcrun changes signal mask, rlimits and keyring.
 */

/*
 * Messages of libcrun outside of an error object: they come from the container's process after its last report to the parent,
 * so only the container's stderr is left.
 */
static void write_stderr(int err, const char *msg, libcrun_level level, void *arg)
{
	(void)level;
	(void)arg;
	if (err)
		(void)dprintf(STDERR_FILENO, "custody: %s: %s\n", msg, strerror(err));
	else
		(void)dprintf(STDERR_FILENO, "custody: %s\n", msg);
}

static int report(const libcrun_error_t err, const char *what, struct fault *f)
{
	if (!err)
		return fault_set(
			f, EIO,
			"runtime: %s failed and libcrun reported no error; a hook may have refused it", what);
	if (err->status > 0)
		return fault_errno(f, err->status, "runtime: %s: %s", what, err->msg);
	return fault_set(f, EIO, "runtime: %s: %s", what, err->msg);
}

/* Overlays are the only mounts that some hosts refuse and that have an alternative. */
static int report_create(const libcrun_error_t err, struct fault *f)
{
	int r = report(err, "create", f);

	if (*libcrun_ids_reason())
		return fault_set(f, EPERM, "the subordinate ids cannot be mapped: %s", libcrun_ids_reason());
	if (err && err->status == ELOOP && strstr(err->msg, "mount `overlay`"))
		return fault_set(
			f, ELOOP,
			"%s: a layer of this overlay is inside of another one, or a parent directory of "
			"a layer was replaced by a symbolic link since it was checked: keep custody's "
			"directories (CUSTODY_ROOT, XDG_RUNTIME_DIR) outside of the worktree, or retry",
			fault_text(f));
	if (err && err->status == ELOOP)
		return fault_set(
			f, ELOOP,
			"%s: a mount source, or a parent directory of one, was replaced by a symbolic "
			"link since it was checked: retry",
			fault_text(f));
	if (!err || !strstr(err->msg, "mount `overlay`"))
		return r;
	/* overlayfs creates a directory beside the upper: the kernel supports it, the disk has no space. */
	if (err->status == ENOSPC || err->status == EDQUOT)
		return fault_set(f, -r, "%s: free space in custody's state directory", fault_text(f));
	return fault_set(
		f, -r,
		"%s: this kernel cannot mount an overlay of that directory (custody doctor: HOST-OVERLAY, "
		"HOST-UPPERDIR); for a worktree that is copied on write, a profile with \"workspace\": "
		"{\"overlay\": \"fuse\"} uses fuse-overlayfs instead (apt install fuse-overlayfs); a "
		"read-only directory must be on a file system that overlayfs supports, such as ext4, xfs or "
		"btrfs",
		fault_text(f));
}

static struct libcrun_context_s make_context(const struct runtime_request *rq)
{
	return (struct libcrun_context_s){
		.id = rq->id,
		.state_root = rq->state_root,
		.bundle = rq->bundle,
		.preserve_fds = (int)rq->preserve_fds,
		.fifo_exec_wait_fd = -1,
		.force_no_cgroup = !rq->cgroups,
		.output_handler = write_stderr,
	};
}

static int read_pid(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f)
{
	_cleanup_(libcrun_free_container_status) struct libcrun_container_status_s status = { 0 };
	_cleanup_error_ libcrun_error_t err = NULL;

	if (libcrun_read_container_status(&status, rq->state_root, rq->id, &err) != 0)
		return report(err, "state", f);
	*ret_pid = status.pid;
	return 0;
}

static int create(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f)
{
	_cleanup_container_ struct libcrun_container_s *container = NULL;
	_cleanup_error_ libcrun_error_t err = NULL;
	struct libcrun_context_s ctx = make_context(rq);
	int r;

	/* libcrun records getcwd() as the bundle. */
	if (chdir(rq->bundle) < 0)
		return fault_errno(f, errno, "change to bundle '%s'", rq->bundle);

	crun_set_output_handler(OUTPUT_ARGUMENTS(write_stderr, NULL));
	source_pin(rq->sources);
	counters_limit();
	container = libcrun_container_load_from_memory(rq->config, &err);
	if (!container)
		return report(err, "read config.json", f);

	target_begin();
	r = libcrun_container_create(&ctx, container, 0, &err);
	target_end();
	ctx.fifo_exec_wait_fd = fd_close(ctx.fifo_exec_wait_fd);
	if (r != 0)
		return report_create(err, f);
	return read_pid(rq, ret_pid, f);
}

static int start(const struct runtime_request *rq, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	struct libcrun_context_s ctx = make_context(rq);

	/* Without hooks: libcrun_container_start would read state and configuration again only to find hooks. */
	if (!rq->hooks && libcrun_status_write_exec_fifo(rq->state_root, rq->id, &err) != 0)
		return report(err, "start", f);
	if (rq->hooks && libcrun_container_start(&ctx, rq->id, &err) != 0)
		return report(err, "start", f);
	return 0;
}

static int destroy(const struct runtime_request *rq, bool force, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	struct libcrun_context_s ctx = make_context(rq);

	if (libcrun_container_delete(&ctx, NULL, rq->id, force, &err) != 0)
		return report(err, "delete", f);
	return 0;
}

/* Returns only in the copy, where libcrun finds that it is one and does nothing. */
static int guard(struct fault *f)
{
	if (guard_by_copy() < 0)
		return fault_set(f, EIO, "runtime: cannot run from a private copy of custody");
	return 0;
}

static const char *version(void)
{
	return LIBCRUN_VERSION;
}

const struct runtime_ops adapter_ops = {
	.create = create,
	.start = start,
	.destroy = destroy,
	.guard = guard,
	.version = version,
};
