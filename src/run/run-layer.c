/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/fd.h"
#include "base/str.h"
#include "run/run-base.h"
#include "session/session-sum.h"
#include "worktree/overlay-view.h"

void run_layer_done(struct run_layer *l)
{
	if (!l->open)
		return;
	fd_close(l->subject.view);
	session_upper_done(&l->kept);
	strv_free(l->chain);
	free(l->path);
	*l = (struct run_layer){ 0 };
}

/* This session and those that it continues. */
static int name_chain(struct run_layer *l, struct fault *f)
{
	int r = strv_append(&l->chain, l->kept.session);

	for (char **id = l->kept.chain; r == 0 && id && *id && strv_len(l->chain) < RUN_BASE_CHAIN_MAX; id++)
		r = strv_append(&l->chain, *id);
	return r < 0 ? fault_errno(f, ENOMEM, "session") : 0;
}

/* Its supervisor was killed before the sum was complete, or the disk was full then.  The lock becomes a shared one again. */
static int make_sum(const struct dirs *d, int dir, const struct run_layer *l, struct fault *f)
{
	int r;

	if (flock(dir, LOCK_EX | LOCK_NB) < 0)
		return fault_set(f, EBUSY, "in use by another process: retry");
	r = session_sum_make_from(d, &l->kept, dir, f);
	if (r == 0 && flock(dir, LOCK_SH | LOCK_NB) < 0)
		r = fault_errno(f, errno, "lock");
	return r;
}

static int find_layer(const struct dirs *d, int dir, const struct run_layer *l, struct fault *f)
{
	int r, layer = session_layer_open(dir, &l->kept, NULL);

	if (layer >= 0)
		return layer;
	if (layer == -ENOENT && l->kept.chain) {
		r = make_sum(d, dir, l, f);
		if (r < 0)
			return r;
	}
	return session_layer_open(dir, &l->kept, f);
}

int run_layer_open(const struct dirs *d, int dir, const char *below, struct run_layer *l, struct fault *f)
{
	const struct session_upper *k = &l->kept;
	_cleanup_close_ int layer = find_layer(d, dir, l, f);
	int r = layer < 0 ? layer : name_chain(l, f);

	if (r == 0 && asprintf(&l->path, "%s/sessions/%s/%s%s%s", d->state, k->session, below,
			       *below ? "/" : "", session_layer_name(k)) < 0) {
		l->path = NULL;
		r = fault_errno(f, ENOMEM, "session");
	}
	if (r == 0)
		r = l->subject.view = overlay_view_open(&(struct overlay_view_ask){ .layer = layer,
										    .path = l->path,
										    .worktree = k->worktree },
							&l->subject.manifest, f);
	if (r < 0)
		return fault_wrap(f, r, "--continue: changes of session '%s'", k->session);
	l->subject.device = k->device;
	l->subject.inode = k->inode;
	return 0;
}
