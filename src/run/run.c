/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "evidence/delivery.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "run/run-broker.h"
#include "run/run-detach.h"
#include "run/run-egress.h"
#include "run/run-ids.h"
#include "run/run-impl.h"
#include "subject/subject-program.h"
#include "warden/warden.h"
#include "worktree/overlay-server.h"

/*
 * The order of a run is the function run_session, at the end of this file: one call per step.  A step that returns a
 * negative errno is a refusal; run->decision has its name and status.
 */

void run_free(struct run *r)
{
	if (!r)
		return;
	session_done(&r->session);
	run_ledger_done(&r->ledger);
	decision_done(&r->decision);
	run_plan_done(&r->plan);
	session_note_done(&r->note);
	strv_free(r->shown);
	free(r->remedy);
	free(r);
}

int run_new(const struct run_options *o, struct run **ret, struct fault *f)
{
	_cleanup_run_ struct run *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return fault_errno(f, ENOMEM, "run");
	r->options = o;
	r->decision = DECISION_NONE;
	r->decision.dirs = &r->plan.dirs;
	r->ledger.decision = &r->decision;
	r->session.run_fd = r->session.ids_fd = -EBADF;
	e = clock_session_id(r->id, f);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

/* Redaction rules of the configuration and, once it is loaded, the profile: before anything is recorded. */
static int redact(struct run *run, struct fault *f)
{
	_cleanup_strv_ char **flags = NULL;
	int r = config_redact_flags(run->plan.profile, &flags, f);

	return r < 0 ? r : decision_redact(&run->decision, flags, f);
}

/* As far as it is known before the profile is loaded. */
static const char *asked_profile(const struct run *run)
{
	if (run->options->profile)
		return run->options->profile;
	return run->plan.config ? run->plan.config->profile : NULL;
}

static void name_records(struct run *run)
{
	const struct run_options *o = run->options;
	const struct run_plan *d = &run->plan;

	run->decision.config = d->config;
	run->decision.run = (struct ledger_run){
		.action = o->canary ? "doctor" : "run",
		.session = run->id,
		.agent = o->agent,
		.worker = o->worker,
		.issue = o->issue,
		.lane = d->config ? lane_name(d->dirs.lane) : o->lane,
		.profile = asked_profile(run),
		.argv = o->argv,
		.sandbox = true,
	};
}

int run_locate(struct run *run, struct fault *f)
{
	int r;

	r = run_plan_place(run->options, &run->plan, f);
	if (r < 0 && !run->plan.dirs.state)
		return r;
	name_records(run);
	run->decision.refused = run->plan.refused;
	if (redact(run, r < 0 ? NULL : f) < 0) {
		run->decision.refused = NULL; /* no record rather than one with secrets */
		return r < 0 ? r : -ENOMEM;
	}
	return r;
}

int run_enter(struct run *run, struct fault *f)
{
	const struct lane_ask ask = {
		.lane = run->plan.dirs.lane,
		.allow_prod = run->options->allow_prod,
		.allow_env = getenv(LANE_ALLOW_ENV),
		.program = program_invocation_name,
		.argv = run->options->words,
	};

	return decision_enter(&run->decision, &ask, f);
}

/* The payload will be the host's root: then our executable must be out of its reach. */
static int require_no_userns_allowed(const struct run *run, struct fault *f)
{
	const struct run_options *o = run->options;

	if (run->plan.dirs.rootless)
		return fault_set(
			f, EPERM,
			"a user cannot run without a user namespace: take 'no-user-namespace' out of "
			"the profile's 'dangerous'");
	if (o->dry_run)
		return 0;
	/* The private copy is executed like any program: --status-fd must stay open in it. */
	if (o->status_fd > STDERR_FILENO && fcntl(o->status_fd, F_SETFD, 0) < 0)
		return fault_errno(f, errno, "--status-fd %d", o->status_fd);
	return adapter_ops.guard(f);
}

static int require_supported(struct run *run, struct fault *f)
{
	const struct run_options *o = run->options;
	const struct run_plan *d = &run->plan;

	run->decision.refused = REFUSED_UNSUPPORTED;
	/* A shell on a pty without a terminal on the other side would wait forever. */
	if (o->interactive && !o->dry_run && !isatty(o->stdio[STDIN_FILENO]))
		return fault_set(f, ENOTTY, "stdin is not a terminal; for a script: custody run -- sh FILE");
	if (!d->profile->process_init)
		return fault_set(f, ENOTSUP,
				 "profile '%s': process.init is false, but 'custody run' proves the layers "
				 "through init; "
				 "set it to true, or use: custody bundle -o DIR -- COMMAND",
				 d->profile->name);
	return d->subject->layers & LAYER_BIT(LAYER_USER_NS) ? 0 : require_no_userns_allowed(run, f);
}

int run_load(struct run *run, const char *id, struct fault *f)
{
	const struct run_options *o = run->options;
	struct run_plan *d = &run->plan;
	int r;

	d->makes_root = !o->dry_run;
	r = run_plan_open(o, id, d, f);
	if (r == -LANE_REFUSED)
		run->decision.status = STATUS_LANE;
	/* Refused before the sandbox root was opened, by a reset for example: its log gets the refusal all the same. */
	if (r < 0 && !d->root && d->makes_root && o->sandbox)
		(void)!sandbox_root_open(&d->dirs, o->sandbox, SANDBOX_LOOK, &d->root, NULL);
	run->ledger.root = d->root;
	run->decision.refused = d->refused;
	if (redact(run, r < 0 ? NULL : f) < 0) {
		run->decision.refused = NULL;
		return r < 0 ? r : -ENOMEM;
	}
	return r < 0 ? r : require_supported(run, f);
}

static int require_executable(const struct run *run, const char *name, struct fault *f)
{
	_cleanup_free_ char *path = path_join(run->plan.dirs.libexec, name);

	if (!path)
		return fault_errno(f, ENOMEM, "run");
	return access(path, X_OK) < 0
		       ? fault_errno(f, errno, "%s at '%s': run 'make install', or set CUSTODY_LIBEXEC", name,
				     path)
		       : 0;
}

static int require_programs(struct run *run, struct fault *f)
{
	int r = require_executable(run, "custody-init", f);

	run->decision.refused = REFUSED_INSTALLATION;
	if (r == 0 && run->plan.broker.open)
		r = require_executable(run, "custody-call", f);
	if (r == 0 && run->plan.broker.open)
		r = require_executable(run, "custody-mcp", f);
	if (r == 0 && run->plan.asked.network == PROFILE_NETWORK_ALLOW)
		r = require_executable(run, EGRESS_PROGRAM, f);
	return r == 0 && profile_is_fuse(&run->plan.asked) ? overlay_server_require(f) : r;
}

/* Names that are known once profile and subject are. */
static void complete_records(struct run *run)
{
	struct ledger_run *r = &run->decision.run;
	const struct subject *s = run->plan.subject;

	r->profile = run->plan.profile->name;
	r->env = s->env;
	r->cwd = s->worktree ? s->worktree : s->cwd;
	r->overlay = profile_is_fuse(s->profile) ? "fuse" : NULL;
}

static int judge(struct run *run, struct fault *f)
{
	struct decision_question q;
	int r;

	run->decision.refused = "digest";
	r = run_plan_digest(&run->plan, run->options, f);
	if (r < 0)
		return fault_wrap(f, r, "nothing was started (%s)", decision_remedy(r));
	decision_redact_with(&run->decision, &run->plan.key);
	complete_records(run);
	q = run_plan_question(&run->plan, run->options);
	return decision_judge(&run->decision, &q, f);
}

/* No person is asked about a command that cannot start; one that needs no approval fails by itself. */
static int require_program(struct run *run, struct fault *f)
{
	_cleanup_free_ char *why = NULL;

	if (run->decision.verdict->level == 'A' || run->options->canary ||
	    subject_has_program(run->plan.subject))
		return 0;
	run->decision.refused = REFUSED_PROGRAM;
	run->decision.status = STATUS_NOT_FOUND;
	why = warden_explain_exec(run->plan.subject, ENOENT);
	return why ? fault_set(f, ENOENT, "%s", why) : fault_errno(f, ENOMEM, "run");
}

static int approve(struct run *run, struct fault *f)
{
	struct run_approval a = { .options = run->options, .plan = &run->plan };
	struct decision_question q = run_plan_question(&run->plan, run->options);

	q.ask = run_approval_ask;
	q.arg = &a;
	return decision_approve(&run->decision, &q, f);
}

/* From the intent to the removal no signal kills us: the supervision receives all of them. */
static int leave_caller(struct run *run, struct fault *f)
{
	int r;

	run->decision.refused = REFUSED_SETUP;
	r = run_detach_leave(run->options, f);
	if (r == 0)
		r = warden_hold_signals(&run->signals, f);
	run->signals_held = r == 0;
	return r;
}

/* Also of a refusal: as far as it is known. */
static void name_result(struct run *run)
{
	const struct ledger_run *names = &run->decision.run;
	const struct run_options *o = run->options;
	const struct profile *p = run->plan.profile;
	struct run_result *ret = run->result;

	/* As in the records; without memory no command rather than one with secrets. */
	strv_free(run->shown);
	run->shown = o->argv ? redact_argv(o->argv, names->redact) : NULL;
	memcpy(ret->session, run->id, sizeof(ret->session));
	ret->lane = names->lane;
	ret->digest = names->digest;
	ret->verdict = names->approval.verdict;
	ret->profile = p ? p->name : asked_profile(run);
	ret->profile_digest = p ? &p->digest : NULL;
	ret->argv = run->shown;
	ret->name = o->name;
	ret->agent = o->agent;
	ret->worker = o->worker;
	ret->issue = o->issue;
	ret->chain = run->plan.base.tree.chain;
	ret->base = run->plan.base.open ? &run->plan.base.tree.subject.manifest : NULL;
	ret->ids = run->plan.subject ? &run->plan.ids : NULL;
	ret->worktree = run->plan.subject ? run->plan.subject->worktree : NULL;
}

static int open_session(struct run *run, struct fault *f)
{
	int r;

	run->decision.refused = REFUSED_SETUP;
	r = session_open_with_ids(&run->plan.dirs, run->decision.pass, run->id,
				  run->plan.base.open ? run->plan.base.uid_base : 0, &run->session, f);
	if (r == 0)
		run->session.ids = run->plan.ids.map;
	if (r == 0)
		r = run_ids_note(&run->plan, f);
	if (r == -LANE_REFUSED)
		run->decision.status = STATUS_LANE;
	if (r == 0)
		name_result(run);
	return r;
}

static bool is_refused_by_layer(const struct run_result *res)
{
	for (unsigned int l = 0; res->proven && l < _LAYER_MAX; l++)
		if (res->layers[l] == LAYER_STATE_REFUSED)
			return true;
	return false;
}

/*
 * An end that cannot be recorded does not change what the command did, but the exit status is no success; the claim
 * stays, and the next start records the session as lost.
 */
static void record_end(struct run *run)
{
	struct run_result *res = run->result;
	_cleanup_fault_ struct fault f = { 0 };

	if (res->exit.reason == EXIT_REASON_SETUP_FAILED) {
		/* The release was not tried, or it failed. */
		run->decision.started = false;
		run->decision.refused = is_refused_by_layer(res) ? REFUSED_LAYER : REFUSED_SETUP;
		run_ledger_refuse(&run->ledger, res->detail ? res->detail : "");
		return;
	}
	if (run_ledger_end(&run->ledger, res, &f) < 0) {
		log_error("%s", fault_text(&f));
		res->unrecorded = true;
	}
}

static void conclude(struct run *run)
{
	/* Before the end is in the ledger: a reader that finds it there finds the note closed.  Without either it is lost. */
	run_note_end(run);
	seam("note-closed");
	/* Before the directory is removed, and with it the session's own chain. */
	record_end(run);
	/* After the end is recorded: recovery of a lost session must find the evidence. */
	if (run->result->evidence_staged)
		delivery_kick(&run->plan.dirs, run->plan.config);
}

static void remove_session(struct run *run)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (!run->session.run)
		return;
	run_report_leftover(session_remove(&run->session, &f), &f);
	session_done(&run->session);
	seam("session-removed");
}

static void return_to_caller(struct run *run, bool ended)
{
	if (run->signals_held)
		warden_release_signals(&run->signals, ended);
	run->signals_held = false;
}

/* Nothing reserved, or consumed: nothing done.  A reservation that is not released returns when this process exits. */
static void release_grant(struct run *run, bool ended)
{
	_cleanup_fault_ struct fault f = { 0 };
	const char *refused = run->decision.refused;

	if (decision_release(&run->decision, !ended && refused ? refused : REFUSED_SETUP, &f) < 0)
		log_error("%s, ignoring", fault_text(&f));
}

/* An error may quote words of the command.  The refusal of a lane shows a command line to copy, and stays as it is. */
static char *redact_refusal(const struct run *run, struct fault *f)
{
	const struct ledger_run *names = &run->decision.run;
	char *text = redact_message(fault_text(f), names->argv, names->redact);
	int code = f->code;

	if (run->decision.status == STATUS_LANE || (text && str_eq(text, fault_text(f))))
		return text;
	fault_done(f);
	(void)fault_set(f, code, "%s", text ? text : "out of memory");
	return text;
}

static void refuse(struct run *run, struct fault *f)
{
	struct run_result *ret = run->result;
	int status = run->decision.status;

	run_result_done(ret);
	*ret = (struct run_result){
		.exit = { .reason = EXIT_REASON_SETUP_FAILED, .code = status, .abnormal = true },
		.detail = redact_refusal(run, f),
		.remedy = TAKE_PTR(run->remedy),
		.ended_us = clock_wall_us(),
	};
	if (status == STATUS_DENIED || status == STATUS_UNAPPROVED || status == STATUS_LANE)
		ret->exit.reason = EXIT_REASON_DENIED;
	else if (status == STATUS_NOT_FOUND)
		ret->exit.reason = EXIT_REASON_EXITED;
	else if (status > STATUS_SIGNAL_BASE)
		ret->exit.reason = EXIT_REASON_CANCELLED;
	name_result(run);
	run_ledger_refuse(&run->ledger, fault_text(f));
}

int run_session(const struct run_options *o, struct run_result *ret, struct run **ret_run, struct fault *f)
{
	_cleanup_run_ struct run *run = NULL;
	int r;

	r = run_new(o, &run, f);
	if (r < 0)
		return r;
	run->result = ret;
	r = run_locate(run, f);
	if (r < 0 && !run->plan.dirs.state)
		return r; /* no directory to record it in */

	/* Decide.  Nothing of the session exists yet; without both keys nothing of prod is opened. */
	if (r == 0)
		r = run_enter(run, f);
	if (r == 0)
		r = run_load(run, run->id, f);
	if (r == 0)
		r = require_programs(run, f);
	if (r == 0)
		r = run_broker_require(run, f);
	if (r == 0)
		r = run_ledger_open(&run->ledger, f);
	if (r == 0)
		r = judge(run, f);
	if (r == 0)
		r = require_program(run, f);
	if (r == 0)
		r = approve(run, f);
	seam("run-judged");

	/* Start.  The intent is on the disk before anything of the session is created. */
	if (r == 0)
		r = leave_caller(run, f);
	if (r == 0)
		r = run_ledger_intend(&run->ledger, f);
	if (r == 0)
		r = open_session(run, f);
	if (r == 0)
		r = run_supervise(run, f);

	/* End. */
	if (r == 0)
		conclude(run);
	remove_session(run);
	return_to_caller(run, r == 0);
	release_grant(run, r == 0);
	if (r < 0)
		refuse(run, f);
	*ret_run = TAKE_PTR(run);
	return r;
}
