/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-signal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/str.h"

/* RTMIN+1 and RTMAX-1; the bare names as well. */
static int parse_realtime(const char *name)
{
	bool min = strncasecmp(name, "RTMIN", 5) == 0;
	uint64_t n = 0;
	int signal;

	if (!min && strncasecmp(name, "RTMAX", 5) != 0)
		return -1;
	name += 5;
	if (*name && (*name != (min ? '+' : '-') || str_to_u64(name + 1, &n) < 0 || n > _NSIG))
		return -1;
	signal = min ? SIGRTMIN + (int)n : SIGRTMAX - (int)n;
	return signal >= SIGRTMIN && signal <= SIGRTMAX ? signal : -1;
}

static int parse_name(const char *name)
{
	static const struct {
		const char *name;
		int signal;
	} more[] = { { "IOT", SIGIOT }, { "CLD", SIGCHLD }, { "IO", SIGIO }, { "POLL", SIGPOLL } };

	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (strcasecmp(name, more[i].name) == 0)
			return more[i].signal;
	for (int i = 1; i < SIGRTMIN; i++) {
		const char *known = sigabbrev_np(i);

		if (known && strcasecmp(name, known) == 0)
			return i;
	}
	return parse_realtime(name);
}

int runtime_signal_parse(const char *text, int *ret, struct fault *f)
{
	uint64_t n;
	int signal = -1;

	if (str_to_u64(text, &n) < 0)
		signal = parse_name(text);
	else if (n <= (uint64_t)SIGRTMAX)
		signal = (int)n;
	if (signal < 0)
		return fault_set(f, EINVAL,
				 "unknown signal '%s'; a name such as KILL or a number from 0 to %d", text,
				 SIGRTMAX);
	*ret = signal;
	return 0;
}
