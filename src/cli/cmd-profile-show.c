/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-walk.h"

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
		r = profile_walk(p, add_origin, jdoc_set_object(doc, "origins"), f);
		if (r < 0)
			return r;
	}
	return profile_print(doc, f);
}

int cmd_profile_show(struct command_call *c, struct fault *f)
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
		r = profile_walk(p, print_line, NULL, f);
	else
		r = profile_print(p->document, f);
	if (r == 0)
		r = profile_flush(f);
	return r < 0 ? r : STATUS_OK;
}
