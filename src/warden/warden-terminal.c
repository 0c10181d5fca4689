/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "warden/warden-state.h"

#define RETRY_MS UINT64_C(250)

/*
 * While the terminal belongs to another process group, or another program reads keys from it, its keys are not polled:
 * they would stay unread and wake us at once, again and again.  No event tells when that changes.
 */
void warden_follow_terminal(struct warden *w)
{
	_cleanup_fault_ struct fault f = { 0 };

	w->keys_at = 0;
	if (w->tty.fd < 0)
		return;
	if (terminal_follow(&w->tty, &f) < 0) {
		log_error("%s: no input from the terminal", fault_text(&f));
		pump_close(&w->io.pump[STDIO_KEYS]);
	}
	if (!terminal_may_read(&w->tty) && !pump_is_over(&w->io.pump[STDIO_KEYS]))
		warden_arm(&w->keys_at, RETRY_MS);
}

void warden_on_terminal(struct warden *w, struct pollfd *polled)
{
	struct pollfd *keys = polled + (size_t)2 * STDIO_KEYS, *screen = polled + (size_t)2 * STDIO_SCREEN;

	if (w->tty.fd < 0 || !(keys->revents || (w->tty.shared && screen->revents)))
		return;
	/* A payload that changes the modes of its pty also draws something. */
	warden_follow_terminal(w);
	if (w->keys_at)
		keys->revents = 0;
}

/* Non-blocking, as all output to the terminal (stdio-relay.c). */
static void announce_end(const struct warden *w)
{
	static const char text[] = "\r\ncustody: Ctrl-C again within 2 seconds ends the command\r\n";

	if (!w->job->quiet && w->tty.fd >= 0 && w->io.pump[STDIO_SCREEN].out >= 0)
		(void)!write(w->io.pump[STDIO_SCREEN].out, text, sizeof(text) - 1);
}

void warden_on_keys(struct warden *w)
{
	unsigned int n = w->keys.n;

	if (n == w->keys_seen || w->job->interactive)
		return;
	w->keys_seen = n;
	if (n == INTERRUPT_KEYS_END - 1)
		announce_end(w);
	if (n < INTERRUPT_KEYS_END || w->phase == WARDEN_OVER)
		return;
	if (!w->facts.stopped && !w->facts.cancelled)
		w->facts.cancelled = SIGINT;
	warden_kill(w);
}
