/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "base/local-time.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/session-print.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "tty/table.h"

/* Sessions that may need an action: running, lost, or with kept changes. */
static bool is_wanted(const struct session_note *n, bool all)
{
	return all || n->state != SESSION_ENDED || n->kept;
}

static int print_json(const struct command_call *c, const struct session_note_list *l, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list, *broken;

	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(d, "lane", lane_name(c->dirs.lane));
	list = jdoc_set_array(d, "sessions");
	for (size_t i = 0; i < l->n; i++)
		if (is_wanted(&l->items[i], c->all))
			jdoc_append(list, session_print_describe(&l->items[i]));
	broken = jdoc_set_array(d, "unreadable");
	for (char **b = l->broken; b && *b; b++)
		jdoc_append_string(broken, *b);
	return output_print(d, f);
}

static void put_row(struct table *t, const struct session_note *n)
{
	_cleanup_free_ char *command = session_print_command(n);
	char started[LOCAL_TIME_SIZE], state[32];

	local_time_minute(n->started_us, started);
	if (n->state == SESSION_ENDED)
		(void)snprintf(state, sizeof(state), "%.20s %d%s", n->reason ? n->reason : "-", n->code,
			       n->kept ? " +" : "");
	else
		(void)snprintf(state, sizeof(state), "%s", session_state_name(n->state));
	table_put(t, (const char *const[]){ n->session, state, started, n->agent, n->name,
					    command ? command : "?" });
}

static void print_list(const struct command_call *c, const struct session_note_list *l)
{
	char title[LOCAL_TITLE_SIZE];
	const struct table_column columns[] = {
		{ .title = "SESSION", .width = SESSION_ID_SIZE - 1 },
		{ .title = "STATE", .width = 12 },
		{ .title = title, .width = 16, .extra = true },
		{ .title = "AGENT", .width = 8, .extra = true },
		{ .title = "NAME", .width = 8, .extra = true },
		{ .title = "COMMAND" },
	};
	_cleanup_table_ struct table t;
	bool kept = false;

	local_time_title("STARTED", title);
	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	for (size_t i = 0; i < l->n; i++) {
		if (!is_wanted(&l->items[i], c->all))
			continue;
		kept |= l->items[i].state == SESSION_ENDED && l->items[i].kept;
		put_row(&t, &l->items[i]);
	}
	if (table_is_empty(&t))
		fprintf(stderr, "no %s session in lane '%s'%s\n", c->all ? "known" : "running",
			lane_name(c->dirs.lane), c->all ? "" : "; --all lists ended sessions");
	table_end(&t, kept ? "+ its changes are kept: custody diff SESSION, apply or discard" : NULL);
}

int cmd_sessions(struct command_call *c, struct fault *f)
{
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	int r = session_note_list(&c->dirs, &l, f);

	if (r < 0)
		return r;
	for (char **b = l.broken; b && *b; b++) {
		_cleanup_free_ char *text = str_escape(*b);

		fprintf(stderr, PACKAGE_NAME " sessions: cannot read the note of %s\n", text ? text : "?");
	}
	if (c->json)
		return print_json(c, &l, f);
	print_list(c, &l);
	return STATUS_OK;
}
