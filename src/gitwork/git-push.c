/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "gitwork/git-outgoing.h"
#include "gitwork/git-remote.h"

struct push {
	const struct git_call *call;
	struct git_box box;
	struct git_outgoing out;
	const char *branch;
	bool has_old;
	char commit[GIT_OID_SIZE], old[GIT_OID_SIZE];
};

static void push_done(struct push *p)
{
	git_outgoing_done(&p->out);
	p->box.dir = fd_close(p->box.dir);
}
#define _cleanup_push_ _cleanup_(push_done)

int git_push_require(const struct jdoc *params, const struct git_remote *r, struct fault *f)
{
	static const char *const keys[] = { "remote", "branch", "commit", NULL };
	const char *branch = jdoc_get_string(params, "branch");

	for (size_t i = 0; i < params->n_members; i++) {
		size_t k = 0;

		while (keys[k] && !str_eq(keys[k], params->members[i].key))
			k++;
		if (!keys[k] || params->members[i].value->type != JDOC_STRING)
			return fault_set(
				f, EINVAL,
				"git.push has the parameters 'remote', 'branch' and 'commit', strings");
	}
	if (!branch)
		return fault_set(f, EINVAL,
				 "parameter 'branch' is missing: the name of a branch, without refs/heads/");
	if (!git_branch_is_valid(branch))
		return fault_set(f, EINVAL,
				 "parameter 'branch' is no name of a branch that git.push can use");
	if (!git_branch_fits(r->branches, branch))
		return fault_set(f, EPERM, "remote '%s' takes no branch of this name", r->name);
	return 0;
}

/* The commit, and nothing else of the payload's: objects not below it are not in the clean repository. */
static int import(struct push *p, struct fault *f)
{
	_cleanup_git_source_ struct git_source s = GIT_SOURCE_NONE;
	const char *word = jdoc_get_string(p->call->params, "commit");
	char *want[] = { p->commit, NULL };
	char spec[GIT_OID_SIZE + 16], same[GIT_OID_SIZE];
	const char *argv[] = { "rev-parse", "--verify", "--quiet", spec, NULL };
	int r = git_source_open(p->call->top, &s, f);

	if (r == 0)
		r = git_source_find(&s, word ? word : "HEAD", p->commit, f);
	if (r == -ENOENT && (!f || !f->code))
		return fault_set(f, ENOENT, "the repository has no such commit");
	if (r == 0)
		r = git_source_copy(&s, &p->box, f);
	if (r == 0)
		r = git_source_import(&p->box, want, f);
	if (r == 0)
		r = path_remove_tree(p->box.dir, GIT_SOURCE, f);
	if (r < 0)
		return r;
	(void)snprintf(spec, sizeof(spec), "%s^{commit}", p->commit);
	r = git_run_oid(&p->box, GIT_CLEAN, argv, same, f);
	return r == 0 && str_eq(same, p->commit) ? 0 : fault_set(f, EINVAL, "'commit' is no commit");
}

/* What the remote has, so that it is neither inspected nor sent. */
static int fetch_remote(struct push *p, struct fault *f)
{
	static const char *const specs[] = { "+refs/heads/*:refs/remote/heads/*",
					     "+refs/tags/*:refs/remote/tags/*", NULL };
	_cleanup_free_ char *ref = NULL;
	const char *argv[] = { "show-ref", "--verify", "--hash", NULL, NULL };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	int r = git_remote_fetch(&p->box, p->call->remote, specs, true, f);

	if (r < 0)
		return r;
	if (asprintf(&ref, "refs/remote/heads/%s", p->branch) < 0)
		return fault_errno(f, ENOMEM, "branch");
	argv[3] = ref;
	r = git_run_status(&p->box, GIT_CLEAN, argv, NULL, &out, f);
	if (r < 0)
		return r;
	p->has_old = r == 0 && out.len == GIT_OID_SIZE;
	if (!p->has_old)
		return out.len == 0 ? 0 : fault_set(f, EREMOTEIO, "unexpected output of 'git show-ref'");
	memcpy(p->old, out.text, GIT_OID_SIZE - 1);
	return 0;
}

/* custody's own check: with the lease below git would not refuse it. */
static int require_forward(const struct push *p, struct fault *f)
{
	const char *argv[] = { "merge-base", "--is-ancestor", p->old, p->commit, NULL };
	int r;

	if (!p->has_old)
		return 0;
	if (str_eq(p->old, p->commit))
		return fault_set(f, EALREADY, "the branch of the remote is at this commit already");
	if (p->call->remote->force)
		return 0;
	r = git_run_status(&p->box, GIT_CLEAN, argv, NULL, NULL, f);
	if (r <= 0)
		return r;
	return r == 1 ? fault_set(f, EPERM,
				  "the branch of the remote has commits that this one has not: fetch and "
				  "merge them")
		      : fault_set(f, EREMOTEIO, "'git merge-base' failed with status %d", r);
}

static int describe(const struct push *p, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list;

	jdoc_set_string(d, "remote", p->call->remote->name);
	jdoc_set_string(d, "url", p->call->remote->url);
	jdoc_set_string(d, "branch", p->branch);
	jdoc_set_string(d, "commit", p->commit);
	jdoc_set_string(d, "old", p->has_old ? p->old : "");
	jdoc_set_int(d, "files", (int64_t)p->out.n_files);
	list = jdoc_set_array(d, "commits");
	for (size_t i = 0; i < p->out.n_commits; i++) {
		p->out.commits.text[(i + 1) * GIT_OID_SIZE - 1] = '\0';
		jdoc_append_string(list, p->out.commits.text + i * GIT_OID_SIZE);
	}
	if (!d || d->broken)
		return fault_errno(f, ENOMEM, "push");
	*ret = TAKE_PTR(d);
	return 0;
}

static int refuse_found(const struct inspect_found *found, struct fault *f)
{
	_cleanup_free_ char *text = inspect_found_describe(found);

	return fault_set(f, EACCES, "the change has what must not leave: %s", text ? text : "");
}

int git_push_prepare(const struct git_call *c, struct inspect_found *found, struct jdoc **ret,
		     struct fault *f)
{
	_cleanup_push_ struct push p = { .call = c,
					 .box = { .program = c->program, .dir = -EBADF },
					 .branch = jdoc_get_string(c->params, "branch") };
	int r = git_push_require(c->params, c->remote, f);

	if (r == 0)
		r = git_box_open(c->state, &p.box, f);
	if (r == 0)
		r = import(&p, f);
	if (r == 0)
		r = fetch_remote(&p, f);
	if (r == 0)
		r = require_forward(&p, f);
	p.out.box = &p.box;
	p.out.commit = p.commit;
	if (r == 0)
		r = git_outgoing_load(&p.out, f);
	if (r == 0)
		r = git_outgoing_inspect(&p.out, found, f);
	if (r == 0 && found->total)
		r = refuse_found(found, f);
	return r < 0 ? r : describe(&p, ret, f);
}

int git_push_send(const struct git_call *c, struct jdoc **ret, struct fault *f)
{
	const char *branch = jdoc_get_string(c->params, "branch"), *old = jdoc_get_string(c->params, "old"),
		   *commit = jdoc_get_string(c->params, "commit");
	_cleanup_close_ int dir =
		openat(c->state, GIT_BOX_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct git_box own = { .program = c->program, .dir = dir },
			     box = git_remote_box(&own, c->remote);
	_cleanup_free_ char *lease = NULL, *spec = NULL;
	int r;

	if (dir < 0 || !branch || !old || !git_oid_is_valid(commit))
		return fault_set(f, EIO, "the clean repository is missing");
	/* Expected at the remote: the commit that the approval names, or no such branch. */
	if (asprintf(&lease, "--force-with-lease=refs/heads/%s:%s", branch, old) < 0)
		lease = NULL;
	if (asprintf(&spec, "%s:refs/heads/%s", commit, branch) < 0)
		spec = NULL;
	if (!lease || !spec)
		return fault_errno(f, ENOMEM, "push");
	r = git_run(&box, GIT_CLEAN,
		    (const char *const[]){ "push", "--quiet", "--no-verify", "--no-follow-tags",
					   "--no-signed", "--recurse-submodules=no", lease, "--",
					   c->remote->url, spec, NULL },
		    NULL, NULL, f);
	if (r == -EREMOTEIO)
		return fault_set(f, EREMOTEIO,
				 "remote '%s' refused the branch, changed meanwhile, or cannot be reached",
				 c->remote->name);
	if (r < 0)
		return r;
	*ret = jdoc_copy(c->params);
	return *ret ? 0 : fault_errno(f, ENOMEM, "push");
}
