/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-source.h"

#include <errno.h>
#include <string.h>

#include "tap.h"
#include "tree-fixture.h"

#define OID "0102030405060708090a0b0c0d0e0f1011121314"
#define OTHER_UID 64321

static bool make(struct tree *t)
{
	return tree_make(t) && mkdirat(t->fd, ".git", 0755) == 0 && mkdirat(t->fd, ".git/refs", 0755) == 0 &&
	       mkdirat(t->fd, ".git/refs/heads", 0755) == 0 &&
	       tree_put(t->fd, ".git/HEAD", "ref: refs/heads/main\n", 0644);
}

static int read_head(const struct tree *t, char oid[GIT_OID_SIZE])
{
	_cleanup_git_source_ struct git_source s = GIT_SOURCE_NONE;
	int r = git_source_open(t->fd, &s, NULL);

	return r < 0 ? r : git_source_read_ref(&s, "HEAD", oid, NULL);
}

static void ISO_11_a_reference_is_a_regular_file(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	char oid[GIT_OID_SIZE] = "";

	CHECK(make(&t));
	CHECK(read_head(&t, oid) == -ENOENT);
	CHECK(tree_put(t.fd, ".git/refs/heads/main", OID "\n", 0644) && read_head(&t, oid) == 0);
	CHECK(strcmp(oid, OID) == 0);
	CHECK(unlinkat(t.fd, ".git/refs/heads/main", 0) == 0 &&
	      mkfifoat(t.fd, ".git/refs/heads/main", 0644) == 0);
	CHECK(read_head(&t, oid) < 0);
	CHECK(unlinkat(t.fd, ".git/refs/heads/main", 0) == 0 && tree_put(t.fd, "elsewhere", OID "\n", 0644) &&
	      symlinkat("../../../elsewhere", t.fd, ".git/refs/heads/main") == 0);
	CHECK(read_head(&t, oid) < 0);
}

static void ISO_11_root_reads_with_the_rights_of_the_worktrees_owner(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	char oid[GIT_OID_SIZE] = "";

	CHECK(make(&t));
	CHECK(tree_put(t.fd, ".git/refs/heads/main", OID "\n", 0600) && read_head(&t, oid) == 0);
	/* The owner of the worktree is another user now, the file is still root's. */
	if (fchown(t.fd, OTHER_UID, OTHER_UID) < 0)
		return; /* only root can do that */
	CHECK(fchmod(t.fd, 0755) == 0);
	CHECK(read_head(&t, oid) == -EACCES);
	CHECK(fchown(t.fd, geteuid(), getegid()) == 0 && read_head(&t, oid) == 0);
}

TAP_MAIN(T(ISO_11_a_reference_is_a_regular_file), T(ISO_11_root_reads_with_the_rights_of_the_worktrees_owner))
