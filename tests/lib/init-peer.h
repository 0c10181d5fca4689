/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "layer/init-proto.h"

/*
 * Plays custody-init's supervisor without a container runtime: init becomes PID 1 of fresh namespaces of this process,
 * with one end of a socket pair as descriptor 3 and a pipe as stdout and stderr.
 */
struct peer_setup {
	char *const *args; /* after argv[0] of init */
	char *const *env;  /* NULL: PATH only */
	bool no_socket, no_session, no_proc, pts;
	int without;		       /* CLONE_NEW* that init shares with the test */
	bool not_first;		       /* init is the second process of its pid namespace */
	bool (*before_exec)(void);     /* in the child; false: give up */
	const char *uid_map, *gid_map; /* NULL: root inside is the caller; else only for root */
};

struct peer {
	pid_t pid;  /* of init, as seen from here */
	int socket; /* -1 without */
	int out;    /* what init and payload print */
	int master; /* pty, once a report has passed one */
};

/* In a process that just made a user namespace: root inside is UID. */
bool peer_map_ids(uid_t uid, gid_t gid);
bool peer_possible(void); /* can this user make the namespaces? */
bool peer_start(const struct peer_setup *s, struct peer *ret);
bool peer_receive(struct peer *p, struct init_msg *ret); /* false: end of file */
bool peer_send(const struct peer *p, enum init_msg_type type, int value);

/* Reads until TEXT has come or until end of file; false on end of file. */
bool peer_expect(int fd, const char *text);
/* Everything up to end of file, which is reached when the last process inside has exited. */
void peer_read_all(int fd, char *buffer, size_t room);
void peer_close_socket(struct peer *p);
int peer_wait(struct peer *p); /* wait status of init; closes all */
