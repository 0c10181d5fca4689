/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/new-mount.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int configure(int fs, unsigned int command, const char *key, const char *value, struct fault *f)
{
	char message[256];
	ssize_t n;
	int code;

	if (syscall(SYS_fsconfig, fs, command, key, value, 0) == 0)
		return 0;
	code = errno;
	/* The kernel's message, "e KIND: TEXT", if any. */
	n = read(fs, message, sizeof(message) - 1);
	message[n > 0 ? n : 0] = '\0';
	return fault_errno(f, code, "file system option '%s'%s%s", key ? key : "create", n > 2 ? ": " : "",
			   n > 2 ? message + 2 : "");
}

int new_mount_open(const char *type, int *ret, struct fault *f)
{
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return fault_errno(f, errno, "file system '%s'", type);
	*ret = fs;
	return 0;
}

int new_mount_set(int fs, const char *key, const char *value, struct fault *f)
{
	return configure(fs, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key, value, f);
}

int new_mount_finish(int fs, unsigned int attr, int *ret, struct fault *f)
{
	int r, tree;

	r = configure(fs, FSCONFIG_CMD_CREATE, NULL, NULL, f);
	if (r < 0)
		return r;
	tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attr);
	if (tree < 0)
		return fault_errno(f, errno, "mount a new file system");
	*ret = tree;
	return 0;
}
