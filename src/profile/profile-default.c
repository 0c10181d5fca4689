/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-default.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "profile/profile-impl.h"

bool profile_default_is(const char *path)
{
	return str_ends(path, "/" PROFILE_DEFAULT_FILE) || str_eq(path, PROFILE_DEFAULT_FILE);
}

int profile_default_parse(const struct profile_file *file, char **ret, struct fault *f)
{
	size_t start = strspn(file->text, " \t\r\n"), len = strcspn(file->text + start, " \t\r\n");
	_cleanup_free_ char *name = strndup(file->text + start, len);

	if (!name)
		return fault_errno(f, ENOMEM, "default profile");
	if (strlen(file->text) != file->len ||
	    strspn(file->text + start + len, " \t\r\n") != file->len - start - len ||
	    !profile_key_find(NULL, "name")->shape->is(name))
		return fault_set(f, EINVAL, "'%s' must hold the name of one profile (%s) and nothing else",
				 file->path, profile_key_find(NULL, "name")->shape->what);
	*ret = TAKE_PTR(name);
	return 0;
}

/* *RET NULL: no such file. */
static int read_file(const struct profile_sources *src, struct profile_file *file, char **ret,
		     struct fault *f)
{
	_cleanup_free_ char *path = src->worktree ? path_join(src->worktree, PROFILE_DEFAULT_FILE) : NULL;
	struct stat st;
	int r;

	*ret = NULL;
	if (!src->worktree)
		return 0;
	if (!path)
		return fault_errno(f, ENOMEM, "default profile");
	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : fault_errno(f, errno, "'%s'", path);
	r = profile_file_open(path, src, false, NULL, file, f);
	return r < 0 ? r : profile_default_parse(file, ret, f);
}

static int require_tighter(const char *base_name, const struct profile *p, const struct profile_file *file,
			   enum profile_trust trust, const struct profile_sources *src,
			   const struct profile_vars *vars, struct fault *f)
{
	_cleanup_profile_ struct profile *base = NULL;
	const char *key;
	int r = profile_load(base_name, src, vars, &base, f);

	if (r < 0 || profile_is_tighter(base, p, &key))
		return r;
	return fault_set(
		f, EPERM,
		"'%s' selects profile '%s', in which '%s' is looser than in '%s', but a file in the "
		"worktree may only tighten%s: name it with -p %s, or review it and run: custody profile "
		"trust %s",
		file->path, p->name, key, base->name,
		trust == PROFILE_TRUST_CHANGED ? " (it was trusted, but the file has changed since)" : "",
		p->name, file->path);
}

int profile_default_load(const char *base, const struct profile_sources *src, const struct profile_vars *vars,
			 struct profile **ret, struct fault *f)
{
	_cleanup_profile_file_ struct profile_file file = { 0 };
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_free_ char *name = NULL;
	enum profile_trust trust = PROFILE_TRUST_NONE;
	int r;

	r = read_file(src, &file, &name, f);
	if (r < 0)
		return r;
	if (!name)
		return profile_load(base, src, vars, ret, f);
	r = profile_trust_check(src->trust_file, file.path, &file.digest, &trust, f);
	if (r == 0)
		r = profile_load(name, src, vars, &p, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", file.path);
	if (trust != PROFILE_TRUST_TRUSTED)
		r = require_tighter(base, p, &file, trust, src, vars, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
