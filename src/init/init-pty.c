/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-pty.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "init/init-rt.h"

long pty_open(int *ret_master, int *ret_slave)
{
	long master, slave, r;
	int locked = 0;

	master = SYS(openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return master;
	r = SYS(ioctl, master, TIOCSPTLCK, &locked);
	/* By the master descriptor, not by name: /dev/pts/N may be another terminal. */
	slave = r < 0 ? r : SYS(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0) {
		(void)SYS(close, master);
		return slave;
	}
	*ret_master = (int)master;
	*ret_slave = (int)slave;
	return 0;
}

long pty_release(void)
{
	const uint64_t hangup = 1ULL << (SIGHUP - 1) | 1ULL << (SIGCONT - 1);
	const struct timespec now = { 0 };
	long fd, r;

	fd = SYS(openat, AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd == -ENXIO || fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	r = SYS(ioctl, fd, TIOCNOTTY, 0);
	(void)SYS(close, fd);
	if (r < 0)
		return r;
	while (SYS(rt_sigtimedwait, &hangup, NULL, &now, sizeof(hangup)) > 0)
		;
	return 1;
}

long pty_control(int slave)
{
	return SYS(ioctl, slave, TIOCSCTTY, 0);
}
