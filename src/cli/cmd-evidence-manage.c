/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin, unpin, rm, prune: each writes a record first; without it nothing changes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"
#include "cli/output.h"
#include "cli/cmd-evidence.h"
#include "cli/cmd-ledger.h"
#include "cli/delivery-print.h"
#include "evidence/evidence-prune.h"
#include "base/exit-status.h"
#include "ledger/ledger-action.h"
#include "ledger/ledger.h"

#define DELIVER_S 60

int evidence_cmd_pin(const struct evidence_call *c, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = evidence_locate(c, c->call->args[0], &name, NULL, f);
	int r;

	if (dir < 0)
		return dir;
	r = ledger_action_record(c->call->dirs.state, c->call->dirs.user, "evidence.pin", name,
				 c->call->reason, f);
	if (r == 0)
		r = evidence_pin(dir, c->call->reason, f);
	return r < 0 ? r : STATUS_OK;
}

int evidence_cmd_unpin(const struct evidence_call *c, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = evidence_locate(c, c->call->args[0], &name, NULL, f);
	int r;

	if (dir < 0)
		return dir;
	if (faccessat(dir, EVIDENCE_PIN, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
		fprintf(stderr, "evidence '%s' is not pinned\n", name);
		return STATUS_NO;
	}
	r = ledger_action_record(c->call->dirs.state, c->call->dirs.user, "evidence.unpin", name, NULL, f);
	if (r == 0)
		r = evidence_unpin(dir, f);
	return r < 0 ? r : STATUS_OK;
}

int evidence_cmd_rm(const struct evidence_call *c, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	const char *store;
	_cleanup_close_ int dir = evidence_locate(c, c->call->args[0], &name, &store, f);
	int r;

	if (dir < 0)
		return dir;
	if (!c->call->force && faccessat(dir, EVIDENCE_PIN, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		fprintf(stderr, "evidence '%s' is pinned: custody evidence unpin %s, or rm --force\n", name,
			name);
		return STATUS_NO;
	}
	r = ledger_action_record(c->call->dirs.state, c->call->dirs.user, "evidence.rm", name, NULL, f);
	if (r == 0)
		r = evidence_remove(store, name, f);
	return r < 0 ? r : STATUS_OK;
}

/* Prints lines, or collects items for --json. */
static void tell(void *arg, const struct evidence_item *e, const char *why)
{
	struct jdoc *row;

	if (!arg) {
		printf("%s  %s\n", e->name, why);
		return;
	}
	row = jdoc_append_object(arg);
	jdoc_set_string(row, "id", e->name);
	jdoc_set_string(row, "why", why);
	jdoc_set_int(row, "bytes", (int64_t)e->bytes);
}

int evidence_cmd_prune(const struct evidence_call *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	struct jdoc *gone = jdoc_set_array(o, "pruned");
	struct evidence_prune p = { .dirs = &c->call->dirs,
				    .config = c->call->config,
				    .store = c->place.staging,
				    .dry_run = c->call->dry_run,
				    .told = tell,
				    .arg = c->call->json ? gone : NULL };
	int r;

	process_ignore_sigpipe();
	r = evidence_prune(&p, f);
	if (r == 0)
		r = evidence_require_store(c, f);
	if (r == 0) {
		p.store = c->place.store;
		r = evidence_prune(&p, f);
	}

	if (r == 0 && c->call->json) {
		jdoc_set_int(o, "schema_version", 1);
		jdoc_set_bool(o, "dry_run", c->call->dry_run);
		r = output_print(o, f);
	}
	return r < 0 ? r : STATUS_OK;
}

static int print_report(const struct delivery_report *r, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();

	jdoc_set_int(o, "delivered", (int64_t)r->delivered);
	jdoc_set_int(o, "waiting", (int64_t)r->waiting);
	jdoc_set_bool(o, "busy", r->busy);
	jdoc_set(o, "error", r->error ? ledger_text(r->error) : jdoc_new_null());
	return evidence_print_json(o, f);
}

int evidence_cmd_deliver(const struct evidence_call *c, struct fault *f)
{
	_cleanup_delivery_report_ struct delivery_report report = { 0 };
	const uint64_t seconds = c->call->timeout_s ? c->call->timeout_s : DELIVER_S;
	int r;

	r = delivery_run(&(struct delivery_job){ .dirs = &c->call->dirs,
						 .config = c->call->config,
						 .silence_ms = (unsigned int)seconds * 1000,
						 .wait_ms = (unsigned int)seconds * 1000,
						 .local = c->call->local },
			 &report, f);
	if (r == 0 && c->call->json)
		r = print_report(&report, f);
	else if (r == 0)
		delivery_print(&report);
	return r < 0 ? r : report.waiting ? STATUS_NO : STATUS_OK;
}
