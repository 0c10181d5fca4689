/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/caller-homes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/str.h"
#include "state/passwd.h"

static int add(char ***list, const char *path)
{
	_cleanup_free_ char *real = path && path[0] == '/' ? realpath(path, NULL) : NULL;
	struct stat st;

	if (path && path[0] == '/' && !real)
		return errno == ENOMEM ? -ENOMEM : 0;
	if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode) || strv_has(*list, real))
		return 0;
	return strv_append(list, real);
}

/* SUDO_UID of another program than sudo adds a directory about which is asked: no harm. */
static int add_sudo(char ***list)
{
	_cleanup_passwd_entry_ struct passwd_entry e = { 0 };
	const char *text = getenv("SUDO_UID");
	uint64_t uid;

	if (!text || str_to_u64(text, &uid) < 0 || uid >= (uid_t)-1)
		return 0;
	if (passwd_find(NULL, (uid_t)uid, &e) < 0)
		return -ENOMEM;
	return add(list, e.home);
}

char **caller_homes_find(const char *passwd_home)
{
	_cleanup_strv_ char **list = calloc(1, sizeof(*list));
	int r = list ? add(&list, passwd_home) : -ENOMEM;

	if (r == 0)
		r = add(&list, getenv("HOME"));
	if (r == 0)
		r = add_sudo(&list);
	return r < 0 ? NULL : TAKE_PTR(list);
}
