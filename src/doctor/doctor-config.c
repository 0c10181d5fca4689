/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "doctor/doctor-host.h"
#include "config/config.h"
#include "state/migrate.h"
#include "state/state-version.h"

#define HIDDEN "(not shown)"

static const char *const tiers[] = { "default", "user", "admin", "environment" };

/* V as it is written in the file; secret keys are not shown. */
static struct jdoc *shown(const char *path, const struct jdoc *v)
{
	if (v && str_eq(path, "digest_key"))
		return jdoc_new_string(HIDDEN);
	return v ? jdoc_copy(v) : jdoc_new_null();
}

static char *to_text(const char *path, const struct jdoc *v)
{
	_cleanup_jdoc_ struct jdoc *copy = shown(path, v);
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!v)
		return strdup("nothing");
	return copy && jdoc_write(copy, JDOC_CANONICAL, &b, NULL) == 0 ? strbuf_take(&b) : NULL;
}

static void add_override(struct doctor_report *r, const struct config_value *v)
{
	_cleanup_free_ char *now = to_text(v->path, v->value), *was = to_text(v->path, v->replaced),
			    *remedy = NULL;

	if (v->tier == CONFIG_ENV && asprintf(&remedy, "unset %s", v->source) < 0)
		remedy = NULL;
	doctor_add(r, "CONFIG-OVERRIDE", DOCTOR_LIMITED, DOCTOR_INFO, remedy,
		   "'%s' is %s (%s); it would be %s (%s)", v->path, now ? now : "?", v->source,
		   was ? was : "?", v->replaced_source);
}

static void add_unused(struct doctor_report *r, const struct config *c)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };

	for (size_t i = 0; i < c->n_values; i++)
		if (c->values[i].tier != CONFIG_DEFAULT && !config_key_is_used(c->values[i].path))
			strbuf_printf(&names, "%s'%s'", names.len ? ", " : "", c->values[i].path);
	if (names.len && !names.broken)
		doctor_add(r, "CONFIG-UNUSED", DOCTOR_UNUSED, DOCTOR_WARN, NULL,
			   "%s: valid, but not used by this version", names.text);
}

/* A world-readable digest key does not protect values of variables. */
static void add_secret(struct doctor_report *r, const struct dirs *d, const struct config *c)
{
	const struct config_value *v = config_find(c, "digest_key");
	const char *path = v->tier == CONFIG_USER ? d->config_user : d->config_admin;
	_cleanup_free_ char *remedy = NULL;
	struct stat st;

	if (!v->value || stat(path, &st) < 0 || !(st.st_mode & S_IROTH))
		return;
	if (asprintf(&remedy, "chmod o-r '%s'", path) < 0)
		remedy = NULL;
	doctor_add(r, "CONFIG-SECRET", DOCTOR_LIMITED, DOCTOR_WARN, remedy,
		   "'%s' holds the digest key and is world-readable", path);
}

static void add_file(struct doctor_report *r, const struct dirs *d)
{
	bool admin = access(d->config_admin, F_OK) == 0;
	bool user = d->config_user && access(d->config_user, F_OK) == 0;

	if (!admin && !user)
		doctor_add(r, "CONFIG-FILE", DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "no '%s'%s%s%s: the defaults apply", d->config_admin,
			   d->config_user ? ", no '" : "", d->config_user ? d->config_user : "",
			   d->config_user ? "'" : "");
	else
		doctor_add(r, "CONFIG-FILE", DOCTOR_OK, DOCTOR_INFO, NULL, "%s%s%s",
			   admin ? d->config_admin : "", admin && user ? ", " : "",
			   user ? d->config_user : "");
}

static void check_state(struct doctor_report *r, enum lane lane)
{
	_cleanup_free_ char *id = NULL;
	_cleanup_dirs_ struct dirs of = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int e = dirs_load_lane(lane, &of, &f);

	if (asprintf(&id, "STATE-%s", lane == LANE_PROD ? "PROD" : "SANDBOX") < 0) {
		id = NULL;
		return;
	}
	if (e == 0)
		e = state_require(&of, &f);
	if (e < 0)
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_ERROR, NULL, "%s", fault_text(&f));
	else if (e == 0)
		doctor_add(r, id, DOCTOR_UNUSED, DOCTOR_INFO, NULL, "lane '%s' has no state yet",
			   lane_name(lane));
	else
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "'%s', version %d%s", of.state, STATE_VERSION,
			   lane == LANE_SANDBOX ? "; disposable" : "");
}

static void check_old_state(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };
	_cleanup_fault_ struct fault f = { 0 };

	if (migrate_plan(d->base, &p, &f) == 0 && p.n > 0)
		doctor_add(r, "STATE-OLD", DOCTOR_LIMITED, DOCTOR_WARN, "custody migrate",
			   "'%s' holds %zu entries of the layout without lanes, which are not read", d->base,
			   p.n);
}

void doctor_check_config(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (config_load(d, &c, &f) < 0) {
		doctor_add(r, "CONFIG-FILE", DOCTOR_MISSING, DOCTOR_ERROR, NULL, "every run is refused: %s",
			   fault_text(&f));
	} else {
		add_file(r, d);
		for (size_t i = 0; i < c->n_values; i++)
			if (c->values[i].replaced_source)
				add_override(r, &c->values[i]);
		add_unused(r, c);
		add_secret(r, d, c);
	}
	for (unsigned int i = 0; i < _LANE_MAX; i++)
		check_state(r, (enum lane)i);
	check_old_state(r, d);
}

void doctor_describe_config(struct jdoc *report, const struct dirs *d)
{
	struct jdoc *list = jdoc_set_array(report, "config");
	_cleanup_config_ struct config *c = NULL;

	if (config_load(d, &c, NULL) < 0)
		return;
	for (size_t i = 0; i < c->n_values; i++) {
		const struct config_value *v = &c->values[i];
		struct jdoc *o = jdoc_append_object(list);

		jdoc_set_string(o, "key", v->path);
		jdoc_set(o, "value", shown(v->path, v->value));
		jdoc_set_string(o, "source", v->source);
		jdoc_set_string(o, "tier", tiers[v->tier]);
		if (!v->replaced_source)
			continue;
		jdoc_set(o, "replaced", shown(v->path, v->replaced));
		jdoc_set_string(o, "replaced_source", v->replaced_source);
	}
}
