/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"
#include "profile/host-rule.h"

/*
 * custody-egress of one session: a program of its own, child of the supervisor, that answers at the listeners in the session's network
 * namespace and connects outside of it.  It writes no file; its records go over LINK to the supervisor.
 *
 * The supervisor closes LINK at the end of the session: custody-egress sends its last records and exits.  If the supervisor dies, the
 * kernel kills custody-egress; if custody-egress dies, LINK ends and the session is lost.
 */
#define EGRESS_PROGRAM "custody-egress"
#define EGRESS_RECORD_MAX ((size_t)8 * 1024) /* of one message on LINK */
#define EGRESS_END_MS 5000		     /* for its last records */
/* Descriptors of the program; the listeners follow in the order of egress-net.h. */
#define EGRESS_LINK_FD 3
#define EGRESS_CONFIG_FD 4
#define EGRESS_LISTENERS_FD 5

struct egress_job {
	const char *program; /* its path */
	const char *profile; /* its name, for replies to programs inside */
	const struct host_rule *rules;
	size_t n_rules;
	const int *listeners; /* stay the caller's */
	size_t n_listeners;
};

struct egress {
	pid_t pid;
	int pidfd; /* the supervisor reaps children that it does not know */
	int link;
};
#define EGRESS_NONE ((struct egress){ .pid = -1, .pidfd = -EBADF, .link = -EBADF })

/* Returns when it answers. */
int egress_start(const struct egress_job *job, struct egress *ret, struct fault *f) _must_check_;

/* One record: 1; 0: custody-egress has exited; -EAGAIN: none is queued. */
struct egress_record {
	char *kind, *status;
	struct jdoc *d;
};
int egress_receive(const struct egress *e, bool wait, struct egress_record *ret) _must_check_;
void egress_record_done(struct egress_record *r);
#define _cleanup_egress_record_ _cleanup_(egress_record_done)

void egress_finish(struct egress *e); /* no more connections; receive until 0, then: */
void egress_done(struct egress *e);

/* What the program reads from EGRESS_CONFIG_FD. */
struct egress_config {
	char *profile;
	struct host_rule *rules;
	size_t n_rules;
};
int egress_config_write(const struct egress_job *job, int *ret_fd, struct fault *f) _must_check_;
int egress_config_read(int fd, struct egress_config *ret, struct fault *f) _must_check_;
void egress_config_done(struct egress_config *c);
