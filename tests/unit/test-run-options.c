/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "cli/command-table.h"
#include "cli/run-call.h"

#include "tap.h"

static struct fault fault;

static struct command_call call;

/* O is a copy of the call's options; the call owns their lists. */
static int parse(const struct option *table, struct run_options *o, const char *const *words)
{
	const struct option_set set = { .options = table,
					.help = "custody help run",
					.end_at_first_argument = true };
	int r;

	fault_done(&fault);
	run_options_done(&call.run);
	strv_free(call.env_files);
	free(call.args);
	call = COMMAND_CALL_NONE;
	run_options_init(&call.run);
	call.words = (char *const *)words;
	r = option_parse(&set, call.words + 1, &call, &call.args, &fault);
	if (r == 0) {
		call.n_args = strv_len(call.args);
		r = run_call_finish(&call, &fault);
	}
	*o = call.run;
	return r;
}
#define PARSE(o, ...) parse(run_table, o, (const char *const[]){ "run", __VA_ARGS__, NULL })

static bool reports(const char *text)
{
	return fault.text && strstr(fault.text, text);
}

static void defaults_are_the_strictest(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "true") == 0);
	CHECK(!o.profile);
	CHECK(o.argv && str_eq(o.argv[0], "true"));
	CHECK(!o.set_memory && !o.network && !o.terminal && o.status_fd < 0);
}

static void both_spellings_of_a_value(void)
{
	struct run_options o;

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
	struct run_options o;

	CHECK(PARSE(&o, "-tq", "-e", "A=1", "-eB", "--env=C=", "-v", "/a:/b", "sh") == 0);
	CHECK(o.terminal && o.quiet);
	CHECK(strv_len(o.env) == 3 && str_eq(o.env[0], "A=1") && str_eq(o.env[1], "B") &&
	      str_eq(o.env[2], "C="));
	CHECK(strv_len(o.volumes) == 1);
}

static void options_end_at_the_command(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "-q", "ls", "--json") == 0);
	CHECK(!o.json && str_eq(o.argv[1], "--json"));
}

static void a_missing_command_is_null(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "-q", "--") == 0);
	CHECK(o.argv == NULL);
}

static void unknown_option_names_the_nearest(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "--profil", "x", "true") == -EINVAL);
	CHECK(reports("--profile"));
	CHECK(PARSE(&o, "-Z", "true") == -EINVAL);
	CHECK(reports("-Z"));
}

static void a_detached_run_has_no_terminal(void)
{
	static const char *const both[][2] = { { "-d", "-t" }, { "-t", "--detach" }, { "-dt", "-q" } };

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		struct run_options o;

		CHECK(PARSE(&o, both[i][0], both[i][1], "true") == -EINVAL);
		CHECK(reports("cannot be used together"));
	}
	struct run_options o;
	CHECK(PARSE(&o, "-d", "true") == 0 && o.detach && o.detach_fd < 0);
}

static void later_capabilities_are_refused_by_name(void)
{
	static const char *const later[] = { "--project", "--intent", "--task" };

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct run_options o;

		CHECK(PARSE(&o, later[i], "true") == -ENOTSUP);
		CHECK(reports("not in this version of custody"));
	}
}

static void governance_options_are_passed_on(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "--lane=prod", "--allow-prod", "--wait=2m", "--grant", "/", "--grant=/etc",
		    "--provenance=web_content", "--seal-tree", "-y", "true") == 0);
	CHECK(str_eq(o.lane, "prod") && o.allow_prod && o.wait && o.wait_s == 120 && o.seal_tree && o.yes);
	CHECK(strv_len(o.grants) == 2 && strv_len(o.provenance) == 1 && str_eq(o.argv[0], "true"));
	/* The time of --wait is optional: the next word is the command's. */
	CHECK(PARSE(&o, "--wait", "true") == 0);
	CHECK(o.wait && o.wait_s == 0 && str_eq(o.argv[0], "true"));
	CHECK(PARSE(&o, "--wait=soon", "true") == -EINVAL);
	CHECK(PARSE(&o, "--no-seal", "--seal-tree", "true") == -EINVAL);
}

static void bad_values_are_refused(void)
{
	static const char *const bad[] = { "--memory=lots",    "--memory=1",	  "--memory=1048575",
					   "--memory=",	       "--cpus=0.001",	  "--cpus=x",
					   "--cpus=1.5x",      "--pids-limit=-1", "--timeout=5 s",
					   "--network=bridge", "--status-fd=999", "--quiet=yes",
					   "--memory" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct run_options o;
		int r = PARSE(&o, bad[i]);

		if (r >= 0)
			printf("# %s was accepted\n", bad[i]);
		CHECK(r < 0 && fault.text);
	}
}

static void zero_removes_a_limit(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "--memory=0", "--cpus=0", "--pids-limit=0", "--timeout=0", "true") == 0);
	CHECK(o.set_memory && o.memory == 0 && o.set_cpu && o.cpu_percent == 0);
}

static void a_mistake_names_the_right_form(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "--memory=1", "true") < 0 && reports("at least 1048576, or 0 for no limit"));
	CHECK(PARSE(&o, "--memory=1M", "true") == 0);
	CHECK(PARSE(&o, "--memory=lots", "true") < 0 && reports("'lots' is not a size (use 512M, 2G"));
	CHECK(PARSE(&o, "--timeout=5x", "true") < 0 && reports("'5x' is not a duration (use 90s, 30m, 2h"));
	CHECK(PARSE(&o, "--wait=x", "true") < 0 && reports("'x' is not a duration"));
	CHECK(PARSE(&o, "--cpus=two", "true") < 0 && reports("'two' is not a decimal number"));
	CHECK(PARSE(&o, "--pids-limit=-1", "true") < 0 && reports("'-1' is not a number"));
	CHECK(PARSE(&o, "--grant=/no/such/grant", "true") < 0 && reports("--grant '/no/such/grant'"));
}

/* Options of `docker run` that people type by habit. */
static void docker_spellings_that_work(void)
{
	struct run_options o;

	CHECK(PARSE(&o, "-it", "--rm", "--init", "--interactive", "--volume=/a:/b", "--env", "A=1",
		    "--workdir", "/x", "--memory", "512m", "--cpus", "2", "--hostname", "h", "sh") == 0);
	CHECK(o.terminal && strv_len(o.volumes) == 1 && strv_len(o.env) == 1 && str_eq(o.workdir, "/x"));
	CHECK(PARSE(&o, "--tty", "sh") == 0 && o.terminal);
	CHECK(PARSE(&o, "--detach", "--rm", "sh") == 0 && o.detach);
}

static void docker_spellings_that_do_not_get_an_answer(void)
{
	static const char *const refused[][2] = {
		{ "--publish", "--network host" },
		{ "--entrypoint=sh", "custody run -- PROGRAM" },
		{ "--user", "process.user" },
		{ "-u", "process.user" },
		{ "--gpus", "devices" },
		{ "--privileged", "dangerous" },
		{ "--cap-add", "capabilities" },
		{ "--cap-drop", "already" },
		{ "--mount", "--volume" },
		{ "--platform", "no images" },
		{ "--pull", "no images" },
		{ "--restart", "systemd" },
		{ "--read-only", "read-only already" },
		{ "--net", "--network" },
		{ "-P", "--network host" },
		{ "--label", "--name" },
		{ "--tmpfs", "filesystem.tmpfs" },
		{ "--device", "devices" },
		{ "--security-opt", "seccomp" },
		{ "--memory-swap", "--memory" },
	};
	static const struct option *const tables[] = { run_table, shell_table, check_table, bundle_table };

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
			struct run_options o;

			CHECK(parse(tables[t], &o,
				    (const char *const[]){ "run", refused[i][0], "x", NULL }) == -ENOTSUP);
			CHECK(reports(refused[i][1]) && !strchr(fault.text, '\n'));
		}
}

static void a_port_is_no_profile(void)
{
	static const char *const ports[] = { "8080:80", "127.0.0.1:8080:80", "53:53/udp" };
	struct run_options o;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		CHECK(PARSE(&o, "-p", ports[i], "true") == -ENOTSUP);
		CHECK(reports("-p is --profile") && reports("--network host"));
	}
	CHECK(PARSE(&o, "-p", "build", "true") == 0 && str_eq(o.profile, "build"));
	CHECK(PARSE(&o, "-p8", "true") == 0 && str_eq(o.profile, "8"));
}

static void variables_come_from_a_file(void)
{
	char path[] = "/tmp/test-run-options-XXXXXX", text[] = "# comment\n\nA=from file\nB=b=c\nHOME\n";
	struct run_options o;
	int fd = mkstemp(path);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	CHECK(n == (ssize_t)strlen(text));
	CHECK(PARSE(&o, "-e", "A=mine", "--env-file", path, "true") == 0);
	/* Those of --env come last: the last value of a name counts. */
	CHECK(strv_len(o.env) == 4 && str_eq(o.env[0], "A=from file") && str_eq(o.env[1], "B=b=c"));
	CHECK(str_eq(o.env[2], "HOME") && str_eq(o.env[3], "A=mine"));
	n = pwrite(fd, "A B=1\n", 6, 0);
	CHECK(n == 6 && PARSE(&o, "--env-file", path, "true") == -EINVAL && reports("line 1"));
	(void)close(fd);
	(void)unlink(path);
	CHECK(PARSE(&o, "--env-file", path, "true") == -ENOENT);
}

TAP_MAIN(T(docker_spellings_that_work), T(docker_spellings_that_do_not_get_an_answer),
	 T(a_port_is_no_profile), T(variables_come_from_a_file), T(a_mistake_names_the_right_form),
	 T(defaults_are_the_strictest), T(both_spellings_of_a_value), T(lists_and_joined_letters),
	 T(options_end_at_the_command), T(a_missing_command_is_null), T(unknown_option_names_the_nearest),
	 T(a_detached_run_has_no_terminal), T(later_capabilities_are_refused_by_name),
	 T(governance_options_are_passed_on), T(bad_values_are_refused), T(zero_removes_a_limit))
