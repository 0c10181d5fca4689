/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/mount-type.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define TABLE "/proc/self/mountinfo"
#define TABLE_MAX ((size_t)16 * 1024 * 1024)

/* "36 35 98:0 ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS" */
static bool split(char *line, char **ret_point, char **ret_type)
{
	char *save = NULL, *word = strtok_r(line, " ", &save);

	for (int i = 0; word && i < 4; i++)
		word = strtok_r(NULL, " ", &save);
	*ret_point = word;
	while (word && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &save);
	*ret_type = word ? strtok_r(NULL, " ", &save) : NULL;
	if (*ret_point)
		str_unoctal(*ret_point);
	return *ret_type != NULL;
}

static bool is_known(const char *type)
{
	static const char *const known[] = { "ext2",	"ext3",	 "ext4",   "xfs",  "btrfs", "tmpfs",
					     "overlay", "ramfs", "rootfs", "f2fs", "zfs",   "bcachefs" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i], type) == 0)
			return true;
	return false;
}

int mount_type_decide(char *text, const char *path, const char *beside, char **ret_type, struct fault *f)
{
	char *save = NULL, *point, *type;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* Fail on an invalid line: it could be the mount of PATH. */
		if (!split(line, &point, &type))
			return fault_set(f, EBADMSG, TABLE " has an invalid line");
		if (!path_is_below(path, point) || (beside && path_is_below(beside, point)) || is_known(type))
			continue;
		if (!ret_type)
			return 0;
		*ret_type = strdup(type);
		return *ret_type ? 0 : fault_errno(f, ENOMEM, "mounts");
	}
	return 1;
}

int mount_type_is_local(const char *path, const char *beside, char **ret_type, struct fault *f)
{
	_cleanup_close_ int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open " TABLE);
	r = fd_read_all(fd, TABLE_MAX, &text, &len, f);
	return r < 0 ? fault_wrap(f, r, "read " TABLE) : mount_type_decide(text, path, beside, ret_type, f);
}
