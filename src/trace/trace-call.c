/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace-call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"

static const struct {
	const char *name;
	enum trace_word word;
} words[] = {
	{ "exec", TRACE_EXEC },
	{ "denied", TRACE_DENIED },
	{ "write", TRACE_WRITE },
	{ "connect", TRACE_CONNECT },
};

/* clang-format off */
const struct trace_call trace_calls[] = {
	{ "execve",   SYS_execve,   TRACE_EXEC,    .path = 0, .dir = -1,  .flags = -1 },
	{ "execveat", SYS_execveat, TRACE_EXEC,    .path = 1, .dir = 0,  .flags = -1 },
	{ "connect",  SYS_connect,  TRACE_CONNECT, .path = -1, .dir = -1, .flags = -1 },
	{ "openat",   SYS_openat,   TRACE_WRITE,   .path = 1, .dir = 0,  .flags = 2 },
	{ "openat2",  SYS_openat2,  TRACE_WRITE,   .path = 1, .dir = 0,  .flags = -1 },
#ifdef SYS_open
	{ "open",     SYS_open,     TRACE_WRITE,   .path = 0, .dir = -1,  .flags = 1 },
	{ "creat",    SYS_creat,    TRACE_WRITE,   .path = 0, .dir = -1,  .flags = -1 },
#endif
};
/* clang-format on */
const size_t n_trace_calls = ARRAY_SIZE(trace_calls);
const uint32_t trace_write_flags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

uint32_t trace_word_parse(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i].name, word) == 0)
			return words[i].word;
	return 0;
}

uint32_t trace_words_parse(char *const *list)
{
	uint32_t all = 0;

	for (; list && *list; list++)
		all |= trace_word_parse(*list);
	return all;
}

bool trace_call_is_observed(const char *name)
{
	for (size_t i = 0; i < n_trace_calls; i++)
		if (strcmp(trace_calls[i].name, name) == 0)
			return true;
	/* Names of other machines, whose programs can be compiled here as well. */
	return strcmp(name, "open") == 0 || strcmp(name, "creat") == 0;
}

enum trace_answer trace_decide(uint32_t asked, uint32_t arch, int nr, const struct trace_call **ret_call)
{
	if (arch != TRACE_ARCH)
		return TRACE_REFUSE;
	if (nr == SYS_seccomp)
		return TRACE_REFUSE_LISTENER;
	for (size_t i = 0; i < n_trace_calls; i++) {
		if (trace_calls[i].nr != nr || !(asked & trace_calls[i].word))
			continue;
		*ret_call = &trace_calls[i];
		return TRACE_CONTINUE;
	}
	return TRACE_REFUSE;
}

int trace_answer_errno(enum trace_answer a)
{
	switch (a) {
	case TRACE_CONTINUE:
		return 0;
	case TRACE_REFUSE_LISTENER:
		return EBUSY;
	case TRACE_REFUSE:
		break;
	}
	return EPERM;
}
