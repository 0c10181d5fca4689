/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "container/warden-request.h"

/*
 * The protocol between custody-hook, or custody-runtime, and the custody-warden that it executed, over a socket pair:
 *
 *	warden	ready		it was executed and waits; the hook allows no container before that
 *	hook	the request	with the descriptors of container/warden-request.h, once; then it closes the socket
 *	warden	ready		only without init, before the hook closes: the start is recorded, the container may run
 *
 * End of file instead of the first: the warden failed, so the container is refused. Instead of the second: the hook has
 * refused the container, or was killed and the runtime refuses it; the warden exits.
 */
int warden_channel_make(int ret[2], struct fault *f) _must_check_;

int warden_channel_send_ready(int fd, struct fault *f) _must_check_;
int warden_channel_wait_ready(int fd, int timeout_ms, struct fault *f) _must_check_; /* -EPIPE: end of file */

/* FDS: as many as warden_request_fds(ORDER). */
int warden_channel_send(int fd, const struct warden_request *order, const int *fds,
			struct fault *f) _must_check_;

/* 1: the caller owns ORDER; 0: end of file. The caller owns received FDS in any case; -EBADF: not received. */
int warden_channel_receive(int fd, struct warden_request *order, int fds[WARDEN_FDS_MAX],
			   struct fault *f) _must_check_;
