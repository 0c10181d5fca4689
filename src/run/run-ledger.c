/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/exit-status.h"
#include "run/run-lost.h"
#include "ledger/ledger-audit.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer.h"
#include "state/sandbox-log.h"

#define MS UINT64_C(1000000)
#define REFUSED_LOG "log" /* as the ledger calls it */

static int open_ledger(struct run_ledger *r, struct fault *f)
{
	struct ledger_birth birth = { 0 };
	int e;

	if (r->ledger)
		return 0;
	e = ledger_open(r->state, &(struct ledger_options){ .create = true }, &r->ledger, &birth, f);
	if (e == 0 && birth.made)
		log_info("made the ledger in '%s' and discarded its first seal key: 'custody ledger init%s' "
			 "before the "
			 "first run would have shown it",
			 r->state, str_eq(r->run.lane, "prod") ? " --lane prod" : "");
	explicit_bzero(&birth, sizeof(birth));
	return e;
}

/* What is there to be done when the ledger says no. */
const char *run_ledger_remedy(int e)
{
	switch (e) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return "make room there";
	case -EROFS:
	case -EACCES:
	case -EPERM:
		return "make it writable for you, or set CUSTODY_ROOT to a directory of yours";
	case -EUCLEAN:
		return "'custody ledger verify' says what is wrong";
	default:
		return "'custody doctor' looks at it";
	}
}

static int cannot_record(const struct run_ledger *r, int e, struct fault *f)
{
	return fault_wrap(f, e, "nothing was started, for it could not be recorded in '%s' (%s)", r->state,
			  run_ledger_remedy(e));
}

/* What the ledger was told, for people, in the log of the sandbox root. */
static int tell_log(const struct run_ledger *r, const char *operation, const char *status, struct fault *f)
{
	const struct sandbox_line l = { .agent = r->run.agent,
					.worker = r->run.worker,
					.operation = operation,
					.command = r->run.argv,
					.status = status,
					.redact = r->run.redact };
	int e;

	if (!r->root)
		return 0;
	e = sandbox_log_write(r->root->logs_fd, &l, f);
	return e < 0 ? fault_wrap(f, e, "log of sandbox root '%s' (%s/" SANDBOX_LOGS ")", r->root->name,
				  r->root->path)
		     : 0;
}

/* Where nothing can be refused any more: said aloud. */
static void tell_log_end(const struct run_ledger *r, const char *operation, const char *status)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (tell_log(r, operation, status, &f) < 0)
		log_error("%s; the ledger has it", fault_text(&f));
}

int run_ledger_open(struct run_ledger *r, struct fault *f)
{
	int e = open_ledger(r, f);

	return e < 0 ? cannot_record(r, e, f) : 0;
}

int run_ledger_intend(struct run_ledger *r, struct fault *f)
{
	int e;

	e = open_ledger(r, f);
	if (e == 0)
		e = claim_take(r->state, r->ledger, r->run.session, &r->claim, f);
	if (e == 0) {
		seam("claim-taken");
		e = ledger_intent(r->ledger, &r->run, f);
		if (e < 0)
			claim_drop(&r->claim);
		r->run.intended = e == 0;
		seam("intent-recorded");
	}
	if (e < 0)
		return cannot_record(r, e, f);
	e = tell_log(r, r->run.action, "allowed", f);
	if (e == 0)
		return 0;
	(void)fault_wrap(f, e, "nothing was started (%s)", run_ledger_remedy(e));
	run_ledger_refuse(r, REFUSED_LOG, fault_text(f));
	return e;
}

int run_ledger_attach(struct run_ledger *r, struct session *s, const struct dirs *d, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int e;

	if (!s->has_state) {
		e = session_make_state(s, d, f);
		if (e < 0)
			return e;
	}
	fd = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", s->state);
	e = audit_open(fd, AUDIT_NAME, &r->audit, f);
	if (e < 0)
		return e;
	r->run.audit = r->audit;
	seam("chain-opened");
	return ledger_intent_audit(&r->run, f);
}

int run_ledger_start(struct run_ledger *r, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		if (layers[l] != LAYER_STATE_NOT_ASKED &&
		    strv_appendf(&words, "%s=%s", layer_info(l)->name, layer_state_name(layers[l])) < 0)
			return fault_errno(f, ENOMEM, "layers");
	r->alive_ns = clock_boot_ns();
	r->started = true;
	return ledger_start(r->ledger, &r->run, pid, words, f);
}

/*
 * A sign of life that cannot be written does not end the payload: silence is what it would have prevented, and silence
 * is what there is to see.  The disk may be full for a while; the end has room set aside.
 */
int run_ledger_tick(struct run_ledger *r)
{
	uint64_t age_ms = (clock_boot_ns() - r->alive_ns) / MS;
	int due, left;

	if (age_ms >= LEDGER_ALIVE_MS) {
		r->alive_ns = clock_boot_ns();
		age_ms = 0;
		(void)!ledger_heartbeat(r->ledger, &r->run, NULL);
	}
	due = ledger_sync_due_ms(r->ledger);
	if (due == 0) {
		due = ledger_sync(r->ledger, NULL) < 0 ? LEDGER_SYNC_MS : -1;
	}
	left = (int)(LEDGER_ALIVE_MS - age_ms);
	return due >= 0 && due < left ? due : left;
}

static struct ledger_end lost_end(const char *source)
{
	return (struct ledger_end){
		.reason = exit_reason_name(EXIT_REASON_LOST),
		.source = source,
		.code = STATUS_FAILED,
		.abnormal = true,
	};
}

/* NAMES are those of the dead session's intent. */
static void tell_lost(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	struct run_lost *lost = arg;
	_cleanup_fault_ struct fault f = { 0 };
	const struct sandbox_line l = { .agent = names->agent,
					.worker = names->worker,
					.operation = "end",
					.command = names->argv,
					.status = end->reason };

	if (lost->config)
		run_lost_capture(lost, names, started, end);
	if (lost->dirs && names->cwd && sandbox_log_write_worktree(lost->dirs, names->cwd, &l, &f) < 0)
		log_error("%s; the ledger has it", fault_text(&f));
}

int run_ledger_lost(struct run_ledger *r, const char *id, struct fault *f)
{
	_cleanup_free_ char *sessions = path_join(r->state, "sessions"), *name = path_join(id, AUDIT_NAME);
	_cleanup_close_ int fd = -EBADF;
	_cleanup_run_lost_ struct run_lost lost = {
		.dirs = r->dirs, .config = r->config, .orphan = r->orphan, .run_dir = r->run_dir
	};
	struct ledger_end end = lost_end("sweep");
	const struct claim_end story = { .end = &end, .before = tell_lost, .arg = &lost };
	struct ledger_mark mark;
	int e;

	if (!sessions || !name)
		return fault_errno(f, ENOMEM, "session '%s'", id);
	fd = open(sessions, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && audit_read_mark(fd, name, &mark) == 0)
		end.audit = &mark;
	e = claim_close(r->state, r->ledger, id, &story, f);
	return e < 0 ? e : 0;
}

static void push_decision(struct run_ledger *r)
{
	_cleanup_free_ char *path = path_join(r->state, PEER_FILE);

	if (!path || access(path, F_OK) < 0)
		return;
	if (ledger_checkpoint(r->ledger, NULL, NULL, NULL) == 0)
		peer_kick(r->state);
}

/*
 * The dead whose runtime directory is gone (a reboot, or killed before it was made); who still has one is closed when
 * that is swept and its container surely dead.
 */
int run_ledger_sweep(struct run_ledger *r, const struct dirs *d, struct fault *f)
{
	_cleanup_free_ char *sessions = path_join(d->run, "sessions");
	_cleanup_close_ int fd = sessions ? open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	_cleanup_strv_ char **names = NULL;
	int e;

	e = claim_list(r->state, &names, f);
	for (char **name = names; name && *name; name++) {
		int one;

		if (strcmp(*name, r->run.session) == 0 ||
		    (fd >= 0 && faccessat(fd, *name, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
			continue;
		/* The others' ends can be told all the same; the first fault is told. */
		one = run_ledger_lost(r, *name, e < 0 ? NULL : f);
		e = e < 0 ? e : one;
	}
	return e;
}

void run_ledger_meanwhile(struct run_ledger *r, const struct dirs *d)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (run_ledger_sweep(r, d, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
	push_decision(r);
}

void run_ledger_close(struct run_ledger *r, const struct run_result *res)
{
	const struct ledger_end end = run_result_end(res);

	ledger_end_audit(&r->run, &end);
}

int run_ledger_end(struct run_ledger *r, const struct run_result *res, struct fault *f)
{
	const struct ledger_end end = run_result_end(res);
	char status[64];
	int e;

	(void)snprintf(status, sizeof(status), "%s %d", end.reason, end.code);
	tell_log_end(r, "end", status);

	e = ledger_end(r->ledger, r->state, &r->run, &end, f);
	if (e < 0)
		return fault_wrap(f, e, "the end of session '%s' could not be recorded", r->run.session);
	seam("end-recorded");
	claim_drop(&r->claim);
	seam("claim-removed");
	return 0;
}

void run_ledger_refuse(struct run_ledger *r, const char *id, const char *text)
{
	_cleanup_fault_ struct fault f = { 0 };
	char status[64];
	int e;

	(void)snprintf(status, sizeof(status), "%s%s",
		       r->started ? "lost" : "denied: ", r->started ? "" : id);
	if (strcmp(id, REFUSED_LOG) != 0)
		tell_log_end(r, r->started ? "end" : r->run.action, status);

	e = open_ledger(r, &f);
	if (e == 0 && r->started) {
		const struct ledger_end end = lost_end("supervisor");

		ledger_end_audit(&r->run, &end);
		e = ledger_end(r->ledger, r->state, &r->run, &end, &f);
	} else if (e == 0) {
		e = ledger_refuse(r->ledger, &r->run, id, text, &f);
	}
	if (e < 0) {
		log_error("this refusal could not be recorded: %s (%s)", fault_text(&f),
			  run_ledger_remedy(e));
		return;
	}
	claim_drop(&r->claim);
	push_decision(r);
}

void run_ledger_done(struct run_ledger *r)
{
	claim_done(&r->claim);
	audit_free(r->audit);
	ledger_free(r->ledger);
	*r = RUN_LEDGER_NONE;
}
