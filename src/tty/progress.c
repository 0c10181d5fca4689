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
	p->begin_ns = clock_boot_ns();
	p->fd = log_has(LOG_LEVEL_INFO) && isatty(STDERR_FILENO) ? STDERR_FILENO : -EBADF;
	atomic_init(&p->next_ns, clock_boot_ns() + FIRST_NS);
	atomic_init(&p->shown, false);
}

static int write_line(const struct progress *p, uint64_t entries, uint64_t bytes, uint64_t ms, char *line,
		      size_t size)
{
	const unsigned long long n = entries, mb = bytes / MB, each = entries * 1000 / ms,
				 rate = bytes / 1000 / ms;

	return bytes ? snprintf(line, size, CLEAR "%s: %llu entries, %llu MB (%llu/s, %llu MB/s)", p->what, n,
				mb, each, rate)
		     : snprintf(line, size, CLEAR "%s: %llu entries (%llu/s)", p->what, n, each);
}

void progress_tell(void *progress, uint64_t entries, uint64_t bytes)
{
	struct progress *p = progress;
	uint64_t now, next;
	char line[160];
	int n;

	if (p->fd < 0)
		return;
	now = clock_boot_ns();
	next = atomic_load(&p->next_ns);
	/* Only one thread writes the line. */
	if (now < next || !atomic_compare_exchange_strong(&p->next_ns, &next, now + EACH_NS))
		return;
	n = write_line(p, entries, bytes, (now - p->begin_ns) / 1000000 + 1, line, sizeof(line));
	atomic_store(&p->shown, true);
	/* Errors are ignored: progress is optional. */
	(void)!write(p->fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void progress_pause(struct progress *p)
{
	if (p->fd >= 0 && atomic_exchange(&p->shown, false))
		(void)!write(p->fd, CLEAR, sizeof(CLEAR) - 1);
}

void progress_done(struct progress *p)
{
	/* A child may have written it, and only the total time is known. */
	if (p->fd >= 0 && (atomic_load(&p->shown) || clock_boot_ns() >= atomic_load(&p->next_ns)))
		(void)!write(p->fd, CLEAR, sizeof(CLEAR) - 1);
	p->fd = -EBADF;
}
