/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "config/config-impl.h"

static const struct config_param *find(const struct config_tool *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->n_params; i++)
		if (strlen(t->params[i].name) == len && memcmp(t->params[i].name, name, len) == 0)
			return &t->params[i];
	return NULL;
}

static int check_one(const struct config_tool *t, const struct config_param *p, struct fault *f)
{
	if (find(t, p->name, strlen(p->name)) != p)
		return fault_set(f, EINVAL, "params has '%s' twice", p->name);
	if (p->type != CONFIG_PARAM_STRING && (p->values || p->length_max))
		return fault_set(f, EINVAL, "params: '%s': enum and max_length are for a string", p->name);
	return 0;
}

/* A scope that names a parameter which no call may have would refuse each call. */
static int check_scope(const struct config_tool *t, struct fault *f)
{
	for (char *const *scope = t->scope; scope && *scope; scope++) {
		const size_t len = strcspn(*scope, "=");

		if (!find(t, *scope, len))
			return fault_set(f, EINVAL, "scope has parameter '%.*s', which is not in params",
					 (int)len, *scope);
	}
	return 0;
}

struct rest_check {
	const struct config_tool *tool;
	const struct config_param *wanted;
	bool used;
	struct fault *f;
	int r;
};

static void check_place(void *arg, const struct rest_place *place)
{
	struct rest_check *x = arg;
	const struct config_param *p = find(x->tool, place->name, place->len);

	if (x->r < 0)
		return;
	if (!p)
		x->r = fault_set(x->f, EINVAL, "rest has parameter '%.*s', which is not in params",
				 (int)place->len, place->name);
	else if (place->required && !p->required)
		x->r = fault_set(x->f, EINVAL,
				 "params: '%s' must be \"required\": true, because rest needs it", p->name);
	x->used |= p && p == x->wanted;
}

static int check_rest(const struct config_tool *t, struct fault *f)
{
	struct rest_check x = { .tool = t, .f = f };

	rest_declaration_each_place(&t->rest, check_place, &x);
	for (size_t i = 0; x.r == 0 && i < t->n_params; i++) {
		x.wanted = &t->params[i];
		x.used = false;
		rest_declaration_each_place(&t->rest, check_place, &x);
		if (!x.used)
			return fault_set(f, EINVAL, "params has '%s', which rest does not use",
					 x.wanted->name);
	}
	return x.r;
}

int config_params_check(const struct config_tool *t, struct fault *f)
{
	int r = 0;

	if (!t->has_params)
		return 0;
	for (size_t i = 0; r == 0 && i < t->n_params; i++)
		r = check_one(t, &t->params[i], f);
	if (r == 0)
		r = check_scope(t, f);
	return r == 0 && t->rest.url ? check_rest(t, f) : r;
}
