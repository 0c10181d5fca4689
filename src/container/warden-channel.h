/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "container/warden-request.h"

/*
 * What custody-hook and the custody-warden that it executed say to each other, over a pair of sockets:
 *
 *	warden	ready		it was executed and only waits; the hook lets no container pass before that
 *	hook	the order	with the descriptors of container/warden-request.h, once; then it hangs up
 *
 * End of file instead of the first: there is no warden, so the container is refused.  Instead of the second: the hook has
 * refused the container, or was killed and the runtime refuses it.  There is nothing to watch.
 */
int warden_channel_make(int ret[2], struct fault *f) _must_check_;

int warden_channel_say_ready(int fd, struct fault *f) _must_check_;
int warden_channel_wait_ready(int fd, int timeout_ms, struct fault *f) _must_check_; /* -EPIPE: end of file */

int warden_channel_send(int fd, const struct warden_request *order, const int fds[WARDEN_FDS],
			struct fault *f) _must_check_;

/* 1: ORDER is ours; 0: end of file.  What came of FDS is the caller's in any case, -EBADF is what did not. */
int warden_channel_receive(int fd, struct warden_request *order, int fds[WARDEN_FDS],
			   struct fault *f) _must_check_;
