/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/seam.h"
#include "base/str.h"
#include "decision/decision-exec.h"
#include "decision/decision.h"
#include "run/exec-session.h"
#include "run/run-approval.h"
#include "session/exec-socket.h"
#include "subject/subject-exec.h"
#include "subject/subject-redact.h"
#include "warden/warden-join.h"

/* Names of refusals in the ledger: stable.  Those of the decision come on top. */
#define REFUSED_SESSION "session"
#define REFUSED_DIGEST "digest"
#define REFUSED_SUBJECT "subject"
#define REFUSED_SETUP "setup-failed"

struct exec {
	const struct run_options *options; /* borrowed, as the next two */
	const struct dirs *dirs;
	const struct config *config;
	const struct session_note *note;
	char id[SESSION_ID_SIZE]; /* of this command in the records */
	struct decision decision;
	struct digest_key key;
	struct exec_session session;
	struct run_plan plan; /* document and digest: for the approval */
	sigset_t signals;
	bool signals_held;
};

void exec_free(struct exec *e)
{
	if (!e)
		return;
	decision_done(&e->decision);
	exec_session_done(&e->session);
	digest_key_done(&e->key);
	jdoc_free(e->plan.document);
	free(e);
}

static void name_records(struct exec *e)
{
	const struct run_options *o = e->options;

	e->decision.config = e->config;
	e->decision.run = (struct ledger_run){
		.action = LEDGER_ACTION_EXEC,
		.session = e->id,
		.agent = o->agent,
		.worker = o->worker,
		.issue = o->issue,
		.lane = lane_name(e->dirs->lane),
		.argv = o->argv,
		.sandbox = true,
	};
}

static int gate(struct exec *e, struct fault *f)
{
	const struct lane_ask ask = {
		.lane = e->dirs->lane,
		.allow_prod = e->options->allow_prod,
		.allow_env = getenv(LANE_ALLOW_ENV),
		.program = program_invocation_name,
		.argv = e->options->words,
	};

	return decision_enter(&e->decision, &ask, f);
}

static void record_refusal(struct exec *e, const char *text)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (e->decision.refused && decision_refuse(&e->decision, text, &f) < 0)
		log_error("this refusal could not be recorded: %s", fault_text(&f));
}

int exec_enter(const struct run_options *o, const struct dirs *d, const struct config *c, struct exec **ret,
	       int *ret_status, struct fault *f)
{
	_cleanup_exec_ struct exec *e = calloc(1, sizeof(*e));
	int r;

	*ret_status = STATUS_FAILED;
	if (!e)
		return fault_errno(f, ENOMEM, "exec");
	e->options = o;
	e->dirs = d;
	e->config = c;
	e->session = EXEC_SESSION_NONE;
	e->decision = DECISION_NONE;
	e->decision.dirs = d;
	r = clock_session_id(e->id, f);
	if (r < 0)
		return r;
	name_records(e);
	r = decision_redact(&e->decision, NULL, f);
	if (r >= 0)
		r = gate(e, f);
	if (r < 0) {
		*ret_status = e->decision.status;
		record_refusal(e, fault_text(f));
		return r;
	}
	*ret = TAKE_PTR(e);
	return 0;
}

static int require_running(struct exec *e, struct fault *f)
{
	const struct session_note *n = e->note;

	e->decision.refused = REFUSED_SESSION;
	if (n->container)
		return fault_set(f, ENOTSUP,
				 "session '%s' is container '%s' of another runtime: use that runtime's exec",
				 n->session, n->container);
	if (n->state == SESSION_LOST)
		return fault_set(f, ESRCH, "session '%s' lost its supervisor: run custody recover",
				 n->session);
	if (n->state != SESSION_RUNNING)
		return fault_set(f, ESRCH, "session '%s' has ended; to work on its changes, start a new run",
				 n->session);
	return 0;
}

static const struct jdoc *governance(const struct exec *e)
{
	return e->session.subject->profile->sections[PROFILE_SECTION_GOVERNANCE];
}

/* Redaction rules of the session's profile, from here on. */
static int redact(struct exec *e, struct fault *f)
{
	const struct profile *p = e->session.subject->profile;
	_cleanup_strv_ char **flags = NULL;
	int r = config_redact_flags(p, &flags, f);

	if (r < 0)
		return r;
	config_redact_done(&e->decision.redact);
	r = decision_redact(&e->decision, flags, f);
	if (r >= 0)
		r = subject_redact(e->session.subject, &e->decision.redact.rules, &e->key, f);
	if (r >= 0)
		decision_redact_with(&e->decision, &e->key);
	return r;
}

static int open_session(struct exec *e, struct fault *f)
{
	int r;

	e->decision.run.within = e->note->session;
	e->decision.refused = REFUSED_DIGEST;
	r = digest_key_load(e->dirs, e->config->digest_key, false, &e->key, f);
	if (r < 0)
		return r;
	e->decision.refused = REFUSED_SESSION;
	return exec_session_open(e->dirs, e->note, &e->key, &e->session, f);
}

static int build_subject(struct exec *e, struct fault *f)
{
	const struct run_options *o = e->options;
	const struct subject_exec x = { .argv = o->argv,
					.env = o->env,
					.environ = environ,
					.workdir = o->workdir,
					.terminal = terminal_plan(o->stdio, o->terminal).pty != 0 };
	struct subject *s = e->session.subject;
	struct ledger_run *run = &e->decision.run;
	int r;

	e->decision.refused = REFUSED_SUBJECT;
	r = subject_exec_change(s, &x, f);
	if (r >= 0)
		r = redact(e, f);
	if (r >= 0)
		r = subject_exec_to_json(s, &e->session.digest, &e->key, &e->plan.document, f);
	if (r >= 0)
		r = subject_digest(e->plan.document, &e->plan.digest, f);
	run->profile = s->profile->name;
	run->env = s->env;
	run->cwd = s->cwd;
	return r;
}

static struct decision_question question(const struct exec *e)
{
	return (struct decision_question){
		.subject = e->session.subject,
		.document = e->plan.document,
		.digest = &e->plan.digest,
		.provenance = e->options->provenance,
		.security = SECURITY_OFF,
		.governance = governance(e),
	};
}

static int decide(struct exec *e, struct fault *f)
{
	struct run_approval a = { .options = e->options, .plan = &e->plan };
	struct decision_question q = question(e);
	int r = decision_judge(&e->decision, &q, f);

	if (r < 0)
		return r;
	decision_exec_exempt(&e->decision, &q);
	q.ask = run_approval_ask;
	q.arg = &a;
	return decision_approve(&e->decision, &q, f);
}

static void tell(const struct exec *e, enum exec_msg_type type, const struct exit_verdict *v)
{
	struct exec_msg m = { 0 };

	memcpy(m.id, e->id, sizeof(m.id));
	(void)snprintf(m.digest, sizeof(m.digest), "%s", e->decision.run.digest);
	if (v) {
		(void)snprintf(m.text, sizeof(m.text), "%s", exit_reason_name(v->reason));
		m.code = v->code;
	}
	/* A supervisor that is gone has ended its session, and with it this command. */
	(void)!exec_msg_send(e->session.client, &m, type, NULL, 0);
}

static int list_layers(const enum layer_state *layers, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		if (layers[l] != LAYER_STATE_NOT_ASKED &&
		    strv_appendf(&words, "%s=%s", layer_info(l)->name, layer_state_name(layers[l])) < 0)
			return fault_errno(f, ENOMEM, "layers");
	*ret = TAKE_PTR(words);
	return 0;
}

/* The last verification of the approval, with the command waiting for GO. */
static int release(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	struct exec *e = arg;
	_cleanup_strv_ char **words = NULL;
	int r = list_layers(layers, &words, f);

	if (r == 0)
		r = decision_consume(&e->decision, f);
	seam("exec-consumed");
	if (r == 0)
		r = decision_start(&e->decision, pid, words, f);
	seam("exec-recorded");
	if (r == 0)
		tell(e, EXEC_MSG_STARTED, NULL);
	return r;
}

static int tick(void *arg)
{
	struct exec *e = arg;

	return decision_tick(&e->decision);
}

static int supervise(struct exec *e, struct run_result *ret, struct fault *f)
{
	const struct session_note *n = e->note;
	const struct run_options *o = e->options;
	struct warden_join j = {
		.subject = e->session.subject,
		.id = e->id,
		.digest = e->decision.run.digest,
		.client = e->session.client,
		.init = e->session.init,
		.limits = e->session.limits,
		.uid = n->uid_base + n->uid,
		.gid = n->gid_base + n->gid,
		.release = release,
		.tick = tick,
		.arg = e,
		.stdio = { o->stdio[0], o->stdio[1], o->stdio[2] },
		.terminal = terminal_plan(o->stdio, o->terminal),
		.quiet = o->quiet,
	};

	e->decision.refused = REFUSED_SETUP;
	memcpy(j.ns, e->session.ns, sizeof(j.ns));
	return warden_join(&j, ret, f);
}

static int hold_signals(struct exec *e, struct fault *f)
{
	int r;

	e->decision.refused = REFUSED_SETUP;
	r = warden_hold_signals(&e->signals, f);
	e->signals_held = r == 0;
	return r;
}

/* A start that failed is a refusal; else the end is recorded, and an end that is not makes no success. */
static void conclude(struct exec *e, struct run_result *res)
{
	const struct ledger_end end = run_result_end(res);
	_cleanup_fault_ struct fault f = { 0 };

	tell(e, EXEC_MSG_ENDED, &res->exit);
	if (res->exit.reason == EXIT_REASON_SETUP_FAILED || !e->decision.started) {
		e->decision.started = false;
		e->decision.refused = REFUSED_SETUP;
		record_refusal(e, res->detail ? res->detail : "cancelled");
		return;
	}
	if (decision_end(&e->decision, &end, &f) < 0) {
		log_error("%s", fault_text(&f));
		res->unrecorded = true;
	}
}

static void release_grant(struct exec *e)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (decision_release(&e->decision, e->decision.refused ? e->decision.refused : REFUSED_SETUP, &f) < 0)
		log_error("%s, ignoring", fault_text(&f));
}

int exec_run(struct exec *e, const struct session_note *n, struct run_result *ret, struct fault *f)
{
	int r;

	e->note = n;
	/* Decide.  Nothing of the command is in the session yet. */
	r = require_running(e, f);
	if (r == 0)
		r = open_session(e, f);
	if (r == 0)
		r = decision_exec_require(&e->decision, governance(e), f);
	if (r == 0)
		r = build_subject(e, f);
	if (r == 0)
		r = decision_open(&e->decision, f);
	if (r == 0)
		r = decide(e, f);
	seam("exec-judged");

	/* Start.  The intent is on the disk before the session gets the command. */
	if (r == 0)
		r = hold_signals(e, f);
	if (r == 0)
		r = decision_intend(&e->decision, f);
	seam("exec-intended");
	if (r == 0)
		r = supervise(e, ret, f);

	/* End. */
	if (r == 0)
		conclude(e, ret);
	if (e->signals_held)
		warden_release_signals(&e->signals, r == 0);
	release_grant(e);
	if (r < 0) {
		ret->exit.code = e->decision.status;
		record_refusal(e, fault_text(f));
	}
	return r;
}
