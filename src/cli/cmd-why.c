/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/exit-status.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "cli/session-print.h"
#include "cli/trace-summary.h"
#include "session/exit-reason.h"
#include "tty/table.h"

/* Which system calls of a session the filter refused, and what would allow each. */

static const char *err_name(uint64_t err)
{
	return err == EBUSY ? "EBUSY" : "EPERM";
}

/* A missing observation must not look as if nothing had been refused. */
static const char *gap(const struct session_note *n, const struct trace_summary *s)
{
	if (n->container)
		return "Refused calls of an engine's container are not recorded.";
	if (!s->found)
		return "The session's own record no longer exists: refused calls are not known.";
	if (!s->started)
		return "Its system calls were not observed: refused calls are not known. The key audit.trace "
		       "of its "
		       "profile is empty, or the layer seccomp or no-new-privs is off.";
	if (!s->denied_seen)
		return "Refused calls were not observed: audit.trace of its profile has no \"denied\".";
	if (!s->over)
		return n->state == SESSION_RUNNING
			       ? "The session is running: the numbers are those until now."
			       : "Supervisor or observer died: the record may not be complete.";
	return NULL;
}

static void print_table(const struct trace_summary *s)
{
	static const struct table_column columns[] = {
		{ "CALL", 0, false, false },
		{ "ERROR", 0, false, false },
		{ "COUNT", 0, true, false },
		{ "ALLOWED BY", 0, false, false },
	};
	_cleanup_table_ struct table t;

	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	for (size_t i = 0; i < s->n_denied; i++) {
		char count[24];

		(void)snprintf(count, sizeof(count), "%" PRIu64, s->denied[i].count);
		table_put(&t, (const char *const[]){ s->denied[i].call, err_name(s->denied[i].err), count,
						     s->denied[i].allow });
	}
	table_end(&t, NULL);
}

static void print_people(const struct session_note *n, const struct trace_summary *s)
{
	const char *missing = gap(n, s);

	if (s->n_denied)
		print_table(s);
	else if (!s->damaged && (!missing || s->denied_seen))
		printf("No system call of session '%s' was refused.\n", n->session);
	if (str_eq(n->reason, exit_reason_name(EXIT_REASON_SECCOMP)))
		puts("The filter killed a process (\"seccomp\": { \"violation\": \"kill\" }); with \"errno\" "
		     "the call is recorded.");
	if (missing)
		puts(missing);
	if (s->damaged)
		printf("The session's own record is damaged or not its own in %" PRIu64
		       " places: numbers may be wrong, and refused calls missing. "
		       "'custody ledger verify' of its audit.ndjson says where.\n",
		       s->damaged);
	if (s->lost)
		printf("%" PRIu64 " calls are not recorded: there were too many.\n", s->lost);
}

static int print_json(const struct session_note *n, const struct trace_summary *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(d, "session", n->session);
	jdoc_set_string(d, "state", session_state_name(n->state));
	jdoc_set(d, "reason", n->reason ? jdoc_new_string(n->reason) : jdoc_new_null());
	trace_summary_put(s, d);
	return output_print(d, f);
}

int cmd_why(struct command_call *c, struct fault *f)
{
	const struct session_print_ask ask = {
		.verb = "why", .word = c->args[0], .action = "", .fit = SESSION_FIT_ANY
	};
	_cleanup_trace_summary_ struct trace_summary s = { 0 };
	_cleanup_session_note_ struct session_note n = { 0 };
	int status, r;

	r = session_print_find(&c->dirs, &ask, &n, &status, f);
	if (r < 0 || status != STATUS_OK)
		return r < 0 ? r : status;
	r = trace_summary_read(&c->dirs, n.session, &s, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(&n, &s, f);
	print_people(&n, &s);
	return STATUS_OK;
}
