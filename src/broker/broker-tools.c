/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "broker/broker-credential.h"
#include "broker/broker-params.h"
#include "broker/broker-remote.h"
#include "credential/credential.h"
#include "inspect/inspect-rule.h"

#define DIGEST_TEXT_SIZE (sizeof("sha256:") + DIGEST_HEX_SIZE)

/* clang-format off */
static const struct {
	const char *name;
	enum broker_builtin builtin;
	bool read;
} builtins[] = {
	{ "ping",       BROKER_PING,       true  },
	{ "note.write", BROKER_NOTE_WRITE, false },
	{ "git.diff",   BROKER_GIT_DIFF,   true  },
	{ "git.fetch",  BROKER_GIT_FETCH,  true  },
	{ "git.push",   BROKER_GIT_PUSH,   false },
};
/* clang-format on */

bool broker_builtin_is_git(enum broker_builtin b)
{
	return b == BROKER_GIT_DIFF || b == BROKER_GIT_FETCH || b == BROKER_GIT_PUSH;
}

static const struct config_tool *find_declared(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_tools; i++)
		if (str_eq(c->tools[i].name, name))
			return &c->tools[i];
	return NULL;
}

static int require_name(const struct config *c, const char *name, struct fault *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (str_eq(builtins[i].name, name) && find_declared(c, name))
			return fault_set(
				f, EEXIST,
				"tool '%s' of custody.json has the name of a built-in tool: rename it", name);
	return 0;
}

static void put_words(struct jdoc *d, const char *key, char *const *words)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (; words && *words; words++)
		jdoc_append_string(list, *words);
}

/* Each by its variable, or by none.  A tool without one has no such member. */
static void put_credentials(struct jdoc *d, const struct broker_tool *t)
{
	struct jdoc *list = t->n_credentials ? jdoc_set_array(d, "credentials") : NULL;

	for (size_t i = 0; i < t->n_credentials; i++) {
		struct jdoc *entry = jdoc_append_object(list);

		jdoc_set_string(entry, "name", t->credentials[i].name);
		if (t->credentials[i].variable)
			jdoc_set_string(entry, "variable", t->credentials[i].variable);
	}
}

/* A declaration without them is the subject that it was. */
static void put_params(struct jdoc *d, const struct config_tool *c)
{
	struct jdoc *list = c->has_params ? jdoc_set_array(d, "params") : NULL;

	if (c->description)
		jdoc_set_string(d, "description", c->description);
	for (size_t i = 0; i < c->n_params; i++) {
		const struct config_param *p = &c->params[i];
		struct jdoc *entry = jdoc_append_object(list);

		jdoc_set_string(entry, "name", p->name);
		jdoc_set_string(entry, "type", config_param_type_name(p->type));
		jdoc_set_bool(entry, "required", p->required);
		jdoc_set_int(entry, "max_length", (int64_t)p->length_max);
		put_words(entry, "enum", p->values);
		if (p->description)
			jdoc_set_string(entry, "description", p->description);
	}
}

/* With its defaults: writing them explicitly makes no difference. */
static struct jdoc *describe(const struct broker_tool *t)
{
	const struct config_tool *c = t->declared;
	struct jdoc *d = jdoc_new_object();
	const char level[2] = { t->level, '\0' };

	jdoc_set_string(d, "name", t->name);
	jdoc_set_string(d, "level", level);
	jdoc_set_bool(d, "read", t->read);
	put_credentials(d, t);
	broker_remotes_describe(t, d);
	if (!c)
		return d;
	put_params(d, c);
	if (t->builtin == BROKER_REST) {
		rest_declaration_describe(&c->rest, d);
	} else {
		put_words(d, "exec", c->exec);
		put_words(d, "env", c->env);
	}
	put_words(d, "scope", c->scope);
	jdoc_set_int(d, "timeout", (int64_t)c->timeout_s);
	jdoc_set_int(d, "output_max", (int64_t)c->output_max);
	jdoc_set_string(d, "network", network_class_name((enum network_class)c->network));
	jdoc_set_bool(d, "export", c->export);
	if (c->inspect_allow)
		put_words(d, "inspect_allow", c->inspect_allow);
	return d;
}

static int require_supported(const struct config_tool *c, enum lane lane, struct fault *f)
{
	_cleanup_free_ char *what = NULL;

	if (c->export)
		return fault_set(f, ENOTSUP,
				 "tool '%s': \"export\" is not implemented yet, because nothing inspects the "
				 "data that it would send: remove the tool from broker.tools of the profile",
				 c->name);
	if (asprintf(&what, "tool '%s' (network in custody.json)", c->name) < 0) {
		what = NULL;
		return fault_errno(f, ENOMEM, "tools");
	}
	return lane_require_class(lane, (enum network_class)c->network, what, f);
}

int broker_tool_add_credential(struct broker_tool *t, const char *name, const char *variable, struct fault *f)
{
	struct broker_credential *at;

	if (!credential_name_is_valid(name))
		return fault_set(f, EINVAL, "tool '%s': '%s' is no name of a credential", t->name, name);
	if (t->n_credentials == BROKER_CREDENTIALS_MAX)
		return fault_set(f, E2BIG, "tool '%s' has more than %d credentials", t->name,
				 BROKER_CREDENTIALS_MAX);
	at = realloc(t->credentials, (t->n_credentials + 1) * sizeof(*at));
	if (!at)
		return fault_errno(f, ENOMEM, "tools");
	t->credentials = at;
	at += t->n_credentials++;
	*at = (struct broker_credential){ .name = strdup(name),
					  .variable = variable ? strdup(variable) : NULL };
	return at->name && (at->variable || !variable) ? 0 : fault_errno(f, ENOMEM, "tools");
}

/* Texts "VARIABLE=NAME"; that of a request is read from a descriptor. */
static int add_credentials(struct broker_tool *t, struct fault *f)
{
	const char *one = t->declared->rest.credential;
	int r = one ? broker_tool_add_credential(t, one, NULL, f) : 0;

	for (char *const *text = t->declared->credentials; r == 0 && text && *text; text++) {
		_cleanup_free_ char *variable = strdup(*text);
		char *equals = variable ? strchr(variable, '=') : NULL;

		if (!equals)
			return fault_errno(f, ENOMEM, "tools");
		*equals = '\0';
		r = broker_tool_add_credential(t, equals + 1, variable, f);
	}
	return r;
}

static int resolve(const struct config *c, const char *name, enum lane lane, struct broker_tool *ret,
		   struct fault *f)
{
	int r = require_name(c, name, f);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (str_eq(builtins[i].name, name)) {
			*ret = (struct broker_tool){ .name = builtins[i].name,
						     .builtin = builtins[i].builtin,
						     .level = 'A',
						     .read = builtins[i].read };
			return broker_remotes_resolve(ret, c, lane, f);
		}
	*ret = (struct broker_tool){ .declared = find_declared(c, name) };
	if (!ret->declared)
		return fault_set(f, ENOENT,
				 "tool '%s' of the profile is not declared: add it to broker.tools in "
				 "custody.json, or remove it from the profile",
				 name);
	ret->builtin = ret->declared->exec ? BROKER_EXEC : BROKER_REST;
	ret->name = ret->declared->name;
	ret->scope = ret->declared->scope;
	ret->level = config_tool_level(ret->declared);
	ret->read = ret->declared->read;
	r = inspect_rules_parse(ret->declared->inspect_allow, &ret->inspect_allow, f);
	if (r < 0)
		return fault_wrap(f, r, "tool '%s'", ret->name);
	r = require_supported(ret->declared, lane, f);
	return r < 0 ? r : add_credentials(ret, f);
}

void broker_tool_put_credentials(struct jdoc *d, const struct broker_tool *t)
{
	struct jdoc *list = t->n_credentials ? jdoc_set_array(d, "credentials") : NULL;

	for (size_t i = 0; i < t->n_credentials; i++)
		jdoc_append_string(list, t->credentials[i].name);
}

static int require_mcp_name(const struct broker_tools *t, const char *name, struct fault *f)
{
	char own[BROKER_MCP_NAME_SIZE], other[BROKER_MCP_NAME_SIZE];

	broker_tool_mcp_name(name, own);
	for (size_t i = 0; i < t->n; i++) {
		broker_tool_mcp_name(t->items[i].name, other);
		if (str_eq(own, other))
			return fault_set(
				f, EEXIST,
				"tools '%s' and '%s' are both '%s' for a client of MCP: rename one in "
				"custody.json, or remove it from the profile",
				t->items[i].name, name, own);
	}
	return 0;
}

/* Takes TOOL. */
static int add(struct broker_tools *t, struct jdoc *list, struct broker_tool *tool, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe(tool);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char digest[DIGEST_TEXT_SIZE] = "sha256:";
	const char level[2] = { tool->level, '\0' };
	struct broker_tool *to = &t->items[t->n];
	struct jdoc *entry;
	int r = jdoc_write(d, JDOC_CANONICAL, &text, f);

	if (r < 0)
		return r;
	*to = *tool;
	*tool = (struct broker_tool){ 0 };
	digest_bytes(text.text, text.len, &to->digest);
	digest_to_hex(&to->digest, digest + sizeof("sha256:") - 1);
	entry = jdoc_append_object(list);
	jdoc_set_string(entry, "name", to->name);
	jdoc_set_string(entry, "digest", digest);
	jdoc_set_string(entry, "level", level);
	jdoc_set_bool(entry, "read", to->read);
	broker_tool_put_credentials(entry, to);
	t->n++;
	return 0;
}

/* The stricter one of custody.json and the profile. */
static void set_limits(struct broker_tools *t, const struct config *c, const struct jdoc *section)
{
	const struct jdoc *calls = jdoc_get(section, "max_tool_calls_per_session"),
			  *delay = jdoc_get(section, "timing_min_delay_ms");

	t->calls_max = c->sandbox.max_tool_calls;
	t->delay_ms = c->sandbox.timing_min_delay_ms;
	if (calls && calls->type == JDOC_INT && (uint64_t)calls->integer < t->calls_max)
		t->calls_max = (uint64_t)calls->integer;
	if (delay && delay->type == JDOC_INT && (uint64_t)delay->integer > t->delay_ms)
		t->delay_ms = (uint64_t)delay->integer;
	jdoc_set_int(t->section, "max_tool_calls_per_session", (int64_t)t->calls_max);
	jdoc_set_int(t->section, "timing_min_delay_ms", (int64_t)t->delay_ms);
}

int broker_tools_resolve(const struct config *c, const struct profile *p, enum lane lane,
			 struct broker_tools *ret, struct fault *f)
{
	const struct jdoc *section = p->sections[PROFILE_SECTION_BROKER], *names = jdoc_get(section, "tools");
	_cleanup_broker_tools_ struct broker_tools t = { .open = section != NULL };
	const size_t n = names && names->type == JDOC_ARRAY ? names->n_items : 0;
	struct jdoc *list;
	int r = 0;

	if (!section) {
		*ret = t;
		return 0;
	}
	t.section = jdoc_new_object();
	t.items = calloc(n + 1, sizeof(*t.items));
	if (!t.section || !t.items)
		return fault_errno(f, ENOMEM, "tools");
	list = jdoc_set_array(t.section, "tools");
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct broker_tool tool = { 0 };

		if (broker_tools_find(&t, names->items[i]->string))
			continue;
		r = require_mcp_name(&t, names->items[i]->string, f);
		if (r == 0)
			r = resolve(c, names->items[i]->string, lane, &tool, f);
		if (r == 0)
			r = add(&t, list, &tool, f);
		broker_tool_done(&tool);
	}
	set_limits(&t, c, section);
	if (r < 0)
		return fault_wrap(f, r, "profile '%s'", p->name);
	if (t.section->broken)
		return fault_errno(f, ENOMEM, "tools");
	*ret = t;
	t = (struct broker_tools){ 0 };
	return 0;
}

void broker_tool_done(struct broker_tool *t)
{
	free(t->program);
	for (size_t i = 0; i < t->n_credentials; i++) {
		free(t->credentials[i].name);
		free(t->credentials[i].variable);
	}
	free(t->credentials);
	*t = (struct broker_tool){ 0 };
}

void broker_tools_done(struct broker_tools *t)
{
	for (size_t i = 0; i < t->n; i++)
		broker_tool_done(&t->items[i]);
	free(t->items);
	jdoc_free(t->section);
	*t = (struct broker_tools){ 0 };
}

bool broker_tool_is_synced(const struct broker_tool *t)
{
	size_t at = 0;

	return !t->read || t->n_credentials > 0 || broker_remotes_credential(t, &at);
}

const struct broker_tool *broker_tools_find(const struct broker_tools *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->items[i].name, name))
			return &t->items[i];
	return NULL;
}
