/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "config/config-impl.h"
#include "inspect/inspect-rule.h"

static void free_row(const struct key_row *k, void *field)
{
	char **items = field;
	size_t n;

	switch ((unsigned int)k->kind) {
	case KEY_KIND_TEXT:
	case KEY_KIND_PATH:
		free(*(char **)field);
		return;
	case KEY_KIND_TEXTS:
	case KEY_KIND_ARGV:
		strv_free(*(char ***)field);
		return;
	case KEY_KIND_OBJECTS:
		n = *(size_t *)(items + 1);
		for (size_t i = 0; i < n; i++)
			config_fields_free(k->rows, *items + i * k->row_size);
		free(*items);
		return;
	default:
		return;
	}
}

void config_fields_free(const struct key_row *table, void *p)
{
	for (const struct key_row *k = table; k->path; k++)
		if (k->offset != KEY_NO_FIELD)
			free_row(k, (char *)p + k->offset);
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_rules; i++)
		free(c->rules[i].origin);
	config_fields_free(config_keys(), c);
	jdoc_free(c->document);
	for (size_t i = 0; i < c->n_values; i++) {
		free(c->values[i].source);
		free(c->values[i].replaced_source);
		jdoc_free(c->values[i].value);
		jdoc_free(c->values[i].replaced);
	}
	free(c->values);
	strv_free(c->origins);
	free(c);
}

static const struct jdoc *item(const struct config *c, const char *key, size_t i)
{
	return jdoc_get(c->document, key)->items[i];
}

static int finish_approvers(struct config *c, struct fault *f)
{
	c->has_approvers = jdoc_get(c->document, "approvers") != NULL;
	for (size_t i = 0; i < c->n_approvers; i++) {
		const struct jdoc *v = item(c, "approvers", i);
		struct config_approver *a = &c->approvers[i];

		if (!jdoc_get(v, "uid"))
			a->uid = CONFIG_NO_UID;
		if (str_eq(a->key, a->pin_key))
			return key_fault_set(f, v, "'approvers': '%s': key and pin_key must differ", a->name);
		/* Two names with one key would count as two people. */
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->approvers[k].name, a->name) || str_eq(c->approvers[k].key, a->key) ||
			    (a->pin_key && str_eq(c->approvers[k].pin_key, a->pin_key)))
				return key_fault_set(f, v, "'approvers': '%s' and '%s' share a name or a key",
						     c->approvers[k].name, a->name);
	}
	if (c->has_approvers && c->min_approvals > c->n_approvers)
		return key_fault_set(f, jdoc_get(c->document, "approvers"),
				     "'min_approvals' is %llu, but 'approvers' has %zu entries: no request "
				     "could be approved",
				     (unsigned long long)c->min_approvals, c->n_approvers);
	return 0;
}

static int finish_fleets(struct config *c, struct fault *f)
{
	for (size_t i = 0; i < c->n_fleets; i++) {
		const struct jdoc *v = item(c, "fleets", i);
		const struct config_fleet *a = &c->fleets[i];

		if (strv_len(a->ledgers) == 0 || strv_len(a->ledgers) > CONFIG_FLEET_MAX)
			return key_fault_set(f, v, "'fleets': '%s' must have 1 to %d ledgers", a->name,
					     CONFIG_FLEET_MAX);
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->fleets[k].name, a->name))
				return key_fault_set(f, v, "'fleets': two fleets are called '%s'", a->name);
	}
	return 0;
}

static int finish_provenance(struct config *c, struct fault *f)
{
	for (size_t i = 0; i < c->n_provenance; i++) {
		const struct jdoc *v = item(c, "provenance", i);
		bool uid = jdoc_get(v, "uid") != NULL;

		if (!uid)
			c->provenance[i].uid = CONFIG_NO_UID;
		if (uid == (c->provenance[i].cgroup != NULL))
			return key_fault_set(f, v, "'provenance': each entry needs either uid or cgroup");
	}
	return 0;
}

static int finish_rules(struct config *c, const char *admin_label, struct fault *f)
{
	for (size_t i = 0; i < c->n_rules; i++) {
		const struct jdoc *v = item(c, "rules", i);
		struct config_rule *r = &c->rules[i];

		if (!r->argv && !r->profile && !r->network && !r->mount)
			return key_fault_set(
				f, v, "'rules': each rule needs argv, profile, network or mount to match");
		r->tier = v->origin == admin_label ? CONFIG_ADMIN : CONFIG_USER;
		if (asprintf(&r->origin, "%s:%u", v->origin, v->line) < 0) {
			r->origin = NULL;
			return fault_errno(f, ENOMEM, "configuration");
		}
	}
	return 0;
}

/* Is VARIABLE (up to '=') one that the tool gets anyway? */
static bool is_taken(const struct config_tool *t, const char *text, size_t own)
{
	static const char *const fixed[] = { "PATH", "CUSTODY_SESSION", "CUSTODY_TOOL" };
	const size_t len = (size_t)(strchr(text, '=') - text);

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (strlen(fixed[i]) == len && strncmp(fixed[i], text, len) == 0)
			return true;
	for (char *const *name = t->env; name && *name; name++)
		if (strlen(*name) == len && strncmp(*name, text, len) == 0)
			return true;
	for (size_t i = 0; i < own; i++)
		if (strncmp(t->credentials[i], text, len + 1) == 0)
			return true;
	return false;
}

static int finish_credentials(const struct config_tool *t, const struct jdoc *v, struct fault *f)
{
	for (size_t i = 0; t->credentials && t->credentials[i]; i++)
		if (is_taken(t, t->credentials[i], i))
			return key_fault_set(f, v,
					     "'broker.tools': '%s': credentials: the variable of '%s' has "
					     "another value already",
					     t->name, t->credentials[i]);
	return 0;
}

/* A program or a request. */
static int finish_tool(const struct config_tool *t, const struct jdoc *v, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	const bool rest = jdoc_get(v, "rest") != NULL;
	uint64_t allowed;

	if (rest == (t->exec != NULL))
		return key_fault_set(f, v, "'broker.tools': '%s': a tool needs either exec or rest", t->name);
	if (inspect_rules_parse(t->inspect_allow, &allowed, &why) < 0)
		return key_fault_set(f, v, "'broker.tools': '%s': inspect_allow: %s", t->name,
				     fault_text(&why));
	if (config_params_check(t, &why) < 0)
		return key_fault_set(f, v, "'broker.tools': '%s': %s", t->name, fault_text(&why));
	if (!rest)
		return t->exec[0][0] == '/'
			       ? 0
			       : key_fault_set(f, v,
					       "'broker.tools': '%s': exec must begin with an absolute path",
					       t->name);
	if (t->read && t->rest.method && !str_eq(t->rest.method, "GET"))
		return key_fault_set(f, v, "'broker.tools': '%s': \"read\" is for a request GET", t->name);
	if (t->env || t->credentials)
		return key_fault_set(f, v,
				     "'broker.tools': '%s': env and credentials are for exec; a request has "
				     "rest.headers and rest.credential",
				     t->name);
	if (rest_declaration_check(&t->rest, t->scope, &why) < 0)
		return key_fault_set(f, v, "'broker.tools': '%s': %s", t->name, fault_text(&why));
	return 0;
}

static int finish_tools(struct config *c, struct fault *f)
{
	const struct jdoc *list = jdoc_get(jdoc_get(c->document, "broker"), "tools");

	for (size_t i = 0; i < c->n_tools; i++) {
		struct config_tool *t = &c->tools[i];
		int r;

		t->has_params = jdoc_get(list->items[i], "params") != NULL;
		r = finish_tool(t, list->items[i], f);
		if (r < 0)
			return r;
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->tools[k].name, t->name))
				return key_fault_set(f, list->items[i],
						     "'broker.tools': two tools are called '%s'", t->name);
		r = finish_credentials(t, list->items[i], f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int finish_remotes(struct config *c, struct fault *f)
{
	const struct jdoc *list = jdoc_get(jdoc_get(c->document, "broker"), "remotes");

	for (size_t i = 0; i < c->n_remotes; i++) {
		const struct config_remote *r = &c->remotes[i];
		_cleanup_fault_ struct fault why = { 0 };
		uint64_t allowed;

		if (inspect_rules_parse(r->inspect_allow, &allowed, &why) < 0)
			return key_fault_set(f, list->items[i], "'broker.remotes': '%s': inspect_allow: %s",
					     r->name, fault_text(&why));
		if (r->credential && strncmp(r->url, "https://", 8) != 0)
			return key_fault_set(f, list->items[i],
					     "'broker.remotes': '%s': a credential goes to https:// alone",
					     r->name);
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->remotes[k].name, r->name))
				return key_fault_set(f, list->items[i],
						     "'broker.remotes': two remotes are called '%s'",
						     r->name);
	}
	return 0;
}

static int finish_ids(struct config *c, struct fault *f)
{
	const struct jdoc *v = jdoc_get(c->document, "id_range");
	_cleanup_jdoc_ struct jdoc *fallback = NULL;
	unsigned long long first = 0, last = 0;

	if (!v)
		v = fallback = key_row_default(key_table_find(config_keys(), NULL, "id_range"));
	if (!v || v->broken)
		return fault_errno(f, ENOMEM, "configuration");
	if (sscanf(v->string, "%10llu-%10llu", &first, &last) != 2 || first < 65536 || last > 4294967293 ||
	    last < first || last - first < 65535)
		return key_fault_set(f, v,
				     "'id_range': '%s' must be between 65536 and 4294967293 and contain at "
				     "least 65536 ids",
				     v->string);
	c->id_first = first;
	c->id_last = last;
	return 0;
}

int config_finish(struct config *c, const char *admin_label, struct fault *f)
{
	int r;

	r = finish_approvers(c, f);
	if (r == 0)
		r = finish_fleets(c, f);
	if (r == 0)
		r = finish_provenance(c, f);
	if (r == 0)
		r = finish_rules(c, admin_label, f);
	if (r == 0)
		r = finish_tools(c, f);
	if (r == 0)
		r = finish_remotes(c, f);
	if (r == 0)
		r = finish_ids(c, f);
	return r;
}
