/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-box.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"

/*
 * Complete in itself: neither the system's configuration nor the user's is read.  Objects are checked whenever they enter, nothing
 * starts a further program, and no other repository is reached from here.
 */
static const char config[] = "[core]\n"
			     "\trepositoryformatversion = 0\n"
			     "\tbare = true\n"
			     "\thooksPath = /dev/null\n"
			     "\tfsmonitor = false\n"
			     "\tattributesFile = /dev/null\n"
			     "\texcludesFile = /dev/null\n"
			     "\tbigFileThreshold = 16m\n"
			     "\tlogAllRefUpdates = false\n"
			     "[transfer]\n\tfsckObjects = true\n"
			     "[fetch]\n\tunpackLimit = 1\n\trecurseSubmodules = false\n"
			     /* A remote is asked for objects without telling it which ones are here. */
			     "\tnegotiationAlgorithm = noop\n"
			     "[push]\n\trecurseSubmodules = no\n\tfollowTags = false\n"
			     "[submodule]\n\trecurse = false\n"
			     "[uploadpack]\n\tallowAnySHA1InWant = true\n"
			     "[gc]\n\tauto = 0\n"
			     "[maintenance]\n\tauto = false\n"
			     "[pack]\n\tthreads = 1\n"
			     "[index]\n\tthreads = 1\n"
			     "[http]\n\tfollowRedirects = false\n\tsslVerify = true\n"
			     "[credential]\n\thelper =\n";

static const char *const directories[] = { "objects", "objects/pack", "objects/info",
					   "refs",    "refs/heads",   GIT_NO_CERTIFICATES };

static int write_file(int dir, const char *name, const char *text, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return fault_errno(f, errno, "create '%s' of the clean repository", name);
	return fd_write_all(fd, text, strlen(text), f);
}

int git_box_make_repository(const struct git_box *b, const char *name, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	int r;

	if (mkdirat(b->dir, name, 0700) < 0)
		return fault_errno(f, errno, "create the clean repository");
	dir = openat(b->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "open the clean repository");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (mkdirat(dir, directories[i], 0700) < 0)
			return fault_errno(f, errno, "create the clean repository");
	r = write_file(dir, "config", config, f);
	/* A branch that never exists: HEAD names nothing. */
	return r < 0 ? r : write_file(dir, "HEAD", "ref: refs/heads/none\n", f);
}

int git_box_remove(int dir, struct fault *f)
{
	return path_remove_tree(dir, GIT_BOX_NAME, f);
}

int git_box_open(int dir, struct git_box *ret, struct fault *f)
{
	int r = git_box_remove(dir, f);

	if (r < 0)
		return r;
	if (mkdirat(dir, GIT_BOX_NAME, 0700) < 0)
		return fault_errno(f, errno, "create the clean repository");
	ret->dir = openat(dir, GIT_BOX_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return ret->dir < 0 ? fault_errno(f, errno, "open the clean repository") : 0;
}

bool git_oid_is_valid(const char *text)
{
	return text && strlen(text) == GIT_OID_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == GIT_OID_SIZE - 1;
}
