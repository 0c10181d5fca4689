/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

#define LINKS_MAX 40

enum sight {
	SIGHT_MISSING,
	SIGHT_DIR,
	SIGHT_LINK,
	SIGHT_OTHER, /* a file, or not known */
};

/* "" and PARENT "/": every absolute path is below it. */
static bool is_above(const char *path, const char *target)
{
	return path_is_below(target, *path ? path : "/");
}

/* Does the root of the container need PATH as a directory, for a mount, a link or a copy? */
static bool is_made(const struct subject *s, const char *path)
{
	if (is_above(path, subject_work_target(s)))
		return true;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (is_above(path, s->mounts[i].target))
			return true;
	for (size_t i = 0; i < s->n_links; i++)
		if (is_above(path, s->links[i].target))
			return true;
	for (char **c = s->copies; c && *c; c++)
		if (is_above(path, *c))
			return true;
	return false;
}

/* /proc, /dev and /run have files of the runtime and of custody. */
static bool is_special(const char *path)
{
	return path_is_below(path, "/proc") || path_is_below(path, "/dev") || path_is_below(path, "/sys") ||
	       path_is_below(path, "/run");
}

/* The mount that shows PATH: the longest target.  *RET_SOURCE: its directory on the host, NULL: nothing is in it. */
static bool find_mount(const struct subject *s, const char *path, const char **ret_source,
		       const char **ret_rest)
{
	const char *best = NULL, *work = subject_work_target(s);

	if (path_is_below(path, work)) {
		best = work;
		*ret_source = subject_tree_path(s);
	}
	for (size_t i = 0; i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];

		if (!path_is_below(path, m->target) || (best && strlen(m->target) < strlen(best)))
			continue;
		best = m->target;
		*ret_source = m->kind == SUBJECT_MOUNT_TMPFS ? NULL : m->view ? m->view : m->source;
	}
	if (!best)
		return false;
	*ret_rest = path + strlen(best);
	return true;
}

/* HOST gets the path on the host, "": too long. */
static enum sight look_on_host(const char *source, const char *rest, char *text, size_t size,
			       char host[PATH_MAX])
{
	struct stat st;
	ssize_t n;

	if (snprintf(host, PATH_MAX, "%s%s", source, rest) >= PATH_MAX) {
		host[0] = '\0';
		return SIGHT_OTHER;
	}
	/* A mounted entry is never a link itself; the name of the source may be one, /proc/self/fd/N of a view. */
	if ((*rest ? lstat(host, &st) : stat(host, &st)) < 0)
		return errno == ENOENT || errno == ENOTDIR ? SIGHT_MISSING : SIGHT_OTHER;
	if (S_ISDIR(st.st_mode))
		return SIGHT_DIR;
	if (!S_ISLNK(st.st_mode))
		return SIGHT_OTHER;
	n = readlink(host, text, size - 1);
	if (n < 0)
		return SIGHT_OTHER;
	text[n] = '\0';
	return SIGHT_LINK;
}

/* One entry; every directory above it was seen and is no link.  HOST: "" if no path on the host is known. */
static enum sight look(const struct subject *s, const char *path, char *text, size_t size,
		       char host[PATH_MAX])
{
	const char *source = NULL, *rest = "";
	enum sight seen = SIGHT_MISSING;

	host[0] = '\0';
	for (size_t i = 0; i < s->n_links; i++)
		if (str_eq(s->links[i].target, path))
			return snprintf(text, size, "%s", s->links[i].text) < (int)size ? SIGHT_LINK
											: SIGHT_OTHER;
	if (strv_has(s->copies, path))
		return SIGHT_OTHER;
	if (find_mount(s, path, &source, &rest)) {
		if (source)
			seen = look_on_host(source, rest, text, size, host);
		else if (!*rest)
			seen = SIGHT_DIR;
	} else if (is_special(path)) {
		return SIGHT_OTHER;
	}
	return seen == SIGHT_MISSING && is_made(s, path) ? SIGHT_DIR : seen;
}

/* Takes the first component of TODO. */
static size_t take_name(const char *todo, char name[NAME_MAX + 1], size_t *ret_len)
{
	size_t skip = strspn(todo, "/"), len = strcspn(todo + skip, "/");

	*ret_len = len;
	if (len <= NAME_MAX)
		(void)snprintf(name, NAME_MAX + 1, "%.*s", (int)len, todo + skip);
	return skip + len;
}

struct way {
	char done[PATH_MAX]; /* no link in it, "" is the root */
	char todo[PATH_MAX];
	char host[PATH_MAX]; /* of the last entry that was seen */
	int links;
};

/* The rest of the way starts with the text of a link beside DONE. */
static bool follow(struct way *w, const char *text)
{
	char rest[PATH_MAX];

	(void)snprintf(rest, sizeof(rest), "%s", w->todo);
	if (++w->links > LINKS_MAX ||
	    snprintf(w->todo, sizeof(w->todo), "%s/%s", text, rest) >= (int)sizeof(w->todo))
		return false;
	if (text[0] == '/')
		w->done[0] = '\0';
	return true;
}

/* One component.  Returns true when the answer is known: *RET_PRESENT. */
static bool step(const struct subject *s, struct way *w, bool *ret_present)
{
	char name[NAME_MAX + 1], next[PATH_MAX + NAME_MAX + 2], text[PATH_MAX];
	size_t len, used = take_name(w->todo, name, &len);

	/* No component left: a directory, and execve says so. */
	*ret_present = len <= NAME_MAX;
	if (len == 0 || len > NAME_MAX)
		return true;
	memmove(w->todo, w->todo + used, strlen(w->todo + used) + 1);
	if (str_eq(name, "."))
		return false;
	if (str_eq(name, "..")) {
		w->done[strrchr(w->done, '/') ? (size_t)(strrchr(w->done, '/') - w->done) : 0] = '\0';
		return false;
	}
	if (snprintf(next, sizeof(next), "%s/%s", w->done, name) >= PATH_MAX)
		return true;
	switch (look(s, next, text, sizeof(text), w->host)) {
	case SIGHT_MISSING:
		*ret_present = false;
		return true;
	case SIGHT_DIR:
		(void)snprintf(w->done, sizeof(w->done), "%.*s", PATH_MAX - 1, next);
		return false;
	case SIGHT_LINK:
		return !follow(w, text);
	case SIGHT_OTHER:
		break;
	}
	return true;
}

/* Is there a file at PATH, absolute and inside?  Also true if that is not known. */
static bool is_present(const struct subject *s, const char *path, char host[PATH_MAX])
{
	struct way w = { 0 };
	bool present = true;

	host[0] = '\0';
	if (snprintf(w.todo, sizeof(w.todo), "%s", path) >= (int)sizeof(w.todo))
		return true;
	while (!step(s, &w, &present))
		;
	if (present)
		memcpy(host, w.host, sizeof(w.host));
	return present;
}

static bool is_in_dir(const struct subject *s, const char *dir, size_t len, const char *name,
		      char host[PATH_MAX])
{
	char path[PATH_MAX];
	int n;

	host[0] = '\0';
	if (len > 0 && dir[0] == '/')
		n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, name);
	else
		n = snprintf(path, sizeof(path), "%s/%.*s/%s", s->cwd, (int)len, dir, name);
	return n >= (int)sizeof(path) || is_present(s, path, host);
}

bool subject_find_program(const struct subject *s, const char *name, char host[PATH_MAX])
{
	const char *dir = "";

	host[0] = '\0';
	if (!name || !*name)
		return false;
	if (strchr(name, '/'))
		return name[0] == '/' ? is_present(s, name, host) : is_in_dir(s, "", 0, name, host);
	for (char **e = s->env; e && *e; e++)
		if (str_starts(*e, "PATH="))
			dir = *e + strlen("PATH=");
	for (const char *end; dir; dir = *end ? end + 1 : NULL) {
		end = dir + strcspn(dir, ":");
		if (is_in_dir(s, dir, (size_t)(end - dir), name, host))
			return true;
	}
	return false;
}

bool subject_has_program(const struct subject *s)
{
	char host[PATH_MAX];

	return subject_find_program(s, s->argv[0], host);
}
