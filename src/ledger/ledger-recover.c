/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "ledger/ledger-impl.h"

/*
 * Cases in which ledger and seal disagree, with cause and action:
 *
 *	more records than sealed, all complete	killed between two writes	accepted
 *	more bytes than sealed, not a record	killed in a write		moved to a torn- file, ledger.recovered
 *	fewer than sealed, another boot,	power cut			seal.gap, ledger.recovered
 *	  but not fewer than synced
 *	anything else				tampering			-EUCLEAN, until an operator repairs it
 */
#define CHUNK ((size_t)4 * LEDGER_LINE_MAX)

/* ledger_tail_scan over FROM..TO of the live segment; t->good counts from FROM. */
static int scan_file(struct ledger *l, uint64_t from, uint64_t to, struct digest *key, struct ledger_tail *t,
		     struct fault *f)
{
	_cleanup_free_ char *chunk = malloc(CHUNK);
	uint64_t good = 0;
	int r;

	if (!chunk)
		return fault_errno(f, ENOMEM, "read buffer");
	for (;;) {
		uint64_t left = to - from - good;
		size_t len, want = left < CHUNK ? (size_t)left : CHUNK;

		r = segment_read(l->segfd, from + good, chunk, want, &len, f);
		if (r < 0)
			return r;
		ledger_tail_scan(chunk, len, key, t);
		good += t->good;
		if (t->why || t->good == 0 || t->seq == t->stop)
			break;
	}
	t->good = (size_t)good;
	if (!t->why && t->seq < t->stop && good < to - from)
		t->why = "incomplete";
	return 0;
}

static int refuse(const struct seal *s, struct fault *f, const char *what)
{
	return fault_set(
		f, EUCLEAN,
		"%s (%" PRIu64 " records are sealed, %" PRIu64
		" of them synced); check with 'custody ledger verify', continue with 'custody ledger repair "
		"--accept-loss'",
		what, s->index, s->synced_index);
}

/* The last record according to the seal. RET_RECORD points into *RET_LINE. */
static bool read_last(struct ledger *l, const struct seal *s, char **ret_line, struct record *ret_record)
{
	_cleanup_free_ char *line = NULL;
	const char *why;
	size_t len;

	if (s->last_len > LEDGER_LINE_MAX || s->last_len > s->offset)
		return false;
	line = malloc(s->last_len);
	if (!line || segment_read(l->segfd, s->offset - s->last_len, line, s->last_len, &len, NULL) < 0 ||
	    len != s->last_len || record_parse(line, len, ret_record, &why) < 0)
		return false;
	*ret_line = TAKE_PTR(line);
	return true;
}

static bool last_holds(struct ledger *l, const struct seal *s)
{
	_cleanup_free_ char *line = NULL;
	struct digest head;
	struct record r;

	if (s->last_len == 0)
		return true;
	if (!read_last(l, s, &line, &r))
		return false;
	record_head(&r, &head);
	return r.seq == s->index - 1 && digest_equal(&head, &s->head) && record_hash_verify(&r);
}

/* h of the record that ends at OFFSET of the segment that begins with FIRST. */
static int head_before(struct ledger *l, uint64_t first, uint64_t offset, struct digest *ret, struct fault *f)
{
	_cleanup_free_ uint64_t *list = NULL;
	_cleanup_close_ int fd = -EBADF;
	char suffix[RECORD_SUFFIX], hex[DIGEST_HEX_SIZE], name[SEGMENT_NAME_SIZE];
	size_t n, i, len;
	struct stat st;
	int r;

	*ret = (struct digest){ 0 };
	if (first == 0 && offset == 0)
		return 0;
	if (offset == 0) {
		r = segment_list(l->dirfd, &list, &n, f);
		if (r < 0)
			return r;
		for (i = n; i > 0 && list[i - 1] >= first; i--)
			;
		if (i == 0)
			return fault_set(f, EUCLEAN, "the ledger's segment before %" PRIu64 " is missing",
					 first);
		first = list[i - 1];
	}
	segment_name(first, name);
	fd = openat(l->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open the ledger's segment '%s'", name);
	offset = offset > 0 ? offset : (uint64_t)st.st_size;
	if (offset < sizeof(suffix))
		return fault_set(f, EUCLEAN, "the ledger's segment '%s' has no record", name);
	r = segment_read(fd, offset - sizeof(suffix), suffix, sizeof(suffix), &len, f);
	if (r < 0)
		return r;
	memcpy(hex, suffix + 6, 64);
	hex[64] = '\0';
	if (len != sizeof(suffix) || memcmp(suffix, ",\"h\":\"", 6) != 0 || digest_from_hex(hex, ret) < 0)
		return fault_set(f, EUCLEAN,
				 "the ledger's segment '%s' does not end with a record at %" PRIu64, name,
				 offset);
	return 0;
}

static int put_gap(struct ledger *l, struct seal *s, uint64_t lost, const char *cause, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct ledger_event e = { .kind = "seal.gap", .status = "noted", .d = d, .verbatim = true };

	jdoc_set_string(d, "cause", cause);
	jdoc_set_int(d, "lost", (int64_t)lost);
	return ledger_put_event(l, s, &e, f);
}

/* Continues the chain at T, before the end of the seal; the keys in between are lost with their records. */
static int resume_at(struct ledger *l, struct seal *s, const struct ledger_tail *t, uint64_t from,
		     const char *cause, struct fault *f)
{
	struct ledger_torn torn = { .why = t->why ? t->why : "after a missing record" };
	uint64_t lost = s->index - t->seq;
	struct stat st;
	int r;

	if (fstat(l->segfd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	if ((uint64_t)st.st_size > from + t->good) {
		r = ledger_torn_move(l, t->seq, from + t->good, &torn, f);
		if (r < 0)
			return r;
	}
	s->index = t->seq;
	s->head = t->head;
	s->offset = from + t->good;
	s->last_len = t->last_len;
	s->rotated = 0;
	if (s->synced_index > s->index) {
		s->synced_index = s->index;
		s->synced_offset = s->offset;
	}
	r = put_gap(l, s, lost, cause, f);
	return r < 0 ? r : ledger_torn_record(l, s, &torn, lost, f);
}

/* After a reboot: checks all records that were not synced. 1: records were lost. */
static int recheck(struct ledger *l, struct seal *s, uint64_t size, struct fault *f)
{
	struct ledger_tail t = { .seq = s->synced_index, .stop = s->index };
	uint64_t to = size < s->offset ? size : s->offset;
	int r;

	if (size < s->synced_offset)
		return refuse(s, f, "synced records were removed from the ledger");
	r = head_before(l, s->segment, s->synced_offset, &t.head, f);
	if (r < 0)
		return r;
	r = scan_file(l, s->synced_offset, to, NULL, &t, f);
	if (r < 0)
		return r;
	if (t.seq == s->index && !digest_equal(&t.head, &s->head))
		return refuse(s, f, "the end of the ledger was rewritten");
	if (t.seq == s->index)
		return 0;
	r = resume_at(l, s, &t, s->synced_offset, "power-cut", f);
	return r < 0 ? r : 1;
}

/*
 * Accepts complete records after the sealed end, moves other bytes to a torn- file. After a rotation there
 * must be none.
 */
static int advance(struct ledger *l, struct seal *s, struct ledger_torn *torn, struct fault *f)
{
	struct ledger_tail t = { .seq = s->index, .stop = UINT64_MAX, .head = s->head };
	_cleanup_seal_ struct seal next = *s;
	struct stat st;
	int r;

	if (fstat(l->segfd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	if ((uint64_t)st.st_size == s->offset)
		return 0;
	t.why = "after the end of the segment";
	if (!s->rotated) {
		r = scan_file(l, s->offset, (uint64_t)st.st_size, &next.key, &t, f);
		if (r < 0)
			return r;
	}
	if (t.seq > s->index) {
		s->key = next.key;
		s->index = t.seq;
		s->head = t.head;
		s->offset += t.good;
		s->last_len = t.last_len;
		s->rotated = t.rotated;
	}
	if ((uint64_t)st.st_size == s->offset)
		return 0;
	torn->why = t.why;
	return ledger_torn_move(l, s->index, s->offset, torn, f);
}

static int catch_up(struct ledger *l, struct seal *s, struct fault *f)
{
	struct ledger_torn torn = { 0 };
	int r;

	r = advance(l, s, &torn, f);
	while (r == 0 && s->rotated) {
		r = segment_enter_next(l, s, f);
		if (r == 0)
			r = advance(l, s, &torn, f);
	}
	if (r < 0)
		return r;
	memcpy(s->boot, l->boot, sizeof(s->boot));
	if (torn.bytes > 0)
		return ledger_torn_record(l, s, &torn, 0, f);
	return seal_write(l->sealfd, s, f);
}

/* Opens the live segment of the seal. It is created only if it cannot have held records. */
static int open_live(struct ledger *l, const struct seal *s, struct stat *ret, struct fault *f)
{
	int r;

	for (int again = 0; again < 2; again++) {
		r = segment_open(l, s->segment, s->offset == 0 && s->index == s->segment, f);
		if (r < 0)
			return r;
		if (fstat(l->segfd, ret) < 0)
			return fault_errno(f, errno, "fstat");
		if (ret->st_nlink > 0)
			return 0;
		/* Unlinked concurrently: open the name again. */
		l->segfd = fd_close(l->segfd);
		l->segment = UINT64_MAX;
	}
	return fault_set(f, ENOENT, "the ledger's live segment is replaced repeatedly");
}

int ledger_ready(struct ledger *l, struct seal *s, struct fault *f)
{
	bool same_boot = memcmp(s->boot, l->boot, sizeof(s->boot)) == 0;
	struct stat st;
	int r;

	r = open_live(l, s, &st, f);
	if (r == -ENOENT) {
		ledger_clear_fault(f);
		return refuse(s, f, "the ledger's live segment is missing");
	}
	if (r < 0)
		return r;
	if (same_boot && l->tail_checked && !s->rotated && (uint64_t)st.st_size == s->offset)
		return 0;
	if (!same_boot && s->synced_index < s->index) {
		r = recheck(l, s, (uint64_t)st.st_size, f);
		if (r < 0)
			return r;
	} else if ((uint64_t)st.st_size < s->offset) {
		return refuse(s, f, "records were removed from the end of the ledger");
	}
	if (!last_holds(l, s))
		return refuse(s, f, "the last record of the ledger was changed");
	r = catch_up(l, s, f);
	if (r == 0)
		l->tail_checked = true;
	return r;
}

/* Opens the newest existing segment; creates one if none exists. */
static int open_newest(struct ledger *l, uint64_t *ret_first, struct fault *f)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n;
	int r;

	r = segment_list(l->dirfd, &list, &n, f);
	if (r < 0)
		return r;
	*ret_first = n > 0 ? list[n - 1] : 0;
	l->segfd = fd_close(l->segfd);
	return segment_open(l, *ret_first, true, f);
}

/* T: the valid part of the newest segment, without any seal; S is set to its end. */
static int find_end(struct ledger *l, struct seal *s, struct ledger_tail *t, struct fault *f)
{
	struct stat st;
	uint64_t first;
	int r;

	r = open_newest(l, &first, f);
	if (r == 0)
		r = head_before(l, first, 0, &t->head, f);
	if (r < 0)
		return r;
	if (fstat(l->segfd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	if (first > t->stop)
		return fault_set(f, EUCLEAN,
				 "the newest segment begins at %" PRIu64
				 ", after the end of the seal: move it away",
				 first);
	t->seq = first;
	r = scan_file(l, 0, (uint64_t)st.st_size, NULL, t, f);
	if (r < 0)
		return r;
	(void)fchmod(l->segfd, 0600);
	s->segment = first;
	memcpy(s->boot, l->boot, sizeof(s->boot));
	return 0;
}

int ledger_accept_loss(struct ledger *l, struct seal *s, struct fault *f)
{
	struct ledger_tail t = { .stop = s->index };
	int r = find_end(l, s, &t, f);

	return r < 0 ? r : resume_at(l, s, &t, 0, "accepted", f);
}

int ledger_find_end(struct ledger *l, struct seal *s, struct fault *f)
{
	struct ledger_tail t = { .stop = UINT64_MAX };
	struct ledger_torn torn;
	struct stat st;
	int r;

	r = find_end(l, s, &t, f);
	if (r < 0)
		return r;
	if (fstat(l->segfd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	if ((uint64_t)st.st_size > t.good) {
		r = ledger_torn_move(l, t.seq, t.good, &torn, f);
		if (r < 0)
			return r;
	}
	s->index = s->synced_index = t.seq;
	s->offset = s->synced_offset = t.good;
	s->last_len = t.last_len;
	s->head = t.head;
	return 0;
}
