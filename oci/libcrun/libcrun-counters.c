/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-counters.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-wrap.h"

/*
 * The kernel counts inotify instances and watches for the user, root included, and adds those of a namespace to the owner's:
 * one command could take all of them.  A user namespace has limits of its own, none at first.  The process that becomes the
 * container can set them, because it still has every capability there; the command has none and cannot.
 *
 * Best effort: where /proc/sys is read-only (custody in another container) nothing is limited.
 */
/* At least this many, however few the host grants. */
#define COUNTER_MIN 16

static struct stat callers_namespace;
static bool is_wanted;

void counters_limit(void)
{
	is_wanted = stat("/proc/self/ns/user", &callers_namespace) == 0;
}

/* In the caller's namespace a write would change the limits of the host. */
static bool is_in_own_namespace(void)
{
	struct stat st;

	return is_wanted && stat("/proc/self/ns/user", &st) == 0 &&
	       (st.st_ino != callers_namespace.st_ino || st.st_dev != callers_namespace.st_dev);
}

static bool read_number(const char *path, uint64_t *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[24];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n < 0 ? 0 : n] = '\0';
	return str_to_u64(text, ret) == 0;
}

static void write_number(const char *path, uint64_t n)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);

	if (fd >= 0)
		(void)!write(fd, text, (size_t)len);
}

/* Runs in the container's process, before its mounts: /proc is the host's, and shows the namespace of the process that opens. */
int __wrap_libcrun_set_sysctl(struct libcrun_container_s *container, libcrun_error_t *err)
{
	static const struct {
		const char *host, *own;
	} counters[] = {
		{ "/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances" },
		{ "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches" },
	};
	size_t n = is_in_own_namespace() ? ARRAY_SIZE(counters) : 0;
	uint64_t most;

	for (size_t i = 0; i < n; i++)
		if (read_number(counters[i].host, &most))
			write_number(counters[i].own, most / 2 > COUNTER_MIN ? most / 2 : COUNTER_MIN);
	return __real_libcrun_set_sysctl(container, err);
}
