/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/wait.h>

#include "tap.h"

static bool is_named(const char *function, const char *name)
{
	char text[256];

	if (strcmp(tap_name(function, text), name) == 0)
		return true;
	printf("# %s: %s\n", function, text);
	return false;
}

static void underscores_become_blanks(void)
{
	CHECK(is_named("utf8_is_decoded_strictly", "utf8 is decoded strictly"));
	CHECK(is_named("", ""));
}

static void ids_in_front_become_requirement_ids(void)
{
	CHECK(is_named("GOV_6_no_grant_skips_the_PIN", "GOV-6: no grant skips the PIN"));
	CHECK(is_named("GOV_10_x", "GOV-10: x"));
	CHECK(is_named("GOV_9_ISO_13_x_y", "GOV-9: ISO-13: x y"));
}

static void other_words_are_no_ids(void)
{
	CHECK(is_named("gov_6_x", "gov 6 x"));
	CHECK(is_named("GOV6_x", "GOV6 x"));
	CHECK(is_named("GOV_x_6_y", "GOV x 6 y"));
	CHECK(is_named("A_1_x", "A 1 x"));
	CHECK(is_named("GOV_6", "GOV 6"));
}

static void a_long_name_is_cut(void)
{
	char function[1024], text[256];

	memset(function, 'x', sizeof(function) - 1);
	function[sizeof(function) - 1] = '\0';
	CHECK(strlen(tap_name(function, text)) == 255);
	for (size_t i = 0; i + 6 < sizeof(function); i += 6)
		memcpy(function + i, "GOV_1_", 6);
	CHECK(strlen(tap_name(function, text)) <= 255);
}

/* Also one that ignores and blocks every signal that it can. */
static void a_test_that_hangs_is_killed(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t all;

		(void)sigfillset(&all);
		(void)sigprocmask(SIG_BLOCK, &all, NULL);
		if (!tap_limit(0, 1000000))
			_exit(1);
		for (;;)
			(void)pause();
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* clang-format off */
TAP_MAIN(
	T(underscores_become_blanks),
	T(ids_in_front_become_requirement_ids),
	T(other_words_are_no_ids),
	T(a_long_name_is_cut),
	T(a_test_that_hangs_is_killed),
)
/* clang-format on */
