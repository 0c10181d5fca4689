/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session-print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/exit-status.h"

#define COMMAND_MAX 60 /* bytes of the command beside a session that was not named */

static void set_text(struct jdoc *o, const char *key, const char *text)
{
	jdoc_set(o, key, text ? jdoc_new_string(text) : jdoc_new_null());
}

static void set_time(struct jdoc *o, const char *key, uint64_t us)
{
	char text[CLOCK_TEXT_SIZE];

	if (us)
		clock_format(us, text);
	set_text(o, key, us ? text : NULL);
}

static void set_exit(struct jdoc *o, const struct session_note *n)
{
	struct jdoc *e;

	if (!n->reason) {
		jdoc_set(o, "exit", jdoc_new_null());
		return;
	}
	e = jdoc_set_object(o, "exit");
	jdoc_set_string(e, "reason", n->reason);
	set_text(e, "source", n->source);
	jdoc_set_int(e, "code", n->code);
	jdoc_set(e, "signal", n->signal ? jdoc_new_int(n->signal) : jdoc_new_null());
	jdoc_set_bool(o, "abnormal", n->abnormal);
}

struct jdoc *session_print_describe(const struct session_note *n)
{
	struct jdoc *o = jdoc_new_object(), *argv;

	jdoc_set_string(o, "session", n->session);
	jdoc_set_string(o, "state", session_state_name(n->state));
	jdoc_set_string(o, "lane", lane_name(n->lane));
	set_text(o, "name", n->name);
	set_text(o, "agent", n->agent);
	set_text(o, "worker", n->worker);
	set_text(o, "issue", n->issue);
	set_text(o, "profile", n->profile);
	set_text(o, "digest", n->digest);
	set_text(o, "container", n->container);
	set_text(o, "bundle", n->bundle);
	argv = jdoc_set_array(o, "argv");
	for (char **a = n->argv; a && *a; a++)
		jdoc_append_string(argv, *a);
	jdoc_set_bool(o, "argv_cut", n->argv_cut);
	set_text(o, "worktree", n->worktree);
	set_text(o, "workspace", n->workspace);
	/* Only of a session that continues others: its base first. */
	if (n->chain) {
		struct jdoc *chain = jdoc_set_array(o, "continues");

		for (char **id = n->chain; *id; id++)
			jdoc_append_string(chain, *id);
	}
	jdoc_set_bool(o, "detached", n->detached);
	jdoc_set(o, "pid", n->state == SESSION_RUNNING ? jdoc_new_int(n->pid) : jdoc_new_null());
	set_time(o, "started", n->started_us);
	set_time(o, "ended", n->ended_us);
	set_exit(o, n);
	set_text(o, "evidence", n->evidence);
	jdoc_set_bool(o, "changed", n->changed);
	jdoc_set_bool(o, "kept", n->kept);
	return o;
}

char *session_print_command(const struct session_note *n)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (char **a = n->argv; a && *a; a++) {
		if (a != n->argv)
			strbuf_putc(&b, ' ');
		strbuf_put_word(&b, *a);
	}
	if (n->argv_cut)
		strbuf_puts(&b, " ...");
	return b.broken ? NULL : session_print_text(b.text ? b.text : "");
}

char *session_print_text(const char *text)
{
	return str_escape(text ? text : "-");
}

/* Whole characters only. */
static void cut(char *text, size_t max)
{
	size_t at = 0, len = strlen(text), step;

	while (at < len && (step = str_utf8_step(text + at, len - at)) && at + step <= max)
		at += step;
	if (at < len)
		memcpy(text + at, "...", sizeof("..."));
}

static void print_default(const struct session_print_ask *ask, const struct session_note *n)
{
	_cleanup_free_ char *command = session_print_command(n);
	_cleanup_free_ char *worktree = n->worktree ? str_escape(n->worktree) : NULL;

	if (command && strlen(command) > COMMAND_MAX + sizeof("..."))
		cut(command, COMMAND_MAX);
	fprintf(stderr, PACKAGE_NAME " %s: %s%ssession %s in '%s': %s\n", ask->verb, ask->action,
		*ask->action ? " " : "", n->session, worktree ? worktree : "?", command ? command : "?");
}

int session_print_find(const struct dirs *d, const struct session_print_ask *ask, struct session_note *ret,
		       int *ret_status, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *text = NULL;
	int r = session_pick(d, ask->word, ask->fit, ret, &why);

	*ret_status = STATUS_OK;
	if (r == 0 && !ask->quiet && session_word_is_last(ask->word))
		print_default(ask, ret);
	if (r == 0)
		return 0;
	if (r != -ENOENT && r != -ENOTUNIQ) {
		if (f) {
			*f = why;
			why = (struct fault){ 0 };
		}
		return r;
	}
	text = str_escape(fault_text(&why));
	fprintf(stderr, PACKAGE_NAME " %s: %s (lane '%s'; 'custody sessions --all' lists them)\n", ask->verb,
		text ? text : "no such session", lane_name(d->lane));
	*ret_status = STATUS_NO;
	return 0;
}
