/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command-lane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger/ledger-session.h"
#include "state/lane.h"
#include "state/state-version.h"

int command_lane_enter(struct command_call *c, struct fault *f)
{
	const struct lane_ask ask = { .lane = c->dirs.lane,
				      .allow_prod = c->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = c->words,
				      .n_verbs = c->group ? 2 : 1,
				      .changes_state = true };

	return lane_gate(&ask, &c->pass, f);
}

int command_lane_record(struct command_call *c, struct ledger *l, struct fault *f)
{
	_cleanup_ledger_ struct ledger *own = NULL;
	char action[64];
	const struct ledger_run run = { .action = action, .lane = lane_name(c->dirs.lane), .argv = c->words };
	int r = 0;

	if (!c->pass || c->dirs.lane != LANE_PROD)
		return 0;
	(void)snprintf(action, sizeof(action), "%s%s%s", c->group ? c->group->name : "", c->group ? " " : "",
		       c->command->name);
	if (!l) {
		/* A state of the other lane gets no record of this one. */
		r = state_require(&c->dirs, f);
		if (r >= 0)
			r = ledger_open(c->dirs.state, &(struct ledger_options){ .create = true }, &own, NULL,
					f);
	}
	return r < 0 ? r : lane_record(c->pass, l ? l : own, &run, f);
}
