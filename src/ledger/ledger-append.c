/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"

#define CLOCK_BACK_US 1000000 /* smaller steps are normal for a time daemon */

/* Formats all BODIES into l->buf and advances NEXT. */
static int build(struct ledger *l, struct seal *next, const struct strbuf *bodies, size_t n, struct fault *f)
{
	struct record_front front = { .wall_us = l->wall_us(), .boot_ns = clock_boot_ns(), .boot = l->boot };
	size_t room = 0, len = 0;

	for (size_t i = 0; i < n; i++)
		room += bodies[i].len + RECORD_FRONT_MAX + RECORD_SEAL + RECORD_SUFFIX;
	if (room > l->room) {
		char *grown = realloc(l->buf, room);

		if (!grown)
			return fault_errno(f, ENOMEM, "ledger records");
		l->buf = grown;
		l->room = room;
	}
	for (size_t i = 0; i < n; i++) {
		front.seq = next->index;
		front.prev = next->head;
		next->last_len = record_write(l->buf + len, &front, bodies[i].text, bodies[i].len, &next->key,
					      &next->head);
		len += next->last_len;
		seal_evolve(&next->key, 1);
		next->index++;
	}
	next->offset += len;
	next->wall_us = front.wall_us;
	memcpy(next->boot, l->boot, sizeof(next->boot));
	l->len = len;
	return 0;
}

/* Under the lock, with a seal that fits.  S is advanced in memory and on disk. */
static int put_bodies(struct ledger *l, struct seal *s, const struct strbuf *bodies, size_t n,
		      struct fault *f)
{
	_cleanup_seal_ struct seal next = *s;
	int r;

	r = build(l, &next, bodies, n, f);
	if (r < 0)
		return r;
	r = fd_write_all(l->segfd, l->buf, l->len, f);
	if (r == 0)
		r = seal_write(l->sealfd, &next, f);
	if (r < 0) {
		/*
		 * A partial record must not stay; if truncation fails too, recovery finds it after the sealed
		 * end.
		 */
		(void)!ftruncate(l->segfd, (off_t)s->offset);
		return r;
	}
	*s = next;
	l->written_index = s->index;
	return 0;
}

int ledger_put_event(struct ledger *l, struct seal *s, const struct ledger_event *e, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf body = { 0 };
	int r = record_body(e, l->redact, &body, f);

	return r < 0 ? r : put_bodies(l, s, &body, 1, f);
}

static int note_clock(struct ledger *l, struct seal *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct ledger_event e = { .kind = "clock.back", .status = "noted", .verbatim = true };
	char was[CLOCK_TEXT_SIZE];
	uint64_t now = l->wall_us();

	if (now + CLOCK_BACK_US >= s->wall_us)
		return 0;
	clock_format(s->wall_us, was);
	d = jdoc_new_object();
	jdoc_set_int(d, "us", (int64_t)(s->wall_us - now));
	jdoc_set_string(d, "was", was);
	e.d = d;
	return ledger_put_event(l, s, &e, f);
}

static int put_locked(struct ledger *l, struct seal *s, const struct strbuf *bodies, size_t n,
		      struct fault *f)
{
	int r;

	r = seal_read(l->sealfd, s, f);
	if (r < 0)
		return r;
	r = ledger_ready(l, s, f);
	if (r == 0)
		r = note_clock(l, s, f);
	if (r == 0 && s->offset >= l->segment_max)
		r = segment_rotate(l, s, f);
	return r < 0 ? r : put_bodies(l, s, bodies, n, f);
}

static int append_bodies(struct ledger *l, const struct strbuf *bodies, size_t n, enum ledger_class class,
			 struct ledger_mark *ret, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	if (class == LEDGER_DECIDED) {
		r = ledger_make_reserve(l, f);
		if (r < 0)
			return r;
	}
	r = ledger_lock(l, LOCK_EX, f);
	if (r < 0)
		return r;
	r = put_locked(l, &s, bodies, n, f);
	if ((r == -ENOSPC || r == -EDQUOT) && class == LEDGER_CLOSING &&
	    unlinkat(l->dirfd, LEDGER_RESERVE, 0) == 0) {
		ledger_clear_fault(f);
		r = put_locked(l, &s, bodies, n, f);
	}
	ledger_unlock(l);
	if (r == -ENOSPC || r == -EDQUOT)
		return fault_wrap(f, r,
				  "the ledger's disk is full; no session starts without a record: free "
				  "space there");
	if (r < 0)
		return r;
	*ret = (struct ledger_mark){ .size = s.index, .head = s.head };
	if (l->unsynced_since_ns == 0)
		l->unsynced_since_ns = clock_boot_ns();
	return 0;
}

/* Formatting only: done before the lock is taken. */
static int append(struct ledger *l, const struct ledger_event *events, size_t n, enum ledger_class class,
		  struct ledger_mark *ret, struct fault *f)
{
	struct strbuf one = { 0 }, *bodies = &one;
	_cleanup_free_ struct strbuf *many = NULL;
	int r = 0;

	if (n > 1) {
		bodies = many = calloc(n, sizeof(*many));
		if (!many)
			return fault_errno(f, ENOMEM, "ledger records");
	}
	for (size_t i = 0; i < n && r == 0; i++)
		r = record_body(&events[i], l->redact, &bodies[i], f);
	if (r == 0)
		r = append_bodies(l, bodies, n, class, ret, f);
	for (size_t i = 0; i < n; i++)
		strbuf_done(&bodies[i]);
	return r;
}

int ledger_append(struct ledger *l, const struct ledger_event *events, size_t n, enum ledger_class class,
		  struct ledger_mark *ret_mark, struct fault *f)
{
	struct ledger_mark mark;
	int r;

	if (n == 0)
		return fault_set(f, EINVAL, "missing event");
	r = append(l, events, n, class, &mark, f);
	if (r == 0 && class != LEDGER_OBSERVED)
		r = ledger_sync(l, f);
	/* A complete segment may be moved elsewhere: a signed checkpoint records where it ended. */
	if (r == 0 && l->rotated) {
		l->rotated = false;
		r = ledger_checkpoint(l, NULL, NULL, f);
	}
	if (r < 0)
		return fault_wrap(f, r, "ledger");
	if (ret_mark)
		*ret_mark = mark;
	return 0;
}

void ledger_set_redact(struct ledger *l, const struct redact *rules)
{
	l->redact = rules;
}
