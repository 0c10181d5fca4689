/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "tty/progress.h"
#include "evidence/delivery.h"
#include "evidence/evidence-config.h"
#include "evidence/evidence-prune.h"
#include "ledger/ledger-audit.h"
#include "worktree/overlay-server.h"
#include "evidence/evidence-scope.h"

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

/* The masks went with the container: keys below them, and the store that is being written, would be captured too. */
static int list_hidden(const struct run_evidence_case *c, char ***ret, struct fault *f)
{
	const char *work = subject_work_target(c->plan->subject);

	for (char **h = c->plan->hide; h && *h; h++)
		if (path_is_below(*h, work) && strlen(*h) > strlen(work) &&
		    strv_append(ret, *h + strlen(work) + (work[1] != '\0')) < 0)
			return fault_errno(f, ENOMEM, "evidence");
	return 0;
}

/* What is to be read, or a reason why nothing is. */
struct source {
	int fd;
	bool upper;
	const char *why;
};

static struct source choose(const struct run_evidence *e, const struct run_evidence_case *c,
			    const struct run_result *res, enum forensics_scope scope)
{
	struct source s = { .fd = -EBADF };

	/* Nobody answers any more: what was changed lies in the layer all the same. */
	if (res->worktree_lost)
		scope = EVIDENCE_SCOPE_CHANGES;
	if (scope == EVIDENCE_SCOPE_ALL || c->plan->asked.workspace == PROFILE_WORKSPACE_TMPFS) {
		s.fd = e->tree >= 0 ? fcntl(e->tree, F_DUPFD_CLOEXEC, 3) : -EBADF;
		s.why = "the worktree was not there yet";
		return s;
	}
	switch (c->plan->asked.workspace) {
	case PROFILE_WORKSPACE_OVERLAY:
		/* O_PATH: the payload may have shut it. */
		s.fd = open(c->upper, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		s.upper = true;
		s.why = "the layer with the changes was gone";
		break;
	case PROFILE_WORKSPACE_RO:
		s.why = "the worktree was read-only: nothing was changed";
		break;
	case PROFILE_WORKSPACE_RW:
	case PROFILE_WORKSPACE_TMPFS:
		s.why = "the worktree was written in place: what was changed is there";
		break;
	}
	return s;
}

static void settle(const struct run_evidence_case *c, const struct source *s)
{
	_cleanup_close_ int upper = -EBADF;

	if (s->fd < 0 || s->upper || !c->server || c->server->fd < 0)
		return;
	upper = open(c->upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper >= 0)
		overlay_server_refresh(s->fd, upper);
}

/* As root the container's files belong to ids that end with it: in the manifest they are the worktree's owner's. */
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

/* Where the chain ends, which the lane's end record will name as well, goes into METADATA. */
static int open_audit(const struct session *s, struct jdoc *metadata)
{
	_cleanup_free_ char *path = s->has_state ? path_join(s->state, AUDIT_NAME) : NULL;
	struct ledger_mark mark;

	if (path && audit_read_mark(AT_FDCWD, path, &mark) == 0)
		audit_put_mark(metadata, &mark);
	return path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -EBADF;
}

/* "2h" or a number, checked when the profile was read. */
static void put_retention(struct jdoc *metadata, const struct profile *p)
{
	const struct jdoc *v = jdoc_get(p->sections[PROFILE_SECTION_FORENSICS], "retention");
	uint64_t seconds;

	if (v && v->type == JDOC_INT)
		jdoc_set_int(metadata, "retention_s", v->integer);
	else if (v && v->type == JDOC_STRING && str_to_seconds(v->string, &seconds) == 0)
		jdoc_set_int(metadata, "retention_s", (int64_t)seconds);
}

static int take(struct run_evidence *ev, const struct run_evidence_case *c, const struct source *src,
		struct run_result *res, struct fault *f)
{
	struct capture_options limits = evidence_limits(c->plan->config);
	_cleanup_progress_ struct progress progress;
	_cleanup_strv_ char **hidden = NULL;
	_cleanup_jdoc_ struct jdoc *metadata = result_describe(res);
	_cleanup_strbuf_ struct strbuf subject = { 0 }, config = { 0 };
	_cleanup_close_ int audit = open_audit(c->session, metadata);
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_free_ char *output = NULL;
	size_t output_len = 0;
	int r;

	progress_init(&progress, "keeping evidence");
	r = list_hidden(c, &hidden, f);
	if (r < 0)
		return r;
	limits.progress = progress_tell;
	limits.arg = &progress;
	limits.skip = hidden;
	limits.upper = src->upper;
	limits.ids = ids_of(c);
	r = tail_read(&ev->tail, &output, &output_len, f);
	if (r == 0)
		r = jdoc_write(c->plan->document, JDOC_CANONICAL, &subject, f);
	if (r == 0 && c->config->len)
		r = evidence_config_write(c->config->text, c->config->len, &config, f);
	if (r < 0)
		return r;
	jdoc_remove(metadata, "evidence");
	jdoc_set_string(metadata, "scope", src->upper ? "changes" : "all");
	if (c->plan->subject->worktree)
		jdoc_set_string(metadata, "worktree", c->plan->subject->worktree);
	put_retention(metadata, &c->plan->asked);
	r = delivery_take(&c->plan->dirs, c->plan->config,
			  &(struct evidence_ask){ .session = c->session->id,
						  .tree = src->fd,
						  .why = src->why,
						  .metadata = metadata,
						  .sides =
							  (struct evidence_side[]){
								  { .name = AUDIT_NAME, .fd = audit },
								  { .name = "subject.json",
								    .fd = -EBADF,
								    .text = subject.text,
								    .len = subject.len },
								  { .name = "config.json",
								    .fd = -EBADF,
								    .text = config.text,
								    .len = config.len },
								  { .name = "stdio.log",
								    .fd = -EBADF,
								    .text = output,
								    .len = output_len },
							  },
						  .n_sides = 4,
						  .limits = &limits },
			  &taken, f);
	if (r < 0)
		return r;
	res->evidence = TAKE_PTR(taken.path);
	res->evidence_digest = taken.metadata;
	res->evidence_staged = taken.staged;
	return 0;
}

/* The one that was just taken stays; that others could not go is not this run's fault. */
static void prune(const struct run_evidence_case *c, const char *path)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *store = strndup(path, (size_t)(strrchr(path, '/') - path));
	const struct evidence_prune p = { .dirs = &c->plan->dirs,
					  .config = c->plan->config,
					  .store = store,
					  .keep = strrchr(path, '/') + 1 };

	if (store && evidence_prune(&p, &f) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

void run_evidence_take(struct run_evidence *e, const struct run_evidence_case *c, struct run_result *res)
{
	enum forensics_scope scope = evidence_scope_decide(&c->plan->asked, &res->exit, c->interactive);
	_cleanup_fault_ struct fault f = { 0 };
	struct source src;
	int r;

	if (scope == EVIDENCE_SCOPE_NONE)
		return;
	src = choose(e, c, res, scope);
	settle(c, &src);
	r = take(e, c, &src, res, &f);
	fd_close(src.fd);
	if (r < 0) {
		log_error("no evidence was kept: %s", fault_text(&f));
		res->evidence_error = strdup(fault_text(&f));
		return;
	}
	/* A status other than 0 is the daily work of many programs; result and ledger have it. */
	if (res->exit.reason != EXIT_REASON_EXITED)
		log_info("evidence: %s%s", res->evidence,
			 res->evidence_staged ? " (staged: custody evidence ls says when it is delivered)"
					      : "");
	prune(c, res->evidence);
	seam("store-pruned");
}
