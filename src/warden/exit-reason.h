/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Why a session ended.  Zero is the value that nobody may mistake for a normal end. */
enum exit_reason {
	EXIT_REASON_LOST,
	EXIT_REASON_EXITED,
	EXIT_REASON_SIGNALED,
	EXIT_REASON_OOM,
	EXIT_REASON_TIMEOUT,
	EXIT_REASON_PIDS_LIMIT,
	EXIT_REASON_DISK_LIMIT,
	EXIT_REASON_SECCOMP,
	EXIT_REASON_VIOLATION,
	EXIT_REASON_BUDGET,
	EXIT_REASON_INSPECTION,
	EXIT_REASON_DENIED,
	EXIT_REASON_SETUP_FAILED,
	EXIT_REASON_CANCELLED,
	EXIT_REASON_OPERATOR,
	_EXIT_REASON_MAX,
};

const char *exit_reason_name(enum exit_reason r); /* "lost", "exited", "pids-limit" ... */
