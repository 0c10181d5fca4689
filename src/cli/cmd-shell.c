/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <unistd.h>

#include "cli/cmd-run.h"
#include "cli/dispatch.h"

/* The host's shells are what the default root shows; a profile with a root of its own is asked for /bin/sh. */
int cmd_shell(int argc, char **argv, struct fault *f)
{
	static char bash[] = "/bin/bash", sh[] = "/bin/sh";
	char *const command[] = { access(bash, X_OK) == 0 ? bash : sh, NULL };
	_cleanup_options_ struct run_options o;
	int r;

	options_init(&o);
	r = options_parse(&o, argc, argv, f);
	if (r < 0)
		return r;
	if (o.help)
		return run_print_help("shell", "[OPTIONS]");
	if (o.argv)
		return fault_set(f, EINVAL, "shell takes no command; use: custody run -t -- COMMAND");
	if (o.detach)
		return fault_set(f, EINVAL,
				 "a shell is for somebody who is there: -d makes no sense with it");
	o.argv = command;
	o.terminal = o.interactive = true;
	return run_command(&o, f);
}
