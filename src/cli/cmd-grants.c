/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "approval/approval-lane.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/grant.h"
#include "subject/subject-digest.h"

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

static void print_line(const struct grant_found *g)
{
	_cleanup_free_ char *by = str_escape(g->grant.approver);
	char until[CLOCK_TEXT_SIZE], id[REQUEST_ID_SIZE];

	clock_format(g->grant.not_after_us, until);
	until[sizeof("2026-11-16T03:15") - 1] = '\0';
	digest_hex(g->grant.digest.bytes, (sizeof(id) - 1) / 2, id);
	printf("%-16s  %c  %4llu/%-4llu  %-16s  %-12s  %-16s  %s\n", g->grant.id, g->grant.level,
	       (unsigned long long)g->used, (unsigned long long)g->grant.uses, until, by ? by : "?", id,
	       grant_reason_id(g->reason));
}

int cmd_grants(struct command_call *c, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_grants_ struct grant_set s = { 0 };
	size_t shown = 0;
	int r = approval_lane_open(&c->dirs, c->config, NULL, &d, f);

	if (r == 0)
		r = grant_list(&d.store, &s, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(c, &s, f);
	for (size_t i = 0; i < s.n; i++) {
		if (!is_shown(c, &s.items[i]))
			continue;
		if (shown++ == 0)
			printf("%-16s  %s  %9s  %-16s  %-12s  %-16s  %s\n", "ID", "L", "USED", "UNTIL (UTC)",
			       "BY", "FOR", "STATE");
		print_line(&s.items[i]);
	}
	if (shown == 0)
		printf("no valid grant in lane '%s'%s\n", d.store.lane,
		       s.n ? "; --all lists invalid ones" : "");
	return STATUS_OK;
}
