/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "base/trusted-path.h"
#include "broker/broker-tools.h"

/*
 * What a tool executes, with all rights of the operator, must not be what the command inside, or the author of the worktree, has
 * written.
 */

static int refuse_below(const struct broker_tool *t, const char *path, char *const *places, struct fault *f)
{
	for (; places && *places; places++)
		if (path_is_below(path, *places))
			return fault_set(
				f, EPERM,
				"tool '%s': '%s' is in '%s', which the command may change or whose author is "
				"not you: install it elsewhere, and change exec in custody.json",
				t->name, path, *places);
	return 0;
}

/* The script of an interpreter is as good as a program.  A directory may be given: the tool is to work there. */
static int check_arguments(const struct broker_tool *t, char *const *places, struct fault *f)
{
	for (char *const *word = t->declared->exec + 1; *word; word++) {
		_cleanup_free_ char *real = **word == '/' ? realpath(*word, NULL) : NULL;
		struct stat st;
		int r;

		if (!real || stat(real, &st) < 0 || S_ISDIR(st.st_mode))
			continue;
		r = refuse_below(t, *word, places, f);
		if (r == 0)
			r = refuse_below(t, real, places, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int locate(struct broker_tool *t, char *const *places, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *real = NULL;
	int r = trusted_path_resolve(t->declared->exec[0], &real, &why);

	/* Its calls fail, also if a program appears there while the session runs: that was not checked. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return fault_set(f, -r, "tool '%s': %s", t->name, fault_text(&why));
	r = refuse_below(t, t->declared->exec[0], places, f);
	if (r == 0)
		r = refuse_below(t, real, places, f);
	if (r == 0)
		r = check_arguments(t, places, f);
	if (r < 0)
		return r;
	free(t->program);
	t->program = TAKE_PTR(real);
	return 0;
}

int broker_tools_locate(struct broker_tools *t, char *const *places, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++)
		if (t->items[i].declared)
			r = locate(&t->items[i], places, f);
	return r;
}
