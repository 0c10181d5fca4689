/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oci/libcrun/libcrun-passwd.h"
#include "oci/libcrun/libcrun.h"

/* Calls that libcrun makes and that the linker leads here (--wrap, see local.mk). */
int __real_ensure_cloned_binary(void);
int __wrap_ensure_cloned_binary(void);
int __real_libcrun_get_cgroup_mode(libcrun_error_t *err);
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err);
int __real_run_process(char **args, libcrun_error_t *err);
int __wrap_run_process(char **args, libcrun_error_t *err);
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret);

/*
 * CVE-2019-5736: a container process that runs with an id that may write our executable can replace it through
 * /proc/PID/exe.  libcrun's answer is to run from a private copy, made by a constructor before main, which costs
 * a millisecond.  It is not needed where the payload can never have such an id:
 *
 *  - as root: own runs use a user namespace whose ids are never the host's 0, and the file is root's alone
 *    (a profile without user namespace asks for the copy itself, see `guard` in runtime-ops.h);
 *  - as a user who does not own the file and whom its mode lets not write it.
 *
 * A user's own build run by that user still takes the copy.
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
 * A statically linked getpwuid_r loads nss modules, and libcrun reads the entry also when there is none.  It wants
 * a name for its status file: the number does.  RET stays NULL, so that no subordinate ids are looked up by it.
 */
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret)
{
	*ret = NULL;
	return passwd_fill(pw, buf, size, uid, uid == 0 ? "root" : NULL);
}

/*
 * libcrun refuses every container on a host that mounts v1 controllers and v2 side by side, even those that want
 * no cgroup from it.  There the controllers are v1's: it is told so.  A host without any cgroup file system is for
 * our own cgroup code to judge, which names what cannot be enforced.
 */
int __wrap_libcrun_get_cgroup_mode(libcrun_error_t *err)
{
	enum { UNIFIED = 1, LEGACY, HYBRID };
	int mode = __real_libcrun_get_cgroup_mode(err);

	if (mode < 0)
		(void)libcrun_error_release(err);
	return mode == UNIFIED ? UNIFIED : LEGACY;
}

/*
 * A user's libcrun first runs newuidmap and newgidmap, which complain on the container's stderr about a user without
 * an entry in /etc/subuid, and only then writes the one-id map that it may write itself.  For a single id it is told
 * at once that they failed: ARGS are "newXidmap PID INSIDE OUTSIDE COUNT".
 */
int __wrap_run_process(char **args, libcrun_error_t *err)
{
	const char *name = strrchr(args[0], '/');

	name = name ? name + 1 : args[0];
	if ((strcmp(name, "newuidmap") == 0 || strcmp(name, "newgidmap") == 0) && args[1] && args[2] &&
	    args[3] && args[4] && !args[5] && strcmp(args[4], "1") == 0)
		return 1;
	return __real_run_process(args, err);
}
