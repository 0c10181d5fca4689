/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "evidence/delivery.h"

/*
 * The child process of a delivery.  It alone touches the store, which may hang at every system call; after each step it sends
 * a message to its parent through a pipe.
 */
enum delivery_message_type {
	DELIVERY_MESSAGE_ALIVE,
	DELIVERY_MESSAGE_DELIVERED,
	DELIVERY_MESSAGE_FAILED,
	DELIVERY_MESSAGE_END, /* everything was tried; the child only prunes the store now */
};

/* Smaller than PIPE_BUF: one write is one read. */
struct delivery_message {
	enum delivery_message_type type;
	size_t index; /* of the item */
	bool was_there;
	struct digest metadata;
	char text[512]; /* name in the store, or the error */
};

struct delivery_sender {
	const struct delivery_job *job;
	const char *store;
	const struct evidence_list *items; /* of the staging directory */
	const bool *skip;		   /* per item */
	int staging, lock;		   /* the child keeps LOCK: while it hangs no other delivery starts */
};

/* The pid of the child; RET_PIPE: its messages. */
pid_t delivery_sender_start(const struct delivery_sender *s, int *ret_pipe, struct fault *f) _must_check_;
/* False: the child does not exit within MS. */
bool delivery_sender_wait(pid_t pid, unsigned int ms);
