/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * A start that was not asked for: a process that can write to the state directory of the runtime can release a created container
 * without custody-runtime.  The kernel tells only the tracer of an exec, so the warden looks.
 */
struct container_unasked {
	bool known, exe_seen; /* of the process that waits for its start */
	dev_t exe_dev;
	ino_t exe_ino;
	char name[24];
	unsigned int tries;
};
#define CONTAINER_UNASKED_NONE ((struct container_unasked){ .name = "" })

/*
 * The process PID of PIDFD waits for its start, or was started already: DEV and INO are those of its program when it was created, 0: not
 * known, and then it is taken to wait still.
 */
void container_unasked_begin(struct container_unasked *u, int pidfd, pid_t pid, dev_t dev, ino_t ino);
/* Has it executed another program?  Also of a process that ended and that its parent has not waited for. */
bool container_unasked_look(struct container_unasked *u, int pidfd, pid_t pid);
/* Milliseconds until the next look. */
int container_unasked_due_ms(const struct container_unasked *u);
