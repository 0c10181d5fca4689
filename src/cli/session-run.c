/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session-run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "cli/profile-open.h"
#include "cli/session-place.h"
#include "cli/session-record.h"
#include "oci/libcrun-adapter.h"
#include "warden/init-proto.h"
#include "warden/terminal.h"
#include "warden/warden.h"

extern char **environ;

/* Everything that one run owns, in the order it is made. */
struct session_run {
	char id[SESSION_ID_SIZE];
	struct dirs dirs;
	struct profile *profile; /* as loaded */
	struct profile asked;	 /* the copy that the command line changed; shares the loaded one's memory */
	struct subject *subject;
	struct session_record record;
};

void session_run_free(struct session_run *r)
{
	if (!r)
		return;
	session_record_done(&r->record);
	subject_free(r->subject);
	profile_free(r->profile);
	dirs_done(&r->dirs);
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

/* What the options can say before it is carried out is refused, not ignored. */
static int require_wired(const struct run_options *o, struct fault *f)
{
	const char *name = o->lane	   ? "lane"
			   : o->allow_prod ? "allow-prod"
			   : o->provenance ? "provenance"
					   : NULL;

	if (!name)
		name = o->wait ? "wait" : o->grants ? "grant" : o->no_seal ? "no-seal" : NULL;
	if (!name)
		name = o->seal_tree ? "seal-tree" : o->yes ? "yes" : NULL;
	return name ? fault_set(f, ENOTSUP, "--%s is not in this version of custody", name) : 0;
}

/* Names of refusals in the ledger: stable. */
#define REFUSED_PROFILE "profile"
#define REFUSED_UNSUPPORTED "unsupported"
#define REFUSED_SUBJECT "subject"
#define REFUSED_INSTALLATION "installation"
#define REFUSED_LIMITS "limits"
#define REFUSED_LAYER "layer"
#define REFUSED_SETUP "setup-failed"

static int load_profile(const struct run_options *o, const char *id, struct session_run *r,
			const char **ret_refused, struct fault *f)
{
	int e;

	*ret_refused = REFUSED_PROFILE;
	e = profile_open(&r->dirs, o->profile, id, &r->profile, f);
	if (e < 0)
		return e;
	*ret_refused = REFUSED_UNSUPPORTED;
	e = profile_require_supported(r->profile, f);
	if (e < 0)
		return e;
	if (!r->profile->process_init)
		return fault_set(f, ENOTSUP,
				 "profile '%s': process.init is false, but 'custody run' proves the layers "
				 "through init; "
				 "set it to true, or use: custody bundle -o DIR -- COMMAND",
				 r->profile->name);
	return 0;
}

static int load(const struct run_options *o, const char *id, struct session_run *r, const char **ret_refused,
		struct fault *f)
{
	struct subject_request rq = { .argv = o->argv,
				      .env = o->env,
				      .volumes = o->volumes,
				      .workdir = o->workdir,
				      .hostname = o->hostname,
				      .home = r->dirs.home,
				      .environ = environ };
	int e;

	e = load_profile(o, id, r, ret_refused, f);
	if (e < 0)
		return e;
	*ret_refused = REFUSED_SUBJECT;
	r->asked = *r->profile;
	session_apply_options(&r->asked, o);
	e = profile_require_lane(&r->asked, r->dirs.lane, f);
	if (e < 0)
		return e;
	e = subject_build(&r->asked, &rq, &r->subject, f);
	if (e == 0)
		e = subject_require_apart(r->subject, &r->dirs, f);
	if (e == 0 && !(r->subject->layers & LAYER_BIT(LAYER_USER_NS)))
		e = leave_user_namespace_out(o, &r->dirs, f);
	return e;
}

static int new_run(const struct run_options *o, struct session_run **ret, struct fault *f)
{
	_cleanup_session_run_ struct session_run *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return fault_errno(f, ENOMEM, "run");
	r->record = SESSION_RECORD_NONE;
	e = require_wired(o, f);
	if (e == 0)
		e = dirs_load(&r->dirs, f);
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
};

/*
 * A dead supervisor's container.  Its cgroup names every process of it; a user's run may have none, then the runtime's
 * state in the session's directory names the first one.
 */
static int release_stale(void *arg, const char *id, int run_fd, struct fault *f)
{
	const struct job *j = arg;
	_cleanup_free_ char *root = NULL;
	struct runtime_request rq = { .id = id, .bundle = "/" };
	int r;

	if (faccessat(run_fd, SESSION_PLACE_STATE, F_OK, 0) == 0) {
		if (asprintf(&root, "%s/sessions/%s/" SESSION_PLACE_STATE, j->dirs->run, id) < 0) {
			root = NULL;
			return fault_errno(f, ENOMEM, "session '%s'", id);
		}
		rq.state_root = root;
		(void)libcrun_ops.destroy(&rq, true, NULL);
	}
	r = cgroup_release(run_fd, f);
	return r < 0 ? r : session_record_lost(j->record, id, f);
}

static void sweep(void *arg)
{
	struct job *j = arg;
	_cleanup_fault_ struct fault f = { 0 };

	session_record_meanwhile(j->record, j->dirs);
	/* Not this run's fault: said aloud, ignoring. */
	if (session_sweep(j->dirs, release_stale, j, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

static int release(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	const struct job *j = arg;

	return session_record_start(j->record, pid, layers, f);
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
	const struct profile *p = &run->asked;
	const uint32_t layers = run->subject->layers;
	_cleanup_cgroup_ struct cgroup cgroup = { 0 };
	struct warden_job w = {
		.ops = &libcrun_ops,
		.session = s,
		.subject = run->subject,
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
	struct job job = { .dirs = &run->dirs, .record = &run->record };
	int r;

	r = session_place_init(&job.place, &run->dirs, s, run->subject, w.terminal, f);
	if (r == 0)
		r = session_record_attach(&run->record, s, &run->dirs, f);
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
	session_place_done(&job.place);
	return r;
}

static void name_result(const struct run_options *o, const struct session_run *run, const char *id,
			struct run_result *ret)
{
	memcpy(ret->session, id, sizeof(ret->session));
	ret->profile = run->profile->name;
	ret->profile_digest = &run->profile->digest;
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
	run->record.state = run->dirs.state;
	run->record.run = (struct ledger_run){
		.action = "run",
		.session = run->id,
		.agent = o->agent,
		.worker = o->worker,
		.issue = o->issue,
		.lane = "sandbox",
		.profile = o->profile,
		.argv = o->argv,
		.sandbox = true,
	};
}

/* The names of its environment and its place are known only now. */
static void complete_record(struct session_run *run)
{
	struct ledger_run *r = &run->record.run;

	r->profile = run->profile->name;
	r->env = run->subject->env;
	r->cwd = run->subject->worktree ? run->subject->worktree : run->subject->cwd;
}

/* Recorded, nothing of it exists yet. */
static int start(const struct run_options *o, struct session_run *run, struct run_result *ret,
		 const char **ret_refused, struct fault *f)
{
	_cleanup_session_ struct session s = { .run_fd = -EBADF, .ids_fd = -EBADF };
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	_cleanup_fault_ struct fault left = { 0 };
	int r;

	*ret_refused = REFUSED_SETUP;
	r = lane_gate(&(struct lane_ask){ .lane = run->dirs.lane }, &pass, f);
	if (r == 0)
		r = session_open(&run->dirs, pass, run->id, &s, f);
	if (r < 0)
		return r;
	name_result(o, run, run->id, ret);
	r = supervise(o, run, &s, ret, ret_refused, f);
	/* Before the directory goes, and with it the session's own chain. */
	if (r == 0)
		conclude(&run->record, ret);
	complain(session_remove(&s, &left), &left);
	return r;
}

int session_run(const struct run_options *o, struct run_result *ret, struct session_run **ret_run,
		struct fault *f)
{
	_cleanup_session_run_ struct session_run *run = NULL;
	const char *refused = NULL;
	int r;

	r = new_run(o, &run, f);
	if (r == 0)
		r = clock_session_id(run->id, f);
	if (r < 0)
		return r;
	name_record(o, run);
	r = load(o, run->id, run, &refused, f);
	if (r == 0) {
		refused = REFUSED_INSTALLATION;
		r = require_init(&run->dirs, f);
	}
	if (r == 0) {
		refused = NULL;
		complete_record(run);
		r = session_record_intend(&run->record, f);
	}
	if (r == 0)
		r = start(o, run, ret, &refused, f);
	if (r < 0) {
		if (refused)
			session_record_refuse(&run->record, refused, fault_text(f));
		return r;
	}
	*ret_run = TAKE_PTR(run);
	return 0;
}

int session_describe(const struct run_options *o, char **ret, struct fault *f)
{
	_cleanup_session_run_ struct session_run *run = NULL;
	_cleanup_free_ char *init = NULL;
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

	r = new_run(o, &run, f);
	if (r == 0)
		r = load(o, "SESSION", run, &refused, f);
	if (r < 0)
		return r;
	init = path_join(run->dirs.libexec, "custody-init");
	if (!init)
		return fault_errno(f, ENOMEM, "run");
	if (run->dirs.rootless) {
		pl.rootless = true;
		pl.uid_base = geteuid();
		pl.gid_base = getegid();
		pl.n_ids = 1;
	}
	pl.init = init;
	pl.worktree = run->subject->worktree ? (pl.rootless ? run->subject->worktree : "/run/custody/m/tree")
					     : NULL;
	if (run->asked.workspace == PROFILE_WORKSPACE_OVERLAY) {
		pl.upper = "/run/custody/m/l/u";
		pl.work = "/run/custody/m/l/w";
	}
	if (operand_has_layer(run->subject))
		pl.sealed = "/run/custody/m/sealed";
	return session_place_config(run->subject, &pl, true, ret, f);
}
