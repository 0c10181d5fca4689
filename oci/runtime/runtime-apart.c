/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-apart.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"

/* Shared with the child: its result, and why it failed. */
struct apart_report {
	int result;
	char text[4096];
};

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* All but standard streams, descriptors of the container, the log and KEEP. */
static void close_own(const struct runtime_apart *a)
{
	const struct runtime_log *log = a->job->log;
	int kept[] = { log->fd, log->journal, a->keep, a->parent.far, a->parent.done[1] };
	unsigned int next = 3 + (unsigned int)a->job->call.preserve_fds;

	qsort(kept, ARRAY_SIZE(kept), sizeof(*kept), compare);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (kept[i] < (int)next)
			continue;
		if (kept[i] > (int)next)
			(void)syscall(SYS_close_range, next, (unsigned int)kept[i] - 1, 0);
		next = (unsigned int)kept[i] + 1;
	}
	(void)syscall(SYS_close_range, next, UINT_MAX, 0);
}

static _Noreturn void run(const struct runtime_apart *a)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct apart_report *report = a->report;

	close_own(a);
	report->result = runtime_parent_begin(&a->parent, &f);
	if (report->result >= 0)
		report->result = a->run(a->arg, &f);
	if (report->result < 0) {
		report->result = f.code ? -f.code : report->result;
		(void)snprintf(report->text, sizeof(report->text), "%s", fault_text(&f));
	}
	if (report->result >= 0 && a->parent.program)
		runtime_parent_become(&a->parent);
	_exit(report->result < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

int runtime_apart_begin(struct runtime_apart *a, struct fault *f)
{
	a->report = mmap(NULL, sizeof(*a->report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a->report == MAP_FAILED)
		return fault_errno(f, errno, "container setup process");
	a->pid = fork();
	if (a->pid == 0)
		run(a);
	runtime_parent_forked(&a->parent);
	if (a->pid > 0)
		return 0;
	(void)munmap(a->report, sizeof(*a->report));
	return fault_errno(f, errno, "container setup process");
}

static int result(const struct apart_report *report, int waited, struct fault *f)
{
	if (WIFEXITED(waited) && WEXITSTATUS(waited) == EXIT_SUCCESS)
		return report->result;
	if (report->result < 0)
		return fault_set(f, -report->result, "%s", report->text);
	return fault_set(f, EIO, "container setup process exited without reporting an error");
}

int runtime_apart_end(struct runtime_apart *a, int waited, struct fault *f)
{
	int r = result(a->report, waited, f);

	(void)munmap(a->report, sizeof(*a->report));
	return r;
}

int runtime_apart_stay(struct runtime_apart *a)
{
	const int r = a->report->result;

	(void)munmap(a->report, sizeof(*a->report));
	return r;
}

/* A process that waits for its start has the pipe as well: its end of file is no event. */
static bool wait_stay(struct runtime_apart *a)
{
	_cleanup_close_ int pidfd = a->parent.program ? (int)syscall(SYS_pidfd_open, a->pid, 0) : -EBADF;
	struct pollfd p[] = { { .fd = a->parent.done[0], .events = POLLIN },
			      { .fd = pidfd, .events = POLLIN } };

	if (pidfd < 0)
		return false;
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	return p[0].revents & POLLIN && runtime_parent_stays(&a->parent);
}

int runtime_apart_wait(struct runtime_apart *a, struct fault *f)
{
	int waited = 0;
	pid_t r;

	if (wait_stay(a))
		return runtime_apart_stay(a);
	do
		r = waitpid(a->pid, &waited, 0);
	while (r < 0 && errno == EINTR);
	/* Without a status: as one that was killed. */
	return runtime_apart_end(a, r == a->pid ? waited : SIGKILL, f);
}
