/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "setup/setup-cgroup.h"
#include "setup/setup-ids.h"
#include "setup/setup-subid.h"
#include "state/passwd.h"

#define FILE_MAX ((size_t)1024 * 1024)

static const char *const kinds[_SETUP_KIND_MAX] = {
	[SETUP_DIRECTORY] = "directory", [SETUP_FILE] = "file",	    [SETUP_LINE] = "line",
	[SETUP_SYSCTL] = "sysctl",	 [SETUP_CGROUP] = "cgroup",
};

const char *setup_kind_name(enum setup_kind k)
{
	return kinds[k];
}

int setup_kind_from_name(const char *name)
{
	for (int k = 0; k < _SETUP_KIND_MAX; k++)
		if (str_eq(kinds[k], name))
			return k;
	return -1;
}

int setup_list_add(struct setup_list *l, const struct setup_change *c, struct fault *f)
{
	struct setup_change *items = reallocarray(l->items, l->n + 1, sizeof(*items)), *new;

	if (!items)
		return fault_errno(f, ENOMEM, "setup");
	l->items = items;
	new = &items[l->n];
	*new = (struct setup_change){ .kind = c->kind,
				      .path = strdup(c->path),
				      .text = strdup(c->text ? c->text : ""),
				      .before = strdup(c->before ? c->before : ""),
				      .done = c->done };
	l->n++;
	return new->path &&new->text &&new->before ? 0 : fault_errno(f, ENOMEM, "setup");
}

struct setup_change *setup_list_find(const struct setup_list *l, const struct setup_change *c)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].kind == c->kind && str_eq(l->items[i].path, c->path) &&
		    str_eq(l->items[i].text, c->text))
			return &l->items[i];
	return NULL;
}

bool setup_list_has_path(const struct setup_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->items[i].path, path))
			return true;
	return false;
}

void setup_list_done(struct setup_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].path);
		free(l->items[i].text);
		free(l->items[i].before);
	}
	free(l->items);
	*l = (struct setup_list){ 0 };
}

/* 1 and the content; 0: no such file. */
static int read_file(const char *path, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len;
	int r;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, FILE_MAX, ret, &len, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 1;
}

/* The directory of PATH, created if it is missing; RET_NAME borrowed. */
static int open_parent(const char *path, const char **ret_name, struct fault *f)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = strndup(path, (size_t)(slash - path));
	int fd;

	*ret_name = slash + 1;
	if (!dir)
		return fault_errno(f, ENOMEM, "setup");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd >= 0 ? fd : fault_errno(f, errno, "open '%s'", dir);
	return path_make_dirs(AT_FDCWD, dir, 0755, f);
}

static int put_file(const char *path, const char *text, struct fault *f)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(path, &name, f);

	if (dir < 0)
		return dir;
	return fault_wrap(f, fd_replace_file(dir, name, text, strlen(text), 0644, f), "write '%s'", path);
}

static int write_sysctl(const char *path, const char *value, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_write_all(fd, value, strlen(value), f), "write '%s'", path);
}

int setup_change_is_made(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int r;

	switch (c->kind) {
	case SETUP_DIRECTORY:
		return stat(c->path, &st) == 0 && S_ISDIR(st.st_mode);
	case SETUP_CGROUP:
		return setup_cgroup_is_made(c, u);
	case SETUP_LINE:
		return setup_subid_has_line(c->path, c->text, f);
	case SETUP_FILE:
	case SETUP_SYSCTL:
	case _SETUP_KIND_MAX:
		break;
	}
	r = read_file(c->path, &text, f);
	if (r <= 0)
		return r;
	if (c->kind == SETUP_SYSCTL)
		text[strcspn(text, "\n")] = '\0';
	return str_eq(text, c->text);
}

int setup_change_make(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	switch (c->kind) {
	case SETUP_DIRECTORY:
		if (mkdir(c->path, 0755) < 0 && errno != EEXIST)
			return fault_errno(f, errno, "create '%s'", c->path);
		return 0;
	case SETUP_FILE:
		return put_file(c->path, c->text, f);
	case SETUP_LINE:
		return setup_subid_add_line(c->path, c->text, f);
	case SETUP_SYSCTL:
		return write_sysctl(c->path, c->text, f);
	case SETUP_CGROUP:
		return setup_cgroup_make(c, u, f);
	case _SETUP_KIND_MAX:
		break;
	}
	return fault_set(f, EINVAL, "setup");
}

static int undo_file(const struct setup_change *c, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = read_file(c->path, &text, f);

	if (r <= 0)
		return r;
	if (!str_eq(text, c->text))
		return fault_set(f, ESTALE, "'%s' was changed since: remove it yourself", c->path);
	if (unlink(c->path) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", c->path);
	return 0;
}

/* The name is now that of another uid: another program gave the line to that user. */
static int undo_line(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	_cleanup_free_ char *name = strndup(c->text, strcspn(c->text, ":"));
	_cleanup_passwd_entry_ struct passwd_entry e = { 0 };
	int r = name ? passwd_find(name, 0, &e) : -ENOMEM;

	if (r < 0)
		return fault_errno(f, -r, "setup");
	if (r > 0 && e.uid != u->uid)
		return 0;
	r = setup_subid_has_line(c->path, c->text, f);
	if (r > 0)
		r = setup_ids_require_unused(c->text, f);
	return r < 0 ? r : setup_subid_remove_line(c->path, c->text, c->before, f);
}

/* A value that the administrator set since then stays. */
static int undo_sysctl(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	int r = setup_change_is_made(c, u, f);

	return r <= 0 ? r : write_sysctl(c->path, c->before, f);
}

int setup_change_undo(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	switch (c->kind) {
	case SETUP_DIRECTORY:
		if (rmdir(c->path) < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
			return fault_errno(f, errno, "remove '%s'", c->path);
		return 0;
	case SETUP_FILE:
		return undo_file(c, f);
	case SETUP_LINE:
		return undo_line(c, u, f);
	case SETUP_SYSCTL:
		return undo_sysctl(c, u, f);
	case SETUP_CGROUP:
		return setup_cgroup_undo(c, u, f);
	case _SETUP_KIND_MAX:
		break;
	}
	return fault_set(f, EINVAL, "setup");
}

/* Indented, line by line. */
static void put_content(struct strbuf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		strbuf_puts(out, "    ");
		strbuf_add(out, text, len);
		strbuf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

void setup_change_describe(const struct setup_change *c, bool undo, struct strbuf *out)
{
	if (c->kind == SETUP_LINE)
		strbuf_printf(out, "%s: %s the line '%s'\n", c->path, undo ? "remove" : "add", c->text);
	else if (c->kind == SETUP_SYSCTL)
		strbuf_printf(out, "%s: set to %s, %s %s\n", c->path, undo ? c->before : c->text,
			      undo ? "if it is" : "it is", undo ? c->text : c->before);
	else if (c->kind == SETUP_FILE)
		strbuf_printf(out, "%s: %s\n", c->path, undo ? "remove" : "create, with the content");
	else
		strbuf_printf(out, "%s: %s the %s\n", c->path, undo ? "remove" : "create",
			      setup_kind_name(c->kind));
	if (c->kind == SETUP_FILE && !undo)
		put_content(out, c->text);
}
