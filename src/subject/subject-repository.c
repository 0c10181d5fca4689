/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "state/git-link.h"
#include "subject/subject-build.h"

#define REMEDY "to use the current directory alone, without its repository: --here"

const struct subject_mount *subject_find_overlay(const struct subject *s)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_OVERLAY)
			return &s->mounts[i];
	return NULL;
}

/* The directory that was judged, and not another one that has its name since. */
static int require_same(const struct git_link *g, const struct subject_mount *m, struct fault *f)
{
	if (m->file.device == g->device && m->file.inode == g->inode && m->is_dir)
		return 0;
	return fault_set(f, EBUSY, "repository '%s' was replaced while it was looked at: try again",
			 g->repository);
}

/* The changes were made to this repository, by its identity, as those of the worktree. */
static int set_base(struct subject_mount *m, const struct subject_base *b, struct fault *f)
{
	if (!b)
		return 0;
	if (b->device != m->file.device || b->inode != m->file.inode)
		return fault_set(f, ESTALE,
				 "session '%s' cannot be continued here: its repository is another directory "
				 "than '%s'",
				 b->session, m->source);
	if (asprintf(&m->view, "/proc/self/fd/%d", b->view) < 0) {
		m->view = NULL;
		return fault_errno(f, ENOMEM, "subject");
	}
	m->continued = true;
	m->base = b->manifest;
	return 0;
}

static int add(struct subject *s, const struct git_link *g, struct fault *f)
{
	const struct profile *p = s->profile;
	bool copy = p->workspace == PROFILE_WORKSPACE_OVERLAY && !profile_is_fuse(p);
	struct subject_mount *m;
	int r = subject_add_bind(s, g->repository, g->repository, false, true, f);

	if (r < 0)
		return r;
	m = subject_find_mount(s, g->repository);
	m->exact = true;
	if (copy) {
		m->kind = SUBJECT_MOUNT_OVERLAY;
		m->rw = true;
	} else if (strv_appendf(&s->remarks,
				"the repository '%s' is read-only inside: git can read it, but not commit",
				g->repository) < 0) {
		return fault_errno(f, ENOMEM, "subject");
	}
	return require_same(g, m, f);
}

int subject_build_repository(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const struct git_link *g = rq->git;
	int r;

	if (!g)
		return 0;
	/* A mount that the caller named there is used instead. */
	if (subject_find_mount(s, g->repository))
		return rq->continued_repository ? fault_set(f, ENOTSUP,
							    "session '%s' has changes of the repository "
							    "'%s', so that no other mount "
							    "can replace it: omit -v in its place",
							    rq->continued_repository->session, g->repository)
						: 0;
	if (!str_eq(subject_work_target(s), s->worktree))
		return fault_set(
			f, EPERM,
			"the worktree '%s' is at '%s' inside, where its file .git does not lead to the "
			"repository '%s'; " REMEDY,
			s->worktree, subject_work_target(s), g->repository);
	if (path_is_below(s->home, g->repository) || path_is_below(g->repository, s->home))
		return fault_set(f, EPERM, "the repository '%s' is in the home inside; " REMEDY,
				 g->repository);
	r = subject_require_harmless(s, rq, g->repository, false, f);
	if (r == 0)
		r = add(s, g, f);
	if (r == 0)
		r = set_base(subject_find_mount(s, g->repository), rq->continued_repository, f);
	return r;
}
