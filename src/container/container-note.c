/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "container/container-info.h"
#include "ledger/ledger-redact.h"
#include "session/session-note.h"
#include "subject/subject-digest.h"

static int copy(char **to, const char *from, struct fault *f)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? fault_errno(f, ENOMEM, "note") : 0;
}

/* The host's path of the worktree, which only the subject's document has. */
static int find_worktree(const struct container_info *d, char **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *file = NULL;
	int r = jdoc_parse(d->subject, d->subject_len, "subject.json", NULL, &file, f);

	return r < 0 ? r
		     : copy(ret, jdoc_get_string(jdoc_get(jdoc_get(file, "subject"), "worktree"), "source"),
			    f);
}

static int fill_texts(struct session_note *n, const struct container_info *d, const struct config *c,
		      struct fault *f)
{
	const struct redact rules = { .flags = d->redact, .headers = c->redact_headers };
	_cleanup_strv_ char **argv = redact_argv(d->argv, &rules);
	char digest[SUBJECT_DIGEST_SIZE];
	const struct {
		char **to;
		const char *from;
	} texts[] = {
		{ &n->name, d->container }, { &n->container, d->container },
		{ &n->bundle, d->bundle },  { &n->profile, d->profile },
		{ &n->digest, digest },	    { &n->workspace, profile_workspace_name(d->workspace) },
	};
	int r = argv ? session_note_set_argv(n, argv, f) : fault_errno(f, ENOMEM, "note");

	subject_digest_to_text(&d->digest, digest);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts); i++)
		r = copy(texts[i].to, texts[i].from, f);
	return r < 0 ? r : find_worktree(d, &n->worktree, f);
}

static void fill_ids(struct session_note *n, const struct container_info *d)
{
	n->rootless = !d->ids.set;
	n->owner_uid = d->ids.uid_to;
	n->owner_gid = d->ids.gid_to;
	n->uid_base = d->ids.uid_from;
	n->gid_base = d->ids.gid_from;
}

/* STATE/sessions/ID, as an own run makes it. */
static int make_dir(const struct container_begin *b, struct fault *f)
{
	_cleanup_free_ char *parent = path_join(b->dirs->state, "sessions");
	_cleanup_close_ int states = -EBADF, dir = -EBADF;
	int r;

	if (!parent)
		return fault_errno(f, ENOMEM, "note");
	states = dirs_open_own(parent, 0700, f);
	if (states < 0)
		return states;
	if (mkdirat(states, b->session, 0700) < 0)
		return fault_errno(f, errno, "make '%s/%s'", parent, b->session);
	dir = openat(states, b->session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "open '%s/%s'", parent, b->session);
	r = lane_stamp(dir, b->dirs->lane, f);
	return r < 0 ? r : TAKE_FD(dir);
}

int container_note_begin(const struct container_begin *b, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { .state = SESSION_RUNNING };
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_close_ int dir = -EBADF;
	int r = container_info_read(b->dir, &d, f);

	if (r == 0)
		r = fill_texts(&n, &d, b->config, f);
	if (r == 0)
		r = session_note_sign(&n, f);
	if (r < 0)
		return r;
	(void)snprintf(n.session, sizeof(n.session), "%s", b->session);
	n.lane = b->dirs->lane;
	n.started_us = b->started_us;
	fill_ids(&n, &d);
	dir = make_dir(b, f);
	return dir < 0 ? dir : session_note_write(dir, &n, f);
}

void container_note_end(const struct dirs *d, const char *session, const struct ledger_end *end)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_close_ int dir = session_note_open_dir(d, session, NULL);

	if (dir < 0 || session_note_read(dir, &n, NULL) < 0 || session_note_end(&n, end, NULL) < 0)
		return;
	/* Nothing but the note was ever there. */
	n.settled = true;
	(void)!session_note_write(dir, &n, NULL);
}
