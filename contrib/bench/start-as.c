/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a program as another user without the cost of a dynamic setpriv:
 *
 *	start-as UID DIRECTORY CUSTODY_ROOT|HOME:XDG_RUNTIME_DIR PROGRAM [ARGUMENT...]
 *
 * UID 0: changes no id.  Another one has CUSTODY_ROOT as its home, or the two directories of a login.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	unsigned int id;

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
