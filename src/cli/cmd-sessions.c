/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/session-print.h"
#include "cli/output.h"
#include "base/exit-status.h"

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

static void print_line(const struct session_note *n)
{
	_cleanup_free_ char *name = session_print_text(n->name), *agent = session_print_text(n->agent);
	_cleanup_free_ char *command = session_print_command(n), *reason = session_print_text(n->reason);
	char started[CLOCK_TEXT_SIZE], state[32];

	clock_format(n->started_us, started);
	started[sizeof("2026-11-16T03:15:00") - 1] = '\0';
	if (n->state == SESSION_ENDED)
		(void)snprintf(state, sizeof(state), "%.20s %d%s", reason ? reason : "?", n->code,
			       n->kept ? " +" : "");
	else
		(void)snprintf(state, sizeof(state), "%s", session_state_name(n->state));
	printf("%s  %-14s  %s  %-10s  %-10s  %s\n", n->session, state, started, agent ? agent : "?",
	       name ? name : "?", command ? command : "?");
}

static void print_list(const struct command_call *c, const struct session_note_list *l)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		if (!is_wanted(&l->items[i], c->all))
			continue;
		if (!any)
			printf("%-25s  %-14s  %-19s  %-10s  %-10s  %s\n", "SESSION", "STATE", "STARTED (UTC)",
			       "AGENT", "NAME", "COMMAND");
		any = true;
		print_line(&l->items[i]);
	}
	if (!any)
		fprintf(stderr, "no %s session in lane '%s'%s\n", c->all ? "known" : "running",
			lane_name(c->dirs.lane), c->all ? "" : "; --all lists ended sessions");
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
