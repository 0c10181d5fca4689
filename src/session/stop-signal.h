/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

/*
 * `custody stop` queues SIGTERM with a value (sigqueue), which a plain kill does not have: STOP_MARK and the grace
 * period of the payload. Queueing needs the same permission as any signal to the supervisor.
 */
#define STOP_SIGNAL SIGTERM
#define STOP_MARK UINT32_C(0x53000000)
#define STOP_GRACE_MAX UINT32_C(0xfffffe) /* seconds */
#define STOP_GRACE_PROFILE UINT32_C(0xffffff)

static inline int stop_signal_value(uint32_t grace_s)
{
	return (int)(STOP_MARK | grace_s);
}

/* GRACE_S: from the value; STOP_GRACE_PROFILE: use the profile's. */
static inline bool stop_signal_is(const struct signalfd_siginfo *si, uint32_t *grace_s)
{
	const uint32_t value = (uint32_t)si->ssi_int;

	if (si->ssi_signo != STOP_SIGNAL || si->ssi_code != SI_QUEUE ||
	    (value & UINT32_C(0xff000000)) != STOP_MARK)
		return false;
	*grace_s = value & UINT32_C(0xffffff);
	return true;
}
