/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger-verify-notes.h"
#include "ledger/ledger-verify-pairs.h"

#define LOST_MAX 100000000 /* a larger gap is not computed key by key */

struct ledger_verify {
	const struct ledger_verify_options *o;
	struct ledger_verify_result result;
	struct verify_pairs *pairs;
	struct digest head;	/* h of the last record */
	bool has_key, seal_met; /* KEY is for the next record; the seal's end was passed */
	bool sealed;		/* the first record was read */
	struct digest key, seal_key;
	struct checkpoint_key keys[VERIFY_KEYS_MAX]; /* the newest that the ledger itself names, a ring */
	size_t n_keys;				     /* in all */
	bool pinned_seen;			     /* the pinned key is one of them */
	struct verify_notes notes;
	uint64_t segment, offset; /* the current file, and the read offset in it */
	bool done;
	struct {
		bool bad;
		uint64_t seq, offset;
		char why[160];
	} last;	     /* a damaged line; torn only if it is the last */
	char *carry; /* an incomplete line */
	size_t carried;
};

struct ledger_verify *ledger_verify_new(const struct ledger_verify_options *o)
{
	struct ledger_verify *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->o = o;
	v->segment = UINT64_MAX;
	v->carry = malloc(LEDGER_LINE_MAX + 1);
	v->pairs = verify_pairs_new();
	if (o->seal)
		v->seal_key = o->seal->key;
	if (verify_notes_init(&v->notes, o) && v->carry && v->pairs)
		return v;
	ledger_verify_free(v);
	return NULL;
}

void ledger_verify_free(struct ledger_verify *v)
{
	if (!v)
		return;
	explicit_bzero(&v->key, sizeof(v->key));
	explicit_bzero(&v->seal_key, sizeof(v->seal_key));
	verify_pairs_free(v->pairs);
	verify_notes_done(&v->notes);
	free(v->carry);
	free(v);
}

static void fail(struct ledger_verify *v, enum ledger_verify_status status, uint64_t seq, uint64_t offset,
		 const char *why)
{
	if (v->done)
		return;
	v->done = true;
	v->result.status = status;
	v->result.bad_seq = seq;
	v->result.bad_offset = offset;
	v->result.bad_segment = v->segment;
	(void)snprintf(v->result.why, sizeof(v->result.why), "%s", why);
}

/* Is record SEQ synced according to the seal? */
static bool is_vouched(const struct ledger_verify *v, uint64_t seq)
{
	const struct seal *s = v->o->seal;

	return s && seq < (v->o->seal_is_of_this_boot ? s->index : s->synced_index);
}

/* The first key whose digest the record commits to. */
static bool find_k0(const struct ledger_verify *v, const struct record *r, struct digest *ret)
{
	struct span s = record_get(r, "k0");
	char hex[DIGEST_HEX_SIZE];

	for (size_t i = 0; i < v->o->n_k0; i++) {
		seal_commitment(&v->o->k0[i], hex);
		if (s.at && s.len == 66 && memcmp(s.at + 1, hex, 64) == 0) {
			*ret = v->o->k0[i];
			return true;
		}
	}
	return false;
}

static void learn_key(struct ledger_verify *v, const struct record *r)
{
	struct span s = record_get(r, "public");
	struct checkpoint_key key;
	char text[256];

	if (!s.at || s.len < 3 || s.len - 2 >= sizeof(text))
		return;
	memcpy(text, s.at + 1, s.len - 2);
	text[s.len - 2] = '\0';
	if (checkpoint_key_parse(text, &key, NULL) < 0)
		return;
	v->pinned_seen = v->pinned_seen || (v->o->key && memcmp(&key, v->o->key, sizeof(key)) == 0);
	v->keys[v->n_keys++ % VERIFY_KEYS_MAX] = key;
}

/* Sets K0 of the sealed part that begins here, if it was given. */
static const char *begin_seal(struct ledger_verify *v, const struct record *r)
{
	v->has_key = find_k0(v, r, &v->key);
	if (record_kind_is(r, "seal.new"))
		v->result.new_seals++;
	else if (v->o->n_k0 > 0 && !v->has_key)
		return "its first seal key is not the given one: another ledger, or rewritten from the "
		       "start";
	return NULL;
}

/* Evolves KEY to the next record. A gap record states how many keys were lost with its records. */
static bool seal_holds(const struct record *r, struct digest *key)
{
	uint64_t lost;

	if (!record_seal_verify(r, key)) {
		if (!record_kind_is(r, "seal.gap") || !record_get_u64(r, "lost", &lost) || lost > LOST_MAX)
			return false;
		seal_evolve(key, lost);
		if (!record_seal_verify(r, key))
			return false;
	}
	seal_evolve(key, 1);
	return true;
}

static const char *check_seal(struct ledger_verify *v, const struct record *r)
{
	bool begins = (r->seq == 0 && record_kind_is(r, "ledger.open")) || record_kind_is(r, "seal.new");
	const char *why = begins ? begin_seal(v, r) : NULL;

	if (why)
		return why;
	if (r->seq == 0 && v->o->n_k0 > 0 && !begins)
		return "does not begin with ledger.open";
	if (v->sealed && !r->seal)
		return "not sealed";
	if (v->has_key) {
		if (!seal_holds(r, &v->key))
			return "wrong seal";
		v->result.sealed++;
	}
	/* After the sealed end its key verifies records that a killed writer had not counted. */
	if (v->o->seal && r->seq >= v->o->seal->index && !seal_holds(r, &v->seal_key))
		return "wrong seal, after the last sealed record";
	return NULL;
}

/*
 * Writers begin a segment after ledger.rotate and only then.  A repair may go on behind it, where the segment that
 * followed was lost.
 */
static const char *check_segment(const struct ledger_verify *v, const struct record *r)
{
	if (v->segment != UINT64_MAX && v->offset == 0 && r->seq != v->segment)
		return "begins a file that is named after another record: the segment was renamed";
	if (v->segment == UINT64_MAX || v->result.bytes == 0)
		return NULL;
	if (v->offset == 0 && !v->result.has_rotated)
		return "begins a segment, but the one before it is not complete: one segment was split";
	if (v->offset > 0 && v->result.has_rotated && !record_kind_is(r, "seal.gap") &&
	    !record_kind_is(r, "seal.new"))
		return "follows the end of its segment: two segments were merged";
	return NULL;
}

static const char *check_chain(struct ledger_verify *v, const struct record *r)
{
	if (r->seq != v->result.next)
		return "unexpected seq";
	if (!record_prev_is(r, &v->head))
		return "prev is not the hash of the previous record";
	return NULL;
}

/* Checks seal, anchor and checkpoints for this position. */
static const char *check_anchors(struct ledger_verify *v, uint64_t size)
{
	const struct seal *s = v->o->seal;
	bool backed;

	if (s && size == s->index) {
		v->seal_met = true;
		if (memcmp(&s->head, &v->head, sizeof(v->head)) != 0)
			return "differs from the last sealed record: rewritten here or before";
		v->result.seal_fits = true;
		v->result.proven = size;
	}
	if (v->o->anchor && size == v->o->anchor->size) {
		v->result.anchored = true;
		if (memcmp(&v->o->anchor->head, &v->head, sizeof(v->head)) != 0)
			return "differs from the anchor";
		v->result.proven = size;
	}
	if (!verify_notes_meet(&v->notes, size, &v->head, &backed))
		return "differs from a checkpoint: rewritten here or before";
	if (backed)
		v->result.proven = size;
	return NULL;
}

/* May begin in the middle only if a checkpoint covers this position or a later one: its h covers our prev. */
static const char *begin_middle(struct ledger_verify *v, const struct record *r)
{
	bool covered = false;

	for (size_t i = 0; i < v->o->n_checkpoints; i++)
		covered = covered || v->o->checkpoints[i].mark.size >= r->seq;
	if (!v->o->from_checkpoint || !covered)
		return "the records before it are missing";
	record_prev(r, &v->head);
	v->result.first = v->result.next = r->seq;
	return check_anchors(v, r->seq);
}

/* Why a complete, consistent line does not belong here; NULL if it does. */
static const char *check_place(struct ledger_verify *v, const struct record *r)
{
	bool first = v->result.bytes == 0;
	const char *why = first && r->seq > 0 ? begin_middle(v, r) : NULL;

	if (!why)
		why = check_chain(v, r);
	if (!why)
		why = check_segment(v, r);
	if (why)
		return why;
	if (first)
		v->sealed = r->seal != NULL;
	return check_seal(v, r);
}

static void set_damage(struct ledger_verify *v, const char *why)
{
	v->last.bad = true;
	v->last.seq = v->result.next;
	v->last.offset = v->offset;
	(void)snprintf(v->last.why, sizeof(v->last.why), "%s", why);
}

static void accept(struct ledger_verify *v, const struct record *r)
{
	uint64_t lost = 0;

	record_head(r, &v->head);
	v->result.next++;
	/* Sealed by a key from elsewhere, or behind the seal's end by its key. */
	if (v->has_key || (v->o->seal && r->seq >= v->o->seal->index))
		v->result.proven = v->result.next;
	v->result.bytes += r->len;
	v->result.has_rotated = record_kind_is(r, "ledger.rotate");
	if (record_kind_is(r, "ledger.open") || record_kind_is(r, "ledger.key") ||
	    record_kind_is(r, "seal.new"))
		learn_key(v, r);
	if (record_kind_is(r, "seal.gap")) {
		(void)record_get_u64(r, "lost", &lost);
		v->result.gaps++;
		v->result.lost += lost;
	}
	verify_pairs_feed(v->pairs, r, &v->result);
}

static void take_line(struct ledger_verify *v, const char *line, size_t len)
{
	const char *why = NULL;
	struct record r;

	if (v->last.bad) {
		fail(v, VERIFY_TAMPERED, v->last.seq, v->last.offset, v->last.why);
		return;
	}
	if (record_parse(line, len, &r, &why) < 0) {
		set_damage(v, why);
	} else if (!record_hash_verify(&r)) {
		set_damage(v, "wrong hash");
	} else {
		uint64_t seq = v->result.next;

		why = check_place(v, &r);
		if (!why) {
			accept(v, &r);
			why = check_anchors(v, v->result.next);
		}
		if (why)
			fail(v, VERIFY_TAMPERED, seq, v->offset, why);
	}
	v->offset += len;
}

static void too_long(struct ledger_verify *v)
{
	fail(v, VERIFY_TAMPERED, v->last.bad ? v->last.seq : v->result.next,
	     v->last.bad ? v->last.offset : v->offset, v->last.bad ? v->last.why : "longer than 64 KiB");
}

/* Keeps the beginning of an incomplete line. */
static void carry(struct ledger_verify *v, const char *bytes, size_t len)
{
	if (v->carried + len > LEDGER_LINE_MAX) {
		too_long(v);
		return;
	}
	memcpy(v->carry + v->carried, bytes, len);
	v->carried += len;
}

bool ledger_verify_feed(struct ledger_verify *v, const char *bytes, size_t len)
{
	const char *end;

	if (v->carried > 0 && len > 0 && !v->done) {
		end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end + 1 - bytes) : len;

		carry(v, bytes, n);
		bytes += n;
		len -= n;
		if (end && !v->done) {
			n = v->carried;
			v->carried = 0;
			take_line(v, v->carry, n);
		}
	}
	while (len > 0 && !v->done) {
		end = memchr(bytes, '\n', len);
		if (!end) {
			carry(v, bytes, len);
			break;
		}
		size_t n = (size_t)(end + 1 - bytes);

		take_line(v, bytes, n);
		bytes += n;
		len -= n;
	}
	return !v->done;
}

void ledger_verify_segment(struct ledger_verify *v, uint64_t first)
{
	if (v->carried > 0)
		fail(v, VERIFY_TAMPERED, v->result.next, v->offset,
		     "incomplete record, and another segment follows");
	if (v->last.bad)
		fail(v, VERIFY_TAMPERED, v->last.seq, v->last.offset, v->last.why);
	v->offset = 0;
	v->segment = first;
	if (v->result.bytes > 0 && first != v->result.next)
		fail(v, VERIFY_TAMPERED, v->result.next, 0,
		     "missing segment: the next one begins with another record");
}

/* The end is incomplete. It counts as torn only if neither seal nor checkpoint covers it. */
static void judge_torn(struct ledger_verify *v, uint64_t seq, uint64_t offset, bool has_end, const char *why)
{
	for (size_t i = 0; i < v->o->n_checkpoints; i++)
		if (v->o->checkpoints[i].mark.size > seq) {
			fail(v, has_end ? VERIFY_TAMPERED : VERIFY_SHORT, seq, offset, why);
			return;
		}
	if (is_vouched(v, seq))
		fail(v, has_end ? VERIFY_TAMPERED : VERIFY_SHORT, seq, offset, why);
	else if (has_end && !v->o->seal)
		fail(v, VERIFY_TAMPERED, seq, offset, why);
	else
		fail(v, VERIFY_TORN, seq, offset, why);
}

static void judge_length(struct ledger_verify *v)
{
	const struct seal *s = v->o->seal;
	uint64_t n = v->result.next;
	char why[160];

	for (size_t i = 0; i < v->o->n_checkpoints; i++)
		if (v->o->checkpoints[i].mark.size > n) {
			(void)snprintf(why, sizeof(why), "a checkpoint covers %" PRIu64 " records",
				       v->o->checkpoints[i].mark.size);
			fail(v, VERIFY_SHORT, n, v->offset, why);
			return;
		}
	if (v->o->anchor && n != v->o->anchor->size) {
		(void)snprintf(why, sizeof(why), "the anchor is at %" PRIu64 " records", v->o->anchor->size);
		fail(v, n < v->o->anchor->size ? VERIFY_SHORT : VERIFY_TAMPERED, n, v->offset, why);
	}
	if (!s || n >= s->index)
		return;
	(void)snprintf(
		why, sizeof(why), "%" PRIu64 " records are sealed, %" PRIu64 " of them synced%s", s->index,
		s->synced_index,
		is_vouched(v, n) ? "" : "; the others were lost in a power cut, the next append records it");
	fail(v, is_vouched(v, n) ? VERIFY_SHORT : VERIFY_TORN, n, v->offset, why);
}

/* Is N signed with the pinned key or one named by this ledger? */
static bool is_signed(const struct ledger_verify *v, const struct checkpoint *n)
{
	if (v->o->key && checkpoint_verify(n, v->o->key))
		return true;
	for (size_t i = 0; i < v->n_keys && i < VERIFY_KEYS_MAX; i++)
		if (checkpoint_verify(n, &v->keys[i]))
			return true;
	return false;
}

static void judge_checkpoints(struct ledger_verify *v)
{
	for (size_t i = 0; i < v->o->n_checkpoints && !v->done; i++) {
		if (!is_signed(v, &v->o->checkpoints[i]))
			fail(v, VERIFY_TAMPERED, v->o->checkpoints[i].mark.size, 0,
			     "a checkpoint is not signed with a key of this ledger");
		v->result.checkpoints += v->notes.seen[i];
		v->result.own_checkpoints += v->notes.seen[i] && verify_notes_is_own(&v->notes, i);
	}
}

/* A pinned key must be one that the ledger names. */
static void judge_pinned(struct ledger_verify *v)
{
	if (!v->o->key || v->result.first > 0 || v->n_keys == 0 || v->pinned_seen)
		return;
	fail(v, VERIFY_TAMPERED, 0, 0, "the ledger does not name the given key");
}

/* The public file beside the records is the key that they named last. */
static void judge_current(struct ledger_verify *v)
{
	if (!v->o->current || v->result.first > 0 || v->n_keys == 0)
		return;
	if (memcmp(&v->keys[(v->n_keys - 1) % VERIFY_KEYS_MAX], v->o->current, sizeof(*v->o->current)) != 0)
		fail(v, VERIFY_TAMPERED, v->result.next, v->offset,
		     "the file 'public' has another key than the ledger names: restore it, or run 'custody "
		     "ledger "
		     "repair --new-key'");
}

void ledger_verify_end(struct ledger_verify *v, struct ledger_verify_result *ret)
{
	if (!v->done && v->last.bad) {
		if (v->carried > 0)
			fail(v, VERIFY_TAMPERED, v->last.seq, v->last.offset, v->last.why);
		else
			judge_torn(v, v->last.seq, v->last.offset, true, v->last.why);
	}
	if (!v->done && v->carried > 0)
		judge_torn(v, v->result.next, v->offset, false, "the last record is incomplete");
	judge_pinned(v);
	judge_checkpoints(v);
	if (!v->done)
		judge_length(v);
	if (!v->done)
		judge_current(v);
	/* Records behind the last reference could have been written by the last holder of the files. */
	if (!v->done && (v->result.proven < v->result.next || v->result.proven == 0))
		v->result.status = VERIFY_BARE;
	verify_pairs_end(v->pairs, &v->result);
	v->result.head = v->head;
	*ret = v->result;
}
