/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a pod's own container, as Kubernetes has it: reaps and waits until it is told to end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number)
{
	psignal(number, "Shutting down, got signal");
	exit(0);
}

static void reap(int number)
{
	(void)number;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int main(void)
{
	struct sigaction a = { .sa_handler = end }, child = { .sa_handler = reap, .sa_flags = SA_NOCLDSTOP };

	if (getpid() != 1)
		(void)fprintf(stderr, "Warning: pause should be the first process\n");
	if (sigaction(SIGINT, &a, NULL) < 0 || sigaction(SIGTERM, &a, NULL) < 0 ||
	    sigaction(SIGCHLD, &child, NULL) < 0)
		return 1;
	for (;;)
		(void)pause();
}
