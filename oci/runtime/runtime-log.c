/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"

/* clang-format off */
static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LEVEL_ERROR]   = { "error",   LOG_ERR },
	[LEVEL_WARNING] = { "warning", LOG_WARNING },
	[LEVEL_INFO]    = { "info",    LOG_INFO },
	[LEVEL_DEBUG]   = { "debug",   LOG_DEBUG },
};
/* clang-format on */

static int set_level(const char *name, enum runtime_level *ret, struct fault *f)
{
	*ret = LEVEL_ERROR;
	if (!name)
		return 0;
	for (int i = LEVEL_ERROR; i <= LEVEL_DEBUG; i++) {
		if (str_eq(name, levels[i].name) || (i == LEVEL_WARNING && str_eq(name, "warn"))) {
			*ret = i;
			return 0;
		}
	}
	return fault_set(f, EINVAL, "unknown --log-level '%s'; one of error, warning, info, debug", name);
}

static int set_format(const char *name, bool *ret, struct fault *f)
{
	*ret = str_eq(name, "json");
	if (!name || *ret || str_eq(name, "text"))
		return 0;
	return fault_set(f, EINVAL, "unknown --log-format '%s'; text or json", name);
}

static int open_journal(int *ret, struct fault *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket" };
	_cleanup_close_ int fd = -EBADF;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fault_errno(f, errno, "--log journald: socket");
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return fault_errno(f, errno, "--log journald: connect to '%s'", sa.sun_path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int open_target(const char *target, struct runtime_log *log, struct fault *f)
{
	if (str_starts(target, "journald:"))
		return open_journal(&log->journal, f);
	if (str_starts(target, "syslog:")) {
		log->syslog = target + strlen("syslog:");
		return 0;
	}
	if (str_starts(target, "file:"))
		target += strlen("file:");
	/* O_RDWR, so that a FIFO without a reader yet opens at once and keeps the data. */
	log->fd = open(target, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	if (log->fd < 0 && errno == EACCES)
		log->fd = open(target, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	if (log->fd < 0)
		return fault_errno(f, errno, "open --log '%s'", target);
	return 0;
}

int runtime_log_open(const char *target, const char *format, const char *level, struct runtime_log *ret,
		     struct fault *f)
{
	int r, bad;

	*ret = RUNTIME_LOG_NONE;
	/* Try all three: an unknown level must still be reported to the named log. */
	bad = set_level(level, &ret->level, f);
	r = set_format(format, &ret->json, f);
	bad = r < 0 ? r : bad;
	r = target && *target ? open_target(target, ret, f) : 0;
	return r < 0 ? r : bad;
}

void runtime_log_done(struct runtime_log *log)
{
	log->fd = fd_close(log->fd);
	log->journal = fd_close(log->journal);
}

/* "No such file or directory" as Go spells it; texts that begin with several capitals ("RFS ...") are unchanged. */
static void add_errno(struct strbuf *b, int err)
{
	const char *text = strerror(err);

	strbuf_puts(b, ": ");
	strbuf_putc(b, islower((unsigned char)text[1]) ? (char)tolower((unsigned char)text[0]) : text[0]);
	strbuf_puts(b, text + 1);
}

static void write_file(const struct runtime_log *log, enum runtime_level level, const char *text)
{
	_cleanup_strbuf_ struct strbuf line = { 0 };
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_wall_us(), now);
	if (log->json) {
		strbuf_printf(&line, "{\"level\":\"%s\",\"msg\":", levels[level].name);
		jdoc_quote(&line, text);
		strbuf_printf(&line, ",\"time\":\"%s\"}\n", now);
	} else {
		strbuf_printf(&line, "time=\"%s\" level=%s msg=", now, levels[level].name);
		jdoc_quote(&line, text);
		strbuf_putc(&line, '\n');
	}
	if (!line.broken)
		(void)!fd_write_all(log->fd, line.text, line.len, NULL);
}

/* The journal's native protocol: one datagram of NAME=value lines, so values must not contain a line feed. */
static void write_journal(const struct runtime_log *log, enum runtime_level level, const char *text)
{
	_cleanup_strbuf_ struct strbuf m = { 0 };

	strbuf_printf(&m, "PRIORITY=%d\nSYSLOG_IDENTIFIER=custody-runtime\nID=%s\nMESSAGE=",
		      levels[level].priority, log->name ? log->name : "");
	for (const char *c = text; *c; c++)
		strbuf_putc(&m, *c == '\n' ? ' ' : *c);
	strbuf_putc(&m, '\n');
	if (!m.broken)
		(void)send(log->journal, m.text, m.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void write_stderr(const char *text)
{
	_cleanup_free_ char *safe = str_escape(text);

	/* One write: conmon and shims read stderr as lines. */
	(void)dprintf(STDERR_FILENO, "custody-runtime: %s\n", safe ? safe : "out of memory");
}

static void write_all(const struct runtime_log *log, enum runtime_level level, const char *text)
{
	write_stderr(text);
	if (log->fd >= 0)
		write_file(log, level, text);
	if (log->journal >= 0)
		write_journal(log, level, text);
	if (log->syslog) {
		openlog(*log->syslog ? log->syslog : "custody-runtime", 0, LOG_USER);
		syslog(levels[level].priority, "%s", text);
		closelog();
	}
}

void runtime_log_write(const struct runtime_log *log, enum runtime_level level, int err, const char *text)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (level > log->level)
		return;
	strbuf_puts(&b, text);
	if (err)
		add_errno(&b, err);
	write_all(log, level, b.broken ? text : b.text);
}

void runtime_log_fault(const struct runtime_log *log, const struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *text = fault_text(f), *tail = strerror(f->code);

	/* A fault from an errno ends with its text: change only that part, never names from the user. */
	if (str_ends(text, tail) && strlen(text) > strlen(tail) + 2) {
		strbuf_add(&b, text, strlen(text) - strlen(tail) - 2);
		add_errno(&b, f->code);
	}
	write_all(log, LEVEL_ERROR, b.text && !b.broken ? b.text : text);
}
