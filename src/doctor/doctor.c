/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

const char *doctor_state_name(enum doctor_state s)
{
	static const char *const names[_DOCTOR_STATE_MAX] = {
		[DOCTOR_UNKNOWN] = "unknown", [DOCTOR_OK] = "ok",	  [DOCTOR_MISSING] = "missing",
		[DOCTOR_LIMITED] = "limited", [DOCTOR_UNUSED] = "unused",
	};

	assert((unsigned int)s < _DOCTOR_STATE_MAX);
	return names[s];
}

static const char *severity_name(enum doctor_severity s)
{
	static const char *const names[_DOCTOR_SEVERITY_MAX] = {
		[DOCTOR_ERROR] = "error",
		[DOCTOR_WARN] = "warn",
		[DOCTOR_INFO] = "info",
	};

	assert((unsigned int)s < _DOCTOR_SEVERITY_MAX);
	return names[s];
}

/* Grows ARRAY by one element of SIZE bytes; sets R->broken when that fails. */
static void *grow(struct doctor_report *r, void *array, size_t n, size_t size)
{
	void *bigger = reallocarray(array, n + 1, size);

	if (!bigger)
		r->broken = true;
	return bigger;
}

void doctor_add(struct doctor_report *r, const char *id, enum doctor_state state,
		enum doctor_severity severity, const char *remedy, const char *fmt, ...)
{
	struct doctor_check *bigger = grow(r, r->checks, r->n_checks, sizeof(*r->checks)), *c;
	va_list ap;

	if (!bigger)
		return;
	r->checks = bigger;
	c = &r->checks[r->n_checks++];
	*c = (struct doctor_check){ .id = strdup(id), .state = state, .severity = severity };
	if (remedy)
		c->remedy = strdup(remedy);
	va_start(ap, fmt);
	if (vasprintf(&c->text, fmt, ap) < 0)
		c->text = NULL;
	va_end(ap);
	if (!c->id || !c->text || (remedy && !c->remedy))
		r->broken = true;
}

void doctor_add_try(struct doctor_report *r, enum layer l, const char *what, bool stopped, const char *by)
{
	struct doctor_try *bigger = grow(r, r->tries, r->n_tries, sizeof(*r->tries)), *t;

	if (!bigger)
		return;
	r->tries = bigger;
	t = &r->tries[r->n_tries++];
	*t = (struct doctor_try){
		.what = strdup(what), .by = by ? strdup(by) : NULL, .layer = l, .stopped = stopped
	};
	if (!t->what || (by && !t->by))
		r->broken = true;
}

/* The canary is ours, but its output comes from a sandbox: it is parsed as untrusted input. */
static bool read_line(struct doctor_report *r, const char *line, size_t len, bool *done)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct jdoc *stopped;
	const char *what, *name;
	int l;

	if (jdoc_parse(line, len, "canary", NULL, &d, NULL) < 0)
		return false;
	if (jdoc_get(d, "done")) {
		*done = true;
		return true;
	}
	what = jdoc_get_string(d, "try");
	name = jdoc_get_string(d, "layer");
	stopped = jdoc_get(d, "stopped");
	l = name ? layer_from_name(name) : -1;
	if (!what || l < 0 || !stopped || stopped->type != JDOC_BOOL)
		return false;
	doctor_add_try(r, (enum layer)l, what, stopped->boolean, jdoc_get_string(d, "by"));
	return true;
}

bool doctor_read_tries(struct doctor_report *r, const char *text)
{
	bool done = false;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (done || !read_line(r, text, len, &done))
			return false;
		text += len + (text[len] == '\n');
	}
	return done;
}

bool doctor_has_errors(const struct doctor_report *r)
{
	for (size_t i = 0; i < r->n_checks; i++)
		if (r->checks[i].severity == DOCTOR_ERROR)
			return true;
	return r->broken;
}

const struct doctor_check *doctor_find(const struct doctor_report *r, const char *id)
{
	for (size_t i = 0; i < r->n_checks; i++)
		if (str_eq(r->checks[i].id, id))
			return &r->checks[i];
	return NULL;
}

static void describe_layer(struct jdoc *list, const struct doctor_report *r, enum layer l)
{
	const struct layer_info *info = layer_info(l);
	struct jdoc *o = jdoc_append_object(list), *tries;

	jdoc_set_string(o, "name", info->name);
	jdoc_set_string(o, "needs", info->needs);
	jdoc_set_string(o, "stops", info->what);
	jdoc_set_string(o, "state", doctor_state_name(r->layers[l]));
	tries = jdoc_set_array(o, "tries");
	for (size_t i = 0; i < r->n_tries; i++) {
		struct jdoc *t;

		if (r->tries[i].layer != l)
			continue;
		t = jdoc_append_object(tries);
		jdoc_set_string(t, "try", r->tries[i].what);
		jdoc_set_bool(t, "stopped", r->tries[i].stopped);
		if (r->tries[i].by)
			jdoc_set_string(t, "by", r->tries[i].by);
	}
}

int doctor_describe(const struct doctor_report *r, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list;

	if (!d || r->broken)
		return fault_errno(f, ENOMEM, "doctor");
	jdoc_set_int(d, "schema_version", 1);
	list = jdoc_set_array(d, "checks");
	for (size_t i = 0; i < r->n_checks; i++) {
		const struct doctor_check *c = &r->checks[i];
		struct jdoc *o = jdoc_append_object(list);

		jdoc_set_string(o, "id", c->id);
		jdoc_set_string(o, "severity", severity_name(c->severity));
		jdoc_set_string(o, "state", doctor_state_name(c->state));
		jdoc_set_string(o, "text", c->text);
		if (c->remedy)
			jdoc_set_string(o, "remedy", c->remedy);
		else
			jdoc_set(o, "remedy", jdoc_new_null());
	}
	list = jdoc_set_array(d, "layers");
	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		describe_layer(list, r, (enum layer)l);
	if (d->broken)
		return fault_errno(f, ENOMEM, "doctor");
	*ret = TAKE_PTR(d);
	return 0;
}

void doctor_done(struct doctor_report *r)
{
	for (size_t i = 0; i < r->n_checks; i++) {
		free(r->checks[i].id);
		free(r->checks[i].text);
		free(r->checks[i].remedy);
	}
	for (size_t i = 0; i < r->n_tries; i++) {
		free(r->tries[i].what);
		free(r->tries[i].by);
	}
	free(r->checks);
	free(r->tries);
	*r = (struct doctor_report){ 0 };
}
