/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "review/base-record.h"
#include "review/review-prune.h"
#include "run/run-lost.h"
#include "run/run-impl.h"

/* As far as it is known before the end. */
static int fill(struct session_upper *k, const struct run *run, uint64_t since_us, struct fault *f)
{
	const struct subject *s = run->plan.subject;

	memcpy(k->session, run->id, sizeof(k->session));
	k->device = s->worktree_file.device;
	k->inode = s->worktree_file.inode;
	k->notes = profile_is_fuse(s->profile)		  ? OVERLAY_XATTR_FUSE
		   : s->layers & LAYER_BIT(LAYER_USER_NS) ? OVERLAY_XATTR_USER
							  : OVERLAY_XATTR_TRUSTED;
	k->rootless = run->plan.dirs.rootless;
	k->ids = (struct capture_ids){ .set = !k->rootless, .uid_to = s->owner_uid, .gid_to = s->owner_gid };
	/* The next microsecond: changes in this one were before the start. */
	k->since_us = since_us + 1;
	k->worktree = strdup(s->worktree);
	k->protect = strv_copy(run->plan.asked.workspace_protect);
	if (!k->worktree || !k->protect)
		return fault_errno(f, ENOMEM, "session");
	return clock_boot_id(k->boot, f);
}

/* The upper that was just kept stays; a failure to remove others is not this run's. */
static void prune(const struct dirs *d, const struct config *c, const struct session_upper *k)
{
	const struct review_prune all = { .dirs = d, .config = c, .keep = k->session };
	_cleanup_fault_ struct fault f = { 0 };

	/* Reading all of them after each small one would cost more than it frees. */
	if ((k->bytes > c->review.quota / 64 ? review_prune(&all, &f)
					     : review_prune_hourly(d, c, k->session, &f)) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

/* The directory that the session began with; another one under its name is refused by apply as well. */
static int open_worktree(const struct session_upper *k, struct fault *f)
{
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, k->worktree, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", k->worktree);
	if (st.st_dev != k->device || st.st_ino != k->inode)
		return fault_set(f, ESTALE, "'%s' is not the directory that the session used", k->worktree);
	return TAKE_FD(fd);
}

static int record_base(const struct session_upper *k, int dir, int layer, struct fault *f)
{
	_cleanup_close_ int base = open_worktree(k, f);
	const struct changes_ask ask = { .upper = layer,
					 .base = base,
					 .xattrs = k->notes,
					 .since = { .tv_sec = (time_t)(k->since_us / 1000000),
						    .tv_nsec = (long)(k->since_us % 1000000) * 1000 } };
	int r = base < 0 ? base : base_record_make(&ask, dir, f);

	if (r == -EACCES && base >= 0 && geteuid() != 0) {
		fault_done(f);
		r = base_record_make_inside(&ask, dir, f);
	}
	return r;
}

/* Completes K with size and ids, then writes it to DIR. */
static int keep(struct session_upper *k, int dir, struct fault *f)
{
	_cleanup_close_ int layer =
		openat(dir, SESSION_UPPER_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	/* A user's payload may have made it unreadable. */
	if (layer < 0 && errno == EACCES && fchmodat(dir, SESSION_UPPER_DIR, 0700, 0) == 0)
		layer = openat(dir, SESSION_UPPER_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (layer < 0 || fstat(layer, &st) < 0)
		return fault_errno(f, errno, "open the overlay's upper");
	/* Everything in the upper belongs to the session's id, as the upper itself does. */
	k->ids.uid_from = st.st_uid;
	k->ids.gid_from = st.st_gid;
	k->ended_us = clock_wall_us();
	r = session_upper_measure(layer, k, f);
	/* The ids of the session are reused by later sessions. */
	if (r == 0 && !k->rootless && fchown(dir, geteuid(), getegid()) < 0)
		r = fault_errno(f, errno, "chown the session's directory");
	if (r < 0)
		return r;
	/* The changes can still be read: apply refuses them without it. */
	r = record_base(k, dir, layer, f);
	if (r < 0) {
		log_error("custody apply will refuse the changes: cannot record the worktree: %s",
			  fault_text(f));
		fault_done(f);
	}
	return session_upper_write(dir, k, f);
}

static bool is_asked(const struct profile *p)
{
	return p->workspace == PROFILE_WORKSPACE_OVERLAY && p->workspace_keep;
}

bool run_keep_upper(const struct run *run, int dir, uint64_t since_us)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_session_upper_ struct session_upper k = { 0 };

	if (!is_asked(&run->plan.asked))
		return false;
	k.shared = run->result->evidence_shared > 0;
	if (fill(&k, run, since_us, &f) < 0 || keep(&k, dir, &f) < 0) {
		log_error("the changes are not kept: %s", fault_text(&f));
		return false;
	}
	run->result->kept = true;
	run->result->kept_files = k.files;
	run->result->kept_bytes = k.bytes;
	prune(&run->plan.dirs, run->plan.config, &k);
	return true;
}

int run_keep_upper_announce(const struct run *run, int run_dir, struct fault *f)
{
	_cleanup_session_upper_ struct session_upper k = { 0 };
	int r;

	if (!is_asked(&run->plan.asked))
		return 0;
	r = fill(&k, run, run->note.started_us, f);
	return r < 0 ? r : session_upper_write(run_dir, &k, f);
}

/*
 * An upper is never synced. After the death of a process it is complete, because the kernel has the files; after a
 * crash of the machine files may be empty, and it is unknown which.
 */
static int require_this_boot(const char *boot, struct fault *f)
{
	char now[sizeof(((struct session_upper *)NULL)->boot)];
	int r = clock_boot_id(now, f);

	if (r == 0 && !str_eq(now, boot))
		r = fault_set(f, ESTALE,
			      "the machine was restarted before they were synced, so they may be incomplete; "
			      "the evidence has the rest");
	return r;
}

static int keep_lost(const struct session_note *n, int run_dir, int dir, struct session_upper *k,
		     struct fault *f)
{
	int r = require_this_boot(n->boot, f);

	if (r == 0 && run_dir < 0)
		r = fault_set(f, ESTALE, "their description is missing; the evidence has them");
	if (r == 0)
		r = session_upper_read(run_dir, k, f);
	if (r == 0 && (!str_eq(k->session, n->session) || !str_eq(k->boot, n->boot)))
		r = fault_set(f, EINVAL, "'" SESSION_UPPER_FILE "' belongs to another session");
	return r < 0 ? r : keep(k, dir, f);
}

bool run_lost_keep_upper(const struct dirs *d, const struct config *c, const struct session_note *n,
			 int run_dir, int dir)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_session_upper_ struct session_upper k = { 0 };
	int r = keep_lost(n, run_dir, dir, &k, &f);

	/* It was not to be kept. */
	if (r == -ENOENT)
		return false;
	if (r < 0) {
		log_info("the changes of session '%s' cannot be reviewed: %s", n->session, fault_text(&f));
		return false;
	}
	prune(d, c, &k);
	return true;
}
