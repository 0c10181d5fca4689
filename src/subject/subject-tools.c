/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "subject/subject-build.h"
#include "subject/tool-places.h"

/* At the path that it has outside, because programs name their libraries by it. */
static int add_place(struct subject *s, const struct subject_request *rq, const char *path, struct fault *f)
{
	struct subject_mount *m;
	int r;

	if (subject_find_mount(s, path) || path_is_below(path, subject_work_target(s)))
		return 0;
	r = subject_require_harmless(s, rq, path, false, f);
	if (r >= 0)
		r = subject_add_bind(s, path, path, false, false, f);
	if (r < 0)
		return r;
	m = subject_find_mount(s, path);
	m->idmap = m->owner_uid != 0;
	return 0;
}

static bool list_has(const char *list, const char *dir, size_t len)
{
	for (const char *at = list; *at; at += strspn(at, ":")) {
		size_t n = strcspn(at, ":");

		if (n == len && memcmp(at, dir, n) == 0)
			return true;
		at += n;
	}
	return false;
}

static void put_dir(struct strbuf *b, const char *dir, size_t len)
{
	if (len == 0 || (b->text && list_has(b->text, dir, len)))
		return;
	if (b->len)
		strbuf_putc(b, ':');
	strbuf_add(b, dir, len);
}

static bool is_tool_dir(const struct tool_places *t, const char *dir, size_t len)
{
	for (char **d = t->dirs; d && *d; d++)
		if (strlen(*d) == len && memcmp(*d, dir, len) == 0)
			return true;
	return false;
}

/*
 * The order of the caller's PATH among the directories that exist inside, then the other ones that the profile has: a
 * tool that precedes the system's program of the same name outside does so inside.
 */
static int set_path(struct subject *s, const char *callers, const struct tool_places *t, struct fault *f)
{
	const char *inside = subject_env_value(s->env, "PATH");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (const char *at = callers; *at; at += strspn(at, ":")) {
		size_t n = strcspn(at, ":");

		if (is_tool_dir(t, at, n) || list_has(inside, at, n))
			put_dir(&b, at, n);
		at += n;
	}
	/* Those that the caller names by another path: a home behind a link, a slash too many. */
	for (char **d = t->dirs; d && *d; d++)
		put_dir(&b, *d, strlen(*d));
	for (const char *at = inside; *at; at += strspn(at, ":")) {
		size_t n = strcspn(at, ":");

		put_dir(&b, at, n);
		at += n;
	}
	return b.broken ? fault_errno(f, ENOMEM, "PATH") : subject_put_env(s, "PATH", b.text, f);
}

/* What -e names is the caller's own choice. */
static bool is_asked(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && ((*env)[len] == '=' || (*env)[len] == '\0'))
			return true;
	return false;
}

static int set_variables(struct subject *s, const struct tool_places *t, struct fault *f)
{
	int r = 0;

	for (char **e = t->env; r >= 0 && e && *e; e++) {
		const char *equals = strchr(*e, '=');
		_cleanup_free_ char *name = strndup(*e, (size_t)(equals - *e));

		if (!name)
			return fault_errno(f, ENOMEM, "environment");
		if (!subject_env_value(s->env, name))
			r = subject_put_env(s, name, equals + 1, f);
	}
	return r;
}

static int note_left(struct subject *s, const struct tool_places *t, struct fault *f)
{
	for (char **l = t->left; l && *l; l++)
		if (strv_appendf(&s->remarks, "--tools leaves out %s", *l) < 0)
			return fault_errno(f, ENOMEM, "tools");
	return 0;
}

int subject_build_tools(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const struct tool_search search = { .path = subject_env_value(rq->environ, "PATH"),
					    .home = subject_env_value(rq->environ, "HOME"),
					    .passwd_home = rq->home,
					    .worktree = s->worktree,
					    .own = rq->own };
	_cleanup_tool_places_ struct tool_places t = { 0 };
	int r;

	if (!s->profile->fs_tools)
		return 0;
	r = tool_places_find(&search, &t, f);
	for (char **p = t.shown; r >= 0 && p && *p; p++)
		r = add_place(s, rq, *p, f);
	if (r >= 0 && t.dirs && !is_asked(rq->env, "PATH"))
		r = set_path(s, search.path, &t, f);
	if (r >= 0)
		r = set_variables(s, &t, f);
	return r < 0 ? fault_wrap(f, r, "--tools") : note_left(s, &t, f);
}
