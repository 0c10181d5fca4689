/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-mount.h"
#include "subject/own-dirs.h"
#include "subject/subject.h"

/*
 * Keys, requests, grants, ledger and configuration of custody: as for custody's own runs a source that contains them must not be
 * writable, and they are hidden where it shows them.  The rules are those of room subject, which get the binds as its mounts.
 */
static void subject_release(struct subject *s)
{
	for (size_t i = 0; i < s->n_mounts; i++) {
		free(s->mounts[i].source);
		free(s->mounts[i].target);
	}
	free(s->mounts);
}

static int add_bind(struct subject *s, const struct jdoc *mount, struct fault *f)
{
	const char *source = engine_text(mount, "source"), *target = engine_text(mount, "destination");
	struct subject_mount *m = &s->mounts[s->n_mounts];

	if (!source || *source != '/' || !target)
		return 0;
	*m = (struct subject_mount){ .kind = SUBJECT_MOUNT_BIND, .rw = !engine_mount_is_readonly(mount) };
	m->source = own_dirs_resolve(source);
	s->n_mounts++;
	if (!m->source)
		return fault_errno(f, ENOMEM, "'%s'", source);
	return path_normalize(target, &m->target, f);
}

int engine_merge_own_dirs(struct engine_work *w)
{
	size_t n = engine_count(w->config, "mounts");
	_cleanup_(subject_release) struct subject s = { .profile = w->in->profile };
	_cleanup_strv_ char **hidden = NULL;
	struct jdoc *masked;
	int r = 0;

	if (!w->in->own || n == 0)
		return 0;
	s.mounts = calloc(n, sizeof(*s.mounts));
	if (!s.mounts)
		return fault_errno(w->f, ENOMEM, "config.json");
	for (size_t i = 0; r == 0 && i < n; i++)
		if (engine_mount_kind(engine_item(w->config, "mounts", i), &w->names) == ENGINE_MOUNT_BIND)
			r = add_bind(&s, engine_item(w->config, "mounts", i), w->f);
	if (r == 0)
		r = subject_require_apart(&s, w->in->own, w->f);
	if (r == 0)
		r = subject_hide_own(&s, w->in->own, &hidden, w->f);
	if (r < 0)
		return fault_wrap(w->f, r, "config.json: 'mounts'");
	masked = engine_make(jdoc_get(w->config, "linux"), "maskedPaths", JDOC_ARRAY);
	for (char **h = hidden; h && *h; h++)
		if (!engine_list_has(masked, *h))
			jdoc_append_string(masked, *h);
	return 0;
}
