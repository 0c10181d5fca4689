/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"

/*
 * Messages on stderr, for main programs only: library code returns a fault instead. One line per call,
 * control characters escaped, prefixed with "PROGRAM: ".
 */
enum log_level {
	LOG_LEVEL_QUIET,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_INFO, /* default */
	LOG_LEVEL_VERBOSE,
};

void log_init(const char *program, enum log_level level);
bool log_has(enum log_level level);
/* Printed at every level: what a caller must know although it asked for quiet. */
void log_notice(const char *fmt, ...) _printf_(1, 2);
void log_error(const char *fmt, ...) _printf_(1, 2);
void log_info(const char *fmt, ...) _printf_(1, 2);
void log_verbose(const char *fmt, ...) _printf_(1, 2);
