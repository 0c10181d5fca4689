/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/oom-watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"

#define TEXT_MAX ((size_t)8 * 1024 * 1024)
#define END_MS 200 /* from the removal of a cgroup's files until its removal is reported */

static char *read_text(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, TEXT_MAX, &text, &len, NULL) == 0 ? text : NULL;
}

static char *choose(struct cgroup_host *h)
{
	return h->v1[CGROUP_MEMORY] ? h->v1[CGROUP_MEMORY] : h->v2;
}

/*
 * The memory cgroup of PID; heap. NULL: not visible, or the same as ours: a rootless runtime creates no
 * cgroup, and OOM kills there may concern other processes.
 */
static char *find_cgroup(pid_t pid, bool *ret_v2)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 }, mine = { 0 };
	_cleanup_free_ char *mounts = read_text("/proc/self/mountinfo"),
			    *self = read_text("/proc/self/cgroup"), *its = NULL;
	char path[sizeof("/proc//cgroup") + 3 * sizeof(pid)];

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	its = read_text(path);
	if (!mounts || !self || !its || cgroup_host_parse(mounts, its, &h, NULL) < 0 ||
	    cgroup_host_parse(mounts, self, &mine, NULL) < 0 || !choose(&h) ||
	    str_eq(choose(&h), choose(&mine)))
		return NULL;
	*ret_v2 = !h.v1[CGROUP_MEMORY];
	return strdup(choose(&h));
}

/* From here on the kernel signals EVENT. */
static bool listen_v1(int dir, int event, int counter)
{
	char line[32];

	(void)snprintf(line, sizeof(line), "%d %d", event, counter);
	return cgroup_file_write(dir, "cgroup.event_control", line) >= 0;
}

/* -1: the cgroup was removed. */
static int64_t read_kills(int counter)
{
	char text[CGROUP_TEXT_MAX];
	ssize_t n = pread(counter, text, sizeof(text) - 1, 0);
	uint64_t kills = 0;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return cgroup_text_key(text, "oom_kill", &kills) == 0 && kills < INT64_MAX ? (int64_t)kills : 0;
}

void oom_watch_open(struct oom_watch *w, pid_t pid, bool fresh)
{
	bool v2 = false;
	_cleanup_free_ char *path = w->counter < 0 ? find_cgroup(pid, &v2) : NULL;
	_cleanup_close_ int dir = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF,
			    counter = -EBADF, event = -EBADF;

	if (dir < 0)
		return;
	counter = openat(dir, v2 ? "memory.events" : "memory.oom_control", O_RDONLY | O_CLOEXEC);
	event = v2 ? -EBADF : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (counter < 0 || (!v2 && (event < 0 || !listen_v1(dir, event, counter))))
		return;
	*w = (struct oom_watch){ .v2 = v2, .counter = TAKE_FD(counter) };
	w->event = v2 ? w->counter : TAKE_FD(event);
	w->before = fresh ? read_kills(w->counter) : 0;
	/* An OOM kill may have happened before the watch started. */
	oom_watch_read(w);
}

short oom_watch_events(const struct oom_watch *w)
{
	return w->v2 ? POLLPRI : POLLIN;
}

/* False: the cgroup was removed. */
static bool read_counter(struct oom_watch *w)
{
	int64_t kills = read_kills(w->counter);

	w->seen |= kills > w->before;
	return kills >= 0;
}

void oom_watch_read(struct oom_watch *w)
{
	uint64_t n = 0;
	bool there;

	if (w->counter < 0)
		return;
	if (!w->v2 && read(w->event, &n, sizeof(n)) != (ssize_t)sizeof(n))
		n = 0;
	w->signals += n;
	/*
	 * After the event: the files are removed before the removal is signalled, so if they exist it was an
	 * OOM event.
	 */
	there = read_counter(w);
	if (there)
		w->early += n;
	/* v2 would report the removal forever. */
	if (w->v2 && !there) {
		w->counter = fd_close(w->counter);
		w->event = -EBADF;
	}
}

bool oom_watch_decide(struct oom_watch *w, bool killed)
{
	struct pollfd p;

	oom_watch_read(w);
	/* The counter decides: v1 also signals a cgroup for an OOM of its parents. */
	if (w->counter < 0 || w->seen || read_counter(w) || !killed)
		return w->seen;
	if (w->early > 0 || w->signals > 1)
		return true;
	/*
	 * Signalled once, and the files are already removed: OOM or removal? A second signal means that the
	 * first was an OOM.
	 */
	p = (struct pollfd){ .fd = w->event, .events = POLLIN };
	if (w->signals == 1)
		(void)poll(&p, 1, END_MS);
	oom_watch_read(w);
	return w->signals > 1;
}

void oom_watch_done(struct oom_watch *w)
{
	if (!w->v2)
		w->event = fd_close(w->event);
	w->counter = fd_close(w->counter);
	w->event = -EBADF;
}
