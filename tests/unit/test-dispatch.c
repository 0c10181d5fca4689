/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit-status.h"
#include "cli/command-help.h"
#include "cli/dispatch.h"
#include "tap.h"

static int return_seven(struct command_call *c, struct fault *f)
{
	(void)f;
	return c->json ? 8 : 7;
}

static int fail(struct command_call *c, struct fault *f)
{
	return fault_set(f, EINVAL, "%s failed", c->words[0]);
}

/* clang-format off */
static const struct option none[] = { { 0 } };
static const struct option json[] = {
	{ "json", 'j', OPTION_FLAG, offsetof(struct command_call, json), NULL, .help = "print JSON" },
	{ "lane",  0,  OPTION_TEXT, offsetof(struct command_call, lane), "LANE", .help = "a lane" },
	{ 0 },
};
static const struct command subs[] = {
	{ "ls",   "",   "list", 0, 0, json, .run = return_seven },
	{ "show", "ID", "show", 1, 1, none, .run = fail },
	{ 0 },
};
static const struct command table[] = {
	{ "seven",   "[X]", "return seven",  0, 1,  json, .run = return_seven },
	{ "fail",    "",    "fail",          0, -1, none, .run = fail },
	{ "strict",  "",    "fail with 125", 0, 0,  none, .run = fail, COMMAND_FAILS_125 },
	{ "group",   "",    "a group",       0, 0,  none, .subs = subs },
	{ "version", "",    "version",       0, 0,  none, .run = return_seven },
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

	o.status = err ? dispatch_run(table, argc, argv, err) : -1;
	if (err)
		(void)fclose(err);
	return o;
}

static void status_of_the_command_is_returned(void)
{
	struct outcome o = run(2, "seven", NULL, NULL);

	CHECK(o.status == 7);
	CHECK(o.err[0] == '\0');
	CHECK(run(3, "seven", "--json", NULL).status == 8);
	CHECK(run(4, "seven", "x", "-j").status == 8);
}

static void failure_is_reported_once_with_the_command(void)
{
	struct outcome o = run(2, "fail", NULL, NULL);

	CHECK(o.status == STATUS_FAILED);
	CHECK(strcmp(o.err, "custody fail: fail failed\n") == 0);
	o = run(4, "group", "show", "x");
	CHECK(o.status == STATUS_FAILED);
	CHECK(strcmp(o.err, "custody group show: group failed\n") == 0);
}

static void mistyped_command_gets_the_nearest(void)
{
	struct outcome o = run(2, "sevn", NULL, NULL);

	CHECK(o.status == STATUS_USAGE);
	CHECK(strstr(o.err, "did you mean 'custody seven'?"));
	o = run(3, "group", "shw", NULL);
	CHECK(o.status == STATUS_USAGE);
	CHECK(strstr(o.err, "custody group: unknown command 'shw'; did you mean 'custody group show'?"));
}

static void unknown_command_is_shown_without_control_characters(void)
{
	struct outcome o = run(2, "\033[2Jqqqqqqqqqqqq", NULL, NULL);

	CHECK(o.status == STATUS_USAGE);
	CHECK(!strchr(o.err, '\033'));
	CHECK(strstr(o.err, "custody help"));
}

static void wrong_number_of_arguments_gives_the_usage_in_one_line(void)
{
	struct outcome o = run(4, "seven", "a", "b");

	CHECK(o.status == STATUS_USAGE);
	CHECK(strcmp(o.err, "custody seven: unexpected argument 'b'; usage: custody seven [--json] [--lane "
			    "LANE] [X]\n") == 0);
	o = run(3, "group", "show", NULL);
	CHECK(o.status == STATUS_USAGE);
	CHECK(strcmp(o.err, "custody group show: missing argument; usage: custody group show ID\n") == 0);
}

static void wrong_option_is_reported_with_the_status_of_the_command(void)
{
	struct outcome o = run(3, "seven", "--jsn", NULL);

	CHECK(o.status == STATUS_USAGE);
	CHECK(strcmp(o.err, "custody seven: unknown option '--jsn'; did you mean '--json'? (see: custody "
			    "help seven)\n") == 0);
	CHECK(run(3, "strict", "--jsn", NULL).status == STATUS_FAILED);
	o = run(4, "group", "ls", "--jsn");
	CHECK(strstr(o.err, "(see: custody help group ls)"));
}

static void missing_command_is_refused_and_dashes_are_understood(void)
{
	CHECK(run(1, NULL, NULL, NULL).status == STATUS_USAGE);
	CHECK(run(2, "group", NULL, NULL).status == STATUS_USAGE);
	CHECK(run(2, "--version", NULL, NULL).status == 7);
}

static void help_of_one_command_is_its_row(void)
{
	char text[512] = { 0 };
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(out && command_help_print(NULL, &table[0], out) == STATUS_OK);
	if (out)
		(void)fclose(out);
	CHECK(strcmp(text, "usage: custody seven [--json] [--lane LANE] [X]\n\nReturn seven.\n\noptions:\n"
			   "  -j, --json                      print JSON\n"
			   "      --lane LANE                 a lane\n"
			   "  -h, --help                      print this help\n") == 0);
}

TAP_MAIN(T(status_of_the_command_is_returned), T(failure_is_reported_once_with_the_command),
	 T(mistyped_command_gets_the_nearest), T(unknown_command_is_shown_without_control_characters),
	 T(wrong_number_of_arguments_gives_the_usage_in_one_line),
	 T(wrong_option_is_reported_with_the_status_of_the_command), T(help_of_one_command_is_its_row),
	 T(missing_command_is_refused_and_dashes_are_understood))
