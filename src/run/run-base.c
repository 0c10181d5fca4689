/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "session/session-pick.h"

#define WITHOUT "--fresh starts on the worktree"

#define EMPTY_LAYER                                        \
	{                                                  \
		.open = true, .subject = {.view = -EBADF } \
	}
#define EMPTY ((struct run_base){ .open = true, .lock = -EBADF, .tree = EMPTY_LAYER })

void run_base_done(struct run_base *b)
{
	if (!b->open)
		return;
	fd_close(b->lock);
	run_layer_done(&b->tree);
	run_layer_done(&b->repository);
	*b = (struct run_base){ 0 };
}

/* Before a session is looked for: a run of this kind never continues one. */
static int require_kind(const struct run_base_ask *a, struct fault *f)
{
	const struct profile *p = a->profile;

	if (a->in_root)
		return fault_set(f, ENOTSUP,
				 "--continue: a sandbox root keeps its content between runs by itself: omit "
				 "--sandbox; " WITHOUT);
	if (p->workspace != PROFILE_WORKSPACE_OVERLAY)
		return fault_set(f, ENOTSUP,
				 "--continue needs workspace.mode 'overlay', and profile '%s' has '%s': use "
				 "another profile; " WITHOUT,
				 p->name, profile_worktree_word(p));
	if (profile_is_fuse(p))
		return fault_set(f, ENOTSUP,
				 "--continue needs the kernel's overlayfs, and profile '%s' has "
				 "workspace.overlay 'fuse': use another profile; " WITHOUT,
				 p->name);
	if (!(p->layers & LAYER_BIT(LAYER_USER_NS)))
		return fault_set(f, ENOTSUP,
				 "--continue needs a user namespace: take 'no-user-namespace' out of "
				 "'dangerous' of profile '%s'; " WITHOUT,
				 p->name);
	return 0;
}

static int find(const struct run_base_ask *a, struct session_note *n, struct fault *f)
{
	const char *tree = a->profile->workspace_source ? a->profile->workspace_source : ".";
	struct stat st;
	int r;

	if (stat(tree, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", tree);
	r = session_pick_of(a->dirs, st.st_dev, st.st_ino, a->session, n, f);
	if (r == -ENOENT && session_word_is_last(a->session)) {
		fault_done(f);
		return fault_set(f, ENOENT,
				 "--continue: no session of this directory has kept changes; " WITHOUT
				 ", 'custody sessions' lists sessions to name");
	}
	return r < 0 ? fault_wrap(f, r, "--continue") : 0;
}

static int require_over(const struct session_note *n, struct fault *f)
{
	if (n->state == SESSION_RUNNING)
		return fault_set(
			f, EBUSY,
			"--continue: session '%s' is still running: wait for its end, or: custody stop %s",
			n->session, n->session);
	if (n->state == SESSION_LOST)
		return fault_set(f, EBUSY,
				 "--continue: session '%s' lost its supervisor: run custody recover first",
				 n->session);
	if (!n->kept)
		return fault_set(
			f, ENOENT,
			"--continue: no changes of session '%s' are kept: it changed nothing, or they "
			"were applied, discarded or have expired; " WITHOUT,
			n->session);
	return 0;
}

/* The upper was never synced: after a crash of the machine its files may be empty. */
static int require_boot(const struct run_base_ask *a, const struct session_upper *k, struct fault *f)
{
	char boot[sizeof(k->boot)];
	int r = clock_boot_id(boot, f);

	if (r < 0 || a->restarted || str_eq(boot, k->boot))
		return r;
	return fault_set(f, ESTALE,
			 "--continue: the machine was restarted since session '%s' ended; after a crash the "
			 "kept changes may be incomplete: check 'custody diff %s', then add --restarted",
			 k->session, k->session);
}

static int require_same_worktree(const struct session_upper *k, struct fault *f)
{
	struct stat st;

	if (lstat(k->worktree, &st) < 0)
		return fault_errno(f, errno, "--continue: worktree '%s' of session '%s'", k->worktree,
				   k->session);
	if (st.st_dev != k->device || st.st_ino != k->inode)
		return fault_set(f, ESTALE,
				 "--continue: worktree '%s' is not the directory that session '%s' used; see "
				 "'custody diff %s'; " WITHOUT,
				 k->worktree, k->session, k->session);
	return 0;
}

static int require_kept(const struct run_base_ask *a, const struct session_note *n,
			const struct session_upper *k, struct fault *f)
{
	int r;

	if (!str_eq(k->session, n->session))
		return fault_set(f, EINVAL, "--continue: '%s' belongs to another session",
				 SESSION_UPPER_FILE);
	if (k->notes != OVERLAY_XATTR_USER)
		return fault_set(f, ENOTSUP,
				 "--continue: session '%s' did not use the kernel's overlayfs in a user "
				 "namespace, which this run does; " WITHOUT,
				 k->session);
	if (k->rootless != a->dirs->rootless)
		return fault_set(f, EPERM, "--continue: session '%s' is another user's", k->session);
	r = require_boot(a, k, f);
	return r < 0 ? r : require_same_worktree(k, f);
}

static int lock(const struct run_base_ask *a, const struct session_note *n, struct run_base *b,
		struct fault *f)
{
	int r;

	b->lock = session_upper_lock_shared(a->dirs, n->session, f);
	r = b->lock < 0 ? b->lock : lane_require_stamp(b->lock, a->dirs->lane, n->session, f);
	if (r == 0)
		r = session_upper_read(b->lock, &b->tree.kept, f);
	if (r < 0)
		return fault_wrap(f, r, "--continue");
	b->uid_base = n->uid_base;
	return require_kept(a, n, &b->tree.kept, f);
}

int run_base_open(const struct run_base_ask *ask, struct run_base *ret, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_run_base_ struct run_base b = EMPTY;
	int r;

	if (ask->by_default && ask->in_root)
		return 0;
	r = require_kind(ask, f);
	if (r == 0)
		r = find(ask, &n, f);
	if (r == -ENOENT && ask->by_default) {
		fault_done(f);
		return 0;
	}
	if (r == 0)
		r = require_over(&n, f);
	if (r == 0)
		r = lock(ask, &n, &b, f);
	if (r == 0)
		r = run_layer_open(ask->dirs, b.lock, "", &b.tree, f);
	if (r == 0)
		r = run_base_open_repository(ask, &b, f);
	if (r < 0)
		return r;
	*ret = b;
	ret->tree.subject.session = ret->tree.kept.session;
	ret->repository.subject.session = ret->repository.kept.session;
	b = (struct run_base){ 0 };
	return 0;
}
