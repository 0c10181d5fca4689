/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "approval/approval-lane.h"
#include "approval/approval-prompt.h"
#include "base/array.h"
#include "base/local-time.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/request-notice.h"
#include "tty/table.h"

static int print_json(const struct request_list *l, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *requests;

	jdoc_set_int(d, "schema_version", 1);
	requests = jdoc_set_array(d, "requests");
	for (size_t i = 0; i < l->n; i++)
		jdoc_append(requests, request_describe(&l->items[i]));
	return output_print(d, f);
}

static void put_row(struct table *t, const struct request *rq)
{
	static const char *const marks[] = {
		[REQUEST_OPEN] = "",
		[REQUEST_DENIED] = "[denied] ",
		[REQUEST_DAMAGED] = "[damaged: 'custody deny ID' removes it] ",
	};
	_cleanup_strbuf_ struct strbuf command = { 0 };
	char expires[LOCAL_TIME_SIZE], count[24], level[2] = { rq->level, '\0' };

	local_time_minute(rq->expires_us, expires);
	(void)snprintf(count, sizeof(count), "%llu", (unsigned long long)rq->count);
	strbuf_printf(&command, "%s%s", marks[rq->state], rq->command ? rq->command : "");
	table_put(t, (const char *const[]){ rq->id, level, count, expires, rq->agent, command.text });
}

static void print_list(const struct request_list *l)
{
	char title[LOCAL_TITLE_SIZE];
	const struct table_column columns[] = {
		{ .title = "ID", .width = 16 },
		{ .title = "LEVEL" },
		{ .title = "COUNT", .right = true, .extra = true },
		{ .title = title, .width = 16, .extra = true },
		{ .title = "AGENT", .width = 8, .extra = true },
		{ .title = "COMMAND" },
	};
	_cleanup_table_ struct table t;

	local_time_title("EXPIRES", title);
	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	for (size_t i = 0; i < l->n; i++)
		put_row(&t, &l->items[i]);
	table_end(&t, "level B: an approver confirms; C: with a PIN; custody approve ID");
}

static int print_card(const struct approval_lane *d, const char *id, bool json, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r = request_read(&d->store, id, &rq, f);

	if (r == 0 && json)
		r = request_write(&rq, &b, f);
	else if (r == 0)
		r = approval_prompt_card(&d->store, &rq, NULL, isatty(STDOUT_FILENO) ? STDOUT_FILENO : -1,
					 true, &b, f);
	if (r == 0 && json)
		return output_put_json(&b, f);
	if (r < 0)
		return r;
	(void)fputs(b.text ? b.text : "", stdout);
	return STATUS_OK;
}

int cmd_pending(struct command_call *c, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_requests_ struct request_list l = { 0 };
	int r = approval_lane_open(&c->dirs, c->config, NULL, &d, f);

	if (r < 0)
		return r;
	if (c->args[0])
		return print_card(&d, c->args[0], c->json, f);
	r = request_list(&d.store, c->all, &l, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(&l, f);
	if (l.n == 0)
		printf("no request for approval in lane '%s'\n", d.store.lane);
	else
		print_list(&l);
	return STATUS_OK;
}
