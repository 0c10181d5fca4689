/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ledger/ledger-impl.h"

/*
 * Group commit across processes.  The holder of the sync lock syncs for all processes that wrote before.  Writers
 * continue in the meantime: the ledger's own lock is not held.
 *
 * A process that finds the lock taken does not queue for it: passing the lock from one waiter to the next, only to find
 * everything synced, took longer than the disk.  Waiters sleep on a futex, are woken all at once, and then read the seal.
 * The futex is the start of the lock file and carries no other information.  A lost wake-up, because the syncing
 * process was killed, costs WAIT_MS.
 *
 *	waiter				process that synced
 *	1. reads the futex		1. releases the lock
 *	2. reads the seal		2. reads the futex: is `waiting` set?
 *	3. sets `waiting`		3. clears `waiting`,
 *	4. tries the lock		4. with a new number, and wakes all
 *	5. sleeps while the number is that of 1.
 *
 * A waiter that has set `waiting` before 2 is woken.  One that sets it later also tried the lock later: it has it, or
 * waits for a later holder, which checks in turn.  One that set it between 2 and 3 read its number before 4, and does
 * not sleep.
 *
 * It is written with pwrite, and mapped only as the futex address: a full disk is then an errno, not SIGBUS.
 */
#define WAIT_MS 20

struct sync_futex {
	uint32_t number; /* of the last wake-up: different each time */
	uint32_t waiting;
};

static struct sync_futex read_futex(const struct ledger *l)
{
	struct sync_futex b = { 0 };

	/* An empty file means that no process ever waited. */
	if (pread(l->syncfd, &b, sizeof(b), 0) != (ssize_t)sizeof(b))
		b = (struct sync_futex){ 0 };
	return b;
}

static bool set_waiting(const struct ledger *l)
{
	const uint32_t yes = 1;

	return pwrite(l->syncfd, &yes, sizeof(yes), offsetof(struct sync_futex, waiting)) ==
	       (ssize_t)sizeof(yes);
}

static bool map_futex(struct ledger *l)
{
	void *at;

	if (l->futex)
		return true;
	at = mmap(NULL, sizeof(struct sync_futex), PROT_READ, MAP_SHARED, l->syncfd, 0);
	if (at == MAP_FAILED)
		return false;
	l->futex = at;
	return true;
}

void ledger_sync_done(struct ledger *l)
{
	if (l->futex)
		(void)munmap(l->futex, sizeof(struct sync_futex));
	l->futex = NULL;
}

/* Not a counter: two concurrent wake-ups would count to the same number. */
static void wake_all(struct ledger *l)
{
	const struct sync_futex b = { .number = (uint32_t)clock_boot_ns() };

	if (!read_futex(l).waiting)
		return;
	(void)!pwrite(l->syncfd, &b, sizeof(b), 0);
	if (map_futex(l))
		(void)syscall(SYS_futex, l->futex, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_on(const struct ledger *l, uint32_t number)
{
	const struct timespec limit = { .tv_nsec = WAIT_MS * 1000000 };

	(void)syscall(SYS_futex, l->futex, FUTEX_WAIT, number, &limit, NULL, 0);
}

/* A seal read during a write may be inconsistent; its check fails, and it is read again under the lock. */
static int peek(struct ledger *l, struct seal *s, struct fault *f)
{
	int r;

	if (seal_read(l->sealfd, s, NULL) == 0)
		return 0;
	r = ledger_lock(l, LOCK_SH, f);
	if (r < 0)
		return r;
	r = seal_read(l->sealfd, s, f);
	ledger_unlock(l);
	return r;
}

/* Records in the seal that all records counted by DONE are synced. */
static int raise_synced(struct ledger *l, const struct seal *done, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	r = ledger_lock(l, LOCK_EX, f);
	if (r < 0)
		return r;
	r = seal_read(l->sealfd, &s, f);
	/* A new segment: the rotation has synced the old one. */
	if (r == 0 && s.segment == done->segment && s.synced_index < done->index) {
		s.synced_index = done->index;
		s.synced_offset = done->offset;
		r = seal_write(l->sealfd, &s, f);
	}
	ledger_unlock(l);
	return r;
}

static int sync_locked(struct ledger *l, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	r = peek(l, &s, f);
	if (r < 0 || s.synced_index >= l->written_index)
		return r;
	if (fdatasync(l->segfd) < 0)
		return fault_errno(f, errno, "sync");
	return raise_synced(l, &s, f);
}

/* 1: we hold the lock; 0: another process has synced our records. */
static int wait_turn(struct ledger *l, struct fault *f)
{
	for (;;) {
		_cleanup_seal_ struct seal s = { 0 };
		const struct sync_futex b = read_futex(l);
		int r;

		r = peek(l, &s, f);
		if (r < 0 || s.synced_index >= l->written_index)
			return r;
		if ((!b.waiting && !set_waiting(l)) || !map_futex(l))
			return ledger_lock_sync(l, true, f);
		r = ledger_lock_sync(l, false, f);
		if (r != 0)
			return r;
		sleep_on(l, b.number);
	}
}

int ledger_sync(struct ledger *l, struct fault *f)
{
	int r;

	if (l->unsynced_since_ns == 0)
		return 0;
	r = ledger_lock_sync(l, false, f);
	if (r == 0)
		r = wait_turn(l, f);
	if (r > 0) {
		r = sync_locked(l, f);
		ledger_unlock_sync(l);
		/* Also after a failure: another process must retry and report it. */
		wake_all(l);
	}
	if (r == 0)
		l->unsynced_since_ns = 0;
	return r;
}

int ledger_sync_due_ms(const struct ledger *l)
{
	uint64_t age_ms;

	if (l->unsynced_since_ns == 0)
		return -1;
	age_ms = (clock_boot_ns() - l->unsynced_since_ns) / 1000000;
	return age_ms >= LEDGER_SYNC_MS ? 0 : (int)(LEDGER_SYNC_MS - age_ms);
}
