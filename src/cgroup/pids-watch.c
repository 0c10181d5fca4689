/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/pids-watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"

static const char *choose(const struct cgroup_host *h)
{
	return h->v1[CGROUP_PIDS] ? h->v1[CGROUP_PIDS] : h->v2;
}

static uint64_t read_refused(struct pids_watch *w)
{
	char text[CGROUP_TEXT_MAX];
	ssize_t n = w->counter < 0 ? -1 : pread(w->counter, text, sizeof(text) - 1, 0);
	uint64_t refused = 0;

	if (n <= 0)
		return w->last;
	text[n] = '\0';
	return cgroup_text_key(text, "max", &refused) == 0 ? refused : w->last;
}

void pids_watch_open(struct pids_watch *w, pid_t pid)
{
	_cleanup_cgroup_host_ struct cgroup_host its = { 0 }, mine = { 0 };
	char path[4096];

	if (w->counter >= 0 || cgroup_host_load_of(pid, &its, NULL) < 0 ||
	    cgroup_host_load(&mine, NULL) < 0 || !choose(&its) || str_eq(choose(&its), choose(&mine)) ||
	    snprintf(path, sizeof(path), "%s/pids.events", choose(&its)) >= (int)sizeof(path))
		return;
	w->counter = open(path, O_RDONLY | O_CLOEXEC);
	if (w->counter < 0)
		w->counter = -EBADF;
	w->before = w->last = read_refused(w);
}

uint64_t pids_watch_read(struct pids_watch *w)
{
	w->last = read_refused(w);
	return w->last - w->before;
}

void pids_watch_done(struct pids_watch *w)
{
	w->counter = fd_close(w->counter);
}
