/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "config/config-impl.h"

const struct jdoc *config_document_get(const struct jdoc *doc, const char *path)
{
	return key_row_value(&(struct key_row){ .path = path }, doc);
}

void config_document_set(struct jdoc *doc, const char *path, struct jdoc *v)
{
	const char *dot = strchr(path, '.');
	_cleanup_free_ char *section = dot ? strndup(path, (size_t)(dot - path)) : NULL;
	struct jdoc *in = doc;

	if (dot) {
		in = section ? jdoc_get(doc, section) : NULL;
		if (!in && section)
			in = jdoc_set_object(doc, section);
	}
	if (!in) {
		jdoc_free(v);
		doc->broken = true;
		return;
	}
	jdoc_set(in, dot ? dot + 1 : path, v);
}

static bool is_in(const struct jdoc *item, const struct jdoc *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (jdoc_equal(item, list->items[i]))
			return true;
	return false;
}

static bool is_each_in(const struct jdoc *items, const struct jdoc *list)
{
	for (size_t i = 0; i < items->n_items; i++)
		if (!is_in(items->items[i], list))
			return false;
	return true;
}

/* Is the user's value as tight as the admin's?  An error counts as no. */
static bool is_tighter(const struct key_row *k, const struct jdoc *admin, const struct jdoc *user)
{
	struct config a = { 0 }, u = { 0 };
	bool tighter;

	if (k->kind == KEY_KIND_OBJECTS)
		return is_each_in(user, admin);
	tighter = key_row_set(k, admin, NULL, &a, NULL) == 0 && key_row_set(k, user, NULL, &u, NULL) == 0 &&
		  key_row_is_tighter(k, &a, &u);
	config_fields_free(config_keys(), &a);
	config_fields_free(config_keys(), &u);
	return tighter;
}

static const char *allowed(const struct key_row *k)
{
	switch ((unsigned int)k->order) {
	case KEY_ORDER_LESS:
		return "a lower value";
	case KEY_ORDER_MORE:
		return "a higher value";
	case KEY_ORDER_TRUE:
		return "true";
	case KEY_ORDER_FALSE:
		return "false";
	case KEY_ORDER_SUBSET:
		return "a part of the list";
	case KEY_ORDER_RANK:
		return "a stricter word";
	default:
		return "the same value";
	}
}

static int append(const struct key_row *k, const struct jdoc *admin, const struct jdoc *user,
		  struct jdoc *doc)
{
	struct jdoc *list = jdoc_copy(admin);

	for (size_t i = 0; list && i < user->n_items; i++)
		jdoc_append(list, jdoc_copy(user->items[i]));
	config_document_set(doc, k->path, list);
	return 0;
}

/*
 * The admin lists the approvers: then the user's file must not lower the default approval level either,
 * otherwise the requester could approve their own requests.
 */
static int require_governed(const struct key_row *k, const struct jdoc *approvers, const struct jdoc *admin,
			    const struct jdoc *user, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *fallback = k->fallback ? jdoc_new_string(k->fallback) : NULL;
	const char *what = NULL;

	if (str_eq(k->path, "rules"))
		for (size_t i = 0; i < user->n_items; i++)
			if (str_eq(jdoc_get_string(user->items[i], "effect"), "allow"))
				what = "a rule that allows";
	if (!admin && str_eq(k->path, "trusted_hosts") && user->n_items > 0)
		what = "a trusted host";
	if (!admin && (str_eq(k->path, "governance.security_profile") || str_eq(k->path, "exec")) &&
	    !(fallback && is_tighter(k, fallback, user)))
		what = "less than the default";
	if (!what)
		return 0;
	return key_fault_set(f, user,
			     "'%s' loosens the configuration: %s is allowed only in the admin's file, which "
			     "lists the approvers (%s:%u)",
			     k->path, what, approvers->origin, approvers->line);
}

static int merge_row(const struct key_row *k, const struct jdoc *approvers, const struct jdoc *admin,
		     const struct jdoc *user, struct jdoc *doc, struct fault *f)
{
	int r = approvers ? require_governed(k, approvers, admin, user, f) : 0;

	if (r < 0)
		return r;
	if (k->order == KEY_ORDER_NEVER)
		return key_fault_set(f, user, "'%s' is allowed only in the admin's file", k->path);
	if (admin && k->order == KEY_ORDER_SUPERSET)
		return append(k, admin, user, doc);
	if (admin && !is_tighter(k, admin, user))
		return key_fault_set(f, user, "'%s' is looser than in the admin's file (%s:%u); allowed: %s",
				     k->path, admin->origin, admin->line, allowed(k));
	config_document_set(doc, k->path, jdoc_copy(user));
	return 0;
}

int config_merge(const struct jdoc *admin, const struct jdoc *user, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = admin ? jdoc_copy(admin) : jdoc_new_object();
	int r = 0;

	if (!doc)
		return fault_errno(f, ENOMEM, "configuration");
	for (const struct key_row *k = config_keys(); user && k->path && r == 0; k++) {
		const struct jdoc *u =
			k->kind == KEY_KIND_SECTION ? NULL : config_document_get(user, k->path);

		if (u)
			r = merge_row(k, admin ? config_document_get(admin, "approvers") : NULL,
				      admin ? config_document_get(admin, k->path) : NULL, u, doc, f);
	}
	if (r == 0 && doc->broken)
		r = fault_errno(f, ENOMEM, "configuration");
	if (r < 0)
		return r;
	*ret = TAKE_PTR(doc);
	return 0;
}
