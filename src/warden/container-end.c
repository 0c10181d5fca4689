/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "container/container-evidence.h"
#include "container/container-note.h"
#include "evidence/delivery.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-scope.h"
#include "session/session-end.h"
#include "warden/container-watch.h"
#include "base/pidfd-status.h"
#include "warden/warden-exit.h"

#define NS_PER_MS UINT64_C(1000000)

/* A pid 1 that was killed, or whose payload was: init exits with the same status for both. */
static bool is_killed(const struct exit_facts *facts)
{
	const int killed = STATUS_SIGNAL_BASE + SIGKILL, status = facts->init_status;

	return facts->ended &&
	       (WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == killed);
}

static struct exit_verdict decide(struct container_watch *w)
{
	struct exit_facts facts = { .foreign = true,
				    .denied = w->denied && strcmp(w->refused, "approval") == 0,
				    .violated = w->violated,
				    .side_lost = w->broker.lost,
				    .over_budget = w->broker.over_budget,
				    .inspection_failed = w->broker.inspected,
				    .setup_failed = !w->started || w->unreleased,
				    .init_source = EXIT_SOURCE_PIDFD };

	facts.ended = pidfd_end_status(WARDEN_PIDFD, &facts.init_status);
	if (!facts.ended && w->end_seen) {
		facts.ended = true;
		facts.init_status = w->end_status;
		facts.init_source = w->end_source;
	}
	if (w->started && oom_watch_decide(&w->oom, is_killed(&facts)))
		facts.counters.oom_kills = 1;
	if (w->started)
		facts.counters.pids_refused = pids_watch_read(&w->pids);
	return exit_decide(&facts);
}

static int take_evidence(const struct container_watch *w, const struct exit_verdict *v,
			 const struct ledger_end *end, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	struct container_case c = { .dirs = &w->dirs,
				    .config = w->config,
				    .info = &d,
				    .session = w->request.session,
				    .end = end,
				    .started_us = w->began_us,
				    .tree = w->held.tree,
				    .upper = w->held.upper,
				    .why = w->request.kind == WARDEN_ENGINE
						   ? "the worktree could not be opened at create"
						   : "custody-hook did not pass the worktree descriptors" };
	struct profile p = { 0 };
	int r;

	r = container_info_read(WARDEN_SESSION, &d, f);
	if (r < 0)
		return r;
	p.sections[PROFILE_SECTION_FORENSICS] = d.forensics;
	c.scope = evidence_scope_decide_shell(&p, v);
	return c.scope == EVIDENCE_SCOPE_NONE ? 0 : container_evidence_capture(&c, ret, f);
}

static const char *explain_unstarted(const struct container_watch *w)
{
	if (w->denied)
		return fault_text(&w->why);
	if (w->gate.used)
		return "custody-init exited before the command: a layer is missing, or it was killed; its "
		       "stderr has the "
		       "reason";
	if (w->request.init && w->held.tree < 0)
		return "custody-hook did not pass the worktree descriptors";
	return "the container was never started";
}

/* The payload never ran, or it did: a refusal, or an end. */
static int record(struct container_watch *w, const struct ledger_end *end, struct fault *f)
{
	struct decision *d = &w->decision;
	int r;

	if (w->started)
		return decision_end(d, end, f);
	r = decision_release(d, end->reason, f);
	d->refused = w->denied ? w->refused : end->reason;
	return r < 0 ? r : decision_refuse(d, explain_unstarted(w), f);
}

static int write_exit(const struct container_watch *w, const struct ledger_end *end, struct fault *f)
{
	return warden_exit_write(&(struct warden_exit){ .end = end,
							.session = w->request.session,
							.container = w->request.container },
				 f);
}

/* exit.json is last: its reader finds the end in the ledger. */
int container_end_record(struct container_watch *w, struct fault *f)
{
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	const struct exit_verdict v = decide(w);
	struct ledger_end end =
		session_end_of(&v, w->started ? (clock_boot_ns() - w->began_ns) / NS_PER_MS : 0);
	int r;

	if (w->started && v.abnormal && take_evidence(w, &v, &end, &taken, &why) < 0)
		end.evidence_error = fault_text(&why);
	if (taken.path)
		evidence_ledger_end(&taken, &end);
	container_note_end(&w->dirs, w->request.session, &end);
	r = record(w, &end, f);
	if (r < 0)
		return r;
	/* The backup has nothing left to record. */
	warden_backup_end(&w->backup);
	if (taken.staged)
		delivery_kick(&w->dirs, w->config);
	r = write_exit(w, &end, f);
	if (r >= 0)
		warden_exit_clean(&w->dirs, w->request.session);
	return r;
}
