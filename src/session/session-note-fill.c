/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "ledger/ledger-redact.h"
#include "session/session-note.h"

static int copy_texts(struct session_note *n, const struct session_note_texts *t, struct fault *f)
{
	const struct {
		char **to;
		const char *from;
	} texts[] = {
		{ &n->name, t->name },		 { &n->agent, t->agent },     { &n->worker, t->worker },
		{ &n->issue, t->issue },	 { &n->profile, t->profile }, { &n->digest, t->digest },
		{ &n->container, t->container }, { &n->bundle, t->bundle },   { &n->worktree, t->worktree },
		{ &n->workspace, t->workspace },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		*texts[i].to = texts[i].from ? strdup(texts[i].from) : NULL;
		if (texts[i].from && !*texts[i].to)
			return fault_errno(f, ENOMEM, "session");
	}
	return 0;
}

int session_note_fill(struct session_note *n, const struct dirs *d, const char *id, uint64_t started_us,
		      const struct session_note_texts *t, struct fault *f)
{
	_cleanup_strv_ char **argv = redact_argv(t->argv, t->redact);
	int r;

	(void)snprintf(n->session, sizeof(n->session), "%s", id);
	n->state = SESSION_RUNNING;
	n->lane = d->lane;
	n->started_us = started_us;
	r = argv ? session_note_set_argv(n, argv, f) : fault_errno(f, ENOMEM, "session");
	if (r == 0 && t->chain && !(n->chain = strv_copy(t->chain)))
		r = fault_errno(f, ENOMEM, "session");
	if (r == 0)
		r = copy_texts(n, t, f);
	return r < 0 ? r : session_note_sign(n, f);
}
