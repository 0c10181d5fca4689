/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-export-impl.h"

/*
 * What every kind of record means to a security tool; tests/check-kinds.sh compares it with the sources.  A started or
 * refused command is Process Activity, a decision about a thing is Entity Management, a PIN is Authentication, damage of the
 * ledger itself is a Detection Finding.
 */
#define LAUNCH 1
#define TERMINATE 2
#define CREATE 1
#define READ 2
#define UPDATE 3
#define DELETE 4
#define LOGON 1
#define OTHER ACTIVITY_OTHER

/* clang-format off */
const struct export_kind export_kinds[] = {
	{ "approval.deny",     "Approval denied",              CLASS_ENTITY,  UPDATE,    SEVERITY_LOW,    SEVERITY_LOW,    "approval request", "request" },
	{ "approval.drop",     "Approval request dropped",     CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "approval request", "request" },
	{ "approval.grant",    "Approval granted",             CLASS_ENTITY,  CREATE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "grant",            "grant" },
	{ "approval.request",  "Approval requested",           CLASS_ENTITY,  CREATE,    SEVERITY_INFO,   SEVERITY_LOW,    "approval request", "request" },
	{ "approval.revoke",   "Approval revoked",             CLASS_ENTITY,  DELETE,    SEVERITY_LOW,    SEVERITY_LOW,    "grant",            "grant" },
	{ "clock.back",        "Clock set back",               CLASS_FINDING, CREATE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "container.update",  "Limits of a container changed", CLASS_ENTITY, UPDATE,    SEVERITY_INFO,   SEVERITY_MEDIUM, "container",        NULL },
	{ "credential.add",    "Credential added",             CLASS_ENTITY,  CREATE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "credential",       "name" },
	{ "credential.refused", "Credential refused",          CLASS_API,     OTHER,     SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "credential.rm",     "Credential removed",           CLASS_ENTITY,  DELETE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "credential",       "name" },
	{ "credential.test",   "Credential tested",            CLASS_ENTITY,  READ,      SEVERITY_LOW,    SEVERITY_MEDIUM, "credential",       "name" },
	{ "credential.use",    "Credential used",              CLASS_API,     READ,      SEVERITY_LOW,    SEVERITY_MEDIUM, NULL,               NULL },
	{ "evidence.deliver",  "Evidence delivered",           CLASS_ENTITY,  UPDATE,    SEVERITY_INFO,   SEVERITY_MEDIUM, "evidence",         NULL },
	{ "evidence.pin",      "Evidence pinned",              CLASS_ENTITY,  UPDATE,    SEVERITY_INFO,   SEVERITY_LOW,    "evidence",         NULL },
	{ "evidence.prune",    "Evidence pruned",              CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "evidence",         NULL },
	{ "evidence.restore",  "Evidence restore begun",       CLASS_ENTITY,  OTHER,     SEVERITY_LOW,    SEVERITY_LOW,    "evidence",         NULL },
	{ "evidence.restored", "Evidence restored",            CLASS_ENTITY,  OTHER,     SEVERITY_LOW,    SEVERITY_MEDIUM, "evidence",         NULL },
	{ "evidence.rm",       "Evidence removed",             CLASS_ENTITY,  DELETE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, "evidence",         NULL },
	{ "evidence.unpin",    "Evidence unpinned",            CLASS_ENTITY,  UPDATE,    SEVERITY_LOW,    SEVERITY_LOW,    "evidence",         NULL },
	{ "exec.alive",        "Command still running",        CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "exec.end",          "Command ended",                CLASS_PROCESS, TERMINATE, SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "exec.intent",       "Command allowed",              CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "exec.refused",      "Command refused",              CLASS_PROCESS, LAUNCH,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "exec.start",        "Command started",              CLASS_PROCESS, LAUNCH,    SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "grant.consume",     "Grant used",                   CLASS_ENTITY,  UPDATE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "grant",            "grant" },
	{ "grant.drop",        "Grant dropped",                CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "grant",            "grant" },
	{ "grant.release",     "Grant released unused",        CLASS_ENTITY,  UPDATE,    SEVERITY_INFO,   SEVERITY_LOW,    "grant",            "grant" },
	{ "grant.reserve",     "Grant reserved",               CLASS_ENTITY,  UPDATE,    SEVERITY_INFO,   SEVERITY_LOW,    "grant",            "grant" },
	{ "home.cleared",      "Kept home cleared",            CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "home",             NULL },
	{ "home.expire",       "Kept home expired",            CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "home",             NULL },
	{ "home.reset",        "Kept home reset",              CLASS_ENTITY,  DELETE,    SEVERITY_LOW,    SEVERITY_LOW,    "home",             NULL },
	{ "key.new",           "Approver key created",         CLASS_ENTITY,  CREATE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, "approver key",     "key_id" },
	{ "lane.override",     "Production lane entered",      CLASS_ENTITY,  OTHER,     SEVERITY_MEDIUM, SEVERITY_MEDIUM, "lane",             NULL },
	{ "lane.refused",      "Production lane refused",      CLASS_ENTITY,  OTHER,     SEVERITY_HIGH,   SEVERITY_HIGH,   "lane",             NULL },
	{ "ledger.key",        "Ledger signing key replaced",  CLASS_ENTITY,  UPDATE,    SEVERITY_HIGH,   SEVERITY_HIGH,   "ledger",           "public" },
	{ "ledger.open",       "Ledger created",               CLASS_ENTITY,  CREATE,    SEVERITY_LOW,    SEVERITY_LOW,    "ledger",           "public" },
	{ "ledger.recovered",  "Ledger end recovered",         CLASS_FINDING, CREATE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "ledger.rotate",     "Ledger segment completed",     CLASS_ENTITY,  UPDATE,    SEVERITY_INFO,   SEVERITY_INFO,   "ledger",           NULL },
	{ "net.close",         "Connection ended",             CLASS_API,     OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "net.connect",       "Connected to a host",          CLASS_API,     OTHER,     SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "net.failed",        "Host not reached",             CLASS_API,     OTHER,     SEVERITY_LOW,    SEVERITY_LOW,    NULL,               NULL },
	{ "net.refused",       "Connection refused",           CLASS_API,     OTHER,     SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "operator.stop",     "Session stopped by a person",  CLASS_PROCESS, TERMINATE, SEVERITY_LOW,    SEVERITY_LOW,    NULL,               NULL },
	{ "pin.result",        "PIN checked",                  CLASS_AUTHENTICATION, LOGON, SEVERITY_INFO, SEVERITY_HIGH,  NULL,               NULL },
	{ "pin.set",           "PIN set",                      CLASS_ENTITY,  UPDATE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, "PIN",              "key_id" },
	{ "pin.try",           "PIN tried",                    CLASS_AUTHENTICATION, OTHER, SEVERITY_INFO, SEVERITY_HIGH,  NULL,               NULL },
	{ "review.applied",    "Changes applied",              CLASS_ENTITY,  UPDATE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "worktree",         NULL },
	{ "review.apply",      "Application of changes begun", CLASS_ENTITY,  UPDATE,    SEVERITY_LOW,    SEVERITY_MEDIUM, "worktree",         NULL },
	{ "review.ask",        "Deletions asked for",          CLASS_ENTITY,  OTHER,     SEVERITY_LOW,    SEVERITY_MEDIUM, "worktree",         NULL },
	{ "review.discard",    "Changes discarded",            CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "kept changes",     NULL },
	{ "review.expire",     "Kept changes expired",         CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "kept changes",     NULL },
	{ "sandbox.cleared",   "Sandbox root cleared",         CLASS_ENTITY,  DELETE,    SEVERITY_INFO,   SEVERITY_LOW,    "sandbox root",     NULL },
	{ "sandbox.reset",     "Sandbox root reset",           CLASS_ENTITY,  DELETE,    SEVERITY_LOW,    SEVERITY_LOW,    "sandbox root",     NULL },
	{ "seal.gap",          "Ledger records lost",          CLASS_FINDING, CREATE,    SEVERITY_HIGH,   SEVERITY_HIGH,   NULL,               NULL },
	{ "seal.new",          "Ledger seal replaced",         CLASS_FINDING, CREATE,    SEVERITY_HIGH,   SEVERITY_HIGH,   NULL,               NULL },
	{ "session.alive",     "Session still running",        CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "session.end",       "Session ended",                CLASS_PROCESS, TERMINATE, SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "session.exec",      "Command joined the session",   CLASS_PROCESS, LAUNCH,    SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "session.exec.end",  "Command left the session",     CLASS_PROCESS, TERMINATE, SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "session.intent",    "Session allowed",              CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "session.refused",   "Session refused",              CLASS_PROCESS, LAUNCH,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "session.start",     "Session started",              CLASS_PROCESS, LAUNCH,    SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "state.migrate",     "State directory migrated",     CLASS_ENTITY,  UPDATE,    SEVERITY_MEDIUM, SEVERITY_MEDIUM, "state",            NULL },
	{ "tool.call",         "Tool called",                  CLASS_API,     OTHER,     SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "tool.refused",      "Tool call refused",            CLASS_API,     OTHER,     SEVERITY_MEDIUM, SEVERITY_MEDIUM, NULL,               NULL },
	{ "tool.result",       "Tool call ended",              CLASS_API,     OTHER,     SEVERITY_INFO,   SEVERITY_MEDIUM, NULL,               NULL },
	{ "trace.connect",     "Connection observed",          CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "trace.denied",      "System call denied",           CLASS_PROCESS, OTHER,     SEVERITY_LOW,    SEVERITY_LOW,    NULL,               NULL },
	{ "trace.end",         "Observation ended",            CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "trace.exec",        "Program execution observed",   CLASS_PROCESS, LAUNCH,    SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "trace.start",       "Observation started",          CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ "trace.write",       "File opened for writing",      CLASS_PROCESS, OTHER,     SEVERITY_INFO,   SEVERITY_INFO,   NULL,               NULL },
	{ NULL,                NULL,                           CLASS_BASE,    OTHER,     SEVERITY_LOW,    SEVERITY_MEDIUM, NULL,               NULL },
};
/* clang-format on */

const struct export_kind *export_kind_of(const struct record *r)
{
	const struct export_kind *k = export_kinds;

	while (k->kind && !record_kind_is(r, k->kind))
		k++;
	return k;
}

static bool status_is_of(const struct record *r, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_is(r->status, words[i]))
			return true;
	return false;
}

enum export_outcome export_outcome_of(const struct record *r)
{
	static const char *const done[] = { "ok", "approved" };
	static const char *const failed[] = { "abnormal", "denied",  "failed",	  "locked",
					      "lost",	  "refused", "unapproved" };

	if (status_is_of(r, done, ARRAY_SIZE(done)))
		return OUTCOME_SUCCESS;
	return status_is_of(r, failed, ARRAY_SIZE(failed)) ? OUTCOME_FAILURE : OUTCOME_OTHER;
}

enum export_severity export_severity_of(const struct export_kind *k, enum export_outcome o)
{
	return o == OUTCOME_FAILURE ? k->failed : k->done;
}
