/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Grants under races, kills, full and read-only disks: never two starts from one use, never one without a record. */
#include "approval/grant.h"

#include <sched.h>
#include <sys/mount.h>

#include "approval-fixture.h"
#include "approval/grant-impl.h"
#include "tap.h"

static const struct grant_terms once = { .level = 'B' }, five = { .level = 'B', .uses = 5 };

static bool start(struct bench *b, unsigned int i)
{
	char session[16];

	(void)snprintf(session, sizeof(session), "s%u", i);
	return reserve(b, "make", 'B', session) == GRANT_VALID &&
	       consume(b, "make", 'B', session) == GRANT_VALID;
}

static void GOV_11_sixteen_starts_race_for_one_use(void)
{
	for (int round = 0; round < (tap_is_full() ? 50 : 8); round++) {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_grant_ struct grant g = { 0 };

		CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
		CHECK(race(16, start, &b) == 1);
		CHECK(count_records(&b, "grant.consume") == 1 && look(&b, "make", 'B') == GRANT_CONSUMED);
		CHECK(bench_is_complete(&b));
	}
}

static void GOV_11_sixteen_starts_race_for_five_uses(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &five, &g));
	/* Who reserves a use ends before all have asked, so that no more than five can get one. */
	CHECK(race(16, start, &b) == 5);
	CHECK(count_records(&b, "grant.consume") == 5 && look(&b, "make", 'B') == GRANT_CONSUMED &&
	      bench_is_complete(&b));
}

/* Each passes the grant as a file, as engines do. */
static char *carried;

static bool bring_and_start(struct bench *b, unsigned int i)
{
	_cleanup_grant_ struct grant g = { 0 };
	enum grant_reason r = import(b, carried, &g);

	return (r == GRANT_VALID || r == GRANT_RESERVED) && start(b, i);
}

static void GOV_11_sixteen_copies_of_an_imported_grant_are_one(void)
{
	_cleanup_bench_ struct bench here = { 0 }, laptop = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	char keys[2][APPROVER_KEY_SIZE];
	struct approver_entry e;

	CHECK(bench_make(&here) && bench_make(&laptop) && trust_boss(&here, &laptop, keys, &e));
	CHECK(sign_far(&here, &laptop, "make", &once, &g));
	carried = g.text;
	CHECK(race(16, bring_and_start, &here) == 1);
	CHECK(count_records(&here, "grant.consume") == 1 && count_records(&here, "approval.grant") == 1);
	CHECK(bench_is_complete(&here));
}

static bool reserve_only(struct bench *b)
{
	return reserve(b, "make", 'B', "dead") == GRANT_VALID;
}

static bool start_dead(struct bench *b)
{
	return reserve(b, "make", 'B', "dead") == GRANT_VALID &&
	       consume(b, "make", 'B', "dead") == GRANT_VALID;
}

static void GOV_11_the_reservation_of_a_dead_session_is_released(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	int status;
	pid_t pid;

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		_exit(!reserve_only(&b));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_VALID && reserve(&b, "make", 'B', "next") == GRANT_VALID);
	CHECK(count_records(&b, "grant.release") == 1 && consume(&b, "make", 'B', "dead") == GRANT_NONE);
	CHECK(consume(&b, "make", 'B', "next") == GRANT_VALID && bench_is_complete(&b));
}

static void GOV_11_a_reservation_names_the_process_that_counts(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_grants_ struct grant_set set = { 0 }, none = { 0 };
	const struct grant_query q = { .digest = &g.digest, .level = 'B', .uid = 4242 };
	int pipes[2], status;
	pid_t warden;

	/* A hook reserves for a warden that keeps running. */
	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g) && pipe(pipes) == 0);
	warden = fork();
	CHECK(warden >= 0);
	if (warden == 0) {
		char c;

		(void)close(pipes[1]);
		_exit(read(pipes[0], &c, 1) != 0);
	}
	(void)close(pipes[0]);
	CHECK(grant_reserve(&b.store, &q, &(struct grant_owner){ .session = "s", .pid = warden }, &set,
			    NULL) == 0);
	CHECK(set.reason == GRANT_VALID && reserve(&b, "make", 'B', "t") == GRANT_RESERVED);
	(void)close(pipes[1]);
	/* A zombie starts nothing any more. */
	CHECK(waitid(P_PID, (id_t)warden, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	CHECK(waitpid(warden, &status, 0) == warden && reserve(&b, "make", 'B', "t") == GRANT_VALID);
	CHECK(grant_reserve(&b.store, &q, &(struct grant_owner){ .session = "s", .pid = warden }, &none,
			    NULL) == -ESRCH);
	CHECK(grant_reserve(&b.store, &q, &(struct grant_owner){ .session = "../s" }, &none, NULL) ==
	      -EINVAL);
}

static void GOV_11_a_reboot_releases_reservations(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g) &&
	      reserve(&b, "make", 'B', "s") == GRANT_VALID);
	CHECK(look(&b, "make", 'B') == GRANT_RESERVED && bench_stop_clock(&b));
	(void)snprintf(b.now.boot, sizeof(b.now.boot), "%s", "00c0ffee");
	b.now.boot_ns = 1;
	CHECK(look(&b, "make", 'B') == GRANT_VALID && consume(&b, "make", 'B', "s") == GRANT_NONE);
}

/*
 * Killed before each call of reserve and consume in turn.  Then: the record of the use decides.  With it the grant is
 * spent, without it the next start gets it.
 */
static void GOV_11_killed_at_every_call_of_a_start_it_is_spent_iff_recorded(void)
{
	unsigned int n = 0, spent = 0, free_again = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_grant_ struct grant g = { 0 };
		bool recorded, won;

		CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
		n += n ? (unsigned int)tap_stride() : 1;
		r = kill_at(n, start_dead, &b);
		CHECK(r >= 0 && n < 2000);
		recorded = count_records(&b, "grant.consume") == 1;
		/* Whether the next start cleans up, or another process did before. */
		CHECK(n % 2 || grant_release(&b.store, "dead", "lost", NULL) == 0);
		won = start(&b, n);
		CHECK(won == !recorded && count_records(&b, "grant.consume") == 1);
		CHECK(look(&b, "make", 'B') == GRANT_CONSUMED && !start(&b, n + 1) && bench_is_complete(&b));
		spent += recorded;
		free_again += !recorded;
	} while (r > 0);
	printf("# %u calls: %u spent, %u free again\n", n - 1, spent, free_again);
	CHECK(spent > 1 && free_again > 1);
}

static bool import_carried(struct bench *b)
{
	_cleanup_grant_ struct grant g = { 0 };

	return import(b, carried, &g) == GRANT_VALID;
}

static void GOV_11_killed_at_every_call_of_an_import_it_is_not_lost(void)
{
	_cleanup_bench_ struct bench laptop = { 0 };
	char keys[2][APPROVER_KEY_SIZE];
	struct approver_entry e;
	unsigned int n = 0;
	int r;

	CHECK(bench_make(&laptop));
	do {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_grant_ struct grant g = { 0 };

		CHECK(bench_make(&b) && trust_boss(&b, &laptop, keys, &e) &&
		      sign_far(&b, &laptop, "make", &once, &g));
		carried = g.text;
		n += n ? (unsigned int)tap_stride() : 1;
		r = kill_at(n, import_carried, &b);
		CHECK(r >= 0 && n < 2000 && import_carried(&b));
		CHECK(start(&b, 1) && !start(&b, 2) && !import_carried(&b) && bench_is_complete(&b));
	} while (r > 0);
}

static bool approve_make(struct bench *b)
{
	_cleanup_grant_ struct grant g = { 0 };

	return approve(b, "make", "alice", &once, &g);
}

static void killed_at_every_call_of_an_approval_it_can_be_given_again(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		size_t granted;

		CHECK(bench_make(&b));
		n += n ? 3 * (unsigned int)tap_stride() : 1;
		r = kill_at(n, approve_make, &b);
		CHECK(r >= 0 && n < 3000);
		granted = count_records(&b, "approval.grant");
		/* A file only behind its record. */
		CHECK(look(&b, "make", 'B') == GRANT_NONE || granted == 1);
		CHECK(look(&b, "make", 'B') == GRANT_VALID || approve_make(&b));
		CHECK(start(&b, 1) && bench_is_complete(&b));
	} while (r > 0);
}

static bool revoke_all(struct bench *b)
{
	_cleanup_grants_ struct grant_set set = { 0 };

	return grant_list(&b->store, &set, NULL) == 0 && set.n == 1 &&
	       grant_revoke(&b->store, set.items[0].grant.id, "alice", NULL, NULL) == 0;
}

static bool start_or_revoke(struct bench *b, unsigned int i)
{
	return i == 0 ? (revoke_all(b), false) : start(b, i);
}

static void GOV_11_a_revocation_that_races_is_before_or_behind_the_start(void)
{
	for (int round = 0; round < 8; round++) {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_grant_ struct grant g = { 0 };
		int won;

		CHECK(bench_make(&b) && approve(&b, "make", "alice", &five, &g));
		won = race(8, start_or_revoke, &b);
		CHECK(won >= 0 && count_records(&b, "grant.consume") == (size_t)won);
		CHECK(look(&b, "make", 'B') == GRANT_REVOKED && !start(&b, 99));
		/* verify would name a use behind the revocation. */
		CHECK(bench_is_complete(&b));
	}
}

/* --- disks ------------------------------------------------------------------------------------------------- */

/* Runs FN in a child with a tmpfs of 1 MiB as the lane's state; its exit status. */
static int on_small_disk(int (*fn)(struct bench *b))
{
	struct place p = { 0 };
	int status = -1;
	pid_t pid;

	if (!place_make_on_disk(&p))
		return -1;
	pid = fork();
	if (pid == 0) {
		struct bench of = { .place = p, .rules = { .allow_self = true } }, b;

		if (!child_own_mounts() || mount("tmpfs", p.state, "tmpfs", 0, "size=1m,mode=0700") < 0)
			_exit(77);
		_exit(bench_join(&b, &of) ? fn(&b) : 2);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		status = WEXITSTATUS(status);
	(void)rmdir(p.state);
	return status;
}

static bool hog(const struct bench *b)
{
	static const char zero[4096];
	char path[256];
	_cleanup_close_ int fd = -EBADF;

	if (!place_path(&b->place, "hog", path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, zero, sizeof(zero)) > 0)
		;
	return fd >= 0 && errno == ENOSPC;
}

static bool unhog(const struct bench *b)
{
	char path[256];

	return place_path(&b->place, "hog", path) && unlink(path) == 0;
}

static int full(struct bench *b)
{
	_cleanup_grant_ struct grant g = { 0 }, h = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer = { 0 };

	if (!approve(b, "make", "alice", &once, &g) ||
	    !approve(b, "cp", "alice", &(struct grant_terms){ .level = 'C' }, &h))
		return 3;
	if (!hog(b))
		return 4;
	if (reserve(b, "make", 'B', "s1") == GRANT_VALID)
		return 5;
	if (ask(b, "rm", 'B', &rq) == 0)
		return 6;
	if (pin_try(&b->store, "alice", PIN, &answer, &key, NULL) == 0)
		return 7;
	if (!unhog(b) || reserve(b, "make", 'B', "s2") != GRANT_VALID || !hog(b))
		return 8;
	/* Reserved, and now the record of the use has no room: it does not start. */
	if (consume(b, "make", 'B', "s2") == GRANT_VALID)
		return 9;
	if (!unhog(b) || consume(b, "make", 'B', "s2") != GRANT_VALID ||
	    consume(b, "make", 'B', "s2") != GRANT_CONSUMED)
		return 10;
	return bench_is_complete(b) ? 0 : 11;
}

static void GOV_11_a_full_disk_refuses_and_forgets_nothing(void)
{
	int status = on_small_disk(full);

	printf("# %d\n", status);
	CHECK(status == 0 || (status == 77 && geteuid() != 0));
}

static int read_only(struct bench *b)
{
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_request_ struct request rq = { 0 };

	if (!approve(b, "make", "alice", &once, &g))
		return 3;
	if (reserve(b, "make", 'B', "s1") != GRANT_VALID)
		return 4;
	/* The ledger stays writable: a start that cannot be counted is still refused. */
	{
		char path[256];

		if (!place_path(&b->place, "grants", path) || mount(path, path, "none", MS_BIND, NULL) < 0 ||
		    mount("none", path, "none", MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
			return 77;
	}
	if (consume(b, "make", 'B', "s1") == GRANT_VALID)
		return 5;
	if (reserve(b, "make", 'B', "s2") == GRANT_VALID)
		return 6;
	return ask(b, "rm", 'B', &rq) == 0 ? 0 : 7;
}

static void GOV_11_a_read_only_state_refuses(void)
{
	int status = on_small_disk(read_only);

	printf("# %d\n", status);
	CHECK(status == 0 || (status == 77 && geteuid() != 0));
}

static void another_user_cannot_use_or_read_it(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	int status;
	pid_t pid;

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	if (geteuid() != 0)
		return;
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		_cleanup_sign_ struct sign_secret key = { 0 };
		struct approval_store d = { .dirfd = -EBADF };

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		/* With descriptors that root left open, and without. */
		if (approval_store_open(b.place.state, "sandbox", NULL, NULL, &d, NULL) >= 0)
			_exit(3);
		if (approver_unlock(&b.store, "alice", &key, NULL) >= 0 ||
		    reserve(&b, "make", 'B', "s") == GRANT_VALID)
			_exit(4);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
}

TAP_MAIN(T(GOV_11_sixteen_starts_race_for_one_use), T(GOV_11_sixteen_starts_race_for_five_uses),
	 T(GOV_11_sixteen_copies_of_an_imported_grant_are_one),
	 T(GOV_11_the_reservation_of_a_dead_session_is_released),
	 T(GOV_11_a_reservation_names_the_process_that_counts), T(GOV_11_a_reboot_releases_reservations),
	 T(GOV_11_killed_at_every_call_of_a_start_it_is_spent_iff_recorded),
	 T(GOV_11_killed_at_every_call_of_an_import_it_is_not_lost),
	 T(killed_at_every_call_of_an_approval_it_can_be_given_again),
	 T(GOV_11_a_revocation_that_races_is_before_or_behind_the_start),
	 T(GOV_11_a_full_disk_refuses_and_forgets_nothing), T(GOV_11_a_read_only_state_refuses),
	 T(another_user_cannot_use_or_read_it))
