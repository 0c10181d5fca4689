/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/run-result.h"

#include <stdio.h>

static void set_optional(struct jdoc *o, const char *key, const char *value)
{
	if (value)
		jdoc_set_string(o, key, value);
	else
		jdoc_set(o, key, jdoc_new_null());
}

/* argv is the caller's bytes; a document holds UTF-8 only. */
static void append_text(struct jdoc *array, const char *text)
{
	_cleanup_free_ char *escaped = str_escape(text);

	jdoc_append_string(array, escaped);
}

static void add_exit(struct jdoc *o, const struct exit_verdict *v)
{
	struct jdoc *e = jdoc_set_object(o, "exit");

	jdoc_set_string(e, "reason", exit_reason_name(v->reason));
	jdoc_set_int(e, "code", v->code);
	if (v->signal)
		jdoc_set_int(e, "signal", v->signal);
	else
		jdoc_set(e, "signal", jdoc_new_null());
	jdoc_set_string(e, "source", exit_source_name(v->source));
}

static void add_layers(struct jdoc *o, const struct run_result *r)
{
	struct jdoc *list = jdoc_set_array(o, "layers");

	for (unsigned int l = 0; r->proven && l < _LAYER_MAX; l++) {
		struct jdoc *entry;

		if (r->layers[l] == LAYER_STATE_NOT_ASKED)
			continue;
		entry = jdoc_append_object(list);
		jdoc_set_string(entry, "name", layer_info(l)->name);
		jdoc_set_string(entry, "state", layer_state_name(r->layers[l]));
	}
}

static void add_time(struct jdoc *o, const char *key, uint64_t us)
{
	char text[CLOCK_TEXT_SIZE];

	if (us == 0) {
		jdoc_set(o, key, jdoc_new_null());
		return;
	}
	clock_format(us, text);
	jdoc_set_string(o, key, text);
}

static void add_profile(struct jdoc *o, const struct run_result *r)
{
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	set_optional(o, "profile", r->profile);
	if (r->profile_digest) {
		digest_to_hex(r->profile_digest, text + sizeof("sha256:") - 1);
		jdoc_set_string(o, "profile_digest", text);
	}
}

struct jdoc *result_describe(const struct run_result *r)
{
	struct jdoc *o = jdoc_new_object(), *argv;

	jdoc_set_int(o, "schema_version", RESULT_SCHEMA);
	set_optional(o, "session", r->session[0] ? r->session : NULL);
	set_optional(o, "lane", r->lane);
	add_profile(o, r);
	set_optional(o, "digest", r->digest);
	jdoc_set(o, "verdict", r->verdict ? jdoc_copy(r->verdict) : jdoc_new_null());
	argv = jdoc_set_array(o, "command");
	for (size_t i = 0; r->argv && r->argv[i]; i++)
		append_text(argv, r->argv[i]);
	set_optional(o, "name", r->name);
	set_optional(o, "agent", r->agent);
	set_optional(o, "worker", r->worker);
	set_optional(o, "issue", r->issue);
	add_exit(o, &r->exit);
	jdoc_set_bool(o, "abnormal", r->exit.abnormal);
	set_optional(o, "detail", r->detail);
	add_layers(o, r);
	set_optional(o, "evidence", r->evidence);
	if (r->evidence_staged)
		jdoc_set_bool(o, "evidence_staged", true);
	if (r->evidence_error)
		jdoc_set_string(o, "evidence_error", r->evidence_error);
	add_time(o, "started", r->started_us);
	add_time(o, "ended", r->ended_us);
	jdoc_set_int(o, "duration_ms", (int64_t)r->duration_ms);
	return o;
}

void result_done(struct run_result *r)
{
	free(r->detail);
	free(r->evidence);
	free(r->evidence_error);
	r->detail = r->evidence = r->evidence_error = NULL;
}
