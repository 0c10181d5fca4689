/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/ledger-impl.h"

/*
 * Group commit across processes.  Whoever holds the sync lock syncs for all who wrote before; they find, when it is
 * their turn, that it is done.  Writers go on meanwhile: the ledger's own lock is not held.
 */

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

int ledger_sync(struct ledger *l, struct fault *f)
{
	int r;

	if (l->unsynced_since_ns == 0)
		return 0;
	r = ledger_lock_sync(l, f);
	if (r < 0)
		return r;
	r = sync_locked(l, f);
	ledger_unlock_sync(l);
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
