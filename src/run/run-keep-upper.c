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
#include "base/path.h"
#include "base/str.h"
#include "review/base-record.h"
#include "review/review-prune.h"
#include "run/run-lost.h"
#include "run/run-impl.h"
#include "session/session-sum.h"

static int add_names(char ***list, char *const *more)
{
	int r = 0;

	for (; r == 0 && more && *more; more++)
		if (!strv_has(*list, *more))
			r = strv_append(list, *more);
	return r;
}

static char **names_of_both(char *const *a, char *const *b)
{
	_cleanup_strv_ char **list = calloc(1, sizeof(*list));
	int r = list ? 0 : -ENOMEM;

	for (; r == 0 && a && *a; a++)
		if (strv_has(b, *a))
			r = strv_append(&list, *a);
	return r < 0 ? NULL : TAKE_PTR(list);
}

/* The review shows the changes of BASE as well: what its profile protects and asks for holds on, whatever profile follows. */
static int tighten(struct session_upper *k, const struct session_upper *base)
{
	char **allow = names_of_both(k->allow, base->allow);

	if (!allow)
		return -ENOMEM;
	strv_free(k->allow);
	k->allow = allow;
	if (base->ask_deletions < k->ask_deletions)
		k->ask_deletions = base->ask_deletions;
	return add_names(&k->protect, base->protect) < 0 ? -ENOMEM : add_names(&k->ask, base->ask);
}

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
	k->ask = strv_copy(run->plan.asked.workspace_ask);
	k->allow = strv_copy(run->plan.asked.workspace_allow);
	k->ask_deletions = run->plan.asked.workspace_ask_deletions;
	if (!k->worktree || !k->protect || !k->ask || !k->allow)
		return fault_errno(f, ENOMEM, "session");
	return clock_boot_id(k->boot, f);
}

static int fill_chain(struct session_upper *k, const struct run_layer *base, struct fault *f)
{
	if (!base->open)
		return 0;
	k->chain = strv_copy(base->chain);
	return k->chain && tighten(k, &base->kept) == 0 ? 0 : fault_errno(f, ENOMEM, "session");
}

static int fill_tree(struct session_upper *k, const struct run *run, uint64_t since_us, struct fault *f)
{
	int r = fill(k, run, since_us, f);

	return r < 0 ? r : fill_chain(k, &run->plan.base.tree, f);
}

/* What the profile protects below .git, relative to the repository; the names themselves say that .git is protected at all. */
static char **repository_protect(char *const *protect)
{
	_cleanup_strv_ char **list = calloc(1, sizeof(*list));
	bool failed = !list;

	for (; !failed && protect && *protect; protect++)
		if (path_is_below(*protect, ".git"))
			failed = strv_append(&list, *protect) < 0 ||
				 strv_append(&list, (*protect)[4] ? *protect + 5 : "") < 0;
	return failed ? NULL : TAKE_PTR(list);
}

/* The same for the repository beside the worktree. */
static int fill_repository(struct session_upper *k, const struct run *run, uint64_t since_us, struct fault *f)
{
	const struct subject_mount *m = subject_find_overlay(run->plan.subject);
	const char *own = run->plan.project.git.own;
	int r = fill(k, run, since_us, f);

	if (r < 0)
		return r;
	free(k->worktree);
	strv_free(k->protect);
	k->device = m->file.device;
	k->inode = m->file.inode;
	k->ids.uid_to = m->owner_uid;
	k->ids.gid_to = m->owner_gid;
	k->worktree = strdup(m->source);
	k->protect = repository_protect(run->plan.asked.workspace_protect);
	k->own = strdup(own ? own : "");
	if (!k->worktree || !k->protect || !k->own)
		return fault_errno(f, ENOMEM, "session");
	return fill_chain(k, &run->plan.base.repository, f);
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

static struct timespec time_of(uint64_t us)
{
	return (struct timespec){ .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };
}

/* Of LAYER, its own upper: what the sum has besides is of the base, whose record has it. */
static int record_above(const struct session_upper *k, const struct session_base *b, int dir, int layer,
			struct fault *f)
{
	_cleanup_base_record_ struct base_record *old = NULL;
	_cleanup_close_ int base = open_worktree(k, f);
	const struct changes_ask ask = { .upper = layer,
					 .base = base,
					 .xattrs = k->notes,
					 .since = time_of(k->since_us) },
				 before = { .upper = b->layer,
					    .base = base,
					    .xattrs = k->notes,
					    .since = time_of(b->kept.since_us) };
	int r = base < 0 ? base : base_record_read(b->dir, &old, f);

	return r < 0 ? r : base_record_make_continued(&ask, &before, old, dir, f);
}

/* Both have a link to each file of LAYER, and each counts its share. */
static int measure_both(struct session_upper *k, int dir, int layer, struct fault *f)
{
	_cleanup_close_ int sum = session_layer_open(dir, k, f);
	struct session_upper size = { .shared = k->shared };
	int r = sum < 0 ? sum : session_upper_measure(sum, &size, f);

	if (r == 0)
		r = session_upper_measure(layer, k, f);
	if (r == 0)
		k->bytes += size.bytes;
	return r;
}

/* Non-fatal: diff, apply and --continue make it while the base exists, when the disk has room again. */
static void add_up(struct session_upper *k, const struct session_base *b, int dir, int layer)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = session_sum_make(b->layer, k, dir, &f);

	if (r == 0)
		r = measure_both(k, dir, layer, &f);
	if (r < 0)
		log_error(
			"the changes of session '%s' are not added to those of session '%s' yet: %s; custody "
			"diff, apply and run --continue do it when they can",
			k->session, k->chain[0], fault_text(&f));
}

/* The record first: it is of this moment, and needs less room on the disk than the sum. */
static int record_continued(const struct dirs *d, struct session_upper *k, int dir, int layer,
			    struct fault *f)
{
	_cleanup_session_base_ struct session_base b = SESSION_BASE_NONE;
	int r = session_base_open(d, k, &b, f);

	if (r == 0)
		r = record_above(k, &b, dir, layer, f);
	if (r == 0)
		add_up(k, &b, dir, layer);
	return r;
}

/* Completes K with size and ids, then writes it to DIR.  MORE: bytes that are kept with it. */
static int keep(const struct dirs *d, struct session_upper *k, int dir, uint64_t more, struct fault *f)
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
	k->bytes += more;
	/* The ids of the session are reused by later sessions. */
	if (r == 0 && !k->rootless && fchown(dir, geteuid(), getegid()) < 0)
		r = fault_errno(f, errno, "chown the session's directory");
	if (r < 0)
		return r;
	/* The changes can still be read: apply refuses them without it. */
	r = k->chain ? record_continued(d, k, dir, layer, f) : record_base(k, dir, layer, f);
	if (r < 0) {
		log_error("custody apply will refuse the changes: cannot record the worktree: %s",
			  fault_text(f));
		fault_done(f);
	}
	return session_upper_write(dir, k, f);
}

/* K describes it; its size is set. Without its description the changes of the worktree are kept all the same. */
static int keep_repository(const struct dirs *d, struct session_upper *k, int dir, struct fault *f)
{
	_cleanup_close_ int git =
		openat(dir, SESSION_REPOSITORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = git < 0 ? fault_errno(f, errno, "open '" SESSION_REPOSITORY "'") : keep(d, k, git, 0, f);

	return r < 0 ? r : path_remove_tree(git, "w", f);
}

static bool is_asked(const struct profile *p)
{
	return p->workspace == PROFILE_WORKSPACE_OVERLAY && p->workspace_keep;
}

bool run_keep_upper(const struct run *run, int dir, uint64_t since_us)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_session_upper_ struct session_upper k = { 0 }, g = { 0 };
	int r = 0;

	if (!is_asked(&run->plan.asked))
		return false;
	k.shared = run->result->evidence_shared > 0;
	if (subject_find_overlay(run->plan.subject)) {
		r = fill_repository(&g, run, since_us, &f);
		if (r == 0)
			r = keep_repository(&run->plan.dirs, &g, dir, &f);
	}
	if (r < 0 || fill_tree(&k, run, since_us, &f) < 0 ||
	    keep(&run->plan.dirs, &k, dir, g.bytes, &f) < 0) {
		log_error("the changes are not kept: %s", fault_text(&f));
		return false;
	}
	run->result->kept = true;
	run->result->kept_files = k.files + g.files;
	run->result->kept_bytes = k.bytes;
	prune(&run->plan.dirs, run->plan.config, &k);
	return true;
}

static int announce_repository(const struct run *run, int run_dir, struct fault *f)
{
	_cleanup_session_upper_ struct session_upper k = { 0 };
	_cleanup_close_ int git = -EBADF;
	int r = fill_repository(&k, run, run->note.started_us, f);

	if (r < 0)
		return r;
	if (mkdirat(run_dir, SESSION_REPOSITORY, 0700) < 0)
		return fault_errno(f, errno, "make '" SESSION_REPOSITORY "'");
	git = openat(run_dir, SESSION_REPOSITORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return git < 0 ? fault_errno(f, errno, "open '" SESSION_REPOSITORY "'")
		       : session_upper_write(git, &k, f);
}

int run_keep_upper_announce(const struct run *run, int run_dir, struct fault *f)
{
	_cleanup_session_upper_ struct session_upper k = { 0 };
	int r;

	if (!is_asked(&run->plan.asked))
		return 0;
	r = fill_tree(&k, run, run->note.started_us, f);
	if (r == 0)
		r = session_upper_write(run_dir, &k, f);
	return r < 0 || !subject_find_overlay(run->plan.subject) ? r : announce_repository(run, run_dir, f);
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

/* 0 also if the session had none. */
static int keep_lost_repository(const struct dirs *d, const struct session_note *n, int run_dir, int dir,
				uint64_t *ret_bytes, struct fault *f)
{
	_cleanup_close_ int git =
		openat(run_dir, SESSION_REPOSITORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_session_upper_ struct session_upper k = { 0 };
	int r;

	if (git < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '" SESSION_REPOSITORY "'");
	r = session_upper_read(git, &k, f);
	if (r == 0 && (!str_eq(k.session, n->session) || !str_eq(k.boot, n->boot)))
		r = fault_set(f, EINVAL, "'" SESSION_UPPER_FILE "' belongs to another session");
	if (r == 0)
		r = keep_repository(d, &k, dir, f);
	*ret_bytes = k.bytes;
	return r;
}

static int keep_lost(const struct dirs *d, const struct session_note *n, int run_dir, int dir,
		     struct session_upper *k, struct fault *f)
{
	int r = require_this_boot(n->boot, f);
	uint64_t more = 0;

	if (r == 0 && run_dir < 0)
		r = fault_set(f, ESTALE, "their description is missing; the evidence has them");
	if (r == 0)
		r = session_upper_read(run_dir, k, f);
	if (r == 0 && (!str_eq(k->session, n->session) || !str_eq(k->boot, n->boot)))
		r = fault_set(f, EINVAL, "'" SESSION_UPPER_FILE "' belongs to another session");
	if (r == 0)
		r = keep_lost_repository(d, n, run_dir, dir, &more, f);
	return r < 0 ? r : keep(d, k, dir, more, f);
}

bool run_lost_keep_upper(const struct dirs *d, const struct config *c, const struct session_note *n,
			 int run_dir, int dir)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_session_upper_ struct session_upper k = { 0 };
	int r = keep_lost(d, n, run_dir, dir, &k, &f);

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
