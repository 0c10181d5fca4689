/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/str.h"
#include "cli/cmd-review.h"
#include "cli/dispatch.h"
#include "review/rename.h"
#include "tty/colour.h"
#include "tty/pager.h"

/* Paths that are named are shown as they are. */
static bool names_git(const struct review_call *r)
{
	for (size_t i = 0; r->paths && r->paths[i]; i++)
		if (git_changes_has(r->paths[i]))
			return true;
	return false;
}

static int load(struct review_call *r, struct fault *f)
{
	int e = review_load(r, f);
	struct review_call *g = r->repository;

	if (e == 0)
		e = tree_at_init(&r->reader.base, r->base, f);
	if (e == 0)
		e = tree_at_init(&r->reader.upper, r->upper, f);
	if (e == 0)
		e = rename_pair(&r->changes, &(struct rename_ask){ .upper = r->upper, .base = r->base }, f);
	if (e == 0 && !r->call->git_objects && !names_git(r))
		e = git_changes_fold(&r->changes, r->base, r->upper, NULL, &r->git, f);
	if (e == 0 && g && !r->call->git_objects)
		e = git_changes_fold(&g->changes, g->base, g->upper, g->kept.worktree, &g->git, f);
	return e;
}

/* Before the process enters a user namespace, in which the pager would have other rights. */
static int start_pager(const struct review_call *r, struct pager *p, struct fault *f)
{
	const char *missing, *command = r->call->no_pager || !r->terminal ? NULL : pager_choose(&missing);

	if (command)
		return pager_open(p, command, f);
	if (!r->call->no_pager && r->terminal && missing) {
		_cleanup_free_ char *shown = str_escape(missing);

		fprintf(stderr, PACKAGE_NAME " diff: the pager '%s' is not found: printed without one\n",
			shown ? shown : "?");
	}
	return 0;
}

static int diff(struct review_call *r, struct fault *f)
{
	struct pager pager = PAGER_NONE;
	int e, x;

	r->terminal = !r->call->json && isatty(STDOUT_FILENO);
	r->colour = !r->call->json && colour_is_wanted(r->call->color, r->terminal);
	e = start_pager(r, &pager, f);
	if (e == 0)
		e = load(r, f);
	if (e == 0) {
		pager_begin(&pager);
		e = r->call->json   ? review_print_json(r, f)
		    : r->call->stat ? review_print_stat(r, f)
				    : review_print_diff(r, f);
	}
	x = pager_close(&pager, e == 0 ? f : NULL);
	return e < 0 ? e : x < 0 ? x : STATUS_OK;
}

int cmd_diff(struct command_call *c, struct fault *f)
{
	return review_run(c, diff, f);
}
