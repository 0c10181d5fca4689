/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "oci/runtime/runtime-options.h"
#include "tap.h"

#define WORDS(...) ((char *[]){ (char *)"custody-runtime", __VA_ARGS__, NULL })

static int parse(char **argv, struct runtime_options *o, struct fault *f)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return runtime_options_parse(argc, argv, o, f);
}

static void calls_of_podman_are_parsed(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };
	char **argv =
		WORDS((char *)"--systemd-cgroup", (char *)"--log-format=json", (char *)"--log", (char *)"/l",
		      (char *)"create", (char *)"--bundle", (char *)"/b", (char *)"--pid-file", (char *)"/p",
		      (char *)"--no-pivot", (char *)"--preserve-fds", (char *)"2", (char *)"id");

	CHECK(parse(argv, &o, NULL) == 0);
	CHECK(o.verb == VERB_CREATE && o.systemd_cgroup && !strcmp(o.log_format, "json") &&
	      !strcmp(o.log, "/l"));
	CHECK(!strcmp(o.bundle, "/b") && !strcmp(o.pid_file, "/p") && o.no_pivot && o.preserve_fds == 2);
	CHECK(o.n_args == 1 && !strcmp(o.args[0], "id"));
}

static void calls_of_docker_are_parsed(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };
	char **argv =
		WORDS((char *)"--root", (char *)"/r", (char *)"--log", (char *)"/l", (char *)"--log-format",
		      (char *)"json", (char *)"kill", (char *)"--all", (char *)"id", (char *)"9");

	CHECK(parse(argv, &o, NULL) == 0);
	CHECK(o.verb == VERB_KILL && o.all && o.n_args == 2 && !strcmp(o.args[1], "9") &&
	      !strcmp(o.root, "/r"));
}

static void options_of_the_command_stay_its_own(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };
	char **argv = WORDS((char *)"exec", (char *)"-t", (char *)"-e", (char *)"A=b", (char *)"id",
			    (char *)"ls", (char *)"-e", (char *)"--all");

	CHECK(parse(argv, &o, NULL) == 0);
	CHECK(o.tty && o.env.n == 1 && o.n_args == 4 && !strcmp(o.args[2], "-e"));
}

static void letters_join_and_take_values(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };
	char **argv =
		WORDS((char *)"exec", (char *)"-dtu7", (char *)"-c=CAP_KILL", (char *)"id", (char *)"ls");

	CHECK(parse(argv, &o, NULL) == 0);
	CHECK(o.detach && o.tty && !strcmp(o.user, "7") && o.caps.n == 1 &&
	      !strcmp(o.caps.items[0], "CAP_KILL"));
}

static void one_dash_is_enough_for_long_names(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };

	CHECK(parse(WORDS((char *)"create", (char *)"-bundle", (char *)"/b", (char *)"id"), &o, NULL) == 0);
	CHECK(!strcmp(o.bundle, "/b"));
}

static void an_unknown_option_is_refused_with_the_nearest(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(parse(WORDS((char *)"delete", (char *)"--forse", (char *)"id"), &o, &f) < 0);
	CHECK(strstr(fault_text(&f), "--force"));
}

static void an_option_of_another_verb_is_refused(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };

	CHECK(parse(WORDS((char *)"start", (char *)"--bundle", (char *)"/b", (char *)"id"), &o, NULL) < 0);
}

static void a_missing_value_and_a_bad_number_are_refused(void)
{
	_cleanup_options_ struct runtime_options a = { 0 };
	_cleanup_options_ struct runtime_options b = { 0 };
	_cleanup_options_ struct runtime_options c = { 0 };

	CHECK(parse(WORDS((char *)"create", (char *)"--bundle"), &a, NULL) < 0);
	CHECK(parse(WORDS((char *)"create", (char *)"--preserve-fds", (char *)"-1", (char *)"id"), &b, NULL) <
	      0);
	CHECK(parse(WORDS((char *)"delete", (char *)"--force=perhaps", (char *)"id"), &c, NULL) < 0);
}

static void the_log_is_known_even_when_the_rest_is_not(void)
{
	_cleanup_options_ struct runtime_options o = { 0 };

	CHECK(parse(WORDS((char *)"--log", (char *)"/l", (char *)"nosuch"), &o, NULL) < 0);
	CHECK(o.log && !strcmp(o.log, "/l"));
}

TAP_MAIN(T(calls_of_podman_are_parsed), T(calls_of_docker_are_parsed), T(options_of_the_command_stay_its_own),
	 T(letters_join_and_take_values), T(one_dash_is_enough_for_long_names),
	 T(an_unknown_option_is_refused_with_the_nearest), T(an_option_of_another_verb_is_refused),
	 T(a_missing_value_and_a_bad_number_are_refused), T(the_log_is_known_even_when_the_rest_is_not))
