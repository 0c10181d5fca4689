/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define TABLE "/proc/self/mountinfo"
#define TABLE_MAX ((size_t)16 * 1024 * 1024)

void place_table_done(struct place_table *t)
{
	free(t->text);
	free(t->mounts);
	*t = (struct place_table){ 0 };
}

void place_done(struct place *p)
{
	free(p->path);
	*p = (struct place){ 0 };
}

/* "36 35 98:0 ROOT POINT OPTIONS ..." */
static bool split(char *line, struct place_mount *ret)
{
	char *save = NULL, *words[5];

	for (size_t i = 0; i < 5; i++) {
		words[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!words[i])
			return false;
	}
	str_unoctal(words[3]);
	str_unoctal(words[4]);
	*ret = (struct place_mount){ .fs = words[2], .root = words[3], .point = words[4] };
	return words[4][0] == '/';
}

static int add(struct place_table *t, char *line, struct fault *f)
{
	struct place_mount m, *grown;

	if (!split(line, &m))
		return fault_set(f, EBADMSG, TABLE " has an invalid line");
	grown = reallocarray(t->mounts, t->n_mounts + 1, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "mounts");
	t->mounts = grown;
	t->mounts[t->n_mounts++] = m;
	return 0;
}

int place_table_parse(const char *text, struct place_table *ret, struct fault *f)
{
	_cleanup_place_table_ struct place_table t = { .text = strdup(text) };
	char *save = NULL;
	int r = 0;

	if (!t.text)
		return fault_errno(f, ENOMEM, "mounts");
	for (char *line = strtok_r(t.text, "\n", &save); r >= 0 && line; line = strtok_r(NULL, "\n", &save))
		r = add(&t, line, f);
	if (r < 0)
		return r;
	*ret = t;
	t = (struct place_table){ 0 };
	return 0;
}

int place_table_load(struct place_table *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '" TABLE "'");
	r = fd_read_all(fd, TABLE_MAX, &text, &len, f);
	return r < 0 ? fault_wrap(f, r, "read '" TABLE "'") : place_table_parse(text, ret, f);
}

static const struct place_mount *mount_of(const struct place_table *t, const char *path)
{
	const struct place_mount *best = NULL;

	for (size_t i = 0; i < t->n_mounts; i++)
		if (path_is_below(path, t->mounts[i].point) &&
		    (!best || strlen(t->mounts[i].point) >= strlen(best->point)))
			best = &t->mounts[i];
	return best;
}

int place_find(const struct place_table *t, const char *path, struct place *ret, struct fault *f)
{
	const struct place_mount *m = mount_of(t, path);
	const char *rest;
	char *joined;

	if (!m)
		return fault_set(f, ENOENT, "no mount in " TABLE " contains '%s'", path);
	rest = path + (m->point[1] ? strlen(m->point) : 0);
	while (*rest == '/')
		rest++;
	joined = *rest ? path_join(m->root, rest) : strdup(m->root);
	if (!joined)
		return fault_errno(f, ENOMEM, "'%s'", path);
	*ret = (struct place){ .fs = m->fs, .path = joined };
	return 0;
}

bool place_is_below(const struct place *p, const struct place *parent)
{
	return strcmp(p->fs, parent->fs) == 0 && path_is_below(p->path, parent->path);
}
