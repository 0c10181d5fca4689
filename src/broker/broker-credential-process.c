/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"
#include "broker/broker-credential-impl.h"
#include "broker/broker-impl.h"
#include "credential/credential.h"

/*
 * The process of one credential of a session.  It alone has the value for longer than a call, and a program that prints a token
 * delays nothing but the calls that need this token.
 *
 * 1. MUST record a use, synced, before it sends the value.
 * 2. MUST look at the store for each request: a credential that was removed or replaced is not used.
 * 3. MUST NOT execute anything for a request that waited for an execution that failed: it shares the failure.
 */
#define SEEN_MAX 8

struct holder {
	const struct broker_job *job;
	const char *name;
	int link, records;
	struct ledger *ledger;
	struct credential *credential; /* NULL: none yet */
	struct redact rules;
	struct redact_secret secrets[SEEN_MAX];
	uint64_t failed_ns; /* the end of the last failure; 0: none */
	struct fault failure;
};

static int leave_broker(struct holder *h)
{
	int link = fcntl(h->link, F_DUPFD_CLOEXEC, 16), records = fcntl(h->records, F_DUPFD_CLOEXEC, 16);

	if (link < 0 || records < 0 || dup3(link, 3, O_CLOEXEC) < 0 || dup3(records, 4, O_CLOEXEC) < 0 ||
	    close_range(5, ~0U, 0) < 0)
		return -errno;
	h->link = 3;
	h->records = 4;
	(void)prctl(PR_SET_NAME, "custody-secret");
	process_forbid_core();
	return prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : 0;
}

/* 1; 0: the broker has ended. */
static int receive(const struct holder *h, struct broker_credential_request *q, int *ret_end)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io = { q, sizeof(*q) };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(h->link, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == (ssize_t)sizeof(*q) ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(ret_end, CMSG_DATA(c), sizeof(int));
	return 1;
}

/* The call has ended while its request was waiting. */
static bool is_abandoned(int end)
{
	struct pollfd p = { .fd = end };

	return poll(&p, 1, 0) > 0;
}

static void copy_record(void *arg, const struct ledger_event *e)
{
	const struct holder *h = arg;
	_cleanup_jdoc_ struct jdoc *d = jdoc_copy(e->d);

	redact_document(d, NULL, &h->rules);
	if (d && !d->broken)
		broker_record_send(h->records, e->kind, e->status ? e->status : "ok", TAKE_PTR(d));
}

static bool is_same(const struct credential_info *a, const struct credential_info *b)
{
	return a->kind == b->kind && a->created_us == b->created_us && str_eq(a->source, b->source);
}

/* The records of this process are searched for the values that it has. */
static void know_value(struct holder *h)
{
	h->rules = h->job->run->redact ? *h->job->run->redact : (struct redact){ 0 };
	h->rules.n_secrets = 0;
	if (h->credential)
		credential_redact(h->credential, h->secrets, SEEN_MAX, &h->rules);
	if (h->ledger)
		ledger_set_redact(h->ledger, &h->rules);
}

/* The values are gone with it, from the redactor as well. */
static void forget(struct holder *h)
{
	credential_free(h->credential);
	h->credential = NULL;
	know_value(h);
}

/* What the store has now; the token of a program that is still the same is kept. */
static int look_up(struct holder *h, const char *host, struct fault *f)
{
	_cleanup_credential_ struct credential *now = NULL;
	int r = credential_open(&(struct dirs){ .lane = h->job->dirs->lane, .state = h->job->dirs->state },
				h->name, host, &now, f);

	if (r < 0) {
		/* Nor is its old value kept. */
		forget(h);
		return r;
	}
	if (h->credential && is_same(credential_info(h->credential), credential_info(now)))
		return 0;
	forget(h);
	h->credential = TAKE_PTR(now);
	return 0;
}

static int open_ledger(struct holder *h, struct fault *f)
{
	return h->ledger ? 0 : ledger_open(h->job->dirs->state, NULL, &h->ledger, NULL, f);
}

static int load(struct holder *h, const struct broker_credential_request *q, const struct secret **ret,
		struct fault *f)
{
	int r;

	if (h->failed_ns && q->asked_ns <= h->failed_ns)
		return fault_set(f, h->failure.code, "%s", fault_text(&h->failure));
	r = look_up(h, q->host[0] ? q->host : NULL, f);
	if (r < 0)
		return r;
	r = credential_value(h->credential, ret, f);
	know_value(h);
	fault_done(&h->failure);
	h->failed_ns = r < 0 ? clock_boot_ns() : 0;
	if (r < 0)
		(void)fault_set(&h->failure, -r, "%s", fault_text(f));
	return r;
}

/* The reader may have stopped: no other call waits for it. */
static int send_value(int end, const struct secret *value, struct fault *f)
{
	if (send(end, secret_bytes(value), secret_len(value), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	    (ssize_t)secret_len(value))
		return 0;
	return fault_errno(f, errno, "send it");
}

static void answer(struct holder *h, const struct broker_credential_request *q, int end)
{
	const struct ledger_run *run = h->job->run;
	const struct credential_use use = { .session = run->session,
					    .agent = run->agent,
					    .worker = run->worker,
					    .to = q->to[0] ? q->to : NULL,
					    .tool = q->tool,
					    .copy = copy_record,
					    .copy_arg = h };
	_cleanup_fault_ struct fault f = { 0 };
	const struct secret *value;
	int r = open_ledger(h, &f);

	if (r == 0)
		r = load(h, q, &value, &f);
	/* Nothing is used for a call that ended meanwhile. */
	if (r == 0 && is_abandoned(end))
		return;
	if (r == 0)
		r = credential_record_use(h->credential, h->ledger, &use, &f);
	if (r == 0)
		r = send_value(end, value, &f);
	/* The end of the descriptor is the refusal; if this record fails, nothing more can be done. */
	if (r < 0 && h->ledger)
		(void)!credential_record_refusal(h->name, h->ledger, &use, fault_text(&f), NULL);
}

void broker_credential_serve(const struct broker_job *job, const char *name, int link, int records)
{
	struct holder h = { .job = job, .name = name, .link = link, .records = records };
	struct broker_credential_request q;
	int end;

	if (leave_broker(&h) < 0)
		_exit(STATUS_FAILED);
	know_value(&h);
	while (receive(&h, &q, &end) > 0) {
		if (!is_abandoned(end))
			answer(&h, &q, end);
		(void)fd_close(end);
	}
	credential_free(h.credential);
	_exit(STATUS_OK);
}
