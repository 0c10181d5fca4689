/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
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
	return fault_set(f, EPERM, "'%s'%s: refused unless the profile has \"dangerous\": [\"%s\"]", source,
			 rw ? " would be writable" : "", word);
}

static int require_words(const struct subject *s, const char *source, bool rw, const char *home,
			 struct fault *f)
{
	int r = require_word(s, source, false, home, f);

	return r < 0 || !rw ? r : require_word(s, source, true, home, f);
}

/*
 * The profile's own paths were checked as written; here they are resolved, and -v paths were not checked yet.
 */
int subject_require_harmless(const struct subject *s, const struct subject_request *rq, const char *source,
			     bool rw, struct fault *f)
{
	_cleanup_free_ char *home = NULL;
	int r;

	/*
	 * Also read-only: with the host's /proc visible, the proofs of pid namespace and masks would be
	 * meaningless.
	 */
	if (path_is_below(source, "/proc"))
		return fault_set(f, EPERM,
				 "'%s' shows the processes of the host; /proc inside shows the container's "
				 "own: choose another directory",
				 source);
	/*
	 * A sandbox root is at a path that custody chose, for example in a user's home, and holds no file
	 * that a program executes.
	 */
	if (s->sandbox && sandbox_root_is_visible(s->sandbox, source))
		return 0;
	if (rq->home && rq->home[0] == '/') {
		home = realpath(rq->home, NULL);
		if (!home && errno == ENOMEM)
			return fault_errno(f, ENOMEM, "home '%s'", rq->home);
	}
	r = require_words(s, source, rw, home, f);
	for (char *const *more = rq->caller_homes; r == 0 && more && *more; more++)
		r = require_words(s, source, rw, *more, f);
	return r;
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

/* The resolved file counts, whatever has its name now. */
static int take_pinned(struct subject_mount *m, int fd, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "mount source '%s'", m->source);
	m->is_dir = S_ISDIR(st.st_mode);
	m->owner_uid = st.st_uid;
	m->owner_gid = st.st_gid;
	m->file = subject_file_of(&st);
	/*
	 * Cloned by our descriptor and never by the runtime, which would follow a link that is placed there
	 * later.
	 */
	m->idmap = true;
	return 0;
}

static bool goes_up(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '\0' || p[2] == '/'))
			return true;
	return false;
}

/* PATH, below the worktree, resolved in it.  NULL: errno, EXDEV if a link leads out. */
static char *resolve_in_worktree(const struct subject *s, const char *path)
{
	_cleanup_close_ int work = open(s->worktree, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    fd = -EBADF;
	char name[32], text[PATH_MAX];
	ssize_t n;

	if (work < 0)
		return NULL;
	fd = path_open_beneath(work, path + strlen(s->worktree) + 1, O_PATH | O_CLOEXEC, 0, NULL);
	if (fd < 0) {
		/* Without openat2 no link is followed. */
		errno = fd == -ELOOP ? EXDEV : -fd;
		return NULL;
	}
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	/* Not realpath: it would resolve the text again. */
	n = readlink(name, text, sizeof(text) - 1);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return strdup(text);
}

/*
 * SOURCE, resolved name by name.  Where the walk has come to the worktree, a link may not lead out of it; a ".." may, as the caller
 * wrote it.  A link outside is followed as a whole.  NULL: errno, EXDEV if a link leads out.
 */
static char *walk(const struct subject *s, const char *source)
{
	_cleanup_free_ char *at = realpath(source[0] == '/' ? "/" : ".", NULL);
	const char *rest = source + strspn(source, "/");

	if (!*source) {
		errno = ENOENT;
		return NULL;
	}
	while (at && *rest) {
		bool inside = s->worktree && path_is_below(at, s->worktree);
		/* All that remains at once, where possible: no other process can exchange a part meanwhile. */
		size_t n = inside && !goes_up(rest) ? strlen(rest) : strcspn(rest, "/");
		_cleanup_free_ char *name = strndup(rest, n);
		_cleanup_free_ char *joined = name ? path_join(at, name) : NULL;
		char *next;

		if (!joined) {
			errno = ENOMEM;
			return NULL;
		}
		next = inside && !str_eq(name, "..") ? resolve_in_worktree(s, joined)
						     : realpath(joined, NULL);
		if (!next)
			return NULL;
		free(at);
		at = next;
		rest += n;
		rest += strspn(rest, "/");
	}
	return TAKE_PTR(at);
}

/*
 * A command that wrote the worktree before may have left a link in it: a source that the caller named there must not
 * become another directory of the host.
 */
static int resolve_source(const struct subject *s, const char *source, char **ret, struct fault *f)
{
	char *real = walk(s, source);

	if (!real && errno == ENOENT)
		return fault_set(f, ENOENT, "mount source '%s' does not exist", source);
	if (!real && errno == EXDEV)
		return fault_set(
			f, EPERM,
			"mount source '%s' is in the worktree, but a symbolic link leads out of it: name the "
			"directory itself if that is meant",
			source);
	if (!real)
		return fault_errno(f, errno, "mount source '%s'", source);
	*ret = real;
	return 0;
}

/* Owner mapping of a bind: files of a user are given to container root; root's own files stay root's. */
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
		r = resolve_source(s, w->source, &real, f);
	if (r >= 0)
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
		return fault_set(f, EINVAL, "-v '%s': write SOURCE:TARGET or SOURCE:TARGET:rw", text);
	*target++ = '\0';
	mode = strchr(target, ':');
	if (mode)
		*mode++ = '\0';
	if (mode && strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0)
		return fault_set(
			f, EINVAL,
			"-v '%s': the third part must be ro or rw (a path with ':' is not supported by -v)",
			text);
	/* Engines treat a bare name as a volume; custody has no volumes, so it is an error. */
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
	for (size_t i = 0; r >= 0 && i < p->n_fs_tmpfs; i++) {
		if (s->kept_home && str_eq(p->fs_tmpfs[i].path, s->home))
			continue;
		r = subject_add_tmpfs(s, p->fs_tmpfs[i].path,
				      p->fs_tmpfs[i].size ? p->fs_tmpfs[i].size : subject_tmp_size(s), 0755,
				      f);
	}
	return r;
}
