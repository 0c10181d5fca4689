/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-govern.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-end.h"
#include "oci/engine/engine-start.h"

/* Shared with the child: why it failed. */
struct report {
	int code;
	char text[4096];
};

/* All but standard streams, descriptors of the container and the log. */
static void close_own(const struct runtime_job *job)
{
	const struct runtime_log *log = job->log;
	unsigned int next = 3 + (unsigned int)job->call.preserve_fds;
	const int low = log->fd < log->journal ? log->fd : log->journal;
	const int high = log->fd < log->journal ? log->journal : log->fd;

	for (int i = 0; i < 2; i++) {
		int keep = i == 0 ? low : high;

		if (keep < (int)next)
			continue;
		if (keep > (int)next)
			(void)syscall(SYS_close_range, next, (unsigned int)keep - 1, 0);
		next = (unsigned int)keep + 1;
	}
	(void)syscall(SYS_close_range, next, UINT_MAX, 0);
}

static _Noreturn void create_in_child(struct runtime_job *job, const char *config, struct report *report)
{
	_cleanup_fault_ struct fault f = { 0 };

	close_own(job);
	report->code = runtime_create(&job->call, config, &f);
	if (report->code < 0) {
		report->code = f.code ? -f.code : report->code;
		(void)snprintf(report->text, sizeof(report->text), "%s", fault_text(&f));
	}
	_exit(report->code < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static int wait_for(pid_t pid, const struct report *report, struct fault *f)
{
	int status;
	pid_t r;

	do
		r = waitpid(pid, &status, 0);
	while (r < 0 && errno == EINTR);
	if (r == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return 0;
	if (report->code < 0)
		return fault_set(f, -report->code, "%s", report->text);
	return fault_set(f, EIO, "container setup process exited without reporting an error");
}

int runtime_create_apart(struct runtime_job *job, const char *config, struct fault *f)
{
	struct report *report =
		mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int r;

	if (report == MAP_FAILED)
		return fault_errno(f, errno, "container setup process");
	pid = fork();
	if (pid == 0)
		create_in_child(job, config, report);
	r = pid < 0 ? fault_errno(f, errno, "container setup process") : wait_for(pid, report, f);
	(void)munmap(report, sizeof(*report));
	return r;
}

static char *dir_of(const struct runtime_call *c)
{
	return path_join(c->state_root, c->id);
}

static int kill_refused(const struct runtime_call *c, int r)
{
	(void)!runtime_kill(c, "KILL", false, NULL);
	return r;
}

/* A short command may be over, and its end recorded, before the warden was told that it was started. */
static bool has_ended(const struct runtime_call *c)
{
	_cleanup_entry_ struct runtime_entry entry = { 0 };

	return runtime_entry_load(c, &entry, NULL) == 0 && str_eq(entry.status, "stopped");
}

int runtime_start_governed(struct runtime_job *job, struct fault *f)
{
	_cleanup_engine_start_ struct engine_start s = ENGINE_START_NONE;
	_cleanup_free_ char *dir = dir_of(&job->call);
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "start");
	r = engine_start_ask(dir, &s, f);
	/* libcrun reports a missing container in the words that engines expect. */
	if (r == -ENOENT && runtime_entry_load(&job->call, &entry, NULL) == -ENOENT)
		return runtime_start(&job->call, f);
	if (r < 0)
		return kill_refused(&job->call, r);
	r = runtime_start(&job->call, f);
	if (r < 0)
		return r;
	r = engine_start_report(&s, &why);
	if (r >= 0 || (r == -EPIPE && has_ended(&job->call)))
		return 0;
	return kill_refused(&job->call, fault_set(f, -r, "%s", fault_text(&why)));
}

int runtime_delete_governed(const struct runtime_call *c, bool force, struct fault *f)
{
	_cleanup_engine_end_ struct engine_end e = ENGINE_END_NONE;
	_cleanup_free_ char *dir = dir_of(c);
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "delete");
	/* The record is removed with the container. */
	engine_end_begin(dir, c->id, &e);
	r = runtime_delete(c, force, f);
	return r < 0 ? r : engine_end_wait(&e, f);
}
