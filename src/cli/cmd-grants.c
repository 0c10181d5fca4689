/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "approval/approval-lane.h"
#include "base/array.h"
#include "base/local-time.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/grant.h"
#include "subject/subject-digest.h"
#include "tty/table.h"

static bool is_shown(const struct command_call *c, const struct grant_found *g)
{
	return c->all || g->reason == GRANT_VALID || g->reason == GRANT_RESERVED ||
	       g->reason == GRANT_TOO_FEW_APPROVALS;
}

static void append(struct jdoc *list, const struct grant_found *g)
{
	const char level[2] = { g->grant.level };
	struct jdoc *d = jdoc_append_object(list);
	char digest[SUBJECT_DIGEST_SIZE], when[CLOCK_TEXT_SIZE];

	subject_digest_to_text(&g->grant.digest, digest);
	jdoc_set_string(d, "id", g->grant.id);
	jdoc_set_string(d, "digest", digest);
	jdoc_set_string(d, "lane", g->grant.lane);
	jdoc_set_string(d, "level", level);
	jdoc_set_string(d, "approver", g->grant.approver);
	jdoc_set_string(d, "key", g->grant.key_id);
	jdoc_set_int(d, "uses", (int64_t)g->grant.uses);
	jdoc_set_int(d, "used", (int64_t)g->used);
	jdoc_set_int(d, "reserved", (int64_t)g->reserved);
	clock_format(g->grant.decided.wall_us, when);
	jdoc_set_string(d, "decided", when);
	clock_format(g->grant.not_after_us, when);
	jdoc_set_string(d, "expires", when);
	jdoc_set(d, "fleet", g->grant.fleet[0] ? jdoc_new_string(g->grant.fleet) : jdoc_new_null());
	list = jdoc_set_array(d, "ledgers");
	for (char **k = g->grant.ledgers; k && *k; k++)
		jdoc_append_string(list, *k);
	jdoc_set(d, "standing", g->grant.standing ? jdoc_copy(g->grant.standing) : jdoc_new_null());
	jdoc_set_string(d, "state", grant_reason_id(g->reason));
	jdoc_set_string(d, "reason", g->grant.reason ? g->grant.reason : "");
	jdoc_set(d, "revoked_by", g->revoked_by ? jdoc_new_string(g->revoked_by) : jdoc_new_null());
}

static int print_json(const struct command_call *c, const struct grant_set *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list;

	jdoc_set_int(d, "schema_version", 1);
	list = jdoc_set_array(d, "grants");
	for (size_t i = 0; i < s->n; i++)
		if (is_shown(c, &s->items[i]))
			append(list, &s->items[i]);
	return output_print(d, f);
}

static void put_row(struct table *t, const struct grant_found *g)
{
	char until[LOCAL_TIME_SIZE], id[REQUEST_ID_SIZE], used[48], level[2] = { g->grant.level, '\0' };

	local_time_minute(g->grant.not_after_us, until);
	digest_hex(g->grant.digest.bytes, (sizeof(id) - 1) / 2, id);
	if (g->grant.standing)
		(void)snprintf(used, sizeof(used), "%llu, always", (unsigned long long)g->used);
	else
		(void)snprintf(used, sizeof(used), "%llu of %llu", (unsigned long long)g->used,
			       (unsigned long long)g->grant.uses);
	table_put(t, (const char *const[]){ g->grant.id, level, used, until, g->grant.approver, id,
					    grant_reason_id(g->reason) });
}

static void print_list(const struct command_call *c, const struct grant_set *s, const char *lane)
{
	char title[LOCAL_TITLE_SIZE];
	const struct table_column columns[] = {
		{ .title = "ID", .width = 16 },
		{ .title = "LEVEL", .extra = true },
		{ .title = "USED", .width = 6, .right = true },
		{ .title = title, .width = 16, .extra = true },
		{ .title = "BY", .width = 8, .extra = true },
		{ .title = "REQUEST", .width = 16, .extra = true },
		{ .title = "STATE" },
	};
	_cleanup_table_ struct table t;

	local_time_title("UNTIL", title);
	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	for (size_t i = 0; i < s->n; i++)
		if (is_shown(c, &s->items[i]))
			put_row(&t, &s->items[i]);
	if (table_is_empty(&t))
		printf("no valid grant in lane '%s'%s\n", lane, s->n ? "; --all lists invalid ones" : "");
	table_end(&t, NULL);
}

int cmd_grants(struct command_call *c, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_grants_ struct grant_set s = { 0 };
	int r = approval_lane_open(&c->dirs, c->config, NULL, &d, f);

	if (r == 0)
		r = grant_list(&d.store, &s, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(c, &s, f);
	print_list(c, &s, d.store.lane);
	return STATUS_OK;
}
