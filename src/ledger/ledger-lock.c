/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "ledger/ledger-impl.h"

static int open_lock(struct ledger *l, const char *name, int *fd, struct fault *f)
{
	int opened = openat(l->dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (opened < 0)
		return fault_errno(f, errno, "open the ledger's '%s'", name);
	fd_close(*fd);
	*fd = opened;
	return 0;
}

static int lock(int fd, int operation, struct fault *f)
{
	while (flock(fd, operation) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "lock the ledger");
	return 0;
}

/* After a fork both processes would share one lock. */
static int own_locks(struct ledger *l, struct fault *f)
{
	pid_t pid = getpid();
	int r;

	if (l->pid == pid)
		return 0;
	r = open_lock(l, LEDGER_LOCK, &l->lockfd, f);
	if (r == 0)
		r = open_lock(l, LEDGER_SYNC_LOCK, &l->syncfd, f);
	if (r == 0)
		l->pid = pid;
	return r;
}

int ledger_lock(struct ledger *l, int operation, struct fault *f)
{
	int r = own_locks(l, f);

	return r < 0 ? r : lock(l->lockfd, operation, f);
}

int ledger_lock_sync(struct ledger *l, bool wait, struct fault *f)
{
	int r = own_locks(l, f);

	if (r == 0)
		r = lock(l->syncfd, wait ? LOCK_EX : LOCK_EX | LOCK_NB, f);
	if (r == -EWOULDBLOCK) {
		ledger_clear_fault(f);
		return 0;
	}
	return r < 0 ? r : 1;
}

void ledger_unlock(struct ledger *l)
{
	(void)flock(l->lockfd, LOCK_UN);
}

void ledger_unlock_sync(struct ledger *l)
{
	(void)flock(l->syncfd, LOCK_UN);
}
