/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/exit-status.h"
#include "oci/hook.h"

#define ERROR_FILE "custody-hook.err"

static int run_mount(const struct hook_state *s, char **args, struct fault *f)
{
	return hook_mount(s, args[0], f);
}

/* clang-format off */
static const struct verb {
	const char *name;
	int n_args;
	int (*run)(const struct hook_state *s, char **args, struct fault *f);
} verbs[] = {
	{ "mount", 1, run_mount },
	{ 0 },
};
/* clang-format on */

static const struct verb *find_verb(int argc, char **argv)
{
	for (const struct verb *v = verbs; argc > 1 && v->name; v++)
		if (strcmp(v->name, argv[1]) == 0 && argc == 2 + v->n_args)
			return v;
	return NULL;
}

/* crun throws a hook's stderr away: the reason is also left beside config.json.  Best effort, ignoring failures. */
static void leave_reason(const char *bundle, const char *text)
{
	_cleanup_close_ int dir = bundle ? open(bundle, O_PATH | O_DIRECTORY | O_CLOEXEC) : -EBADF,
			    fd = -EBADF;

	if (dir < 0)
		return;
	if (text)
		fd = openat(dir, ERROR_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	else
		(void)unlinkat(dir, ERROR_FILE, 0);
	if (fd >= 0)
		(void)dprintf(fd, "%s\n", text);
}

int main(int argc, char **argv)
{
	_cleanup_hook_state_ struct hook_state s = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *bundle = NULL;
	const struct verb *v = find_verb(argc, argv);
	int r;

	if (!v) {
		fprintf(stderr, "usage: custody-hook mount PLAN <STATE\n");
		return STATUS_USAGE;
	}
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	umask(022);
	r = fd_sanitize(&f);
	if (r >= 0)
		r = hook_state_read(STDIN_FILENO, &s, &f);
	if (r >= 0)
		r = v->run(&s, argv + 2, &f);
	if (r < 0)
		fprintf(stderr, "custody-hook %s: %s\n", v->name, fault_text(&f));
	leave_reason(s.bundle, r < 0 ? fault_text(&f) : NULL);
	return r < 0 ? 1 : 0;
}
