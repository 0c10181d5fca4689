/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "approval/request-notice.h"
#include "base/str.h"
#include "subject/subject-diff.h"

#define COMMAND_MAX 200 /* bytes, approximately */
#define CHANGES_MAX 3	/* the card has all of them */

/* For lists; the approval card is drawn from the subject. */
static int put_command(const struct decision *d, const struct decision_question *q, struct strbuf *out,
		       struct fault *f)
{
	char *const *argv = q->subject ? q->subject->argv : q->argv;
	_cleanup_strv_ char **safe = redact_argv(argv, d->run.redact);

	for (char **word = safe; word && *word && out->len < COMMAND_MAX; word++) {
		_cleanup_free_ char *plain = str_escape(*word);

		strbuf_printf(out, "%s%.*s", out->len ? " " : "", COMMAND_MAX, plain ? plain : "?");
	}
	return safe && !out->broken ? 0 : fault_errno(f, ENOMEM, "request");
}

static int file_request(const struct decision *d, const struct decision_question *q, struct request *ret,
			struct fault *f)
{
	_cleanup_strbuf_ struct strbuf command = { 0 }, alike = { 0 };
	struct request_ask ask = { .digest = &d->digest,
				   .level = d->verdict->level,
				   .agent = d->run.agent,
				   .worker = d->run.worker,
				   .profile = d->run.profile,
				   .subject = q->document,
				   .verdict = d->verdict_document,
				   .uid = geteuid(),
				   .user = d->dirs->user };
	int r;

	r = put_command(d, q, &command, f);
	request_put_alike(q->document, &alike);
	if (r >= 0 && alike.broken)
		r = fault_errno(f, ENOMEM, "request");
	if (r < 0)
		return r;
	ask.command = command.text;
	ask.alike = alike.text;
	return request_file(&d->approval.store, &ask, ret, f);
}

/*
 * "; since the last approval: argv[2]: was 'a', is 'b'": an engine's user sees this line only.  It affects no decision: without a
 * last approval, or if it cannot be read, nothing is added.
 */
static void put_changes(const struct decision *d, const struct decision_question *q, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf alike = { 0 }, lines = { 0 };
	_cleanup_jdoc_ struct jdoc *last = NULL, *diff = NULL;

	request_put_alike(q->document, &alike);
	if (alike.broken || request_last_approved(&d->approval.store, alike.text, &last, NULL) < 0)
		return;
	diff = subject_diff(last, q->document);
	if (!diff || diff->n_items == 0 || subject_diff_print(diff, CHANGES_MAX, &lines, NULL) < 0)
		return;
	strbuf_puts(out, "; since the last approval: ");
	for (const char *p = lines.text; p && *p; p++)
		if (*p != '\n')
			strbuf_putc(out, *p);
		else if (p[1])
			strbuf_puts(out, "; ");
}

int decision_request(struct decision *d, const struct decision_question *q, struct fault *f)
{
	_cleanup_free_ char *why = grant_set_explain(&d->grants);
	_cleanup_strbuf_ struct strbuf changes = { 0 };
	_cleanup_request_ struct request filed = { 0 };
	const char *root = getenv("CUSTODY_ROOT");
	bool prod = d->dirs->lane == LANE_PROD;
	int r;

	r = file_request(d, q, &filed, f);
	if (r < 0)
		return r;
	if (filed.state == REQUEST_DENIED)
		return fault_set(
			f, EACCES, "denied by %s%s%s", filed.denied_by ? filed.denied_by : "an approver",
			filed.denied_reason ? ": " : "", filed.denied_reason ? filed.denied_reason : "");
	request_notify(&d->approval.store, &filed, d->config->on_request,
		       (unsigned int)d->config->prompt_rate);
	put_changes(d, q, &changes);
	return fault_set(
		f, EACCES,
		"level %c needs approval (%s%s): %s%s%s%scustody approve %s --lane %s%s, then start it again",
		d->verdict->level, why ? why : "nothing was approved",
		changes.text && !changes.broken ? changes.text : "", prod ? LANE_ALLOW_ENV "=1 " : "",
		root ? "CUSTODY_ROOT=" : "", root ? root : "", root ? " " : "", filed.id,
		lane_name(d->dirs->lane), prod ? " --allow-prod" : "");
}
