/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

/* The one mutable global of this room: set once by main, read by all functions below. */
static struct {
	const char *program;
	enum log_level level;
} config = { "custody", LOG_LEVEL_INFO };

void log_init(const char *program, enum log_level level)
{
	config.program = program;
	config.level = level;
}

bool log_has(enum log_level level)
{
	return level <= config.level;
}

/* One write, so that lines of several processes on one stderr do not mix. */
_printf_(2, 0) static void put_line(enum log_level level, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct strbuf line = { 0 };
	_cleanup_free_ char *text = NULL, *escaped = NULL;

	if (!log_has(level))
		return;
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	escaped = str_escape(text ? text : "a message was lost: out of memory");
	strbuf_puts(&line, config.program);
	strbuf_puts(&line, ": ");
	strbuf_puts(&line, escaped ? escaped : "a message was lost: out of memory");
	strbuf_putc(&line, '\n');
	/* A failed write to stderr cannot be reported. */
	if (!line.broken && fd_write_all(STDERR_FILENO, line.text, line.len, NULL) < 0)
		return;
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(LOG_LEVEL_QUIET, fmt, ap);
	va_end(ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(LOG_LEVEL_VERBOSE, fmt, ap);
	va_end(ap);
}
