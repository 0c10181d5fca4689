/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * /run/custody of a container with a broker: a bind, read-only, of a tmpfs that only libcrun's mount namespace has
 * (engine-broker-files.h).  Refused by name where it would hide or enter something of the image or the engine.
 */
struct engine_broker {
	bool open;
	uid_t uid; /* of the container's process, as the runtime's user namespace numbers it */
	gid_t gid;
	size_t mount;	 /* its number among the merged mounts */
	char *cgroup;	 /* of the container, for broker-peer.h */
	bool pid_shared; /* the same */
	char **places;	 /* directories that the command can change: no tool may be there */
};

void engine_broker_done(struct engine_broker *b);

struct engine_work;
int engine_merge_broker(struct engine_work *w) _must_check_;
