/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "layer/layer.h"
#include "ledger/ledger-audit.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer.h"
#include "state/sandbox-log.h"

#define REFUSED_LOG "log" /* name in the ledger */

/* One line in the log of the sandbox root, with what the ledger records. */
static int write_log(const struct run_ledger *r, const char *operation, const char *status, struct fault *f)
{
	const struct ledger_run *run = &r->decision->run;
	const struct sandbox_line l = { .agent = run->agent,
					.worker = run->worker,
					.operation = operation,
					.command = run->argv,
					.status = status,
					.redact = run->redact };
	int e;

	if (!r->root)
		return 0;
	e = sandbox_log_write(r->root->logs_fd, &l, f);
	return e < 0 ? fault_wrap(f, e, "log of sandbox root '%s' (%s/" SANDBOX_LOGS ")", r->root->name,
				  r->root->path)
		     : 0;
}

/* The ledger has the same record, so a failure is only logged. */
static void write_log_end(const struct run_ledger *r, const char *operation, const char *status)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (write_log(r, operation, status, &f) < 0)
		log_error("%s; the ledger has the record", fault_text(&f));
}

static void report_created(const struct decision *d)
{
	if (d->ledger_created)
		log_verbose("created the ledger in '%s'", d->dirs->state);
}

int run_ledger_open(struct run_ledger *r, struct fault *f)
{
	int e = decision_open(r->decision, f);

	report_created(r->decision);
	return e;
}

int run_ledger_intend(struct run_ledger *r, struct fault *f)
{
	struct decision *d = r->decision;
	int e;

	e = decision_intend(d, f);
	if (e < 0)
		return e;
	d->refused = REFUSED_LOG;
	e = write_log(r, d->run.action, "allowed", f);
	return e < 0 ? fault_wrap(f, e, "nothing was started (%s)", decision_remedy(e)) : 0;
}

int run_ledger_attach(struct run_ledger *r, struct session *s, struct fault *f)
{
	struct decision *d = r->decision;
	_cleanup_close_ int fd = -EBADF;
	int e;

	if (!s->has_state) {
		e = session_make_state(s, d->dirs, f);
		if (e < 0)
			return e;
	}
	fd = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", s->state);
	e = audit_open(fd, AUDIT_NAME, &r->audit, f);
	if (e < 0)
		return e;
	d->run.audit = r->audit;
	seam("chain-opened");
	return ledger_intent_audit(&d->run, f);
}

void run_ledger_push(const struct run_ledger *r)
{
	const struct decision *d = r->decision;
	_cleanup_free_ char *path = path_join(d->dirs->state, PEER_FILE);

	if (!path || access(path, F_OK) < 0)
		return;
	if (ledger_checkpoint(d->ledger, NULL, NULL, NULL) == 0)
		peer_kick(d->dirs->state);
}

int run_ledger_start(struct run_ledger *r, pid_t pid, const enum layer_state *layers, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		if (layers[l] != LAYER_STATE_NOT_ASKED &&
		    strv_appendf(&words, "%s=%s", layer_info(l)->name, layer_state_name(layers[l])) < 0)
			return fault_errno(f, ENOMEM, "layers");
	return decision_start(r->decision, pid, words, f);
}

void run_ledger_close(struct run_ledger *r, const struct run_result *res)
{
	const struct ledger_end end = run_result_end(res);

	ledger_end_audit(&r->decision->run, &end);
}

int run_ledger_end(struct run_ledger *r, const struct run_result *res, struct fault *f)
{
	const struct ledger_end end = run_result_end(res);
	char status[64];

	(void)snprintf(status, sizeof(status), "%s %d", end.reason, end.code);
	write_log_end(r, "end", status);
	return decision_end(r->decision, &end, f);
}

static void write_log_refused(const struct run_ledger *r)
{
	const struct decision *d = r->decision;
	char status[64];

	(void)snprintf(status, sizeof(status), "denied: %s", d->refused);
	if (d->started)
		write_log_end(r, "end", exit_reason_name(EXIT_REASON_LOST));
	else if (strcmp(d->refused, REFUSED_LOG) != 0)
		write_log_end(r, d->run.action, status);
}

void run_ledger_refuse(struct run_ledger *r, const char *text)
{
	_cleanup_fault_ struct fault f = { 0 };
	int e;

	if (!r->decision->refused)
		return;
	write_log_refused(r);
	e = decision_refuse(r->decision, text, &f);
	report_created(r->decision);
	if (e < 0)
		log_error("this refusal could not be recorded: %s (%s)", fault_text(&f), decision_remedy(e));
	else
		run_ledger_push(r);
}

void run_ledger_done(struct run_ledger *r)
{
	audit_free(r->audit);
	*r = (struct run_ledger){ 0 };
}
