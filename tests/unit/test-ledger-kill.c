/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer that is killed before each of its system calls in turn, from the first to the last. */
#include "ledger/ledger.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "child.h"
#include "ledger-fixture.h"
#include "tap.h"

#define CALLS_MAX 10000 /* valgrind adds many of its own */

/*
 * Runs WORK in a child and kills it before its Nth system call, counted from when it stops itself.
 * 1: killed; 0: WORK was done before; negative: it failed.
 */
static int kill_at(unsigned int n, bool (*work)(const struct place *p), const struct place *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(!(child_be_traced() && work(p)));
	return child_kill_at(pid, n);
}

static struct ledger *open_small(const struct place *p)
{
	struct ledger *l = NULL;

	return ledger_open(p->state, &(struct ledger_options){ .create = true, .segment_max = 2500 }, &l,
			   NULL, NULL) < 0
		       ? NULL
		       : l;
}

static bool init_work(const struct place *p)
{
	_cleanup_ledger_ struct ledger *l = open_small(p);

	return l != NULL;
}

static bool append_work(const struct place *p)
{
	_cleanup_ledger_ struct ledger *l = open_small(p);
	bool ok = l != NULL;

	for (int i = 0; i < 7 && ok; i++)
		ok = put(l, "test.event", i % 3 ? LEDGER_OBSERVED : LEDGER_DECIDED) == 0;
	return ok && ledger_checkpoint(l, NULL, NULL, NULL) == 0;
}

static bool goes_on(const struct place *p, const struct digest *k0, uint64_t at_least)
{
	_cleanup_ledger_ struct ledger *l = open_small(p);
	struct ledger_verify_result r;

	if (!l || put(l, "test.event", LEDGER_DECIDED) < 0)
		return false;
	r = verify_state(p, k0);
	if (r.status == VERIFY_OK && r.next > at_least && r.gaps == 0 && r.recovered == 0)
		return true;
	printf("# %d at %llu: %s\n", (int)r.status, (unsigned long long)r.bad_seq, r.why);
	return false;
}

static void at_every_call_of_a_birth(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_place_ struct place p = { 0 };

		n += n ? (unsigned int)tap_stride() : 1;
		CHECK(place_make(&p) && n < CALLS_MAX);
		r = kill_at(n, init_work, &p);
		CHECK(r >= 0 && goes_on(&p, NULL, 1));
	} while (r > 0);
	printf("# %u calls\n", n - 1);
	CHECK(n > 20);
}

static void at_every_call_of_appends_with_a_rotation_and_a_checkpoint(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_place_ struct place p = { 0 };
		_cleanup_ledger_ struct ledger *bystander = NULL;
		struct ledger_verify_result before, after;
		struct digest k0;

		n += n ? (unsigned int)tap_stride() : 1;
		CHECK(place_make(&p) && n < CALLS_MAX && fill(&p, 3, NULL, &k0));
		bystander = open_small(&p);
		CHECK(bystander && put(bystander, "test.event", LEDGER_OBSERVED) == 0);
		before = verify_state(&p, &k0);
		r = kill_at(n, append_work, &p);
		after = verify_state(&p, &k0);
		CHECK(r >= 0 && after.status == VERIFY_OK && after.next >= before.next);
		CHECK(put(bystander, "test.event", LEDGER_OBSERVED) == 0 && goes_on(&p, &k0, after.next + 1));
	} while (r > 0);
	printf("# %u calls\n", n - 1);
	CHECK(n > 60);
}

TAP_MAIN(T(at_every_call_of_a_birth), T(at_every_call_of_appends_with_a_rotation_and_a_checkpoint))
