/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "state/dirs.h"

#define SCHEMA "custody.setup/1"
#define RECORD_MAX ((size_t)1024 * 1024)
#define NAME_SIZE 32

void setup_record_done(struct setup_record *r)
{
	free(r->user.name);
	setup_list_done(&r->changes);
	*r = (struct setup_record){ 0 };
}

int setup_record_open(const char *base, struct fault *f)
{
	_cleanup_close_ int up = dirs_open_own(base, 0700, f), dir = -EBADF;
	_cleanup_free_ char *path = path_join(base, "setup");

	if (up < 0)
		return up;
	if (!path)
		return fault_errno(f, ENOMEM, "setup");
	dir = dirs_open_own(path, 0700, f);
	if (dir >= 0 && flock(dir, LOCK_EX) < 0)
		return fault_errno(f, errno, "lock '%s'", path);
	return TAKE_FD(dir);
}

int setup_record_look(const char *base, struct fault *f)
{
	_cleanup_free_ char *path = path_join(base, "setup");
	int dir = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (!path)
		return fault_errno(f, ENOMEM, "setup");
	if (dir < 0 && errno == ENOENT)
		return -ENOENT;
	return dir < 0 ? fault_errno(f, errno, "open '%s'", path) : dir;
}

static void name_file(uid_t uid, char name[NAME_SIZE])
{
	(void)snprintf(name, NAME_SIZE, "%u.json", (unsigned int)uid);
}

static int read_change(const struct jdoc *d, struct setup_list *ret, struct fault *f)
{
	const char *kind = jdoc_get_string(d, "kind");
	const int k = kind ? setup_kind_from_name(kind) : -1;
	const struct setup_change c = { .kind = (enum setup_kind)k,
					.path = (char *)jdoc_get_string(d, "path"),
					.text = (char *)jdoc_get_string(d, "text"),
					.before = (char *)jdoc_get_string(d, "before") };

	/* Paths are removed as root. */
	if (k < 0 || !c.path || c.path[0] != '/' || !c.text || !c.before)
		return fault_set(f, EINVAL, "a change of the record is invalid");
	return setup_list_add(ret, &c, f);
}

static int parse(const char *text, size_t len, struct setup_record *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct jdoc *changes, *uid;
	int r = jdoc_parse(text, len, "record", NULL, &d, f);

	if (r < 0)
		return r;
	changes = jdoc_get(d, "changes");
	uid = jdoc_get(d, "uid");
	if (!str_eq(jdoc_get_string(d, "schema"), SCHEMA) || !jdoc_get_string(d, "user") || !uid ||
	    uid->type != JDOC_INT || !changes || changes->type != JDOC_ARRAY)
		return fault_set(f, EINVAL, "it is not a record of this version");
	ret->user.uid = (uid_t)uid->integer;
	ret->user.name = strdup(jdoc_get_string(d, "user"));
	if (!ret->user.name)
		return fault_errno(f, ENOMEM, "setup");
	for (size_t i = 0; r == 0 && i < changes->n_items; i++)
		r = read_change(changes->items[i], &ret->changes, f);
	return r;
}

static int load(int dir, const char *name, struct setup_record *ret, struct fault *f)
{
	_cleanup_setup_record_ struct setup_record record = { 0 };
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fault_errno(f, errno, "open the record '%s'", name);
	r = fd_require_private(fd, geteuid(), f);
	if (r == 0)
		r = fd_read_all(fd, RECORD_MAX, &text, &len, f);
	if (r == 0)
		r = parse(text, len, &record, f);
	if (r < 0)
		return fault_wrap(f, r, "record '%s' of custody setup", name);
	*ret = record;
	record = (struct setup_record){ 0 };
	return 0;
}

int setup_record_load(int dir, uid_t uid, struct setup_record *ret, struct fault *f)
{
	char name[NAME_SIZE];

	*ret = (struct setup_record){ 0 };
	if (dir < 0)
		return 0;
	name_file(uid, name);
	return load(dir, name, ret, f);
}

int setup_record_save(int dir, const struct setup_record *r, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct jdoc *changes;
	char name[NAME_SIZE];
	int e;

	jdoc_set_string(d, "schema", SCHEMA);
	jdoc_set_string(d, "user", r->user.name);
	jdoc_set_int(d, "uid", (int64_t)r->user.uid);
	changes = jdoc_set_array(d, "changes");
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct setup_change *c = &r->changes.items[i];
		struct jdoc *o = jdoc_append_object(changes);

		jdoc_set_string(o, "kind", setup_kind_name(c->kind));
		jdoc_set_string(o, "path", c->path);
		jdoc_set_string(o, "text", c->text);
		jdoc_set_string(o, "before", c->before);
	}
	e = jdoc_write(d, JDOC_PRETTY, &text, f);
	name_file(r->user.uid, name);
	if (e == 0)
		e = fd_replace_file(dir, name, text.text, text.len, 0600, f);
	return e < 0 ? fault_wrap(f, e, "write the record '%s'", name) : 0;
}

int setup_record_remove(int dir, uid_t uid, struct fault *f)
{
	char name[NAME_SIZE];

	name_file(uid, name);
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove the record '%s'", name);
	return fsync(dir) < 0 ? fault_errno(f, errno, "sync the records") : 0;
}

/* Calls TAKE with each record until it returns another value than 0. */
static int for_each(int dir, int (*take)(const struct setup_record *r, void *arg), void *arg, struct fault *f)
{
	_cleanup_close_ int again = dir < 0 ? -EBADF : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;
	int r = 0;

	if (!d)
		return dir < 0 ? 0 : fault_errno(f, errno, "read the records of custody setup");
	again = -EBADF; /* closed with D */
	while (r == 0 && (e = readdir(d))) {
		_cleanup_setup_record_ struct setup_record record = { 0 };

		if (e->d_name[0] == '.' || !str_ends(e->d_name, ".json"))
			continue;
		r = load(dirfd(d), e->d_name, &record, f);
		if (r == 0 && record.user.name)
			r = take(&record, arg);
	}
	(void)closedir(d);
	return r;
}

struct wanted {
	const char *text;
	uid_t uid;
};

static int has_path(const struct setup_record *r, void *arg)
{
	const struct wanted *w = arg;

	return r->user.uid != w->uid && setup_list_has_path(&r->changes, w->text);
}

int setup_record_shares(int dir, uid_t uid, const char *path, struct fault *f)
{
	struct wanted w = { .text = path, .uid = uid };

	return for_each(dir, has_path, &w, f);
}

static int has_name(const struct setup_record *r, void *arg)
{
	struct wanted *w = arg;

	if (!str_eq(r->user.name, w->text))
		return 0;
	w->uid = r->user.uid;
	return 1;
}

int setup_record_find(int dir, const char *name, uid_t *ret, struct fault *f)
{
	struct wanted w = { .text = name };
	int r = for_each(dir, has_name, &w, f);

	if (r > 0)
		*ret = w.uid;
	return r;
}
