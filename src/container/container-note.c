/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-note.h"

#include <errno.h>

#include "base/fd.h"
#include "container/container-info.h"
#include "ledger/ledger-redact.h"
#include "session/session-note.h"
#include "subject/subject-digest.h"

/* The host path of the worktree, which only the subject contains. Borrowed from FILE. */
static const char *find_worktree(const struct jdoc *file)
{
	return jdoc_get_string(jdoc_get(jdoc_get(file, "subject"), "worktree"), "source");
}

static int fill(struct session_note *n, const struct container_begin *b, const struct container_info *d,
		struct fault *f)
{
	/* custody-hook redacted it, with the key. */
	const struct redact rules = { .flags = d->redact,
				      .headers = b->config->redact_headers,
				      .marked = true };
	_cleanup_jdoc_ struct jdoc *file = NULL;
	char digest[SUBJECT_DIGEST_SIZE];
	int r;

	r = jdoc_parse(d->subject, d->subject_len, "subject.json", NULL, &file, f);
	if (r < 0)
		return r;
	subject_digest_to_text(&d->digest, digest);
	n->rootless = !d->ids.set;
	n->owner_uid = d->ids.uid_to;
	n->owner_gid = d->ids.gid_to;
	n->uid_base = d->ids.uid_from;
	n->gid_base = d->ids.gid_from;
	return session_note_fill(
		n, b->dirs, b->session, b->started_us,
		&(struct session_note_texts){ .name = d->container,
					      .container = d->container,
					      .bundle = d->bundle,
					      .profile = d->profile,
					      .digest = digest,
					      .worktree = find_worktree(file),
					      .workspace = profile_workspace_name(d->workspace),
					      .argv = d->argv,
					      .redact = &rules },
		f);
}

int container_note_begin(const struct container_begin *b, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_close_ int dir = -EBADF;
	bool made = false;
	int r = container_info_read(b->dir, &d, f);

	if (r == 0)
		r = fill(&n, b, &d, f);
	if (r < 0)
		return r;
	dir = session_note_open_dir(b->dirs, b->session, NULL);
	/* A broker has made it already. */
	if (dir < 0)
		dir = session_make_dir(b->dirs, b->session, &made, f);
	return dir < 0 ? dir : session_note_write(dir, &n, f);
}

void container_note_end(const struct dirs *d, const char *session, const struct ledger_end *end)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_close_ int dir = session_note_open_dir(d, session, NULL);

	if (dir < 0 || session_note_read(dir, &n, NULL) < 0 || session_note_end(&n, end, NULL) < 0)
		return;
	/* The directory has no other file than the note. */
	n.settled = true;
	(void)!session_note_write(dir, &n, NULL);
}
