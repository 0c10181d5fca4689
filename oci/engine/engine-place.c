/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "oci/engine/engine-namespace.h"

/* In a sticky directory no other user removes or renames our files. */
static bool is_own(const char *dir)
{
	struct stat st;
	mode_t others = S_IWOTH;

	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()))
		return false;
	if (st.st_gid != 0)
		others |= S_IWGRP;
	return !(st.st_mode & others) || st.st_mode & S_ISVTX;
}

bool engine_place_is_own(const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	char *slash;

	if (!dir || dir[0] != '/')
		return false;
	if (engine_caller_is_mapped())
		return true;
	while ((slash = strrchr(dir, '/')) && slash > dir) {
		*slash = '\0';
		if (!is_own(dir))
			return false;
	}
	return is_own("/");
}
