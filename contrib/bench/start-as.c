/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a program as another user without the cost of a dynamic setpriv:
 *
 *	start-as [-g CGROUP] UID DIRECTORY CUSTODY_ROOT|HOME:XDG_RUNTIME_DIR PROGRAM [ARGUMENT...]
 *
 * UID 0: changes no id.  Another one has CUSTODY_ROOT as its home, or the two directories of a login.  With -g the program is
 * created in that directory of the v2 hierarchy: to move it there would cost a grace period of RCU, which is not the program's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_directories(unsigned int id, char *where)
{
	char *runtime = strchr(where, ':');

	if (runtime)
		*runtime++ = '\0';
	if ((id && setenv("HOME", where, 1) < 0) || unsetenv("XDG_RUNTIME_DIR") < 0 ||
	    unsetenv("CUSTODY_ROOT") < 0)
		return -1;
	return runtime ? setenv("XDG_RUNTIME_DIR", runtime, 1) : setenv("CUSTODY_ROOT", where, 1);
}

/* Returns in a child in CGROUP; the parent exits with its status. */
static int enter(const char *cgroup)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	int fd = open(cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC), status;
	long pid;

	args.cgroup = (uint64_t)fd;
	pid = fd < 0 ? -1 : syscall(SYS_clone3, &args, sizeof(args));
	if (pid <= 0)
		return (int)pid;
	if (waitpid((pid_t)pid, &status, 0) < 0)
		return -1;
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	unsigned int id;

	if (argc > 2 && strcmp(argv[1], "-g") == 0) {
		if (enter(argv[2]) < 0) {
			perror(argv[2]);
			return 1;
		}
		argv += 2;
		argc -= 2;
	}
	if (argc < 5)
		return 64;
	id = (unsigned int)strtoul(argv[1], NULL, 10);
	if (chdir(argv[2]) < 0) {
		perror(argv[2]);
		return 1;
	}
	if (id && (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)) {
		perror("start-as");
		return 1;
	}
	if (set_directories(id, argv[3]) < 0) {
		perror("start-as");
		return 1;
	}
	(void)execvp(argv[4], argv + 4);
	perror(argv[4]);
	return 127;
}
