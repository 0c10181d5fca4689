/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approver.h"

#include "approval-fixture.h"
#include "base/array.h"
#include "tap.h"

static void GOV_13_the_first_need_makes_the_first_approver_and_a_record(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver a, again;
	struct stat st;
	char path[256];

	CHECK(bench_make(&b));
	CHECK(approver_own(&b.store, NULL, "alice", &a, NULL) == 0);
	CHECK(strcmp(a.name, "alice") == 0 && a.counts && a.has_secret && !a.has_pin_key &&
	      a.uid == geteuid());
	CHECK(approver_own(&b.store, NULL, "bob", &again, NULL) == 0 && strcmp(again.name, "alice") == 0);
	CHECK(count_records(&b, "key.new") == 1);
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == 0);
	CHECK(memcmp(&key.public, &a.key, sizeof(a.key)) == 0);
	CHECK(place_path(&b.place, "keys/alice.json", path) && stat(path, &st) == 0 &&
	      (st.st_mode & 07777) == 0600);
	CHECK(place_path(&b.place, "keys", path) && stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
}

static void a_name_that_is_no_file_name_is_refused(void)
{
	static const char *const bad[] = { "",
					   ".",
					   "..",
					   "../x",
					   "a/b",
					   "Alice",
					   "a b",
					   "-x",
					   "a\nb",
					   "\xc3\xa4",
					   "abcdefghijklmnopqrstuvwxyz0123456" };
	_cleanup_bench_ struct bench b = { 0 };
	struct approver a;

	CHECK(bench_make(&b));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(approver_new(&b.store, bad[i], &a, NULL) == -EINVAL);
	CHECK(approver_own(&b.store, NULL, "Erika Mustermann", &a, NULL) == 0 &&
	      strcmp(a.name, "local") == 0);
}

static void a_second_key_under_a_name_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct approver a, c;

	CHECK(bench_make(&b));
	CHECK(approver_new(&b.store, "alice", &a, NULL) == 0);
	CHECK(approver_new(&b.store, "alice", &c, NULL) == -EEXIST);
	CHECK(approver_find(&b.store, "alice", &c, NULL) == 0 && memcmp(&a.key, &c.key, sizeof(a.key)) == 0);
	CHECK(approver_new(&b.store, "bob", &c, NULL) == 0);
	CHECK(approver_own(&b.store, NULL, "bob", &c, NULL) == 0 && strcmp(c.name, "bob") == 0);
	CHECK(approver_own(&b.store, NULL, "carol", &c, NULL) == -EINVAL);
	CHECK(approver_own(&b.store, "alice", "carol", &c, NULL) == 0 && strcmp(c.name, "alice") == 0);
}

static void GOV_13_configured_approvers_count_alone(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct approver mine, a;
	char hex[APPROVER_KEY_SIZE];
	struct approver_entry entry = { .name = "boss", .uid = APPROVER_NO_UID };

	CHECK(bench_make(&b) && approver_new(&b.store, "mallory", &mine, NULL) == 0 && mine.counts);
	approver_key_text(&(struct sign_public){ .bytes = { 7 } }, hex);
	entry.key = hex;
	b.rules.approvers = &entry;
	b.rules.n_approvers = 1;
	b.rules.configured = true;
	CHECK(approver_find(&b.store, "mallory", &a, NULL) == 0 && !a.counts && a.has_secret);
	CHECK(approver_find(&b.store, "boss", &a, NULL) == 0 && a.counts && !a.has_secret &&
	      a.uid == APPROVER_NO_UID);
	/* The same key, listed by the admin. */
	approver_key_text(&mine.key, hex);
	entry.name = "mallory";
	CHECK(approver_find(&b.store, "mallory", &a, NULL) == 0 && a.counts && a.has_secret &&
	      a.uid == geteuid());
	/* An empty list is a list. */
	b.rules.n_approvers = 0;
	CHECK(approver_find(&b.store, "mallory", &a, NULL) == 0 && !a.counts);
	entry.key = "not a key";
	b.rules.n_approvers = 1;
	CHECK(approver_find(&b.store, "mallory", &a, NULL) == -EINVAL);
}

static void GOV_6_a_plain_key_listed_as_one_behind_a_PIN_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct approver a;
	char one[APPROVER_KEY_SIZE], two[APPROVER_KEY_SIZE];
	struct approver_entry e[] = { { .name = "alice", .key = one, .pin_key = two, .uid = APPROVER_NO_UID },
				      { .name = "bob", .key = two, .uid = APPROVER_NO_UID } };

	CHECK(bench_make(&b));
	approver_key_text(&(struct sign_public){ .bytes = { 1 } }, one);
	approver_key_text(&(struct sign_public){ .bytes = { 2 } }, two);
	b.rules = (struct approval_rules){ .approvers = e, .n_approvers = 1, .configured = true };
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0);
	b.rules.n_approvers = 2;
	CHECK(approver_find(&b.store, "alice", &a, NULL) == -EINVAL);
	b.rules.n_approvers = 1;
	e[0].pin_key = one;
	CHECK(approver_find(&b.store, "alice", &a, NULL) == -EINVAL);
}

static void GOV_13_no_first_approver_where_the_admin_has_a_list(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct approver a;

	CHECK(bench_make(&b));
	b.rules.configured = true;
	CHECK(approver_own(&b.store, NULL, "alice", &a, NULL) == -ENOKEY);
	CHECK(count_records(&b, "key.new") == 0);
}

static void LANE_6_a_key_of_the_other_lane_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver_list l = { 0 };
	struct approver a;

	CHECK(bench_make(&b) && approver_new(&b.store, "alice", &a, NULL) == 0);
	(void)snprintf(b.store.lane, sizeof(b.store.lane), "prod");
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == -EACCES);
	CHECK(approver_list(&b.store, &l, NULL) == -EACCES);
}

static void a_file_under_another_name_gives_no_second_voice(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_free_ char *text = NULL;
	struct approver a;
	size_t len;

	CHECK(bench_make(&b) && approver_new(&b.store, "alice", &a, NULL) == 0);
	text = slurp(&b.place, "approvers/alice.json", &len);
	CHECK(text && spit(&b.place, "approvers/bob.json", text, len));
	CHECK(approver_find(&b.store, "alice", &a, NULL) == -EINVAL);
}

static void a_state_that_others_may_write_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct approval_store other = { .dirfd = -EBADF };
	struct approver a;
	char path[256];

	CHECK(bench_make(&b) && chmod(b.place.state, 0777) == 0);
	CHECK(approval_store_open(b.place.state, "sandbox", NULL, NULL, &other, NULL) == -EPERM);
	CHECK(chmod(b.place.state, 0700) == 0 && approver_new(&b.store, "alice", &a, NULL) == 0);
	CHECK(place_path(&b.place, "approvers", path) && chmod(path, 0770) == 0);
	CHECK(approver_find(&b.store, "alice", &a, NULL) == -EPERM);
	if (geteuid() == 0) {
		CHECK(chmod(path, 0700) == 0 && chown(b.place.state, 65534, 65534) == 0);
		CHECK(approval_store_open(b.place.state, "sandbox", NULL, NULL, &other, NULL) == -EPERM);
		CHECK(chown(b.place.state, 0, 0) == 0);
	}
}

static bool make_alice(struct bench *b)
{
	struct approver a;

	return approver_own(&b->store, NULL, "alice", &a, NULL) == 0;
}

static void killed_at_every_call_a_key_exists_or_can_be_created(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		struct approver a;

		CHECK(bench_make(&b));
		n += n ? (unsigned int)tap_stride() : 1;
		r = kill_at(n, make_alice, &b);
		CHECK(r >= 0 && n < 1000);
		CHECK(approver_own(&b.store, NULL, "alice", &a, NULL) == 0 && a.counts && a.has_secret);
		CHECK(count_records(&b, "key.new") >= 1 && bench_is_complete(&b));
	} while (r > 0);
	CHECK(n > 20 || tap_stride() > 1);
}

static bool race_alice(struct bench *b, unsigned int i)
{
	(void)i;
	return make_alice(b);
}

static void sixteen_first_needs_make_one_key(void)
{
	_cleanup_bench_ struct bench b = { 0 };

	CHECK(bench_make(&b) && race(16, race_alice, &b) == 16);
	CHECK(count_records(&b, "key.new") == 1);
}

TAP_MAIN(T(GOV_13_the_first_need_makes_the_first_approver_and_a_record),
	 T(a_name_that_is_no_file_name_is_refused), T(a_second_key_under_a_name_is_refused),
	 T(GOV_13_configured_approvers_count_alone),
	 T(GOV_6_a_plain_key_listed_as_one_behind_a_PIN_is_refused),
	 T(GOV_13_no_first_approver_where_the_admin_has_a_list), T(LANE_6_a_key_of_the_other_lane_is_refused),
	 T(a_file_under_another_name_gives_no_second_voice), T(a_state_that_others_may_write_is_refused),
	 T(killed_at_every_call_a_key_exists_or_can_be_created), T(sixteen_first_needs_make_one_key))
