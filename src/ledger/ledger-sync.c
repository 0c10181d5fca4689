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
 * Group commit across processes.  Whoever holds the sync lock syncs for all who wrote before.  Writers go on meanwhile:
 * the ledger's own lock is not held.
 *
 * Those who find the lock taken do not queue for it: handing it to each of them, only to hear that all is done, took
 * longer than the disk.  They wait for the bell, all at once, and then look at the seal.  The bell is the start of the lock
 * file: it says no more than when to look.  A ring that is missed, because whoever synced was killed, costs BELL_MS.
 *
 *	who waits			who synced
 *	1. reads the bell		1. gives the lock back
 *	2. looks at the seal		2. reads the bell: does anybody wait?
 *	3. says that he waits		3. says that nobody does,
 *	4. tries the lock		4. with another number, and wakes all
 *	5. sleeps while the number is that of 1.
 *
 * Who has said so before 2 is heard; who says so later tried the lock later as well, and has it, or waits for another one
 * who took it and looks in turn.  Who said so between 2 and 3 read his number before 4, and does not fall asleep.
 *
 * It is written with pwrite, and mapped only to name it to the kernel: a full disk is an errno then, not a signal.
 */
#define BELL_MS 20

struct bell {
	uint32_t number; /* of the last ring: each time another one */
	uint32_t waiting;
};

static struct bell read_bell(const struct ledger *l)
{
	struct bell b = { 0 };

	/* Nobody ever waited when there is nothing to read. */
	if (pread(l->syncfd, &b, sizeof(b), 0) != (ssize_t)sizeof(b))
		b = (struct bell){ 0 };
	return b;
}

static bool say_waiting(const struct ledger *l)
{
	const uint32_t yes = 1;

	return pwrite(l->syncfd, &yes, sizeof(yes), offsetof(struct bell, waiting)) == (ssize_t)sizeof(yes);
}

static bool map_bell(struct ledger *l)
{
	void *at;

	if (l->bell)
		return true;
	at = mmap(NULL, sizeof(struct bell), PROT_READ, MAP_SHARED, l->syncfd, 0);
	if (at == MAP_FAILED)
		return false;
	l->bell = at;
	return true;
}

void ledger_sync_done(struct ledger *l)
{
	if (l->bell)
		(void)munmap(l->bell, sizeof(struct bell));
	l->bell = NULL;
}

/* Counting would not do: two who ring at the same time would count to the same number. */
static void ring(struct ledger *l)
{
	const struct bell b = { .number = (uint32_t)clock_boot_ns() };

	if (!read_bell(l).waiting)
		return;
	(void)!pwrite(l->syncfd, &b, sizeof(b), 0);
	if (map_bell(l))
		(void)syscall(SYS_futex, l->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void hear(const struct ledger *l, uint32_t number)
{
	const struct timespec limit = { .tv_nsec = BELL_MS * 1000000 };

	(void)syscall(SYS_futex, l->bell, FUTEX_WAIT, number, &limit, NULL, 0);
}

/* A seal read while somebody writes it may be mixed; its check says so, and then the lock helps. */
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

/* The seal learns that everything that DONE counts is on the disk. */
static int raise_synced(struct ledger *l, const struct seal *done, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	r = ledger_lock(l, LOCK_EX, f);
	if (r < 0)
		return r;
	r = seal_read(l->sealfd, &s, f);
	/* Another segment: the rotation has synced this one. */
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

/* 1: the lock is ours; 0: somebody has synced what we wrote. */
static int wait_turn(struct ledger *l, struct fault *f)
{
	for (;;) {
		_cleanup_seal_ struct seal s = { 0 };
		const struct bell b = read_bell(l);
		int r;

		r = peek(l, &s, f);
		if (r < 0 || s.synced_index >= l->written_index)
			return r;
		if ((!b.waiting && !say_waiting(l)) || !map_bell(l))
			return ledger_lock_sync(l, true, f);
		r = ledger_lock_sync(l, false, f);
		if (r != 0)
			return r;
		hear(l, b.number);
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
		/* Also after a failure: somebody else shall try, and hear of it. */
		ring(l);
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
