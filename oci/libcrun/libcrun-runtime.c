/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "oci/libcrun/libcrun-guard.h"
#include "oci/libcrun/libcrun.h"

/* custody-runtime's side of the calls that the linker leads away from libcrun (--wrap, see local.mk). */
int __real_ensure_cloned_binary(void);
int __wrap_ensure_cloned_binary(void);
int __real_libcrun_get_cgroup_mode(libcrun_error_t *err);
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err);
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret);

/*
 * libcrun copies the executable (CVE-2019-5736) in a constructor, for every verb, even for --version.  Here main
 * decides by verb: runtime-guard.c.
 */
int __wrap_ensure_cloned_binary(void)
{
	return 0;
}

int guard_by_copy(void)
{
	return __real_ensure_cloned_binary();
}

/*
 * libcrun refuses every container on a host that mounts v1 controllers and v2 side by side.  There the controllers
 * are v1's, and that is what engines set up: it is told so.
 */
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err)
{
	enum { UNIFIED = 1, LEGACY, HYBRID };
	int mode = __real_libcrun_get_cgroup_mode(err);

	return mode == HYBRID ? LEGACY : mode;
}

static void file_closep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/*
 * A statically linked getpwuid_r loads nss modules of another libc.  The file is enough: libcrun wants the name for
 * its status and to find the user in /etc/subuid.  It reads PW also when there is no entry: the number stands in.
 */
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret)
{
	_cleanup_(file_closep) FILE *file = fopen("/etc/passwd", "re");
	int r = file ? 0 : ENOENT, n;

	while (r == 0) {
		r = fgetpwent_r(file, pw, buf, size, ret);
		if (r == ERANGE)
			return ERANGE;
		if (r == 0 && pw->pw_uid == uid)
			return 0;
	}
	*ret = NULL;
	n = snprintf(buf, size, "%u", (unsigned int)uid);
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
