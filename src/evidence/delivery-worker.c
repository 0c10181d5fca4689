/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes deliver.  This one holds the lock, enforces the time limit, writes the ledger and removes staged evidence:
 * it touches local disks only.  Its child (delivery-sender) alone touches the store and reports every step; without a report
 * for too long it is killed.  A child that cannot be killed keeps the lock, so that no second one hangs beside it.
 *
 * Order: complete under its name in the store, then the record, then removed from the staging directory.  After a crash
 * in between, the next delivery finds the evidence in the store and checks the ledger for its record.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "evidence/delivery-sender.h"
#include "evidence/delivery.h"
#include "evidence/evidence-ledger.h"
#include "ledger/ledger-claim.h"

#define LOCK ".lock"
#define SILENCE_MS 60000
#define LOCK_STEP_MS 20
#define DIE_MS 1000

void delivery_report_done(struct delivery_report *r)
{
	free(r->error);
	*r = (struct delivery_report){ 0 };
}

struct delivery {
	const struct delivery_job *job;
	struct delivery_place place;
	struct evidence_list items;
	int staging, lock;
	struct delivery_report *report;
};

static void delivery_done(struct delivery *d)
{
	delivery_place_done(&d->place);
	evidence_list_done(&d->items);
	fd_close(d->lock);
	fd_close(d->staging);
}
#define _cleanup_delivery_ _cleanup_(delivery_done)

static void sleep_ms(unsigned int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void set_error(struct delivery *d, const char *text)
{
	if (!d->report->error)
		d->report->error = strdup(text);
}

static const char *session_of(const struct evidence_item *e)
{
	const char *session = jdoc_get_string(e->metadata, "session");

	return session ? session : e->name;
}

/* The evidence is in the store.  Record first, then remove the staged copy: every copy that goes away is recorded. */
static int finish_item(struct delivery *d, const struct delivery_message *m, struct fault *f)
{
	const struct evidence_item *e = d->items.items + m->index;
	_cleanup_free_ char *path = path_join(d->place.store, m->text);
	int r = 0;

	if (!path)
		return fault_errno(f, ENOMEM, "delivery");
	if (m->was_there) {
		struct evidence_ledger_found told = { 0 };

		r = evidence_ledger_find(d->job->dirs->state, session_of(e), &m->metadata, &told, f);
		if (r < 0)
			return r;
		if (told.delivered)
			return evidence_remove(d->place.staging, e->name, f);
	}
	r = evidence_ledger_deliver(d->job->dirs, session_of(e), path, &m->metadata, f);
	seam("delivery-recorded");
	if (r == 0)
		r = evidence_remove(d->place.staging, e->name, f);
	seam("delivery-over");
	return r;
}

static int handle(struct delivery *d, const struct delivery_message *m, struct fault *f)
{
	int r = 0;

	switch (m->type) {
	case DELIVERY_MESSAGE_ALIVE:
		break;
	case DELIVERY_MESSAGE_DELIVERED:
		r = m->index < d->items.n ? finish_item(d, m, f) : 0;
		if (r == 0)
			d->report->delivered++;
		break;
	case DELIVERY_MESSAGE_FAILED:
		set_error(d, m->text);
		break;
	case DELIVERY_MESSAGE_END:
		return 1;
	}
	return r;
}

static int receive_all(struct delivery *d, int pipe, struct fault *f)
{
	unsigned int silence = d->job->silence_ms ? d->job->silence_ms : SILENCE_MS;

	for (;;) {
		struct pollfd p = { .fd = pipe, .events = POLLIN };
		struct delivery_message m;
		int r = poll(&p, 1, (int)silence);
		ssize_t n;

		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0)
			return fault_set(f, ETIMEDOUT, "'%s' does not answer: no progress for %u s",
					 d->place.store, silence / 1000);
		n = r < 0 ? -1 : read(pipe, &m, sizeof(m));
		if (n != sizeof(m))
			return fault_set(f, EPIPE, "the delivery process died");
		m.text[sizeof(m.text) - 1] = '\0';
		r = handle(d, &m, f);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

/* A claim: the end of the session is not recorded yet, and the recording process expects the evidence here. */
static bool has_claim(const struct delivery *d, const char *session)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/" CLAIM_DIR "/%s", d->job->dirs->state, session) < 0) {
		path = NULL;
		return true;
	}
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int deliver_all(struct delivery *d, struct fault *f)
{
	_cleanup_free_ bool *skip = calloc(d->items.n + 1, sizeof(*skip));
	_cleanup_close_ int pipe = -EBADF;
	size_t due = 0;
	pid_t pid;
	int r;

	if (!skip)
		return fault_errno(f, ENOMEM, "delivery");
	for (size_t i = 0; i < d->items.n; i++) {
		skip[i] = has_claim(d, session_of(d->items.items + i));
		due += !skip[i];
	}
	if (due == 0)
		return 0;
	pid = delivery_sender_start(&(struct delivery_sender){ .job = d->job,
							       .store = d->place.store,
							       .items = &d->items,
							       .skip = skip,
							       .staging = d->staging,
							       .lock = d->lock },
				    &pipe, f);
	if (pid < 0)
		return pid;
	r = receive_all(d, pipe, f);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	if (!delivery_sender_wait(pid, r < 0 ? DIE_MS : SILENCE_MS) && r == 0) {
		(void)kill(pid, SIGKILL);
		(void)delivery_sender_wait(pid, DIE_MS);
	}
	return r;
}

/* 1: locked; 0: another process holds the lock. */
static int lock(struct delivery *d, struct fault *f)
{
	uint64_t end = clock_boot_ns() + (uint64_t)d->job->wait_ms * 1000000;
	char pid[24];
	int n;

	d->lock = openat(d->staging, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return fault_errno(f, errno, "open '%s/" LOCK "'", d->place.staging);
	while (flock(d->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fault_errno(f, errno, "lock '%s/" LOCK "'", d->place.staging);
		if (clock_boot_ns() >= end)
			return 0;
		sleep_ms(LOCK_STEP_MS);
	}
	n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	seam("delivery-locked");
	if (ftruncate(d->lock, 0) == 0)
		(void)!pwrite(d->lock, pid, (size_t)n, 0);
	return 1;
}

static void write_state(const struct delivery *d, bool seen)
{
	_cleanup_delivery_state_ struct delivery_state old = { 0 };
	const char *error = d->report->error;
	struct delivery_state n;

	delivery_state_load(d->place.staging, &old);
	n = (struct delivery_state){ .store = d->place.store,
				     .share = seen ? d->place.type : NULL,
				     .error = (char *)error,
				     .tries = error ? old.tries + 1 : 0,
				     .failed_us = error ? clock_wall_us() : 0 };
	if (!seen && !d->job->local && str_eq(old.store, d->place.store))
		n.share = old.share;
	/* Without the state file the next try only comes earlier. */
	(void)!delivery_state_save(d->staging, &n, NULL);
}

static int try_all(struct delivery *d, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	const bool away = d->place.away && !d->job->local;

	if (d->items.n == 0) {
		if (d->job->local)
			write_state(d, false);
		return 0;
	}
	if (away) {
		(void)fault_set(
			&why, ENOTCONN,
			"'%s' is on a share (%s) that is not mounted: mount it; if it is meant to be on this "
			"disk: custody evidence deliver --local",
			d->place.store, d->place.type);
		set_error(d, fault_text(&why));
	} else if (deliver_all(d, &why) < 0) {
		set_error(d, fault_text(&why));
	}
	evidence_list_done(&d->items);
	write_state(d, d->place.type && !d->place.away);
	return evidence_list(d->place.staging, d->job->dirs->lane, &d->items, f);
}

int delivery_run(const struct delivery_job *j, struct delivery_report *ret, struct fault *f)
{
	_cleanup_delivery_ struct delivery d = { .job = j, .staging = -EBADF, .lock = -EBADF, .report = ret };
	int r;

	r = delivery_place(j->dirs, j->config, &d.place, f);
	if (r < 0)
		return r;
	d.staging = open(d.place.staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d.staging < 0 && errno == ENOENT)
		return 0;
	if (d.staging < 0)
		return fault_errno(f, errno, "open '%s'", d.place.staging);
	r = dirs_require_own(d.staging, d.place.staging, f);
	if (r == 0)
		r = lock(&d, f);
	if (r < 0)
		return r;
	ret->busy = r == 0;
	r = evidence_list(d.place.staging, j->dirs->lane, &d.items, f);
	if (r == 0 && !ret->busy)
		r = try_all(&d, f);
	ret->waiting = d.items.n;
	return r;
}
