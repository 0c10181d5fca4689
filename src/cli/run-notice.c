/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run-notice.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "session/session-here.h"

static bool is_wanted(const struct run_options *o)
{
	return !o->json && !o->detach && log_has(LOG_LEVEL_INFO) && isatty(STDERR_FILENO);
}

/* Arguments that name the session: none where it is the newest of the current directory. */
static void put_session(struct strbuf *b, const struct run_options *o, const struct run_result *res)
{
	_cleanup_session_here_ struct session_here here = { 0 };

	if (o->lane && res->lane)
		strbuf_printf(b, " --lane %s", res->lane);
	if (session_here_load(&here, NULL) < 0 || !session_here_has_path(&here, res->worktree))
		strbuf_printf(b, " %s", res->session);
}

static void print_changes(const struct run_options *o, const struct run_result *res)
{
	_cleanup_strbuf_ struct strbuf session = { 0 };
	const unsigned long long n = res->kept_files;
	char count[48], size[UNIT_TEXT_SIZE];
	const char *s;

	put_session(&session, o, res);
	if (session.broken)
		return;
	s = session.text ? session.text : "";
	if (n)
		(void)snprintf(count, sizeof(count), "%llu file%s", n, n == 1 ? "" : "s");
	log_info("%s changed in a copy (%s). See: custody diff%s   Keep: custody apply%s   Drop: custody "
		 "discard%s",
		 n ? count : "only directories", unit_text_bytes(res->kept_bytes, size), s, s, s);
}

/* Many programs exit with a status other than 0 in normal use: only people are told.  Other exits are in the log. */
static void print_evidence(const struct run_result *res)
{
	char size[UNIT_TEXT_SIZE];

	log_info("evidence of status %d kept (%s%s). See: custody evidence show %s", res->exit.code,
		 unit_text_bytes(res->evidence_bytes, size),
		 res->evidence_shared ? ", shared with the copy" : "", res->session);
}

void run_notice_print(const struct run_options *o, const struct run_result *res)
{
	if (!is_wanted(o))
		return;
	if (res->kept)
		print_changes(o, res);
	if (res->evidence && res->exit.reason == EXIT_REASON_EXITED)
		print_evidence(res);
}
