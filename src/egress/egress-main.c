/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * custody-egress: the hosts that one session may reach.  It reads hostile bytes, so it has nothing: root becomes user 65534, no
 * capability, no new privilege, no file but its sockets.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "egress/egress-confine.h"
#include "egress/egress-impl.h"

#define NOBODY 65534
#define FILES_OTHER 128 /* listeners, resolver */
#define FILES_EACH 6	/* of a connection: two sockets, two pipes */
#define FILES (FILES_OTHER + FILES_EACH * EGRESS_CONNECTIONS_MAX)

static int drop_root(struct fault *f)
{
	/* EINVAL: a user namespace without this id; the capabilities are dropped below. */
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return fault_errno(f, errno, "drop the groups");
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
		return fault_errno(f, errno, "drop the group");
	if (setresuid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
		return fault_errno(f, errno, "drop the user");
	return 0;
}

/* With none left, accept() would fail at once, again and again. */
static int raise_files(struct egress_server *s, struct fault *f)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return fault_errno(f, errno, "limit of open files");
	files.rlim_cur = files.rlim_max < FILES ? files.rlim_max : FILES;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return fault_errno(f, errno, "limit of open files");
	if (files.rlim_cur < FILES_OTHER + FILES_EACH)
		return fault_set(f, EMFILE, "%d open files are needed: raise the limit (ulimit -n %d)", FILES,
				 FILES);
	s->connections_max = (files.rlim_cur - FILES_OTHER) / FILES_EACH;
	return 0;
}

static int drop_power(struct fault *f)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };
	const struct rlimit core = { 0 };
	int r = drop_root(f);

	if (r < 0)
		return r;
	if (syscall(SYS_capset, &head, none) < 0)
		return fault_errno(f, errno, "drop the capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return fault_errno(f, errno, "protect " EGRESS_PROGRAM);
	/* Another user makes the kernel forget it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return fault_errno(f, errno, "follow the supervisor");
	(void)setrlimit(RLIMIT_CORE, &core);
	return 0;
}

int main(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct egress_server s = { .link = EGRESS_LINK_FD, .epoll = -EBADF };
	int r;

	if (fcntl(EGRESS_LINK_FD, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(EGRESS_CONFIG_FD, F_SETFD, FD_CLOEXEC) < 0) {
		static const char text[] = EGRESS_PROGRAM " is started by 'custody run'\n";

		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
		return STATUS_USAGE;
	}
	process_ignore_sigpipe();
	r = drop_power(&f);
	if (r == 0)
		r = egress_confine(&f);
	if (r == 0)
		r = raise_files(&s, &f);
	if (r == 0)
		r = egress_config_read(EGRESS_CONFIG_FD, &s.config, &f);
	(void)fd_close(EGRESS_CONFIG_FD);
	if (r == 0)
		r = egress_serve(&s, &f);
	if (r < 0)
		(void)!send(s.link, fault_text(&f), strlen(fault_text(&f)) + 1, MSG_NOSIGNAL);
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}
