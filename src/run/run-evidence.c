/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/unit-text.h"
#include "evidence/evidence-capture.h"
#include "evidence/evidence-config.h"
#include "evidence/evidence-prune.h"
#include "ledger/ledger-audit.h"
#include "subject/subject-hidden.h"
#include "tty/progress.h"
#include "worktree/overlay-server.h"

void run_evidence_done(struct run_evidence *e)
{
	e->tree = fd_close(e->tree);
	tail_done(&e->tail);
}

int run_evidence_hold(struct run_evidence *e, pid_t pid, const struct subject *s, struct fault *f)
{
	_cleanup_close_ int root = -EBADF;
	char path[sizeof("/proc//root") + 3 * sizeof(pid)];

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return fault_errno(f, errno, "hold the worktree: open '%s'", path);
	e->tree = path_open_in_root(root, subject_work_target(s), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
	return e->tree < 0 ? fault_wrap(f, e->tree, "hold the worktree") : 0;
}

/* As root, the container's files belong to ids that only this session uses: the manifest names the worktree's owner. */
static struct capture_ids ids_of(const struct run_evidence_case *c)
{
	const struct subject *s = c->plan->subject;

	if (c->session->rootless)
		return (struct capture_ids){ 0 };
	return (struct capture_ids){ .set = true,
				     .uid_from = c->session->uid_base + s->uid,
				     .uid_to = s->worktree ? s->owner_uid : geteuid(),
				     .gid_from = c->session->gid_base + s->gid,
				     .gid_to = s->worktree ? s->owner_gid : getegid() };
}

/* Everything that the evidence of one run borrows. */
struct parts {
	struct session_summary summary;
	struct jdoc *command;
	char **hidden;
	struct strbuf subject, config;
	char *output;
	size_t output_len;
	int upper, audit;
	struct ledger_mark audit_end;
	bool has_audit_end;
};

static void parts_done(struct parts *p)
{
	jdoc_free(p->command);
	strv_free(p->hidden);
	strbuf_done(&p->subject);
	strbuf_done(&p->config);
	free(p->output);
	fd_close(p->upper);
	fd_close(p->audit);
}

/* session.end and metadata.json both name the end of the session's own ledger. */
static void open_audit(const struct session *s, struct parts *ret)
{
	_cleanup_free_ char *path = s->has_state ? path_join(s->state, AUDIT_NAME) : NULL;

	if (!path)
		return;
	ret->has_audit_end = audit_read_mark(AT_FDCWD, path, &ret->audit_end) == 0;
	ret->audit = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static int gather(struct run_evidence *e, const struct run_evidence_case *c, const struct run_result *res,
		  struct parts *ret, struct fault *f)
{
	int r;

	ret->command = run_result_command(res);
	ret->summary = run_result_summary(res, ret->command);
	open_audit(c->session, ret);
	/* O_PATH: the payload may have taken its permissions away. */
	if (c->upper)
		ret->upper = open(c->upper, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = subject_hidden_list(c->plan->subject, c->plan->hide, &ret->hidden, f);
	if (r == 0)
		r = subject_hidden_list(c->plan->subject, c->plan->subject->secrets, &ret->hidden, f);
	if (r == 0)
		r = tail_read(&e->tail, &ret->output, &ret->output_len, f);
	if (r == 0)
		r = jdoc_write(c->plan->document, JDOC_CANONICAL, &ret->subject, f);
	if (r == 0 && c->config->len)
		r = evidence_config_write(c->config->text, c->config->len, c->plan->document, &ret->config,
					  f);
	return r;
}

/*
 * May the evidence have the inodes of the upper?  A process outside that got a descriptor from the command could write them
 * later: so only without the host's network (abstract sockets), a writable bind (sockets in it) or a mounted socket.
 */
static bool may_share(const struct subject *s)
{
	if (!(s->layers & LAYER_BIT(LAYER_NET_NS)) || subject_writes_host(s))
		return false;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (S_ISSOCK(s->mounts[i].file.type))
			return false;
	return true;
}

static int capture(struct run_evidence *ev, const struct run_evidence_case *c, enum evidence_scope scope,
		   struct run_result *res, struct fault *f)
{
	_cleanup_(parts_done) struct parts p = { .upper = -EBADF, .audit = -EBADF };
	_cleanup_progress_ struct progress progress;
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	const struct run_plan *plan = c->plan;
	int r;

	progress_init(&progress, "capturing evidence");
	r = gather(ev, c, res, &p, f);
	if (r < 0)
		return r;
	r = evidence_capture(
		&(struct evidence_case){
			.dirs = &plan->dirs,
			.config = plan->config,
			.summary = &p.summary,
			.scope = scope,
			.workspace = plan->asked.workspace,
			.tree = res->worktree_lost ? -EBADF : ev->tree,
			.upper = p.upper,
			.may_share = may_share(plan->subject),
			.missing = res->worktree_lost ? "the upper of the overlay is missing"
						      : "the worktree was not mounted yet",
			.worktree = plan->subject->worktree,
			.forensics = plan->asked.sections[PROFILE_SECTION_FORENSICS],
			.hidden = p.hidden,
			.ids = ids_of(c),
			/* The files of the upper are the caller's again; the mounted overlay still shows who made them. */
			.owners = scope == EVIDENCE_SCOPE_ALL ? &c->session->ids : NULL,
			.audit_end = p.has_audit_end ? &p.audit_end : NULL,
			.audit = { .fd = p.audit },
			.subject = { .fd = -EBADF, .text = p.subject.text, .len = p.subject.len },
			.oci_config = { .fd = -EBADF, .text = p.config.text, .len = p.config.len },
			.output = { .fd = -EBADF, .text = p.output, .len = p.output_len },
			.progress = progress_tell,
			.progress_arg = &progress,
		},
		&taken, f);
	if (r < 0)
		return r;
	res->evidence = TAKE_PTR(taken.path);
	res->evidence_digest = taken.metadata;
	res->evidence_staged = taken.staged;
	res->evidence_bytes = taken.stats.bytes;
	res->evidence_shared = taken.stats.shared;
	return 0;
}

/* fuse-overlayfs may list a directory as empty the first time: see overlay_server_refresh. */
static void refresh(const struct run_evidence *e, const struct run_evidence_case *c)
{
	_cleanup_close_ int upper = -EBADF;

	if (e->tree < 0 || !c->server || c->server->fd < 0)
		return;
	upper = open(c->upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper >= 0)
		overlay_server_refresh(e->tree, upper);
}

static void prune(const struct run_evidence_case *c, const char *path)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (evidence_prune_beside(&c->plan->dirs, c->plan->config, path, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

void run_evidence_capture(struct run_evidence *e, const struct run_evidence_case *c, struct run_result *res)
{
	enum evidence_scope scope = evidence_scope_decide(&c->plan->asked, &res->exit, c->interactive);
	char size[UNIT_TEXT_SIZE];
	_cleanup_fault_ struct fault f = { 0 };

	if (scope == EVIDENCE_SCOPE_NONE)
		return;
	/* The worktree cannot be read without its server; the upper can. */
	if (res->worktree_lost)
		scope = EVIDENCE_SCOPE_CHANGES;
	if (scope == EVIDENCE_SCOPE_ALL)
		refresh(e, c);
	if (capture(e, c, scope, res, &f) < 0) {
		log_error("cannot capture evidence: %s", fault_text(&f));
		res->evidence_error = strdup(fault_text(&f));
		return;
	}
	/* Many programs exit with a status other than 0 in normal use; result and ledger name the evidence. */
	if (res->exit.reason != EXIT_REASON_EXITED)
		log_info("evidence: %s (%s%s)%s", res->evidence, unit_text_bytes(res->evidence_bytes, size),
			 res->evidence_shared ? ", shared with the kept changes" : "",
			 res->evidence_staged
				 ? " (staged; custody evidence ls lists it until it is delivered)"
				 : "");
	prune(c, res->evidence);
	seam("store-pruned");
}
