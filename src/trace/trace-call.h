/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which system calls of a session are observed, and what the observer answers.  Pure.  The filter (oci/seccomp/seccomp-trace.c)
 * and the process that answers (trace-server.c) read the same table, so that a call is either refused by the filter itself
 * or observed, never both: docs/design/trace.md.
 */
enum trace_word {
	TRACE_EXEC = 1,	   /* every execve and execveat */
	TRACE_DENIED = 2,  /* calls that the filter refuses */
	TRACE_WRITE = 4,   /* files that are opened for writing */
	TRACE_CONNECT = 8, /* every connect */
};

/* One word of the profile's list audit.trace; 0: unknown. */
uint32_t trace_word_parse(const char *word);
uint32_t trace_words_parse(char *const *words); /* unknown ones are ignored; NULL: none */

/* A call that is observed and then made. */
struct trace_call {
	const char *name;
	int nr; /* of the machine that this was compiled for */
	enum trace_word word;
	int path; /* index of the argument that is a path; -1: none */
	int dir; /* of the descriptor that a path which is not absolute begins at; -1: the working directory */
	int flags; /* index of the argument with the flags of open; -1: always notified */
};
extern const struct trace_call trace_calls[];
extern const size_t n_trace_calls;

/* The flags of open with which a file may be changed. */
extern const uint32_t trace_write_flags;

/* Is the call NAME in the table?  The filter refuses it without asking, if at all. */
bool trace_call_is_observed(const char *name);

enum trace_answer {
	TRACE_REFUSE,	       /* EPERM */
	TRACE_REFUSE_LISTENER, /* EBUSY: the command would become the observer of its own calls */
	TRACE_CONTINUE,	       /* the call is made; only for rows of the table */
};

/* NR of architecture ARCH (AUDIT_ARCH_...) under WORDS.  *RET_CALL: the row of a call that continues. */
enum trace_answer trace_decide(uint32_t words, uint32_t arch, int nr, const struct trace_call **ret_call);
int trace_answer_errno(enum trace_answer a); /* 0: continue */

#if defined(__x86_64__)
#define TRACE_ARCH 0xc000003eu
#elif defined(__aarch64__)
#define TRACE_ARCH 0xc00000b7u
#else
#define TRACE_ARCH 0u /* nothing is observed */
#endif
