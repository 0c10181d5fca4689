/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SESSION "${session}"

static const char *const names[] = { "cwd", "home", "uid", "user", "session", NULL };

/* A value that contains "${" itself would be read as a variable when ${session} is replaced later. */
static int require_plain(const char *name, const char *value, struct fault *f)
{
	if (!value)
		return fault_set(f, EINVAL, "${%s} has no value here", name);
	if (strstr(value, "${"))
		return fault_set(f, EINVAL, "${%s} is '%s': a value must not contain \"${\"", name, value);
	return 0;
}

static int lookup(const char *name, const struct profile_vars *vars, struct strbuf *out, struct fault *f)
{
	const char *value = NULL;
	int r;

	if (strcmp(name, "session") == 0) {
		strbuf_puts(out, SESSION);
		return 0;
	}
	if (strcmp(name, "uid") == 0 && vars) {
		strbuf_printf(out, "%lu", (unsigned long)vars->uid);
		return 0;
	}
	if (vars && strcmp(name, "cwd") == 0)
		value = vars->cwd;
	else if (vars && strcmp(name, "home") == 0)
		value = vars->home;
	else if (vars && strcmp(name, "user") == 0)
		value = vars->user;
	r = require_plain(name, value, f);
	if (r == 0)
		strbuf_puts(out, value);
	return r;
}

static int unknown_variable(const char *name, struct fault *f)
{
	int near = str_nearest(name, names);

	return fault_set(f, EINVAL,
			 "unknown variable '${%s}'%s%s%s known: ${cwd} ${home} ${uid} ${user} ${session}",
			 name, near >= 0 ? ": did you mean '${" : ";", near >= 0 ? names[near] : "",
			 near >= 0 ? "}'?" : "");
}

static bool is_known(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int expand(const char *text, const struct profile_vars *vars, char **ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	for (;;) {
		const char *start = strstr(text, "${"), *end;
		char name[64];
		int r;

		if (!start)
			break;
		end = strchr(start, '}');
		if (!end || (size_t)(end - start) - 2 >= sizeof(name))
			return fault_set(f, EINVAL, "\"${\" without a variable name and '}' in '%s'", text);
		strbuf_add(&out, text, (size_t)(start - text));
		(void)snprintf(name, sizeof(name), "%.*s", (int)(end - start - 2), start + 2);
		r = is_known(name) ? lookup(name, vars, &out, f) : unknown_variable(name, f);
		if (r < 0)
			return r;
		text = end + 1;
	}
	strbuf_puts(&out, text);
	*ret = strbuf_take(&out);
	return *ret ? 0 : fault_errno(f, ENOMEM, "variables");
}

static int expand_value(struct jdoc *v, const struct profile_vars *vars, struct fault *f)
{
	char *text = NULL;
	int r = 0;

	if (v->type == JDOC_STRING && strstr(v->string, "${")) {
		r = expand(v->string, vars, &text, f);
		if (r < 0)
			return key_fault_at(f, v, r);
		free(v->string);
		v->string = text;
	}
	if (v->type == JDOC_ARRAY)
		for (size_t i = 0; i < v->n_items && r == 0; i++)
			r = expand_value(v->items[i], vars, f);
	if (v->type == JDOC_OBJECT)
		for (size_t i = 0; i < v->n_members && r == 0; i++)
			if (!key_name_is_free(v->members[i].key))
				r = expand_value(v->members[i].value, vars, f);
	return r;
}

/* "~" or "~/x", also as the second path of a bind. */
static int expand_home(struct jdoc *v, const struct key_row *k, const struct profile_vars *vars,
		       struct fault *f)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	const char *text = v->string, *end;

	for (bool first = true; *text; first = false, text = end) {
		end = k->kind == KEY_KIND_BINDS ? text + strcspn(text + 1, ":") + 1 : text + strlen(text);
		if (!first)
			strbuf_putc(&out, *text++);
		if (*text == '~' && text < end) {
			int r = require_plain("home", vars ? vars->home : NULL, f);

			if (r < 0)
				return key_fault_at(f, v, r);
			if (text + 1 < end && text[1] != '/')
				return key_fault_set(
					f, v,
					"'%s': '%s': only ~ and ~/ stand for a home directory, yours: "
					"write the path of another user's",
					k->path, v->string);
			strbuf_puts(&out, vars->home);
			text++;
		}
		strbuf_add(&out, text, (size_t)(end - text));
	}
	if (out.broken || !out.text)
		return out.broken ? fault_errno(f, ENOMEM, "variables") : 0;
	free(v->string);
	v->string = strbuf_take(&out);
	return v->string ? 0 : fault_errno(f, ENOMEM, "variables");
}

/* Only where a path is expected: in other texts "~" is a character. */
static int expand_homes(struct jdoc *v, const struct key_row *k, const struct profile_vars *vars,
			struct fault *f)
{
	int r = 0;

	if (v->type == JDOC_STRING && strchr(v->string, '~'))
		return expand_home(v, k, vars, f);
	for (size_t i = 0; v->type == JDOC_ARRAY && i < v->n_items && r == 0; i++)
		r = expand_homes(v->items[i], k, vars, f);
	for (size_t i = 0; v->type == JDOC_OBJECT && i < v->n_members && r == 0; i++)
		if (strcmp(v->members[i].key, "path") == 0)
			r = expand_homes(v->members[i].value, k, vars, f);
	return r;
}

static int expand_section(const char *section, struct jdoc *doc, const struct profile_vars *vars,
			  struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < doc->n_members && r == 0; i++) {
		const struct key_row *k = profile_key_find(section, doc->members[i].key);

		if (k && (k->kind == KEY_KIND_PATH || k->kind == KEY_KIND_PATHS ||
			  k->kind == KEY_KIND_BINDS || k->kind == KEY_KIND_TMPFS))
			r = expand_homes(doc->members[i].value, k, vars, f);
	}
	return r == 0 ? expand_value(doc, vars, f) : r;
}

int profile_expand_tree(struct jdoc *doc, const struct profile_vars *vars, struct fault *f)
{
	int r = 0;

	if (doc->type != JDOC_OBJECT)
		return expand_value(doc, vars, f);
	/* Sections only: name, description, extends and remove are used as written. */
	for (size_t i = 0; i < doc->n_members && r == 0; i++)
		if (doc->members[i].value->type == JDOC_OBJECT && !key_name_is_free(doc->members[i].key))
			r = expand_section(doc->members[i].key, doc->members[i].value, vars, f);
	return r;
}

char *profile_expand_session(const char *text, const struct profile_vars *vars)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	const char *hit;

	if (!vars || !vars->session)
		return strdup(text);
	for (; (hit = strstr(text, SESSION)); text = hit + strlen(SESSION)) {
		strbuf_add(&out, text, (size_t)(hit - text));
		strbuf_puts(&out, vars->session);
	}
	strbuf_puts(&out, text);
	return strbuf_take(&out);
}
