/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * A transient scope of one session, from the systemd of an ordinary user: the cgroup that systemd delegates, where a login
 * session has none.  A process of ours (custody-scope) asks for it and stays in it as long as the supervisor holds this, because
 * systemd removes a scope without processes, and its counters with it.  The supervisor itself stays where it is.
 *
 * Order: open, ask when the process exists that shall be moved, wait, done.  Every failure is a reason for a message, nothing else.
 */
struct scope {
	pid_t holder; /* custody-scope */
	pid_t member; /* the process that was moved */
	int pidfd;    /* of the holder */
	int fd;	      /* to it */
	char *name;   /* "custody-ID.scope" */
	uint64_t until_ns;
};
#define SCOPE_NONE ((struct scope){ .holder = -1, .member = -1, .pidfd = -EBADF, .fd = -EBADF })

/*
 * A connection to the systemd of this user: the process behind it belongs to this user and is in our pid namespace, and its own
 * cgroup has the CONTROLLERS (CGROUP_BIT()s).  Never waits.
 */
int scope_connect(unsigned int controllers, int *ret_fd, struct fault *f) _must_check_;

/* Starts custody-scope in LIBEXEC.  Never waits. */
int scope_open(struct scope *ret, const char *libexec, const char *session, unsigned int controllers,
	       struct fault *f) _must_check_;
int scope_ask(struct scope *s, pid_t member, struct fault *f) _must_check_;
/* At most SCOPE_WAIT_MS after the request.  *RET_DIR: the scope's directory, as the kernel names it for the member; heap. */
int scope_wait(struct scope *s, char **ret_dir, struct fault *f) _must_check_;
void scope_done(struct scope *s);
#define _cleanup_scope_ _cleanup_(scope_done)
