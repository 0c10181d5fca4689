/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "cli/docket.h"
#include "cli/session-evidence.h"
#include "cli/session-gate.h"
#include "cli/session-place.h"
#include "cli/session-record.h"
#include "cli/session-recover.h"
#include "core/exit-status.h"
#include "core/subject-digest.h"
#include "oci/libcrun-adapter.h"
#include "warden/init-proto.h"
#include "warden/terminal.h"
#include "warden/warden.h"

/* Everything that one run owns, in the order it is made. */
struct session_run {
	char id[SESSION_ID_SIZE];
	struct docket docket; /* what is to run, and what policy says of it */
	struct lane_pass *pass;
	struct session_gate gate;
	struct session_record record;
	int status; /* of a refusal: what `custody run` ends with */
};

void session_run_free(struct session_run *r)
{
	if (!r)
		return;
	session_gate_done(&r->gate);
	session_record_done(&r->record);
	lane_pass_free(r->pass);
	docket_done(&r->docket);
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
	return libcrun_ops.guard(f);
}

/* Names of refusals in the ledger: stable.  Those of docket and gate come on top. */
#define REFUSED_LANE "lane"
#define REFUSED_POLICY "policy"
#define REFUSED_UNSUPPORTED "unsupported"
#define REFUSED_INSTALLATION "installation"
#define REFUSED_LIMITS "limits"
#define REFUSED_LAYER "layer"
#define REFUSED_SETUP "setup-failed"

static int open_lane(const struct run_options *o, struct session_run *r, struct fault *f)
{
	const struct lane_ask ask = {
		.lane = r->docket.dirs.lane,
		.allow_prod = o->allow_prod,
		.allow_env = getenv(LANE_ALLOW_ENV),
		.program = program_invocation_name,
		.argv = o->words,
	};

	return lane_gate(&ask, &r->pass, f);
}

/* What profile and options say, as far as this program can carry it out. */
static int open_docket(const struct run_options *o, const char *id, struct session_run *r,
		       const char **ret_refused, struct fault *f)
{
	struct docket *d = &r->docket;
	int e;

	e = docket_open(o, id, d, f);
	*ret_refused = d->refused;
	if (e < 0)
		return e;
	*ret_refused = REFUSED_UNSUPPORTED;
	if (!d->profile->process_init)
		return fault_set(f, ENOTSUP,
				 "profile '%s': process.init is false, but 'custody run' proves the layers "
				 "through init; "
				 "set it to true, or use: custody bundle -o DIR -- COMMAND",
				 d->profile->name);
	return d->subject->layers & LAYER_BIT(LAYER_USER_NS) ? 0 : leave_user_namespace_out(o, &d->dirs, f);
}

static int judge(const struct run_options *o, struct session_run *r, const char **ret_refused,
		 struct fault *f)
{
	int e = docket_judge(&r->docket, o, f);

	*ret_refused = r->docket.refused;
	/* Not being able to decide is a refusal as well. */
	if (e < 0 && strcmp(r->docket.refused, REFUSED_POLICY) == 0) {
		r->status = STATUS_DENIED;
		return fault_wrap(f, e, "policy could not decide, nothing was started");
	}
	return e < 0 ? fault_wrap(f, e, "nothing was started (%s)", session_record_remedy(e)) : 0;
}

static int new_run(struct session_run **ret, struct fault *f)
{
	_cleanup_session_run_ struct session_run *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return fault_errno(f, ENOMEM, "run");
	r->record = SESSION_RECORD_NONE;
	r->gate = SESSION_GATE_NONE;
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

static const enum layer limit_layers[_CGROUP_CONTROLLER_MAX] = {
	[CGROUP_MEMORY] = LAYER_MEMORY_LIMIT,
	[CGROUP_PIDS] = LAYER_PIDS_LIMIT,
	[CGROUP_CPU] = LAYER_CPU_LIMIT,
};

/* What the cgroup cannot hold and the profile does not call optional refuses the run, by name. */
static int require_limits(const struct cgroup *c, const struct profile *p, struct cgroup_limits *limits,
			  struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };

	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
		enum layer l = limit_layers[i];

		if (!(c->missing & CGROUP_BIT(i)))
			continue;
		if (!(p->optional & LAYER_BIT(l)))
			strbuf_printf(&names, "%s'%s'", names.len ? ", " : "", layer_info(l)->name);
	}
	if (names.len)
		return fault_set(f, EPERM,
				 "cannot enforce %s: %s (or list it in the profile's enforce.optional)",
				 names.text ? names.text : "a limit", c->why);
	if (c->missing & CGROUP_BIT(CGROUP_MEMORY))
		limits->memory = 0;
	if (c->missing & CGROUP_BIT(CGROUP_PIDS))
		limits->pids = 0;
	if (c->missing & CGROUP_BIT(CGROUP_CPU))
		limits->cpu_percent = 0;
	return 0;
}

struct job {
	struct session_place place; /* first: the creator's argument */
	const struct dirs *dirs;
	struct session_record *record;
	struct session_gate *gate;
	struct session_evidence *evidence;
	const struct subject *subject;
};

static void sweep(void *arg)
{
	struct job *j = arg;
	_cleanup_fault_ struct fault f = { 0 };

	session_record_meanwhile(j->record, j->dirs);
	/* Not this run's fault: said aloud, ignoring. */
	if (session_recover_dead(j->record, j->dirs, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

static int release(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	const struct job *j = arg;
	int r;

	/* The last look at the approval, with the digest of what stands there and waits for GO. */
	r = session_evidence_hold(j->evidence, pid, j->subject, f);
	if (r == 0)
		r = session_gate_consume(j->gate, f);
	return r < 0 ? r : session_record_start(j->record, pid, layers, f);
}

static int tick(void *arg)
{
	const struct job *j = arg;

	return session_record_tick(j->record);
}

/* The command's status is worth more than what could not be cleaned up: the next start tries again. */
static void complain(int r, struct fault *f)
{
	if (r < 0)
		log_error("%s, ignoring", fault_text(f));
	fault_done(f);
}

static int supervise(const struct run_options *o, struct session_run *run, struct session *s,
		     struct run_result *ret, const char **ret_refused, struct fault *f)
{
	const struct docket *d = &run->docket;
	const struct profile *p = &d->asked;
	const uint32_t layers = d->subject->layers;
	_cleanup_cgroup_ struct cgroup cgroup = { 0 };
	struct warden_job w = {
		.ops = &libcrun_ops,
		.session = s,
		.subject = d->subject,
		.cgroup = &cgroup,
		.limits = { .memory = layers & LAYER_BIT(LAYER_MEMORY_LIMIT) ? p->limit_memory : 0,
			    .pids = layers & LAYER_BIT(LAYER_PIDS_LIMIT) ? p->limit_pids : 0,
			    .cpu_percent = layers & LAYER_BIT(LAYER_CPU_LIMIT) ? p->limit_cpu_percent : 0 },
		.time_s = layers & LAYER_BIT(LAYER_TIME_LIMIT) ? p->limit_time_s : 0,
		.disk = layers & LAYER_BIT(LAYER_DISK_LIMIT) ? p->limit_disk : 0,
		.prepare = session_place_prepare,
		.meanwhile = sweep,
		.release = release,
		.tick = tick,
		.stdio = { o->stdio[0], o->stdio[1], o->stdio[2] },
		.terminal = o->terminal || terminal_is_one(o->stdio),
		.status_fd = o->status_fd,
	};
	_cleanup_fault_ struct fault left = { 0 };
	_cleanup_session_evidence_ struct session_evidence evidence = SESSION_EVIDENCE_NONE;
	struct job job = { .dirs = &d->dirs,
			   .record = &run->record,
			   .gate = &run->gate,
			   .evidence = &evidence,
			   .subject = d->subject };
	int r;

	r = session_place_init(&job.place, &d->dirs, s, d->subject, w.terminal, f);
	if (r == 0)
		r = session_record_attach(&run->record, s, &d->dirs, f);
	if (r == 0)
		r = cgroup_open(s->run_fd, s->id, &w.limits, &cgroup, f);
	if (r == 0) {
		*ret_refused = REFUSED_LIMITS;
		r = require_limits(&cgroup, p, &w.limits, f);
	}
	if (r == 0) {
		*ret_refused = REFUSED_SETUP;
		w.layer_dir = job.place.upper;
		w.arg = &job;
		r = warden_run(&w, ret, f);
	}
	complain(cgroup_remove(&cgroup, &left), &left);
	if (r == 0 && ret->exit.reason != EXIT_REASON_SETUP_FAILED) {
		const struct session_evidence_case c = { .docket = d,
							 .session = s,
							 .upper = job.place.upper,
							 .interactive = o->interactive || o->canary };

		session_record_close(&run->record, ret);
		session_evidence_take(&evidence, &c, ret);
	}
	session_place_done(&job.place);
	return r;
}

/* Also of a refusal: as far as is known. */
static void name_result(const struct run_options *o, const struct session_run *run, struct run_result *ret)
{
	const struct profile *p = run->docket.profile;

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
static void conclude(struct session_record *r, struct run_result *res)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (res->exit.reason == EXIT_REASON_SETUP_FAILED) {
		/* Not even the release was tried, or it failed. */
		r->started = false;
		session_record_refuse(r, is_refused_by_layer(res) ? REFUSED_LAYER : REFUSED_SETUP,
				      res->detail ? res->detail : "");
		return;
	}
	if (session_record_end(r, res, &f) < 0) {
		log_error("%s", fault_text(&f));
		res->unrecorded = true;
	}
}

static void name_record(const struct run_options *o, struct session_run *run)
{
	const struct docket *d = &run->docket;

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
	const struct subject *s = run->docket.subject;

	r->profile = run->docket.profile->name;
	r->env = s->env;
	r->cwd = s->worktree ? s->worktree : s->cwd;
	return session_gate_describe(&run->gate, &run->docket, r, f);
}

/*
 * Before anything of the session exists: lane, configuration, profile, subject, digest, policy, approval.  Without both
 * keys not even the ledger of prod is touched: that refusal stands in the sandbox lane's.
 */
static int allow(const struct run_options *o, struct session_run *run, const char **ret_refused,
		 struct fault *f)
{
	struct docket *d = &run->docket;
	int r;

	*ret_refused = REFUSED_LANE;
	r = open_lane(o, run, f);
	if (r < 0) {
		_cleanup_fault_ struct fault ignored = { 0 };

		dirs_done(&d->dirs);
		if (dirs_load(&d->dirs, &ignored) < 0)
			*ret_refused = NULL;
		run->record.state = d->dirs.state;
		run->status = STATUS_LANE;
		return r;
	}
	r = open_docket(o, run->id, run, ret_refused, f);
	if (r == -LANE_REFUSED)
		run->status = STATUS_LANE;
	if (r == 0) {
		*ret_refused = REFUSED_INSTALLATION;
		r = require_init(&d->dirs, f);
	}
	if (r == 0) {
		*ret_refused = NULL;
		r = session_record_open(&run->record, f);
	}
	if (r == 0)
		r = judge(o, run, ret_refused, f);
	if (r == 0)
		r = complete_record(run, f);
	if (r == 0)
		r = session_gate_ask(&run->gate, o, run->record.ledger, &run->record.run, &run->status,
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
		r = session_record_intend(&run->record, f);
	if (r < 0)
		return r;
	*ret_refused = REFUSED_SETUP;
	r = session_open(&run->docket.dirs, run->pass, run->id, &s, f);
	if (r == -LANE_REFUSED)
		run->status = STATUS_LANE;
	if (r < 0)
		return r;
	name_result(o, run, ret);
	r = supervise(o, run, &s, ret, ret_refused, f);
	/* Before the directory goes, and with it the session's own chain. */
	if (r == 0)
		conclude(&run->record, ret);
	complain(session_remove(&s, &left), &left);
	return r;
}

/* From the intent to the removal no signal ends us: the supervision hears them all. */
static int start(const struct run_options *o, struct session_run *run, struct run_result *ret,
		 const char **ret_refused, struct fault *f)
{
	sigset_t before;
	int r = warden_hold_signals(&before, f);

	if (r < 0)
		return r;
	r = start_held(o, run, ret, ret_refused, f);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void refuse(const struct run_options *o, struct session_run *run, const char *refused,
		   struct run_result *ret, const struct fault *f)
{
	int status = run->status;

	result_done(ret);
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
		session_record_refuse(&run->record, refused, fault_text(f));
}

int session_run(const struct run_options *o, struct run_result *ret, struct session_run **ret_run,
		struct fault *f)
{
	_cleanup_session_run_ struct session_run *run = NULL;
	const char *refused;
	int r;

	r = new_run(&run, f);
	if (r < 0)
		return r;
	r = docket_place(o, &run->docket, f);
	if (r < 0 && !run->docket.dirs.state)
		return r;
	name_record(o, run);
	refused = run->docket.refused;
	if (r == 0)
		r = allow(o, run, &refused, f);
	if (r == 0)
		r = start(o, run, ret, &refused, f);
	session_gate_release(&run->gate, r < 0 && refused ? refused : REFUSED_SETUP);
	if (r < 0)
		refuse(o, run, refused, ret, f);
	*ret_run = TAKE_PTR(run);
	return r;
}

static void describe_verdict(const struct docket *d)
{
	const struct verdict *v = d->verdict;
	char digest[SUBJECT_DIGEST_SIZE] = "(the lane has no digest key yet: 'custody check' makes it)";

	if (d->document)
		subject_digest_to_text(&d->digest, digest);
	log_info("lane %s, digest %s", lane_name(d->dirs.lane), digest);
	log_info("policy says %s, level %c", decision_name(v->decision), v->level);
	for (size_t i = 0; i < v->n_reasons; i++)
		log_info("  %s: %s", v->reasons[i].id, v->reasons[i].text);
}

int session_describe(const struct run_options *o, char **ret, struct fault *f)
{
	_cleanup_session_run_ struct session_run *run = NULL;
	_cleanup_free_ char *init = NULL;
	const struct docket *d;
	const char *refused;
	struct placement pl = {
		.uid_base = SESSION_ID_BASE,
		.gid_base = SESSION_ID_BASE,
		.n_ids = SESSION_IDS,
		.rootfs = "/run/custody/m/root",
		.report_fd = INIT_FD,
		.terminal = o->terminal,
	};
	int r;

	r = new_run(&run, f);
	if (r == 0)
		r = docket_place(o, &run->docket, f);
	if (r == 0)
		r = open_lane(o, run, f);
	if (r == 0)
		r = open_docket(o, "SESSION", run, &refused, f);
	if (r == 0)
		r = judge(o, run, &refused, f);
	if (r < 0)
		return r;
	d = &run->docket;
	init = path_join(d->dirs.libexec, "custody-init");
	if (!init)
		return fault_errno(f, ENOMEM, "run");
	if (d->dirs.rootless) {
		pl.rootless = true;
		pl.uid_base = geteuid();
		pl.gid_base = getegid();
		pl.n_ids = 1;
	}
	pl.init = init;
	pl.worktree =
		d->subject->worktree ? (pl.rootless ? d->subject->worktree : "/run/custody/m/tree") : NULL;
	if (d->asked.workspace == PROFILE_WORKSPACE_OVERLAY) {
		pl.upper = "/run/custody/m/l/u";
		pl.work = "/run/custody/m/l/w";
	}
	if (operand_has_layer(d->subject))
		pl.sealed = "/run/custody/m/sealed";
	describe_verdict(d);
	return session_place_config(d->subject, &pl, true, ret, f);
}
