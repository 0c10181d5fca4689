/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "approval/approval-obtain-impl.h"
#include "approval/request-notice.h"

#define SLEEP_MS (60 * 1000) /* at most: a wall clock that jumps past an expiry causes no event */

struct wait {
	const struct approval_ask *ask;
	int watch, signals;
	uint64_t end_ns;     /* boot time; UINT64_MAX: never */
	uint64_t expires_us; /* of the request, wall clock */
	bool over;
};

static int set_text(struct approval *ret, const char *text, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_printf(&b, "%s: %s", text, ret->text ? ret->text : "");
	free(ret->text);
	ret->text = strbuf_take(&b);
	return ret->text ? 0 : fault_errno(f, ENOMEM, "approval");
}

/* Another start of the same subject took the use: file a new request. */
static int file_again(struct wait *w, struct approval *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	int r = approval_file(w->ask, &rq, f);

	if (r < 0)
		return r;
	if (rq.state == REQUEST_DENIED) {
		w->over = true;
		return approval_set_denied(w->ask, &rq, ret, f);
	}
	log_info("the approval was used by another start; request %s is pending again", rq.id);
	request_notify(w->ask->store, &rq, w->ask->on_request, w->ask->prompt_rate);
	return 0;
}

static int reserve(struct wait *w, struct approval *ret, struct fault *f)
{
	int r = approval_reserve(w->ask, ret, f);

	w->over = r == 0 && ret->state == APPROVAL_GRANTED;
	return r;
}

/* The request was removed: just approved, or expired. */
static int check_again(struct wait *w, struct approval *ret, struct fault *f)
{
	int r = reserve(w, ret, f);

	if (r < 0 || w->over)
		return r;
	if (ret->grants.reason == GRANT_CONSUMED || ret->grants.reason == GRANT_RESERVED)
		return file_again(w, ret, f);
	w->over = true;
	return set_text(ret, "the request expired without a decision", f);
}

/* Checks the current state.  Every change causes an event of the watch, which was opened before. */
static int check_state(struct wait *w, struct approval *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	int r = reserve(w, ret, f);

	if (r < 0 || w->over)
		return r;
	r = request_read(w->ask->store, ret->request, &rq, &why);
	if (r == -ENOENT)
		return check_again(w, ret, f);
	if (r < 0)
		return fault_set(f, -r, "%s", fault_text(&why));
	if (rq.state == REQUEST_DENIED) {
		w->over = true;
		return approval_set_denied(w->ask, &rq, ret, f);
	}
	w->expires_us = rq.expires_us;
	return 0;
}

static int take_signal(struct wait *w, struct approval *ret)
{
	struct signalfd_siginfo info;

	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	w->over = true;
	ret->signal = (int)info.ssi_signo;
	return 0;
}

/* Time until the next change without an event: the end of the wait, or of the request. */
static int sleep_ms(const struct wait *w)
{
	uint64_t boot = clock_boot_ns(), wall = clock_wall_us(), ms = SLEEP_MS, left;

	left = boot >= w->end_ns ? 0 : (w->end_ns - boot) / 1000000U + 1;
	ms = left < ms ? left : ms;
	left = wall >= w->expires_us ? 0 : (w->expires_us - wall) / 1000U + 1;
	return (int)(left < ms ? left : ms);
}

static int pause_once(struct wait *w, struct approval *ret, struct fault *f)
{
	struct pollfd fds[] = { { .fd = w->watch, .events = POLLIN },
				{ .fd = w->signals, .events = POLLIN } };
	int n = poll(fds, 2, sleep_ms(w));

	if (n < 0 && errno != EINTR)
		return fault_errno(f, errno, "wait for an approval");
	if (n > 0 && fds[1].revents)
		return take_signal(w, ret);
	if (n > 0 && fds[0].revents)
		approval_store_watch_drain(w->watch);
	if (n == 0 && clock_boot_ns() >= w->end_ns) {
		w->over = true;
		return set_text(ret, "no decision within the time of --wait", f);
	}
	return 0;
}

static int loop(struct wait *w, struct approval *ret, struct fault *f)
{
	int r = 0;

	w->watch = approval_store_watch(w->ask->store, f);
	if (w->watch < 0)
		return w->watch;
	while (r == 0 && !w->over) {
		r = check_state(w, ret, f);
		if (r == 0 && !w->over)
			r = pause_once(w, ret, f);
	}
	return r;
}

int approval_wait(const struct approval_ask *ask, struct approval *ret, struct fault *f)
{
	struct wait w = { .ask = ask, .watch = -EBADF, .signals = -EBADF, .end_ns = UINT64_MAX };
	sigset_t wanted, before;
	int r;

	if (ask->wait_s && ask->wait_s < UINT64_MAX / 2000000000U)
		w.end_ns = clock_boot_ns() + ask->wait_s * 1000000000U;
	if (log_has(LOG_LEVEL_INFO))
		fprintf(stderr, PACKAGE_NAME ": waiting: %s\n", ret->text);
	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGINT);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGHUP);
	(void)sigaddset(&wanted, SIGQUIT);
	(void)sigprocmask(SIG_BLOCK, &wanted, &before);
	w.signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	r = w.signals < 0 ? fault_errno(f, errno, "signals") : loop(&w, ret, f);
	(void)fd_close(w.watch);
	(void)fd_close(w.signals);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
