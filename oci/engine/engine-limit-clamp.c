/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-limit-impl.h"

/* A member and a file of the same limit: where create had the file, `update` of the member would replace it. */
static const struct {
	const char *member, *file;
} conflicts[] = {
	{ "memory.swap", "memory.swap.max" },
	{ "cpu.shares", "cpu.weight" },
	{ "blockIO", "io." },
};

bool engine_limit_number(const struct jdoc *v, const struct engine_limit *row, bool v2, uint64_t *ret)
{
	*ret = row->missing[v2];
	if (!v || v->type == JDOC_NULL)
		return true;
	if (v->type != JDOC_INT)
		return false;
	if (!v->wide && v->integer == 0 && row->zero == ENGINE_ZERO_UNSET)
		return true;
	*ret = (uint64_t)v->integer;
	if ((!v->wide && v->integer < 0) || (v->integer == 0 && row->zero == ENGINE_ZERO_NONE))
		*ret = ENGINE_LIMIT_NONE;
	return true;
}

static char *write_value(const struct jdoc *v)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	if (!v)
		return strdup("nothing");
	if (engine_is(v, JDOC_STRING))
		return strdup(v->string);
	return jdoc_write(v, JDOC_CANONICAL, &t, NULL) < 0 ? NULL : strbuf_take(&t);
}

void engine_limit_put_looser(struct limit_walk *w, const char *member, const struct engine_limit *row,
			     const char *approved, const char *asked)
{
	struct jdoc *item;

	if (w->ret->looser->n_items == 0)
		w->ret->option = row ? row->option : NULL;
	item = jdoc_append_object(w->ret->looser);
	jdoc_set_string(item, "member", member);
	jdoc_set_string(item, "approved", approved);
	jdoc_set_string(item, "asked", asked);
}

static bool has_file(const struct limit_walk *w, const char *prefix)
{
	const struct jdoc *unified = jdoc_get(w->l->approved, "unified");

	for (size_t i = 0; engine_is(unified, JDOC_OBJECT) && i < unified->n_members; i++)
		if (str_starts(unified->members[i].key, prefix))
			return true;
	return false;
}

bool engine_limit_is_file(const struct limit_walk *w, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++) {
		size_t len = strlen(conflicts[i].member);

		if (strncmp(path, conflicts[i].member, len) == 0 && (path[len] == '.' || !path[len]) &&
		    has_file(w, conflicts[i].file))
			return true;
	}
	return false;
}

static bool is_true(const struct jdoc *v)
{
	return engine_is(v, JDOC_BOOL) && v->boolean;
}

/* Memory and swap.  Swap of 0 in create is none at all on v2: the sum may then be the limit of memory at most. */
static bool swap_is_looser(const struct limit_walk *w, const struct engine_limit *row,
			   const struct jdoc *approved, const struct jdoc *asked)
{
	const struct jdoc *limit = engine_at(w->asked, "memory.limit");
	uint64_t most, n;

	if (!engine_limit_number(asked, row, w->l->v2, &n))
		return true;
	if (!engine_is(approved, JDOC_INT) || approved->integer != 0 || approved->wide)
		return !engine_limit_number(approved, row, w->l->v2, &most) || n > most;
	if (!w->l->v2)
		return false;
	if (!limit)
		limit = engine_at(w->l->current, "memory.limit");
	return !engine_is(limit, JDOC_INT) || limit->integer <= 0 || n > (uint64_t)limit->integer;
}

static bool is_looser(const struct limit_walk *w, const char *path, const struct engine_limit *row,
		      const struct jdoc *approved, const struct jdoc *asked)
{
	const struct jdoc *current = engine_at(w->l->current, path);
	uint64_t most, n, least;

	if (engine_limit_is_file(w, path))
		return true;
	switch (row->kind) {
	case ENGINE_LIMIT_FREE:
	case ENGINE_LIMIT_QUOTA:
	case ENGINE_LIMIT_PERIOD:
		return false;
	case ENGINE_LIMIT_MORE:
		return !engine_limit_number(approved, row, w->l->v2, &most) ||
		       !engine_limit_number(asked, row, w->l->v2, &n) || n > most;
	case ENGINE_LIMIT_SWAP:
		return swap_is_looser(w, row, approved, asked);
	case ENGINE_LIMIT_RAISE:
		return !engine_limit_number(approved, row, w->l->v2, &most) ||
		       !engine_limit_number(current, row, w->l->v2, &least) ||
		       !engine_limit_number(asked, row, w->l->v2, &n) || n < most || n < least;
	case ENGINE_LIMIT_TRUE:
		return asked->type != JDOC_BOOL || (asked->boolean && !is_true(approved));
	case ENGINE_LIMIT_SET:
		return asked->type != JDOC_STRING ||
		       !engine_cpuset_is_part(asked->string,
					      engine_is(approved, JDOC_STRING) ? approved->string : NULL);
	case ENGINE_LIMIT_SAME:
	case ENGINE_LIMIT_FILES:
	case ENGINE_LIMIT_OBJECT:
	case ENGINE_LIMIT_LIST:
		break;
	}
	return !approved || !jdoc_equal(approved, asked);
}

static char *join(const char *prefix, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", prefix, *prefix ? "." : "", name) < 0)
		return NULL;
	return path;
}

/* The approved value in place of one that is looser, which is reported.  1: OBJECT has the member no more. */
static int replace(struct limit_walk *w, const char *path, const struct engine_limit *row,
		   struct jdoc *object, const char *key, const struct jdoc *approved)
{
	_cleanup_free_ char *was = write_value(approved), *is = write_value(jdoc_get(object, key));

	if (!was || !is)
		return fault_errno(w->f, ENOMEM, "limits");
	engine_limit_put_looser(w, path, row, was, is);
	/* One that only rises has nothing to return to, and a file may stand for it. */
	if (approved && row->kind != ENGINE_LIMIT_RAISE && !engine_limit_is_file(w, path) &&
	    !(approved->type == JDOC_INT && approved->integer == 0 && row->zero != ENGINE_ZERO_NUMBER)) {
		jdoc_set(object, key, jdoc_copy(approved));
		return 0;
	}
	(void)jdoc_remove(object, key);
	return 1;
}

static int clamp_member(struct limit_walk *w, const char *path, const struct engine_limit *row,
			struct jdoc *object, const char *key, const struct jdoc *approved)
{
	if (is_looser(w, path, row, approved, jdoc_get(object, key)))
		return replace(w, path, row, object, key, approved);
	return 0;
}

/* 1: removed. */
static int clamp_one(struct limit_walk *w, const char *prefix, const struct engine_limit *table,
		     struct jdoc *object, const char *key, const struct jdoc *approved)
{
	const struct engine_limit *row = engine_limit_find(table, key);
	_cleanup_free_ char *path = join(prefix, key), *name = strdup(key);
	const struct jdoc *was = jdoc_get(approved, key);

	if (!path || !name)
		return fault_errno(w->f, ENOMEM, "limits");
	if (!row)
		return fault_set(w->f, EPERM,
				 "not updated: 'resources.%.200s' is not in custody's list of limits, so its "
				 "effect is not known",
				 path);
	switch (row->kind) {
	case ENGINE_LIMIT_OBJECT:
		return engine_limit_clamp_object(w, path, row->in, jdoc_get(object, key), was);
	case ENGINE_LIMIT_LIST:
		return engine_limit_clamp_list(w, path, row, jdoc_get(object, key), was);
	case ENGINE_LIMIT_FILES:
		return engine_limit_clamp_files(w, path, jdoc_get(object, key), was);
	case ENGINE_LIMIT_SAME:
	case ENGINE_LIMIT_MORE:
	case ENGINE_LIMIT_SWAP:
	case ENGINE_LIMIT_QUOTA:
	case ENGINE_LIMIT_PERIOD:
	case ENGINE_LIMIT_SET:
	case ENGINE_LIMIT_TRUE:
	case ENGINE_LIMIT_RAISE:
	case ENGINE_LIMIT_FREE:
		break;
	}
	return clamp_member(w, path, row, object, name, was);
}

int engine_limit_clamp_object(struct limit_walk *w, const char *prefix, const struct engine_limit *table,
			      struct jdoc *object, const struct jdoc *approved)
{
	if (!engine_is(object, JDOC_OBJECT))
		return fault_set(w->f, EINVAL, "not updated: 'resources.%.100s' is not an object", prefix);
	for (size_t i = 0; i < object->n_members;) {
		int r = clamp_one(w, prefix, table, object, object->members[i].key, approved);

		if (r < 0)
			return r;
		i += r == 0;
	}
	return 0;
}

int engine_limits_clamp(const struct engine_limits *l, struct jdoc *asked, struct engine_limits_result *ret,
			struct fault *f)
{
	_cleanup_limits_result_ struct engine_limits_result res = { .looser = jdoc_new_array() };
	struct limit_walk w = { .l = l, .asked = asked, .ret = &res, .f = f };
	int r = res.looser ? 0 : fault_errno(f, ENOMEM, "limits");

	if (r == 0)
		r = engine_limit_clamp_object(&w, "", engine_limits, asked, l->approved);
	if (r == 0)
		engine_limit_couple(&w);
	if (r == 0 && (asked->broken || res.looser->broken))
		r = fault_errno(f, ENOMEM, "limits");
	if (r < 0)
		return r;
	/* What create had: the rules are there. */
	(void)jdoc_remove(asked, "devices");
	engine_limits_drop_empty(asked);
	*ret = res;
	res = (struct engine_limits_result){ 0 };
	return 0;
}

void engine_limits_result_done(struct engine_limits_result *r)
{
	jdoc_free(r->looser);
	*r = (struct engine_limits_result){ 0 };
}
