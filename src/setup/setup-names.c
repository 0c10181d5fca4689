/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

/*
 * The path stands in files with a syntax of their own, and root starts the program at each boot.  The group of a directory is
 * not compared: /usr/local belongs to "staff" on Debian.
 */
int setup_require_program(const char *program, struct fault *f)
{
	_cleanup_free_ char *path = strdup(program);
	struct stat st;

	if (!path)
		return fault_errno(f, ENOMEM, "setup");
	if (path[0] != '/' || strspn(path, PLAIN "+/") != strlen(path))
		return fault_set(
			f, EINVAL,
			"cannot name the program '%s' in a file of /etc: install custody in a path of "
			"letters, digits and the signs _-+./",
			path);
	for (char *end = path + strlen(path); end > path; end = strrchr(path, '/')) {
		*end = '\0';
		if (lstat(path, &st) < 0)
			return fault_errno(f, errno, "'%s'", path);
		if (st.st_uid != 0 || ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX)))
			return fault_set(f, EPERM,
					 "users can replace '%s', which a file of /etc would name: install "
					 "custody where only root can write",
					 path);
	}
	return 0;
}

/* The name stands in /etc/subuid, and in a line of cron that a shell reads. */
int setup_require_user(const struct setup_user *u, struct fault *f)
{
	_cleanup_free_ char *shown = str_escape(u->name);
	uint64_t number;

	if (!*u->name || *u->name == '-' || strspn(u->name, PLAIN "@") != strlen(u->name))
		return fault_set(f, EINVAL,
				 "cannot name the user '%s' in files of /etc: a name of letters, digits and "
				 "the signs _-.@ is needed",
				 shown ? shown : "?");
	if (strspn(u->name, "0123456789") == strlen(u->name) &&
	    (str_to_u64(u->name, &number) < 0 || number != u->uid))
		return fault_set(f, EINVAL, "'%s' is the name of uid %u, but /etc/subuid reads it as uid %s",
				 u->name, (unsigned int)u->uid, u->name);
	return 0;
}
