/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes deliver.  The one here holds the lock, has the deadline, writes the ledger and removes what was staged:
 * it touches nothing but our own disk.  Its child touches the store and nothing else, and tells of every step; when it is
 * silent for too long it is killed.  A child that cannot even die keeps the lock, so that no second one hangs beside it.
 *
 * Order: whole under its name in the store, then the record, then away from the staging.  Who dies in between leaves
 * something that the next one finds: the store is asked first, and the ledger if the store has it already.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/walk.h"
#include "evidence/delivery-copy.h"
#include "evidence/delivery.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-prune.h"
#include "ledger/ledger-claim.h"

#define LOCK ".lock"
#define SILENCE_MS 60000
#define LOCK_STEP_MS 20
#define DIE_MS 1000
#define FD_MAX 1024

void delivery_report_done(struct delivery_report *r)
{
	free(r->error);
	*r = (struct delivery_report){ 0 };
}

enum message_type {
	MESSAGE_ALIVE,
	MESSAGE_DELIVERED,
	MESSAGE_FAILED,
	MESSAGE_END, /* what is done now, nobody waits for */
};

/* Smaller than PIPE_BUF: it arrives whole. */
struct message {
	enum message_type type;
	size_t index;
	bool was_there;
	struct digest metadata;
	char text[512]; /* name in the store, or what failed */
};

struct trip {
	const struct delivery_job *job;
	struct delivery_place place;
	struct evidence_list items;
	int staging, lock;
	struct delivery_report *report;
};

static void trip_done(struct trip *t)
{
	delivery_place_done(&t->place);
	evidence_list_done(&t->items);
	fd_close(t->lock);
	fd_close(t->staging);
}
#define _cleanup_trip_ _cleanup_(trip_done)

static void nap_ms(unsigned int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void blame(struct trip *t, const char *text)
{
	if (!t->report->error)
		t->report->error = strdup(text);
}

/* --- the child: it may hang at every line ------------------------------------------------------------------------ */

static void tell(int fd, const struct message *m)
{
	ssize_t n;

	do
		n = write(fd, m, sizeof(*m));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*m))
		_exit(1); /* nobody listens any more */
}

static void tell_alive(void *arg)
{
	tell(*(int *)arg, &(struct message){ .type = MESSAGE_ALIVE });
}

/* What retention does not keep there.  NEED: and as much more as this wants. */
static void prune_store(const struct trip *t, uint64_t need)
{
	const struct evidence_prune p = {
		.dirs = t->job->dirs, .config = t->job->config, .store = t->place.store, .need = need
	};

	(void)!evidence_prune(&p, NULL);
}

/* What it takes there: an archive is smaller than the tree in it. */
static uint64_t weigh(int staged)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	uint64_t sum = 0;

	if (walk_new(staged, 0, &w, NULL) < 0)
		return 0;
	while (walk_next(w, &e, NULL) > 0)
		sum += e.stx.stx_size;
	return sum;
}

static int copy_one(const struct trip *t, int pipe, const struct evidence_item *e,
		    struct delivery_copied *ret, struct fault *f)
{
	_cleanup_close_ int staged =
		openat(t->staging, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct delivery_copy c = { .staged = staged,
					 .session = e->name,
					 .store = t->place.store,
					 .alive = tell_alive,
					 .arg = &pipe };
	int r;

	if (staged < 0)
		return fault_errno(f, errno, "open staged '%s'", e->name);
	r = delivery_copy(&c, ret, f);
	if (r != -ENOSPC && r != -EDQUOT)
		return r;
	/* What is there may have to go; before a delivery only when it does not fit. */
	tell_alive(&pipe);
	prune_store(t, weigh(staged));
	fault_done(f);
	return delivery_copy(&c, ret, f);
}

/*
 * Is it this one that does not go there, and not the share?  Then the others do not wait for it: a payload that leaves more
 * than the share takes would keep everybody's evidence in the staging until it is too old.
 */
static bool is_its_own(int error)
{
	static const int own[] = { ENOSPC, EDQUOT, EFBIG, ENAMETOOLONG, EINVAL, EILSEQ, EEXIST, ENOENT };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (error == own[i])
			return true;
	return false;
}

static _Noreturn void travel(const struct trip *t, int pipe, const bool *skip)
{
	bool any = false;

	for (size_t i = 0; i < t->items.n; i++) {
		_cleanup_fault_ struct fault f = { 0 };
		struct delivery_copied done = { 0 };
		struct message m = { .type = MESSAGE_DELIVERED, .index = i };

		if (skip[i])
			continue;
		if (copy_one(t, pipe, t->items.items + i, &done, &f) < 0) {
			m.type = MESSAGE_FAILED;
			(void)snprintf(m.text, sizeof(m.text), "%s", fault_text(&f));
		} else {
			any = true;
			m.was_there = done.was_there;
			m.metadata = done.metadata;
			(void)snprintf(m.text, sizeof(m.text), "%s", done.name);
		}
		seam("delivery-copied");
		tell(pipe, &m);
		/* The others would fail of the same; the next try has them. */
		if (m.type == MESSAGE_FAILED && !is_its_own(f.code))
			break;
	}
	tell(pipe, &(struct message){ .type = MESSAGE_END });
	if (any)
		prune_store(t, 0);
	_exit(0);
}

/* One that hangs must not keep the caller's output open: whoever reads that would hang as well. */
static void let_go(const struct trip *t, int pipe)
{
	const int keep[] = { t->lock, t->staging, pipe };
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		(void)dup3(null, fd, 0);
	for (int fd = STDERR_FILENO + 1; fd < FD_MAX; fd++)
		if (fd != keep[0] && fd != keep[1] && fd != keep[2])
			(void)close(fd);
	(void)syscall(SYS_close_range, (unsigned int)FD_MAX, ~0U, 0U);
}

static pid_t send_child(const struct trip *t, const bool *skip, int *ret_pipe, struct fault *f)
{
	pid_t parent = getpid(), pid;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "pipe of a delivery");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		(void)prctl(PR_SET_NAME, "custody-share");
		(void)signal(SIGPIPE, SIG_IGN);
		let_go(t, fd[1]);
		travel(t, fd[1], skip);
	}
	fd_close(fd[1]);
	if (pid < 0) {
		fd_close(fd[0]);
		return fault_errno(f, errno, "fork");
	}
	*ret_pipe = fd[0];
	return pid;
}

/* False: it does not die; then it is left, with the lock. */
static bool wait_for(pid_t pid, unsigned int ms)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		while (poll(&p, 1, (int)ms) < 0 && errno == EINTR)
			;
	return waitpid(pid, NULL, fd >= 0 ? WNOHANG : 0) == pid;
}

/* --- the parent: our own disk only ------------------------------------------------------------------------------- */

static const char *session_of(const struct evidence_item *e)
{
	const char *session = jdoc_get_string(e->metadata, "session");

	return session ? session : e->name;
}

/* Its name is in the store.  The record comes first: what nobody recorded must not lose its other place. */
static int conclude(struct trip *t, const struct message *m, struct fault *f)
{
	const struct evidence_item *e = t->items.items + m->index;
	_cleanup_free_ char *path = path_join(t->place.store, m->text);
	int r = 0;

	if (!path)
		return fault_errno(f, ENOMEM, "delivery");
	if (m->was_there) {
		struct evidence_ledger_found told = { 0 };

		r = evidence_ledger_find(t->job->dirs->state, session_of(e), &m->metadata, &told, f);
		if (r < 0)
			return r;
		if (told.delivered)
			return evidence_remove(t->place.staging, e->name, f);
	}
	r = evidence_ledger_deliver(t->job->dirs, session_of(e), path, &m->metadata, f);
	seam("delivery-recorded");
	if (r == 0)
		r = evidence_remove(t->place.staging, e->name, f);
	seam("delivery-over");
	return r;
}

static int hear(struct trip *t, const struct message *m, struct fault *f)
{
	int r = 0;

	switch (m->type) {
	case MESSAGE_ALIVE:
		break;
	case MESSAGE_DELIVERED:
		r = m->index < t->items.n ? conclude(t, m, f) : 0;
		if (r == 0)
			t->report->delivered++;
		break;
	case MESSAGE_FAILED:
		blame(t, m->text);
		break;
	case MESSAGE_END:
		return 1;
	}
	return r;
}

static int listen_to(struct trip *t, int pipe, struct fault *f)
{
	unsigned int silence = t->job->silence_ms ? t->job->silence_ms : SILENCE_MS;

	for (;;) {
		struct pollfd p = { .fd = pipe, .events = POLLIN };
		struct message m;
		int r = poll(&p, 1, (int)silence);
		ssize_t n;

		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0)
			return fault_set(f, ETIMEDOUT, "'%s' does not answer: nothing happened for %u s",
					 t->place.store, silence / 1000);
		n = r < 0 ? -1 : read(pipe, &m, sizeof(m));
		if (n != sizeof(m))
			return fault_set(f, EPIPE, "the process that delivers died");
		m.text[sizeof(m.text) - 1] = '\0';
		r = hear(t, &m, f);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

/* The end of its session is not told yet: whoever tells it must find it here. */
static bool is_open(const struct trip *t, const char *session)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/" CLAIM_DIR "/%s", t->job->dirs->state, session) < 0) {
		path = NULL;
		return true;
	}
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int deliver_all(struct trip *t, struct fault *f)
{
	_cleanup_free_ bool *skip = calloc(t->items.n + 1, sizeof(*skip));
	_cleanup_close_ int pipe = -EBADF;
	size_t due = 0;
	pid_t pid;
	int r;

	if (!skip)
		return fault_errno(f, ENOMEM, "delivery");
	for (size_t i = 0; i < t->items.n; i++) {
		skip[i] = is_open(t, session_of(t->items.items + i));
		due += !skip[i];
	}
	if (due == 0)
		return 0;
	pid = send_child(t, skip, &pipe, f);
	if (pid < 0)
		return pid;
	r = listen_to(t, pipe, f);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	if (!wait_for(pid, r < 0 ? DIE_MS : SILENCE_MS) && r == 0) {
		(void)kill(pid, SIGKILL);
		(void)wait_for(pid, DIE_MS);
	}
	return r;
}

/* 1 when it is ours, 0 when somebody else has it. */
static int lock(struct trip *t, struct fault *f)
{
	uint64_t end = clock_boot_ns() + (uint64_t)t->job->wait_ms * 1000000;
	char pid[24];
	int n;

	t->lock = openat(t->staging, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (t->lock < 0)
		return fault_errno(f, errno, "open '%s/" LOCK "'", t->place.staging);
	while (flock(t->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fault_errno(f, errno, "lock '%s/" LOCK "'", t->place.staging);
		if (clock_boot_ns() >= end)
			return 0;
		nap_ms(LOCK_STEP_MS);
	}
	n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	seam("delivery-locked");
	if (ftruncate(t->lock, 0) == 0)
		(void)!pwrite(t->lock, pid, (size_t)n, 0);
	return 1;
}

static void write_note(const struct trip *t, bool seen)
{
	_cleanup_delivery_note_ struct delivery_note old = { 0 };
	const char *error = t->report->error;
	struct delivery_note n;

	delivery_note_load(t->place.staging, &old);
	n = (struct delivery_note){ .store = t->place.store,
				    .share = seen ? t->place.type : NULL,
				    .error = (char *)error,
				    .tries = error ? old.tries + 1 : 0,
				    .failed_us = error ? clock_wall_us() : 0 };
	if (!seen && !t->job->local && str_eq(old.store, t->place.store))
		n.share = old.share;
	/* No note, no backing off: nothing is lost. */
	(void)!delivery_note_save(t->staging, &n, NULL);
}

static int travel_all(struct trip *t, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	const bool away = t->place.away && !t->job->local;

	if (t->items.n == 0) {
		if (t->job->local)
			write_note(t, false);
		return 0;
	}
	if (away) {
		(void)fault_set(
			&why, ENOTCONN,
			"'%s' is on a share (%s) that is not mounted: mount it; if it is meant to be on this "
			"disk: custody evidence deliver --local",
			t->place.store, t->place.type);
		blame(t, fault_text(&why));
	} else if (deliver_all(t, &why) < 0) {
		blame(t, fault_text(&why));
	}
	evidence_list_done(&t->items);
	write_note(t, t->place.type && !t->place.away);
	return evidence_list(t->place.staging, t->job->dirs->lane, &t->items, f);
}

int delivery_run(const struct delivery_job *j, struct delivery_report *ret, struct fault *f)
{
	_cleanup_trip_ struct trip t = { .job = j, .staging = -EBADF, .lock = -EBADF, .report = ret };
	int r;

	r = delivery_place(j->dirs, j->config, &t.place, f);
	if (r < 0)
		return r;
	t.staging = open(t.place.staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t.staging < 0 && errno == ENOENT)
		return 0;
	if (t.staging < 0)
		return fault_errno(f, errno, "open '%s'", t.place.staging);
	r = dirs_require_own(t.staging, t.place.staging, f);
	if (r == 0)
		r = lock(&t, f);
	if (r < 0)
		return r;
	ret->busy = r == 0;
	r = evidence_list(t.place.staging, j->dirs->lane, &t.items, f);
	if (r == 0 && !ret->busy)
		r = travel_all(&t, f);
	ret->waiting = t.items.n;
	return r;
}
