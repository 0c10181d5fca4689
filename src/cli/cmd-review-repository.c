/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cmd-review.h"
#include "cli/review-chain.h"

void review_free_repository(struct review_call *r)
{
	if (!r)
		return;
	changes_done(&r->changes);
	git_changes_done(&r->git);
	fd_close(r->upper);
	fd_close(r->base);
	if (r->moment[0])
		(void)!path_remove_tree(r->dir, r->moment, NULL);
	fd_close(r->dir);
	session_upper_done(&r->kept);
	free(r);
}

int review_open_repository(struct review_call *r, struct fault *f)
{
	_cleanup_close_ int dir =
		openat(r->dir, SESSION_REPOSITORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct review_call *g;
	int e;

	if (dir < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '" SESSION_REPOSITORY "'");
	g = r->repository = calloc(1, sizeof(*g));
	if (!g)
		return fault_errno(f, ENOMEM, "repository");
	*g = REVIEW_NONE;
	g->call = r->call;
	g->note = r->note;
	g->pass = r->pass;
	g->root = r->root;
	g->dir = TAKE_FD(dir);
	g->running = r->running;
	e = g->running ? review_read_running_repository(g, f) : session_upper_read(g->dir, &g->kept, f);
	if (e == 0 && (!str_eq(g->kept.session, r->kept.session) || !g->kept.own))
		e = fault_set(f, EINVAL, "'%s' belongs to another session", SESSION_UPPER_FILE);
	return e < 0 ? fault_wrap(f, e, "repository of session '%s'", r->kept.session) : 0;
}

size_t review_count_changes(const struct review_call *r, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];

		n += all ? ch->kind != CHANGE_SAME : ch->picked && !ch->refused;
	}
	return n;
}

/* With paths of the worktree nothing of the repository is asked for. */
static const struct review_call *asked(const struct review_call *r)
{
	const struct review_call *g = r->repository;

	return g && !r->paths && review_count_changes(g, true) ? g : NULL;
}

void review_print_repository(const struct review_call *r)
{
	const struct review_call *g = asked(r);
	_cleanup_free_ char *path = g ? str_escape(g->kept.worktree) : NULL;
	bool head = false;

	for (size_t i = 0; g && i < g->changes.n; i++) {
		const struct change *ch = &g->changes.items[i];
		_cleanup_free_ char *name = NULL, *why = ch->refused ? str_escape(ch->refused) : NULL;

		if (ch->kind == CHANGE_SAME || ch->folded)
			continue;
		if (!head)
			printf("repository %s:\n", path ? path : "?");
		head = true;
		printf("  %-9s %s%s%s\n", changes_kind_name(ch->kind), review_quote(ch->path, &name),
		       ch->refused ? "; apply refuses it: " : "", why ? why : "");
	}
	if (!g)
		return;
	review_print_git(g, r->colour);
	putchar('\n');
}

void review_describe_repository(const struct review_call *r, struct jdoc *o)
{
	const struct review_call *g = asked(r);
	struct jdoc *d, *rows;

	if (!g)
		return;
	d = jdoc_set_object(o, "repository");
	jdoc_set(d, "path", ledger_text(g->kept.worktree));
	rows = jdoc_set_array(d, "changes");
	for (size_t i = 0; i < g->changes.n; i++) {
		const struct change *ch = &g->changes.items[i];
		struct jdoc *row;

		if (ch->kind == CHANGE_SAME)
			continue;
		row = jdoc_append_object(rows);
		jdoc_set(row, "path", ledger_text(ch->path));
		jdoc_set_string(row, "change", changes_kind_name(ch->kind));
		jdoc_set(row, "refused", ch->refused ? ledger_text(ch->refused) : jdoc_new_null());
	}
	review_describe_git(g, d);
}
