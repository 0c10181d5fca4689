/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "tty/interrupt-keys.h"

#include "tap.h"

#define S UINT64_C(1000000000)

/* The payload's side of the pty, with FLAGS of its local modes cleared. */
static bool open_pty(struct interrupt_keys *k, int *ret_slave, tcflag_t cleared)
{
	struct termios t;

	k->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (k->master < 0 || grantpt(k->master) < 0 || unlockpt(k->master) < 0)
		return false;
	*ret_slave = open(ptsname(k->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_slave < 0 || tcgetattr(*ret_slave, &t) < 0)
		return false;
	t.c_lflag &= ~cleared;
	return tcsetattr(*ret_slave, TCSANOW, &t) == 0;
}

static void interrupts_within_two_seconds_are_counted(void)
{
	_cleanup_close_ int slave = -1;
	struct interrupt_keys k = { 0 };

	CHECK(open_pty(&k, &slave, 0));
	interrupt_keys_note(&k, "abc\n", 4, 10 * S);
	CHECK(k.signal == 0 && k.n == 0);
	interrupt_keys_note(&k, "x\3y", 3, 10 * S);
	CHECK(k.signal == SIGINT && k.n == 1);
	interrupt_keys_note(&k, "\3", 1, 11 * S);
	CHECK(k.n == 2);
	interrupt_keys_note(&k, "\3", 1, 12 * S + 1);
	CHECK(k.n == 2);
	interrupt_keys_note(&k, "\3", 1, 12 * S + 2);
	CHECK(k.n == 3);
	interrupt_keys_note(&k, "\3\3\3\3\3", 5, 12 * S + 3);
	CHECK(k.n == INTERRUPT_KEYS_END);
	interrupt_keys_note(&k, "\3", 1, 60 * S);
	CHECK(k.n == 1);
	(void)close(k.master);
}

static void a_quit_is_a_signal_but_no_interrupt(void)
{
	_cleanup_close_ int slave = -1;
	struct interrupt_keys k = { 0 };

	CHECK(open_pty(&k, &slave, 0));
	interrupt_keys_note(&k, "\x1c\x1c\x1c", 3, S);
	CHECK(k.signal == SIGQUIT && k.n == 0);
	(void)close(k.master);
}

/* bash, less: the key is a signal, but the program shows a prompt and answers it. */
static void a_line_editor_is_not_counted(void)
{
	_cleanup_close_ int slave = -1;
	struct interrupt_keys k = { 0 };

	CHECK(open_pty(&k, &slave, ICANON));
	interrupt_keys_note(&k, "\3\3\3", 3, S);
	CHECK(k.signal == SIGINT && k.n == 0);
	(void)close(k.master);
}

static void in_raw_mode_and_with_other_characters_it_is_data(void)
{
	_cleanup_close_ int slave = -1, other = -1;
	struct interrupt_keys k = { 0 }, moved = { 0 };
	struct termios t;

	CHECK(open_pty(&k, &slave, ICANON | ISIG));
	interrupt_keys_note(&k, "\3\3\3", 3, S);
	CHECK(k.signal == 0 && k.n == 0);
	(void)close(k.master);

	CHECK(open_pty(&moved, &other, 0) && tcgetattr(other, &t) == 0);
	t.c_cc[VINTR] = _POSIX_VDISABLE;
	t.c_cc[VQUIT] = 'q';
	CHECK(tcsetattr(other, TCSANOW, &t) == 0);
	interrupt_keys_note(&moved, "\3\0\0", 3, S);
	CHECK(moved.signal == 0 && moved.n == 0);
	interrupt_keys_note(&moved, "q", 1, S);
	CHECK(moved.signal == SIGQUIT);
	(void)close(moved.master);
}

TAP_MAIN(T(interrupts_within_two_seconds_are_counted), T(a_quit_is_a_signal_but_no_interrupt),
	 T(a_line_editor_is_not_counted), T(in_raw_mode_and_with_other_characters_it_is_data))
