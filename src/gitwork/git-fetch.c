/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "gitwork/git-remote.h"
#include "gitwork/git-source.h"

#define HAVE_MAX 16
#define BUNDLE "bundle" /* in the private directory */
#define PLACE "custody" /* in the repository of the worktree */

static int require(const struct jdoc *p, struct fault *f)
{
	const struct jdoc *have = jdoc_get(p, "have");

	for (size_t i = 0; i < p->n_members; i++) {
		const char *key = p->members[i].key;
		const enum jdoc_type type = str_eq(key, "have") ? JDOC_ARRAY : JDOC_STRING;

		if ((!str_eq(key, "remote") && !str_eq(key, "branch") && !str_eq(key, "have")) ||
		    p->members[i].value->type != type)
			return fault_set(
				f, EINVAL,
				"git.fetch has the parameters 'remote', 'branch' and 'have', a list");
	}
	for (size_t i = 0; have && i < have->n_items; i++)
		if (i >= HAVE_MAX || have->items[i]->type != JDOC_STRING ||
		    !git_oid_is_valid(have->items[i]->string))
			return fault_set(f, EINVAL, "'have' is a list of at most %d ids of commits",
					 HAVE_MAX);
	return 0;
}

/* Lines "OID TAB refs/heads/NAME".  A name that the session gives is compared here, and never sent. */
static int list_branches(const struct git_call *c, const struct git_box *b, struct jdoc *ret, struct fault *f)
{
	const struct git_box box = git_remote_box(b, c->remote);
	const char *argv[] = { "ls-remote", "--quiet", "--heads", "--", c->remote->url, NULL };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	int r = git_run(&box, GIT_CLEAN, argv, NULL, &out, f);
	char *save = NULL;

	if (r < 0)
		return r == -EREMOTEIO
			       ? fault_set(f, EREMOTEIO, "remote '%s' cannot be reached", c->remote->name)
			       : r;
	for (char *line = out.text ? strtok_r(out.text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *name = line + GIT_OID_SIZE + strlen("refs/heads/");
		struct jdoc *e;

		if (strlen(line) <= GIT_OID_SIZE || line[GIT_OID_SIZE - 1] != '\t' ||
		    !str_starts(line + GIT_OID_SIZE, "refs/heads/") || !git_branch_is_valid(name))
			continue;
		line[GIT_OID_SIZE - 1] = '\0';
		e = jdoc_append_object(ret);
		jdoc_set_string(e, "name", name);
		jdoc_set_string(e, "commit", line);
	}
	return 0;
}

static const char *find_branch(const struct jdoc *branches, const char *name)
{
	for (size_t i = 0; i < branches->n_items; i++)
		if (str_eq(jdoc_get_string(branches->items[i], "name"), name))
			return name;
	return NULL;
}

/* Commits that the session has already, as far as they are this branch's: "^OID". */
static int add_have(const struct git_box *b, const struct jdoc *have, char ***words, struct fault *f)
{
	for (size_t i = 0; have && i < have->n_items; i++) {
		_cleanup_free_ char *spec = NULL;
		const char *argv[] = { "cat-file", "-e", NULL, NULL };
		int r;

		if (asprintf(&spec, "%s^{commit}", have->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "have");
		argv[2] = spec;
		r = git_run_status(b, GIT_CLEAN, argv, NULL, NULL, f);
		if (r < 0)
			return r;
		if (r == 0 && strv_appendf(words, "^%s", have->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "have");
	}
	return 0;
}

/* 1: there is a bundle; 0: the session has all of it. */
static int make_bundle(const struct git_box *b, const char *ref, const struct jdoc *have, struct fault *f)
{
	static const char bundle[] = "../" BUNDLE;
	const char *list[4 + HAVE_MAX] = { "rev-list", "--max-count=1", ref },
			     *create[6 + HAVE_MAX] = { "bundle", "create", "--quiet", bundle, ref };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	_cleanup_strv_ char **words = NULL;
	int r = add_have(b, have, &words, f);

	for (size_t i = 0; words && words[i] && i < HAVE_MAX; i++)
		list[3 + i] = create[5 + i] = words[i];
	if (r == 0)
		r = git_run(b, GIT_CLEAN, list, NULL, &out, f);
	if (r < 0 || out.len == 0)
		return r;
	r = git_run(b, GIT_CLEAN, create, NULL, NULL, f);
	return r < 0 ? r : 1;
}

static int copy_bundle(const struct git_box *b, int to, struct fault *f)
{
	_cleanup_close_ int from = openat(b->dir, BUNDLE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char part[131072];

	if (from < 0)
		return fault_errno(f, errno, "open the bundle");
	for (;;) {
		ssize_t n = read(from, part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? fault_errno(f, errno, "read the bundle") : 0;
		if (fd_write_all(to, part, (size_t)n, NULL) < 0)
			return fault_set(f, ENOSPC, "the bundle cannot be written into the repository");
	}
}

/* One file under a name of our own, in a directory of our own, with the rights of the worktree's owner. */
static int deliver(const struct git_call *c, const struct git_box *b, const char *name, struct fault *f)
{
	_cleanup_git_source_ struct git_source s = GIT_SOURCE_NONE;
	_cleanup_close_ int dir = -EBADF, to = -EBADF;
	int r = git_source_open(c->top, &s, f);

	if (r < 0)
		return r;
	dir = git_source_make_dir(&s, s.git, PLACE);
	to = dir < 0 ? -1 : git_source_create(&s, dir, ".new");
	if (to < 0)
		return fault_set(f, EACCES,
				 "no bundle can be written into the repository's directory '" PLACE "'");
	r = copy_bundle(b, to, f);
	if (r == 0 && git_source_rename(&s, dir, ".new", name) < 0)
		r = fault_set(f, EACCES, "the bundle cannot be renamed to '%s'", name);
	if (r < 0)
		git_source_unlink(&s, dir, ".new");
	return r;
}

static int fetch_branch(const struct git_call *c, const struct git_box *b, const char *branch,
			struct jdoc *data, struct fault *f)
{
	_cleanup_free_ char *spec = NULL, *ref = NULL, *name = NULL, *path = NULL;
	const char *parse[] = { "rev-parse", "--verify", "--quiet", NULL, NULL };
	char commit[GIT_OID_SIZE];
	int r;

	if (asprintf(&spec, "+refs/heads/%s:refs/heads/%s", branch, branch) < 0 ||
	    asprintf(&ref, "refs/heads/%s", branch) < 0 ||
	    asprintf(&name, "%s.bundle", c->remote->name) < 0 ||
	    asprintf(&path, ".git/" PLACE "/%s", name) < 0)
		return fault_errno(f, ENOMEM, "fetch");
	parse[3] = ref;
	r = git_remote_fetch(b, c->remote, (const char *const[]){ spec, NULL }, false, f);
	if (r == 0)
		r = git_run_oid(b, GIT_CLEAN, parse, commit, f);
	if (r == 0)
		r = make_bundle(b, ref, jdoc_get(c->params, "have"), f);
	if (r < 0)
		return r;
	jdoc_set_string(data, "branch", branch);
	jdoc_set_string(data, "commit", commit);
	jdoc_set(data, "bundle", r ? jdoc_new_string(path) : jdoc_new_null());
	return r ? deliver(c, b, name, f) : 0;
}

int git_fetch(const struct git_call *c, struct jdoc **ret, struct fault *f)
{
	struct git_box b = { .program = c->program, .dir = -EBADF };
	const char *branch = jdoc_get_string(c->params, "branch");
	_cleanup_jdoc_ struct jdoc *data = jdoc_new_object(), *branches = jdoc_new_array();
	_cleanup_close_ int dir = -EBADF;
	int r = require(c->params, f);

	if (r == 0)
		r = git_box_open(c->state, &b, f);
	dir = b.dir;
	if (r == 0)
		r = git_box_make_repository(&b, GIT_CLEAN, f);
	if (r == 0)
		r = list_branches(c, &b, branches, f);
	if (r < 0)
		return r;
	jdoc_set_string(data, "remote", c->remote->name);
	if (!branch)
		jdoc_set(data, "branches", TAKE_PTR(branches));
	else if (!find_branch(branches, branch))
		return fault_set(f, ENOENT, "the remote has no such branch");
	else
		r = fetch_branch(c, &b, branch, data, f);
	if (r == 0)
		*ret = TAKE_PTR(data);
	return r;
}
