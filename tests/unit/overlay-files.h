/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fd.h"
#include "overlay-fixture.h"

/* Relative to the current directory, which overlay_make sets. */
static inline bool put(const char *path, const char *text, mode_t mode)
{
	return tree_put(AT_FDCWD, path, text, mode);
}

static inline bool has(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *got = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, 4096, &got, &len, NULL) == 0 && strcmp(got, text) == 0;
}

static inline bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}
