/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * reap-at-once PIDFILE CMD...: an engine that reaps before any other process runs.  CMD creates a container and starts it;
 * prints the wait status of the process in PIDFILE, which this program adopts: "exited N" or "signaled N".
 */
static pid_t read_pid(const char *path)
{
	FILE *in = fopen(path, "re");
	int pid = 0;

	if (!in)
		return 0;
	if (fscanf(in, "%d", &pid) != 1)
		pid = 0;
	(void)fclose(in);
	return pid;
}

int main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 1 };
	pid_t script, pid;
	int status, seen = 0;

	if (argc < 3 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return 64;
	script = fork();
	if (script == 0) {
		(void)execvp(argv[2], argv + 2);
		_exit(127);
	}
	/* Woken, it preempts custody-warden.  Only root may; without it the test is less strict. */
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR) {
		if (pid == script && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
			return 1;
		if (pid > 0 && pid == read_pid(argv[1])) {
			seen = 1;
			(void)printf("%s %d\n", WIFEXITED(status) ? "exited" : "signaled",
				     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
			(void)fflush(stdout);
		}
	}
	return !seen;
}
