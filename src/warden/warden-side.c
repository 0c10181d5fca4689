/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>

#include "warden/warden-state.h"

/* The processes beside the container that the session depends on: its broker, and the observer of its system calls. */

void warden_side_poll(const struct warden *w, struct pollfd polled[WARDEN_SIDES])
{
	for (size_t i = 0; i < WARDEN_SIDES; i++) {
		const struct warden_side *side = w->job->sides[i];

		polled[i] = (struct pollfd){ .fd = side && !w->side_over[i] ? side->fd : -EBADF,
					     .events = POLLIN };
	}
}

static void step(struct warden *w, size_t i)
{
	switch (w->job->sides[i]->step(w->job->sides[i]->arg)) {
	case WARDEN_SIDE_OK:
		break;
	case WARDEN_SIDE_OVER_BUDGET:
		w->facts.over_budget = true;
		break;
	case WARDEN_SIDE_INSPECTED:
		w->facts.inspection_failed = true;
		break;
	case WARDEN_SIDE_LOST:
		w->side_over[i] = true;
		/* One that goes after the container does not change how that ended. */
		if (w->facts.ended)
			break;
		w->facts.side_lost = true;
		warden_kill(w);
		break;
	case WARDEN_SIDE_OVER:
		w->side_over[i] = true;
		break;
	}
}

void warden_side_step(struct warden *w, const struct pollfd polled[WARDEN_SIDES])
{
	for (size_t i = 0; i < WARDEN_SIDES; i++)
		if (polled[i].revents && !w->side_over[i])
			step(w, i);
}

/* The command waited for each answer, and the record of a refusal is sent before it: all of them are queued. */
void warden_side_drain(struct warden *w)
{
	struct pollfd p[WARDEN_SIDES];

	for (warden_side_poll(w, p); poll(p, WARDEN_SIDES, 0) > 0; warden_side_poll(w, p))
		warden_side_step(w, p);
}
