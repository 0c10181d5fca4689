/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-obtain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "approval/approval-obtain-impl.h"
#include "approval/approval-prompt.h"
#include "approval/approval-text.h"
#include "tty/card.h"
#include "approval/prompt-rate.h"
#include "approval/request-notice.h"

#define COMMAND_MAX 4096

void approval_done(struct approval *a)
{
	grant_set_done(&a->grants);
	free(a->text);
	*a = (struct approval){ 0 };
}

int approval_reserve(const struct approval_ask *ask, struct approval *ret, struct fault *f)
{
	const struct grant_query q = {
		.digest = ask->digest, .level = ask->level, .uid = getuid(), .user = ask->user
	};
	const struct grant_owner owner = { .session = ask->session };
	int r;

	grant_set_done(&ret->grants);
	r = grant_reserve(ask->store, &q, &owner, &ret->grants, f);
	if (r == 0 && ret->grants.reason != GRANT_VALID && ask->standing_query) {
		_cleanup_grants_ struct grant_set s = { 0 };

		r = grant_reserve(ask->store, ask->standing_query, &owner, &s, f);
		ret->standing = r == 0 && s.reason == GRANT_VALID;
		if (ret->standing) {
			grant_set_done(&ret->grants);
			ret->grants = s;
			s = (struct grant_set){ 0 };
		}
	}
	if (r == 0 && ret->grants.reason == GRANT_VALID)
		ret->state = APPROVAL_GRANTED;
	return r;
}

static int import_files(const struct approval_ask *ask, struct fault *f)
{
	for (size_t i = 0; ask->grants && ask->grants[i]; i++) {
		_cleanup_grant_ struct grant g = { 0 };
		enum grant_reason why = GRANT_UNDECIDED;
		int r = grant_import(ask->store, ask->grants[i], ask->digest, &g, &why, f);

		if (r < 0)
			return fault_wrap(f, r, "--grant '%s'", ask->grants[i]);
		if (why != GRANT_VALID && why != GRANT_CONSUMED && why != GRANT_RESERVED)
			return fault_set(f, EACCES, "--grant '%s' does not count: %s", ask->grants[i],
					 grant_reason_text(why));
	}
	return 0;
}

/* For lists and notices; the card is drawn from the subject. */
static int put_command(const struct approval_ask *ask, struct strbuf *b, struct fault *f)
{
	const struct jdoc *argv = jdoc_get(ask->subject, "argv");
	_cleanup_strv_ char **words = NULL, **safe = NULL;
	_cleanup_strbuf_ struct strbuf all = { 0 };
	size_t shown = COMMAND_MAX;
	struct redact rules;

	for (size_t i = 0; argv && argv->type == JDOC_ARRAY && i < argv->n_items; i++)
		if (strv_append(&words, argv->items[i]->type == JDOC_STRING ? argv->items[i]->string : "?") <
		    0)
			return fault_errno(f, ENOMEM, "approval");
	rules = ask->redact ? *ask->redact : (struct redact){ 0 };
	rules.marked = true;
	safe = words ? redact_argv(words, &rules) : NULL;
	card_put_words(&all, safe);
	if (all.broken || (words && !safe))
		return fault_errno(f, ENOMEM, "approval");
	if (all.len <= COMMAND_MAX) {
		strbuf_add(b, all.text ? all.text : "", all.len);
	} else {
		while (((unsigned char)all.text[shown] & 0xc0) == 0x80)
			shown--;
		strbuf_add(b, all.text, shown);
		strbuf_printf(b, " [and %zu more bytes]", all.len - shown);
	}
	return b->broken ? fault_errno(f, ENOMEM, "approval") : 0;
}

int approval_file(const struct approval_ask *ask, struct request *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf alike = { 0 }, command = { 0 };
	struct request_ask rq = {
		.digest = ask->digest,
		.level = ask->level,
		.agent = ask->agent,
		.worker = ask->worker,
		.profile = jdoc_get_string(jdoc_get(ask->subject, "profile"), "name"),
		.subject = ask->subject,
		.verdict = ask->verdict,
		.standing = ask->standing,
		.uid = getuid(),
		.user = ask->user,
	};
	int r;

	request_put_alike(ask->subject, &alike);
	if (alike.broken)
		return fault_errno(f, ENOMEM, "approval");
	r = put_command(ask, &command, f);
	if (r < 0)
		return r;
	rq.alike = alike.text;
	rq.command = command.text ? command.text : "";
	return request_file(ask->store, &rq, ret, f);
}

/* The result and how to continue: what, why, and the command. */
static int say(struct approval *ret, const struct approval_ask *ask, const char *why, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *shown = str_escape(why), *note = ask->note ? str_escape(ask->note) : NULL;

	strbuf_printf(&b, "approval required (level %c): %s%s; request %s is pending; to review and decide: ",
		      ask->level, shown ? shown : "?", note ? note : "", ret->request);
	approval_text_put_command(&b, ask->store, "approve", ret->request);
	free(ret->text);
	ret->text = strbuf_take(&b);
	return ret->text ? 0 : fault_errno(f, ENOMEM, "approval");
}

int approval_set_denied(const struct approval_ask *ask, const struct request *rq, struct approval *ret,
			struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *by = str_escape(rq->denied_by ? rq->denied_by : "?");
	_cleanup_free_ char *why = str_escape(rq->denied_reason ? rq->denied_reason : "");

	if (!by || !why)
		return fault_errno(f, ENOMEM, "approval");
	ret->state = APPROVAL_DENIED;
	strbuf_printf(&b, "denied by %s%s%s; to approve it anyway: ", by, *why ? ": " : "", why);
	approval_text_put_command(&b, ask->store, "approve", rq->id);
	free(ret->text);
	ret->text = strbuf_take(&b);
	return ret->text ? 0 : fault_errno(f, ENOMEM, "approval");
}

/* A No at the card is recorded like any other decision. */
static int deny(const struct approval_ask *ask, const struct request *rq, const char *by,
		struct approval *ret, struct fault *f)
{
	int r = rq->state == REQUEST_DENIED ? 0 : request_deny(ask->store, rq->id, by, NULL, f);

	if (r < 0)
		return r;
	ret->state = APPROVAL_DENIED;
	free(ret->text);
	ret->text = strdup("denied at the terminal");
	return ret->text ? 0 : fault_errno(f, ENOMEM, "approval");
}

/* RET_WHY (heap): why the request is still open. */
static int ask_here(const struct approval_ask *ask, const struct request *rq, struct approval *ret,
		    char **ret_why, struct fault *f)
{
	const struct approval_prompt p = {
		.store = ask->store,
		.request = rq,
		.user = ask->user,
		.yes = ask->yes && ask->level == 'B',
		.rate = ask->prompt_rate ? ask->prompt_rate : PROMPT_RATE_USUAL,
	};
	const bool may = ask->store->rules && ask->store->rules->allow_self;
	_cleanup_approval_prompt_result_ struct approval_prompt_result answer = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	int r = 0;

	/* Do not ask for an answer that could not count. */
	if (may)
		r = approval_prompt_ask(&p, &answer, &why);
	/* Another approver answered while the card was shown: that answer counts. */
	if (r == -ENOENT && approval_reserve(ask, ret, NULL) == 0 && ret->state == APPROVAL_GRANTED)
		return 0;
	if (r < 0)
		return fault_set(f, -r, "%s", fault_text(&why));
	ret->signal = answer.signal;
	if (answer.answer == APPROVAL_PROMPT_NO)
		return deny(ask, rq, answer.by, ret, f);
	if (answer.answer == APPROVAL_PROMPT_YES) {
		r = approval_reserve(ask, ret, f);
		if (r < 0 || ret->state == APPROVAL_GRANTED)
			return r;
		*ret_why = grant_set_explain(&ret->grants);
	} else {
		*ret_why = strdup(!may ? "the requester may not approve (allow_self): another approver must"
				  : answer.text ? answer.text
						: "no answer");
	}
	return *ret_why ? 0 : fault_errno(f, ENOMEM, "approval");
}

static int ask_somebody(const struct approval_ask *ask, struct approval *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_free_ char *why = NULL;
	int r = approval_file(ask, &rq, f);

	if (r < 0)
		return r;
	memcpy(ret->request, rq.id, sizeof(ret->request));
	r = ask_here(ask, &rq, ret, &why, f);
	if (r < 0 || ret->state != APPROVAL_PENDING)
		return r;
	if (rq.state == REQUEST_DENIED)
		return approval_set_denied(ask, &rq, ret, f);
	r = say(ret, ask, why, f);
	if (r < 0 || ret->signal)
		return r;
	request_notify(ask->store, &rq, ask->on_request, ask->prompt_rate);
	return ask->wait ? approval_wait(ask, ret, f) : 0;
}

int approval_obtain(const struct approval_ask *ask, struct approval *ret, struct fault *f)
{
	_cleanup_approval_ struct approval a = { 0 };
	int r;

	if (ask->level == 'A') {
		*ret = (struct approval){ .state = APPROVAL_GRANTED };
		return 0;
	}
	if (ask->level != 'B' && ask->level != 'C')
		return fault_set(f, EINVAL, "the verdict has no approval level");
	r = import_files(ask, f);
	if (r == 0)
		r = approval_reserve(ask, &a, f);
	if (r == 0 && a.state != APPROVAL_GRANTED)
		r = ask_somebody(ask, &a, f);
	if (r < 0)
		return r;
	*ret = a;
	a = (struct approval){ 0 };
	return 0;
}
