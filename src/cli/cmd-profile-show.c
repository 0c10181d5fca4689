/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-key.h"

/* Called for each value without further parts; POINTER is what `remove` would take. */
typedef int visit_fn(const char *pointer, const struct jdoc *v, void *userdata, struct fault *f);

static void add_token(struct strbuf *b, const char *key)
{
	strbuf_putc(b, '/');
	for (; *key; key++) {
		if (*key == '~')
			strbuf_puts(b, "~0");
		else if (*key == '/')
			strbuf_puts(b, "~1");
		else
			strbuf_putc(b, *key);
	}
}

static int walk(struct strbuf *pointer, const struct jdoc *v, visit_fn *visit, void *userdata,
		struct fault *f)
{
	size_t len = pointer->len, n = 0;
	int r = 0;

	if (v->type == JDOC_ARRAY)
		n = v->n_items;
	else if (v->type == JDOC_OBJECT)
		n = v->n_members;
	if (n == 0)
		return visit(pointer->text, v, userdata, f);
	for (size_t i = 0; i < n && r == 0; i++) {
		if (v->type == JDOC_ARRAY)
			strbuf_printf(pointer, "/%zu", i);
		else
			add_token(pointer, v->members[i].key);
		if (pointer->broken)
			return fault_errno(f, ENOMEM, "profile");
		r = walk(pointer, v->type == JDOC_ARRAY ? v->items[i] : v->members[i].value, visit, userdata,
			 f);
		pointer->len = len;
		pointer->text[len] = '\0';
	}
	return r;
}

/* Every key of the table in its order: what the profile says, else the default. */
static int walk_keys(const struct profile *p, visit_fn *visit, void *userdata, struct fault *f)
{
	int r = 0;

	for (const struct profile_key *k = profile_keys(); k->path && r == 0; k++) {
		_cleanup_strbuf_ struct strbuf pointer = { 0 };
		_cleanup_jdoc_ struct jdoc *fallback = NULL;
		const struct jdoc *v = profile_key_value(k, p->document);

		if (k->kind == PROFILE_KIND_SECTION)
			continue;
		if (!v)
			v = fallback = profile_key_default(k);
		if (!v)
			continue;
		strbuf_printf(&pointer, "/%s", k->path);
		if (pointer.broken)
			return fault_errno(f, ENOMEM, "profile");
		for (char *dot = strchr(pointer.text, '.'); dot; dot = strchr(dot, '.'))
			*dot = '/';
		r = walk(&pointer, v, visit, userdata, f);
	}
	return r;
}

static int print_line(const char *pointer, const struct jdoc *v, void *userdata, struct fault *f)
{
	_cleanup_free_ char *text = profile_value_text(v), *key = str_escape(pointer),
			    *origin = str_escape(v->origin ? v->origin : "");

	(void)userdata;
	if (!text || !key || !origin)
		return fault_errno(f, ENOMEM, "profile");
	if (v->origin)
		printf("%s\t%s\t%s:%u:%u\n", key, text, origin, v->line, v->column);
	else
		printf("%s\t%s\tdefault\n", key, text);
	return 0;
}

static int add_origin(const char *pointer, const struct jdoc *v, void *userdata, struct fault *f)
{
	struct jdoc *o = jdoc_set_object(userdata, pointer);

	(void)f;
	jdoc_set(o, "value", jdoc_copy(v));
	if (!v->origin) {
		jdoc_set_bool(o, "default", true);
		return 0;
	}
	jdoc_set_string(o, "file", v->origin);
	jdoc_set_int(o, "line", v->line);
	jdoc_set_int(o, "column", v->column);
	return 0;
}

static int print_json(const struct profile *p, bool origin, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	int r;

	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "name", p->name);
	jdoc_set_string(doc, "path", p->path);
	profile_set_digest(doc, "digest", &p->digest);
	jdoc_set(doc, "profile", jdoc_copy(p->document));
	if (origin) {
		r = walk_keys(p, add_origin, jdoc_set_object(doc, "origins"), f);
		if (r < 0)
			return r;
	}
	return profile_print(doc, f);
}

int profile_show(const struct profile_call *c, struct fault *f)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_profile_ struct profile *p = NULL;
	int r;

	r = profile_place_init(&place, f);
	if (r == 0)
		r = profile_load(c->args[0], &place.src, &place.vars, &p, f);
	if (r < 0)
		return r;
	if (c->json)
		r = print_json(p, c->origin, f);
	else if (c->origin)
		r = walk_keys(p, print_line, NULL, f);
	else
		r = profile_print(p->document, f);
	if (r == 0)
		r = profile_flush(f);
	return r < 0 ? r : STATUS_OK;
}
