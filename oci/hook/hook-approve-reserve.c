/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "approval/request-notice.h"

#define COMMAND_MAX 200 /* bytes, roughly */

/* For lists; the card is drawn from the subject. */
static int put_command(const struct subject *s, const struct redact *redact, struct strbuf *out,
		       struct fault *f)
{
	_cleanup_strv_ char **safe = redact_argv(s->argv, redact);

	for (char **word = safe; word && *word && out->len < COMMAND_MAX; word++) {
		_cleanup_free_ char *plain = str_escape(*word);

		strbuf_printf(out, "%s%.*s", out->len ? " " : "", COMMAND_MAX, plain ? plain : "?");
	}
	return safe && !out->broken ? 0 : fault_errno(f, ENOMEM, "approve");
}

static int file_request(const struct approve *a, struct request *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf command = { 0 }, alike = { 0 };
	struct request_ask q = { .digest = &a->bundle.digest,
				 .level = a->verdict->level,
				 .profile = a->bundle.subject->profile->name,
				 .subject = a->bundle.document,
				 .verdict = a->told,
				 .uid = geteuid(),
				 .user = a->dirs.user };
	int r;

	r = put_command(a->bundle.subject, &a->redact, &command, f);
	request_put_alike(a->bundle.document, &alike);
	if (r >= 0 && alike.broken)
		r = fault_errno(f, ENOMEM, "approve");
	if (r < 0)
		return r;
	q.command = command.text;
	q.alike = alike.text;
	return request_file(&a->approval.store, &q, ret, f);
}

/* Nobody said yes: a person can now. */
static int ask(const struct approve *a, struct fault *f)
{
	_cleanup_free_ char *why = grant_set_explain(&a->grants);
	_cleanup_request_ struct request filed = { 0 };
	const char *root = getenv("CUSTODY_ROOT");
	int r;

	r = file_request(a, &filed, f);
	if (r < 0)
		return r;
	if (filed.state == REQUEST_DENIED)
		return fault_set(
			f, EACCES, "denied by %s%s%s", filed.denied_by ? filed.denied_by : "a person",
			filed.denied_reason ? ": " : "", filed.denied_reason ? filed.denied_reason : "");
	request_notify(&a->approval.store, &filed, a->config->on_request,
		       (unsigned int)a->config->prompt_rate);
	return fault_set(
		f, EACCES,
		"level %c needs approval (%s): %s%s%scustody approve %s --lane %s, then start it again",
		a->verdict->level, why ? why : "nothing was approved", root ? "CUSTODY_ROOT=" : "",
		root ? root : "", root ? " " : "", filed.id, lane_name(a->terms.lane));
}

static int reserve(struct approve *a, struct fault *f)
{
	const struct grant_query q = { .digest = &a->bundle.digest,
				       .level = a->verdict->level,
				       .uid = geteuid(),
				       .user = a->dirs.user };
	const struct grant_owner owner = { .session = a->id, .pid = a->warden.pid };
	int r;

	r = grant_reserve(&a->approval.store, &q, &owner, &a->grants, f);
	if (r < 0)
		return r;
	if (a->grants.reason != GRANT_VALID)
		return ask(a, f);
	a->reserved = a->run.approval.granted = true;
	if (a->grants.n_chosen > 0) {
		a->run.approval.by = a->grants.items[0].grant.approver;
		a->run.approval.granted_at_us = a->grants.items[0].grant.decided.wall_us;
	}
	return 0;
}

/* Nobody is asked, and nothing is reserved for a process that must be there. */
static int pass(struct approve *a)
{
	a->run.approval.granted = true;
	a->run.approval.granted_at_us = clock_wall_us();
	a->run.approval.by = "policy";
	return 0;
}

int approve_reserve(struct approve *a, struct fault *f)
{
	int r;

	if (a->verdict->level == 'A')
		return pass(a);
	a->refusal = "setup-failed";
	r = hook_warden_require(&a->warden, f);
	if (r >= 0)
		r = approval_lane_open(&a->dirs, a->config, a->ledger, &a->approval, f);
	if (r < 0)
		return r;
	a->refusal = "approval";
	r = approval_lane_tighten(&a->approval, a->terms.governance, a->bundle.subject->profile->name, f);
	return r < 0 ? r : reserve(a, f);
}
