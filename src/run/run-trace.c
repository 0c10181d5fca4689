/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-trace.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-token.h"
#include "ledger/ledger-audit.h"
#include "oci/seccomp/seccomp-trace.h"
#include "run/run-impl.h"
#include "subject/subject-trace.h"
#include "trace/trace-advice.h"

#define STEP_MESSAGES 32 /* of one step: output, signals and limits have their turn in between */
#define PLACE 1		 /* index of the text that a path begins at */
#define RECORD_BYTES 400 /* of a record without its texts, about */

int run_trace_open(struct run_trace *t, const struct run *run, struct fault *f)
{
	_cleanup_seccomp_trace_ struct seccomp_trace program = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r = seccomp_trace_program(run->plan.subject, &program, f);

	if (r < 0 || program.n == 0)
		return r;
	fd = memfd_create("custody-filter", MFD_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "create a memfd for the seccomp program");
	r = fd_write_all(fd, (const char *)program.insns, program.n * sizeof(*program.insns), f);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = fault_errno(f, errno, "seccomp program");
	if (r < 0)
		return r;
	t->filter_fd = TAKE_FD(fd);
	t->run = run;
	return 0;
}

/* A full disk must not end the run. */
static void append(struct run_trace *t, const char *kind, const char *status, const struct jdoc *d)
{
	const struct ledger_run *l = &t->run->decision.run;
	const struct ledger_event e = { .kind = kind,
					.session = t->run->id,
					.agent = l->agent,
					.worker = l->worker,
					.status = status,
					.d = d };

	if (l->audit && audit_append(l->audit, &e, NULL) < 0)
		t->unrecorded++;
}

static void withhold(char **word)
{
	free(*word);
	*word = strdup("[cut]");
}

/* The last text of a list that is not complete, and a path that is not, may be the half of a secret. */
static char **copy_texts(const struct trace_message *m)
{
	const uint32_t n = m->head.texts;
	char **words = strv_copy((char *const *)m->texts);

	if (words && n > PLACE + 1 && m->head.flags & (TRACE_CUT | TRACE_UNREADABLE))
		withhold(&words[n - 1]);
	if (words && n > 0 && strlen(words[0]) >= TRACE_PATH_MAX)
		withhold(&words[0]);
	return words;
}

static void put_argv(struct jdoc *d, const struct run_trace *t, char *const *words)
{
	_cleanup_strv_ char **shown = redact_argv(words, t->run->decision.run.redact);
	struct jdoc *list = jdoc_set_array(d, "argv");

	/* Without memory the document is broken, and not written: it could have a secret. */
	if (!shown)
		jdoc_set(d, "argv", NULL);
	for (size_t i = 0; shown && shown[i]; i++)
		jdoc_append(list, ledger_text(shown[i]));
}

static void put_call(struct jdoc *d, const struct trace_head *h)
{
	_cleanup_free_ char *name = seccomp_call_name(h->nr);

	jdoc_set_string(d, "call", name);
	if (h->pid > 0)
		jdoc_set_int(d, "pid", h->pid);
}

static void put_path(struct jdoc *d, const char *key, char *const *words)
{
	const char *place = words && words[0] ? words[PLACE] : NULL;

	jdoc_set(d, key, words && words[0] ? ledger_text(words[0]) : jdoc_new_null());
	if (place && place[0])
		jdoc_set(d, "at", ledger_text(place));
}

static void record_call(struct run_trace *t, const struct trace_message *m)
{
	_cleanup_strv_ char **words = copy_texts(m);
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct trace_call *call = NULL;
	const bool has_text = words && words[0];

	for (char **word = words; t->token && word && *word; word++)
		broker_token_hide(t->token, *word);
	(void)trace_decide(TRACE_EXEC | TRACE_WRITE | TRACE_CONNECT, TRACE_ARCH, m->head.nr, &call);
	jdoc_set_bool(d, "observed", true);
	put_call(d, &m->head);
	if (m->head.kind == TRACE_KIND_REPEAT)
		jdoc_set_int(d, "more", (int64_t)m->head.count);
	if (m->head.flags & TRACE_CUT)
		jdoc_set_bool(d, "cut", true);
	if (m->head.flags & TRACE_UNREADABLE)
		jdoc_set_bool(d, "unreadable", true);
	if (call && call->word == TRACE_CONNECT) {
		jdoc_set(d, "address", has_text ? ledger_text(words[0]) : jdoc_new_null());
		append(t, "trace.connect", "ok", d);
	} else if (call && call->word == TRACE_WRITE) {
		put_path(d, "path", words);
		append(t, "trace.write", "ok", d);
	} else {
		put_path(d, "program", words);
		put_argv(d, t, m->head.texts > PLACE + 1 && words ? words + PLACE + 1 : (char *[]){ NULL });
		append(t, "trace.exec", "ok", d);
	}
}

static void record_denied(struct run_trace *t, const struct trace_message *m)
{
	const struct subject *s = t->run->plan.subject;
	_cleanup_free_ char *name = seccomp_call_name(m->head.nr), *advice = NULL;
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	if (name)
		advice = trace_advise(name, m->head.err, seccomp_trace_list(s, name),
				      !(s->layers & LAYER_BIT(LAYER_CAPABILITIES)));
	put_call(d, &m->head);
	jdoc_set_int(d, "errno", m->head.err);
	jdoc_set_int(d, "count", (int64_t)m->head.count);
	jdoc_set_string(d, "allow", advice);
	append(t, "trace.denied", "denied", d);
}

static void record_end(struct run_trace *t, const struct trace_totals *n)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	jdoc_set_int(d, "seen", (int64_t)n->seen);
	jdoc_set_int(d, "denied", (int64_t)n->denied);
	jdoc_set_int(d, "repeated", (int64_t)n->repeated);
	jdoc_set_int(d, "lost", (int64_t)(n->lost + t->unrecorded));
	jdoc_set_int(d, "gone", (int64_t)n->gone);
	jdoc_set_int(d, "unreadable", (int64_t)n->unreadable);
	append(t, "trace.end", "ok", d);
	t->over = true;
}

static void record(struct run_trace *t, const struct trace_message *m)
{
	const uint64_t bytes = RECORD_BYTES + (m->head.texts ? strlen(m->texts[0]) * 2 : 0);

	switch (m->head.kind) {
	case TRACE_KIND_END:
		record_end(t, &m->head.totals);
		return;
	case TRACE_KIND_DENIED:
		record_denied(t, m);
		return;
	default:
		break;
	}
	t->bytes += bytes;
	for (uint32_t i = 1; i < m->head.texts; i++)
		t->bytes += strlen(m->texts[i]) + 3;
	if (t->bytes > RUN_TRACE_BYTES)
		t->unrecorded += m->head.count;
	else
		record_call(t, m);
}

void run_trace_begin(struct run_trace *t)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list = jdoc_set_array(d, "trace");

	if (!t->run)
		return;
	for (char *const *word = t->run->plan.subject->profile->audit_trace; word && *word; word++)
		jdoc_append_string(list, *word);
	append(t, "trace.start", "ok", d);
}

static int receive(struct run_trace *t, bool wait)
{
	char bytes[TRACE_MESSAGE_MAX];
	struct trace_message m;
	int r = trace_receive(&t->trace, wait, bytes, &m);

	if (r > 0)
		record(t, &m);
	return r;
}

static enum warden_side_state step(void *arg)
{
	struct run_trace *t = arg;

	for (int i = 0; i < STEP_MESSAGES && !t->over; i++) {
		int r = receive(t, false);

		if (r <= 0)
			return r == -EAGAIN ? WARDEN_SIDE_OK : WARDEN_SIDE_LOST;
	}
	return t->over ? WARDEN_SIDE_OVER : WARDEN_SIDE_OK;
}

int run_trace_start(struct run_trace *t, struct fault *f)
{
	int r;

	if (!t->run)
		return 0;
	r = trace_start(subject_traces(t->run->plan.subject), &t->trace, f);
	t->side = (struct warden_side){ .fd = t->trace.link, .step = step, .arg = t };
	return r;
}

void run_trace_end(struct run_trace *t)
{
	if (!t->run || t->trace.link < 0)
		return;
	while (!t->over && receive(t, true) > 0)
		;
	trace_done(&t->trace);
}

void run_trace_done(struct run_trace *t)
{
	trace_done(&t->trace);
	t->filter_fd = fd_close(t->filter_fd);
}
