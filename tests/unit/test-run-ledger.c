/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ledger.h"

#include <string.h>

#include "ledger-fixture.h"
#include "tap.h"

#define ID "20261116T031500Z-1a2b3c4d"
#define MS UINT64_C(1000000)

/* Evidence has its own tests; here nothing is configured, and nobody asks for it. */
struct run_lost;
void run_lost_capture(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end);
void run_lost_done(struct run_lost *l);

void run_lost_capture(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	(void)lost, (void)names, (void)started, (void)end;
}

void run_lost_done(struct run_lost *l)
{
	(void)l;
}

static char *argv_true[] = { (char *)"true", NULL };

static bool intend(struct run_ledger *r, const struct place *p)
{
	_cleanup_fault_ struct fault f = { 0 };

	*r = RUN_LEDGER_NONE;
	r->state = p->state;
	r->run = (struct ledger_run){ .action = "run", .session = ID, .agent = "bob", .argv = argv_true };
	if (run_ledger_intend(r, &f) == 0)
		return true;
	printf("# %s\n", fault_text(&f));
	return false;
}

static bool has(const struct place *p, const char *text)
{
	_cleanup_free_ char *all = NULL;
	size_t len;

	all = slurp(p, FIRST_SEGMENT, &len);
	return all && strstr(all, text);
}

static bool has_claim(const struct place *p)
{
	char path[256];

	return place_path(p, CLAIM_DIR "/" ID, path) && access(path, F_OK) == 0;
}

static void a_living_session_says_so_every_minute(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_run_ledger_ struct run_ledger r = RUN_LEDGER_NONE;
	enum layer_state layers[_LAYER_MAX];
	int ms;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		layers[l] = LAYER_STATE_NOT_ASKED;
	layers[LAYER_SECCOMP] = LAYER_STATE_PROVEN;
	CHECK(place_make(&p) && intend(&r, &p) && has_claim(&p));
	CHECK(run_ledger_start(&r, 7, layers, NULL) == 0);
	CHECK(has(&p, "\"layers\":[\"seccomp=proven\"],\"pid\":7"));
	/* The start is on the disk within LEDGER_SYNC_MS; after that there is nothing to do for a minute. */
	ms = run_ledger_tick(&r);
	CHECK(ms >= 0 && ms <= LEDGER_SYNC_MS && !has(&p, "session.alive"));
	r.ledger->unsynced_since_ns -= LEDGER_SYNC_MS * MS;
	ms = run_ledger_tick(&r);
	CHECK(ms > LEDGER_SYNC_MS && ms <= LEDGER_ALIVE_MS && r.ledger->unsynced_since_ns == 0);
	r.alive_ns -= LEDGER_ALIVE_MS * MS;
	ms = run_ledger_tick(&r);
	CHECK(ms <= LEDGER_SYNC_MS && has(&p, "session.alive"));
}

static void a_claim_goes_with_the_end_and_stays_without(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_run_ledger_ struct run_ledger r = RUN_LEDGER_NONE;
	struct run_result res = { .exit = { .reason = EXIT_REASON_EXITED } };

	CHECK(place_make(&p) && intend(&r, &p));
	run_ledger_done(&r);
	CHECK(has_claim(&p) && !has(&p, "session.end"));
	/* Somebody else finds it: lost, with the name of its agent, and once. */
	r.state = p.state;
	CHECK(ledger_open(p.state, NULL, &r.ledger, NULL, NULL) == 0);
	CHECK(run_ledger_lost(&r, ID, NULL) == 0 && !has_claim(&p));
	CHECK(has(&p, "\"k\":\"session.end\",\"session\":\"" ID "\",\"agent\":\"bob\"") &&
	      has(&p, "\"lost\""));
	run_ledger_done(&r);
	CHECK(intend(&r, &p) && run_ledger_end(&r, &res, NULL) == 0 && !has_claim(&p));
}

static void who_had_started_is_lost_and_not_refused(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_run_ledger_ struct run_ledger r = RUN_LEDGER_NONE;

	CHECK(place_make(&p) && intend(&r, &p));
	r.started = true;
	run_ledger_refuse(&r, "setup-failed", "poll failed");
	CHECK(!has(&p, "session.refused") && has(&p, "\"reason\":\"lost\",\"source\":\"supervisor\"") &&
	      !has_claim(&p));
}

TAP_MAIN(T(a_living_session_says_so_every_minute), T(a_claim_goes_with_the_end_and_stays_without),
	 T(who_had_started_is_lost_and_not_refused))
