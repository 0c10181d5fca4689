/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers that wait for the sync of another: which events wake them, which do not, and that no writer waits for a dead one. */
#include "base/array.h"
#include "ledger/ledger.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ledger-fixture.h"
#include "tap.h"

#define LOCK_PATH "ledger/lock-sync"
#define PATIENCE_S 120

/* As ledger-sync.c has it. */
struct bell {
	uint32_t number, waiting;
};

static int open_bell(const struct place *p)
{
	char path[256];

	return place_path(p, LOCK_PATH, path) ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

/* N synced records.  Exits with 0 if the seal has each as synced before the next. */
static pid_t start_writer(const struct place *p, int n)
{
	struct ledger *l = NULL;
	struct seal s;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)alarm(PATIENCE_S);
	if (ledger_open(p->state, NULL, &l, NULL, NULL) < 0)
		_exit(1);
	for (int i = 0; i < n; i++) {
		if (put(l, "test.event", LEDGER_DECIDED) < 0)
			_exit(2);
		/* Read while another process writes it, it may be mixed. */
		while (!load_seal(p, &s))
			;
		if (s.synced_index < l->written_index)
			_exit(3);
	}
	_exit(0);
}

static bool ended_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_over(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Until PID reports that it waits; false if it exited instead. */
static bool await_waiter(int fd, pid_t pid)
{
	struct bell b = { 0 };

	while (!is_over(pid)) {
		if (pread(fd, &b, sizeof(b), 0) == (ssize_t)sizeof(b) && b.waiting)
			return true;
		(void)poll(NULL, 0, 1);
	}
	return false;
}

static bool ring(int fd)
{
	static uint32_t number = 1;
	const struct bell b = { .number = ++number };
	void *at = mmap(NULL, sizeof(b), PROT_READ, MAP_SHARED, fd, 0);
	bool ok = at != MAP_FAILED && pwrite(fd, &b, sizeof(b), 0) == (ssize_t)sizeof(b) &&
		  syscall(SYS_futex, at, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0) >= 0;

	if (at != MAP_FAILED)
		(void)munmap(at, sizeof(b));
	return ok;
}

/* What a sync leaves. */
static bool say_synced(const struct place *p)
{
	struct seal s;

	if (!load_seal(p, &s))
		return false;
	s.synced_index = s.index;
	s.synced_offset = s.offset;
	return store_seal(p, &s);
}

static void a_synced_writer_continues_without_the_lock(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	pid_t pid;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL));
	fd = open_bell(&p);
	CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
	pid = start_writer(&p, 1);
	CHECK(await_waiter(fd, pid));
	/* A ring is no promise: it looks, and waits again. */
	for (int i = 0; i < 3; i++)
		CHECK(ring(fd) && await_waiter(fd, pid));
	CHECK(say_synced(&p) && ring(fd));
	CHECK(ended_well(pid));
}

static void a_writer_that_waits_for_a_dead_one_syncs_itself(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	pid_t holder, pids[4];
	int ready[2];
	char byte;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && pipe2(ready, O_CLOEXEC) == 0);
	holder = fork();
	if (holder == 0) {
		(void)alarm(PATIENCE_S);
		fd = open_bell(&p);
		if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	fd = open_bell(&p);
	for (size_t i = 0; i < 4; i++) {
		pids[i] = start_writer(&p, 1);
		CHECK(await_waiter(fd, pids[i]));
	}
	CHECK(kill(holder, SIGKILL) == 0 && waitpid(holder, NULL, 0) == holder);
	for (size_t i = 0; i < 4; i++)
		CHECK(ended_well(pids[i]));
	(void)close(ready[0]);
	(void)close(ready[1]);
}

/* Content of the lock file from a dead process, or from one that should not write it. */
static void a_bell_that_lies_changes_nothing(void)
{
	static const struct bell lies[] = {
		{ 0, 1 }, { UINT32_MAX, 1 }, { 7, 0 }, { UINT32_MAX, UINT32_MAX }
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		_cleanup_place_ struct place p = { 0 };
		pid_t pid;

		CHECK(place_make(&p) && fill(&p, 2, NULL, NULL));
		CHECK(spit(&p, LOCK_PATH, &lies[i], sizeof(lies[i]) - i % 2));
		pid = start_writer(&p, 1);
		CHECK(ended_well(pid));
	}
}

static void a_writer_alone_leaves_the_lock_file_empty(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 1;
	pid_t pid;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL));
	pid = start_writer(&p, 1);
	CHECK(ended_well(pid));
	text = slurp(&p, LOCK_PATH, &len);
	CHECK(text && len == 0);
}

static void eight_writers_all_get_their_result(void)
{
	_cleanup_place_ struct place p = { 0 };
	pid_t pids[8];
	struct seal s;

	CHECK(place_make_on_disk(&p) && fill(&p, 1, NULL, NULL));
	for (size_t i = 0; i < 8; i++)
		pids[i] = start_writer(&p, 50);
	for (size_t i = 0; i < 8; i++)
		CHECK(ended_well(pids[i]));
	CHECK(load_seal(&p, &s) && s.index == 401 && s.synced_index == 401);
}

TAP_MAIN(T(a_synced_writer_continues_without_the_lock), T(a_writer_that_waits_for_a_dead_one_syncs_itself),
	 T(a_bell_that_lies_changes_nothing), T(a_writer_alone_leaves_the_lock_file_empty),
	 T(eight_writers_all_get_their_result))
