/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-passwd.h"

#include <errno.h>
#include <stdio.h>

int passwd_fill(struct passwd *pw, char *buf, size_t size, uid_t uid, const char *name)
{
	int n = name ? snprintf(buf, size, "%s", name) : snprintf(buf, size, "%u", (unsigned int)uid);

	if (n < 0 || (size_t)n >= size)
		return ERANGE;
	*pw = (struct passwd){ .pw_name = buf,
			       .pw_passwd = buf + n,
			       .pw_gecos = buf + n,
			       .pw_dir = buf + n,
			       .pw_shell = buf + n,
			       .pw_uid = uid };
	return 0;
}
