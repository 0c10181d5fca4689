/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-diff.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "profile/profile-impl.h"

static bool is_tighter(const struct profile *base, const struct profile *candidate,
		       bool (*counts)(const char *path), const char **ret_key)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		if ((counts && !counts(k->path)) || key_row_is_tighter(k, base, candidate))
			continue;
		if (ret_key)
			*ret_key = k->path;
		return false;
	}
	return true;
}

bool profile_is_tighter(const struct profile *base, const struct profile *candidate, const char **ret_key)
{
	return is_tighter(base, candidate, NULL, ret_key);
}

/* Image, mounts, variables and user of a container are the engine's. */
static bool counts_for_containers(const char *path)
{
	static const char *const others[] = { "root.", "workspace.", "filesystem.", "env.", "process." };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_starts(path, others[i]))
			return false;
	return true;
}

bool profile_is_tighter_for_containers(const struct profile *base, const struct profile *candidate,
				       const char **ret_key)
{
	return is_tighter(base, candidate, counts_for_containers, ret_key);
}

/* Value of row K: set in the profile, else its default; NULL when it has neither. */
static struct jdoc *effective(const struct key_row *k, const struct profile *p,
			      const struct profile_vars *vars)
{
	const struct jdoc *set = key_row_value(k, p->document);
	struct jdoc *v = set ? jdoc_copy(set) : key_row_default(k);

	if (v && profile_expand_tree(v, vars, NULL) < 0) {
		jdoc_free(v);
		return NULL;
	}
	return v;
}

static const char *relation(const struct key_row *k, const struct profile *a, const struct profile *b)
{
	bool down = key_row_is_tighter(k, a, b), up = key_row_is_tighter(k, b, a);

	if (k->offset == KEY_NO_FIELD)
		return "unknown";
	if (down && up)
		return "equal";
	return down ? "tighter" : "looser";
}

static void set_or_null(struct jdoc *entry, const char *key, const struct jdoc *v)
{
	jdoc_set(entry, key, v ? jdoc_copy(v) : jdoc_new_null());
}

/* Two spellings of one number are equal. */
static bool is_same_value(const struct key_row *k, const struct profile *a, const struct profile *b,
			  const struct jdoc *x, const struct jdoc *y)
{
	if (!x || !y)
		return x == y;
	if (jdoc_equal(x, y))
		return true;
	if (k->kind < KEY_KIND_COUNT || k->kind > KEY_KIND_PERCENT || k->offset == KEY_NO_FIELD)
		return false;
	return memcmp((const char *)a + k->offset, (const char *)b + k->offset, sizeof(uint64_t)) == 0;
}

int profile_diff_keys(const struct profile *a, const struct profile *b, const struct profile_vars *vars,
		      struct jdoc *list)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		_cleanup_jdoc_ struct jdoc *x = NULL, *y = NULL;
		struct jdoc *entry;

		if (k->kind == KEY_KIND_SECTION || str_eq(k->path, "name") || str_eq(k->path, "description"))
			continue;
		x = effective(k, a, vars);
		y = effective(k, b, vars);
		if (is_same_value(k, a, b, x, y))
			continue;
		entry = jdoc_append_object(list);
		if (!entry)
			return -ENOMEM;
		jdoc_set_string(entry, "key", k->path);
		set_or_null(entry, "a", x);
		set_or_null(entry, "b", y);
		jdoc_set_string(entry, "relation", relation(k, a, b));
	}
	return 0;
}
