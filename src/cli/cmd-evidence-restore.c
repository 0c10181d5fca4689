/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/cmd-evidence.h"
#include "cli/evidence-target.h"
#include "base/exit-status.h"
#include "evidence/evidence-ledger.h"
#include "ledger/ledger-action.h"
#include "ledger/ledger.h"
#include "capture/restore.h"
#include "state/sandbox-log.h"
#include "tty/progress.h"

static int write_log(const struct sandbox_root *root, const char *path, const char *status, struct fault *f)
{
	return sandbox_log_write(
		root->logs_fd,
		&(struct sandbox_line){ .operation = "restore", .path = path, .status = status }, f);
}

/* A restore into a sandbox root is recorded in the ledger and in the root's log before anything is written. */
static int announce(const struct evidence_call *c, const char *name, const struct evidence_target *t,
		    struct fault *f)
{
	int r;

	if (!t->root)
		return 0;
	r = ledger_action_record(c->call->dirs.state, c->call->dirs.user, "evidence.restore", name, t->path,
				 f);
	if (r == 0)
		r = write_log(t->root, t->path, "allowed", f);
	return r < 0 ? fault_wrap(f, r, "nothing was restored: cannot record it") : 0;
}

/* Before the announcement: the log alone names the attempt.  The root may be unusable, which F says already. */
static void log_refusal(const struct evidence_call *c, int r, const struct fault *f)
{
	_cleanup_sandbox_root_ struct sandbox_root *root = NULL;
	_cleanup_free_ char *status = NULL;

	if (!c->call->sandbox ||
	    sandbox_root_open(&c->call->dirs, c->call->sandbox, SANDBOX_LOOK, &root, NULL) < 0)
		return;
	if (r != -EXDEV && asprintf(&status, "failed: %s", fault_text(f)) < 0)
		status = NULL;
	(void)!write_log(root, c->call->args[1],
			 r == -EXDEV ? "denied: outside"
			 : status    ? status
				     : "failed",
			 NULL);
}

/* After the announcement, in ledger and log: part of the tree may exist.  Keeps the first failure, R and F. */
static void log_failure(const struct evidence_call *c, const char *name, const struct evidence_target *t,
			const char *why)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = {
		.kind = "evidence.restored", .session = name, .status = "failed", .d = d
	};
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *status = NULL;
	int r;

	if (!t->root)
		return;
	jdoc_set(d, "by", ledger_text(c->call->dirs.user));
	jdoc_set(d, "target", ledger_text(t->path));
	jdoc_set(d, "error", ledger_text(why));
	r = ledger_open(c->call->dirs.state, &(struct ledger_options){ .create = true }, &l, NULL, &f);
	if (r == 0)
		r = ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, &f);
	if (r == 0 && asprintf(&status, "failed: %s", why) < 0)
		status = NULL;
	if (r == 0)
		r = write_log(t->root, t->path, status ? status : "failed", &f);
	if (r < 0)
		fprintf(stderr, "the failure was not recorded: %s\n", fault_text(&f));
}

/*
 * A store on a share is writable by others, and a manifest decides about modes and owners.  Damaged evidence can still be
 * read: without --exact this is a warning, and a status.
 */
static int require_original(const struct evidence_call *c, const char *name, int dir, bool *ret_changed,
			    struct fault *f)
{
	const char *why = NULL;
	int r = evidence_ledger_compare(dir, c->call->dirs.state, name, &why, f);

	*ret_changed = why != NULL;
	if (r < 0 || !why)
		return r;
	if (c->call->exact)
		return fault_set(
			f, EBADMSG,
			"'%s' was changed: %s; --exact restores modes and owners that it names: restore "
			"it without --exact",
			name, why);
	fprintf(stderr, "'%s' was changed: %s; details: custody evidence verify %s\n", name, why, name);
	return 0;
}

static int restore(const struct evidence_call *c, const char *name, int dir, const struct evidence_target *t,
		   struct fault *f)
{
	_cleanup_progress_ struct progress progress = { .fd = -EBADF };
	const struct restore_options o = { .exact = c->call->exact,
					   .target = t->path,
					   .progress = progress_tell,
					   .progress_arg = &progress };
	_cleanup_restore_stats_ struct restore_stats s = { 0 };
	_cleanup_free_ char *first = NULL;
	int r;

	progress_init(&progress, "restoring");
	r = restore_tree(dir, t->fd, &o, &s, f);
	progress_done(&progress);
	if (r < 0) {
		r = fault_wrap(f, r, "restore into '%s'", c->call->args[1]);
		log_failure(c, name, t, fault_text(f));
		return r;
	}
	first = s.first ? str_escape(s.first) : NULL;
	fprintf(stderr, "%llu entries restored\n", (unsigned long long)(s.entries - s.left_out - s.damaged));
	if (s.left_out || s.damaged)
		fprintf(stderr, "left out %llu, damaged %llu; first: %s\n", (unsigned long long)s.left_out,
			(unsigned long long)s.damaged, first ? first : "?");
	if (s.damaged)
		log_failure(c, name, t, first ? first : "damaged evidence");
	return s.damaged ? STATUS_NO : STATUS_OK;
}

static int require_allowed(const struct evidence_call *c, struct fault *f)
{
	if (c->call->exact && geteuid() != 0)
		return fault_set(f, EPERM, "--exact changes owners of files: it needs root");
	if (c->call->exact && c->call->sandbox)
		return fault_set(f, EINVAL,
				 "--exact restores devices and set-id files: not into a sandbox root");
	/* This command does not check the two keys of prod, so it must not write there. */
	if (c->call->sandbox && c->call->dirs.lane == LANE_PROD)
		return fault_set(
			f, LANE_REFUSED,
			"sandbox roots of lane 'prod' can be written by runs only: restore to another "
			"directory");
	return 0;
}

int evidence_cmd_restore(const struct evidence_call *c, struct fault *f)
{
	_cleanup_evidence_target_ struct evidence_target target = EVIDENCE_TARGET_NONE;
	_cleanup_close_ int dir = -EBADF;
	_cleanup_free_ char *name = NULL;
	bool changed = false;
	int r = require_allowed(c, f);

	/* In prod the log of the root is not written either. */
	if (r == -LANE_REFUSED)
		return r;
	if (r == 0) {
		dir = evidence_locate(c, c->call->args[0], &name, NULL, f);
		r = dir < 0 ? dir : require_original(c, name, dir, &changed, f);
	}
	if (r == 0)
		r = evidence_target_open(&c->call->dirs, c->call->sandbox, c->call->args[1], &target, f);
	if (r == 0 && c->call->exact)
		r = restore_require_private(target.fd, target.path, f);
	if (r < 0) {
		log_refusal(c, r, f);
		return r;
	}
	r = announce(c, name, &target, f);
	if (r == 0)
		r = restore(c, name, dir, &target, f);
	return r == STATUS_OK && changed ? STATUS_NO : r;
}
