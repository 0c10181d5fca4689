/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "warden/container-prove.h"

/*
 * prove-container PID CONFIG LAYER[,LAYER...]: proves the layers ("all": each that can be proven from outside) of the container whose
 * first process is PID, prints them, one on each line, and "end"; then, when a line was read from stdin, those that hold after the start.
 * Exits with 0, 1 if a layer is missing, 3 if the process exited.
 */
static uint32_t parse_layers(char *list)
{
	uint32_t bits = 0;
	char *save = NULL;

	if (strcmp(list, "all") == 0)
		return container_prove_layers();
	for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		int l = layer_from_name(name);

		if (l < 0)
			exit(64);
		bits |= LAYER_BIT(l);
	}
	return bits;
}

static int report(int r, const struct container_proven *n, const struct fault *f)
{
	for (char **w = n->words; w && *w; w++)
		printf("%s\n", *w);
	printf("end\n");
	(void)fflush(stdout);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", fault_text(f));
	return r == -ESRCH ? 3 : r < 0;
}

int main(int argc, char **argv)
{
	_cleanup_container_proven_ struct container_proven n = CONTAINER_PROVEN_NONE;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_jdoc_ struct jdoc *config = NULL;
	struct container_proof p = { .procfd = -EBADF, .pidfd = -EBADF };
	char line[8];
	pid_t pid;
	size_t len;
	int fd, r;

	if (argc < 4)
		return 64;
	pid = (pid_t)atoi(argv[1]);
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, JDOC_SIZE_MAX, &text, &len, &f) < 0 ||
	    jdoc_parse(text, len, argv[2], NULL, &config, &f) < 0)
		return 64;
	(void)close(fd);
	p.config = config;
	p.layers = parse_layers(argv[3]);
	p.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	p.procfd = p.pidfd < 0 ? -ESRCH : container_procfd_open(p.pidfd, pid, &f);
	r = p.procfd < 0 ? p.procfd : container_prove(&p, &n, &f);
	r = report(r, &n, &f);
	if (r != 0 || !fgets(line, sizeof(line), stdin))
		return r;
	p.phase = CONTAINER_AFTER_START;
	r = container_prove_wait(&p, &n, &f);
	return report(r, &n, &f);
}
