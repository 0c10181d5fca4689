/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/sys-call.h"
#include "layer/inherit-table.h"

/*
 * Rules of this file: custody-init has no C library and shares it, so it uses system calls, memcpy, strlen, strchr and
 * strncmp only. A value that cannot be read is not as required.
 */

#define TIMER_SLACK_NS 50000 /* what the kernel gives to its first process */
#define UMASK_DEFAULT 022
/*
 * Signals that wait count in the namespaces above as well, up to the caller: when the caller's limit is reached the kernel
 * drops the values of signals to its other processes, the supervisor among them.
 */
#define SIGNALS_MAX 1024
#define NICE_RAW_NORMAL 20 /* getpriority returns 20 - nice */

#define IO_CLASS(value) ((value) >> 13)

static long read_small(const char *path, char *text, size_t room)
{
	long fd, n;

	fd = SYS(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	n = SYS(read, fd, text, room - 1);
	(void)SYS(close, fd);
	if (n < 0)
		return n;
	text[n] = '\0';
	return n;
}

static bool is_real_time(long policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

static long oom_score(void)
{
	char text[16];
	long n = read_small("/proc/self/oom_score_adj", text, sizeof(text)), value = 0;

	if (n <= 0)
		return -1;
	for (const char *c = text + (text[0] == '-'); *c >= '0' && *c <= '9'; c++)
		value = value * 10 + (*c - '0');
	return text[0] == '-' ? -value : value;
}

static void reset_oom(void)
{
	long fd;

	if (oom_score() >= 0)
		return;
	fd = SYS(openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)SYS(write, fd, "0\n", 2);
	(void)SYS(close, fd);
}

static void lower(int resource, uint64_t most)
{
	const struct rlimit limit = { most, most };
	struct rlimit now;

	if (SYS(prlimit64, 0, resource, NULL, &now) == 0 && now.rlim_max > most)
		(void)SYS(prlimit64, 0, resource, &limit, NULL);
}

void inherit_reset(void)
{
	const struct sched_param normal = { 0 };

	if (is_real_time(SYS(sched_getscheduler, 0)))
		(void)SYS(sched_setscheduler, 0, SCHED_OTHER, &normal);
	if (SYS(getpriority, PRIO_PROCESS, 0) > NICE_RAW_NORMAL)
		(void)SYS(setpriority, PRIO_PROCESS, 0, 0);
	if (IO_CLASS(SYS(ioprio_get, IOPRIO_WHO_PROCESS, 0)) == IOPRIO_CLASS_RT)
		(void)SYS(ioprio_set, IOPRIO_WHO_PROCESS, 0, 0);
	lower(RLIMIT_NICE, 0);
	lower(RLIMIT_RTPRIO, 0);
	lower(RLIMIT_SIGPENDING, SIGNALS_MAX);
	/* After the class: a real-time process has no slack. */
	if (SYS(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0) != TIMER_SLACK_NS)
		(void)SYS(prctl, PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	if (SYS(personality, 0xffffffffUL) != 0)
		(void)SYS(personality, 0);
	reset_oom();
}

/* The text behind KEY in /proc/self/status, without the blank; NULL if there is no such line. */
static const char *find_field(const char *status, const char *key)
{
	const size_t n = strlen(key);

	for (const char *at = status; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, n) != 0)
			continue;
		for (at += n; *at == '\t' || *at == ' '; at++)
			;
		return at;
	}
	return NULL;
}

static unsigned long take_number(const char **at, unsigned int base)
{
	unsigned long v = 0;

	for (;; (*at)++) {
		unsigned int d = **at >= '0' && **at <= '9'   ? (unsigned int)(**at - '0')
				 : **at >= 'a' && **at <= 'f' ? (unsigned int)(**at - 'a') + 10
							      : base;

		if (d >= base)
			return v;
		v = v * base + d;
	}
}

static const char *check_number(const char *status, const char *key, unsigned int base, unsigned long want,
				const char *wrong, long long *ret_value)
{
	const char *at = find_field(status, key);

	*ret_value = -1;
	if (at)
		*ret_value = (long long)take_number(&at, base);
	return *ret_value == (long long)want ? NULL : wrong;
}

/* "0\t0\t0\t0": real, effective, saved, file system. */
static bool are_equal(const char *at)
{
	unsigned long first = 0;

	for (int i = 0; i < 4; i++) {
		unsigned long id;

		if (!at || *at < '0' || *at > '9')
			return false;
		id = take_number(&at, 10);
		if (i == 0)
			first = id;
		if (id != first)
			return false;
		while (*at == '\t' || *at == ' ')
			at++;
	}
	return true;
}

static const char *check_groups(const char *status, long long *ret_value)
{
	const char *at = find_field(status, "Groups:");
	char text[8] = "";

	*ret_value = -1;
	if (at && *at == '\n')
		return NULL;
	if (at)
		*ret_value = (long long)take_number(&at, 10);
	/* Where the kernel denies setgroups no process could have dropped them. */
	if (at && read_small("/proc/self/setgroups", text, sizeof(text)) > 0 && strncmp(text, "deny", 4) == 0)
		return NULL;
	return "supplementary group";
}

static bool limit_is(int resource, uint64_t least, uint64_t most)
{
	struct rlimit now;

	return SYS(prlimit64, 0, resource, NULL, &now) == 0 && now.rlim_max >= least && now.rlim_max <= most;
}

static const char *check_limits(const struct inherit_asked *asked, long long *ret_value)
{
	const struct {
		int resource;
		bool asked;
		uint64_t least, most;
	} limits[] = {
		{ RLIMIT_CORE, true, 0, 0 },
		{ RLIMIT_NICE, true, 0, 0 },
		{ RLIMIT_RTPRIO, true, 0, 0 },
		{ RLIMIT_SIGPENDING, true, 0, SIGNALS_MAX },
		{ RLIMIT_NOFILE, asked->files != 0, asked->files, asked->files },
		{ RLIMIT_FSIZE, asked->file_size != 0, asked->file_size, asked->file_size },
	};

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		*ret_value = limits[i].resource;
		if (limits[i].asked && !limit_is(limits[i].resource, limits[i].least, limits[i].most))
			return "not as required: resource limit number";
	}
	return NULL;
}

static const char *check_value(long value, long lowest, long highest, const char *wrong, long long *ret_value)
{
	*ret_value = value;
	return value >= lowest && value <= highest ? NULL : wrong;
}

static const char *check_scheduling(long long *ret_value)
{
	long policy = SYS(sched_getscheduler, 0);

	*ret_value = policy;
	return policy >= 0 && !is_real_time(policy) ? NULL : "scheduling class";
}

static const char *check_io_priority(long long *ret_value)
{
	long value = SYS(ioprio_get, IOPRIO_WHO_PROCESS, 0);

	*ret_value = value;
	return value >= 0 && IO_CLASS(value) != IOPRIO_CLASS_RT ? NULL : "I/O priority";
}

static const char *check_mask(const char *wrong, long long *ret_value)
{
	uint64_t now = ~0ULL;
	long r = SYS(rt_sigprocmask, SIG_SETMASK, NULL, &now, sizeof(now));

	*ret_value = r < 0 ? r : (long long)now;
	return r == 0 && now == 0 ? NULL : wrong;
}

static const char *check_timers(long long *ret_value)
{
	static const int timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };

	for (unsigned int i = 0; i < sizeof(timers) / sizeof(*timers); i++) {
		struct itimerval now;

		*ret_value = timers[i];
		if (SYS(getitimer, timers[i], &now) < 0 || now.it_value.tv_sec != 0 ||
		    now.it_value.tv_usec != 0)
			return "interval timer number";
	}
	return NULL;
}

static const char *check_death_signal(int want, long long *ret_value)
{
	int now = -1;
	long r = SYS(prctl, PR_GET_PDEATHSIG, &now, 0, 0, 0);

	return check_value(r < 0 ? r : now, want, want, "parent-death signal", ret_value);
}

const char *inherit_check(enum inherit i, const char *status, const struct inherit_asked *asked,
			  long long *ret_value)
{
	*ret_value = 0;
	switch ((unsigned int)i) {
	case INHERIT_UMASK:
		return check_number(status, "Umask:", 8, UMASK_DEFAULT, "umask", ret_value);
	case INHERIT_SIGNAL_ACTIONS:
		return check_number(status, "SigIgn:", 16, 0, "ignored signals", ret_value);
	case INHERIT_SIGNAL_MASK:
		return check_mask("signal mask", ret_value);
	case INHERIT_PENDING:
		return check_mask("signals may wait, signal mask", ret_value);
	case INHERIT_TIMERS:
		return check_timers(ret_value);
	case INHERIT_PDEATHSIG:
		return check_death_signal(asked->death_signal, ret_value);
	case INHERIT_DUMPABLE:
		return check_value(SYS(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0), asked->dumpable, asked->dumpable,
				   "dumpable", ret_value);
	case INHERIT_IDS:
		return are_equal(find_field(status, "Uid:")) && are_equal(find_field(status, "Gid:"))
			       ? NULL
			       : "real, effective and saved ids differ";
	case INHERIT_GROUPS:
		return check_groups(status, ret_value);
	case INHERIT_SECUREBITS:
		return check_value(SYS(prctl, PR_GET_SECUREBITS, 0, 0, 0, 0), 0, 0, "securebits", ret_value);
	case INHERIT_RLIMITS:
		return check_limits(asked, ret_value);
	case INHERIT_NICE:
		return check_value(NICE_RAW_NORMAL - SYS(getpriority, PRIO_PROCESS, 0), 0, 19, "nice value",
				   ret_value);
	case INHERIT_SCHEDULING:
		return check_scheduling(ret_value);
	case INHERIT_IO_PRIORITY:
		return check_io_priority(ret_value);
	case INHERIT_TIMER_SLACK:
		return check_value(SYS(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0), TIMER_SLACK_NS, TIMER_SLACK_NS,
				   "timer slack", ret_value);
	case INHERIT_OOM:
		return check_value(oom_score(), 0, 1000, "oom_score_adj", ret_value);
	case INHERIT_PERSONALITY:
		return check_value(SYS(personality, 0xffffffffUL), 0, 0, "personality", ret_value);
	default:
		return "no check for this attribute";
	}
}
