/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/operand-path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define LINKS_MAX 40 /* as in the kernel */

/*
 * Resolution as it will happen inside, where the worktree may have another path than on the host: if it is /work, a
 * link to /work/x points into the tree, and one to the tree's path on the host does not.  So each step resolves one
 * name and never follows a link.  Outside the worktree nothing is resolved; names there are used as written.
 */
struct path_walk {
	const struct subject *s;
	int rootfd;
	char **names; /* current directory, from "/" inside; room for N_WORK + OPERAND_DEPTH_MAX */
	size_t n_names, n_work;
	int fds[OPERAND_DEPTH_MAX]; /* of the directories below the worktree's root */
	char *todo;		    /* heap */
	unsigned int n_links;
	struct operand_place *place;
};

static void walk_done(struct path_walk *w)
{
	for (size_t i = 0; i < w->n_names; i++) {
		free(w->names[i]);
		if (i >= w->n_work)
			fd_close(w->fds[i - w->n_work]);
	}
	free(w->names);
	free(w->todo);
}

void operand_place_done(struct operand_place *p)
{
	struct operand_lower *l = &p->parents;

	fd_close(p->fd);
	free(p->path);
	for (size_t i = 0; i < l->n_nodes; i++) {
		struct operand_node *n = &l->nodes[i];

		for (size_t k = 0; k < n->n_attrs; k++) {
			free(n->attrs[k].name);
			free(n->attrs[k].value);
		}
		free(n->attrs);
		free(n->path);
		free(n->bytes);
	}
	free(l->nodes);
	*p = (struct operand_place){ .fd = -EBADF };
}

static size_t count_parts(const char *path)
{
	size_t n = 0;

	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		path += strcspn(path, "/");
		n++;
	}
	return n;
}

/* Components N to M of the current directory, joined. */
static char *join(const struct path_walk *w, size_t from, const char *begin, const char *last)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, begin);
	for (size_t i = from; i < w->n_names; i++)
		strbuf_printf(&b, "%s%s", b.len && b.text[b.len - 1] != '/' ? "/" : "", w->names[i]);
	if (last)
		strbuf_printf(&b, "%s%s", b.len && b.text[b.len - 1] != '/' ? "/" : "", last);
	return strbuf_take(&b);
}

static bool is_in_tree(const struct path_walk *w)
{
	const char *part = subject_work_target(w->s);

	for (size_t i = 0; i < w->n_work; i++) {
		size_t len;

		part += strspn(part, "/");
		len = strcspn(part, "/");
		if (i >= w->n_names || strlen(w->names[i]) != len || memcmp(w->names[i], part, len) != 0)
			return false;
		part += len;
	}
	return true;
}

static void pop(struct path_walk *w)
{
	if (w->n_names == 0)
		return;
	w->n_names--;
	free(w->names[w->n_names]);
	if (w->n_names >= w->n_work)
		w->fds[w->n_names - w->n_work] = fd_close(w->fds[w->n_names - w->n_work]);
}

/* FD: of a directory of the tree, -EBADF elsewhere. */
static int push(struct path_walk *w, const char *name, int fd, struct fault *f)
{
	if (w->n_names >= w->n_work + OPERAND_DEPTH_MAX) {
		fd_close(fd);
		return fault_set(f, E2BIG, "more than %d directories deep", OPERAND_DEPTH_MAX);
	}
	w->names[w->n_names] = strdup(name);
	if (!w->names[w->n_names]) {
		fd_close(fd);
		return fault_errno(f, ENOMEM, "operand");
	}
	if (w->n_names >= w->n_work)
		w->fds[w->n_names - w->n_work] = fd;
	w->n_names++;
	return 0;
}

static int here(const struct path_walk *w)
{
	return w->n_names == w->n_work ? w->rootfd : w->fds[w->n_names - w->n_work - 1];
}

/* Another mount is on NAME of the current directory: the tree's own entry is hidden inside. */
static bool is_covered(const struct path_walk *w, const char *name)
{
	_cleanup_free_ char *inside = join(w, 0, "/", name);

	for (size_t i = 0; inside && i < w->s->n_mounts; i++)
		if (strcmp(w->s->mounts[i].target, inside) == 0)
			return true;
	return !inside || strv_has(w->s->profile->fs_hide, inside) || strv_has(w->s->secrets, inside);
}

static int follow(struct path_walk *w, int fd, const char *name, const char *rest, struct fault *f)
{
	_cleanup_free_ char *path = join(w, w->n_work, "", name), *text = calloc(1, PATH_MAX), *todo = NULL;
	ssize_t n;
	int r;

	if (!path || !text)
		return fault_errno(f, ENOMEM, "operand");
	n = readlinkat(fd, "", text, PATH_MAX - 1);
	if (n < 0)
		return fault_errno(f, errno, "read the link '%s'", path);
	if (++w->n_links > LINKS_MAX)
		return 0;
	if (asprintf(&todo, "%s%s", text, rest) < 0) {
		todo = NULL;
		return fault_errno(f, ENOMEM, "operand");
	}
	if (text[0] == '/')
		while (w->n_names)
			pop(w);
	free(w->todo);
	w->todo = TAKE_PTR(todo);
	r = operand_lower_add(&w->place->parents, fd, path, TAKE_PTR(text), f);
	return r < 0 ? r : 1;
}

/* Directories above the current one. */
static int note_parents(struct path_walk *w, struct fault *f)
{
	size_t n = w->n_names;
	int r = operand_lower_add(&w->place->parents, w->rootfd, ".", NULL, f);

	for (w->n_names = w->n_work + 1; r >= 0 && w->n_names <= n; w->n_names++) {
		_cleanup_free_ char *path = join(w, w->n_work, "", NULL);

		r = path ? operand_lower_add(&w->place->parents, here(w), path, NULL, f)
			 : fault_errno(f, ENOMEM, "operand");
	}
	w->n_names = n;
	return r;
}

static int arrive(struct path_walk *w, const char *name, const struct stat *seen, struct fault *f)
{
	struct stat st;

	w->place->path = join(w, w->n_work, "", name);
	if (!w->place->path)
		return fault_errno(f, ENOMEM, "operand");
	/* O_NONBLOCK: the file may have been replaced by a FIFO. */
	w->place->fd = openat(here(w), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (w->place->fd < 0 || fstat(w->place->fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", w->place->path);
	if (!S_ISREG(st.st_mode) || st.st_ino != seen->st_ino || st.st_dev != seen->st_dev)
		return fault_set(f, EBUSY, "'%s' was replaced while it was opened: try again",
				 w->place->path);
	return note_parents(w, f);
}

/* 0: missing or not a file; 1: one step further; 2: found. */
static int step(struct path_walk *w, const char *name, const char *rest, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (is_covered(w, name))
		return 0;
	fd = openat(here(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", name);
	if (S_ISLNK(st.st_mode)) {
		/* Links above it must be at the same place in the lower. */
		r = note_parents(w, f);
		return r < 0 ? r : follow(w, fd, name, rest, f);
	}
	if (S_ISDIR(st.st_mode)) {
		r = push(w, name, TAKE_FD(fd), f);
		return r < 0 ? r : 1;
	}
	/* A trailing slash would require a directory. */
	if (!S_ISREG(st.st_mode) || *rest)
		return 0;
	r = arrive(w, name, &st, f);
	return r < 0 ? r : 2;
}

static int take_part(struct path_walk *w, struct fault *f)
{
	_cleanup_free_ char *todo = TAKE_PTR(w->todo);
	char *name = todo + strspn(todo, "/");
	size_t len = strcspn(name, "/");
	int r = 1;

	w->todo = strdup(name + len);
	if (!w->todo)
		return fault_errno(f, ENOMEM, "operand");
	name[len] = '\0';
	if (strcmp(name, ".") == 0 || !*name)
		return 1;
	if (strcmp(name, "..") == 0) {
		pop(w);
		return 1;
	}
	if (is_in_tree(w)) {
		/* step() may replace the remaining path. */
		_cleanup_free_ char *rest = strdup(w->todo);

		return rest ? step(w, name, rest, f) : fault_errno(f, ENOMEM, "operand");
	}
	r = push(w, name, -EBADF, f);
	return r < 0 ? r : 1;
}

bool operand_names_tree(const struct subject *s, const char *path)
{
	_cleanup_free_ char *plain = NULL;

	/* A path with ".." must be resolved to decide. */
	return path_normalize(path, &plain, NULL) < 0 || path_is_below(plain, subject_work_target(s));
}

int operand_resolve(const struct subject *s, int rootfd, const char *word, struct operand_place *ret,
		    struct fault *f)
{
	_cleanup_operand_place_ struct operand_place place = { .fd = -EBADF };
	_cleanup_(walk_done) struct path_walk w = { .s = s, .rootfd = rootfd, .place = &place };
	int r = 1;

	if (!*word || strlen(word) >= PATH_MAX)
		return 0;
	w.n_work = count_parts(subject_work_target(s));
	w.names = calloc(w.n_work + OPERAND_DEPTH_MAX, sizeof(*w.names));
	w.todo = word[0] == '/' ? strdup(word) : path_join(s->cwd, word);
	if (!w.names || !w.todo)
		return fault_errno(f, ENOMEM, "operand");
	while (r == 1 && *w.todo)
		r = take_part(&w, f);
	if (r < 2)
		return r < 0 ? r : 0;
	*ret = place;
	place = (struct operand_place){ .fd = -EBADF };
	return 1;
}
