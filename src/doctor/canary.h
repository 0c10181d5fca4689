/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layer/layer.h"

/* Names that doctor places in both trees. */
#define CANARY_SOCKET "socket"
#define CANARY_FIFO "fifo"

/*
 * custody-canary: runs as the payload of a real container and tries forbidden operations.  Each try belongs to the one layer
 * that stops it and succeeds exactly when that layer is missing: where two layers would refuse a call, its arguments are
 * chosen so that an unfiltered kernel returns another errno than the filter.
 *
 * One line of JSON per try: {"try":"mount","layer":"seccomp","stopped":true,"by":"EPERM"}
 */

/* Targets outside that doctor prepared for the tries. */
struct canary_facts {
	pid_t pid;	       /* a process outside */
	int shm;	       /* a shared memory segment outside */
	uint16_t port;	       /* a listener on 127.0.0.1 outside */
	const char *socket;    /* an abstract socket outside */
	const char *hostname;  /* the host's */
	const char *secret;    /* a world-readable file outside */
	const char *work;      /* worktree inside */
	const char *work_mode; /* overlay, ro, rw, tmpfs */
	const char *tree; /* a read-only directory inside; it and WORK hold a socket and a FIFO of the host */
	uint64_t ns[8];	  /* the host's, by enum init_ns */
};

/*
 * 0: it got through.  Positive: the errno that stopped it.  TRY_HIDDEN: stopped, because the visible object is not the
 * host's.  TRY_NONE: not applicable on this host.
 */
#define TRY_NONE (-1)
#define TRY_HIDDEN (-2)
struct canary_try {
	const char *what;
	enum layer layer;
	int (*run)(const struct canary_facts *f);
};

/* The rows of layer/inherit-table.h: false if row I is not one of process-state; WHAT of ROOM bytes keeps its name. */
bool canary_inherits(unsigned int i, struct canary_try *ret, char *what, size_t room);
int canary_inherit(unsigned int i, const struct canary_facts *f);

/* Tables, terminated by a NULL `what`. */
extern const struct canary_try canary_calls[];
extern const struct canary_try canary_places[];
extern const struct canary_try canary_names[];
