/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/seam.h"
#include "run/run-impl.h"

static void fill_ids(struct session_note *n, const struct subject *subject, const struct session *s)
{
	n->rootless = s->rootless;
	n->uid_base = s->uid_base;
	n->gid_base = s->gid_base;
	n->uid = subject->uid;
	n->gid = subject->gid;
	n->owner_uid = subject->worktree ? subject->owner_uid : geteuid();
	n->owner_gid = subject->worktree ? subject->owner_gid : getegid();
}

/* JSON has no larger numbers; without the identity the path is compared. */
static void fill_identity(struct session_note *n, const struct subject *s)
{
	if (!s->worktree || s->worktree_file.device > INT64_MAX || s->worktree_file.inode > INT64_MAX)
		return;
	n->worktree_device = s->worktree_file.device;
	n->worktree_inode = s->worktree_file.inode;
}

static int open_state(const struct session *s, struct fault *f)
{
	int fd = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? fault_errno(f, errno, "open '%s'", s->state) : fd;
}

int run_note_begin(struct run *run, struct fault *f)
{
	const struct run_options *o = run->options;
	const struct ledger_run *l = &run->decision.run;
	const struct session_note_texts texts = {
		.name = o->name,
		.agent = l->agent,
		.worker = l->worker,
		.issue = l->issue,
		.profile = l->profile,
		.digest = l->digest,
		.worktree = run->plan.subject->worktree,
		.workspace = profile_worktree_word(&run->plan.asked),
		.argv = l->argv,
		.chain = run->plan.base.tree.chain,
		.redact = l->redact,
	};
	struct session_note *n = &run->note;
	_cleanup_close_ int dir = -EBADF;
	int r;

	/* doctor's own run is not listed as a session. */
	if (o->canary)
		return 0;
	n->detached = o->detach;
	fill_ids(n, run->plan.subject, &run->session);
	fill_identity(n, run->plan.subject);
	r = session_note_fill(n, &run->plan.dirs, run->id, clock_wall_us(), &texts, f);
	if (r == 0)
		r = dir = open_state(&run->session, f);
	return r < 0 ? r : session_note_write(dir, n, f);
}

static int write_end(struct run *run, struct fault *f)
{
	const struct run_result *res = run->result;
	const struct ledger_end end = run_result_end(res);
	struct session_note *n = &run->note;
	const uint64_t since_us = n->started_us;
	_cleanup_close_ int dir = open_state(&run->session, f);
	int r;

	if (dir < 0)
		return dir;
	r = session_note_end(n, &end, f);
	if (res->ended_us)
		n->ended_us = res->ended_us;
	if (res->started_us)
		n->started_us = res->started_us;
	n->changed = session_has_changes(dir);
	n->kept = n->changed && run_keep_upper(run, dir, since_us);
	seam("layer-kept");
	return r < 0 ? r : session_note_write(dir, n, f);
}

/*
 * A disk that the payload filled has space after its upper is removed, and at least the block of the old note. No
 * note is better than one that says `running`.
 */
static int write_again(const struct session_note *n, const struct session *s, struct fault *f)
{
	_cleanup_close_ int dir = open_state(s, f);
	int r = dir < 0 ? dir : session_note_trim(dir, n->kept, f);

	if (r == 0 && unlinkat(dir, SESSION_NOTE, 0) < 0 && errno != ENOENT)
		r = fault_errno(f, errno, "remove '" SESSION_NOTE "'");
	return r < 0 ? r : session_note_write(dir, n, f);
}

void run_note_end(struct run *run)
{
	struct session *s = &run->session;
	_cleanup_fault_ struct fault f = { 0 };

	/* Nothing was executed: a refusal, not a session. */
	if (run->note.state != SESSION_RUNNING || run->result->exit.reason == EXIT_REASON_SETUP_FAILED)
		return;
	s->has_note = true;
	if (write_end(run, &f) >= 0)
		return;
	fault_done(&f);
	if (write_again(&run->note, s, &f) >= 0)
		return;
	log_info("%s, ignoring", fault_text(&f));
	s->has_note = false;
}
