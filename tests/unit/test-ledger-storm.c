/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers that are killed while they write: on a real file system, with rotation, 20 rounds (CI=true: 4). */
#include "ledger/ledger.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ledger-fixture.h"
#include "tap.h"

#define WRITERS 8
#define KILLS 100 /* per round */

/* What the writers were promised, seen by all. */
struct promises {
	uint64_t synced; /* records that a returned call reported as synced */
};

static const struct ledger_options options = { .segment_max = 1000000 };

static _Noreturn void write_on(const struct place *p, int out, struct promises *promised, unsigned int seed)
{
	static char text[9000];
	struct jdoc *d = jdoc_new_object();
	/* A write of several pages is what a kill can tear. */
	const struct ledger_event e[3] = { { .kind = "a", .session = "s" },
					   { .kind = "b", .d = d, .verbatim = true },
					   { .kind = "c", .d = d, .verbatim = true } };
	struct ledger *l = NULL;

	memset(text, 'x', sizeof(text) - 1);
	jdoc_set_string(d, "text", text);
	if (ledger_open(p->state, &options, &l, NULL, NULL) < 0)
		_exit(1);
	for (;;) {
		enum ledger_class class;
		struct ledger_mark mark;

		seed = seed * 1103515245 + 12345;
		class = seed >> 16 & 3 ? LEDGER_OBSERVED : LEDGER_DECIDED;
		if (ledger_append(l, e, 1 + (seed >> 20) % 3, class, &mark, NULL) < 0)
			_exit(2);
		if (class == LEDGER_DECIDED) {
			uint64_t was = __atomic_load_n(&promised->synced, __ATOMIC_SEQ_CST);

			while (was < mark.size &&
			       !__atomic_compare_exchange_n(&promised->synced, &was, mark.size, false,
							    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				;
		}
		if (write(out, "x", 1) != 1)
			_exit(3);
	}
}

static pid_t spawn(const struct place *p, int out, struct promises *promised, unsigned int seed)
{
	pid_t pid = fork();

	if (pid == 0)
		write_on(p, out, promised, seed);
	return pid;
}

/* Killed, not ended by itself. */
static bool finish_off(pid_t pid)
{
	int status;

	if (kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		return true;
	printf("# a writer ended by itself with %d\n", WEXITSTATUS(status));
	return false;
}

static bool round_holds(unsigned int round, uint64_t *segments, uint64_t *torn)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct promises *promised;
	struct ledger_verify_result r, after;
	pid_t pids[WRITERS];
	struct digest k0;
	struct seal s;
	unsigned int seed = round * 7919 + 1;
	char byte;
	int pipes[2];
	bool ok = true;

	promised = mmap(NULL, sizeof(*promised), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (promised == MAP_FAILED || !place_make_on_disk(&p) || !fill(&p, 1, &options, &k0) ||
	    pipe2(pipes, O_CLOEXEC) < 0)
		return false;
	for (unsigned int i = 0; i < WRITERS; i++)
		pids[i] = spawn(&p, pipes[1], promised, seed + i);
	for (unsigned int i = 0; i < KILLS && ok; i++) {
		unsigned int victim;

		seed = seed * 1103515245 + 12345;
		for (unsigned int k = 0; k < 1 + (seed >> 16) % 40; k++)
			ok = ok && read(pipes[0], &byte, 1) == 1;
		victim = (seed >> 8) % WRITERS;
		ok = ok && finish_off(pids[victim]);
		pids[victim] = spawn(&p, pipes[1], promised, seed);
	}
	for (unsigned int i = 0; i < WRITERS; i++)
		ok = finish_off(pids[i]) && ok;
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	/* As the last kill left it: whole or torn, never tampered with; and synced records exist. */
	r = verify_state(&p, &k0);
	ok = ok && (r.status == VERIFY_OK || r.status == VERIFY_TORN) && r.next >= promised->synced;
	ok = ok && ledger_open(p.state, &options, &l, NULL, NULL) == 0 &&
	     put(l, "test.event", LEDGER_DECIDED) == 0;
	after = verify_state(&p, &k0);
	ok = ok && after.status == VERIFY_OK && after.next > r.next && after.sealed == after.next &&
	     after.gaps == 0;
	if (!ok)
		printf("# round %u: %d at %llu (%s), then %d at %llu (%s); promised %llu\n", round,
		       (int)r.status, (unsigned long long)r.bad_seq, r.why, (int)after.status,
		       (unsigned long long)after.bad_seq, after.why, (unsigned long long)promised->synced);
	*torn += after.recovered;
	*segments += load_seal(&p, &s) ? s.segment > 0 : 0;
	(void)munmap(promised, sizeof(*promised));
	return ok;
}

static void writers_that_are_killed_leave_a_ledger_that_holds(void)
{
	unsigned int rounds = tap_stride() > 1 ? 1 : tap_has("CI", "true") && !tap_is_full() ? 4 : 20;
	uint64_t rotated = 0, torn = 0;

	for (unsigned int i = 0; i < rounds; i++)
		CHECK(round_holds(i, &rotated, &torn));
	printf("# %llu torn ends were moved away in %u rounds\n", (unsigned long long)torn, rounds);
	/* The rounds have rotated while they stormed. */
	CHECK(rotated > 0);
}

TAP_MAIN(T(writers_that_are_killed_leave_a_ledger_that_holds))
