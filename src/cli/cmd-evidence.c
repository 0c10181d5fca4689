/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"

#define ANSWER_MS 5000

int evidence_require_store(const struct evidence_call *c, struct fault *f)
{
	if (c->place.away)
		return fault_set(f, ENOTCONN, "'%s' is on a share (%s) that is not mounted", c->place.store,
				 c->place.type);
	if (c->place.direct || delivery_answers(c->place.store, ANSWER_MS))
		return 0;
	return fault_set(f, ETIMEDOUT, "'%s' (%s) does not answer", c->place.store, c->place.type);
}

int evidence_locate(const struct evidence_call *c, const char *name, char **ret_name, const char **ret_store,
		    struct fault *f)
{
	int dir, r;

	dir = evidence_open(c->place.staging, c->call->dirs.lane, name, ret_name, NULL);
	if (dir >= 0) {
		if (ret_store)
			*ret_store = c->place.staging;
		return dir;
	}
	r = evidence_require_store(c, f);
	if (r < 0)
		return r;
	if (ret_store)
		*ret_store = c->place.store;
	return evidence_open(c->place.store, c->call->dirs.lane, name, ret_name, f);
}

static int run(struct command_call *call, int (*act)(const struct evidence_call *c, struct fault *f),
	       struct fault *f)
{
	struct evidence_call c = { .call = call };
	int r = delivery_place(&call->dirs, call->config, &c.place, f);

	if (r == 0)
		r = act(&c, f);
	delivery_place_done(&c.place);
	return r;
}

int cmd_evidence_ls(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_ls, f);
}

int cmd_evidence_show(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_show, f);
}

int cmd_evidence_verify(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_verify, f);
}

int cmd_evidence_diff(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_diff, f);
}

int cmd_evidence_restore(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_restore, f);
}

int cmd_evidence_deliver(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_deliver, f);
}

int cmd_evidence_pin(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_pin, f);
}

int cmd_evidence_unpin(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_unpin, f);
}

int cmd_evidence_rm(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_rm, f);
}

int cmd_evidence_prune(struct command_call *c, struct fault *f)
{
	return run(c, evidence_cmd_prune, f);
}
