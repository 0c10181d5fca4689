/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>

#include "warden/warden-state.h"

/* The process beside the container that the session depends on: its broker. */

struct pollfd warden_side_poll(const struct warden *w)
{
	return (struct pollfd){ .fd = w->job->side && !w->side_over ? w->job->side->fd : -EBADF,
				.events = POLLIN };
}

void warden_side_step(struct warden *w)
{
	switch (w->job->side->step(w->job->side->arg)) {
	case WARDEN_SIDE_OK:
		break;
	case WARDEN_SIDE_OVER_BUDGET:
		w->facts.over_budget = true;
		break;
	case WARDEN_SIDE_LOST:
		w->side_over = true;
		/* One that goes after the container does not change how that ended. */
		if (w->facts.ended)
			break;
		w->facts.side_lost = true;
		warden_kill(w);
		break;
	}
}

/* The command waited for each answer, and the record of a refusal is sent before it: all of them are queued. */
void warden_side_drain(struct warden *w)
{
	struct pollfd p = warden_side_poll(w);

	while (!w->side_over && p.fd >= 0 && poll(&p, 1, 0) > 0)
		warden_side_step(w);
}
