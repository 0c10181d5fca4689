/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "run/run-options.h"

#include "tap.h"

static _Thread_local struct fault fault;

static int parse(struct run_options *o, const char *const *words)
{
	static char *argv[32]; /* O keeps pointing into it */
	static char copies[32][64];
	int n = 0;

	memset(argv, 0, sizeof(argv));
	for (; words[n]; n++) {
		(void)snprintf(copies[n], sizeof(copies[n]), "%s", words[n]);
		argv[n] = copies[n];
	}
	fault_done(&fault);
	options_init(o);
	return options_parse(o, n, argv, &fault);
}
#define PARSE(o, ...) parse(o, (const char *const[]){ "run", __VA_ARGS__, NULL })

static bool says(const char *text)
{
	return fault.text && strstr(fault.text, text);
}

static void defaults_are_the_strictest(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "true") == 0);
	CHECK(str_eq(o.profile, "offline"));
	CHECK(o.argv && str_eq(o.argv[0], "true"));
	CHECK(!o.set_memory && !o.network && !o.terminal && o.status_fd < 0);
}

static void both_spellings_of_a_value(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "--memory=512m", "--cpus", "1.5", "--pids-limit", "7", "--timeout=2m", "-w/x", "--",
		    "ls", "-l") == 0);
	CHECK(o.set_memory && o.memory == 512 * 1024 * 1024);
	CHECK(o.set_cpu && o.cpu_percent == 150);
	CHECK(o.set_pids && o.pids == 7);
	CHECK(o.set_timeout && o.timeout_s == 120);
	CHECK(str_eq(o.workdir, "/x"));
	CHECK(str_eq(o.argv[0], "ls") && str_eq(o.argv[1], "-l"));
}

static void lists_and_joined_letters(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "-tq", "-e", "A=1", "-eB", "--env=C=", "-v", "/a:/b", "sh") == 0);
	CHECK(o.terminal && o.quiet);
	CHECK(strv_len(o.env) == 3 && str_eq(o.env[0], "A=1") && str_eq(o.env[1], "B") &&
	      str_eq(o.env[2], "C="));
	CHECK(strv_len(o.volumes) == 1);
}

static void options_end_at_the_command(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "-q", "ls", "--json") == 0);
	CHECK(!o.json && str_eq(o.argv[1], "--json"));
}

static void no_command_is_seen(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "-q", "--") == 0);
	CHECK(o.argv == NULL);
}

static void unknown_option_names_its_neighbour(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "--profil", "x", "true") == -EINVAL);
	CHECK(says("--profile"));
	options_done(&o);
	CHECK(PARSE(&o, "-Z", "true") == -EINVAL);
	CHECK(says("-Z"));
}

static void who_detaches_has_no_terminal(void)
{
	static const char *const both[][2] = { { "-d", "-t" }, { "-t", "--detach" }, { "-dt", "-q" } };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		_cleanup_options_ struct run_options o;

		CHECK(PARSE(&o, both[i][0], both[i][1], "true") == -EINVAL);
		CHECK(says("contradict"));
	}
	_cleanup_options_ struct run_options o;
	CHECK(PARSE(&o, "-d", "true") == 0 && o.detach && o.detach_fd < 0);
}

static void later_capabilities_are_refused_by_name(void)
{
	static const char *const later[] = { "--project", "--intent", "--task" };

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		_cleanup_options_ struct run_options o;

		CHECK(PARSE(&o, later[i], "true") == -ENOTSUP);
		CHECK(says("not in this version"));
	}
}

static void governance_is_carried_as_given(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "--lane=prod", "--allow-prod", "--wait=2m", "--grant", "/", "--grant=/etc",
		    "--provenance=web_content", "--seal-tree", "-y", "true") == 0);
	CHECK(str_eq(o.lane, "prod") && o.allow_prod && o.wait && o.wait_s == 120 && o.seal_tree && o.yes);
	CHECK(strv_len(o.grants) == 2 && strv_len(o.provenance) == 1 && str_eq(o.argv[0], "true"));
	options_done(&o);
	/* The time of --wait is optional: the next word is the command's. */
	CHECK(PARSE(&o, "--wait", "true") == 0);
	CHECK(o.wait && o.wait_s == 0 && str_eq(o.argv[0], "true"));
	options_done(&o);
	CHECK(PARSE(&o, "--wait=soon", "true") == -EINVAL);
	options_done(&o);
	CHECK(PARSE(&o, "--no-seal", "--seal-tree", "true") == -EINVAL);
}

static void bad_values_are_refused(void)
{
	static const char *const bad[] = { "--memory=lots",    "--memory=1",	  "--memory=1048575",
					   "--memory=",	       "--cpus=0.001",	  "--cpus=x",
					   "--cpus=1.5x",      "--pids-limit=-1", "--timeout=5 s",
					   "--network=bridge", "--status-fd=999", "--quiet=yes",
					   "--memory" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_options_ struct run_options o;
		int r = PARSE(&o, bad[i]);

		if (r >= 0)
			printf("# %s was taken\n", bad[i]);
		CHECK(r < 0 && fault.text);
	}
}

static void zero_takes_a_limit_away(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "--memory=0", "--cpus=0", "--pids-limit=0", "--timeout=0", "true") == 0);
	CHECK(o.set_memory && o.memory == 0 && o.set_cpu && o.cpu_percent == 0);
}

static void a_mistake_says_what_would_be_right(void)
{
	_cleanup_options_ struct run_options o;

	CHECK(PARSE(&o, "--memory=1", "true") < 0 && says("at least 1M, or 0 for no limit"));
	CHECK(PARSE(&o, "--memory=1M", "true") == 0);
	CHECK(PARSE(&o, "--memory=lots", "true") < 0 && says("'lots' is no size: 512M, 2G"));
	CHECK(PARSE(&o, "--timeout=5x", "true") < 0 && says("'5x' is no time: 90s, 30m, 2h"));
	CHECK(PARSE(&o, "--wait=x", "true") < 0 && says("'x' is no time"));
	CHECK(PARSE(&o, "--cpus=two", "true") < 0 && says("'two' is no number of processors"));
	CHECK(PARSE(&o, "--pids-limit=-1", "true") < 0 && says("'-1' is no number"));
	CHECK(PARSE(&o, "--grant=/no/such/grant", "true") < 0 && says("--grant '/no/such/grant'"));
}

TAP_MAIN(T(a_mistake_says_what_would_be_right), T(defaults_are_the_strictest), T(both_spellings_of_a_value),
	 T(lists_and_joined_letters), T(options_end_at_the_command), T(no_command_is_seen),
	 T(unknown_option_names_its_neighbour), T(who_detaches_has_no_terminal),
	 T(later_capabilities_are_refused_by_name), T(governance_is_carried_as_given),
	 T(bad_values_are_refused), T(zero_takes_a_limit_away))
