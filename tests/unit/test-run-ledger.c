/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-ledger.h"

#include <string.h>

#include "ledger-fixture.h"
#include "tap.h"

static void the_start_records_each_layer_that_was_asked_for(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_decision_ struct decision d = DECISION_NONE;
	struct dirs dirs = { .state = p.state };
	struct run_ledger r = { .decision = &d };
	enum layer_state layers[_LAYER_MAX];
	_cleanup_free_ char *all = NULL;
	size_t len;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		layers[l] = LAYER_STATE_NOT_ASKED;
	layers[LAYER_SECCOMP] = LAYER_STATE_PROVEN;
	d.dirs = &dirs;
	d.run = (struct ledger_run){ .action = "run", .session = "20261116T031500Z-1a2b3c4d" };
	CHECK(place_make(&p) && run_ledger_open(&r, NULL) == 0 && run_ledger_intend(&r, NULL) == 0);
	CHECK(run_ledger_start(&r, 7, layers, NULL) == 0);
	all = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(all && strstr(all, "\"layers\":[\"seccomp=proven\"],\"pid\":7"));
}

TAP_MAIN(T(the_start_records_each_layer_that_was_asked_for))
