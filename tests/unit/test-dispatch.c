/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dispatch.h"
#include "base/exit-status.h"
#include "tap.h"

static int say_seven(int argc, char **argv, struct fault *f)
{
	(void)argc, (void)argv, (void)f;
	return 7;
}

static int fail(int argc, char **argv, struct fault *f)
{
	(void)argc;
	return fault_set(f, EINVAL, "%s does not want to", argv[0]);
}

/* clang-format off */
static const struct command table[] = {
	{ "seven",   "[X]", "returns seven", 0, 1,  say_seven, false, false },
	{ "fail",    "",    "fails",         0, -1, fail, false, false },
	{ "version", "",    "version",       0, 0,  say_seven, false, false },
	{ 0 },
};
/* clang-format on */

struct outcome {
	int status;
	char err[256];
};

static struct outcome run(int argc, const char *one, const char *two, const char *three)
{
	char *argv[] = { (char *)"custody", (char *)one, (char *)two, (char *)three, NULL };
	struct outcome o = { 0 };
	FILE *err = fmemopen(o.err, sizeof(o.err), "w");

	o.status = err ? command_run(table, argc, argv, err) : -1;
	if (err)
		(void)fclose(err);
	return o;
}

static void status_of_the_command_is_returned(void)
{
	struct outcome o = run(2, "seven", NULL, NULL);

	CHECK(o.status == 7);
	CHECK(o.err[0] == '\0');
}

static void failure_is_reported_once_with_the_command(void)
{
	struct outcome o = run(2, "fail", NULL, NULL);

	CHECK(o.status == STATUS_FAILED);
	CHECK(strcmp(o.err, "custody fail: fail does not want to\n") == 0);
}

static void mistyped_command_gets_the_nearest(void)
{
	struct outcome o = run(2, "sevn", NULL, NULL);

	CHECK(o.status == STATUS_USAGE);
	CHECK(strstr(o.err, "did you mean 'custody seven'?"));
}

static void unknown_command_is_shown_without_control_characters(void)
{
	struct outcome o = run(2, "\033[2Jqqqqqqqqqqqq", NULL, NULL);

	CHECK(o.status == STATUS_USAGE);
	CHECK(!strchr(o.err, '\033'));
	CHECK(strstr(o.err, "custody help"));
}

static void too_many_arguments_give_usage(void)
{
	struct outcome o = run(4, "seven", "a", "b");

	CHECK(o.status == STATUS_USAGE);
	CHECK(strcmp(o.err, "usage: custody seven [X]\n") == 0);
}

static void no_command_is_refused_and_dashes_are_understood(void)
{
	CHECK(run(1, NULL, NULL, NULL).status == STATUS_USAGE);
	CHECK(run(2, "--version", NULL, NULL).status == 7);
}

static void help_of_one_command_is_its_entry(void)
{
	char text[256] = { 0 };
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(out && command_help(table, "seven", out, stderr) == STATUS_OK);
	if (out)
		(void)fclose(out);
	CHECK(strcmp(text, "usage: custody seven [X]\n\nreturns seven\n") == 0);
}

TAP_MAIN(T(status_of_the_command_is_returned), T(failure_is_reported_once_with_the_command),
	 T(mistyped_command_gets_the_nearest), T(unknown_command_is_shown_without_control_characters),
	 T(too_many_arguments_give_usage), T(help_of_one_command_is_its_entry),
	 T(no_command_is_refused_and_dashes_are_understood))
