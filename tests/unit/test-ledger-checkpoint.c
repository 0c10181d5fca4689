/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-checkpoint.h"

#include <errno.h>

#include "ledger-fixture.h"
#include "tap.h"

/* RFC 8032, section 7.1, TEST 2. */
static void signatures_are_those_of_the_standard(void)
{
	static const uint8_t seed[32] = { 0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3,
					  0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
					  0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb };
	static const char public[] = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
	static const char want[] = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
				   "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
	uint8_t signature[SIGN_SIZE];
	struct sign_secret key;
	char hex[2 * SIGN_SIZE + 1];

	sign_from_seed(seed, &key);
	digest_hex(&key.public, sizeof(key.public), hex);
	CHECK(strcmp(hex, public) == 0);
	sign_bytes(&key, "\x72", 1, signature);
	digest_hex(signature, sizeof(signature), hex);
	CHECK(strcmp(hex, want) == 0);
	CHECK(sign_verify(&key.public, "\x72", 1, signature) &&
	      !sign_verify(&key.public, "\x73", 1, signature));
	signature[5] ^= 1;
	CHECK(!sign_verify(&key.public, "\x72", 1, signature));
}

static const char origin[] = ORIGIN_PREFIX "00112233445566778899aabbccddeeff";

static char *make_checkpoint(struct checkpoint_key *key)
{
	struct ledger_mark mark = { .size = 42, .head = { { 1, 2, 3 } } };
	struct sign_secret secret;

	if (sign_new(&secret, NULL) < 0)
		return NULL;
	checkpoint_key_init(origin, &secret.public, key);
	return checkpoint_sign(key, &secret, &mark);
}

static void a_checkpoint_holds_the_signed_values(void)
{
	_cleanup_free_ char *checkpoint = NULL, *text = NULL;
	struct checkpoint_key key, again, other;
	struct sign_secret secret;
	struct checkpoint n;
	size_t len;

	checkpoint = make_checkpoint(&key);
	CHECK(checkpoint && checkpoint_parse(checkpoint, strlen(checkpoint), &n, &len) == 0 &&
	      len == strlen(checkpoint));
	CHECK(n.mark.size == 42 && n.mark.head.bytes[1] == 2 && strcmp(n.origin, origin) == 0);
	CHECK(checkpoint_verify(&n, &key));
	text = checkpoint_key_text(&key);
	CHECK(text && checkpoint_key_parse(text, &again, NULL) == 0 &&
	      memcmp(&again, &key, sizeof(key)) == 0);
	CHECK(sign_new(&secret, NULL) == 0);
	checkpoint_key_init(origin, &secret.public, &other);
	CHECK(!checkpoint_verify(&n, &other));
}

static void every_changed_byte_of_a_note_is_found(void)
{
	_cleanup_free_ char *checkpoint = NULL;
	struct checkpoint_key key;

	checkpoint = make_checkpoint(&key);
	CHECK(checkpoint);
	for (size_t i = 0; checkpoint[i]; i++) {
		struct checkpoint n;
		size_t len;

		checkpoint[i] ^= 1;
		CHECK(checkpoint_parse(checkpoint, strlen(checkpoint), &n, &len) < 0 ||
		      !checkpoint_verify(&n, &key));
		checkpoint[i] ^= 1;
	}
	for (size_t cut = 0; cut < strlen(checkpoint); cut++) {
		struct checkpoint n;
		size_t len;

		CHECK(checkpoint_parse(checkpoint, cut, &n, &len) == -ENODATA);
	}
}

static void keys_that_are_damaged_are_refused(void)
{
	static const char *const bad[] = { "", "x", "custody/ledger/00",
					   "custody/ledger/00112233445566778899aabbccddeeff",
					   "custody/ledger/00112233445566778899aabbccddeeff+00000000+AAAA" };
	_cleanup_free_ char *checkpoint = NULL, *text = NULL;
	struct checkpoint_key key;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(checkpoint_key_parse(bad[i], &key, NULL) == -EINVAL);
	checkpoint = make_checkpoint(&key);
	text = checkpoint_key_text(&key);
	CHECK(checkpoint && text);
	text[strlen(origin) + 1] ^= 1; /* its id */
	CHECK(checkpoint_key_parse(text, &key, NULL) == -EINVAL);
}

/* The result of verify for the first segment with NOTES and the key in its first record. */
static struct ledger_verify_result against(const struct place *p, const struct checkpoint *checkpoints,
					   size_t n, const struct seal *s)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = slurp(p, FIRST_SEGMENT, &len);
	return judge(text, text ? len : 0,
		     &(struct ledger_verify_options){ .checkpoints = checkpoints,
						      .n_checkpoints = n,
						      .seal = s,
						      .seal_is_of_this_boot = true });
}

static bool take_checkpoint(const struct place *p, char **ret_text, struct checkpoint *ret)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	size_t len;

	if (ledger_open(p->state, NULL, &l, NULL, &f) < 0 || ledger_checkpoint(l, ret_text, NULL, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return checkpoint_parse(*ret_text, strlen(*ret_text), ret, &len) == 0;
}

static bool more(const struct place *p, int n)
{
	_cleanup_ledger_ struct ledger *l = NULL;

	if (ledger_open(p->state, NULL, &l, NULL, NULL) < 0)
		return false;
	while (n-- > 0)
		if (put(l, "test.event", LEDGER_OBSERVED) < 0)
			return false;
	return true;
}

static void a_checkpoint_vouches_for_all_before_it(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct ledger_verify_result r;
	struct checkpoint n;
	struct seal s;

	CHECK(place_make(&p) && fill(&p, 10, NULL, NULL) && more(&p, 2) && take_checkpoint(&p, &text, &n));
	CHECK(n.mark.size == 12 && load_seal(&p, &s) && s.synced_index == 12);
	r = against(&p, &n, 1, NULL);
	CHECK(r.status == VERIFY_OK && r.checkpoints == 1 && r.proven == 12);
	/* Records behind it may be a forger's. */
	CHECK(more(&p, 5));
	r = against(&p, &n, 1, NULL);
	CHECK(r.status == VERIFY_BARE && r.checkpoints == 1 && r.proven == 12 && r.next == 17);
	n.mark.head.bytes[0] ^= 1;
	CHECK(against(&p, &n, 1, NULL).status == VERIFY_TAMPERED);
}

/* Ledger and seal restored from a copy, byte for byte: undetectable on this machine alone. */
static void a_rolled_back_disk_is_seen_only_by_a_checkpoint_elsewhere(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *checkpoint = NULL, *seal = NULL, *segment = NULL;
	struct ledger_verify_result r;
	size_t seal_len, len;
	struct checkpoint n;
	struct seal s;

	CHECK(place_make(&p) && fill(&p, 10, NULL, NULL));
	seal = slurp(&p, SEAL_PATH, &seal_len);
	segment = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(seal && segment && more(&p, 5) && take_checkpoint(&p, &checkpoint, &n) && n.mark.size == 15);
	CHECK(spit(&p, SEAL_PATH, seal, seal_len) && spit(&p, FIRST_SEGMENT, segment, len) &&
	      load_seal(&p, &s));
	CHECK(against(&p, NULL, 0, &s).status == VERIFY_OK);
	r = against(&p, &n, 1, &s);
	CHECK(r.status == VERIFY_SHORT && r.bad_seq == 10);
	/* And when it grows again past that size, it is another ledger. */
	CHECK(more(&p, 10) && load_seal(&p, &s));
	CHECK(against(&p, NULL, 0, &s).status == VERIFY_OK);
	r = against(&p, &n, 1, &s);
	CHECK(r.status == VERIFY_TAMPERED && r.bad_seq == 14);
}

static void a_checkpoint_of_another_ledger_does_not_fit(void)
{
	_cleanup_place_ struct place p = { 0 }, q = { 0 };
	_cleanup_free_ char *checkpoint = NULL;
	struct ledger_verify_result r;
	struct checkpoint n;

	CHECK(place_make(&p) && fill(&p, 10, NULL, NULL) && place_make(&q) && fill(&q, 5, NULL, NULL));
	CHECK(take_checkpoint(&q, &checkpoint, &n));
	r = against(&p, &n, 1, NULL);
	CHECK(r.status == VERIFY_TAMPERED && r.bad_seq == 4);
}

static void a_ledger_may_begin_at_a_checkpoint(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *checkpoint = NULL, *text = NULL;
	struct checkpoint n;
	size_t len, at = 0;

	CHECK(place_make(&p) && fill(&p, 10, NULL, NULL) && take_checkpoint(&p, &checkpoint, &n) &&
	      more(&p, 5));
	/* Nothing covers the five records behind it. */
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text);
	for (int i = 0; i < 15; i++) {
		_cleanup_free_ char *public = slurp(&p, "ledger/public", &(size_t){ 0 });
		struct checkpoint_key key;
		struct ledger_verify_result r;
		bool may = i <= 10;

		CHECK(public && checkpoint_key_parse(public, &key, NULL) == 0);
		r = judge(text + at, len - at,
			  &(struct ledger_verify_options){ .checkpoints = &n,
							   .n_checkpoints = 1,
							   .key = &key,
							   .from_checkpoint = true });
		CHECK(r.status == (may ? VERIFY_BARE : VERIFY_TAMPERED));
		CHECK(!may || (r.first == (uint64_t)i && r.next == 15));
		r = judge(text + at, len - at,
			  &(struct ledger_verify_options){
				  .checkpoints = &n, .n_checkpoints = 1, .key = &key });
		CHECK(r.status == (i == 0 ? VERIFY_BARE : VERIFY_TAMPERED));
		at = (size_t)((char *)memchr(text + at, '\n', len - at) + 1 - text);
	}
}

static void a_new_key_is_announced_by_the_ledger_itself(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *old_text = NULL, *new_text = NULL;
	struct ledger_mark before, after;
	struct ledger_birth birth;
	struct checkpoint n[2];

	CHECK(place_make(&p) && fill(&p, 5, NULL, NULL) && take_checkpoint(&p, &old_text, &n[0]));
	CHECK(ledger_repair(p.state, NULL, LEDGER_REPAIR_NEW_KEY, &before, &after, &birth, NULL) == 0);
	CHECK(after.size == before.size + 1 && take_checkpoint(&p, &new_text, &n[1]));
	CHECK(memcmp(n[0].key_id, n[1].key_id, 4) != 0 && strcmp(n[0].origin, n[1].origin) == 0);
	CHECK(against(&p, n, 2, NULL).status == VERIFY_OK && against(&p, n, 2, NULL).checkpoints == 2);
}

static void a_pinned_key_must_be_the_ledgers(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL, *checkpoint = NULL;
	struct checkpoint_key key;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 5, NULL, NULL));
	checkpoint = make_checkpoint(&key);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(checkpoint && text &&
	      judge(text, len, &(struct ledger_verify_options){ .key = &key }).status == VERIFY_TAMPERED);
}

TAP_MAIN(T(signatures_are_those_of_the_standard), T(a_checkpoint_holds_the_signed_values),
	 T(every_changed_byte_of_a_note_is_found), T(keys_that_are_damaged_are_refused),
	 T(a_checkpoint_vouches_for_all_before_it),
	 T(a_rolled_back_disk_is_seen_only_by_a_checkpoint_elsewhere),
	 T(a_checkpoint_of_another_ledger_does_not_fit), T(a_ledger_may_begin_at_a_checkpoint),
	 T(a_new_key_is_announced_by_the_ledger_itself), T(a_pinned_key_must_be_the_ledgers))
