/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-remote.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

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

#define KNOWN_REFS "refs/known/"
#define KNOWN_MAX 1000

/*
 * At most MAX ids of TEXT's lines, as lines: of those that begin with an id and, if END is given, end with it.  With PREFIX each makes
 * a reference.  True: there are some.
 */
static bool take_ids(const struct strbuf *text, size_t max, const char *prefix, const char *end,
		     struct strbuf *ret)
{
	char oid[GIT_OID_SIZE];
	size_t n = 0;

	for (const char *at = text->text, *next; at && *at && n < max; at = next) {
		next = strchr(at, '\n');
		next = next ? next + 1 : at + strlen(at);
		if (next - at < GIT_OID_SIZE)
			continue;
		memcpy(oid, at, GIT_OID_SIZE - 1);
		oid[GIT_OID_SIZE - 1] = '\0';
		if (!git_oid_is_valid(oid) || (end && strncmp(at + GIT_OID_SIZE - 1, end, strlen(end)) != 0))
			continue;
		if (prefix)
			strbuf_printf(ret, "create %s%zu ", prefix, n);
		strbuf_printf(ret, "%s\n", oid);
		n++;
	}
	return n > 0;
}

/* 1: KNOWN_REFS has the commits that the remote names and that are here. */
static int find_known(const struct git_box *b, const struct git_remote *r, struct fault *f)
{
	const char *list[] = { "ls-remote", "--quiet", "--heads", "--tags", "--", r->url, NULL };
	static const char *const check[] = { "cat-file", "--batch-check=%(objectname) %(objecttype)", NULL },
				 *const create[] = { "update-ref", "--stdin", NULL };
	const struct git_box box = git_remote_box(b, r);
	_cleanup_strbuf_ struct strbuf named = { 0 }, ids = { 0 }, here = { 0 }, refs = { 0 };
	int e = git_run(&box, GIT_CLEAN, list, NULL, &named, f);

	if (e < 0 || !take_ids(&named, SIZE_MAX, NULL, NULL, &ids))
		return e;
	e = git_run(b, GIT_CLEAN, check, &ids, &here, f);
	if (e < 0 || !take_ids(&here, KNOWN_MAX, KNOWN_REFS, " commit\n", &refs))
		return e;
	e = git_run(b, GIT_CLEAN, create, &refs, NULL, f);
	return e < 0 ? e : 1;
}

static int fetch(const struct git_box *b, const struct git_remote *r, const char *const *specs, bool tell,
		 struct fault *f)
{
	static const char *const words[] = { "fetch",	     "--quiet",
					     "--no-tags",    "--no-write-fetch-head",
					     "--no-auto-gc", "--no-recurse-submodules" };
	const char *argv[ARRAY_SIZE(words) + SPECS_MAX + 6] = { NULL };
	const struct git_box box = git_remote_box(b, r);
	size_t n = 0;

	if (tell) {
		argv[n++] = "-c";
		argv[n++] = "fetch.negotiationAlgorithm=default";
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		argv[n++] = words[i];
	if (tell)
		argv[n++] = "--negotiation-tip=" KNOWN_REFS "*";
	argv[n++] = "--";
	argv[n++] = r->url;
	for (size_t i = 0; i < SPECS_MAX && specs[i]; i++)
		argv[n++] = specs[i];
	return git_run(&box, GIT_CLEAN, argv, NULL, NULL, f);
}

int git_remote_fetch(const struct git_box *b, const struct git_remote *r, const char *const *specs,
		     bool known, struct fault *f)
{
	int e = known ? find_known(b, r, f) : 0;

	if (e >= 0)
		e = fetch(b, r, specs, e > 0, f);
	return e == -EREMOTEIO
		       ? fault_set(f, EREMOTEIO,
				   "remote '%s' cannot be reached, does not have this, or has damaged "
				   "objects",
				   r->name)
		       : e;
}
