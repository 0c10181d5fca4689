/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "run/run-detach.h"
#include "run/run-impl.h"
#include "evidence/delivery.h"
#include "base/exit-status.h"
#include "worktree/overlay-server.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "warden/warden.h"

void run_session_free(struct session_run *r)
{
	if (!r)
		return;
	run_approval_done(&r->gate);
	run_ledger_done(&r->record);
	lane_pass_free(r->pass);
	run_plan_done(&r->plan);
	session_note_done(&r->note);
	free(r);
}

static void set_limit(struct profile *p, uint64_t *limit, bool given, uint64_t value, enum layer l)
{
	if (!given)
		return;
	*limit = value;
	if (value)
		p->layers |= LAYER_BIT(l);
}

/*
 * The caller may lower or raise what the profile says: it is the caller's machine.  All of it goes into the subject,
 * so whoever judges the run sees what will run and not what the profile says.
 */
void session_apply_options(struct profile *p, const struct run_options *o)
{
	set_limit(p, &p->limit_memory, o->set_memory, o->memory, LAYER_MEMORY_LIMIT);
	set_limit(p, &p->limit_pids, o->set_pids, o->pids, LAYER_PIDS_LIMIT);
	set_limit(p, &p->limit_cpu_percent, o->set_cpu, o->cpu_percent, LAYER_CPU_LIMIT);
	set_limit(p, &p->limit_time_s, o->set_timeout, o->timeout_s, LAYER_TIME_LIMIT);
	if (!o->network)
		return;
	if (strcmp(o->network, "host") == 0) {
		p->network = PROFILE_NETWORK_HOST;
		p->layers &= ~LAYER_BIT(LAYER_NET_NS);
	} else {
		p->network = PROFILE_NETWORK_NONE;
		p->layers |= LAYER_BIT(LAYER_NET_NS);
	}
}

/* The payload will be the host's root: then our executable must be out of its reach. */
static int leave_user_namespace_out(const struct run_options *o, const struct dirs *d, struct fault *f)
{
	if (d->rootless)
		return fault_set(
			f, EPERM,
			"a user cannot run without a user namespace: take 'no-user-namespace' out of "
			"the profile's 'dangerous'");
	if (o->dry_run)
		return 0;
	/* The copy is started like a program: what the caller handed down for it must get there. */
	if (o->status_fd > STDERR_FILENO && fcntl(o->status_fd, F_SETFD, 0) < 0)
		return fault_errno(f, errno, "--status-fd %d", o->status_fd);
	return adapter_ops.guard(f);
}

int run_session_enter(struct session_run *r, const struct run_options *o, struct fault *f)
{
	const struct lane_ask ask = {
		.lane = r->plan.dirs.lane,
		.allow_prod = o->allow_prod,
		.allow_env = getenv(LANE_ALLOW_ENV),
		.program = program_invocation_name,
		.argv = o->words,
	};

	return lane_gate(&ask, &r->pass, f);
}

/* What profile and options say, as far as this program can carry it out. */
int run_session_load(struct session_run *r, const struct run_options *o, const char *id,
		     const char **ret_refused, struct fault *f)
{
	struct run_plan *d = &r->plan;
	int e;

	d->makes_root = !o->dry_run;
	e = run_plan_open(o, id, d, f);
	/* Refused before it was had, by a reset say: its log tells of that all the same. */
	if (e < 0 && !d->root && d->makes_root && o->sandbox)
		(void)!sandbox_root_open(&d->dirs, o->sandbox, SANDBOX_LOOK, &d->root, NULL);
	r->record.root = d->root;
	*ret_refused = d->refused;
	if (run_approval_redact(&r->gate, d, &r->record.run, e < 0 ? NULL : f) < 0) {
		*ret_refused = NULL; /* rather no record than one with secrets */
		return e < 0 ? e : -ENOMEM;
	}
	if (e < 0)
		return e;
	*ret_refused = REFUSED_UNSUPPORTED;
	/* A shell on a pty of which nobody sits at the other end waits for ever. */
	if (o->interactive && !o->dry_run && !isatty(o->stdio[STDIN_FILENO]))
		return fault_set(f, ENOTTY,
				 "stdin is no terminal to type at; for a script: custody run -- sh FILE");
	if (!d->profile->process_init)
		return fault_set(f, ENOTSUP,
				 "profile '%s': process.init is false, but 'custody run' proves the layers "
				 "through init; "
				 "set it to true, or use: custody bundle -o DIR -- COMMAND",
				 d->profile->name);
	return d->subject->layers & LAYER_BIT(LAYER_USER_NS) ? 0 : leave_user_namespace_out(o, &d->dirs, f);
}

int run_session_judge(struct session_run *r, const struct run_options *o, const char **ret_refused,
		      struct fault *f)
{
	int e = run_plan_judge(&r->plan, o, f);

	*ret_refused = r->plan.refused;
	/* Not being able to decide is a refusal as well. */
	if (e < 0 && strcmp(r->plan.refused, REFUSED_POLICY) == 0) {
		r->status = STATUS_DENIED;
		return fault_wrap(f, e, "policy could not decide, nothing was started");
	}
	return e < 0 ? fault_wrap(f, e, "nothing was started (%s)", run_ledger_remedy(e)) : 0;
}

int run_session_new(struct session_run **ret, struct fault *f)
{
	_cleanup_session_run_ struct session_run *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return fault_errno(f, ENOMEM, "run");
	r->record = RUN_LEDGER_NONE;
	r->gate = RUN_APPROVAL_NONE;
	r->status = STATUS_FAILED;
	e = clock_session_id(r->id, f);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

static int require_init(const struct dirs *d, struct fault *f)
{
	_cleanup_free_ char *path = path_join(d->libexec, "custody-init");

	if (!path)
		return fault_errno(f, ENOMEM, "run");
	if (access(path, X_OK) < 0)
		return fault_errno(f, errno,
				   "custody-init at '%s': run 'make install', or set CUSTODY_LIBEXEC", path);
	return 0;
}

/* Also of a refusal: as far as is known. */
static void name_result(const struct run_options *o, const struct session_run *run, struct run_result *ret)
{
	const struct profile *p = run->plan.profile;

	memcpy(ret->session, run->id, sizeof(ret->session));
	ret->lane = run->record.run.lane;
	ret->digest = run->record.run.digest;
	ret->verdict = run->record.run.approval.verdict;
	ret->profile = p ? p->name : o->profile;
	ret->profile_digest = p ? &p->digest : NULL;
	ret->argv = o->argv;
	ret->name = o->name;
	ret->agent = o->agent;
	ret->worker = o->worker;
	ret->issue = o->issue;
}

static bool is_refused_by_layer(const struct run_result *res)
{
	for (unsigned int l = 0; res->proven && l < _LAYER_MAX; l++)
		if (res->layers[l] == LAYER_STATE_REFUSED)
			return true;
	return false;
}

/*
 * An end that cannot be recorded does not change what the command did, but nobody shall take it for a success; its
 * claim stays, and the next start records it as lost.
 */
static void conclude(struct run_ledger *r, struct run_result *res)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (res->exit.reason == EXIT_REASON_SETUP_FAILED) {
		/* Not even the release was tried, or it failed. */
		r->started = false;
		run_ledger_refuse(r, is_refused_by_layer(res) ? REFUSED_LAYER : REFUSED_SETUP,
				  res->detail ? res->detail : "");
		return;
	}
	if (run_ledger_end(r, res, &f) < 0) {
		log_error("%s", fault_text(&f));
		res->unrecorded = true;
	}
}

static void name_record(const struct run_options *o, struct session_run *run)
{
	const struct run_plan *d = &run->plan;

	run->record.state = d->dirs.state;
	run->record.dirs = &d->dirs;
	run->record.config = d->config;
	run->record.run = (struct ledger_run){
		.action = o->canary ? "doctor" : "run",
		.session = run->id,
		.agent = o->agent,
		.worker = o->worker,
		.issue = o->issue,
		.lane = d->config ? lane_name(d->dirs.lane) : o->lane,
		.profile = o->profile,
		.argv = o->argv,
		.sandbox = true,
	};
}

/* The names of its environment, its place and what is left out of records are known only now. */
static int complete_record(struct session_run *run, struct fault *f)
{
	struct ledger_run *r = &run->record.run;
	const struct subject *s = run->plan.subject;

	r->profile = run->plan.profile->name;
	r->env = s->env;
	r->cwd = s->worktree ? s->worktree : s->cwd;
	r->overlay = profile_is_fuse(s->profile) ? "fuse" : NULL;
	return run_approval_describe(&run->gate, &run->plan, r, f);
}

/*
 * Before anything of the session exists: lane, configuration, profile, subject, digest, policy, approval.  Without both
 * keys not even the ledger of prod is touched: that refusal stands in the sandbox lane's.
 */
static int allow(const struct run_options *o, struct session_run *run, const char **ret_refused,
		 struct fault *f)
{
	struct run_plan *d = &run->plan;
	int r;

	*ret_refused = REFUSED_LANE;
	r = run_session_enter(run, o, f);
	if (r < 0) {
		_cleanup_fault_ struct fault ignored = { 0 };

		dirs_done(&d->dirs);
		if (dirs_load(&d->dirs, &ignored) < 0)
			*ret_refused = NULL;
		run->record.state = d->dirs.state;
		run->status = STATUS_LANE;
		return r;
	}
	r = run_session_load(run, o, run->id, ret_refused, f);
	if (r == -LANE_REFUSED)
		run->status = STATUS_LANE;
	if (r == 0) {
		*ret_refused = REFUSED_INSTALLATION;
		r = require_init(&d->dirs, f);
		if (r == 0 && profile_is_fuse(&d->asked))
			r = overlay_server_require(f);
	}
	if (r == 0) {
		*ret_refused = NULL;
		r = run_ledger_open(&run->record, f);
	}
	if (r == 0)
		r = run_session_judge(run, o, ret_refused, f);
	if (r == 0)
		r = complete_record(run, f);
	if (r == 0)
		r = run_approval_ask(&run->gate, o, run->record.ledger, &run->record.run, &run->status,
				     ret_refused, f);
	return r;
}

/* Allowed, and not there yet. */
static int start_held(const struct run_options *o, struct session_run *run, struct run_result *ret,
		      const char **ret_refused, struct fault *f)
{
	_cleanup_session_ struct session s = { .run_fd = -EBADF, .ids_fd = -EBADF };
	_cleanup_fault_ struct fault left = { 0 };
	int r;

	*ret_refused = NULL;
	r = lane_record(run->pass, run->record.ledger, &run->record.run, f);
	if (r == 0)
		r = run_ledger_intend(&run->record, f);
	if (r < 0)
		return r;
	*ret_refused = REFUSED_SETUP;
	r = session_open(&run->plan.dirs, run->pass, run->id, &s, f);
	if (r == -LANE_REFUSED)
		run->status = STATUS_LANE;
	if (r < 0)
		return r;
	name_result(o, run, ret);
	r = session_supervise(run, o, &s, ret, ret_refused, f);
	/*
	 * Before the end is on the record: who finds it there finds the note as it should be.  Who finds neither calls it lost,
	 * in both.
	 */
	if (r == 0)
		run_note_end(run, &s, ret);
	seam("note-closed");
	/* Before the directory goes, and with it the session's own chain. */
	if (r == 0)
		conclude(&run->record, ret);
	/* Not before its end is told: who tells it for a dead one must find the evidence. */
	if (r == 0 && ret->evidence_staged)
		delivery_kick(&run->plan.dirs, run->plan.config);
	session_complain(session_remove(&s, &left), &left);
	seam("session-removed");
	return r;
}

/* From the intent to the removal no signal ends us: the supervision hears them all. */
static int start(const struct run_options *o, struct session_run *run, struct run_result *ret,
		 const char **ret_refused, struct fault *f)
{
	sigset_t before;
	int r;

	*ret_refused = REFUSED_SETUP;
	r = session_detach_leave(o, f);
	if (r == 0)
		r = warden_hold_signals(&before, f);
	if (r < 0)
		return r;
	r = start_held(o, run, ret, ret_refused, f);
	warden_release_signals(&before, r == 0);
	return r;
}

static void refuse(const struct run_options *o, struct session_run *run, const char *refused,
		   struct run_result *ret, const struct fault *f)
{
	int status = run->status;

	run_result_done(ret);
	*ret = (struct run_result){
		.exit = { .reason = EXIT_REASON_SETUP_FAILED, .code = status, .abnormal = true },
		.detail = strdup(fault_text(f)),
		.ended_us = clock_wall_us(),
	};
	if (status == STATUS_DENIED || status == STATUS_UNAPPROVED || status == STATUS_LANE)
		ret->exit.reason = EXIT_REASON_DENIED;
	else if (status > STATUS_SIGNAL_BASE)
		ret->exit.reason = EXIT_REASON_CANCELLED;
	name_result(o, run, ret);
	if (refused)
		run_ledger_refuse(&run->record, refused, fault_text(f));
}

int session_run(const struct run_options *o, struct run_result *ret, struct session_run **ret_run,
		struct fault *f)
{
	_cleanup_session_run_ struct session_run *run = NULL;
	const char *refused;
	int r;

	r = run_session_new(&run, f);
	if (r < 0)
		return r;
	r = run_plan_place(o, &run->plan, f);
	if (r < 0 && !run->plan.dirs.state)
		return r;
	name_record(o, run);
	refused = run->plan.refused;
	if (run_approval_redact(&run->gate, &run->plan, &run->record.run, r < 0 ? NULL : f) < 0) {
		refused = NULL;
		r = r < 0 ? r : -ENOMEM;
	}
	if (r == 0)
		r = allow(o, run, &refused, f);
	seam("run-judged");
	if (r == 0)
		r = start(o, run, ret, &refused, f);
	run_approval_release(&run->gate, r < 0 && refused ? refused : REFUSED_SETUP);
	if (r < 0)
		refuse(o, run, refused, ret, f);
	*ret_run = TAKE_PTR(run);
	return r;
}
