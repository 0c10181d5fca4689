/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/seam.h"
#include "base/str.h"
#include "run/run-broker.h"
#include "run/run-detach.h"
#include "run/run-egress.h"
#include "run/run-evidence.h"
#include "run/run-exec.h"
#include "run/run-housekeeping.h"
#include "run/run-limits.h"
#include "run/run-recovery-files.h"
#include "run/run-prepare.h"
#include "run/run-recover.h"
#include "run/run-impl.h"
#include "run/run-scope.h"
#include "run/run-trace.h"
#include "session/session-owners.h"
#include "worktree/overlay-server.h"
#include "worktree/mount-watch.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "oci/seccomp/seccomp.h"
#include "tty/terminal.h"
#include "warden/warden.h"
#include "subject/subject-prove-root.h"

/* Refused unless every missing limit is optional; those are not asked of the cgroup. */
static int require_limits(struct run *run, const struct cgroup *c, struct cgroup_limits *limits,
			  struct run_limits_instead *instead, struct fault *f)
{
	const struct run_plan *d = &run->plan;
	int r;

	r = run_limits_require(c, &d->asked, run->options->words, &run->remedy, f);
	if (r < 0 || !c->missing)
		return r;
	run_limits_replace(run_limits_missing(c), limits, d->subject, instead);
	if (!run->options->canary)
		run_limits_announce(c, instead, d->subject);
	if (c->missing & CGROUP_BIT(CGROUP_MEMORY))
		limits->memory = 0;
	if (c->missing & CGROUP_BIT(CGROUP_PIDS))
		limits->pids = 0;
	if (c->missing & CGROUP_BIT(CGROUP_CPU))
		limits->cpu_percent = 0;
	return 0;
}

struct job {
	struct run_prepare place; /* first: the creator's argument */
	struct run *run;
	struct run_evidence *evidence;
	struct run_broker *broker;
	struct run_trace *trace;
	struct run_egress *egress;
	const struct output_log *log;
	struct fault
		undescribed; /* why session.json or the files for recovery are missing; code 0: they exist */
	struct mount_watch *watch;
	struct overlay_server *server;
	struct run_limits_instead instead;
	struct run_scope *scope;
	struct cgroup *cgroup;
	struct cgroup_limits *limits;
};

/* session.json, and the files from which recovery works if this process is killed. */
static int describe_session(struct job *j)
{
	struct run *run = j->run;
	int r;

	r = run_note_begin(run, &j->undescribed);
	if (r < 0)
		return r;
	seam("note-written");
	if (!run->options->canary)
		r = run_recovery_files_begin(run, &run->session, &j->undescribed);
	if (r == 0)
		seam("papers-left");
	return r;
}

/* While the creator works. */
static void creating(void *arg, pid_t creator)
{
	struct job *j = arg;

	run_scope_ask(j->scope, creator);
	run_broker_forget(j->broker);
	if (run_trace_start(j->trace, &j->undescribed) < 0)
		return;
	if (describe_session(j) == 0)
		run_housekeeping(&j->run->ledger);
}

/* The creator waits. */
static int place(void *arg, pid_t creator, struct fault *f)
{
	struct job *j = arg;
	int r;

	j->run->decision.refused = REFUSED_LIMITS;
	r = run_scope_join(j->scope, creator, j->cgroup, f);
	if (r == 0)
		r = require_limits(j->run, j->cgroup, j->limits, &j->instead, f);
	if (r == 0)
		j->run->decision.refused = REFUSED_SETUP;
	return r;
}

/* init waits before it proves the layers. */
static int network(void *arg, pid_t pid, struct fault *f)
{
	const struct job *j = arg;

	return run_egress_prepare(j->egress, pid, f);
}

/* While init proves the layers. */
static void created(void *arg)
{
	struct job *j = arg;

	if (!j->undescribed.code && run_recovery_files_config(j->run, j->place.config, &j->undescribed) == 0)
		seam("config-left");
}

static void orphan(void *arg)
{
	const struct job *j = arg;

	run_recover_container(&j->run->plan.dirs, j->run->id, j->run->session.run_fd);
}

/* The worktree that the waiting container sees is the one that was judged, and it stays readable for evidence. */
static int hold_worktree(const struct job *j, pid_t pid, struct fault *f)
{
	const struct run_plan *d = &j->run->plan;
	int r;

	r = overlay_server_guard(j->server, -EBADF, f);
	if (r == 0)
		r = run_evidence_hold(j->evidence, pid, d->subject, f);
	if (r == 0)
		r = mount_watch_verify(j->watch, f);
	/* A user has 128 inotify instances: do not keep one for as long as the command runs. */
	mount_watch_done(j->watch);
	if (r == 0 && d->root)
		r = subject_prove_root(d->root, d->subject, pid, f);
	overlay_server_unguard(j->server);
	return r;
}

/* The last verification of the approval, with the digest of the container that waits for GO. */
static int release(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	const struct job *j = arg;
	int r;

	if (j->undescribed.code)
		return fault_set(f, j->undescribed.code, "%s", fault_text(&j->undescribed));
	seam("worktree-wanted");
	r = hold_worktree(j, pid, f);
	seam("worktree-held");
	if (r == 0)
		r = run_limits_set(&j->instead, pid, f);
	if (r == 0)
		r = run_broker_start(j->broker, pid, f);
	if (r == 0)
		r = run_egress_start(j->egress, f);
	if (r == 0)
		r = decision_consume(&j->run->decision, f);
	seam("approval-consumed");
	if (r == 0)
		r = run_ledger_start(&j->run->ledger, pid, layers, f);
	if (r == 0)
		run_trace_begin(j->trace);
	seam("start-recorded");
	return r;
}

static void started(void *arg)
{
	const struct job *j = arg;

	run_detach_announce(j->run->options, j->run->id, j->log->fd);
}

/* Only of a detached run. */
static int open_log(const struct run_options *o, const struct session *s, int *ret_dir,
		    struct output_log *ret, struct fault *f)
{
	if (o->detach_fd < 0)
		return 0;
	*ret_dir = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_dir < 0)
		return fault_errno(f, errno, "open '%s'", s->state);
	return output_log_open(ret, *ret_dir, SESSION_LOG, SESSION_LOG_OLD, OUTPUT_LOG_MAX, f);
}

/* Init installs the filter before it reports, and the command starts after that. */
static int listener(void *arg, int fd, struct fault *f)
{
	const struct job *j = arg;

	if (j->undescribed.code)
		return fault_set(f, j->undescribed.code, "%s", fault_text(&j->undescribed));
	return trace_give(&j->trace->trace, fd, f);
}

static int tick(void *arg)
{
	const struct job *j = arg;

	return decision_tick(&j->run->decision);
}

void run_report_leftover(int r, struct fault *f)
{
	if (r < 0)
		log_error("%s, ignoring", fault_text(f));
	fault_done(f);
}

/* The server's program is confined no less than the payload whose requests it answers. */
static int serve(const struct job *j, struct warden_job *w, struct fault *f)
{
	const struct overlay_server_limits l = { .seccomp = seccomp_plain(),
						 .memory = j->run->plan.subject->profile->limit_memory };

	w->keep_fd = &j->server->fd;
	w->layer_also = j->place.work;
	return overlay_server_start(&l, j->server, f);
}

/* The worktree was unmounted under the command: its exit status is no success. */
static void report_server_failure(struct overlay_server *s, int tree, struct run_result *res)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (overlay_server_guard(s, tree, &f) == 0 && overlay_server_check(s, tree, &f) == 0)
		return;
	log_error("%s; the changes may be incomplete", fault_text(&f));
	res->worktree_lost = true;
	free(res->detail);
	res->detail = strdup(fault_text(&f));
}

static int offer_tools(struct job *j, struct warden_job *w, struct fault *f)
{
	struct run_broker *b = j->broker;
	int r = run_broker_open(b, j->run, f);

	if (r < 0 || !b->run)
		return r;
	j->place.token = b->token;
	w->keep_also = &b->listen_fd;
	w->sides[0] = &b->side;
	return 0;
}

static int observe(struct job *j, struct warden_job *w, struct fault *f)
{
	int r = run_trace_open(j->trace, j->run, f);

	j->trace->token = j->broker->run ? &j->broker->hash : NULL;
	w->filter_fd = &j->trace->filter_fd;
	w->sides[1] = &j->trace->side;
	return r;
}

static void allow_hosts(struct job *j, struct warden_job *w)
{
	run_egress_open(j->egress, j->run);
	if (!j->egress->run)
		return;
	w->network = network;
	w->sides[2] = &j->egress->side;
}

/* The limits for which the subject has a layer. */
static void set_limits(const struct run_plan *d, struct warden_job *w)
{
	const struct profile *p = &d->asked;
	const uint32_t layers = d->subject->layers;

	w->limits = (struct cgroup_limits){
		.memory = layers & LAYER_BIT(LAYER_MEMORY_LIMIT) ? p->limit_memory : 0,
		.pids = layers & LAYER_BIT(LAYER_PIDS_LIMIT) ? p->limit_pids : 0,
		.cpu_percent = layers & LAYER_BIT(LAYER_CPU_LIMIT) ? p->limit_cpu_percent : 0,
	};
	w->time_s = layers & LAYER_BIT(LAYER_TIME_LIMIT) ? p->limit_time_s : 0;
	w->disk = layers & LAYER_BIT(LAYER_DISK_LIMIT) ? p->limit_disk : 0;
}

/* Every process of the container is gone.  If it fails, the next start tries again, before it removes anything. */
static void return_owners(const struct session *s)
{
	_cleanup_close_ int dir = -EBADF;
	_cleanup_fault_ struct fault f = { 0 };

	if (!id_map_is_set(&s->ids) || !s->has_state)
		return;
	dir = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		(void)fault_errno(&f, errno, "open '%s'", s->state);
	if (dir < 0 || session_owners_return(dir, &f) < 0)
		log_error("%s", fault_text(&f));
}

static int open_cgroup(struct job *j, struct fault *f)
{
	const struct session *s = &j->run->session;

	j->scope->run_fd = s->run_fd;
	j->scope->id = s->id;
	j->scope->want = j->limits;
	return run_scope_open(j->scope, j->run->plan.dirs.libexec, j->cgroup, f);
}

static void capture(const struct job *j)
{
	const struct run *run = j->run;
	const struct run_evidence_case c = { .plan = &run->plan,
					     .session = &run->session,
					     .upper = j->place.upper,
					     .config = j->place.config,
					     .server = j->server,
					     .interactive =
						     run->options->interactive || run->options->canary };

	report_server_failure(j->server, j->evidence->tree, run->result);
	run_evidence_capture(j->evidence, &c, run->result);
}

int run_supervise(struct run *run, struct fault *f)
{
	const struct run_options *o = run->options;
	const struct run_plan *d = &run->plan;
	struct session *s = &run->session;
	struct decision *decision = &run->decision;
	_cleanup_cgroup_ struct cgroup cgroup = { 0 };
	_cleanup_run_scope_ struct run_scope scope = RUN_SCOPE_NONE;
	_cleanup_run_evidence_ struct run_evidence evidence = RUN_EVIDENCE_NONE;
	_cleanup_overlay_server_ struct overlay_server server = OVERLAY_SERVER_NONE;
	_cleanup_output_log_ struct output_log log = OUTPUT_LOG_NONE;
	_cleanup_close_ int log_dir = -EBADF;
	_cleanup_mount_watch_ struct mount_watch watch = MOUNT_WATCH_NONE;
	_cleanup_run_broker_ struct run_broker broker = RUN_BROKER_NONE;
	_cleanup_run_trace_ struct run_trace trace = RUN_TRACE_NONE;
	_cleanup_run_egress_ struct run_egress egress = RUN_EGRESS_NONE;
	_cleanup_run_exec_ struct run_exec exec = { .job = { .fd = -EBADF } };
	struct warden_job w = {
		.ops = &adapter_ops,
		.session = s,
		.subject = d->subject,
		.cgroup = &cgroup,
		.prepare = run_prepare_container,
		.creating = creating,
		.created = created,
		.orphan = orphan,
		.listener = listener,
		.release = release,
		.started = started,
		.tick = tick,
		.stdio = { o->stdio[0], o->stdio[1], o->stdio[2] },
		.tail = &evidence.tail,
		.interactive = o->interactive,
		.quiet = o->quiet,
		.json = o->json && !o->detach,
		.status_fd = o->status_fd,
	};
	_cleanup_fault_ struct fault left = { 0 };
	struct job job = { .run = run,
			   .evidence = &evidence,
			   .broker = &broker,
			   .trace = &trace,
			   .egress = &egress,
			   .log = &log,
			   .watch = &watch,
			   .server = &server,
			   .scope = &scope,
			   .cgroup = &cgroup,
			   .limits = &w.limits };
	int r;

	set_limits(d, &w);
	w.terminal = terminal_plan(o->stdio, o->terminal);
	r = tail_open(&evidence.tail, f);
	if (r == 0)
		r = run_prepare_init(&job.place, &d->dirs, s, d->subject, w.terminal.pty, f);
	if (r == 0)
		r = run_ledger_attach(&run->ledger, s, f);
	if (r == 0)
		r = open_log(o, s, &log_dir, &log, f);
	if (r == 0)
		r = offer_tools(&job, &w, f);
	if (r == 0)
		r = observe(&job, &w, f);
	allow_hosts(&job, &w);
	if (r == 0)
		r = open_cgroup(&job, f);
	if (r == 0) {
		w.place = scope.open ? place : NULL;
		decision->refused = REFUSED_LIMITS;
		r = require_limits(run, &cgroup, &w.limits, &job.instead, f);
	}
	if (r == 0) {
		decision->refused = REFUSED_SETUP;
		r = profile_is_fuse(&d->asked) ? serve(&job, &w, f) : 0;
	}
	if (r == 0 && d->base.open) {
		job.place.base = &d->base;
		r = operand_require_same(d->subject, f);
	}
	if (r == 0) {
		w.layer_dir = job.place.upper;
		w.layer_ids = &s->ids;
		if (job.place.repository_upper)
			w.layer_also = job.place.repository_upper;
		w.arg = &job;
		w.log = log.fd < 0 ? NULL : &log;
		r = mount_watch_open(d->subject, s->rootless, &watch, f);
	}
	if (r == 0) {
		run_exec_open(run, &exec);
		w.exec = exec.job.fd < 0 ? NULL : &exec.job;
		r = warden_run(&w, run->result, f);
	}
	/* Before the chain is closed. */
	run_broker_end(&broker);
	run_egress_end(&egress);
	run_trace_end(&trace);
	if (r == 0 && log.error)
		run->result->output_error = log.error;
	run_report_leftover(cgroup_remove(&cgroup, &left), &left);
	seam("cgroup-removed");
	if (r == 0 && run->result->exit.reason != EXIT_REASON_SETUP_FAILED) {
		run_ledger_close(&run->ledger, run->result);
		seam("chain-closed");
		return_owners(s);
		capture(&job);
	}
	/* Only the upper is left of the session, and it is complete. */
	overlay_server_stop(&server);
	run_prepare_done(&job.place);
	fault_done(&job.undescribed);
	return r;
}
