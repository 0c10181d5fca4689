/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/run-result.h"

#include "session/session-end.h"

struct ledger_end run_result_end(const struct run_result *r)
{
	struct ledger_end end = session_end_of(&r->exit, r->duration_ms);

	end.evidence = r->evidence;
	end.evidence_digest = &r->evidence_digest;
	end.evidence_staged = r->evidence_staged;
	end.evidence_error = r->evidence_error;
	return end;
}

/* argv may hold any bytes; JSON is UTF-8 only. */
struct jdoc *run_result_command(const struct run_result *r)
{
	struct jdoc *list = jdoc_new_array();

	for (char *const *word = r->argv; word && *word; word++) {
		_cleanup_free_ char *escaped = str_escape(*word);

		jdoc_append_string(list, escaped);
	}
	return list;
}

struct session_summary run_result_summary(const struct run_result *r, const struct jdoc *command)
{
	return (struct session_summary){
		.kind = SESSION_SUMMARY_RUN,
		.session = r->session[0] ? r->session : NULL,
		.lane = r->lane,
		.profile = r->profile,
		.profile_digest = r->profile_digest,
		.digest = r->digest,
		.verdict = r->verdict,
		.command = command,
		.name = r->name,
		.agent = r->agent,
		.worker = r->worker,
		.issue = r->issue,
		.end = run_result_end(r),
		.detail = r->detail,
		.layers = r->proven ? r->layers : NULL,
		.chain = r->chain,
		.base = r->base,
		.started_us = r->started_us,
		.ended_us = r->ended_us,
	};
}

/* Not every mechanism is the kernel's: docs/design/run.md. */
static void put_disk_limit(struct jdoc *o, const struct run_result *r)
{
	struct jdoc *limit;

	if (!r->disk_by) {
		jdoc_set(o, "disk_limit", jdoc_new_null());
		return;
	}
	limit = jdoc_set_object(o, "disk_limit");
	jdoc_set_string(limit, "by", r->disk_by);
	jdoc_set_int(limit, "bytes", (int64_t)r->disk_bytes);
}

static void put_extents(struct jdoc *o, const char *key, const struct id_extents *e)
{
	struct jdoc *list = jdoc_set_array(o, key);

	for (unsigned int i = 0; i < e->n; i++) {
		struct jdoc *x = jdoc_append_object(list);

		jdoc_set_int(x, "inside", e->at[i].inside);
		jdoc_set_int(x, "outside", e->at[i].outside);
		jdoc_set_int(x, "count", e->at[i].count);
	}
}

static void put_ids(struct jdoc *o, const struct run_ids *ids)
{
	struct jdoc *d;

	if (!ids || !ids->mode)
		return;
	d = jdoc_set_object(o, "ids");
	jdoc_set_string(d, "mode", ids->mode);
	if (id_map_is_set(&ids->map)) {
		put_extents(d, "uid", &ids->map.uid);
		put_extents(d, "gid", &ids->map.gid);
	}
	if (ids->why)
		jdoc_set_string(d, "why", ids->why);
}

struct jdoc *run_result_to_json(const struct run_result *r)
{
	_cleanup_jdoc_ struct jdoc *command = run_result_command(r);
	const struct session_summary s = run_result_summary(r, command);
	struct jdoc *o = session_summary_to_json(&s);

	jdoc_set(o, "evidence", r->evidence ? jdoc_new_string(r->evidence) : jdoc_new_null());
	if (r->evidence_staged)
		jdoc_set_bool(o, "evidence_staged", true);
	if (r->evidence_error)
		jdoc_set_string(o, "evidence_error", r->evidence_error);
	put_disk_limit(o, r);
	put_ids(o, r->ids);
	if (r->full)
		jdoc_set(o, "full", jdoc_copy(r->full));
	return o;
}

void run_result_done(struct run_result *r)
{
	jdoc_free(r->full);
	r->full = NULL;
	free(r->detail);
	free(r->remedy);
	free(r->evidence);
	free(r->evidence_error);
	r->detail = r->remedy = r->evidence = r->evidence_error = NULL;
}
