/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-remote.h"

#include <errno.h>
#include <string.h>

#define BRANCH_MAX 200
#define BRANCH_SET "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"
#define SPECS_MAX 4

bool git_branch_is_valid(const char *name)
{
	const size_t len = strlen(name);

	if (len == 0 || len > BRANCH_MAX || strspn(name, BRANCH_SET) != len || name[len - 1] == '/' ||
	    name[len - 1] == '.' || str_eq(name, "HEAD"))
		return false;
	for (const char *at = name; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (*at == '.' || *at == '-' || *at == '/')
			return false;
	}
	return !strstr(name, "..") && !strstr(name, ".lock/") && !str_ends(name, ".lock");
}

static bool fits(const char *pattern, const char *name)
{
	const size_t len = strlen(pattern);

	if (len > 1 && pattern[len - 1] == '*' && pattern[len - 2] == '/')
		return strncmp(name, pattern, len - 1) == 0 && name[len - 1];
	return str_eq(pattern, name);
}

bool git_branch_fits(char *const *patterns, const char *name)
{
	for (; patterns && *patterns; patterns++)
		if (fits(*patterns, name))
			return true;
	return false;
}

static const char *protocol_of(const char *url)
{
	static const char *const all[] = { "https", "git", "file", NULL };

	for (size_t i = 0; all[i]; i++)
		if (str_starts(url, all[i]) && str_starts(url + strlen(all[i]), "://"))
			return all[i];
	return "none";
}

struct git_box git_remote_box(const struct git_box *b, const struct git_remote *r)
{
	struct git_box box = *b;

	box.protocol = protocol_of(r->url);
	box.ca = r->ca;
	box.credential = r->credential;
	box.credential_arg = r->credential_arg;
	return box;
}

int git_remote_fetch(const struct git_box *b, const struct git_remote *r, const char *const *specs,
		     struct fault *f)
{
	const char *argv[9 + SPECS_MAX] = { "fetch",	    "--quiet",
					    "--no-tags",    "--no-write-fetch-head",
					    "--no-auto-gc", "--no-recurse-submodules",
					    "--",	    r->url };
	const struct git_box box = git_remote_box(b, r);
	int e;

	for (size_t i = 0; i < SPECS_MAX && specs[i]; i++)
		argv[8 + i] = specs[i];
	e = git_run(&box, GIT_CLEAN, argv, NULL, NULL, f);
	return e == -EREMOTEIO
		       ? fault_set(f, EREMOTEIO,
				   "remote '%s' cannot be reached, does not have this, or has damaged "
				   "objects",
				   r->name)
		       : e;
}
