/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/exit-status.h"
#include "oci/hook/hook.h"

static int run_mount(const struct hook_state *s, char **args, struct fault *f)
{
	return hook_mount(s, args[0], f);
}

/* clang-format off */
static const struct verb {
	const char *name;
	int n_args; /* -1: any number */
	int (*run)(const struct hook_state *s, char **args, struct fault *f);
} verbs[] = {
	{ "approve", -1, hook_approve },
	{ "audit",   -1, hook_audit   },
	{ "mount",   1,  run_mount    },
	{ 0 },
};
/* clang-format on */

static const struct verb *find_verb(int argc, char **argv)
{
	for (const struct verb *v = verbs; argc > 1 && v->name; v++)
		if (strcmp(v->name, argv[1]) == 0 && (v->n_args < 0 || argc == 2 + v->n_args))
			return v;
	return NULL;
}

/* A runtime that cannot write all of the state reports that instead of our error. */
static void drain(void)
{
	char room[4096];

	while (read(STDIN_FILENO, room, sizeof(room)) > 0)
		;
}

int main(int argc, char **argv)
{
	_cleanup_hook_state_ struct hook_state s = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	const struct verb *v = find_verb(argc, argv);
	int r;

	if (!v) {
		drain();
		fprintf(stderr, "usage: custody-hook approve|audit|mount ... <STATE\n");
		return STATUS_USAGE;
	}
	process_forbid_core();
	umask(022);
	process_init_signals();
	r = fd_sanitize(&f);
	if (r >= 0)
		r = hook_state_read(STDIN_FILENO, &s, &f);
	if (r >= 0)
		r = v->run(&s, argv + 2, &f);
	else
		drain();
	/* A refusal is read after the container is deleted: a successful audit must not remove it. */
	if (r < 0 || v->run != hook_audit)
		hook_report(&s, v->name, r < 0 ? fault_text(&f) : NULL);
	/* No cleanup: oci/hook/hook-approve.c leaves it to the exit. */
	_exit(r < 0 ? 1 : 0);
}
