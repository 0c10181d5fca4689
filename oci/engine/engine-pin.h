/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * Files by which a container was judged: the root directory, the program and the sources of binds.  The runtime opens each again by its
 * name, and a caller may exchange a directory or a link in between.  So once the container is created, and before anything of it
 * runs, the same files must be at the same places inside.
 */
struct engine_pin {
	dev_t dev;
	ino_t ino;
	bool exists;
};

struct engine_pins {
	struct engine_pin root, program;
	struct engine_pin *binds; /* one for each mount; not EXISTS for other mounts */
	size_t n;
};

void engine_pin_root(struct engine_pins *p, int fd);
void engine_pin_program(struct engine_pins *p, const struct stat *st);
/* Of every bind in CONFIG, the merged configuration. */
int engine_pin_binds(struct engine_pins *p, const struct jdoc *config, struct fault *f) _must_check_;

/* Of the broker's directory, mount number MOUNT, once it exists. */
void engine_pin_broker(struct engine_pins *p, size_t mount, const struct stat *st);

/* PID: the first process, which waits for its start.  -EPERM with the name of the member that leads to another file. */
int engine_pins_require(const struct engine_pins *p, const struct jdoc *config, pid_t pid,
			struct fault *f) _must_check_;
void engine_pins_done(struct engine_pins *p);
