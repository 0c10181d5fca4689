/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/trace-message.h"

/*
 * Texts in the memory of a process that waits for an answer.  Its other threads can change them meanwhile, and after the copy: what
 * is read here is observed, never decided upon.
 */
struct trace_texts {
	char bytes[TRACE_TEXT_MAX];
	size_t len;
	uint32_t n;
	uint32_t flags; /* TRACE_CUT, TRACE_UNREADABLE */
};

/* How often a list or a text may ask the kernel: a text in many small pieces is cut. */
#define TRACE_READS_MAX 160

/* LEN bytes at ADDRESS of PID.  False: not all of them can be read. */
bool trace_memory_copy(pid_t pid, uint64_t address, void *ret, size_t len);

/* Appends the text at ADDRESS, at most MAX bytes of it. */
void trace_texts_add(struct trace_texts *t, pid_t pid, uint64_t address, size_t max);
/* Appends the texts of the NULL-terminated list of pointers at ADDRESS, as long as they fit. */
void trace_texts_add_list(struct trace_texts *t, pid_t pid, uint64_t address);
/* Appends an own text, cut if it does not fit. */
void trace_texts_put(struct trace_texts *t, const char *text);

/* "unix:/path", "unix:@name", "inet:1.2.3.4:80", "inet6:[::1]:80" or "family N" of a socket address of LEN bytes. */
#define TRACE_ADDRESS_SIZE 256
void trace_address_text(const void *address, size_t len, char text[TRACE_ADDRESS_SIZE]);

/* The id of a process in its innermost pid namespace, from the text of its /proc/PID/status; 0: none. */
pid_t trace_inner_pid(const char *status);
