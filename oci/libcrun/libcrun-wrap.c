/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oci/libcrun/libcrun-passwd.h"
#include "oci/libcrun/libcrun-wrap.h"

/* Functions of libcrun and libc that the linker replaces in custody: libcrun-wrap.h. */

/*
 * CVE-2019-5736: a container process whose id may write our executable can replace it through /proc/PID/exe.  libcrun
 * therefore runs from a private copy, created by a constructor before main, which costs a millisecond.  The copy is not
 * needed where the payload can never have such an id:
 *
 *  - as root: own runs use a user namespace whose ids are never the host's 0, and only root can write the file
 *    (a profile without user namespace requests the copy itself, see `guard` in runtime-ops.h);
 *  - as a user that neither owns the file nor may write it.
 *
 * A user's own build, run by that user, still uses the copy.
 */
static int is_out_of_reach(void)
{
	struct stat st;

	if (stat("/proc/self/exe", &st) < 0)
		return 0;
	return st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) && geteuid() == getuid();
}

int __wrap_ensure_cloned_binary(void)
{
	return is_out_of_reach() ? 0 : __real_ensure_cloned_binary();
}

/*
 * A statically linked getpwuid_r loads nss modules, and libcrun reads the entry also when none exists.  It needs a
 * name for its status file: the number is enough.  RET stays NULL, so that libcrun looks up no subordinate ids.
 */
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret)
{
	*ret = NULL;
	return passwd_fill(pw, buf, size, uid, uid == 0 ? "root" : NULL);
}

/*
 * libcrun refuses every container on a host that mounts v1 controllers and v2 side by side, even those without a
 * cgroup of libcrun.  There the controllers are v1's: report v1.  A host without any cgroup file system is left to our own
 * cgroup code, which names the limits that cannot be enforced.
 */
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err)
{
	enum { UNIFIED = 1, LEGACY, HYBRID };
	int mode = __real_libcrun_get_cgroup_mode(err);

	if (mode < 0)
		(void)libcrun_error_release(err);
	return mode == UNIFIED ? UNIFIED : LEGACY;
}
