/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "core/exit-status.h"

static int cmd_help(int argc, char **argv, struct fault *f);
static int cmd_version(int argc, char **argv, struct fault *f);

/* An entry appears here together with its cmd-<verb>.c. */
/* clang-format off */
static const struct command commands[] = {
	{ "help",    "", "list the commands",           0, 0, cmd_help },
	{ "version", "", "say which version this is",   0, 0, cmd_version },
	{ 0 },
};
/* clang-format on */

static int cmd_help(int argc, char **argv, struct fault *f)
{
	(void)argc, (void)argv, (void)f;
	command_print_help(commands, stdout);
	return STATUS_OK;
}

static int cmd_version(int argc, char **argv, struct fault *f)
{
	(void)argc, (void)argv, (void)f;
	printf(PACKAGE_NAME " " PACKAGE_VERSION "\nlibcrun " LIBCRUN_VERSION "\n");
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	umask(022);
	return command_run(commands, argc, argv, stderr);
}
