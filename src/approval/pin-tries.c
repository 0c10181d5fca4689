/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "approval/pin-impl.h"

#define DOUBLINGS_MAX 11 /* 15 minutes become at most three weeks */

/* clang-format off */
static const struct approval_store_shape tries_shape[] = {
	{ "schema_version", JDOC_INT,    false },
	{ "failed",         JDOC_INT,    false },
	{ "failed_all",     JDOC_INT,    false },
	{ "locks",          JDOC_INT,    false },
	{ "locked",         JDOC_OBJECT, true  },
	{ 0 },
};
/* clang-format on */

static void file_name(const char *name, char file[APPROVER_FILE_SIZE])
{
	(void)snprintf(file, APPROVER_FILE_SIZE, "%s.tries", name);
}

static bool take(const struct jdoc *doc, struct pin_tries *t)
{
	const struct jdoc *locked = jdoc_get(doc, "locked");
	int64_t failed = approval_store_get_int(doc, "failed"),
		all = approval_store_get_int(doc, "failed_all"), locks = approval_store_get_int(doc, "locks");

	if (approval_store_get_int(doc, "schema_version") != 1 || failed < 0 || failed > PIN_TRIES ||
	    all < failed || locks < 0)
		return false;
	*t = (struct pin_tries){
		.failed = (uint64_t)failed,
		.failed_all = (uint64_t)all,
		.locks = (uint64_t)locks,
		.locked = locked != NULL,
	};
	return !locked || (locks > 0 && approval_store_get_moment(locked, &t->since) == 0);
}

int pin_tries_read(int keysfd, const char *name, struct pin_tries *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	char file[APPROVER_FILE_SIZE];
	int r;

	file_name(name, file);
	r = approval_store_read_json(keysfd, file, "read the count of tries", &doc, f);
	if (r == 0)
		r = approval_store_require_shape(doc, tries_shape, "read the count of tries", f);
	/*
	 * A process that could remove the count could try without limit: a missing count refuses every try.
	 */
	if (r == -ENOENT)
		return fault_set(
			f, EBADMSG,
			"the count of tries of '%s' is missing: run 'custody pin set' to create a new PIN",
			name);
	if (r == 0 && !take(doc, ret))
		return fault_set(
			f, EBADMSG,
			"the count of tries of '%s' is damaged: run 'custody pin set' to create a new PIN",
			name);
	return r;
}

int pin_tries_write(int keysfd, const char *name, const struct pin_tries *t, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	char file[APPROVER_FILE_SIZE];

	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_int(doc, "failed", (int64_t)t->failed);
	jdoc_set_int(doc, "failed_all", (int64_t)t->failed_all);
	jdoc_set_int(doc, "locks", (int64_t)t->locks);
	if (t->locked)
		approval_store_put_moment(&t->since, jdoc_set_object(doc, "locked"));
	file_name(name, file);
	return approval_store_write_json(keysfd, file, doc, f);
}

uint64_t pin_tries_lock_s(const struct pin_tries *t)
{
	uint64_t doublings = t->locks > 0 ? t->locks - 1 : 0;

	return PIN_LOCK_S << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
}

/*
 * Both clocks must agree that it is over.  After a reboot the time since boot is the minimum that has passed:
 * the lock is older than the boot.
 */
uint64_t pin_tries_wait_s(const struct pin_tries *t, const struct moment *now)
{
	uint64_t lock_s = pin_tries_lock_s(t), passed_ns, until_us = t->since.wall_us + lock_s * 1000000;
	uint64_t by_boot = 0, by_wall = 0;

	if (!t->locked)
		return 0;
	passed_ns = now->boot_ns;
	if (strcmp(now->boot, t->since.boot) == 0)
		passed_ns = now->boot_ns > t->since.boot_ns ? now->boot_ns - t->since.boot_ns : 0;
	if (passed_ns / 1000000000 < lock_s)
		by_boot = lock_s - passed_ns / 1000000000;
	if (now->wall_us < until_us)
		by_wall = (until_us - now->wall_us + 999999) / 1000000;
	return by_boot > by_wall ? by_boot : by_wall;
}
