/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-params.h"

#include <errno.h>
#include <inttypes.h>

#include "base/str.h"

static const struct config_param *find(const struct config_tool *t, const char *name)
{
	for (size_t i = 0; i < t->n_params; i++)
		if (str_eq(t->params[i].name, name))
			return &t->params[i];
	return NULL;
}

static bool has_type(const struct jdoc *v, unsigned int type)
{
	switch ((enum config_param_type)type) {
	case CONFIG_PARAM_STRING:
		return v->type == JDOC_STRING;
	case CONFIG_PARAM_INTEGER:
		return v->type == JDOC_INT;
	case CONFIG_PARAM_BOOLEAN:
		return v->type == JDOC_BOOL;
	}
	return false;
}

/* As JSON Schema counts. */
static uint64_t count_characters(const char *text)
{
	uint64_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static int check_one(const struct config_param *p, const struct jdoc *v, struct fault *f)
{
	if (!has_type(v, p->type))
		return fault_set(f, EINVAL, "parameter '%s' must be of type %s", p->name,
				 config_param_type_name(p->type));
	if (p->values && !strv_has(p->values, v->string))
		return fault_set(f, EINVAL, "parameter '%s' has a value that the tool's enum does not have",
				 p->name);
	if (p->length_max && count_characters(v->string) > p->length_max)
		return fault_set(f, EINVAL, "parameter '%s' is longer than %" PRIu64 " characters", p->name,
				 p->length_max);
	return 0;
}

int broker_params_check(const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	const struct config_tool *c = t->declared;
	int r = 0;

	if (!c || !c->has_params)
		return 0;
	for (size_t i = 0; r == 0 && i < params->n_members; i++) {
		const struct config_param *p = find(c, params->members[i].key);

		/* Its name is the client's text. */
		r = p ? check_one(p, params->members[i].value, f)
		      : fault_set(f, EINVAL, "a parameter is not one of the tool's");
	}
	for (size_t i = 0; r == 0 && i < c->n_params; i++)
		if (c->params[i].required && !jdoc_get(params, c->params[i].name))
			r = fault_set(f, EINVAL, "parameter '%s' is missing", c->params[i].name);
	return r;
}
