/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "broker/broker-params.h"
#include "broker/broker.h"

/* One parameter of a built-in tool. */
struct builtin_param {
	const char *name, *type, *description;
	bool required;
};

/* clang-format off */
static const struct builtin_param note_params[] = {
	{ "text", "string", "The note.", true }, { 0 } };
static const struct builtin_param diff_params[] = {
	{ "base", "string", "Branch or commit to compare with. Default: origin/HEAD, main or master.", false },
	{ "path", "string", "Only changes of this path or below it.", false },
	{ "staged", "boolean", "Whether staged changes are listed. Default: true.", false }, { 0 } };
static const struct builtin_param fetch_params[] = {
	{ "remote", "string", "Name of a declared remote.", true },
	{ "branch", "string", "Branch to fetch. Without it: the list of branches.", false },
	{ "have", "array", "Ids of commits that are there already.", false }, { 0 } };
static const struct builtin_param push_params[] = {
	{ "remote", "string", "Name of a declared remote.", true },
	{ "branch", "string", "Branch of the remote that is changed.", true },
	{ "commit", "string", "Commit to send. Default: HEAD.", false }, { 0 } };

/* By enum broker_builtin; a description of NULL is a declared tool's own. */
static const struct {
	const char *description;
	const struct builtin_param *params;
} builtins[] = {
	[BROKER_EXEC] = { 0 },
	[BROKER_PING] = { "Answers \"pong\".", NULL },
	[BROKER_NOTE_WRITE] = { "Keeps a note for the person who reviews this session.", note_params },
	[BROKER_REST] = { 0 },
	[BROKER_GIT_DIFF] = { "Lists what the repository of the worktree would send.", diff_params },
	[BROKER_GIT_FETCH] = { "Brings a branch of a declared remote into the repository as a bundle.", fetch_params },
	[BROKER_GIT_PUSH] = { "Sends commits to a branch of a declared remote, after they were inspected.", push_params },
};
/* clang-format on */

/* The property NAME of SCHEMA, made if it is new. */
static struct jdoc *put_property(struct jdoc *schema, const char *name, const char *type,
				 const char *description, bool required)
{
	struct jdoc *all = jdoc_get(schema, "properties"), *p;

	if (!all)
		all = jdoc_set_object(schema, "properties");
	p = jdoc_get(all, name);
	if (!p) {
		p = jdoc_set_object(all, name);
		if (required && !jdoc_get(schema, "required"))
			(void)jdoc_set_array(schema, "required");
		if (required)
			jdoc_append_string(jdoc_get(schema, "required"), name);
	}
	if (type)
		jdoc_set_string(p, "type", type);
	if (description)
		jdoc_set_string(p, "description", description);
	return p;
}

static void put_builtin(struct jdoc *schema, const struct builtin_param *params)
{
	for (; params && params->name; params++) {
		struct jdoc *p = put_property(schema, params->name, params->type, params->description,
					      params->required);

		if (strcmp(params->type, "array") == 0)
			jdoc_set_string(jdoc_set_object(p, "items"), "type", "string");
		if (params == note_params)
			jdoc_set_int(p, "maxLength", BROKER_NOTE_MAX);
	}
	if (params)
		jdoc_set_bool(schema, "additionalProperties", false);
}

static void put_declared(struct jdoc *schema, const struct config_tool *t)
{
	for (size_t i = 0; i < t->n_params; i++) {
		const struct config_param *from = &t->params[i];
		struct jdoc *p = put_property(schema, from->name, config_param_type_name(from->type),
					      from->description, from->required),
			    *list = from->values ? jdoc_set_array(p, "enum") : NULL;

		for (char *const *v = from->values; v && *v; v++)
			jdoc_append_string(list, *v);
		if (from->length_max)
			jdoc_set_int(p, "maxLength", (int64_t)from->length_max);
	}
	jdoc_set_bool(schema, "additionalProperties", false);
}

/* A body may have any value; a place of the URL has a text. */
static void put_place(void *arg, const struct rest_place *place)
{
	_cleanup_free_ char *name = strndup(place->name, place->len);

	if (name)
		(void)put_property(arg, name, place->text ? "string" : NULL, NULL, place->required);
	else
		((struct jdoc *)arg)->broken = true;
}

/* The session's value is not told, only that it must be this one. */
static void put_scope(struct jdoc *schema, char *const *scope)
{
	for (; scope && *scope; scope++) {
		const size_t len = strcspn(*scope, "=");
		_cleanup_free_ char *name = strndup(*scope, len), *text = NULL;

		if (!name || asprintf(&text, "Must be the session's %s.", *scope + len + 1) < 0) {
			text = NULL;
			schema->broken = true;
			return;
		}
		(void)put_property(schema, name, NULL, text, true);
	}
}

struct jdoc *broker_params_schema(const struct broker_tool *t)
{
	struct jdoc *schema = jdoc_new_object();

	jdoc_set_string(schema, "type", "object");
	put_builtin(schema, builtins[t->builtin].params);
	if (t->declared && t->declared->has_params)
		put_declared(schema, t->declared);
	else if (t->builtin == BROKER_REST) {
		rest_declaration_each_place(&t->declared->rest, put_place, schema);
		jdoc_set_bool(schema, "additionalProperties", false);
	}
	put_scope(schema, t->scope);
	return schema;
}

static void put_description(struct jdoc *entry, const struct broker_tool *t)
{
	const char *own = t->declared ? t->declared->description : builtins[t->builtin].description;
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_puts(&text, own ? own : "");
	if (t->level != 'A')
		strbuf_printf(&text,
			      "%sEach call needs an approval (level %c): it is refused with a line that a "
			      "person runs "
			      "outside; then call again with the same parameters.",
			      own ? " " : "", t->level);
	if (text.len)
		jdoc_set_string(entry, "description", text.text);
	entry->broken |= text.broken;
}

struct jdoc *broker_tools_list(const struct broker_tools *t)
{
	struct jdoc *list = jdoc_new_array();

	for (size_t i = 0; i < t->n; i++) {
		struct jdoc *entry = jdoc_append_object(list);
		char mcp[BROKER_MCP_NAME_SIZE];

		broker_tool_mcp_name(t->items[i].name, mcp);
		jdoc_set_string(entry, "name", t->items[i].name);
		jdoc_set_string(entry, "mcp", mcp);
		jdoc_set_bool(entry, "read", t->items[i].read);
		put_description(entry, &t->items[i]);
		jdoc_set(entry, "params", broker_params_schema(&t->items[i]));
	}
	return list;
}

void broker_tool_mcp_name(const char *name, char ret[BROKER_MCP_NAME_SIZE])
{
	size_t n = 0;

	for (; n < BROKER_MCP_NAME_SIZE - 1 && name[n]; n++)
		ret[n] = name[n] == '.' ? '_' : name[n];
	ret[n] = '\0';
}
