/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/review.h"
#include "cli/session-run-impl.h"

static int fill(struct kept *k, const struct session_run *run, const struct stat *layer, uint64_t since_us,
		struct fault *f)
{
	const struct subject *s = run->docket.subject;

	memcpy(k->session, run->id, sizeof(k->session));
	k->device = s->worktree_file.device;
	k->inode = s->worktree_file.inode;
	k->notes = s->layers & LAYER_BIT(LAYER_USER_NS) ? OVERLAY_NOTES_USER : OVERLAY_NOTES_TRUSTED;
	k->rootless = run->docket.dirs.rootless;
	/* Everything in the layer belongs to the session's id, as the layer itself does. */
	k->ids = (struct capture_ids){ .set = !k->rootless,
				       .uid_from = layer->st_uid,
				       .uid_to = s->owner_uid,
				       .gid_from = layer->st_gid,
				       .gid_to = s->owner_gid };
	/* The next microsecond: what happened in this one was before us. */
	k->since_us = since_us + 1;
	k->ended_us = clock_wall_us();
	k->worktree = strdup(s->worktree);
	k->protect = strv_copy(run->docket.asked.workspace_protect);
	if (!k->worktree || !k->protect)
		return fault_errno(f, ENOMEM, "session");
	return clock_boot_id(k->boot, f);
}

/* The one that was just kept stays; that others could not go is not this run's fault. */
static void prune(const struct session_run *run, uint64_t bytes)
{
	const struct dirs *d = &run->docket.dirs;
	const struct config *c = run->docket.config;
	_cleanup_fault_ struct fault f = { 0 };

	/* Looking at all of them after each small one would cost more than it frees. */
	if ((bytes > c->review.quota / 64 ? review_prune(d, c, run->id, &f)
					  : review_prune_hourly(d, c, run->id, &f)) < 0)
		log_info("%s, ignoring", fault_text(&f));
}

static int keep(const struct session_run *run, int dir, uint64_t since_us, uint64_t *ret_bytes,
		struct fault *f)
{
	_cleanup_close_ int layer = openat(dir, KEPT_LAYER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_kept_ struct kept k = { 0 };
	struct stat st;
	int r;

	/* As a user one may have shut it from oneself. */
	if (layer < 0 && errno == EACCES && fchmodat(dir, KEPT_LAYER, 0700, 0) == 0)
		layer = openat(dir, KEPT_LAYER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (layer < 0 || fstat(layer, &st) < 0)
		return fault_errno(f, errno, "open the layer of changes");
	r = fill(&k, run, &st, since_us, f);
	if (r == 0)
		r = kept_measure(layer, &k.bytes, f);
	/* The session's ids end with it and will be somebody else's. */
	if (r == 0 && !k.rootless && fchown(dir, geteuid(), getegid()) < 0)
		r = fault_errno(f, errno, "take the session's directory back");
	*ret_bytes = k.bytes;
	return r < 0 ? r : kept_write(dir, &k, f);
}

bool session_keep(const struct session_run *run, int dir, uint64_t since_us)
{
	const struct profile *p = &run->docket.asked;
	_cleanup_fault_ struct fault f = { 0 };
	uint64_t bytes;

	if (p->workspace != PROFILE_WORKSPACE_OVERLAY || !p->workspace_keep)
		return false;
	if (keep(run, dir, since_us, &bytes, &f) < 0) {
		log_error("what was changed is not kept: %s", fault_text(&f));
		return false;
	}
	prune(run, bytes);
	return true;
}
