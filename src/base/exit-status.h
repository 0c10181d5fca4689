/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exit statuses of custody itself. `run` exits with the payload's status. */
enum exit_status {
	STATUS_OK = 0,
	STATUS_NO = 1, /* negative result */
	STATUS_USAGE = 64,
	STATUS_DENIED = 113,
	STATUS_UNAPPROVED = 114,
	STATUS_HALTED = 115,
	STATUS_LANE = 116,
	STATUS_TIMEOUT = 124,
	STATUS_FAILED = 125, /* custody failed; `run`: also usage, setup-failed, lost */
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL_BASE = 128,
};
