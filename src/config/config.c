/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config-impl.h"

/* Texts of both files, and the source of environment variables. */
struct sources {
	const char *admin, *user; /* texts; NULL: no file */
	size_t admin_len, user_len;
	const char *admin_label, *user_label;
	const char *(*getenv)(const char *name);
};

static int no_memory(struct fault *f)
{
	return fault_errno(f, ENOMEM, "configuration");
}

/* The second spelling is replaced by the first.  Both in one file would be ambiguous. */
static int resolve_aliases(struct jdoc *doc, struct fault *f)
{
	for (const struct config_alias *a = config_aliases(); a->path; a++) {
		const struct jdoc *v = config_document_get(doc, a->path);

		if (!v)
			continue;
		if (config_document_get(doc, a->canonical))
			return key_fault_set(f, v, "'%s' and '%s' are the same key: keep one of them",
					     a->path, a->canonical);
		config_document_set(doc, a->canonical, jdoc_copy(v));
		(void)jdoc_remove(jdoc_get(doc, "forensics"), strchr(a->path, '.') + 1);
	}
	return 0;
}

static void label(struct jdoc *v, const char *origin)
{
	v->origin = origin;
	for (size_t i = 0; v->type == JDOC_ARRAY && i < v->n_items; i++)
		label(v->items[i], origin);
	for (size_t i = 0; v->type == JDOC_OBJECT && i < v->n_members; i++)
		label(v->members[i].value, origin);
}

/* ORIGIN is borrowed by the tree. */
static int parse_document(const char *text, size_t len, const char *origin, struct jdoc **ret,
			  struct fault *f)
{
	static const struct jdoc_limits limits = { .size_max = CONFIG_SIZE_MAX,
						   .depth_max = 16,
						   .comments = true };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	int r;

	if (memchr(text, '\0', len))
		return fault_set(f, EINVAL, "%s: contains a NUL byte: not a text file", origin);
	r = jdoc_parse(text, len, origin, &limits, &doc, f);
	if (r < 0)
		return r;
	label(doc, origin);
	if (doc->type != JDOC_OBJECT)
		return key_fault_set(f, doc, "custody.json must be an object, not of type %s",
				     jdoc_type_name(doc->type));
	r = key_table_fill(config_keys(), NULL, doc, NULL, NULL, f);
	if (r == 0)
		r = resolve_aliases(doc, f);
	if (r == 0 && doc->broken)
		r = no_memory(f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(doc);
	return 0;
}

static char *source_of(const struct jdoc *v)
{
	char *text = NULL;

	if (!v->line)
		return strdup(v->origin ? v->origin : "default");
	return asprintf(&text, "%s:%u", v->origin, v->line) < 0 ? NULL : text;
}

static enum config_tier tier_of(const struct jdoc *v, const struct sources *src)
{
	if (!v->origin)
		return CONFIG_DEFAULT;
	if (v->origin == src->admin_label)
		return CONFIG_ADMIN;
	return v->origin == src->user_label ? CONFIG_USER : CONFIG_ENV;
}

/* LOWER: the value without V; NULL if V overrides no explicit value. */
static int note_value(struct config *c, const struct key_row *k, const struct jdoc *v,
		      const struct jdoc *lower, const struct sources *src)
{
	struct config_value *n = &c->values[c->n_values++];

	n->path = k->path;
	n->value = v ? jdoc_copy(v) : key_row_default(k);
	n->tier = v ? tier_of(v, src) : CONFIG_DEFAULT;
	n->source = v ? source_of(v) : strdup("default");
	if (n->tier == CONFIG_ENV || lower) {
		n->replaced = lower ? jdoc_copy(lower) : key_row_default(k);
		n->replaced_source = lower ? source_of(lower) : strdup("default");
	}
	return n->source && (!v || n->value) && (!lower || n->replaced_source) ? 0 : -ENOMEM;
}

static int note_values(struct config *c, const struct jdoc *admin, const struct jdoc *files,
		       const struct sources *src, struct fault *f)
{
	size_t n = 1;

	for (const struct key_row *k = config_keys(); k->path; k++)
		n++;
	c->values = calloc(n, sizeof(*c->values));
	if (!c->values)
		return no_memory(f);
	for (const struct key_row *k = config_keys(); k->path; k++) {
		const struct jdoc *v, *lower;

		if (k->kind == KEY_KIND_SECTION || str_starts(k->help, "The same as "))
			continue;
		v = config_document_get(c->document, k->path);
		lower = config_document_get(files, k->path);
		if (!v || !lower || v->origin == lower->origin)
			lower = admin && v && v->origin == src->user_label
					? config_document_get(admin, k->path)
					: NULL;
		if (note_value(c, k, v, lower, src) < 0)
			return no_memory(f);
	}
	return 0;
}

static int apply_env(struct jdoc *doc, const struct sources *src, struct fault *f)
{
	for (const struct config_env *e = config_envs(); src->getenv && e->name; e++) {
		const char *text = src->getenv(e->name);
		_cleanup_free_ char *shown = text ? str_escape(text) : NULL;
		struct jdoc *v;

		if (!text || !*text)
			continue;
		v = e->to_json(text);
		if (!v)
			return fault_set(f, EINVAL, "%s is '%s': it must be %s", e->name, shown ? shown : "?",
					 e->what);
		v->origin = e->name;
		config_document_set(doc, e->path, v);
	}
	return doc->broken ? no_memory(f) : 0;
}

static int fill(struct config *c, const struct sources *src, struct fault *f)
{
	int r;

	r = key_table_fill(config_keys(), NULL, c->document, NULL, c, f);
	if (r == 0)
		r = key_table_fill_defaults(config_keys(), c->document, NULL, c, f);
	if (r == 0)
		r = config_finish(c, src->admin_label, f);
	return r;
}

/* The documents borrow the labels: the configuration owns them from the beginning. */
static int own_labels(struct config *c, struct sources *src, struct fault *f)
{
	if (strv_append(&c->origins, src->admin_label) < 0 || strv_append(&c->origins, src->user_label) < 0)
		return no_memory(f);
	src->admin_label = c->origins[0];
	src->user_label = c->origins[1];
	return 0;
}

static int build(struct sources src, struct config **ret, struct fault *f)
{
	_cleanup_config_ struct config *c = calloc(1, sizeof(*c));
	_cleanup_jdoc_ struct jdoc *admin = NULL, *user = NULL, *files = NULL;
	int r;

	if (!c)
		return no_memory(f);
	r = own_labels(c, &src, f);
	if (r == 0 && src.admin)
		r = parse_document(src.admin, src.admin_len, src.admin_label, &admin, f);
	if (r == 0 && src.user)
		r = parse_document(src.user, src.user_len, src.user_label, &user, f);
	if (r == 0)
		r = config_merge(admin, user, &files, f);
	if (r < 0)
		return r;
	c->document = jdoc_copy(files);
	if (!c->document)
		return no_memory(f);
	r = apply_env(c->document, &src, f);
	if (r == 0)
		r = fill(c, &src, f);
	if (r == 0)
		r = note_values(c, admin, files, &src, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

int config_parse(const struct config_texts *t, struct config **ret, struct fault *f)
{
	return build((struct sources){ .admin = t->admin,
				       .admin_len = t->admin_len,
				       .user = t->user,
				       .user_len = t->user_len,
				       .admin_label = "admin",
				       .user_label = "user",
				       .getenv = t->getenv },
		     ret, f);
}

static const char *get_env(const char *name)
{
	return getenv(name);
}

int config_load(const struct dirs *d, struct config **ret, struct fault *f)
{
	_cleanup_free_ char *admin = NULL, *user = NULL;
	struct sources src = { .admin_label = d->config_admin,
			       .user_label = d->config_user ? d->config_user : "",
			       .getenv = get_env };
	int r;

	r = config_file_read(d->config_admin, &admin, &src.admin_len, f);
	if (r == 0 && d->config_user)
		r = config_file_read(d->config_user, &user, &src.user_len, f);
	if (r < 0)
		return r;
	src.admin = admin;
	src.user = user;
	return build(src, ret, f);
}

const struct config_value *config_find(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->n_values; i++)
		if (strcmp(c->values[i].path, path) == 0)
			return &c->values[i];
	return NULL;
}

int config_lane(const struct config *c, const char *text, enum lane *ret, struct fault *f)
{
	if (text)
		return fault_wrap(f, lane_parse(text, ret, f), "--lane");
	*ret = c ? (enum lane)c->lane : LANE_SANDBOX;
	return 0;
}

int config_open(const char *text, struct dirs *ret_dirs, struct config **ret, struct fault *f)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_dirs_ struct dirs any = { 0 };
	enum lane lane = LANE_SANDBOX;
	int r;

	r = dirs_load(&any, f);
	if (r == 0)
		r = config_load(&any, &c, f);
	if (r == 0)
		r = config_lane(c, text, &lane, f);
	if (r == 0)
		r = dirs_load_lane(lane, ret_dirs, f);
	if (r == 0)
		*ret = TAKE_PTR(c);
	return r;
}
