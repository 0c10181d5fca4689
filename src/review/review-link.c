/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "review/review-judge.h"
#include "base/tree-at.h"

#define FOLLOW_MAX 40 /* as in the kernel */

/* Resolution of a link in the tree that an apply would produce. */
struct follow {
	const struct changes *changes;
	struct tree_at base;
	char *at;   /* current directory, relative to the root; "" is the root */
	char *rest; /* components that are not resolved yet */
	unsigned int links;
};

static void follow_done(struct follow *w)
{
	tree_at_done(&w->base);
	free(w->at);
	free(w->rest);
}
#define _cleanup_follow_ _cleanup_(follow_done)

/* The text of the link at PATH in that tree; NULL: not a link, or missing. */
static int look(struct follow *w, const char *path, char **ret, bool *ret_mount)
{
	const struct change *ch = changes_find(w->changes, path);
	struct statx stx;
	int r;

	*ret = NULL;
	if (ch && ch->picked && !ch->refused) {
		if (!S_ISLNK(ch->new.mode))
			return 0;
		*ret = strdup(ch->new.link);
		return *ret ? 0 : -ENOMEM;
	}
	r = tree_at_stat(&w->base, path, &stx);
	if (r == 0 && S_ISLNK(stx.stx_mode))
		r = tree_at_readlink(&w->base, path, ret);
	*ret_mount = r == -EXDEV;
	return r == -ENOMEM ? r : 0;
}

static bool climb(char *at)
{
	char *slash = strrchr(at, '/');

	if (!*at)
		return false;
	*(slash ? slash : at) = '\0';
	return true;
}

/* Prepends the link text TEXT to the remaining components. */
static int splice(struct follow *w, const char *text)
{
	char *rest = *w->rest ? path_join(text, w->rest) : strdup(text);

	if (!rest)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	return 0;
}

/* Resolves one component; *RET is set to static text if it leads out. */
static int go(struct follow *w, const char *part, const char **ret)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	bool mount = false;
	int r;

	if (!*part || strcmp(part, ".") == 0)
		return 0;
	if (strcmp(part, "..") == 0) {
		if (!climb(w->at))
			*ret = "leaves the tree";
		return 0;
	}
	path = *w->at ? path_join(w->at, part) : strdup(part);
	if (!path)
		return -ENOMEM;
	r = look(w, path, &text, &mount);
	if (r < 0)
		return r;
	/* Links on another mount are not read. */
	if (mount && *w->rest) {
		*ret = "leads through another mount";
		return 0;
	}
	if (!text) {
		free(w->at);
		w->at = TAKE_PTR(path);
		return 0;
	}
	if (text[0] == '/')
		*ret = "leaves the tree through another link";
	/* A loop: the kernel refuses it (ELOOP), so it does not lead out. */
	else if (++w->links > FOLLOW_MAX)
		*w->rest = '\0';
	else
		return splice(w, text);
	return 0;
}

/*
 * ".." is allowed only at the beginning: "a/../x" is x while a is a directory, and another file once a link replaces it, for
 * example by a later apply.
 */
static const char *judge_text(const char *text)
{
	bool down = false;

	if (text[0] == '/')
		return "leaves the tree: it is absolute";
	for (const char *p = text; p; p = strchr(p, '/')) {
		size_t n;

		p += *p == '/';
		n = strcspn(p, "/");
		if (n == 2 && memcmp(p, "..", 2) == 0) {
			if (down)
				return "has '..' after a name";
		} else if (n > 0 && !(n == 1 && *p == '.')) {
			down = true;
		}
	}
	return NULL;
}

/* Resolves the rest; *RET as in go(). */
static int walk(struct follow *w, const char **ret, struct fault *f)
{
	while (w->at && w->rest && *w->rest && !*ret) {
		size_t n = strcspn(w->rest, "/");
		_cleanup_free_ char *part = strndup(w->rest, n);

		if (!part)
			return fault_errno(f, ENOMEM, "review");
		n += w->rest[n] == '/';
		memmove(w->rest, w->rest + n, strlen(w->rest + n) + 1);
		if (go(w, part, ret) < 0)
			return fault_errno(f, ENOMEM, "review");
	}
	return w->at && w->rest ? 0 : fault_errno(f, ENOMEM, "review");
}

int review_link_target(const struct changes *c, int base, const char *path, char **ret, struct fault *f)
{
	_cleanup_follow_ struct follow w = { .changes = c, .base = TREE_AT_NONE };
	const char *out = NULL;
	int r = tree_at_init(&w.base, base, f);

	*ret = NULL;
	if (r < 0)
		return r;
	w.at = strdup("");
	w.rest = strdup(path);
	r = walk(&w, &out, f);
	if (r == 0 && !out && w.links > 0 && w.links <= FOLLOW_MAX)
		*ret = TAKE_PTR(w.at);
	return r;
}

int review_link(const struct changes *c, int base, const char *path, const char *text, const char **ret,
		struct fault *f)
{
	_cleanup_follow_ struct follow w = { .changes = c, .base = TREE_AT_NONE };
	const char *slash = strrchr(path, '/');
	int r;

	*ret = judge_text(text);
	if (*ret)
		return 0;
	r = tree_at_init(&w.base, base, f);
	if (r < 0)
		return r;
	w.at = slash ? strndup(path, (size_t)(slash - path)) : strdup("");
	w.rest = strdup(text);
	return walk(&w, ret, f);
}
