/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cmd-run.h"
#include "cli/command.h"
#include "cli/run-call.h"

static bool sets_prompt(char *const *env)
{
	for (; env && *env; env++)
		if (str_eq(*env, "PS1") || str_starts(*env, "PS1="))
			return true;
	return false;
}

/* bash and sh take PS1 from the environment where no file of /etc or of the home sets it; sh knows no "\\w". */
static int set_prompt(struct run_options *o, const char *shell, struct fault *f)
{
	const char *text = strstr(shell, "bash") ? "\\w\\$ " : "$ ";

	if (sets_prompt(o->env))
		return 0;
	if (strv_appendf(&o->env, "PS1=(custody%s%s) %s", o->sandbox ? " " : "", o->sandbox ? o->sandbox : "",
			 text) < 0)
		return fault_errno(f, ENOMEM, "PS1");
	return 0;
}

/* The default root shows the shells of the host; a profile with another root must have /bin/sh. */
int cmd_shell(struct command_call *c, struct fault *f)
{
	static char bash[] = "/bin/bash", sh[] = "/bin/sh";
	char *const command[] = { access(bash, X_OK) == 0 ? bash : sh, NULL };
	int r = run_call_finish(c, f);

	if (r >= 0)
		r = set_prompt(&c->run, command[0], f);
	if (r < 0)
		return r;
	c->run.argv = command;
	c->run.terminal = c->run.interactive = true;
	return run_command(&c->run, f);
}
