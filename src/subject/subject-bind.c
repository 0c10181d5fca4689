/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "state/sandbox-root.h"
#include "subject/subject-build.h"

static int require_word(const struct subject *s, const char *source, bool rw, const char *home,
			struct fault *f)
{
	const char *word = profile_path_danger(source, rw, home);

	if (!word || strv_has(s->profile->dangerous, word))
		return 0;
	return fault_set(f, EPERM, "'%s'%s: refused unless the profile says \"dangerous\": [\"%s\"]", source,
			 rw ? " would be writable" : "", word);
}

/* The profile's own paths were judged as they are written; here they are resolved, and -v was never judged. */
int subject_require_harmless(const struct subject *s, const struct subject_request *rq, const char *source,
			     bool rw, struct fault *f)
{
	_cleanup_free_ char *home = NULL;
	int r;

	/* Read-only does not help: the pid namespace and the masks would be proven beside it, and mean nothing. */
	if (path_is_below(source, "/proc"))
		return fault_set(f, EPERM,
				 "'%s' shows the processes of the host; inside, /proc has the container's "
				 "own: name another "
				 "directory",
				 source);
	/* A sandbox root lies where custody chose, in a user's home for one, and holds nothing that a program obeys. */
	if (s->sandbox && sandbox_root_is_visible(s->sandbox, source))
		return 0;
	if (rq->home && rq->home[0] == '/') {
		home = realpath(rq->home, NULL);
		if (!home && errno == ENOMEM)
			return fault_errno(f, ENOMEM, "home '%s'", rq->home);
	}
	r = require_word(s, source, false, home, f);
	return r < 0 || !rw ? r : require_word(s, source, true, home, f);
}

struct bind_words {
	char *source, *target;
	bool rw;
	bool is_volume; /* of the command line */
};

static void words_done(struct bind_words *w)
{
	free(w->source);
	free(w->target);
}

/* The file that was resolved is the one that counts, whatever has its name by now. */
static int take_pinned(struct subject_mount *m, int fd, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "mount source '%s'", m->source);
	m->is_dir = S_ISDIR(st.st_mode);
	m->owner_uid = st.st_uid;
	m->owner_gid = st.st_gid;
	m->file = subject_file_of(&st);
	/* Cloned by a descriptor of ours and never by the runtime, which would follow a link that is put there later. */
	m->idmap = true;
	return 0;
}

/* Owner and reader of a bind: what belongs to a user is given to container root; root's own files stay root's. */
static int add_bind(struct subject *s, const struct subject_request *rq, const struct bind_words *w,
		    struct fault *f)
{
	_cleanup_free_ char *real = NULL, *target = NULL;
	struct subject_mount *m;
	int r, pinned = -EBADF;

	r = subject_pin_sandbox(s, w->source, w->is_volume, &real, &pinned, f);
	if (r < 0)
		return r;
	if (r == 0)
		real = realpath(w->source, NULL);
	if (!real && errno == ENOENT)
		return fault_set(f, ENOENT, "mount source '%s' does not exist", w->source);
	if (!real)
		return fault_errno(f, errno, "mount source '%s'", w->source);
	r = subject_require_harmless(s, rq, real, w->rw, f);
	if (r < 0)
		return r;
	r = path_normalize(w->target, &target, f);
	if (r < 0)
		return fault_wrap(f, r, "mount target '%s'", w->target);
	r = subject_add_bind(s, real, target, w->rw, w->rw, f);
	if (r < 0)
		return r;
	m = subject_find_mount(s, target);
	m->idmap = m->rw || m->owner_uid != 0;
	return pinned < 0 ? 0 : take_pinned(m, pinned, f);
}

static int add_entries(struct subject *s, const struct subject_request *rq, char *const *entries, bool rw,
		       struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && entries && entries[i]; i++) {
		_cleanup_(words_done) struct bind_words w = { .source = strdup(entries[i]), .rw = rw };
		char *colon = w.source ? strchr(w.source, ':') : NULL;

		if (colon)
			*colon++ = '\0';
		w.target = w.source ? strdup(colon ? colon : w.source) : NULL;
		if (!w.target)
			return fault_errno(f, ENOMEM, "mount '%s'", entries[i]);
		r = add_bind(s, rq, &w, f);
		if (r < 0)
			return fault_wrap(f, r, "filesystem.%s", rw ? "rw" : "ro");
	}
	return r;
}

static int split_volume(const char *text, struct bind_words *w, struct fault *f)
{
	_cleanup_free_ char *copy = strdup(text);
	char *target, *mode;

	if (!copy)
		return fault_errno(f, ENOMEM, "-v '%s'", text);
	target = strchr(copy, ':');
	if (!target)
		return fault_set(f, EINVAL, "-v '%s': say SOURCE:TARGET or SOURCE:TARGET:rw", text);
	*target++ = '\0';
	mode = strchr(target, ':');
	if (mode)
		*mode++ = '\0';
	if (mode && strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0)
		return fault_set(
			f, EINVAL,
			"-v '%s': the third word is ro or rw (a path that holds ':' cannot be given with -v)",
			text);
	/* Engines take a bare name for a volume of theirs; there is none here, so it is a mistake. */
	if (copy[0] != '/' && copy[0] != '.')
		return fault_set(f, EINVAL, "-v '%s': the source must start with '/' or './'", text);
	if (target[0] != '/')
		return fault_set(f, EINVAL, "-v '%s': the target must start with '/'", text);
	w->rw = mode && strcmp(mode, "rw") == 0;
	w->target = strdup(target);
	w->source = TAKE_PTR(copy);
	return w->target ? 0 : fault_errno(f, ENOMEM, "-v '%s'", text);
}

int subject_build_binds(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const struct profile *p = s->profile;
	int r;

	r = add_entries(s, rq, p->fs_ro, false, f);
	if (r >= 0)
		r = add_entries(s, rq, p->fs_rw, true, f);
	for (size_t i = 0; r >= 0 && rq->volumes && rq->volumes[i]; i++) {
		_cleanup_(words_done) struct bind_words w = { .is_volume = true };

		r = split_volume(rq->volumes[i], &w, f);
		if (r < 0)
			return r;
		r = add_bind(s, rq, &w, f);
		if (r < 0)
			return fault_wrap(f, r, "-v '%s'", rq->volumes[i]);
	}
	for (size_t i = 0; r >= 0 && i < p->n_fs_tmpfs; i++)
		r = subject_add_tmpfs(s, p->fs_tmpfs[i].path,
				      p->fs_tmpfs[i].size ? p->fs_tmpfs[i].size : subject_tmp_size(s), 0755,
				      f);
	return r;
}
