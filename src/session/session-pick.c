/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-pick.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "session/session-upper.h"

bool session_word_is_last(const char *word)
{
	return !word || str_eq(word, "-") || str_eq(word, "last");
}

/* 1: changes of this directory are kept; 0: not. */
static int has_changes(const struct dirs *d, const struct session_note *n, const struct session_here *here,
		       struct fault *f)
{
	_cleanup_session_upper_ struct session_upper k = { 0 };
	_cleanup_close_ int dir = -EBADF;
	int r;

	if (!n->kept)
		return 0;
	dir = session_note_open_dir(d, n->session, f);
	r = dir < 0 ? dir : session_upper_read(dir, &k, f);
	return r < 0 ? r : session_here_has(here, k.device, k.inode);
}

static int fits(const struct dirs *d, const struct session_note *n, enum session_fit fit,
		const struct session_here *here, struct fault *f)
{
	switch (fit) {
	case SESSION_FIT_CHANGES:
		return has_changes(d, n, here, f);
	case SESSION_FIT_RUNNING:
		return n->state == SESSION_RUNNING && !n->container && session_here_has_note(here, n);
	case SESSION_FIT_ANY:
		break;
	}
	return session_here_has_note(here, n);
}

static int refuse_unreadable(const char *id_and_why, struct fault *f)
{
	return fault_set(
		f, EUCLEAN,
		"a session that may be the newest of this directory cannot be read; name the one to take: %s",
		id_and_why);
}

/* Ids begin with the time, in seconds; FOUND NULL: no session fits. */
static int require_readable(char *const *broken, const struct session_note *found, struct fault *f)
{
	for (char *const *b = broken; b && *b; b++)
		if (!found || strncmp(*b, found->session, strcspn(found->session, "-")) >= 0)
			return refuse_unreadable(*b, f);
	return 0;
}

/* 1: it fits; 0: it does not, or another process is removing its changes. */
static int look(const struct dirs *d, const struct session_note *n, enum session_fit fit,
		const struct session_here *here, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *text = NULL;
	int r = fits(d, n, fit, here, &why);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		return r;
	if (asprintf(&text, "%s: %s", n->session, fault_text(&why)) < 0) {
		text = NULL;
		return fault_errno(f, ENOMEM, "sessions");
	}
	return refuse_unreadable(text, f);
}

static int pick_newest(const struct dirs *d, enum session_fit fit, const struct session_here *here,
		       struct session_note *ret, struct fault *f)
{
	static const char *const none[] = {
		[SESSION_FIT_ANY] = "no session ran in this directory",
		[SESSION_FIT_CHANGES] = "no session of this directory has kept changes",
		[SESSION_FIT_RUNNING] = "no session is running in this directory",
	};
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	struct session_note *found = NULL;
	int r = session_note_list(d, &l, f);

	for (size_t i = 0; r == 0 && i < l.n; i++) {
		r = look(d, &l.items[i], fit, here, f);
		found = r > 0 ? &l.items[i] : NULL;
	}
	if (r >= 0)
		r = require_readable(l.broken, found, f);
	if (r == 0 && !found)
		r = fault_set(f, ENOENT, "%s", none[fit]);
	if (r < 0)
		return r;
	*ret = *found;
	*found = (struct session_note){ 0 };
	return 0;
}

int session_pick(const struct dirs *d, const char *word, enum session_fit fit, struct session_note *ret,
		 struct fault *f)
{
	_cleanup_session_here_ struct session_here here = { 0 };
	int r;

	if (!session_word_is_last(word))
		return session_note_find(d, word, ret, f);
	r = session_here_load(&here, f);
	return r < 0 ? r : pick_newest(d, fit, &here, ret, f);
}

int session_pick_of(const struct dirs *d, uint64_t device, uint64_t inode, const char *word,
		    struct session_note *ret, struct fault *f)
{
	struct session_here_dir dir = { .device = device, .inode = inode };
	const struct session_here here = { .dirs = &dir, .n = 1 };

	return session_word_is_last(word) ? pick_newest(d, SESSION_FIT_CHANGES, &here, ret, f)
					  : session_note_find(d, word, ret, f);
}
