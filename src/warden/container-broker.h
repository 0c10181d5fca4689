/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>

#include "broker/broker.h"
#include "broker/broker-tools.h"

struct container_watch;

/*
 * The broker of an engine's container, a child of custody-warden.  It starts before the command does; the socket that the
 * runtime made listens from then on.  If it exits before the container, that is killed and its session lost.
 */
struct container_broker {
	struct broker process;
	bool lost;		     /* it exited, and the container was killed for it */
	bool over_budget, inspected; /* it refused a call for that reason */
};
#define CONTAINER_BROKER_NONE ((struct container_broker){ .process = BROKER_NONE })

/* 0 without a broker in the request. */
int container_broker_start(struct container_watch *w, struct fault *f) _must_check_;
struct pollfd container_broker_poll(const struct container_broker *b);
void container_broker_step(struct container_watch *w); /* its record, or its end */
/* After the container: no more calls, the last records, its end. */
void container_broker_end(struct container_watch *w);
