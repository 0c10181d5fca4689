/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/interrupt-keys.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static void count(struct interrupt_keys *k, uint64_t now)
{
	unsigned int old = 0;

	while (old < k->n && now - k->at[old] > INTERRUPT_KEYS_NS)
		old++;
	if (old == 0 && k->n == INTERRUPT_KEYS_END)
		old = 1;
	k->n -= old;
	memmove(k->at, k->at + old, k->n * sizeof(k->at[0]));
	k->at[k->n++] = now;
}

void interrupt_keys_note(struct interrupt_keys *k, const char *bytes, size_t len, uint64_t now_ns)
{
	struct termios t;

	if (tcgetattr(k->master, &t) < 0 || !(t.c_lflag & ISIG))
		return;
	for (size_t i = 0; i < len; i++) {
		cc_t c = (cc_t)bytes[i];

		if (c == _POSIX_VDISABLE)
			continue;
		if (c == t.c_cc[VINTR]) {
			k->signal = SIGINT;
			if (t.c_lflag & ICANON)
				count(k, now_ns);
		} else if (c == t.c_cc[VQUIT]) {
			k->signal = SIGQUIT;
		}
	}
}
