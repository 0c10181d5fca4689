/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-impl.h"

#include <errno.h>
#include <string.h>

#include "layer/layer.h"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->description);
	free(p->path);
	free(p->root_path);
	strv_free(p->root_host_paths);
	free(p->workspace_source);
	free(p->workspace_target);
	free(p->workspace_sandbox);
	strv_free(p->workspace_protect);
	strv_free(p->workspace_ask);
	strv_free(p->workspace_allow);
	strv_free(p->fs_ro);
	strv_free(p->fs_rw);
	strv_free(p->fs_channels);
	strv_free(p->fs_hide);
	for (size_t i = 0; i < p->n_fs_tmpfs; i++)
		free(p->fs_tmpfs[i].path);
	free(p->fs_tmpfs);
	strv_free(p->env_pass);
	for (size_t i = 0; i < p->n_env_set; i++) {
		free(p->env_set[i].name);
		free(p->env_set[i].value);
	}
	free(p->env_set);
	free(p->process_hostname);
	free(p->process_user);
	free(p->process_cwd);
	free(p->process_home);
	host_rules_free(p->network_hosts, p->n_network_hosts);
	strv_free(p->seccomp_allow);
	strv_free(p->container_capabilities);
	strv_free(p->container_sysctls);
	strv_free(p->seccomp_deny);
	strv_free(p->audit_trace);
	strv_free(p->dangerous);
	jdoc_free(p->document);
	strv_free(p->origins);
	free(p);
}

static bool is_set(const struct jdoc *doc, const char *key)
{
	return jdoc_get(jdoc_get(doc, "workspace"), key) != NULL;
}

/* A sandbox root is written in place, unless the profile sets a mode. */
static int apply_sandbox(const struct jdoc *doc, struct profile *p, struct fault *f)
{
	if (is_set(doc, "source"))
		return fault_set(
			f, EINVAL,
			"'workspace.source' and 'workspace.sandbox' both name the worktree: remove one");
	if (!is_set(doc, "mode"))
		p->workspace = PROFILE_WORKSPACE_RW;
	free(p->workspace_source);
	p->workspace_source = NULL;
	return 0;
}

enum profile_workspace profile_sandbox_mode(const struct profile *p)
{
	return p->document && is_set(p->document, "mode") ? p->workspace : PROFILE_WORKSPACE_RW;
}

bool profile_has_source(const struct profile *p)
{
	return p->workspace_sandbox || (p->document && is_set(p->document, "source"));
}

const char *profile_workspace_name(enum profile_workspace w)
{
	switch (w) {
	case PROFILE_WORKSPACE_OVERLAY:
		return "overlay";
	case PROFILE_WORKSPACE_RO:
		return "ro";
	case PROFILE_WORKSPACE_RW:
		return "rw";
	case PROFILE_WORKSPACE_TMPFS:
		break;
	}
	return "tmpfs";
}

bool profile_is_fuse(const struct profile *p)
{
	return p->workspace == PROFILE_WORKSPACE_OVERLAY && p->workspace_overlay == PROFILE_OVERLAY_FUSE;
}

const char *profile_worktree_word(const struct profile *p)
{
	return profile_is_fuse(p) ? "overlay-fuse" : profile_workspace_name(p->workspace);
}

/* Canonical names, before profiles are compared. */
static int complete_hosts(const struct jdoc *doc, struct profile *p, struct fault *f)
{
	const struct jdoc *list = jdoc_get(jdoc_get(doc, "network"), "hosts");
	int r = 0;

	for (size_t i = 0; i < p->n_network_hosts && r == 0; i++) {
		r = host_rule_complete(&p->network_hosts[i], f);
		if (r < 0)
			r = key_fault_at(f, list->items[i], fault_wrap(f, r, "'network.hosts'"));
	}
	return r < 0 || !list ? r : host_rules_require(p->network_hosts, p->n_network_hosts, f);
}

/* Fill every field of *P from a document; no rule that spans two keys is checked. */
static int fill_document(const struct jdoc *doc, const struct profile_vars *vars, struct profile *p,
			 struct fault *f)
{
	int r;

	r = key_table_fill(profile_keys(), NULL, doc, vars, p, f);
	if (r == 0)
		r = key_table_fill_defaults(profile_keys(), doc, vars, p, f);
	if (r == 0 && p->workspace_sandbox)
		r = apply_sandbox(doc, p, f);
	return r < 0 ? r : complete_hosts(doc, p, f);
}

static int require_head(const struct jdoc *doc, struct fault *f)
{
	const struct jdoc *schema = jdoc_get(doc, "schema");

	if (!schema)
		return key_fault_set(f, doc, "missing key 'schema': add \"schema\": 1");
	/* Before the other keys are checked: a later schema has other keys. */
	if (schema->type == JDOC_INT && schema->integer != 1)
		return key_fault_set(f, schema, "schema %lld is not supported: this version reads schema 1",
				     (long long)schema->integer);
	if (!jdoc_get(doc, "name"))
		return key_fault_set(f, doc,
				     "missing key 'name': add \"name\": with the file's name without .json");
	return 0;
}

int profile_document_parse(const char *text, size_t len, const char *origin, const struct profile_vars *vars,
			   struct jdoc **ret, struct fault *f)
{
	static const struct jdoc_limits limits = { .size_max = PROFILE_SIZE_MAX,
						   .depth_max = 16,
						   .comments = true };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	int r;

	if (memchr(text, '\0', len))
		return fault_set(f, EINVAL, "%s: contains a NUL byte: not a text file", origin);
	r = jdoc_parse(text, len, origin, &limits, &doc, f);
	if (r < 0)
		return r;
	if (doc->type != JDOC_OBJECT)
		return key_fault_set(f, doc, "a profile must be an object, not of type %s",
				     jdoc_type_name(doc->type));
	r = require_head(doc, f);
	if (r == 0)
		r = profile_expand_tree(doc, vars, f);
	if (r == 0)
		r = key_table_fill(profile_keys(), NULL, doc, vars, NULL, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(doc);
	return 0;
}

/* The digest ignores comments, descriptions and "x-" keys; extends and remove are already resolved. */
static int compute_digest(const struct jdoc *doc, struct digest *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *copy = jdoc_copy(doc);
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	if (!copy)
		return fault_errno(f, ENOMEM, "profile");
	(void)jdoc_remove(copy, "description");
	r = jdoc_write(copy, JDOC_CANONICAL, &b, f);
	if (r == 0)
		digest_bytes(b.text, b.len, ret);
	return r;
}

static void drop_free_keys(struct jdoc *v)
{
	if (v->type == JDOC_ARRAY)
		for (size_t i = 0; i < v->n_items; i++)
			drop_free_keys(v->items[i]);
	if (v->type != JDOC_OBJECT)
		return;
	for (size_t i = v->n_members; i > 0; i--)
		if (key_name_is_free(v->members[i - 1].key))
			(void)jdoc_remove(v, v->members[i - 1].key);
		else
			drop_free_keys(v->members[i - 1].value);
}

/* "no-LAYER" in `dangerous` disables a layer; the host's network excludes a network namespace. */
static void choose_layers(struct profile *p)
{
	p->layers = LAYER_BIT(_LAYER_MAX) - 1;
	for (int i = 0; i < _LAYER_MAX; i++)
		for (size_t j = 0; p->dangerous && p->dangerous[j]; j++)
			if (str_starts(p->dangerous[j], "no-") &&
			    str_eq(p->dangerous[j] + 3, layer_info((enum layer)i)->name))
				p->layers &= ~LAYER_BIT(i);
	if (!(p->layers & LAYER_BIT(LAYER_NET_NS)))
		p->network = PROFILE_NETWORK_HOST;
	if (p->network == PROFILE_NETWORK_HOST)
		p->layers &= ~LAYER_BIT(LAYER_NET_NS);
}

int profile_from_document(struct jdoc *doc, char **origins, const struct profile_vars *vars,
			  struct profile **ret, struct fault *f)
{
	_cleanup_profile_ struct profile *p = NULL;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p) {
		jdoc_free(doc);
		strv_free(origins);
		return fault_errno(f, ENOMEM, "profile");
	}
	p->document = doc;
	p->origins = origins;
	drop_free_keys(doc);
	(void)jdoc_remove(doc, "extends");
	(void)jdoc_remove(doc, "remove");
	r = fill_document(doc, vars, p, f);
	if (r < 0)
		return r;
	choose_layers(p);
	r = compute_digest(doc, &p->digest, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}

int profile_parse(const char *text, size_t len, const char *label, const struct profile_vars *vars,
		  struct profile **ret, struct fault *f)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_strv_ char **origins = NULL;
	int r;

	if (strv_append(&origins, label) < 0)
		return fault_errno(f, ENOMEM, "profile");
	r = profile_document_parse(text, len, origins[0], vars, &doc, f);
	if (r < 0)
		return r;
	if (jdoc_get(doc, "extends") || jdoc_get(doc, "remove"))
		return key_fault_set(
			f, doc,
			"'extends' and 'remove' are supported only in a profile that is loaded by name");
	r = profile_from_document(TAKE_PTR(doc), TAKE_PTR(origins), vars, &p, f);
	if (r == 0)
		r = profile_require_sound(p, vars, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
