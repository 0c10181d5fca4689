/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record-text.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"

#define HEX_SHOWN 12
#define DEPTH_MAX 4 /* of members that are listed */

/* Parts are separated by '|'; a part whose {member} is missing is left out. */
static const struct {
	const char *kind, *text;
} templates[] = {
	{ "session.intent", "{command}|, profile {profile}|, level {approval.level}|, continues {base}" },
	{ "session.start", "{layers}|, pid {pid}" },
	{ "session.alive", "still running" },
	{ "session.end", "{reason} {code}|, {wall_ms} ms|, {detail}|, evidence {evidence}" },
	{ "exec.intent", "{command}|, in session {within}|, level {approval.level}" },
	{ "exec.start", "{layers}|, pid {pid}" },
	{ "exec.alive", "still running" },
	{ "exec.end", "{reason} {code}|, {wall_ms} ms" },
	{ "exec.refused", "{refused}: {why}|, command {command}|, in session {within}" },
	{ "session.refused", "{refused}: {why}|, command {command}" },
	{ "tool.call", "{tool}, call {call}|, level {level}" },
	{ "tool.result", "{tool}, call {call}: {result}|, {ms} ms|, found {found}" },
	{ "tool.refused", "{tool}|, {refused}|, found {found}|, {more} more refusals" },
	{ "net.connect", "{host} port {port}|, address {address}|, rule {rule}|, {id}" },
	{ "net.close", "{host} port {port}|, {sent} bytes sent|, {received} received|, {ms} ms|, {id}" },
	{ "net.failed", "{host} port {port}|, {failed}|, {id}" },
	{ "net.refused", "{host}| port {port}|, {refused}|, rule {rule}|, {id}|, {more} more refusals" },
	{ "approval.request", "{command}|, level {level}|, request {request}" },
	{ "operator.stop", "stopped by {by}" },
	{ "review.ask", "{answer}: {deletions} deletions|, {paths}" },
	{ "review.apply", "{changes} changes to {worktree}|, by {by}" },
	{ "review.applied", "{written} written, {deleted} deleted|, {left} not applied|: {error}" },
	{ "ledger.open", "new ledger, version {version}|, key {public}" },
};

static bool is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") == len;
}

static void put_string(struct strbuf *b, const char *text)
{
	size_t len = strlen(text), at = strncmp(text, "sha256:", 7) == 0 ? 7 : 0;

	if (len - at == 64 && is_hex(text + at, 64))
		strbuf_printf(b, "%.*s", (int)at + HEX_SHOWN, text);
	else
		strbuf_puts(b, text);
}

static void put_value(struct strbuf *b, const struct jdoc *v);

/* "name=proven": those are counted, others are listed. */
static void put_layers(struct strbuf *b, const struct jdoc *list)
{
	size_t proven = 0;

	for (size_t i = 0; i < list->n_items; i++) {
		const struct jdoc *v = list->items[i];

		proven += v->type == JDOC_STRING && str_ends(v->string, "=proven");
	}
	strbuf_printf(b, "%zu layer%s proven", proven, proven == 1 ? "" : "s");
	for (size_t i = 0; i < list->n_items; i++) {
		const struct jdoc *v = list->items[i];

		if (v->type != JDOC_STRING || str_ends(v->string, "=proven"))
			continue;
		strbuf_puts(b, ", ");
		put_value(b, v);
	}
}

static void put_list(struct strbuf *b, const struct jdoc *list)
{
	for (size_t i = 0; i < list->n_items; i++) {
		if (i)
			strbuf_putc(b, ' ');
		if (list->items[i]->type == JDOC_STRING)
			strbuf_put_word(b, list->items[i]->string);
		else
			put_value(b, list->items[i]);
	}
}

static void put_value(struct strbuf *b, const struct jdoc *v)
{
	switch (v->type) {
	case JDOC_NULL:
		strbuf_putc(b, '-');
		break;
	case JDOC_BOOL:
		strbuf_puts(b, v->boolean ? "yes" : "no");
		break;
	case JDOC_INT:
		strbuf_printf(b, "%" PRId64, v->integer);
		break;
	case JDOC_STRING:
		put_string(b, v->string);
		break;
	case JDOC_ARRAY:
		put_list(b, v);
		break;
	case JDOC_OBJECT:
		/* Bytes that are not UTF-8 are {"b64": ...}. */
		strbuf_puts(b, jdoc_get_string(v, "b64") ? "base64 " : "{...}");
		if (jdoc_get_string(v, "b64"))
			strbuf_puts(b, jdoc_get_string(v, "b64"));
		break;
	}
}

static const struct jdoc *find_member(const struct jdoc *d, const char *path, size_t len)
{
	while (d && len > 0) {
		size_t part = strcspn(path, ".}");
		char key[64];

		if (part >= sizeof(key))
			return NULL;
		memcpy(key, path, part);
		key[part] = '\0';
		d = jdoc_get(d, key);
		path += part + (part < len);
		len -= part + (part < len);
	}
	return d && d->type != JDOC_NULL ? d : NULL;
}

/* One part of a template, or nothing. */
static void put_part(struct strbuf *b, const struct jdoc *d, const char *text, size_t len)
{
	_cleanup_strbuf_ struct strbuf part = { 0 };
	const char *end = text + len;

	while (text < end) {
		size_t plain = strcspn(text, "{|"), name;
		const struct jdoc *v;

		strbuf_add(&part, text, plain < (size_t)(end - text) ? plain : (size_t)(end - text));
		text += plain;
		if (text >= end)
			break;
		name = strcspn(++text, "}");
		v = find_member(d, text, name);
		if (!v)
			return;
		if (strncmp(text, "layers}", 7) == 0 && v->type == JDOC_ARRAY)
			put_layers(&part, v);
		else
			put_value(&part, v);
		text += name + 1;
	}
	if (!part.text)
		return;
	/* The first part that is shown begins with its text, not with a comma. */
	text = part.text;
	strbuf_puts(b, b->len ? text : text + strspn(text, ",: "));
	b->broken |= part.broken;
}

static bool put_template(struct strbuf *b, const struct record *r, const struct jdoc *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
		if (!record_kind_is(r, templates[i].kind))
			continue;
		for (const char *text = templates[i].text; *text;) {
			size_t len = strcspn(text, "|");

			put_part(b, d, text, len);
			text += len + (text[len] == '|');
		}
		return b->len > 0;
	}
	return false;
}

/* "key value, key.inner value". */
static void put_members(struct strbuf *b, const char *prefix, const struct jdoc *d, unsigned int depth)
{
	for (size_t i = 0; i < d->n_members; i++) {
		const struct jdoc_member *m = &d->members[i];
		_cleanup_strbuf_ struct strbuf key = { 0 };

		strbuf_printf(&key, "%s%s", prefix, m->key);
		if (m->value->type == JDOC_OBJECT && depth < DEPTH_MAX && !jdoc_get(m->value, "b64")) {
			strbuf_putc(&key, '.');
			put_members(b, key.text ? key.text : "", m->value, depth + 1);
			continue;
		}
		strbuf_printf(b, "%s%s ", b->len ? ", " : "", key.text ? key.text : "?");
		put_value(b, m->value);
	}
}

char *record_text(const struct record *r)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (jdoc_parse(r->d.at, r->d.len, "record", NULL, &d, NULL) < 0)
		strbuf_add(&b, r->d.at, r->d.len);
	else if (!put_template(&b, r, d) && d->type == JDOC_OBJECT)
		put_members(&b, "", d, 0);
	return strbuf_take(&b);
}
