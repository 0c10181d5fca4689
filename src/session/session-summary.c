/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-summary.h"

#include "base/clock.h"

static void put_text(struct jdoc *o, const struct session_summary *s, const char *key, const char *value)
{
	if (value)
		jdoc_set_string(o, key, value);
	else if (s->kind == SESSION_SUMMARY_RUN)
		jdoc_set(o, key, jdoc_new_null());
}

static void put_exit(struct jdoc *o, const struct ledger_end *end)
{
	struct jdoc *e = jdoc_set_object(o, "exit");

	jdoc_set_string(e, "reason", end->reason);
	jdoc_set_string(e, "source", end->source);
	jdoc_set_int(e, "code", end->code);
	jdoc_set(e, "signal", end->signal ? jdoc_new_int(end->signal) : jdoc_new_null());
	jdoc_set_bool(o, "abnormal", end->abnormal);
}

static void put_layers(struct jdoc *o, const enum layer_state *layers)
{
	struct jdoc *list = jdoc_set_array(o, "layers");

	for (unsigned int l = 0; layers && l < _LAYER_MAX; l++) {
		struct jdoc *entry;

		if (layers[l] == LAYER_STATE_NOT_ASKED)
			continue;
		entry = jdoc_append_object(list);
		jdoc_set_string(entry, "name", layer_info(l)->name);
		jdoc_set_string(entry, "state", layer_state_name(layers[l]));
	}
}

static void put_time(struct jdoc *o, const char *key, uint64_t us)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(us, text);
	jdoc_set(o, key, us ? jdoc_new_string(text) : jdoc_new_null());
}

static void put_profile(struct jdoc *o, const struct session_summary *s)
{
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	put_text(o, s, "profile", s->profile);
	if (s->profile_digest) {
		digest_to_hex(s->profile_digest, text + sizeof("sha256:") - 1);
		jdoc_set_string(o, "profile_digest", text);
	}
}

/* Only of a session that continues others. */
static void put_chain(struct jdoc *o, const struct session_summary *s)
{
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";
	struct jdoc *c, *list;

	if (!s->chain)
		return;
	c = jdoc_set_object(o, "continues");
	if (s->base) {
		digest_to_hex(s->base, text + sizeof("sha256:") - 1);
		jdoc_set_string(c, "manifest", text);
	}
	list = jdoc_set_array(c, "sessions");
	for (char *const *id = s->chain; *id; id++)
		jdoc_append_string(list, *id);
}

struct jdoc *session_summary_to_json(const struct session_summary *s)
{
	struct jdoc *o = jdoc_new_object();

	jdoc_set_int(o, "schema_version", SESSION_SUMMARY_SCHEMA);
	put_text(o, s, "session", s->session);
	put_text(o, s, "lane", s->lane);
	if (s->kind == SESSION_SUMMARY_CONTAINER) {
		put_text(o, s, "container", s->container);
		put_text(o, s, "bundle", s->bundle);
	}
	put_profile(o, s);
	put_text(o, s, "digest", s->digest);
	if (s->command)
		jdoc_set(o, "command", jdoc_copy(s->command));
	put_text(o, s, "name", s->name);
	put_text(o, s, "agent", s->agent);
	put_text(o, s, "worker", s->worker);
	put_text(o, s, "issue", s->issue);
	put_chain(o, s);
	put_exit(o, &s->end);
	put_text(o, s, "detail", s->detail);
	if (s->kind == SESSION_SUMMARY_RUN)
		put_layers(o, s->layers);
	/* The records of a lost session hold no verdict, and its end was not observed. */
	if (s->kind == SESSION_SUMMARY_LOST)
		return o;
	jdoc_set(o, "verdict", s->verdict ? jdoc_copy(s->verdict) : jdoc_new_null());
	put_time(o, "started", s->started_us);
	put_time(o, "ended", s->ended_us);
	jdoc_set_int(o, "duration_ms", (int64_t)s->end.wall_ms);
	return o;
}
