/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-ledger.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "cli/command-lane.h"
#include "cli/dispatch.h"
#include "config/config.h"
#include "base/exit-status.h"
#include "state/state-version.h"

int ledger_open_reader(const struct command_call *c, struct ledger_reader *ret, struct fault *f)
{
	return c->args[0] ? ledger_reader_open_path(c->args[0], ret, f)
			  : ledger_reader_open_live(c->dirs.state, ret, f);
}

/* With --lane the configuration is not read: an error in it must not hide the records. */
static int load(struct command_call *c, struct fault *f)
{
	_cleanup_config_ struct config *config = NULL;
	enum lane lane = LANE_SANDBOX;
	int r;

	if (!c->lane)
		return config_open(NULL, &c->dirs, &config, f);
	r = lane_parse(c->lane, &lane, f);
	return r < 0 ? fault_wrap(f, r, "--lane") : dirs_load_lane(lane, &c->dirs, f);
}

static int run(struct command_call *c, int (*act)(const struct command_call *c, struct fault *f),
	       struct fault *f)
{
	int r = load(c, f);

	return r < 0 ? r : act(c, f);
}

/*
 * init, repair and checkpoint: both keys of prod.  The override follows the act: before it there may be no ledger that
 * takes a record.  An act that changed nothing (negative, or STATUS_NO) has none.
 */
static int run_with_keys(struct command_call *c, int (*act)(const struct command_call *c, struct fault *f),
			 struct fault *f)
{
	int r = load(c, f), x;

	if (r == 0)
		r = command_lane_enter(c, f);
	if (r == 0)
		r = state_require(&c->dirs, f);
	if (r < 0)
		return r;
	r = act(c, f);
	if (r != STATUS_OK)
		return r;
	x = command_lane_record(c, NULL, f);
	return x < 0 ? x : r;
}

int cmd_ledger_init(struct command_call *c, struct fault *f)
{
	return run_with_keys(c, ledger_cmd_init, f);
}

int cmd_ledger_show(struct command_call *c, struct fault *f)
{
	return run(c, ledger_cmd_show, f);
}

int cmd_ledger_tail(struct command_call *c, struct fault *f)
{
	return run(c, ledger_cmd_tail, f);
}

int cmd_ledger_verify(struct command_call *c, struct fault *f)
{
	return run(c, ledger_cmd_verify, f);
}

int cmd_ledger_export(struct command_call *c, struct fault *f)
{
	return run(c, ledger_cmd_export, f);
}

int cmd_ledger_repair(struct command_call *c, struct fault *f)
{
	return run_with_keys(c, ledger_cmd_repair, f);
}

int cmd_ledger_checkpoint(struct command_call *c, struct fault *f)
{
	return run_with_keys(c, ledger_cmd_checkpoint, f);
}
