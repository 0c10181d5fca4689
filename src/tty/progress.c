/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/progress.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define FIRST_NS UINT64_C(1000000000)
#define EACH_NS UINT64_C(200000000)
#define MB UINT64_C(1000000)
#define CLEAR "\r\033[K"

void progress_init(struct progress *p, const char *what)
{
	p->what = what;
	p->fd = log_has(LOG_LEVEL_INFO) && isatty(STDERR_FILENO) ? STDERR_FILENO : -EBADF;
	atomic_init(&p->next_ns, clock_boot_ns() + FIRST_NS);
	atomic_init(&p->shown, false);
}

void progress_tell(void *progress, uint64_t entries, uint64_t bytes)
{
	struct progress *p = progress;
	uint64_t now, next;
	char line[128];
	int n;

	if (p->fd < 0)
		return;
	now = clock_boot_ns();
	next = atomic_load(&p->next_ns);
	/* Only one thread writes the line. */
	if (now < next || !atomic_compare_exchange_strong(&p->next_ns, &next, now + EACH_NS))
		return;
	n = snprintf(line, sizeof(line), CLEAR "%s: %llu entries, %llu MB", p->what,
		     (unsigned long long)entries, (unsigned long long)(bytes / MB));
	atomic_store(&p->shown, true);
	/* Errors are ignored: progress is optional. */
	(void)!write(p->fd, line, (size_t)n);
}

void progress_done(struct progress *p)
{
	/* A child may have written it, and only the total time is known. */
	if (p->fd >= 0 && (atomic_load(&p->shown) || clock_boot_ns() >= atomic_load(&p->next_ns)))
		(void)!write(p->fd, CLEAR, sizeof(CLEAR) - 1);
	p->fd = -EBADF;
}
