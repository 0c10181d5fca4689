/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/trace-summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "ledger/ledger-audit.h"
#include "ledger/ledger-lines.h"
#include "session/session-note.h"

#define STEP 65536
#define DENIALS_MAX 4096

/* The record's JSON string KEY; heap, NULL: none. */
static char *take_string(const struct record *r, const char *key)
{
	const struct span v = record_get(r, key);
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (!v.at || jdoc_parse(v.at, v.len, "record", NULL, &d, NULL) < 0 || d->type != JDOC_STRING)
		return NULL;
	return strdup(d->string);
}

static uint64_t number(const struct record *r, const char *key, uint64_t missing)
{
	uint64_t n;

	return record_get_u64(r, key, &n) ? n : missing;
}

/* A later record has the number until then. */
static int take_denied(struct trace_summary *s, const struct record *r)
{
	const uint64_t err = number(r, "errno", 0), count = number(r, "count", 1);
	_cleanup_free_ char *call = take_string(r, "call");
	struct trace_denial *all;

	for (size_t i = 0; call && i < s->n_denied; i++) {
		if (!str_eq(s->denied[i].call, call) || s->denied[i].err != err)
			continue;
		s->denied[i].count = count > s->denied[i].count ? count : s->denied[i].count;
		return 0;
	}
	if (!call || s->n_denied >= DENIALS_MAX)
		return 0;
	all = realloc(s->denied, (s->n_denied + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->denied = all;
	all[s->n_denied++] = (struct trace_denial){
		.call = TAKE_PTR(call), .allow = take_string(r, "allow"), .err = err, .count = count
	};
	return 0;
}

static bool has_word(const struct record *r, const char *word)
{
	const struct span v = record_get(r, "trace");
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (!v.at || jdoc_parse(v.at, v.len, "record", NULL, &d, NULL) < 0 || d->type != JDOC_ARRAY)
		return false;
	for (size_t i = 0; i < d->n_items; i++)
		if (d->items[i]->type == JDOC_STRING && str_eq(d->items[i]->string, word))
			return true;
	return false;
}

/* Else a record that is missing would look like a call that was never refused. */
static void follow(struct trace_summary *s, const struct record *r)
{
	if (!record_hash_verify(r) || r->seq != s->next || !record_prev_is(r, &s->head))
		s->damaged++;
	s->next = r->seq + 1;
	record_head(r, &s->head);
}

static int take_record(const struct record *r, void *arg)
{
	struct trace_summary *s = arg;
	const uint64_t times = number(r, "more", 1);

	follow(s, r);
	if (record_kind_is(r, "trace.start")) {
		s->started = true;
		s->denied_seen = has_word(r, "denied");
	} else if (record_kind_is(r, "trace.exec")) {
		s->programs += times;
	} else if (record_kind_is(r, "trace.write")) {
		s->writes += times;
	} else if (record_kind_is(r, "trace.connect")) {
		s->connections += times;
	} else if (record_kind_is(r, "trace.denied")) {
		return take_denied(s, r);
	} else if (record_kind_is(r, "trace.end")) {
		s->over = true;
		s->lost = number(r, "lost", 0);
		s->gone = number(r, "gone", 0);
		s->unreadable = number(r, "unreadable", 0);
	}
	return 0;
}

int trace_summary_read(const struct dirs *d, const char *id, struct trace_summary *ret, struct fault *f)
{
	_cleanup_close_ int dir = session_note_open_dir(d, id, f);
	_cleanup_close_ int fd =
		dir < 0 ? -EBADF : openat(dir, AUDIT_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *room = malloc(STEP);
	struct ledger_lines l = { .each = take_record, .arg = ret };
	int r = 0;

	*ret = (struct trace_summary){ .found = fd >= 0 };
	if (dir < 0)
		return dir;
	if (!room)
		return fault_errno(f, ENOMEM, "read the session's records");
	while (fd >= 0 && r == 0) {
		ssize_t n = read(fd, room, STEP);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = fault_errno(f, errno, "read '" AUDIT_NAME "'");
		if (n <= 0)
			break;
		r = ledger_lines_feed(&l, room, (size_t)n);
		if (r < 0)
			r = fault_errno(f, -r, "read '" AUDIT_NAME "'");
	}
	ret->damaged += l.damaged;
	ledger_lines_done(&l);
	return r;
}

void trace_summary_put(const struct trace_summary *s, struct jdoc *d)
{
	struct jdoc *list = jdoc_set_array(d, "denied");

	jdoc_set_bool(d, "observed", s->started);
	jdoc_set_bool(d, "denied_observed", s->denied_seen);
	jdoc_set_bool(d, "complete", s->over && !s->damaged);
	jdoc_set_int(d, "damaged", (int64_t)s->damaged);
	jdoc_set_int(d, "programs", (int64_t)s->programs);
	jdoc_set_int(d, "writes", (int64_t)s->writes);
	jdoc_set_int(d, "connections", (int64_t)s->connections);
	jdoc_set_int(d, "lost", (int64_t)s->lost);
	jdoc_set_int(d, "gone", (int64_t)s->gone);
	jdoc_set_int(d, "unreadable", (int64_t)s->unreadable);
	for (size_t i = 0; i < s->n_denied; i++) {
		struct jdoc *o = jdoc_append_object(list);

		jdoc_set_string(o, "call", s->denied[i].call);
		jdoc_set_int(o, "errno", (int64_t)s->denied[i].err);
		jdoc_set_int(o, "count", (int64_t)s->denied[i].count);
		jdoc_set(o, "allow",
			 s->denied[i].allow ? jdoc_new_string(s->denied[i].allow) : jdoc_new_null());
	}
}

void trace_summary_done(struct trace_summary *s)
{
	for (size_t i = 0; i < s->n_denied; i++) {
		free(s->denied[i].call);
		free(s->denied[i].allow);
	}
	free(s->denied);
	*s = (struct trace_summary){ 0 };
}
