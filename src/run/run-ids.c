/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ids.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "layer/layer.h"
#include "state/file-owners.h"
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

/* A directory of custody's own, in which files keep their owners, and which custody empties. */
static bool is_kept(const struct run_plan *d, const struct subject_mount *m)
{
	return (d->home && home_dir_is_visible(d->home, m->source)) ||
	       (d->root && sandbox_root_is_visible(d->root, m->source));
}

/* Places where files of other ids would stay after the run, among files that are not custody's. */
static int require_private(const struct run_plan *d, struct fault *f)
{
	const struct subject *s = d->subject;
	bool own = d->root || s->profile->workspace != PROFILE_WORKSPACE_RW;

	if (profile_is_fuse(&d->asked))
		return fault_set(f, ENOTSUP, "workspace.overlay fuse serves the caller's own id only");
	for (size_t i = 0; own && i < s->n_mounts; i++)
		own = s->mounts[i].kind != SUBJECT_MOUNT_BIND || !s->mounts[i].rw ||
		      is_kept(d, &s->mounts[i]);
	if (!own)
		return fault_set(f, ENOTSUP,
				 "the run writes directories of the host (rw), where files of other ids "
				 "would stay: use an overlay, a sandbox root or --home keep");
	return 0;
}

static bool has_noted(const struct run_plan *d)
{
	return (d->home && id_map_is_set(&d->home->ids)) || (d->root && id_map_is_set(&d->root->ids));
}

/* The files of earlier runs have the owners that they had inside only with the same map. */
static int require_noted(const struct id_map *noted, const struct id_map *ids, const char *path,
			 struct fault *f)
{
	if (!id_map_is_set(noted) || file_owners_is_same(noted, ids))
		return 0;
	return fault_set(
		f, ESTALE,
		"'%s' has files of other subordinate ids than /etc/subuid and /etc/subgid grant now: grant "
		"these again, or give the files to the caller and remove '%s/" FILE_OWNERS_IDS "', as root",
		path, path);
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
	if (r == 0 && d->home)
		r = require_noted(&d->home->ids, &ids, d->home->path, f);
	if (r == 0 && d->root)
		r = require_noted(&d->root->ids, &ids, d->root->path, f);
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

	if (!s->worktree || d->root || s->profile->workspace == PROFILE_WORKSPACE_RO || s->uid == 0 ||
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
	if (has_noted(d))
		return fault_set(f, why->code ? why->code : EPERM,
				 "files of subordinate ids are in '%s', and these cannot be mapped: %s",
				 d->home && id_map_is_set(&d->home->ids) ? d->home->path : d->root->path,
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
	if (!d->dirs.rootless || d->one_id || (!makes_difference(s) && !has_noted(d)))
		return 0;
	r = find(d, &why);
	if (r < 0)
		return use_one(d, r, &why, f);
	d->ids.mode = "subordinate";
	s->subordinate = true;
	warn_unwritable(d);
	return 0;
}

int run_ids_note(const struct run_plan *d, struct fault *f)
{
	int r = 0;

	if (!id_map_is_set(&d->ids.map))
		return 0;
	if (d->home)
		r = home_dir_share(d->home, &d->ids.map, f);
	if (r == 0 && d->root && d->subject->profile->workspace == PROFILE_WORKSPACE_RW)
		r = sandbox_root_share(d->root, &d->ids.map, f);
	return r;
}
