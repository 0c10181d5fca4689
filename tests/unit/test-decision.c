/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <string.h>

#include "session/session-end.h"

#include "ledger-fixture.h"
#include "tap.h"

#define ID "20261116T031500Z-1a2b3c4d"
#define MS UINT64_C(1000000)

static char *argv_true[] = { (char *)"true", NULL };

static bool intend(struct decision *d, const struct dirs *dirs)
{
	_cleanup_fault_ struct fault f = { 0 };

	*d = DECISION_NONE;
	d->dirs = dirs;
	d->run = (struct ledger_run){ .action = "run", .session = ID, .agent = "bob", .argv = argv_true };
	if (decision_open(d, &f) == 0 && decision_intend(d, &f) == 0)
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

static void a_running_session_writes_a_heartbeat_every_minute(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct dirs dirs = { .state = p.state };
	int ms;

	CHECK(place_make(&p) && intend(&d, &dirs) && has_claim(&p));
	CHECK(decision_start(&d, 7, NULL, NULL) == 0 && has(&p, "\"pid\":7"));
	/* The start is on the disk within LEDGER_SYNC_MS; then nothing is due for a minute. */
	ms = decision_tick(&d);
	CHECK(ms >= 0 && ms <= LEDGER_SYNC_MS && !has(&p, "session.alive"));
	d.ledger->unsynced_since_ns -= LEDGER_SYNC_MS * MS;
	ms = decision_tick(&d);
	CHECK(ms > LEDGER_SYNC_MS && ms <= LEDGER_ALIVE_MS && d.ledger->unsynced_since_ns == 0);
	d.alive_ns -= LEDGER_ALIVE_MS * MS;
	ms = decision_tick(&d);
	CHECK(ms <= LEDGER_SYNC_MS && has(&p, "session.alive"));
}

static void a_claim_is_removed_with_the_end_and_kept_without(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct dirs dirs = { .state = p.state };
	struct ledger_end end = session_end_lost(EXIT_SOURCE_SWEEP);
	const struct claim_end story = { .end = &end };

	CHECK(place_make(&p) && intend(&d, &dirs));
	decision_done(&d);
	CHECK(has_claim(&p) && !has(&p, "session.end"));
	/* Recovery records `lost`, with the agent's name from the intent, once. */
	CHECK(ledger_open(p.state, NULL, &d.ledger, NULL, NULL) == 0);
	CHECK(claim_close(p.state, d.ledger, ID, &story, NULL) == 1 && !has_claim(&p));
	CHECK(claim_close(p.state, d.ledger, ID, &story, NULL) == 0);
	CHECK(has(&p, "\"k\":\"session.end\",\"session\":\"" ID "\",\"agent\":\"bob\"") &&
	      has(&p, "\"reason\":\"lost\",\"source\":\"sweep\""));
	decision_done(&d);
	end = session_end_of(&(struct exit_verdict){ .reason = EXIT_REASON_EXITED }, 5);
	CHECK(intend(&d, &dirs) && decision_end(&d, &end, NULL) == 0 && !has_claim(&p));
}

static void a_started_session_is_recorded_as_lost_and_not_refused(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct dirs dirs = { .state = p.state };

	CHECK(place_make(&p) && intend(&d, &dirs));
	d.started = true;
	d.refused = "setup-failed";
	CHECK(decision_refuse(&d, "poll failed", NULL) == 0);
	CHECK(!has(&p, "session.refused") && has(&p, "\"reason\":\"lost\",\"source\":\"supervisor\"") &&
	      !has_claim(&p));
}

static void a_refusal_without_a_name_is_not_recorded(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct dirs dirs = { .state = p.state };

	CHECK(place_make(&p));
	d.dirs = &dirs;
	d.run = (struct ledger_run){ .action = "run", .session = ID };
	CHECK(decision_open(&d, NULL) == 0 && !d.refused);
	CHECK(decision_refuse(&d, "no", NULL) == 0 && !has(&p, "session.refused"));
	d.refused = "profile";
	CHECK(decision_refuse(&d, "no", NULL) == 0 && has(&p, "\"refused\":\"profile\""));
}

/* LANE-2: the refusal is in the sandbox lane's ledger, and prod has not even a directory. */
static void LANE_2_a_refused_prod_start_is_recorded_in_the_sandbox_lane(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_dirs_ struct dirs dirs = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	const struct lane_ask one_key = { .lane = LANE_PROD, .allow_prod = true };
	_cleanup_free_ char *all = NULL;
	char path[256];
	size_t len;

	CHECK(place_make(&p) && setenv("CUSTODY_ROOT", p.state, 1) == 0);
	CHECK(dirs_load_lane(LANE_PROD, &dirs, NULL) == 0);
	d.dirs = &dirs;
	d.run = (struct ledger_run){ .action = "run", .session = ID, .lane = "prod" };
	CHECK(decision_enter(&d, &one_key, NULL) == -LANE_REFUSED);
	CHECK(d.status == STATUS_LANE && str_eq(d.refused, "lane") && !d.pass);
	CHECK(decision_refuse(&d, "a key is missing", NULL) == 0);
	all = slurp(&p, "sandbox/" FIRST_SEGMENT, &len);
	CHECK(all && strstr(all, "\"k\":\"lane.refused\"") && strstr(all, "\"lane\":\"prod\"") &&
	      strstr(all, "\"refused\":\"lane\""));
	CHECK(place_path(&p, "prod", path) && access(path, F_OK) < 0);
	(void)unsetenv("CUSTODY_ROOT");
}

TAP_MAIN(T(a_running_session_writes_a_heartbeat_every_minute),
	 T(a_claim_is_removed_with_the_end_and_kept_without),
	 T(a_started_session_is_recorded_as_lost_and_not_refused),
	 T(a_refusal_without_a_name_is_not_recorded),
	 T(LANE_2_a_refused_prod_start_is_recorded_in_the_sandbox_lane))
