/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "run/run-impl.h"
#include "ledger/ledger-redact.h"

static int copy_text(char **to, const char *from, struct fault *f)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? fault_errno(f, ENOMEM, "session") : 0;
}

/* Who and what, as the ledger's records say it. */
static int fill_texts(struct session_note *n, const struct session_run *run, const struct run_options *o,
		      struct fault *f)
{
	const struct ledger_run *l = &run->record.run;
	const struct {
		char **to;
		const char *from;
	} texts[] = {
		{ &n->name, o->name },
		{ &n->agent, l->agent },
		{ &n->worker, l->worker },
		{ &n->issue, l->issue },
		{ &n->profile, l->profile },
		{ &n->digest, l->digest },
		{ &n->worktree, run->plan.subject->worktree },
		{ &n->workspace, profile_worktree_word(&run->plan.asked) },
	};
	_cleanup_strv_ char **argv = redact_argv(l->argv, l->redact);
	int r = argv ? session_note_set_argv(n, argv, f) : fault_errno(f, ENOMEM, "session");

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts); i++)
		r = copy_text(texts[i].to, texts[i].from, f);
	return r;
}

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

static int open_state(const struct session *s, struct fault *f)
{
	int fd = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? fault_errno(f, errno, "open '%s'", s->state) : fd;
}

int run_note_begin(struct session_run *run, const struct run_options *o, struct session *s, struct fault *f)
{
	struct session_note *n = &run->note;
	_cleanup_close_ int dir = -EBADF;
	int r;

	/* doctor's own is nobody's session. */
	if (o->canary)
		return 0;
	memcpy(n->session, s->id, sizeof(n->session));
	n->state = SESSION_RUNNING;
	n->lane = run->plan.dirs.lane;
	n->detached = o->detach;
	n->started_us = clock_wall_us();
	fill_ids(n, run->plan.subject, s);
	r = fill_texts(n, run, o, f);
	if (r == 0)
		r = session_note_sign(n, f);
	if (r == 0)
		r = dir = open_state(s, f);
	return r < 0 ? r : session_note_write(dir, n, f);
}

static int write_end(struct session_run *run, const struct session *s, const struct run_result *res,
		     struct fault *f)
{
	struct session_note *n = &run->note;
	const uint64_t since_us = n->started_us;
	_cleanup_close_ int dir = open_state(s, f);
	int r;

	if (dir < 0)
		return dir;
	n->state = SESSION_ENDED;
	n->ended_us = res->ended_us ? res->ended_us : clock_wall_us();
	if (res->started_us)
		n->started_us = res->started_us;
	n->code = res->exit.code;
	n->signal = res->exit.signal;
	n->abnormal = res->exit.abnormal;
	n->changed = session_has_changes(dir);
	n->kept = n->changed && session_keep(run, dir, since_us);
	seam("layer-kept");
	r = copy_text(&n->reason, exit_reason_name(res->exit.reason), f);
	if (r == 0)
		r = copy_text(&n->source, exit_source_name(res->exit.source), f);
	if (r == 0)
		r = copy_text(&n->evidence, res->evidence, f);
	return r < 0 ? r : session_note_write(dir, n, f);
}

/*
 * A disk that the payload filled has room when its layer is gone, and one block for certain: that of the old note.  Rather no
 * note than one that says that it still runs.
 */
static int write_again(const struct session_note *n, const struct session *s, struct fault *f)
{
	_cleanup_close_ int dir = open_state(s, f);
	int r = dir < 0 ? dir : session_note_trim(dir, n->kept, f);

	if (r == 0 && unlinkat(dir, SESSION_NOTE, 0) < 0 && errno != ENOENT)
		r = fault_errno(f, errno, "remove '" SESSION_NOTE "'");
	return r < 0 ? r : session_note_write(dir, n, f);
}

void run_note_end(struct session_run *run, struct session *s, const struct run_result *res)
{
	_cleanup_fault_ struct fault f = { 0 };

	/* Nothing was executed: a refusal, not a session. */
	if (run->note.state != SESSION_RUNNING || res->exit.reason == EXIT_REASON_SETUP_FAILED)
		return;
	s->has_note = true;
	if (write_end(run, s, res, &f) >= 0)
		return;
	fault_done(&f);
	if (write_again(&run->note, s, &f) >= 0)
		return;
	log_info("%s, ignoring", fault_text(&f));
	s->has_note = false;
}
