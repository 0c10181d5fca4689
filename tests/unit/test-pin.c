/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/pin.h"

#include <crypt.h>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "approval-fixture.h"
#include "approval/pin-impl.h"
#include "base/array.h"
#include "tap.h"

#define OTHER "3141592653589793"

/*
 * The comparison of a PIN begins with crypt_r: this one stands before that of libcrypt and sees the state on the disk
 * at that moment.
 */
static struct {
	int keysfd;	/* negative: not watched */
	bool die;	/* killed there */
	uint64_t calls; /* seen */
	uint64_t failed_all;
} at_compare = { .keysfd = -EBADF };

char *crypt_r(const char *phrase, const char *setting, struct crypt_data *data)
{
	/* As POSIX has it: the pointer of a function through that of an object. */
	char *(*next)(const char *, const char *, struct crypt_data *) = NULL;
	struct pin_tries t = { 0 };

	*(void **)&next = dlsym(RTLD_NEXT, "crypt_r");
	if (at_compare.keysfd >= 0) {
		at_compare.calls++;
		at_compare.failed_all =
			pin_tries_read(at_compare.keysfd, "alice", &t, NULL) == 0 ? t.failed_all : UINT64_MAX;
		if (at_compare.die)
			(void)kill(getpid(), SIGKILL);
	}
	return next ? next(phrase, setting, data) : NULL;
}

static bool with_pin(struct bench *b)
{
	struct pin_answer answer;
	struct approver a;

	return bench_make(b) && approver_new(&b->store, "alice", &a, NULL) == 0 &&
	       pin_set(&b->store, "alice", NULL, PIN, &answer, &a, NULL) == 0 && a.has_pin_secret && a.counts;
}

static struct pin_answer try_pin(struct bench *b, const char *pin)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer = { .result = PIN_UNSET };
	struct approver a;

	if (!told(pin_try(&b->store, "alice", pin, &answer, &key, &f), &f))
		answer.result = PIN_UNSET;
	/* A key if and only if it was right, and the one that counts. */
	if (answer.result == PIN_RIGHT && (approver_find(&b->store, "alice", &a, NULL) < 0 ||
					   memcmp(&a.pin_key, &key.public, sizeof(key.public)) != 0))
		answer.result = PIN_UNSET;
	if (answer.result != PIN_RIGHT && memcmp(&key, &(struct sign_secret){ 0 }, sizeof(key)) != 0)
		answer.result = PIN_RIGHT;
	return answer;
}

static void GOV_10_no_default_PIN_exists(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer;
	struct approver a;

	CHECK(bench_make(&b) && pin_try(&b.store, "alice", PIN, &answer, &key, NULL) == -ENOENT);
	CHECK(approver_new(&b.store, "alice", &a, NULL) == 0 && !a.has_pin_key);
	CHECK(pin_try(&b.store, "alice", "", &answer, &key, NULL) == 0 && answer.result == PIN_UNSET);
	CHECK(pin_status(&b.store, "alice", &answer, NULL) == 0 && answer.result == PIN_UNSET);
	CHECK(pin_set(&b.store, "alice", PIN, OTHER, &answer, &a, NULL) == 0 && answer.result == PIN_UNSET);
	CHECK(count_records(&b, "pin.set") == 0);
}

static void GOV_10_short_long_and_obvious_PINs_are_refused(void)
{
	static const char *const bad[] = { "",	     "27182",  "27182a", " 271828",    "271828 ", "000000",
					   "111111", "123456", "987654", "0123456789", "27182８" };
	_cleanup_bench_ struct bench b = { 0 };
	char long_one[PIN_DIGITS_MAX + 2];
	struct pin_answer answer;
	struct approver a;

	CHECK(bench_make(&b) && approver_new(&b.store, "alice", &a, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(pin_set(&b.store, "alice", NULL, bad[i], &answer, &a, NULL) == -EINVAL);
	memset(long_one, '2', sizeof(long_one) - 1);
	long_one[0] = '7';
	long_one[sizeof(long_one) - 1] = '\0';
	CHECK(pin_check(long_one, NULL) == -EINVAL);
	long_one[sizeof(long_one) - 2] = '\0';
	CHECK(pin_check(long_one, NULL) == 0 && pin_check("121212", NULL) == 0);
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0 && !a.has_pin_key);
}

static void GOV_10_right_and_wrong_PINs_are_recorded(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct pin_answer answer;

	CHECK(with_pin(&b) && try_pin(&b, PIN).result == PIN_RIGHT);
	answer = try_pin(&b, OTHER);
	CHECK(answer.result == PIN_WRONG && answer.tries_left == 2 && answer.wait_s == 0);
	answer = try_pin(&b, "");
	CHECK(answer.result == PIN_WRONG && answer.tries_left == 1);
	answer = try_pin(&b, PIN);
	CHECK(answer.result == PIN_RIGHT && answer.failed_before == 2 && answer.tries_left == 3);
	/* A right one forgives. */
	CHECK(try_pin(&b, OTHER).tries_left == 2);
	CHECK(count_records(&b, "pin.try") == 5 && count_records(&b, "pin.result") == 5);
	CHECK(count_records(&b, "pin.set") == 1 && bench_is_complete(&b));
}

static bool has_text(const struct bench *b, const char *file, const char *text)
{
	size_t len = 0;
	_cleanup_free_ char *bytes = slurp(&b->place, file, &len);

	return !bytes || memmem(bytes, len, text, strlen(text));
}

static void GOV_10_the_PIN_and_its_hash_are_stored_nowhere(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_close_ int keysfd = -EBADF;

	CHECK(with_pin(&b) && try_pin(&b, PIN).result == PIN_RIGHT && try_pin(&b, OTHER).result == PIN_WRONG);
	CHECK(!has_text(&b, FIRST_SEGMENT, PIN) && !has_text(&b, FIRST_SEGMENT, OTHER));
	CHECK(!has_text(&b, "keys/alice.json", PIN) && !has_text(&b, "keys/alice.tries", PIN));
	CHECK(!has_text(&b, "approvers/alice.json", PIN));
	keysfd = approval_store_open_dir(&b.store, APPROVAL_STORE_KEYS, false, NULL);
	CHECK(keysfd >= 0 && approver_file_read(keysfd, &b.store, "alice", &k, NULL) == 0);
	/* yescrypt; its setting ends before the hash would begin. */
	CHECK(strncmp(k.setting, "$y$", 3) == 0 && strlen(k.setting) < 43);
}

static void GOV_10_the_third_wrong_one_locks_and_each_lock_doubles(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct pin_answer answer;
	uint64_t lock_s = PIN_LOCK_S;

	CHECK(with_pin(&b) && bench_stop_clock(&b));
	for (int round = 0; round < 4; round++, lock_s *= 2) {
		CHECK(try_pin(&b, OTHER).tries_left == 2 && try_pin(&b, OTHER).tries_left == 1);
		answer = try_pin(&b, OTHER);
		CHECK(answer.result == PIN_WRONG && answer.tries_left == 0 && answer.wait_s == lock_s);
		/* The right one does not help now, and is not looked at. */
		answer = try_pin(&b, PIN);
		CHECK(answer.result == PIN_LOCKED && answer.wait_s == lock_s);
		bench_pass(&b, lock_s - 1);
		CHECK(try_pin(&b, PIN).result == PIN_LOCKED);
		CHECK(pin_status(&b.store, "alice", &answer, NULL) == 0 && answer.result == PIN_LOCKED &&
		      answer.wait_s == 1);
		bench_pass(&b, 1);
		CHECK(pin_status(&b.store, "alice", &answer, NULL) == 0 && answer.result == PIN_RIGHT &&
		      answer.tries_left == 3);
	}
	/* Right at last: tries are forgiven, locks are not. */
	CHECK(try_pin(&b, PIN).result == PIN_RIGHT);
	CHECK(try_pin(&b, OTHER).tries_left == 2 && try_pin(&b, OTHER).tries_left == 1);
	CHECK(try_pin(&b, OTHER).wait_s == lock_s);
	CHECK(count_records(&b, "pin.try") == 4 * 5 + 4);
}

static void GOV_10_neither_clock_nor_reboot_ends_a_lock_early(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct moment at;

	CHECK(with_pin(&b) && bench_stop_clock(&b));
	for (int i = 0; i < 3; i++)
		CHECK(try_pin(&b, OTHER).result == PIN_WRONG);
	at = b.now;
	/* The wall clock is set forward; the time since boot is what it is. */
	b.now.wall_us += (uint64_t)86400 * 1000000;
	CHECK(try_pin(&b, PIN).result == PIN_LOCKED);
	/* Set back: later by the one, not by the other. */
	b.now = at;
	bench_pass(&b, PIN_LOCK_S);
	b.now.wall_us = at.wall_us - (uint64_t)3600 * 1000000;
	CHECK(try_pin(&b, PIN).result == PIN_LOCKED);
	/* Rebooted with the clock set forward: only the time since the boot is certain to have passed. */
	b.now = at;
	b.now.wall_us += (uint64_t)86400 * 1000000;
	b.now.boot_ns = (PIN_LOCK_S - 1) * 1000000000;
	(void)snprintf(b.now.boot, sizeof(b.now.boot), "%s", "00c0ffee");
	CHECK(try_pin(&b, PIN).result == PIN_LOCKED);
	b.now.boot_ns = PIN_LOCK_S * 1000000000;
	CHECK(try_pin(&b, PIN).result == PIN_RIGHT);
}

static void GOV_10_pin_set_ends_a_lock_with_a_new_key(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	struct pin_answer answer;
	struct approver before, a;

	CHECK(with_pin(&b) && bench_stop_clock(&b) && approver_find(&b.store, "alice", &before, NULL) == 0);
	CHECK(approve(&b, "cp", "alice", &(struct grant_terms){ .level = 'C' }, &g) &&
	      look(&b, "cp", 'C') == GRANT_VALID);
	for (int i = 0; i < 3; i++)
		CHECK(try_pin(&b, OTHER).result == PIN_WRONG);
	/* The old PIN cannot be proven while it is locked. */
	CHECK(pin_set(&b.store, "alice", PIN, OTHER, &answer, &a, NULL) == 0 && answer.result == PIN_LOCKED);
	CHECK(pin_set(&b.store, "alice", NULL, OTHER, &answer, &a, NULL) == 0 && answer.result == PIN_RIGHT);
	CHECK(memcmp(&a.pin_key, &before.pin_key, sizeof(a.pin_key)) != 0);
	CHECK(memcmp(&a.key, &before.key, sizeof(a.key)) == 0);
	CHECK(try_pin(&b, PIN).result == PIN_WRONG && try_pin(&b, OTHER).result == PIN_RIGHT);
	/* Signatures of the old key are void: resetting a PIN does not inherit its grants. */
	CHECK(look(&b, "cp", 'C') == GRANT_UNKNOWN_KEY);
	/* And the next lock is short again. */
	CHECK(try_pin(&b, PIN).tries_left == 2 && try_pin(&b, PIN).tries_left == 1 &&
	      try_pin(&b, PIN).wait_s == PIN_LOCK_S);
}

static void GOV_10_a_changed_PIN_keeps_the_key(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	struct pin_answer answer;
	struct approver before, a;

	CHECK(with_pin(&b) && approver_find(&b.store, "alice", &before, NULL) == 0);
	CHECK(approve(&b, "cp", "alice", &(struct grant_terms){ .level = 'C' }, &g));
	CHECK(pin_set(&b.store, "alice", OTHER, "161803", &answer, &a, NULL) == 0 &&
	      answer.result == PIN_WRONG);
	CHECK(answer.tries_left == 2 && try_pin(&b, PIN).result == PIN_RIGHT);
	CHECK(pin_set(&b.store, "alice", PIN, OTHER, &answer, &a, NULL) == 0 && answer.result == PIN_RIGHT);
	CHECK(memcmp(&a.pin_key, &before.pin_key, sizeof(a.pin_key)) == 0 &&
	      look(&b, "cp", 'C') == GRANT_VALID);
	CHECK(try_pin(&b, OTHER).result == PIN_RIGHT && try_pin(&b, PIN).result == PIN_WRONG);
}

static void GOV_10_without_a_counter_no_PIN_is_tried(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer;
	char path[256];

	CHECK(with_pin(&b) && place_path(&b.place, "keys/alice.tries", path) && unlink(path) == 0);
	CHECK(pin_try(&b.store, "alice", PIN, &answer, &key, NULL) == -EBADMSG);
	CHECK(spit(&b.place, "keys/alice.tries", "{}", 2) &&
	      pin_try(&b.store, "alice", PIN, &answer, &key, NULL) < 0);
	CHECK(spit(&b.place, "keys/alice.tries", "", 0) &&
	      pin_try(&b.store, "alice", PIN, &answer, &key, NULL) < 0);
	CHECK(memcmp(&key, &(struct sign_secret){ 0 }, sizeof(key)) == 0);
}

static void GOV_10_a_box_fits_only_its_own_name_and_lane(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	_cleanup_close_ int keysfd = -EBADF;

	CHECK(with_pin(&b));
	keysfd = approval_store_open_dir(&b.store, APPROVAL_STORE_KEYS, false, NULL);
	CHECK(keysfd >= 0 && approver_file_read(keysfd, &b.store, "alice", &k, NULL) == 0);
	CHECK(pin_unwrap(PIN, &k, &key, NULL) == 1);
	k.public.name[0] = 'b';
	CHECK(pin_unwrap(PIN, &k, &key, NULL) == 0);
	k.public.name[0] = 'a';
	(void)snprintf(k.public.lane, sizeof(k.public.lane), "prod");
	CHECK(pin_unwrap(PIN, &k, &key, NULL) == 0);
	(void)snprintf(k.public.lane, sizeof(k.public.lane), "sandbox");
	for (size_t i = 0; i < sizeof(k.box); i++) {
		k.box[i] ^= 1;
		CHECK(pin_unwrap(PIN, &k, &key, NULL) == 0);
		k.box[i] ^= 1;
	}
	CHECK(pin_unwrap(PIN, &k, &key, NULL) == 1);
}

static bool wrong_try(struct bench *b)
{
	return try_pin(b, OTHER).result == PIN_WRONG;
}

/* With any number of kills: never more than three comparisons of the PIN before a lock. */
static void GOV_10_killed_at_every_call_of_a_try_it_is_counted_before_it_is_known(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		struct pin_tries t = { 0 };
		_cleanup_close_ int keysfd = -EBADF;
		size_t told_of;

		CHECK(with_pin(&b));
		keysfd = approval_store_open_dir(&b.store, APPROVAL_STORE_KEYS, false, NULL);
		n += n ? (unsigned int)tap_stride() : 1;
		r = kill_at(n, wrong_try, &b);
		CHECK(r >= 0 && n < 1000 && pin_tries_read(keysfd, "alice", &t, NULL) == 0);
		/* The answer is in the ledger only if the try is counted, and a counted try is in the ledger. */
		told_of = count_records(&b, "pin.result");
		CHECK(told_of <= t.failed_all && t.failed_all <= count_records(&b, "pin.try"));
		CHECK(r > 0 || (told_of == 1 && t.failed_all == 1));
		CHECK(try_pin(&b, PIN).result == PIN_RIGHT && bench_is_complete(&b));
	} while (r > 0);
	printf("# %u calls\n", n - 1);
	CHECK(n > 20 || tap_stride() > 1);
}

static void GOV_10_a_try_is_counted_before_it_is_compared(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_close_ int keysfd = -EBADF;

	CHECK(with_pin(&b));
	keysfd = approval_store_open_dir(&b.store, APPROVAL_STORE_KEYS, false, NULL);
	at_compare.keysfd = keysfd;
	at_compare.calls = 0;
	CHECK(keysfd >= 0 && try_pin(&b, OTHER).result == PIN_WRONG);
	CHECK(at_compare.calls == 1 && at_compare.failed_all == 1);
	CHECK(try_pin(&b, OTHER).result == PIN_WRONG && at_compare.failed_all == 2);
	/* Also the right one: until it is known to be right it is a wrong one. */
	CHECK(try_pin(&b, PIN).result == PIN_RIGHT && at_compare.calls == 3 && at_compare.failed_all == 3);
	at_compare.keysfd = -EBADF;
}

/* Each time right before the comparison, at which a debugger could stop it. */
static void GOV_10_three_kills_between_counter_and_compare_lock(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_close_ int keysfd = -EBADF;
	struct pin_tries t = { 0 };

	CHECK(with_pin(&b));
	keysfd = approval_store_open_dir(&b.store, APPROVAL_STORE_KEYS, false, NULL);
	for (uint64_t killed = 1; killed <= 3; killed++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			at_compare.keysfd = keysfd;
			at_compare.die = true;
			(void)wrong_try(&b);
			_exit(0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		CHECK(pin_tries_read(keysfd, "alice", &t, NULL) == 0 && t.failed_all == killed);
		CHECK(count_records(&b, "pin.try") == killed && count_records(&b, "pin.result") == 0);
	}
	CHECK(try_pin(&b, PIN).result == PIN_LOCKED);
}

static bool guess(struct bench *b, unsigned int i)
{
	char pin[16];

	(void)snprintf(pin, sizeof(pin), "%06u", 271820 + i); /* the right one is among them */
	return try_pin(b, pin).result != PIN_LOCKED;
}

static void GOV_10_sixteen_at_once_get_three_tries(void)
{
	_cleanup_bench_ struct bench b = { 0 };

	CHECK(with_pin(&b));
	/* One right guess would forgive the wrong ones before it: make none right. */
	{
		struct pin_answer answer;
		struct approver a;

		CHECK(pin_set(&b.store, "alice", NULL, "999998", &answer, &a, NULL) == 0);
	}
	CHECK(race(16, guess, &b) == 3 && count_records(&b, "pin.try") == 16);
	CHECK(try_pin(&b, "999998").result == PIN_LOCKED);
}

static bool set_other(struct bench *b)
{
	struct pin_answer answer;
	struct approver a;

	return pin_set(&b->store, "alice", NULL, OTHER, &answer, &a, NULL) == 0;
}

static void GOV_10_killed_at_every_call_of_pin_set_the_lock_of_the_old_one_holds(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_sign_ struct sign_secret key = { 0 };
		struct pin_answer answer = { 0 };
		struct approver a;

		CHECK(with_pin(&b));
		for (int i = 0; i < 3; i++)
			CHECK(try_pin(&b, OTHER).result == PIN_WRONG);
		n += n ? 4 * (unsigned int)tap_stride() : 1;
		r = kill_at(n, set_other, &b);
		CHECK(r >= 0 && n < 2000);
		/* Never the old PIN with a fresh count. */
		CHECK(pin_try(&b.store, "alice", PIN, &answer, &key, NULL) < 0 || answer.result != PIN_RIGHT);
		CHECK(pin_set(&b.store, "alice", NULL, "161803", &answer, &a, NULL) == 0);
		CHECK(try_pin(&b, "161803").result == PIN_RIGHT);
	} while (r > 0);
}

static void GOV_10_a_try_that_cannot_be_recorded_is_not_compared(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer;

	CHECK(with_pin(&b));
	b.store.ledger = NULL;
	CHECK(pin_try(&b.store, "alice", PIN, &answer, &key, NULL) == -ENOENT);
	CHECK(memcmp(&key, &(struct sign_secret){ 0 }, sizeof(key)) == 0);
}

static void the_shield_is_raised_and_lowered(void)
{
	struct pin_protect s = { 0 };
	struct rlimit before, now;
	int dumpable = prctl(PR_GET_DUMPABLE);

	CHECK(getrlimit(RLIMIT_CORE, &before) == 0);
	pin_protect_end(&s); /* never raised: nothing to do */
	pin_protect_begin(&s);
	CHECK(getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur == 0 && prctl(PR_GET_DUMPABLE) == 0);
	pin_protect_end(&s);
	CHECK(getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur == before.rlim_cur);
	CHECK(prctl(PR_GET_DUMPABLE) == dumpable);
}

static void a_PIN_is_forgotten(void)
{
	struct pin_text p;

	pin_text_init(&p);
	memcpy(p.digits, PIN, sizeof(PIN));
	pin_text_done(&p);
	for (size_t i = 0; i < sizeof(p.digits); i++)
		CHECK(p.digits[i] == 0);
}

TAP_MAIN(T(GOV_10_no_default_PIN_exists), T(GOV_10_short_long_and_obvious_PINs_are_refused),
	 T(GOV_10_right_and_wrong_PINs_are_recorded), T(GOV_10_the_PIN_and_its_hash_are_stored_nowhere),
	 T(GOV_10_the_third_wrong_one_locks_and_each_lock_doubles),
	 T(GOV_10_neither_clock_nor_reboot_ends_a_lock_early), T(GOV_10_pin_set_ends_a_lock_with_a_new_key),
	 T(GOV_10_a_changed_PIN_keeps_the_key), T(GOV_10_without_a_counter_no_PIN_is_tried),
	 T(GOV_10_a_box_fits_only_its_own_name_and_lane),
	 T(GOV_10_killed_at_every_call_of_a_try_it_is_counted_before_it_is_known),
	 T(GOV_10_a_try_is_counted_before_it_is_compared),
	 T(GOV_10_three_kills_between_counter_and_compare_lock), T(GOV_10_sixteen_at_once_get_three_tries),
	 T(GOV_10_killed_at_every_call_of_pin_set_the_lock_of_the_old_one_holds),
	 T(GOV_10_a_try_that_cannot_be_recorded_is_not_compared), T(the_shield_is_raised_and_lowered),
	 T(a_PIN_is_forgotten))
