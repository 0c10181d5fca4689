/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/session-print.h"
#include "cli/output.h"
#include "cli/record-print.h"
#include "cli/trace-summary.h"
#include "base/exit-status.h"
#include "ledger/ledger-lines.h"
#include "ledger/ledger-session.h"

/* session.json and the ledger's records of the session; the ledger is authoritative. */
struct showing {
	struct session_note note;
	struct strbuf records; /* items of a JSON list, or the lines of the records */
	size_t n;
	uint64_t calls, refusals;			    /* of tools */
	uint64_t connections, net_refusals, sent, received; /* with allowed hosts */
	char **credentials;				    /* names of those that were used */
	struct trace_summary trace;
	char *evidence; /* path in session.end; NULL: no evidence */
	bool json;
	char session[SESSION_ID_SIZE + 2]; /* as in a record */
};

static void showing_done(struct showing *s)
{
	session_note_done(&s->note);
	strbuf_done(&s->records);
	strv_free(s->credentials);
	trace_summary_done(&s->trace);
	free(s->evidence);
}

/* The path is a JSON string in the record. */
static void take_evidence(struct showing *s, const struct record *r)
{
	struct span path = record_get(r, "evidence");
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (!record_kind_is(r, "session.end") || !path.at ||
	    jdoc_parse(path.at, path.len, "evidence", NULL, &d, NULL) < 0 || d->type != JDOC_STRING)
		return;
	free(s->evidence);
	s->evidence = strdup(d->string);
}

/* A record of refusals may stand for many. */
static void count_tools(struct showing *s, const struct record *r)
{
	uint64_t more;

	if (record_kind_is(r, "tool.call"))
		s->calls++;
	if (record_kind_is(r, "tool.refused"))
		s->refusals += record_get_u64(r, "more", &more) ? more : 1;
}

static void count_connections(struct showing *s, const struct record *r)
{
	uint64_t n;

	s->connections += record_kind_is(r, "net.connect");
	if (record_kind_is(r, "net.refused"))
		s->net_refusals += record_get_u64(r, "more", &n) ? n : 1;
	if (!record_kind_is(r, "net.close"))
		return;
	s->sent += record_get_u64(r, "sent", &n) ? n : 0;
	s->received += record_get_u64(r, "received", &n) ? n : 0;
}

static void note_credential(struct showing *s, const struct record *r)
{
	struct span name = record_get(r, "name");
	_cleanup_free_ char *text = NULL;

	/* A name has no character that JSON escapes. */
	if (!record_kind_is(r, "credential.use") || !name.at || name.len < 3)
		return;
	text = strndup(name.at + 1, name.len - 2);
	if (text && !strv_has(s->credentials, text))
		(void)!strv_append(&s->credentials, text);
}

static int take_record(const struct record *r, void *arg)
{
	struct showing *s = arg;

	if (!ledger_session_has(s->session, r))
		return 0;
	take_evidence(s, r);
	count_tools(s, r);
	count_connections(s, r);
	note_credential(s, r);
	if (s->json) {
		strbuf_puts(&s->records, s->n ? "," : "");
		strbuf_add(&s->records, r->line, r->len - 1);
	} else {
		strbuf_add(&s->records, r->line, r->len);
	}
	s->n++;
	return s->records.broken ? -ENOMEM : 0;
}

static int read_records(struct showing *s, const struct dirs *d, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader source = { .dirfd = -EBADF, .fd = -EBADF };
	struct ledger_lines l = { .each = take_record, .arg = s };
	int r;

	(void)snprintf(s->session, sizeof(s->session), "%s", s->note.session);
	r = ledger_reader_open_live(d->state, &source, f);
	if (r == -ENOENT) {
		fault_done(f);
		return 0;
	}
	if (r == 0)
		r = ledger_lines_read(&source, &l, f);
	ledger_lines_done(&l);
	return r;
}

static char *log_path(const struct dirs *d, const struct session_note *n)
{
	char *path = NULL;

	if (asprintf(&path, "%s/sessions/%s/" SESSION_LOG, d->state, n->session) < 0)
		return NULL;
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static int print_json(const struct command_call *c, const struct showing *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = session_print_describe(&s->note);
	_cleanup_free_ char *log = log_path(&c->dirs, &s->note);
	_cleanup_strbuf_ struct strbuf text = { 0 }, all = { 0 };
	struct jdoc *names = NULL;
	int r;

	if (s->evidence)
		jdoc_set_string(o, "evidence", s->evidence);
	if (s->calls || s->refusals) {
		struct jdoc *tools = jdoc_set_object(o, "tools");

		jdoc_set_int(tools, "calls", (int64_t)s->calls);
		jdoc_set_int(tools, "refused", (int64_t)s->refusals);
	}
	if (s->connections || s->net_refusals) {
		struct jdoc *net = jdoc_set_object(o, "connections");

		jdoc_set_int(net, "made", (int64_t)s->connections);
		jdoc_set_int(net, "refused", (int64_t)s->net_refusals);
		jdoc_set_int(net, "sent", (int64_t)s->sent);
		jdoc_set_int(net, "received", (int64_t)s->received);
	}
	if (s->credentials)
		names = jdoc_set_array(o, "credentials");
	for (char **name = s->credentials; name && *name; name++)
		jdoc_append_string(names, *name);
	if (s->trace.started)
		trace_summary_put(&s->trace, jdoc_set_object(o, "trace"));
	jdoc_set(o, "log", log ? jdoc_new_string(log) : jdoc_new_null());
	r = jdoc_write(o, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	/* Records are copied byte by byte, so that their hashes can be checked. */
	strbuf_printf(&all, "{\"schema_version\":1,\"session\":%s,\"records\":[%s]}\n", text.text,
		      s->records.text ? s->records.text : "");
	r = output_put_json(&all, f);
	return r < 0 ? r : STATUS_OK;
}

static void print_field(const char *key, const char *text)
{
	_cleanup_free_ char *shown = text ? str_escape(text) : NULL;

	if (shown)
		printf("%-10s %s\n", key, shown);
}

static void print_time(const char *key, uint64_t us)
{
	char text[LOCAL_TIME_SIZE];

	if (us == 0)
		return;
	local_time_zoned(us, text);
	print_field(key, text);
}

/* The same reader as for the ledger: the lines were records when they were collected. */
static int put_record(const struct record *r, void *arg)
{
	record_print_put(arg, r);
	return 0;
}

static void print_records(const struct showing *s)
{
	struct record_print p;
	struct ledger_lines l = { .each = put_record, .arg = &p };

	if (s->n == 0)
		return;
	putchar('\n');
	record_print_init(&p, true, stdout);
	(void)ledger_lines_feed(&l, s->records.text, s->records.len);
	ledger_lines_done(&l);
	table_end(&p.table, NULL);
	table_done(&p.table);
}

static void print_trace(const struct showing *s)
{
	const struct trace_summary *t = &s->trace;
	uint64_t denied = 0;

	if (!t->started)
		return;
	for (size_t i = 0; i < t->n_denied; i++)
		denied += t->denied[i].count;
	printf("%-10s %" PRIu64 " programs executed, %" PRIu64 " calls refused", "observed", t->programs,
	       denied);
	if (t->lost)
		printf(", %" PRIu64 " not recorded", t->lost);
	if (denied || t->damaged)
		printf("%s: custody why %s", t->damaged ? ", the record is damaged" : "", s->note.session);
	putchar('\n');
}

static void print_people(const struct command_call *c, const struct showing *s)
{
	const struct session_note *n = &s->note;
	_cleanup_free_ char *command = session_print_command(n), *log = log_path(&c->dirs, n);

	printf("%-10s %s\n%-10s %s%s\n", "session", n->session, "state", session_state_name(n->state),
	       n->state == SESSION_LOST ? " (its supervisor died: custody recover)" : "");
	if (n->state == SESSION_RUNNING)
		printf("%-10s %d\n", "pid", (int)n->pid);
	print_field("lane", lane_name(n->lane));
	print_field("name", n->name);
	print_field("agent", n->agent);
	print_field("worker", n->worker);
	print_field("issue", n->issue);
	print_field("profile", n->profile);
	print_field("digest", n->digest);
	print_field("container", n->container);
	print_field("bundle", n->bundle);
	printf("%-10s %s\n", "command", command ? command : "?");
	print_field("worktree", n->worktree);
	print_field("workspace", n->workspace);
	for (char **id = n->chain; id && *id; id++)
		print_field(id == n->chain ? "continues" : "", *id);
	print_time("started", n->started_us);
	print_time("ended", n->ended_us);
	print_field("reason", n->reason);
	if (n->reason)
		printf("%-10s %d\n", "status", n->code);
	if (s->calls || s->refusals)
		printf("%-10s %" PRIu64 " calls, %" PRIu64 " refused\n", "tools", s->calls, s->refusals);
	if (s->connections || s->net_refusals)
		printf("%-10s %" PRIu64 " connections, %" PRIu64 " refused, %" PRIu64 " bytes sent, %" PRIu64
		       " received\n",
		       "network", s->connections, s->net_refusals, s->sent, s->received);
	for (char **name = s->credentials; name && *name; name++)
		print_field(name == s->credentials ? "used" : "", *name);
	print_trace(s);
	print_field("evidence", s->evidence ? s->evidence : n->evidence);
	print_field("log", log);
	if (n->kept)
		printf("%-10s kept: custody diff %s, apply or discard\n", "changes", n->session);
	print_records(s);
}

int cmd_show(struct command_call *c, struct fault *f)
{
	const struct session_print_ask ask = {
		.verb = "show", .word = c->args[0], .action = "", .fit = SESSION_FIT_ANY
	};
	__attribute__((cleanup(showing_done))) struct showing s = { .json = c->json };
	int status, r;

	r = session_print_find(&c->dirs, &ask, &s.note, &status, f);
	if (r < 0 || status != STATUS_OK)
		return r < 0 ? r : status;
	r = read_records(&s, &c->dirs, f);
	if (r == 0)
		r = trace_summary_read(&c->dirs, s.note.session, &s.trace, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(c, &s, f);
	print_people(c, &s);
	return STATUS_OK;
}
