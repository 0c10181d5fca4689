/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run-notice.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
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
	char count[48];
	const char *s;

	put_session(&session, o, res);
	if (session.broken)
		return;
	s = session.text ? session.text : "";
	if (n)
		(void)snprintf(count, sizeof(count), "%llu file%s", n, n == 1 ? "" : "s");
	log_info(
		"%s changed in a copy. See: custody diff%s   Keep: custody apply%s   Drop: custody discard%s",
		n ? count : "only directories", s, s, s);
}

void run_notice_print(const struct run_options *o, const struct run_result *res)
{
	if (is_wanted(o) && res->kept)
		print_changes(o, res);
}
