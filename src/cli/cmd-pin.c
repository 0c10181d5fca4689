/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "approval/approval-lane.h"
#include "approval/approval-obtain.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "tty/prompt.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/pin.h"

#define NEW_PIN_TRIES 3
#define PIN_RULES "A PIN has 6 to 64 digits, not all the same, not counting up or down."

/* PINs are read from a terminal, or from the lines of a descriptor; never from arguments or variables. */
struct pin_source {
	struct prompt tty;
	int fd; /* negative: the terminal */
};

static int read_fd(int fd, struct pin_text *ret, struct fault *f)
{
	size_t n = 0;

	/* Byte by byte: the bytes behind the line belong to the next PIN. */
	for (;;) {
		char c = 0;
		ssize_t got = read(fd, &c, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fault_errno(f, errno, "--pin-fd %d", fd);
		if (got == 0 && n == 0)
			return fault_set(
				f, ENODATA,
				"--pin-fd %d: missing line; it needs the old PIN, if one is set, and "
				"the new one",
				fd);
		if (got == 0 || c == '\n')
			break;
		if (n == sizeof(ret->digits) - 1)
			return fault_set(f, EMSGSIZE, "--pin-fd %d: the line is too long", fd);
		ret->digits[n++] = c;
	}
	ret->digits[n] = '\0';
	return 0;
}

static int read_pin(struct pin_source *s, const char *question, struct pin_text *ret, struct fault *f)
{
	if (s->fd >= 0)
		return read_fd(s->fd, ret, f);
	return prompt_ask(&s->tty, question, false, APPROVAL_PROMPT_SECONDS, ret->digits, sizeof(ret->digits),
			  f);
}

/* One try.  -EINVAL: the PIN breaks the rules, or the second one differs. */
static int read_new_once(struct pin_source *s, struct pin_text *ret, struct fault *f)
{
	_cleanup_pin_ struct pin_text again;
	int r;

	pin_text_init(&again);
	r = read_pin(s, "new PIN: ", ret, f);
	if (r == 0)
		r = pin_check(ret->digits, f);
	if (r == 0 && s->fd < 0)
		r = read_pin(s, "new PIN again: ", &again, f);
	if (r == 0 && s->fd < 0 && strcmp(ret->digits, again.digits) != 0)
		return fault_set(f, EINVAL, "the two PINs differ");
	return r;
}

/* At a terminal the rules are shown first, and a PIN that breaks them is asked for again. */
static int read_new(struct pin_source *s, struct pin_text *ret, struct fault *f)
{
	int r = s->fd < 0 ? prompt_show(&s->tty, PIN_RULES "\n", f) : 0;

	for (unsigned int left = NEW_PIN_TRIES; r == 0; left--) {
		_cleanup_fault_ struct fault why = { 0 };
		_cleanup_strbuf_ struct strbuf b = { 0 };

		r = read_new_once(s, ret, &why);
		if (r == 0)
			return 0;
		if ((r != -EINVAL && r != -EMSGSIZE) || s->fd >= 0 || left == 1)
			return fault_set(f, -r, "%s; nothing was changed", fault_text(&why));
		strbuf_printf(&b, "%s\n", fault_text(&why));
		r = prompt_show(&s->tty, b.text ? b.text : "", f);
	}
	return r;
}

static int report(const struct approval_lane *d, const struct approver *a, const struct pin_answer *answer,
		  bool new_key, struct fault *f)
{
	if (answer->result == PIN_LOCKED || (answer->result != PIN_RIGHT && answer->wait_s > 0))
		return fault_set(f, EACCES,
				 "the PIN is locked for %llu seconds: wait, or run: custody pin set --reset",
				 (unsigned long long)answer->wait_s);
	if (answer->result != PIN_RIGHT) {
		fprintf(stderr, PACKAGE_NAME " pin set: wrong PIN, %u %s left; nothing was changed\n",
			answer->tries_left, answer->tries_left == 1 ? "try" : "tries");
		return STATUS_NO;
	}
	printf("the PIN of %s is set\n", a->name);
	if (new_key && d->rules.configured)
		fprintf(stderr,
			"its key is new: add the output of 'custody key show %s' to `approvers` in "
			"custody.json "
			"to activate it\n",
			a->name);
	return STATUS_OK;
}

static int set(struct command_call *c, const struct approval_lane *d, struct pin_source *s, struct fault *f)
{
	_cleanup_pin_ struct pin_text old, new;
	struct pin_answer answer = { 0 };
	struct approver a;
	bool has;
	int r = approver_own(&d->store, c->args[0], c->dirs.user, &a, f);

	pin_text_init(&old);
	pin_text_init(&new);
	if (r < 0)
		return r;
	has = a.has_pin_secret && !c->reset;
	if (has)
		r = read_pin(s, "old PIN: ", &old, f);
	if (r == 0)
		r = read_new(s, &new, f);
	prompt_close(&s->tty);
	if (r == 0)
		r = pin_set(&d->store, a.name, has ? old.digits : NULL, new.digits, &answer, &a, f);
	if (r < 0)
		return r;
	if (!has)
		answer.result = PIN_RIGHT;
	return report(d, &a, &answer, !has, f);
}

int cmd_pin_set(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_pin_protect_ struct pin_protect shield = { 0 };
	struct pin_source s = { .tty = PROMPT_NONE, .fd = c->pin_fd };
	int r;

	pin_protect_begin(&shield);
	r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);
	if (r == 0 && s.fd < 0) {
		r = prompt_open(&s.tty, f);
		if (r < 0)
			r = fault_wrap(f, r, "a PIN is read from a terminal, or from --pin-fd");
	}
	if (r == 0)
		r = set(c, &d, &s, f);
	if (r == -ECANCELED && s.tty.signal)
		r = STATUS_SIGNAL_BASE + s.tty.signal;
	prompt_close(&s.tty);
	return r;
}
