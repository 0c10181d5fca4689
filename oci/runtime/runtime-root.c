/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define ID_MAX 255

int runtime_id_require(const char *id, struct fault *f)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
	size_t good = strspn(id, allowed);

	if (!*id)
		return fault_set(f, EINVAL, "container id is empty");
	/* A leading dot would hide the container from list and collide with custody's own directories. */
	if (id[good] || *id == '.')
		return fault_set(f, EINVAL,
				 "invalid container id '%s': only letters, digits, '_', '+', '-' and, "
				 "except as the first character, '.'",
				 id);
	if (good > ID_MAX)
		return fault_set(f, ENAMETOOLONG, "container id of %zu characters; at most %d", good, ID_MAX);
	return 0;
}

/*
 * The uid of the user outside.  Rootless engines call runtimes as root of a user namespace, where every user is 0: only the
 * outer id tells two users apart.  Without a map (no /proc) it is the current uid.
 */
static unsigned int outer_uid(void)
{
	unsigned int inside, outside, count, uid = geteuid();
	FILE *map = fopen("/proc/self/uid_map", "re");

	if (!map)
		return uid;
	while (fscanf(map, "%u %u %u", &inside, &outside, &count) == 3) {
		if (uid - inside < count) {
			uid = outside + (uid - inside);
			break;
		}
	}
	(void)fclose(map);
	return uid;
}

static bool is_own_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 || errno != ENOENT;
}

/*
 * The files in a state root name processes to kill and hooks to execute.  /tmp is world-writable: another user may have created a
 * directory or a link with our name.  Elsewhere the caller chose the root: it may be root's, or shared with the caller's group.
 */
static bool is_private(const char *root)
{
	bool tmp = str_starts(root, "/tmp/");
	struct stat st;

	if ((tmp ? lstat(root, &st) : stat(root, &st)) < 0 || !S_ISDIR(st.st_mode))
		return false;
	if (st.st_uid != geteuid() && (tmp || st.st_uid != 0))
		return false;
	return !(st.st_mode & (tmp ? S_IWGRP | S_IWOTH : S_IWOTH));
}

int runtime_root_require(const char *root, struct fault *f)
{
	if (!exists(root) || is_private(root))
		return 0;
	return fault_set(f, EPERM,
			 "state root '%s' is not a directory that only you can write; "
			 "remove it or give another with --root",
			 root);
}

/* A root into which another user can write holds nothing of ours. */
static bool holds(const char *root, const char *id)
{
	_cleanup_free_ char *dir = path_join(root, id);

	return dir && access(dir, F_OK) == 0 && runtime_root_require(root, NULL) == 0;
}

static int find_of_user(const char *id, char **ret, struct fault *f)
{
	_cleanup_free_ char *session = NULL, *first = NULL, *second = NULL;
	unsigned int uid = outer_uid();

	if (asprintf(&session, "/run/user/%u", uid) < 0 ||
	    asprintf(&first, "%s/custody-runtime", session) < 0 ||
	    asprintf(&second, "/tmp/custody-runtime-%u", uid) < 0)
		return fault_errno(f, ENOMEM, "state root");
	/* The container may have been created with a login session and is used without one now, or vice versa. */
	if (is_own_dir(session) && !(id && !holds(first, id) && holds(second, id)))
		*ret = TAKE_PTR(first);
	else
		*ret = TAKE_PTR(second);
	return 0;
}

int runtime_path_from_cwd(const char *given, char **ret, struct fault *f)
{
	_cleanup_free_ char *cwd = NULL;

	if (*given == '/')
		*ret = strdup(given);
	else if ((cwd = getcwd(NULL, 0)))
		*ret = path_join(cwd, given);
	else
		return fault_errno(f, errno, "'%s': working directory", given);
	return *ret ? 0 : fault_errno(f, ENOMEM, "'%s'", given);
}

int runtime_root_find(const char *given, const char *id, char **ret, struct fault *f)
{
	if (given && *given)
		return runtime_path_from_cwd(given, ret, f);
	if (!is_own_dir("/run"))
		return find_of_user(id, ret, f);
	*ret = strdup("/run/custody-runtime");
	return *ret ? 0 : fault_errno(f, ENOMEM, "state root");
}

int runtime_root_make(const char *root, struct fault *f)
{
	_cleanup_free_ char *path = strdup(root);

	if (!path)
		return fault_errno(f, ENOMEM, "state root");
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return fault_errno(f, errno, "create '%s' for the state root '%s'", path, root);
		*slash = '/';
	}
	if (mkdir(root, 0700) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create the state root '%s'", root);
	return runtime_root_require(root, f);
}
