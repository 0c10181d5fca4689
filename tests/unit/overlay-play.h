/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random operations on the tree m, below the current directory. */
#include "base/path.h"
#include "overlay-fixture.h"

/* A path of few names, so that everything meets everything. */
static inline void play_pick(char *path, size_t size, unsigned int *seed)
{
	static const char *const names[] = { "a", "b", "c", "d-e", "\xff\n" };
	int depth = 1 + rand_r(seed) % 3;
	size_t n = (size_t)snprintf(path, size, "m");

	for (int i = 0; i < depth; i++)
		n += (size_t)snprintf(path + n, size - n, "/%s", names[rand_r(seed) % 5]);
}

static inline void play_put(const char *path, const char *text, int flags)
{
	_cleanup_close_ int fd =
		open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644);

	(void)!(fd >= 0 && write(fd, text, strlen(text)));
}

static inline void play_remove(const char *path)
{
	_cleanup_close_ int fd = open("m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(fd, path + 2, NULL);
}

static inline void play_step(unsigned int *seed, bool links)
{
	char path[128], other[128], text[32];

	play_pick(path, sizeof(path), seed);
	play_pick(other, sizeof(other), seed);
	(void)snprintf(text, sizeof(text), "%d\n", rand_r(seed) % 4);
	switch (rand_r(seed) % 12) {
	case 0:
	case 1:
		play_put(path, text, O_TRUNC);
		break;
	case 2:
		play_put(path, text, O_APPEND);
		break;
	case 3:
	case 4:
		(void)mkdir(path, 0755);
		break;
	case 5:
		play_remove(path);
		break;
	case 6:
	case 7:
		(void)rename(path, other);
		break;
	case 8:
		if (links)
			(void)!symlink(rand_r(seed) % 2 ? "a" : "c/b", path);
		break;
	case 9:
		(void)!fchmodat(AT_FDCWD, path, rand_r(seed) % 2 ? 0755 : 0640, 0);
		break;
	case 10:
		if (links)
			(void)!link(path, other);
		break;
	default:
		play_remove(path);
		(void)mkdir(path, 0700);
		break;
	}
}
