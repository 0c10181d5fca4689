/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-prompt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "approval/approval-text.h"
#include "approval/approval-obtain.h"
#include "approval/approval-card.h"
#include "approval/prompt-rate.h"
#include "tty/prompt.h"
#include "approval/pin.h"
#include "subject/subject-digest.h"

void approval_prompt_result_done(struct approval_prompt_result *r)
{
	free(r->text);
	grant_done(&r->grant);
	*r = (struct approval_prompt_result){ 0 };
}

/* Of the signature. */
static char level_of(const struct approval_prompt *p)
{
	return p->terms.always ? 'C' : p->request->level;
}

static int say(struct approval_prompt_result *ret, enum approval_prompt_answer answer, struct fault *f,
	       const char *fmt, ...) _printf_(4, 5);

static int say(struct approval_prompt_result *ret, enum approval_prompt_answer answer, struct fault *f,
	       const char *fmt, ...)
{
	va_list ap;
	int n;

	free(ret->text);
	ret->answer = answer;
	va_start(ap, fmt);
	n = vasprintf(&ret->text, fmt, ap);
	va_end(ap);
	if (n < 0)
		ret->text = NULL;
	return n < 0 ? fault_errno(f, ENOMEM, "approval") : 0;
}

int approval_prompt_card(const struct approval_store *d, const struct request *rq,
			 const struct grant_terms *terms, int fd, bool full, struct strbuf *out,
			 struct fault *f)
{
	_cleanup_card_ struct card c = { 0 };
	_cleanup_jdoc_ struct jdoc *last = NULL;
	struct card_style style = card_style_of(fd);
	char digest[SUBJECT_DIGEST_SIZE];
	struct approval_card_facts k = {
		.digest = digest,
		.lane = rq->lane,
		.level = rq->level,
		.command = rq->command,
		.agent = rq->agent,
		.askers = rq->askers,
		.count = rq->count,
		.subject = rq->subject,
		.verdict = rq->verdict,
		.denied_by = rq->state == REQUEST_DENIED ? rq->denied_by ?: "?" : NULL,
		.denied_reason = rq->denied_reason,
		.approvals = (unsigned int)strv_len(rq->approvals),
		.needed = d->rules && d->rules->min_approvals ? d->rules->min_approvals : 1,
		.uses = terms ? (terms->uses ? terms->uses : 1) : 0,
		.for_s = terms ? grant_terms_time(terms) : 0,
		.standing = terms && terms->always ? rq->standing : NULL,
	};

	subject_digest_to_text(&rq->digest, digest);
	if (terms && terms->fleet && grant_find_fleet(d->rules, terms->fleet)) {
		k.fleet = terms->fleet;
		k.fleet_size = strv_len(grant_find_fleet(d->rules, terms->fleet)->ledgers);
	}
	/* The previous approval is only a help for the reader: errors are ignored. */
	if (rq->alike && request_last_approved(d, rq->alike, &last, NULL) == 0)
		k.last = last;
	approval_card_describe(&c, &k);
	style.full = full;
	style.how_to_see = "answer v to see all of it";
	return card_draw(&c, &style, out, f);
}

/* The caller's own approver.  None, or more than one, is a result like a missing terminal. */
static int find_approver(const struct approval_prompt *p, struct approver *ret_by,
			 struct approval_prompt_result *ret, bool *ret_able, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = approver_own(p->store, p->as, p->user, ret_by, &why);

	*ret_able = r == 0;
	if (r == -ENOENT || r == -ENOKEY || r == -EINVAL)
		return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f, "%s", fault_text(&why));
	if (r < 0)
		return fault_set(f, -r, "%s", fault_text(&why));
	memcpy(ret->by, ret_by->name, sizeof(ret->by));
	return 0;
}

/* Would a yes of this person count?  Checked before the card is shown. */
static int require_able(const struct approval_prompt *p, const struct approver *by,
			struct approval_prompt_result *ret, bool *ret_able, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct pin_answer pin;
	int r;

	*ret_able = false;
	if (!by->counts)
		return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
			   "'%s' is not an approver of lane '%s': see `approvers` in custody.json", by->name,
			   p->store->lane);
	if (level_of(p) != 'C') {
		*ret_able = true;
		return 0;
	}
	if (p->alone)
		return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
			   "%s needs an approver with a PIN at a terminal; --yes does not answer it",
			   p->terms.always ? "a standing approval" : "level C");
	r = pin_status(p->store, by->name, &pin, f);
	if (r < 0)
		return r;
	if (pin.result == PIN_UNSET) {
		approval_text_put_command(&b, p->store, "pin set", by->name);
		return b.broken ? fault_errno(f, ENOMEM, "approval")
				: say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
				      "level C needs a PIN, but '%s' has none; to set one: %s", by->name,
				      b.text);
	}
	if (pin.result == PIN_LOCKED)
		return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
			   "the PIN of '%s' is locked for %llu more seconds after too many wrong entries",
			   by->name, (unsigned long long)pin.wait_s);
	*ret_able = true;
	return 0;
}

/* 1: a line was read; 0: the question ended without one, and RET has the reason. */
static int ask_line(struct prompt *tty, const char *question, bool echo, char *line, size_t size,
		    struct approval_prompt_result *ret, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = prompt_ask(tty, question, echo, APPROVAL_PROMPT_SECONDS, line, size, &why);

	if (r == 0)
		return 1;
	if (r != -ECANCELED && r != -ETIMEDOUT && r != -EMSGSIZE)
		return fault_set(f, -r, "%s", fault_text(&why));
	ret->signal = tty->signal;
	(void)!prompt_show(tty, "\n", NULL);
	return say(ret, APPROVAL_PROMPT_NO_ANSWER, f, "%s", fault_text(&why));
}

static int show_card(const struct approval_prompt *p, struct prompt *tty, bool full, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const struct card_style style = card_style_of(tty->fd);
	int r;

	/* Reset the terminal: default character set and attributes, at the start of a line. */
	strbuf_puts(&b, style.color ? "\r\033[0m\017\n" : "\n");
	strbuf_puts(&b, PACKAGE_NAME ": may this run?\n");
	r = approval_prompt_card(p->store, p->request, &p->terms, tty->fd, full, &b, f);
	if (r == 0 && b.broken)
		return fault_errno(f, ENOMEM, "card");
	return r < 0 ? r : prompt_show(tty, b.text, f);
}

static bool is_yes(const char *line)
{
	return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}

static int ask_yes(const struct approval_prompt *p, struct prompt *tty, struct approval_prompt_result *ret,
		   bool *ret_yes, struct fault *f)
{
	char line[64];
	bool full = false;
	int r;

	do {
		r = show_card(p, tty, full, f);
		if (r < 0)
			return r;
		r = ask_line(tty, full ? "Approve? [y/N] " : "Approve? [y/N/v] ", true, line, sizeof(line),
			     ret, f);
		if (r <= 0)
			return r;
		full = !full && strcasecmp(line, "v") == 0;
	} while (full);
	*ret_yes = is_yes(line);
	if (!*ret_yes)
		ret->answer = APPROVAL_PROMPT_NO;
	return 0;
}

/* Until the PIN is right, locked, or not given. */
static int ask_pin(const struct approval_prompt *p, const struct approver *by, struct prompt *tty,
		   struct approval_prompt_result *ret, struct sign_secret *ret_key, bool *ret_right,
		   struct fault *f)
{
	for (;;) {
		_cleanup_pin_ struct pin_text pin;
		_cleanup_strbuf_ struct strbuf b = { 0 };
		struct pin_answer answer;
		int r;

		pin_text_init(&pin);
		strbuf_printf(&b, "PIN of %s: ", by->name);
		if (b.broken)
			return fault_errno(f, ENOMEM, "PIN");
		r = ask_line(tty, b.text, false, pin.digits, sizeof(pin.digits), ret, f);
		if (r <= 0)
			return r;
		if (!pin.digits[0])
			return say(ret, APPROVAL_PROMPT_NO_ANSWER, f, "no PIN entered");
		r = pin_try(p->store, by->name, pin.digits, &answer, ret_key, f);
		if (r < 0)
			return r;
		if (answer.result == PIN_RIGHT) {
			*ret_right = true;
			return 0;
		}
		if (answer.result != PIN_WRONG || answer.wait_s > 0)
			return say(ret, APPROVAL_PROMPT_NO_ANSWER, f,
				   "wrong PIN; '%s' is locked for %llu seconds", by->name,
				   (unsigned long long)answer.wait_s);
		strbuf_done(&b);
		strbuf_printf(&b, "wrong PIN, %u %s left\n", answer.tries_left,
			      answer.tries_left == 1 ? "try" : "tries");
		r = b.broken ? fault_errno(f, ENOMEM, "PIN") : prompt_show(tty, b.text, f);
		if (r < 0)
			return r;
	}
}

static int unlock(const struct approval_prompt *p, const struct approver *by, struct prompt *tty,
		  struct approval_prompt_result *ret, struct sign_secret *ret_key, bool *ret_unlocked,
		  struct fault *f)
{
	int r;

	if (level_of(p) == 'C') {
		_cleanup_pin_protect_ struct pin_protect s = { 0 };

		pin_protect_begin(&s);
		return ask_pin(p, by, tty, ret, ret_key, ret_unlocked, f);
	}
	r = approver_unlock(p->store, by->name, ret_key, f);
	*ret_unlocked = r == 0;
	return r;
}

static int sign(const struct approval_prompt *p, const struct approver *by, const struct sign_secret *key,
		struct approval_prompt_result *ret, struct fault *f)
{
	struct grant_terms terms = p->terms;
	int r;

	terms.level = level_of(p);
	r = grant_sign(p->store, p->request, by, key, &terms, &ret->grant, &ret->complete, f);
	if (r == 0)
		ret->answer = APPROVAL_PROMPT_YES;
	return r;
}

/* TTY is not open for a B that was answered on the command line. */
static int decide(const struct approval_prompt *p, const struct approver *by, struct prompt *tty,
		  struct approval_prompt_result *ret, struct fault *f)
{
	_cleanup_sign_ struct sign_secret key = { 0 };
	bool yes = p->yes && level_of(p) != 'C', unlocked = false;
	int r = 0;

	if (!yes)
		r = ask_yes(p, tty, ret, &yes, f);
	if (r < 0 || !yes)
		return r;
	r = unlock(p, by, tty, ret, &key, &unlocked, f);
	/* The terminal is restored before slow writes. */
	prompt_close(tty);
	if (r < 0 || !unlocked)
		return r;
	return sign(p, by, &key, ret, f);
}

/* Can any counting approver approve level C? */
static int has_pin(const struct approval_store *d, bool *ret, struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	int r = approver_list(d, &l, f);

	if (r < 0)
		return r;
	*ret = false;
	for (size_t i = 0; i < l.n; i++)
		*ret |= l.items[i].counts && l.items[i].has_pin_key;
	return 0;
}

/* No terminal.  If no approver of level C exists, that is reported as well. */
static int say_unseen(const struct approval_prompt *p, const char *why, struct approval_prompt_result *ret,
		      struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	bool pin = true;
	int r = level_of(p) == 'C' ? has_pin(p->store, &pin, f) : 0;

	if (r < 0)
		return r;
	ret->unseen = true;
	if (pin)
		return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f, "%s", why);
	approval_text_put_command(&b, p->store, "pin set", NULL);
	return b.broken ? fault_errno(f, ENOMEM, "approval")
			: say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
			      "%s, and level C needs a PIN, but no approver has one; to set one: %s", why,
			      b.text);
}

/* An unavailable prompt is a result, not a failure. */
static int open_terminal(const struct approval_prompt *p, struct prompt *tty,
			 struct approval_prompt_result *ret, bool *ret_able, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = p->alone ? 0 : prompt_open(tty, &why);

	*ret_able = r == 0;
	if (r == -ENXIO || r == -EBUSY)
		return say_unseen(p, fault_text(&why), ret, f);
	return r < 0 ? fault_set(f, -r, "%s", fault_text(&why)) : 0;
}

static int require_rate(const struct approval_prompt *p, struct approval_prompt_result *ret, bool *ret_able,
			struct fault *f)
{
	int r;

	if (p->rate == 0 || (p->yes && level_of(p) != 'C'))
		return 0;
	r = prompt_rate_take(p->store, PROMPT_RATE_CARDS, p->rate, ret_able, f);
	if (r < 0 || *ret_able)
		return r;
	return say(ret, APPROVAL_PROMPT_UNAVAILABLE, f,
		   "prompt limit reached (prompt_rate per minute): not asked");
}

int approval_prompt_ask(const struct approval_prompt *p, struct approval_prompt_result *ret, struct fault *f)
{
	_cleanup_prompt_ struct prompt tty = PROMPT_NONE;
	_cleanup_approval_prompt_result_ struct approval_prompt_result got = { 0 };
	struct approver by;
	bool able;
	/* First of all: a key is created only for a person at a terminal, never for a program. */
	int r = open_terminal(p, &tty, &got, &able, f);

	if (r == 0 && able)
		r = find_approver(p, &by, &got, &able, f);
	if (r == 0 && able)
		r = require_able(p, &by, &got, &able, f);
	if (r == 0 && able)
		r = require_rate(p, &got, &able, f);
	if (r == 0 && able)
		r = decide(p, &by, &tty, &got, f);
	if (r < 0)
		return r;
	*ret = got;
	got = (struct approval_prompt_result){ 0 };
	return 0;
}
