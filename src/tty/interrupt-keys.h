/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Interrupts that a person typed into a payload's pty: the characters that its line discipline turns into SIGINT and
 * SIGQUIT. A program that reads single keys (raw mode) gets them as data, and they are not counted.
 */
#define INTERRUPT_KEYS_END 3	     /* this many SIGINT ... */
#define INTERRUPT_KEYS_NS 2000000000 /* ... within this time end a command that ignores them */

struct interrupt_keys {
	int master;			 /* of the pty; borrowed */
	int signal;			 /* last signal that was typed, 0: none */
	unsigned int n;			 /* SIGINT typed within INTERRUPT_KEYS_NS, the last one included */
	uint64_t at[INTERRUPT_KEYS_END]; /* of those, oldest first */
};

/*
 * BYTES are about to be written to the master. Only SIGINT typed to a program that reads lines counts towards N: a
 * shell at its prompt and every other line editor answer each Ctrl-C themselves.
 */
void interrupt_keys_note(struct interrupt_keys *k, const char *bytes, size_t len, uint64_t now_ns);
