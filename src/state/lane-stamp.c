/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "state/lane.h"
#include "state/state-version.h"

#define TEMP ".lane"

int lane_stamp(int dirfd, enum lane lane, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r;

	strbuf_printf(&b, "%s\n", lane_name(lane));
	if (b.broken)
		return fault_errno(f, ENOMEM, "stamp");
	fd = openat(dirfd, TEMP, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "stamp with lane '%s'", lane_name(lane));
	r = fd_write_all(fd, b.text, b.len, f);
	/*
	 * The rename makes the file complete or missing: a process killed before leaves a directory without a
	 * stamp.
	 */
	if (r == 0 && renameat2(dirfd, TEMP, dirfd, LANE_STAMP, RENAME_NOREPLACE) < 0)
		r = fault_errno(f, errno, "stamp with lane '%s'", lane_name(lane));
	if (r < 0)
		(void)unlinkat(dirfd, TEMP, 0);
	return r;
}

int lane_read_stamp(int dirfd, const char *what, enum lane *ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL, *shown = NULL;
	int r;

	r = state_read_word(dirfd, LANE_STAMP, &text, f);
	if (r <= 0)
		return r < 0 ? fault_wrap(f, r, "lane of %s", what) : 0;
	for (unsigned int i = 0; i < _LANE_MAX; i++)
		if (strcmp(text, lane_name((enum lane)i)) == 0) {
			*ret = (enum lane)i;
			return 1;
		}
	shown = str_escape(text);
	return fault_set(f, LANE_REFUSED, "refused: %s is stamped with '%s', which is not a lane", what,
			 shown ? shown : "?");
}

int lane_require_stamp(int dirfd, enum lane lane, const char *what, struct fault *f)
{
	enum lane found = LANE_SANDBOX;
	int r;

	r = lane_read_stamp(dirfd, what, &found, f);
	if (r < 0)
		return r;
	return lane_require_name(lane, r ? lane_name(found) : NULL, what, f);
}
