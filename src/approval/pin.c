/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/pin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/fd.h"
#include "approval/pin-impl.h"

void pin_text_init(struct pin_text *p)
{
	*p = (struct pin_text){ 0 };
	p->locked = mlock(p, sizeof(*p)) == 0;
}

void pin_text_done(struct pin_text *p)
{
	bool locked = p->locked;

	explicit_bzero(p, sizeof(*p));
	if (locked)
		(void)munlock(p, sizeof(*p));
}

void pin_protect_begin(struct pin_protect *s)
{
	struct rlimit core = { 0 };

	*s = (struct pin_protect){ .raised = true, .dumpable = prctl(PR_GET_DUMPABLE) };
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		s->core_max = core.rlim_cur;
		core.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &core);
	}
	(void)prctl(PR_SET_DUMPABLE, 0);
}

void pin_protect_end(struct pin_protect *s)
{
	struct rlimit core;

	if (!s->raised)
		return;
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = s->core_max;
		(void)setrlimit(RLIMIT_CORE, &core);
	}
	if (s->dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
	s->raised = false;
}

/* All steps between digits are equal: 000000, 123456, 987654. */
static bool is_a_row(const char *pin)
{
	int step = pin[1] - pin[0];

	if (step < -1 || step > 1)
		return false;
	for (size_t i = 1; pin[i]; i++)
		if (pin[i] - pin[i - 1] != step)
			return false;
	return true;
}

int pin_check(const char *pin, struct fault *f)
{
	size_t len = strlen(pin);

	if (len < PIN_DIGITS_MIN || len > PIN_DIGITS_MAX || strspn(pin, "0123456789") != len)
		return fault_set(f, EINVAL, "a PIN must have %d to %d digits and nothing else",
				 PIN_DIGITS_MIN, PIN_DIGITS_MAX);
	if (is_a_row(pin))
		return fault_set(f, EINVAL, "this PIN is easy to guess: choose another");
	return 0;
}

static int record(const struct approval_store *d, const char *kind, const char *status,
		  const struct approver *a, const struct pin_tries *t, struct fault *f)
{
	struct jdoc *details = jdoc_new_object();

	jdoc_set_string(details, "approver", a->name);
	jdoc_set_string(details, "key_id", a->pin_key_id);
	jdoc_set_int(details, "failed", (int64_t)t->failed_all);
	jdoc_set_int(details, "locks", (int64_t)t->locks);
	return approval_store_record(d, kind, status, NULL, NULL, details, LEDGER_DECIDED, NULL, f);
}

static void count_failure(struct pin_tries *t, const struct moment *now)
{
	/* An expired lock starts a new round. */
	if (t->locked)
		t->failed = 0;
	t->locked = false;
	t->failed++;
	t->failed_all++;
	if (t->failed >= PIN_TRIES) {
		t->locked = true;
		t->since = *now;
		t->locks++;
	}
}

/* A right PIN resets the count of wrong ones; only `pin set` resets the number of locks. */
static int settle_right(const struct approval_store *d, int keysfd, const struct approver_file *k,
			const struct pin_tries *before, struct pin_answer *ret, struct fault *f)
{
	struct pin_tries t = { .locks = before->locks };
	int r;

	r = record(d, "pin.result", "ok", &k->public, before, f);
	if (r == 0)
		r = pin_tries_write(keysfd, k->public.name, &t, f);
	if (r == 0)
		*ret = (struct pin_answer){
			.result = PIN_RIGHT,
			.tries_left = PIN_TRIES,
			.failed_before = before->failed_all,
		};
	return r;
}

/*
 * Under the lock of this approver.  The order is the protection: recorded, counted as wrong, and both on
 * disk, before the PIN is checked.  A try that is killed after that stays counted.
 */
static int try_locked(const struct approval_store *d, int keysfd, const struct approver_file *k,
		      const char *pin, struct pin_answer *ret, struct sign_secret *ret_key, struct fault *f)
{
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_tries before, t;
	struct moment now;
	uint64_t wait_s;
	int r, right;

	r = approval_store_now(d, &now, f);
	if (r == 0)
		r = pin_tries_read(keysfd, k->public.name, &before, f);
	if (r < 0)
		return r;
	wait_s = pin_tries_wait_s(&before, &now);
	r = record(d, "pin.try", wait_s ? "locked" : "begun", &k->public, &before, f);
	if (r < 0)
		return r;
	if (wait_s) {
		*ret = (struct pin_answer){ .result = PIN_LOCKED, .wait_s = wait_s };
		return 0;
	}
	t = before;
	count_failure(&t, &now);
	r = pin_tries_write(keysfd, k->public.name, &t, f);
	if (r < 0)
		return r;
	right = pin_unwrap(pin, k, &key, f);
	if (right < 0)
		return right;
	if (!right) {
		r = record(d, "pin.result", "denied", &k->public, &t, f);
		if (r == 0)
			*ret = (struct pin_answer){
				.result = PIN_WRONG,
				.tries_left = t.locked ? 0 : (unsigned int)(PIN_TRIES - t.failed),
				.wait_s = t.locked ? pin_tries_lock_s(&t) : 0,
			};
		return r;
	}
	r = settle_right(d, keysfd, k, &before, ret, f);
	if (r == 0)
		*ret_key = key;
	return r;
}

/* Directory, lock and private file of NAME; -ENOENT: no key here. */
static int open_key(const struct approval_store *d, const char *name, int *ret_keysfd, int *ret_lock,
		    struct approver_file *k, struct fault *f)
{
	_cleanup_close_ int keysfd = -EBADF, lock = -EBADF;
	char file[APPROVER_FILE_SIZE];
	int r;

	r = approver_require_name(name, f);
	if (r < 0)
		return r;
	keysfd = approval_store_open_dir(d, APPROVAL_STORE_KEYS, false, f);
	if (keysfd < 0 && keysfd != -ENOENT)
		return keysfd;
	r = keysfd < 0 ? keysfd : approver_file_read(keysfd, d, name, k, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no private key of '%s' in lane '%s': run 'custody key new %s'",
				 name, d->lane, name);
	if (r < 0)
		return r;
	(void)snprintf(file, sizeof(file), "%s.lock", name);
	lock = approval_store_lock(keysfd, file, f);
	if (lock < 0)
		return lock;
	/* Again, because it may have changed before the lock was taken. */
	r = approver_file_read(keysfd, d, name, k, f);
	if (r < 0)
		return r == -ENOENT ? fault_set(f, ENOENT, "the private key of '%s' was removed", name) : r;
	*ret_keysfd = TAKE_FD(keysfd);
	*ret_lock = TAKE_FD(lock);
	return 0;
}

static int answer_unset(struct pin_answer *ret)
{
	*ret = (struct pin_answer){ .result = PIN_UNSET };
	return 0;
}

int pin_try(const struct approval_store *d, const char *name, const char *pin, struct pin_answer *ret,
	    struct sign_secret *ret_key, struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_close_ int keysfd = -EBADF, lock = -EBADF;
	int r;

	r = open_key(d, name, &keysfd, &lock, &k, f);
	if (r < 0)
		return r;
	if (!k.has_box)
		return answer_unset(ret);
	return try_locked(d, keysfd, &k, pin, ret, ret_key, f);
}

int pin_status(const struct approval_store *d, const char *name, struct pin_answer *ret, struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_close_ int keysfd = -EBADF, lock = -EBADF;
	struct pin_tries t;
	struct moment now;
	int r;

	r = open_key(d, name, &keysfd, &lock, &k, f);
	if (r < 0)
		return r;
	if (!k.has_box)
		return answer_unset(ret);
	r = approval_store_now(d, &now, f);
	if (r == 0)
		r = pin_tries_read(keysfd, name, &t, f);
	if (r < 0)
		return r;
	*ret = (struct pin_answer){ .result = PIN_RIGHT, .wait_s = pin_tries_wait_s(&t, &now) };
	if (ret->wait_s)
		ret->result = PIN_LOCKED;
	else
		ret->tries_left = (unsigned int)(t.locked ? PIN_TRIES : PIN_TRIES - t.failed);
	return 0;
}

/* The new box is written before the count is reset: never the old one with a fresh count. */
static int store(const struct approval_store *d, int keysfd, struct approver_file *k, bool reset,
		 struct fault *f)
{
	struct jdoc *details = jdoc_new_object();
	struct pin_tries none = { 0 };
	char hex[APPROVER_KEY_SIZE];
	int r;

	approver_key_text(&k->public.pin_key, hex);
	jdoc_set_string(details, "approver", k->public.name);
	jdoc_set_string(details, "pin_key", hex);
	jdoc_set_string(details, "key_id", k->public.pin_key_id);
	jdoc_set_bool(details, "new_key", reset);
	r = approval_store_record(d, "pin.set", NULL, NULL, NULL, details, LEDGER_DECIDED, NULL, f);
	if (r == 0)
		r = approver_file_write(keysfd, d, k, f);
	if (r == 0)
		r = pin_tries_write(keysfd, k->public.name, &none, f);
	return r < 0 ? r : approver_publish(d, &k->public, f);
}

int pin_set(const struct approval_store *d, const char *name, const char *old, const char *pin,
	    struct pin_answer *ret_answer, struct approver *ret, struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_sign_ struct sign_secret secret = { 0 };
	_cleanup_close_ int keysfd = -EBADF, lock = -EBADF;
	struct pin_answer answer = { .result = PIN_RIGHT, .tries_left = PIN_TRIES };
	int r;

	r = pin_check(pin, f);
	if (r == 0)
		r = open_key(d, name, &keysfd, &lock, &k, f);
	if (r < 0)
		return r;
	if (old && !k.has_box)
		answer.result = PIN_UNSET;
	else if (old)
		r = try_locked(d, keysfd, &k, old, &answer, &secret, f);
	else
		r = sign_new(&secret, f);
	if (r < 0 || answer.result != PIN_RIGHT) {
		if (r == 0)
			*ret_answer = answer;
		return r;
	}
	r = pin_wrap(pin, d->pin_cost ? d->pin_cost : PIN_COST, &secret, &k, f);
	if (r == 0)
		r = store(d, keysfd, &k, !old, f);
	if (r == 0)
		r = approver_find(d, name, ret, f);
	if (r == 0)
		*ret_answer = answer;
	return r;
}
