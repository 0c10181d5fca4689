/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/seam.h"
#include "base/str.h"
#include "review/review-prune.h"
#include "run/run-detach.h"
#include "run/run-evidence.h"
#include "run/run-recovery-files.h"
#include "run/run-prepare.h"
#include "run/run-recover.h"
#include "run/run-impl.h"
#include "evidence/delivery.h"
#include "worktree/overlay-server.h"
#include "worktree/mount-watch.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "oci/seccomp/seccomp.h"
#include "tty/terminal.h"
#include "warden/warden.h"
#include "subject/subject-prove-root.h"

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
	struct run_prepare place; /* first: the creator's argument */
	const struct dirs *dirs;
	struct run_ledger *record;
	struct run_approval *gate;
	struct run_evidence *evidence;
	const struct subject *subject;
	struct session_run *run;
	const struct run_options *options;
	struct session *session;
	const struct output_log *log;
	struct fault note;		 /* why there is no note of the session, or no papers */
	const struct sandbox_root *root; /* NULL: in none */
	struct mount_watch *way;
	struct overlay_server *server;
};

static void meanwhile(void *arg)
{
	struct job *j = arg;
	_cleanup_fault_ struct fault f = { 0 };

	if (run_note_begin(j->run, j->options, j->session, &j->note) < 0)
		return;
	seam("note-written");
	if (!j->options->canary && run_recovery_files_begin(j->run, j->session, &j->note) < 0)
		return;
	seam("papers-left");
	run_ledger_meanwhile(j->record, j->dirs);
	seam("peer-told");
	/* Not this run's fault: said aloud, ignoring. */
	if (session_recover_start(j->record, j->dirs, &f) < 0 ||
	    review_prune_hourly(j->dirs, j->run->plan.config, NULL, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
	delivery_kick(j->dirs, j->record->config);
}

/* While it is started and looks around. */
static void created(void *arg)
{
	struct job *j = arg;

	if (!j->note.code && run_recovery_files_config(j->session, j->place.config, &j->note) == 0)
		seam("config-left");
}

static void orphan(void *arg)
{
	const struct job *j = arg;

	session_recover_container(j->dirs, j->session->id, j->session->run_fd);
}

static int release(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	const struct job *j = arg;
	int r;

	if (j->note.code)
		return fault_set(f, j->note.code, "%s", fault_text(&j->note));
	/* The last look at the approval, with the digest of what stands there and waits for GO. */
	seam("worktree-wanted");
	r = overlay_server_guard(j->server, -EBADF, f);
	if (r == 0)
		r = run_evidence_hold(j->evidence, pid, j->subject, f);
	if (r == 0)
		r = mount_watch_verify(j->way, f);
	/* A user has 128 of what it watches with: not for as long as the command runs. */
	mount_watch_done(j->way);
	if (r == 0 && j->root)
		r = subject_prove_root(j->root, j->subject, pid, f);
	overlay_server_unguard(j->server);
	seam("worktree-held");
	if (r == 0)
		r = run_approval_consume(j->gate, f);
	seam("approval-consumed");
	if (r == 0)
		r = run_ledger_start(j->record, pid, layers, f);
	seam("start-recorded");
	return r;
}

static void started(void *arg)
{
	const struct job *j = arg;

	session_detach_announce(j->options, j->session->id, j->log->fd);
}

/* Of a detached run: it has nobody to talk to. */
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

static int tick(void *arg)
{
	const struct job *j = arg;

	return run_ledger_tick(j->record);
}

/* The command's status is worth more than what could not be cleaned up: the next start tries again. */
void session_complain(int r, struct fault *f)
{
	if (r < 0)
		log_error("%s, ignoring", fault_text(f));
	fault_done(f);
}

/* What the program answers a payload it must not be able to do more with than the payload. */
static int serve(const struct subject *s, struct overlay_server *ret, struct fault *f)
{
	const struct overlay_server_limits l = { .seccomp = seccomp_plain(),
						 .memory = s->profile->limit_memory };

	return overlay_server_start(&l, ret, f);
}

/* Its worktree was gone under it: whatever the command says of itself, nobody shall take it for a success. */
static void complain_of_server(struct overlay_server *s, int tree, struct run_result *res)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (overlay_server_guard(s, tree, &f) == 0 && overlay_server_check(s, tree, &f) == 0)
		return;
	log_error("%s; what was changed may not be whole", fault_text(&f));
	res->worktree_lost = true;
	free(res->detail);
	res->detail = strdup(fault_text(&f));
}

int session_supervise(struct session_run *run, const struct run_options *o, struct session *s,
		      struct run_result *ret, const char **ret_refused, struct fault *f)
{
	const struct run_plan *d = &run->plan;
	const struct profile *p = &d->asked;
	const uint32_t layers = d->subject->layers;
	_cleanup_cgroup_ struct cgroup cgroup = { 0 };
	_cleanup_run_evidence_ struct run_evidence evidence = RUN_EVIDENCE_NONE;
	_cleanup_overlay_server_ struct overlay_server server = OVERLAY_SERVER_NONE;
	_cleanup_output_log_ struct output_log log = OUTPUT_LOG_NONE;
	_cleanup_close_ int log_dir = -EBADF;
	_cleanup_mount_watch_ struct mount_watch way = MOUNT_WATCH_NONE;
	struct warden_job w = {
		.ops = &adapter_ops,
		.session = s,
		.subject = d->subject,
		.cgroup = &cgroup,
		.limits = { .memory = layers & LAYER_BIT(LAYER_MEMORY_LIMIT) ? p->limit_memory : 0,
			    .pids = layers & LAYER_BIT(LAYER_PIDS_LIMIT) ? p->limit_pids : 0,
			    .cpu_percent = layers & LAYER_BIT(LAYER_CPU_LIMIT) ? p->limit_cpu_percent : 0 },
		.time_s = layers & LAYER_BIT(LAYER_TIME_LIMIT) ? p->limit_time_s : 0,
		.disk = layers & LAYER_BIT(LAYER_DISK_LIMIT) ? p->limit_disk : 0,
		.prepare = run_prepare_prepare,
		.meanwhile = meanwhile,
		.created = created,
		.orphan = orphan,
		.release = release,
		.started = started,
		.tick = tick,
		.stdio = { o->stdio[0], o->stdio[1], o->stdio[2] },
		.tail = &evidence.tail,
		.terminal = o->terminal || terminal_is_one(o->stdio),
		.status_fd = o->status_fd,
	};
	_cleanup_fault_ struct fault left = { 0 };
	struct job job = { .dirs = &d->dirs,
			   .record = &run->record,
			   .gate = &run->gate,
			   .evidence = &evidence,
			   .subject = d->subject,
			   .run = run,
			   .options = o,
			   .session = s,
			   .log = &log,
			   .root = d->root,
			   .way = &way,
			   .server = &server };
	int r;

	r = tail_open(&evidence.tail, f);
	if (r == 0)
		r = run_prepare_init(&job.place, &d->dirs, s, d->subject, w.terminal, f);
	if (r == 0)
		r = run_ledger_attach(&run->record, s, &d->dirs, f);
	if (r == 0)
		r = open_log(o, s, &log_dir, &log, f);
	if (r == 0)
		r = cgroup_open(s->run_fd, s->id, &w.limits, &cgroup, f);
	if (r == 0) {
		*ret_refused = REFUSED_LIMITS;
		r = require_limits(&cgroup, p, &w.limits, f);
	}
	if (r == 0 && profile_is_fuse(p)) {
		*ret_refused = REFUSED_SETUP;
		r = serve(d->subject, &server, f);
		w.keep_fd = &server.fd;
		w.layer_also = job.place.work;
	}
	if (r == 0) {
		*ret_refused = REFUSED_SETUP;
		w.layer_dir = job.place.upper;
		w.arg = &job;
		w.log = log.fd < 0 ? NULL : &log;
		r = mount_watch_open(d->subject, s->rootless, &way, f);
	}
	if (r == 0)
		r = warden_run(&w, ret, f);
	if (r == 0 && log.error)
		ret->output_error = log.error;
	session_complain(cgroup_remove(&cgroup, &left), &left);
	seam("cgroup-removed");
	if (r == 0 && ret->exit.reason != EXIT_REASON_SETUP_FAILED) {
		const struct run_evidence_case c = { .plan = d,
						     .session = s,
						     .upper = job.place.upper,
						     .config = job.place.config,
						     .server = &server,
						     .interactive = o->interactive || o->canary };

		run_ledger_close(&run->record, ret);
		seam("chain-closed");
		complain_of_server(&server, evidence.tree, ret);
		run_evidence_capture(&evidence, &c, ret);
	}
	/* Whatever is left of the session is the layer, and that is whole. */
	overlay_server_stop(&server);
	run_prepare_done(&job.place);
	fault_done(&job.note);
	return r;
}
