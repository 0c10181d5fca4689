/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-end.h"

#include "base/exit-status.h"

struct ledger_end session_end_of(const struct exit_verdict *v, uint64_t wall_ms)
{
	return (struct ledger_end){
		.reason = exit_reason_name(v->reason),
		.source = exit_source_name(v->source),
		.code = v->code,
		.signal = v->signal,
		.abnormal = v->abnormal,
		.wall_ms = wall_ms,
	};
}

struct ledger_end session_end_lost(enum exit_source source)
{
	const struct exit_verdict lost = {
		.reason = EXIT_REASON_LOST, .source = source, .code = STATUS_FAILED, .abnormal = true
	};

	return session_end_of(&lost, 0);
}
