/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-unasked.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "warden/container-prove.h"

#define PAUSE_IDLE_MS 500 /* a container may wait for its start for days */
#define TRIES_MAX 10	  /* looks before that */

struct seen {
	bool exe_seen;
	dev_t dev;
	ino_t ino;
	char name[24];
};

/* A zombie has its name, and no program any more. */
static bool read_name(pid_t pid, char name[24])
{
	_cleanup_close_ int fd = -EBADF;
	char path[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, 23);
	if (n <= 0)
		return false;
	name[n] = '\0';
	return true;
}

/* False: it cannot be read, or is another process that got its number. */
static bool read_process(int pidfd, pid_t pid, struct seen *ret)
{
	char path[32];
	struct stat st;

	*ret = (struct seen){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ret->exe_seen = stat(path, &st) == 0;
	if (ret->exe_seen) {
		ret->dev = st.st_dev;
		ret->ino = st.st_ino;
	}
	return read_name(pid, ret->name) && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
}

void container_unasked_begin(struct container_unasked *u, int pidfd, pid_t pid, dev_t dev, ino_t ino)
{
	struct seen s;

	*u = CONTAINER_UNASKED_NONE;
	u->known = read_process(pidfd, pid, &s) || ino != 0;
	u->exe_seen = ino != 0 || s.exe_seen;
	u->exe_dev = ino ? dev : s.dev;
	u->exe_ino = ino ? ino : s.ino;
	memcpy(u->name, s.name, sizeof(u->name));
}

bool container_unasked_look(struct container_unasked *u, int pidfd, pid_t pid)
{
	struct seen s;

	u->tries++;
	if (!u->known || !read_process(pidfd, pid, &s))
		return false;
	if (u->exe_seen && s.exe_seen)
		return s.dev != u->exe_dev || s.ino != u->exe_ino;
	return *u->name && strcmp(s.name, u->name) != 0;
}

int container_unasked_due_ms(const struct container_unasked *u)
{
	if (!u->known)
		return -1;
	return u->tries < TRIES_MAX ? container_prove_pause_ms(u->tries) : PAUSE_IDLE_MS;
}
