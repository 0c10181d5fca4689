/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "subject/git-identity.h"
#include "subject/subject-build.h"

#define ENV_MAX 4096
#define PATH_DEFAULT "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static size_t name_len(const char *var)
{
	return strcspn(var, "=");
}

static bool same_name(const char *a, const char *b)
{
	size_t len = name_len(a);

	return len == name_len(b) && memcmp(a, b, len) == 0;
}

static const char *find_var(char *const *env, const char *name)
{
	for (size_t i = 0; env && env[i]; i++)
		if (strchr(env[i], '=') && same_name(env[i], name))
			return env[i];
	return NULL;
}

/* Adds VAR or replaces the one of the same name: the last one wins. */
static int put(struct subject *s, const char *var, struct fault *f)
{
	int name = (int)name_len(var);
	char *copy;

	if (name == 0 || var[name] != '=')
		return fault_set(f, EINVAL, "environment variable '%s' has no name", var);
	if (!str_is_utf8(var, strlen(var)))
		return fault_set(
			f, EILSEQ,
			"environment variable '%.*s' is not UTF-8: unset it, or give it a value with -e",
			name, var);
	for (size_t i = 0; s->env && s->env[i]; i++) {
		if (!same_name(s->env[i], var))
			continue;
		copy = strdup(var);
		if (!copy)
			return fault_errno(f, ENOMEM, "environment");
		free(s->env[i]);
		s->env[i] = copy;
		return 0;
	}
	if (strv_len(s->env) >= ENV_MAX)
		return fault_set(f, E2BIG, "more than %d environment variables", ENV_MAX);
	if (strv_append(&s->env, var) < 0)
		return fault_errno(f, ENOMEM, "environment");
	return 0;
}

static int put_value(struct subject *s, const char *name, const char *value, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf var = { 0 };

	strbuf_printf(&var, "%s=%s", name, value);
	if (var.broken)
		return fault_errno(f, ENOMEM, "environment");
	return put(s, var.text, f);
}

static bool passes(const struct subject *s, const char *var)
{
	_cleanup_free_ char *name = strndup(var, name_len(var));

	if (!name)
		return false;
	/* Only a profile that disables the layer under `dangerous` passes the whole environment. */
	if (!(s->layers & LAYER_BIT(LAYER_ENVIRONMENT)))
		return name[0] != '\0';
	for (char **p = s->profile->env_pass; p && *p; p++)
		if (fnmatch(*p, name, 0) == 0)
			return true;
	return false;
}

static int put_passed(struct subject *s, char *const *environ, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && environ && environ[i]; i++)
		if (passes(s, environ[i]))
			r = put(s, environ[i], f);
	return r;
}

static int put_requested(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const char *var;
	int r = 0;

	for (size_t i = 0; r >= 0 && rq->env && rq->env[i]; i++) {
		/* "-e NAME" passes the caller's value; as with other engines, unset stays unset. */
		var = strchr(rq->env[i], '=') ? rq->env[i] : find_var(rq->environ, rq->env[i]);
		if (!rq->env[i][0])
			return fault_set(f, EINVAL, "-e needs NAME or NAME=VALUE");
		if (var)
			r = put(s, var, f);
	}
	return r;
}

static const char *value_of(char *const *env, const char *name)
{
	const char *var = find_var(env, name);

	return var ? var + name_len(var) + 1 : NULL;
}

/*
 * The identity of the caller's git configuration, for commits inside: under the names that the profile passes, and that
 * neither the caller, the profile nor -e has set.
 */
static int put_identity(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	_cleanup_git_identity_ struct git_identity g = { 0 };
	int r = 0;

	git_identity_load(value_of(rq->environ, "HOME"), value_of(rq->environ, "XDG_CONFIG_HOME"), &g);
	const struct {
		const char *name, *value;
	} vars[] = {
		{ "GIT_AUTHOR_NAME", g.name },
		{ "GIT_AUTHOR_EMAIL", g.email },
		{ "GIT_COMMITTER_NAME", g.name },
		{ "GIT_COMMITTER_EMAIL", g.email },
	};
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(vars); i++)
		if (vars[i].value && passes(s, vars[i].name) && !find_var(s->env, vars[i].name))
			r = put_value(s, vars[i].name, vars[i].value, f);
	return r;
}

static int compare_names(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t lx = name_len(x), ly = name_len(y), n = lx < ly ? lx : ly;
	int c = memcmp(x, y, n);

	return c ? c : (lx > ly) - (lx < ly);
}

/* Runtimes add their own HOME and PATH if missing, so set ours. */
static int put_defaults(struct subject *s, bool *ret_own_home, struct fault *f)
{
	const char *home = find_var(s->env, "HOME"), *text = home ? home + strlen("HOME=") : NULL;
	int r;

	if (!find_var(s->env, "PATH")) {
		r = put(s, PATH_DEFAULT, f);
		if (r < 0)
			return r;
	}
	*ret_own_home = !home;
	if (!home)
		text = "/home/sandbox";
	else if (text[0] != '/')
		text = "/";
	r = path_normalize(text, &s->home, f);
	if (r < 0)
		return fault_wrap(f, r, "HOME '%s'", text);
	return home ? 0 : put_value(s, "HOME", s->home, f);
}

const char *subject_env_value(char *const *env, const char *name)
{
	return value_of(env, name);
}

int subject_put_env(struct subject *s, const char *name, const char *value, struct fault *f)
{
	int r = put_value(s, name, value, f);

	if (r >= 0)
		qsort(s->env, strv_len(s->env), sizeof(char *), compare_names);
	return r;
}

int subject_build_env(struct subject *s, const struct subject_request *rq, bool *ret_own_home,
		      struct fault *f)
{
	const struct profile *p = s->profile;
	int r;

	r = put_passed(s, rq->environ, f);
	for (size_t i = 0; r >= 0 && i < p->n_env_set; i++)
		r = put_value(s, p->env_set[i].name, p->env_set[i].value, f);
	if (r >= 0)
		r = put_requested(s, rq, f);
	if (r >= 0)
		r = put_identity(s, rq, f);
	if (r >= 0)
		r = put_defaults(s, ret_own_home, f);
	if (r >= 0)
		qsort(s->env, strv_len(s->env), sizeof(char *), compare_names);
	return r;
}
