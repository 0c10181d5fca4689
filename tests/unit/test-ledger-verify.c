/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-verify.h"

#include "ledger-fixture.h"
#include "tap.h"

#define N 50

/* Built once: a ledger of N records, its first key, its seal, and where each line begins. */
static struct place place;
static char *text;
static size_t len, at[N + 1];
static struct digest k0;
static struct seal seal;

static bool build(void)
{
	if (!place_make(&place) || !fill(&place, N, NULL, &k0) || !load_seal(&place, &seal))
		return false;
	text = slurp(&place, FIRST_SEGMENT, &len);
	if (!text)
		return false;
	for (size_t i = 1; i <= N; i++)
		at[i] = (size_t)((char *)memchr(text + at[i - 1], '\n', len - at[i - 1]) + 1 - text);
	return at[N] == len;
}

/* The state as it was after N records. */
static bool seal_at(size_t n, struct seal *ret)
{
	char hex[65];

	*ret = seal;
	ret->key = k0;
	seal_evolve(&ret->key, n);
	ret->index = ret->synced_index = n;
	ret->offset = ret->synced_offset = at[n];
	memcpy(hex, text + at[n] - 67, 64);
	hex[64] = '\0';
	return digest_from_hex(hex, &ret->head) == 0;
}

/* With everything that a person may have: first key and seal. */
static const struct ledger_verify_options *all(void)
{
	static struct ledger_verify_options o;

	o = (struct ledger_verify_options){
		.k0 = &k0, .n_k0 = 1, .seal = &seal, .seal_is_of_this_boot = true
	};
	return &o;
}

static const struct ledger_verify_options none;

static bool says(struct ledger_verify_result r, enum ledger_verify_status status, uint64_t seq)
{
	if (r.status == status && (status == VERIFY_OK || status == VERIFY_BARE || r.bad_seq == seq))
		return true;
	printf("# status %d at %llu (%s), wanted %d at %llu\n", (int)r.status, (unsigned long long)r.bad_seq,
	       r.why, (int)status, (unsigned long long)seq);
	return false;
}

static void an_untouched_ledger_holds(void)
{
	struct ledger_verify_result r;

	CHECK(build());
	r = judge(text, len, all());
	CHECK(says(r, VERIFY_OK, 0));
	CHECK(r.next == N && r.bytes == len && r.sealed == N && r.seal_fits && r.gaps == 0);
	CHECK(says(judge(text, len, &none), VERIFY_BARE, 0));
}

static void portions_do_not_matter(void)
{
	static const size_t steps[] = { 1, 2, 7, 72, 73, 74, 500, 4096 };

	for (size_t k = 0; k < ARRAY_SIZE(steps); k++) {
		_cleanup_ledger_verify_ struct ledger_verify *v = ledger_verify_new(all());
		struct ledger_verify_result r;

		CHECK(v);
		for (size_t i = 0; i < len; i += steps[k])
			CHECK(ledger_verify_feed(v, text + i, len - i < steps[k] ? len - i : steps[k]));
		ledger_verify_end(v, &r);
		CHECK(says(r, VERIFY_OK, 0) && r.bytes == len);
	}
}

static size_t record_of(size_t offset)
{
	size_t i = 0;

	while (offset >= at[i + 1])
		i++;
	return i;
}

/* Every byte; with CUSTODY_TEST_FULL=1 every change of it.  The verifier names the record that has the byte. */
static void every_changed_byte_is_found_at_its_record(void)
{
	static const unsigned char flips[] = { 0x01, 0x20, 0x80, 0x0f, 0xff };
	bool full = tap_is_full();
	_cleanup_free_ char *copy = malloc(len);

	CHECK(copy);
	memcpy(copy, text, len);
	for (size_t i = 0; i < len; i += tap_stride()) {
		for (size_t k = 0; k < sizeof(flips); k++) {
			struct ledger_verify_result with, without;

			if (!full && k != i % sizeof(flips))
				continue;
			copy[i] = (char)(text[i] ^ flips[k]);
			with = judge(copy, len, all());
			without = full || i % 4 == 0 || i + 1 == len ? judge(copy, len, &none) : with;
			/* The last byte is the end of the file: a record without it is short or torn. */
			if (i + 1 == len) {
				CHECK(says(with, VERIFY_SHORT, N - 1) && says(without, VERIFY_TORN, N - 1));
			} else {
				CHECK(says(with, VERIFY_TAMPERED, record_of(i)));
				CHECK(says(without, VERIFY_TAMPERED, record_of(i)));
			}
		}
		copy[i] = text[i];
	}
}

static void every_cut_is_found_at_its_record(void)
{
	const struct ledger_verify_options key_only = { .k0 = &k0, .n_k0 = 1 };

	for (size_t cut = 0; cut < len; cut += tap_stride()) {
		size_t seq = record_of(cut);

		CHECK(says(judge(text, cut, all()), VERIFY_SHORT, seq));
		if (cut % 4 != 0 && cut != at[seq])
			continue;
		/* Without the seal only half a record can be detected, as designed. */
		CHECK(says(judge(text, cut, &key_only),
			   cut != at[seq] ? VERIFY_TORN
			   : cut > 0	  ? VERIFY_OK
					  : VERIFY_BARE,
			   seq));
	}
}

static void every_swap_and_every_double_is_found(void)
{
	_cleanup_free_ char *copy = malloc(2 * len);

	CHECK(copy);
	for (size_t i = 0; i < N; i++) {
		size_t a = at[i + 1] - at[i], b = i + 1 < N ? at[i + 2] - at[i + 1] : 0;

		memcpy(copy, text, at[i + 1]);
		memcpy(copy + at[i + 1], text + at[i], len - at[i]);
		CHECK(says(judge(copy, len + a, all()), VERIFY_TAMPERED, i + 1));
		CHECK(says(judge(copy, len + a, &none), VERIFY_TAMPERED, i + 1));
		if (b == 0)
			continue;
		memcpy(copy, text, len);
		memcpy(copy + at[i], text + at[i + 1], b);
		memcpy(copy + at[i] + b, text + at[i], a);
		CHECK(says(judge(copy, len, all()), VERIFY_TAMPERED, i));
		CHECK(says(judge(copy, len, &none), VERIFY_TAMPERED, i));
	}
}

/* Rewrites h of each line from FROM on and prev of those behind it: what an attacker without keys can do.
 * Lines are COUNT, back to back.  RENUMBER: seq too (of the same number of digits only). */
static size_t rechain(char *t, size_t t_len, size_t from, bool renumber)
{
	char head[65] = "", digits[24];
	size_t line = 0, n = 0;

	while (line < t_len) {
		char *l = t + line, *end = memchr(l, '\n', t_len - line);
		size_t size = (size_t)(end + 1 - l);
		struct digest d;

		if (n >= from) {
			if (renumber) {
				(void)snprintf(digits, sizeof(digits), "%zu", n);
				memcpy(l + 13, digits, strlen(digits));
			}
			if (n > from || renumber) {
				char *prev = strstr(l, "\"prev\":\"");

				if (*head)
					memcpy(prev + 8, head, 64);
			}
			digest_bytes(l, size - RECORD_SUFFIX, &d);
			digest_to_hex(&d, head);
			memcpy(l + size - RECORD_SUFFIX + 6, head, 64);
		} else {
			memcpy(head, l + size - RECORD_SUFFIX + 6, 64);
		}
		line += size;
		n++;
	}
	return n;
}

static void a_rewritten_chain_passes_bare_and_fails_with_key_or_seal(void)
{
	const struct ledger_verify_options key_only = { .k0 = &k0, .n_k0 = 1 };
	const struct ledger_verify_options seal_only = { .seal = &seal, .seal_is_of_this_boot = true };
	_cleanup_free_ char *copy = malloc(len);
	char *word;

	CHECK(copy);
	memcpy(copy, text, len);
	word = memmem(copy + at[20], len - at[20], "some words", 10);
	memcpy(word, "evil words", 10);
	CHECK(rechain(copy, len, 20, false) == N);
	CHECK(says(judge(copy, len, &none), VERIFY_BARE, 0));
	CHECK(says(judge(copy, len, &key_only), VERIFY_TAMPERED, 20));
	CHECK(says(judge(copy, len, &seal_only), VERIFY_TAMPERED, N - 1));
	CHECK(says(judge(copy, len, all()), VERIFY_TAMPERED, 20));
}

static void a_record_taken_out_of_the_middle_is_found(void)
{
	const struct ledger_verify_options key_only = { .k0 = &k0, .n_k0 = 1 };
	const struct ledger_verify_options seal_only = { .seal = &seal, .seal_is_of_this_boot = true };
	_cleanup_free_ char *copy = malloc(len);
	size_t gone = at[31] - at[30];

	CHECK(copy);
	memcpy(copy, text, at[30]);
	memcpy(copy + at[30], text + at[31], len - at[31]);
	CHECK(says(judge(copy, len - gone, all()), VERIFY_TAMPERED, 30));
	CHECK(says(judge(copy, len - gone, &none), VERIFY_TAMPERED, 30));
	CHECK(rechain(copy, len - gone, 30, true) == N - 1);
	CHECK(says(judge(copy, len - gone, &none), VERIFY_BARE, 0));
	CHECK(says(judge(copy, len - gone, &key_only), VERIFY_TAMPERED, 30));
	CHECK(says(judge(copy, len - gone, &seal_only), VERIFY_SHORT, N - 1));
}

static void two_ledgers_do_not_splice(void)
{
	_cleanup_place_ struct place other = { 0 };
	_cleanup_free_ char *theirs = NULL, *copy = NULL;
	const struct ledger_verify_options key_only = { .k0 = &k0, .n_k0 = 1 };
	struct digest their_k0;
	size_t their_len, cut = 0;

	CHECK(place_make(&other) && fill(&other, N, NULL, &their_k0));
	theirs = slurp(&other, FIRST_SEGMENT, &their_len);
	copy = malloc(at[25] + their_len);
	CHECK(theirs && copy);
	for (int i = 0; i < 25; i++)
		cut = (size_t)((char *)memchr(theirs + cut, '\n', their_len - cut) + 1 - theirs);
	memcpy(copy, text, at[25]);
	memcpy(copy + at[25], theirs + cut, their_len - cut);
	CHECK(says(judge(copy, at[25] + their_len - cut, &none), VERIFY_TAMPERED, 25));
	(void)rechain(copy, at[25] + their_len - cut, 25, true);
	CHECK(says(judge(copy, at[25] + their_len - cut, &key_only), VERIFY_TAMPERED, 25));
	CHECK(says(judge(theirs, their_len, &key_only), VERIFY_TAMPERED, 0));
}

static void seals_may_not_be_left_out(void)
{
	_cleanup_free_ char *copy = malloc(len);
	size_t line = at[40], size = at[41] - at[40], used;

	CHECK(copy);
	/* One record without m, hashed and chained again. */
	memcpy(copy, text, line);
	memcpy(copy + line, text + line, size - RECORD_SUFFIX - RECORD_SEAL);
	used = line + size - RECORD_SUFFIX - RECORD_SEAL;
	memcpy(copy + used, text + at[41] - RECORD_SUFFIX, RECORD_SUFFIX);
	used += RECORD_SUFFIX;
	memcpy(copy + used, text + at[41], len - at[41]);
	used += len - at[41];
	(void)rechain(copy, used, 40, false);
	CHECK(says(judge(copy, used, &none), VERIFY_TAMPERED, 40));
}

static void a_power_cut_is_not_tampering(void)
{
	struct seal s = seal;
	struct ledger_verify_options o = { .seal = &s, .seal_is_of_this_boot = false };

	s.synced_index = 45;
	s.synced_offset = at[45];
	for (size_t i = 45; i < N; i++)
		CHECK(says(judge(text, at[i], &o), VERIFY_TORN, i) &&
		      says(judge(text, at[i] + 5, &o), VERIFY_TORN, i));
	CHECK(says(judge(text, at[44], &o), VERIFY_SHORT, 44));
	o.seal_is_of_this_boot = true;
	CHECK(says(judge(text, at[45], &o), VERIFY_SHORT, 45));
}

static void nuls_in_the_last_line_are_torn_only_past_the_seal(void)
{
	_cleanup_free_ char *copy = malloc(len);
	struct seal s = seal;
	struct ledger_verify_options o = { .seal = &s, .seal_is_of_this_boot = true };

	CHECK(copy);
	memcpy(copy, text, len);
	memset(copy + at[49] + 100, 0, 40);
	CHECK(says(judge(copy, len, &o), VERIFY_TAMPERED, 49));
	CHECK(says(judge(copy, len, &none), VERIFY_TAMPERED, 49));
	CHECK(seal_at(49, &s));
	CHECK(says(judge(copy, len, &o), VERIFY_TORN, 49));
	/* Another boot, written but not synced. */
	s = seal;
	s.synced_index = 49;
	o.seal_is_of_this_boot = false;
	CHECK(says(judge(copy, len, &o), VERIFY_TORN, 49));
	s.synced_index = N;
	CHECK(says(judge(copy, len, &o), VERIFY_TAMPERED, 49));
}

static void records_behind_the_seal_must_be_sealed_by_its_key(void)
{
	struct seal s = seal;
	const struct ledger_verify_options o = { .seal = &s, .seal_is_of_this_boot = true };
	_cleanup_free_ char *copy = malloc(len);

	CHECK(copy && seal_at(45, &s));
	CHECK(says(judge(text, len, &o), VERIFY_OK, 0));
	memcpy(copy, text, len);
	memcpy((char *)memmem(copy + at[47], len - at[47], "some words", 10), "evil words", 10);
	(void)rechain(copy, len, 47, false);
	CHECK(says(judge(copy, len, &o), VERIFY_TAMPERED, 47));
}

static void overlong_lines_are_found(void)
{
	_cleanup_free_ char *copy = calloc(1, len + 100000);

	CHECK(copy);
	memcpy(copy, text, at[10]);
	memset(copy + at[10], 'x', 70000);
	CHECK(says(judge(copy, at[10] + 70000, all()), VERIFY_TAMPERED, 10));
	copy[at[10] + 69999] = '\n';
	CHECK(says(judge(copy, at[10] + 70000, all()), VERIFY_TAMPERED, 10));
}

static void a_missing_beginning_is_found(void)
{
	CHECK(says(judge(text + at[1], len - at[1], all()), VERIFY_TAMPERED, 0));
	CHECK(says(judge(text + at[1], len - at[1], &none), VERIFY_TAMPERED, 0));
}

static void an_anchor_fixes_the_end_of_a_chain(void)
{
	struct ledger_mark mark = { .size = N, .head = seal.head };
	const struct ledger_verify_options o = { .anchor = &mark };

	CHECK(says(judge(text, len, &o), VERIFY_OK, 0));
	CHECK(says(judge(text, at[49], &o), VERIFY_SHORT, 49));
	mark.head.bytes[0] ^= 1;
	CHECK(says(judge(text, len, &o), VERIFY_TAMPERED, 49));
	mark = (struct ledger_mark){ .size = 49 };
	CHECK(says(judge(text, len, &o), VERIFY_TAMPERED, 48));
}

static void done(void)
{
	place_done(&place);
	free(text);
	CHECK(access(place.state, F_OK) < 0);
}

TAP_MAIN(T(an_untouched_ledger_holds), T(portions_do_not_matter),
	 T(every_changed_byte_is_found_at_its_record), T(every_cut_is_found_at_its_record),
	 T(every_swap_and_every_double_is_found), T(a_rewritten_chain_passes_bare_and_fails_with_key_or_seal),
	 T(a_record_taken_out_of_the_middle_is_found), T(two_ledgers_do_not_splice),
	 T(seals_may_not_be_left_out), T(a_power_cut_is_not_tampering),
	 T(nuls_in_the_last_line_are_torn_only_past_the_seal),
	 T(records_behind_the_seal_must_be_sealed_by_its_key), T(overlong_lines_are_found),
	 T(a_missing_beginning_is_found), T(an_anchor_fixes_the_end_of_a_chain), T(done))
