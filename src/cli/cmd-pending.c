/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "approval/approval-lane.h"
#include "approval/approval-prompt.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/request-notice.h"

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

static void print_line(const struct request *rq)
{
	static const char *const marks[] = {
		[REQUEST_OPEN] = "",
		[REQUEST_DENIED] = "[denied] ",
		[REQUEST_DAMAGED] = "[damaged: 'custody deny ID' removes it] ",
	};
	_cleanup_free_ char *command = str_escape(rq->command ? rq->command : "");
	_cleanup_free_ char *agent = str_escape(rq->agent ? rq->agent : "-");
	char expires[CLOCK_TEXT_SIZE];

	clock_format(rq->expires_us, expires);
	expires[sizeof("2026-11-16T03:15") - 1] = '\0';
	printf("%-16s  %c  %5llu  %-16s  %-12s  %s%s\n", rq->id, rq->level, (unsigned long long)rq->count,
	       expires, agent ? agent : "?", marks[rq->state], command ? command : "?");
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
		printf("%-16s  %s  %5s  %-16s  %-12s  %s\n", "ID", "L", "COUNT", "EXPIRES (UTC)", "AGENT",
		       "COMMAND");
	for (size_t i = 0; i < l.n; i++)
		print_line(&l.items[i]);
	return STATUS_OK;
}
