/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/exit-status.h"
#include "cli/command-help.h"
#include "cli/dispatch.h"
#include "cli/output.h"

static int print_section(const char *section, const struct command *group, const struct command *c)
{
	return strcmp(section, "synopsis") == 0 ? command_help_synopsis(c, stdout)
						: command_help_options(group, c, stdout);
}

int cmd_help(struct command_call *call, struct fault *f)
{
	const struct command *group = NULL, *c;

	if (call->json) {
		_cleanup_jdoc_ struct jdoc *d = command_help_describe(commands);

		return output_print(d, f);
	}
	if (call->n_args == 0)
		return command_help_list(commands, stdout);
	c = dispatch_find(commands, dispatch_name(call->args[0]));
	if (!c)
		return dispatch_refuse(commands, NULL, call->args[0], stderr);
	if (call->n_args > 1) {
		group = c;
		if (!group->subs)
			return dispatch_usage(call, "'custody %s' has no sub-commands", group->name);
		c = dispatch_find(group->subs, call->args[1]);
		if (!c)
			return dispatch_refuse(group->subs, group, call->args[1], stderr);
	}
	return call->section ? print_section(call->section, group, c) : command_help_print(group, c, stdout);
}

int cmd_version(struct command_call *c, struct fault *f)
{
	(void)c, (void)f;
	printf(PACKAGE_NAME " " PACKAGE_VERSION "\nlibcrun " LIBCRUN_VERSION "\n");
	return STATUS_OK;
}
