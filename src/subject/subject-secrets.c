/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/subject-build.h"
#include "subject/worktree-secrets.h"

/* A mount that the caller placed on the path, from elsewhere, already covers the file. */
static bool is_replaced(const struct subject *s, const char *inside, const char *host)
{
	const struct subject_mount *m = subject_find_mount((struct subject *)s, inside);

	return m && !str_eq(m->source, host);
}

/* The part of PATH, which a profile hides, below the worktree; NULL: it is elsewhere. */
static const char *below_worktree(const struct subject *s, const char *path)
{
	const char *const tops[] = { s->worktree, subject_work_target(s) };

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		if (path_is_below(path, tops[i]) && !str_eq(path, tops[i]))
			return path + strlen(tops[i]) + (tops[i][1] != '\0');
	return NULL;
}

static bool is_hidden(const struct subject *s, const char *name)
{
	for (char **h = s->profile->fs_hide; h && *h; h++)
		if (str_eq(below_worktree(s, *h), name))
			return true;
	return false;
}

/* A command can remove the link, and the next run would not find the file. */
static int require_named(const struct subject *s, const char *name, char **named, struct fault *f)
{
	if (s->profile->workspace != PROFILE_WORKSPACE_RW || strv_has(named, name) || is_hidden(s, name))
		return 0;
	return fault_set(
		f, ELOOP,
		"'%s' is a secret by the name of a link to it, and the command could remove the link: "
		"replace "
		"the link by the file, or have the profile hide the file (\"filesystem\": {\"hide\": "
		"[\"${cwd}/%s\"]}), or show it with --show-secrets",
		name, name);
}

static int hide(struct subject *s, const char *name, struct strbuf *names, struct fault *f)
{
	_cleanup_free_ char *inside = path_join(subject_work_target(s), name),
			    *host = path_join(s->worktree, name);

	if (!inside || !host)
		return fault_errno(f, ENOMEM, "secrets");
	if (is_replaced(s, inside, host))
		return 0;
	strbuf_printf(names, "%s'%s'", names->len ? ", " : "", name);
	if (strv_append(&s->secrets, inside) < 0)
		return fault_errno(f, ENOMEM, "secrets");
	return subject_pin_parents(s, name, f);
}

int subject_build_hidden(struct subject *s, struct fault *f)
{
	int r = 0;

	for (char **h = s->profile->fs_hide; r >= 0 && s->worktree && h && *h; h++) {
		const char *name = below_worktree(s, *h);

		r = name ? subject_pin_parents(s, name, f) : 0;
	}
	return r;
}

/* Those of the worktree that the kept changes did not remove, and those in the changes. */
static int find_in_view(const struct subject *s, char *const *found, char ***ret, struct fault *f)
{
	for (; found && *found; found++) {
		_cleanup_free_ char *path = path_join(s->view, *found);
		struct stat st;

		if (!path)
			return fault_errno(f, ENOMEM, "secrets");
		if (lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
			continue;
		if (strv_append(ret, *found) < 0)
			return fault_errno(f, ENOMEM, "secrets");
	}
	return worktree_secrets_find_plain(s->view, ret, f);
}

int subject_build_secrets(struct subject *s, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };
	_cleanup_strv_ char **found = NULL, **here = NULL, **named = NULL;
	int r;

	if (!s->worktree || s->profile->workspace_show_secrets ||
	    s->profile->workspace == PROFILE_WORKSPACE_TMPFS)
		return 0;
	for (const char *const *p = worktree_secret_patterns; *p; p++)
		if (strv_append(&s->secret_patterns, *p) < 0)
			return fault_errno(f, ENOMEM, "secrets");
	r = worktree_secrets_find(s->worktree, s->view ? &here : &found, &named, f);
	if (r == 0 && s->view)
		r = find_in_view(s, here, &found, f);
	for (char **n = found; r >= 0 && n && *n; n++) {
		r = require_named(s, *n, named, f);
		if (r >= 0)
			r = hide(s, *n, &names, f);
	}
	if (r >= 0 && names.len &&
	    strv_appendf(&s->remarks, "hidden inside: %s; to show: --show-secrets", names.text) < 0)
		r = fault_errno(f, ENOMEM, "secrets");
	return r;
}
