/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"
#include "session/session-pick.h"

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

/* The session's note has the identity of its worktree; without a note, the path decides. */
static bool is_of_here(const struct evidence_call *c, const struct session_here *here,
		       const struct evidence_item *e)
{
	const char *session = jdoc_get_string(e->metadata, "session");
	_cleanup_session_note_ struct session_note n = { 0 };

	if (session && strlen(session) == SESSION_ID_SIZE - 1 &&
	    session_note_find(&c->call->dirs, session, &n, NULL) == 0)
		return session_here_has_note(here, &n);
	return session_here_has_path(here, jdoc_get_string(e->metadata, "worktree"));
}

/* The name (heap) of the newest evidence of STORE that was taken of this directory; NULL: the store has none. */
static int find_newest(const struct evidence_call *c, const char *store, const struct session_here *here,
		       uint64_t *newest_us, char **name, struct fault *f)
{
	_cleanup_evidence_ struct evidence_list l = { 0 };
	int r = evidence_list(store, c->call->dirs.lane, &l, f);

	for (size_t i = l.n; r == 0 && i > 0; i--) {
		const struct evidence_item *e = l.items + i - 1;

		if (e->taken_us <= *newest_us || !is_of_here(c, here, e))
			continue;
		*newest_us = e->taken_us;
		free(*name);
		*name = strdup(e->name);
		return *name ? 0 : fault_errno(f, ENOMEM, "evidence");
	}
	return r;
}

/* Of both places: without the store the newest is not known. */
static int pick_newest(const struct evidence_call *c, char **ret, struct fault *f)
{
	_cleanup_session_here_ struct session_here here = { 0 };
	_cleanup_free_ char *name = NULL;
	uint64_t newest_us = 0;
	int r = session_here_load(&here, f);

	if (r == 0)
		r = find_newest(c, c->place.staging, &here, &newest_us, &name, f);
	if (r == 0)
		r = evidence_require_store(c, f);
	if (r == 0)
		r = find_newest(c, c->place.store, &here, &newest_us, &name, f);
	if (r < 0)
		return r;
	if (!name)
		return fault_set(f, ENOENT,
				 "no evidence of a session in this directory: custody evidence ls");
	fprintf(stderr, PACKAGE_NAME " evidence %s: %s\n", c->call->command->name, name);
	*ret = TAKE_PTR(name);
	return 0;
}

int evidence_locate(const struct evidence_call *c, const char *name, char **ret_name, const char **ret_store,
		    struct fault *f)
{
	_cleanup_free_ char *newest = NULL;
	int dir, r = session_word_is_last(name) ? pick_newest(c, &newest, f) : 0;

	if (r < 0)
		return r;
	if (newest)
		name = newest;
	dir = evidence_open(c->place.staging, c->call->dirs.lane, name, ret_name, f);
	if (dir >= 0 && ret_store)
		*ret_store = c->place.staging;
	if (dir >= 0 || dir == -EEXIST)
		return dir;
	fault_done(f);
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
