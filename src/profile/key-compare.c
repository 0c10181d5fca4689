/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "profile/profile-impl.h"

/* Rule of this file: a relation that is not provably "equal or tighter" is looser.  MUST NOT guess. */

static const void *field(const struct key_row *k, const void *p)
{
	return (const char *)p + k->offset;
}

static const char *text(const struct key_row *k, const void *p)
{
	return *(char *const *)field(k, p);
}

static char **list(const struct key_row *k, const void *p)
{
	return *(char **const *)field(k, p);
}

static uint64_t number(const struct key_row *k, const void *p)
{
	return *(const uint64_t *)field(k, p);
}

static int rank(const struct key_row *k, const void *p)
{
	for (const struct key_word *w = k->words; w->word; w++)
		if ((unsigned int)w->value == *(const unsigned int *)field(k, p))
			return w->rank;
	return INT32_MAX;
}

static bool strv_equal(char **a, char **b)
{
	size_t i = 0;

	if (!a || !b)
		return a == b;
	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	return !a[i] && !b[i];
}

static bool is_equal(const struct key_row *k, const void *a, const void *b)
{
	const struct jdoc *x, *y;

	switch ((unsigned int)k->kind) {
	case KEY_KIND_SECTION:
		x = *(const struct jdoc *const *)field(k, a);
		y = *(const struct jdoc *const *)field(k, b);
		return x == y || (x && y && jdoc_equal(x, y));
	case KEY_KIND_WORD:
		return *(const unsigned int *)field(k, a) == *(const unsigned int *)field(k, b);
	case KEY_KIND_TEXT:
	case KEY_KIND_PATH:
		return str_eq(text(k, a), text(k, b));
	case KEY_KIND_ARGV:
		return strv_equal(list(k, a), list(k, b));
	default:
		return false;
	}
}

/* "LC_*" matches "LC_ALL" and "LC_A*". */
static bool has_pattern(char **v, const char *item)
{
	for (size_t i = 0; v && v[i]; i++) {
		size_t n = strlen(v[i]);

		if (n > 0 && v[i][n - 1] == '*' && strncmp(v[i], item, n - 1) == 0)
			return true;
	}
	return strv_has(v, item);
}

static bool is_each_in(char **items, char **v, char **more)
{
	for (size_t i = 0; items && items[i]; i++)
		if (!strv_has(v, items[i]) && !strv_has(more, items[i]))
			return false;
	return true;
}

static bool is_each_matched(char **items, char **patterns)
{
	for (size_t i = 0; items && items[i]; i++)
		if (!has_pattern(patterns, items[i]))
			return false;
	return true;
}

static bool has_var(const struct profile *p, const struct profile_env_var *var)
{
	for (size_t i = 0; i < p->n_env_set; i++)
		if (str_eq(p->env_set[i].name, var->name) && str_eq(p->env_set[i].value, var->value))
			return true;
	return false;
}

static bool has_tmpfs(const struct profile *p, const struct profile_tmpfs *t)
{
	for (size_t i = 0; i < p->n_fs_tmpfs; i++)
		if (str_eq(p->fs_tmpfs[i].path, t->path) && t->size <= p->fs_tmpfs[i].size)
			return true;
	return false;
}

static bool has_host(const struct profile *p, const struct host_rule *rule)
{
	for (size_t i = 0; i < p->n_network_hosts; i++)
		if (host_rule_covers(&p->network_hosts[i], rule))
			return true;
	return false;
}

/* With the host's network every host can be reached. */
static bool is_each_host_covered(const struct profile *base, const struct profile *p)
{
	for (size_t i = 0; i < p->n_network_hosts && base->network != PROFILE_NETWORK_HOST; i++)
		if (!has_host(base, &p->network_hosts[i]))
			return false;
	return true;
}

static bool is_subset(const struct key_row *k, const void *over, const void *under)
{
	const struct profile *base = over, *p = under; /* for the kinds that only profiles have */
	uint32_t bits;

	switch ((unsigned int)k->kind) {
	case KEY_KIND_LAYERS:
		bits = *(const uint32_t *)field(k, base);
		return (*(const uint32_t *)field(k, p) & ~bits) == 0;
	case KEY_KIND_ENV:
		for (size_t i = 0; i < p->n_env_set; i++)
			if (!has_var(base, &p->env_set[i]))
				return false;
		return true;
	case KEY_KIND_TMPFS:
		for (size_t i = 0; i < p->n_fs_tmpfs; i++)
			if (!has_tmpfs(base, &p->fs_tmpfs[i]))
				return false;
		return true;
	case KEY_KIND_OBJECTS:
		return is_each_host_covered(base, p);
	case KEY_KIND_TEXTS:
	case KEY_KIND_PATHS:
	case KEY_KIND_BINDS:
	case KEY_KIND_DANGERS:
		return is_each_in(list(k, p), list(k, base), NULL);
	default:
		return false;
	}
}

static bool is_user_tighter(const char *base, const char *user)
{
	const char *group = strchr(user, ':');

	if (str_eq(base, user))
		return true;
	if (!str_eq(base, "root") || profile_is_zero_id(user))
		return false;
	return !group || !profile_is_zero_id(group + 1);
}

/* Without a target the worktree has the path of its source inside; a profile that names /work keeps that. */
static bool is_in_worktree(const struct profile *p, const char *path)
{
	if (p->workspace_target)
		return path_is_below(path, p->workspace_target);
	return path_is_below(path, PROFILE_TARGET_FIXED) ||
	       (p->workspace_source && path_is_below(path, p->workspace_source));
}

bool key_row_is_tighter(const struct key_row *k, const void *base, const void *p)
{
	if (k->offset == KEY_NO_FIELD)
		return true;
	switch (k->order) {
	case KEY_ORDER_FREE:
	case KEY_ORDER_NEVER:
		return true;
	case KEY_ORDER_SAME:
		return is_equal(k, base, p);
	case KEY_ORDER_RANK:
		return is_equal(k, base, p) || rank(k, p) < rank(k, base);
	case KEY_ORDER_LIMIT:
		return number(k, base) == 0 || (number(k, p) != 0 && number(k, p) <= number(k, base));
	case KEY_ORDER_LESS:
		return number(k, p) <= number(k, base);
	case KEY_ORDER_MORE:
		return number(k, p) >= number(k, base);
	case KEY_ORDER_TRUE:
		return *(const bool *)field(k, p) || !*(const bool *)field(k, base);
	case KEY_ORDER_FALSE:
		return !*(const bool *)field(k, p) || *(const bool *)field(k, base);
	case KEY_ORDER_BITS:
		return (*(const unsigned int *)field(k, p) & ~*(const unsigned int *)field(k, base)) == 0;
	case KEY_ORDER_SUBSET:
		return is_subset(k, base, p);
	case KEY_ORDER_PATTERNS:
		return is_each_matched(list(k, p), list(k, base));
	case KEY_ORDER_READS:
		return is_each_in(list(k, p), list(k, base), ((const struct profile *)base)->fs_rw);
	case KEY_ORDER_SUPERSET:
		return is_each_in(list(k, base), list(k, p), NULL);
	case KEY_ORDER_BELOW:
		/* A sandbox root has no source path, so only an equal value is accepted. */
		return is_equal(k, base, p) ||
		       (text(k, p) && text(k, base) && path_is_below(text(k, p), text(k, base)));
	case KEY_ORDER_CWD:
		return is_equal(k, base, p) || !text(k, p) || is_in_worktree(p, text(k, p));
	case KEY_ORDER_USER:
		return is_user_tighter(text(k, base), text(k, p));
	}
	return false;
}
