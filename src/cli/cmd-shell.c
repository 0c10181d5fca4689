/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "cli/cmd-run.h"
#include "cli/command.h"
#include "cli/run-call.h"

/* The default root shows the shells of the host; a profile with another root must have /bin/sh. */
int cmd_shell(struct command_call *c, struct fault *f)
{
	static char bash[] = "/bin/bash", sh[] = "/bin/sh";
	char *const command[] = { access(bash, X_OK) == 0 ? bash : sh, NULL };
	int r = run_call_finish(c, f);

	if (r < 0)
		return r;
	c->run.argv = command;
	c->run.terminal = c->run.interactive = true;
	return run_command(&c->run, f);
}
