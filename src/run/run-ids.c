/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ids.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "layer/layer.h"
#include "state/subordinate-ids.h"

static bool has_user(const struct subject *s)
{
	return s->uid != 0 || s->gid != 0;
}

/* Without capabilities id 0 inside can neither give a file away nor become another id. */
static bool makes_difference(const struct subject *s)
{
	return has_user(s) || !(s->layers & LAYER_BIT(LAYER_CAPABILITIES));
}

/* Places where files of other ids would stay after the run. */
static int require_private(const struct run_plan *d, struct fault *f)
{
	if (profile_is_fuse(&d->asked))
		return fault_set(f, ENOTSUP, "workspace.overlay fuse serves the caller's own id only");
	if (d->root || d->home || subject_writes_host(d->subject))
		return fault_set(
			f, ENOTSUP,
			"the run writes directories of the host (rw, a sandbox root or a kept home), "
			"where files of other ids would stay: use an overlay and a home in memory");
	return 0;
}

static int require_user(const struct subject *s, const struct id_map *ids, struct fault *f)
{
	uint32_t outside;

	if (id_extents_find(&ids->uid, s->uid, &outside) && id_extents_find(&ids->gid, s->gid, &outside))
		return 0;
	return fault_set(f, EPERM, "only ids up to %u and groups up to %u are granted",
			 id_extents_count(&ids->uid) - 1, id_extents_count(&ids->gid) - 1);
}

static int find(struct run_plan *d, struct fault *f)
{
	struct id_map ids = { 0 };
	int r = subordinate_ids_find(&ids, f);

	if (r == 0)
		r = require_private(d, f);
	if (r == 0)
		r = require_user(d->subject, &ids, f);
	if (r == 0)
		d->ids.map = ids;
	return r;
}

/* The directory belongs to the caller, id 0 inside. */
static void warn_unwritable(const struct run_plan *d)
{
	const struct subject *s = d->subject;
	_cleanup_free_ char *shown = NULL;
	struct stat st;
	mode_t need = S_IWOTH | S_IXOTH;

	if (!s->worktree || s->profile->workspace == PROFILE_WORKSPACE_RO || s->uid == 0 ||
	    stat(s->worktree, &st) < 0)
		return;
	if (s->gid == 0 && st.st_gid == getegid())
		need = S_IWGRP | S_IXGRP;
	shown = str_escape(s->worktree);
	if (d->base.open)
		log_info("the kept changes of session '%s' belong to id 0 inside: id %u has the rights of "
			 "others to "
			 "them",
			 d->base.tree.kept.session, (unsigned int)s->uid);
	if ((st.st_mode & need) != need)
		log_info(
			"the worktree belongs to id 0 inside, and its mode %04o does not let id %u write it: "
			"chmod o+rwx %s, or write to /tmp or the home",
			(unsigned int)(st.st_mode & 07777), (unsigned int)s->uid, shown ? shown : "DIR");
}

static int use_one(struct run_plan *d, int r, struct fault *why, struct fault *f)
{
	const struct subject *s = d->subject;

	if (has_user(s))
		return fault_set(f, why->code ? why->code : EPERM,
				 "process.user %u:%u of profile '%s' needs subordinate ids: %s",
				 (unsigned int)s->uid, (unsigned int)s->gid, d->profile->name,
				 fault_text(why));
	d->ids.why = strdup(fault_text(why));
	/* Ranges that exist and must not be used: the caller expects them. */
	if (r != -ENOENT)
		log_info("one id: %s", fault_text(why));
	return 0;
}

int run_ids_choose(struct run_plan *d, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	struct subject *s = d->subject;
	int r;

	if (!(s->layers & LAYER_BIT(LAYER_USER_NS))) {
		d->ids.mode = "host";
		return 0;
	}
	d->ids.mode = d->dirs.rootless ? "single" : "block";
	if (!d->dirs.rootless || d->one_id || !makes_difference(s))
		return 0;
	r = find(d, &why);
	if (r < 0)
		return use_one(d, r, &why, f);
	d->ids.mode = "subordinate";
	s->subordinate = true;
	warn_unwritable(d);
	return 0;
}
