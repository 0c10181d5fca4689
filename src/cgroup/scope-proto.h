/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Between a supervisor and custody-scope, which alone uses systemd's bus.  `custody-scope SESSION` finds these descriptors:
 *
 *	supervisor -> scope_request, once the process exists that shall be moved
 *	           <- scope_answer: that process and custody-scope itself are in the scope, or the reason why not
 *	end of file: custody-scope exits
 *
 * Both are the same build.
 */
#define SCOPE_PROGRAM "custody-scope"
#define SCOPE_CONTROL_FD 3 /* this protocol */
#define SCOPE_BUS_FD 4	   /* connected to the user's systemd */

#define SCOPE_WAIT_MS 5000 /* how long the supervisor waits for the answer */

struct scope_request {
	int32_t pid;
};

struct scope_answer {
	int32_t code; /* positive errno, 0: done */
	char text[256];
};
