/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/dispatch.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/exit-status.h"
#include "base/process.h"
#include "base/str.h"
#include "cli/command-help.h"
#include "cli/command-lane.h"
#include "state/lane.h"

#define COMMANDS_MAX 64

const struct command *dispatch_find(const struct command *table, const char *name)
{
	for (const struct command *c = table; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Words of docker and of the shell for commands of ours. */
static const struct {
	const char *word, *command;
} aliases[] = {
	{ "ps", "sessions" }, { "ls", "sessions" },	  { "kill", "stop" },
	{ "rm", "discard" },  { "--version", "version" }, { "-V", "version" },
};

const char *dispatch_name(const char *word)
{
	if (is_help(word))
		return "help";
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strcmp(aliases[i].word, word) == 0)
			return aliases[i].command;
	return word;
}

/* Commands of docker without one of ours: an answer by name. */
static const struct {
	const char *word, *answer;
} foreign[] = {
	{ "inspect", "use 'custody show SESSION'" },
	{ "attach", "use 'custody logs -f SESSION'" },
	{ "start", "a session runs once; use 'custody run'" },
	{ "restart", "a session runs once; use 'custody run'" },
	{ "create", "use 'custody run', or 'custody bundle -o DIR -- COMMAND'" },
	{ "images", "custody has no images: 'custody profile ls' lists the profiles" },
	{ "pull", "custody has no images: 'custody profile ls' lists the profiles" },
	{ "build", "custody has no images: to build in a sandbox use 'custody run -- COMMAND'" },
	{ "cp", "use 'custody diff' and 'custody apply', or 'custody evidence restore'" },
	{ "cat", "use 'custody diff' and 'custody apply', or 'custody evidence restore'" },
	{ "sudo", "to run a command: custody run -- COMMAND" },
	{ "cd", "the worktree is the current directory: use cd of your shell" },
};

static const char *answer_for(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		if (strcmp(foreign[i].word, word) == 0)
			return foreign[i].answer;
	return NULL;
}

int dispatch_refuse(const struct command *table, const struct command *group, const char *name, FILE *err)
{
	_cleanup_free_ char *shown = str_escape(name);
	const char *names[COMMANDS_MAX + 1] = { NULL }, *of = group ? group->name : "";
	size_t n = 0;
	int near;

	for (const struct command *c = table; c->name && n < COMMANDS_MAX; c++)
		names[n++] = c->name;
	near = str_nearest(name, names);
	fprintf(err, PACKAGE_NAME "%s%s: unknown command '%s'; ", *of ? " " : "", of, shown ? shown : "?");
	if (!group && answer_for(name))
		fprintf(err, "%s\n", answer_for(name));
	else if (near >= 0)
		fprintf(err, "did you mean '" PACKAGE_NAME " %s%s%s'?\n", of, *of ? " " : "", names[near]);
	else
		fprintf(err, "'" PACKAGE_NAME " help%s%s' lists them\n", *of ? " " : "", of);
	return STATUS_USAGE;
}

static int usage_status(const struct command *c)
{
	return c->flags & COMMAND_FAILS_125 ? STATUS_FAILED : STATUS_USAGE;
}

/* Messages may quote names from a hostile tree: control characters are escaped. */
static void report(const struct command_call *c, const char *text, FILE *err)
{
	_cleanup_free_ char *shown = str_escape(text);

	fprintf(err, PACKAGE_NAME " %s%s%s: %s\n", c->group ? c->group->name : "", c->group ? " " : "",
		c->command->name, shown ? shown : "out of memory");
}

int dispatch_usage(const struct command_call *c, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	report(c, text ? text : "out of memory", stderr);
	return usage_status(c->command);
}

static void call_done(struct command_call *c)
{
	run_options_done(&c->run);
	strv_free(c->env_files);
	strv_free(c->k0);
	strv_free(c->allow);
	strv_free(c->hosts);
	strv_free(c->from_checkpoint);
	config_free(c->config);
	lane_pass_free(c->pass);
	dirs_done(&c->dirs);
	free(c->args);
}

static int require_count(const struct command_call *c, struct fault *f)
{
	const struct command *x = c->command;
	_cleanup_strbuf_ struct strbuf usage = { 0 };

	if (c->n_args >= (size_t)x->min_args && (x->max_args < 0 || c->n_args <= (size_t)x->max_args))
		return 0;
	command_help_usage(&usage, c->group, x);
	if (usage.broken)
		return fault_errno(f, ENOMEM, "command line");
	if (c->n_args < (size_t)x->min_args)
		return fault_set(f, EINVAL, "missing argument; usage: %s", usage.text);
	return fault_set(f, EINVAL, "unexpected argument '%s'; usage: %s", c->args[x->max_args], usage.text);
}

/* OPTION_HELP, 0, or negative errno. */
static int parse(struct command_call *c, char *const *words, struct fault *f)
{
	char help[64];
	const struct option_set set = { .options = c->command->options,
					.help = help,
					.end_at_first_argument =
						(c->command->flags & COMMAND_OPTIONS_FIRST) != 0 };
	int r;

	(void)snprintf(help, sizeof(help), PACKAGE_NAME " help %s%s%s", c->group ? c->group->name : "",
		       c->group ? " " : "", c->command->name);
	r = option_parse(&set, words, c, &c->args, f);
	if (r != 0)
		return r;
	c->n_args = strv_len(c->args);
	return require_count(c, f);
}

static bool needs_keys(const struct command_call *c)
{
	if (c->command->flags & COMMAND_PROD_ALL)
		return c->all;
	return (c->command->flags & COMMAND_PROD) && !c->dry_run;
}

/* The table says which commands change the state of a lane; the gate is passed before any of them runs. */
static int open_lane(struct command_call *c, struct fault *f)
{
	int r = config_open(c->lane, &c->dirs, &c->config, f);

	if (r < 0 || !needs_keys(c))
		return r;
	r = command_lane_enter(c, f);
	return r < 0 ? r : command_lane_record(c, NULL, f);
}

static int run_call(struct command_call *c, char *const *words, FILE *err)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = parse(c, words, &f);

	if (r == OPTION_HELP)
		return command_help_print(c->group, c->command, stdout);
	if (r < 0) {
		report(c, fault_text(&f), err);
		return usage_status(c->command);
	}
	if (c->command->flags & COMMAND_ACTS)
		process_ignore_sigpipe();
	if (c->command->flags & COMMAND_LANE)
		r = open_lane(c, &f);
	if (r == 0)
		r = c->command->run(c, &f);
	if (r >= 0)
		return r;
	report(c, fault_text(&f), err);
	return r == -LANE_REFUSED ? STATUS_LANE : STATUS_FAILED;
}

static int refuse_missing(const struct command *group, FILE *err)
{
	fprintf(err, PACKAGE_NAME "%s%s: missing command; '" PACKAGE_NAME " help%s%s' lists them\n",
		group ? " " : "", group ? group->name : "", group ? " " : "", group ? group->name : "");
	return STATUS_USAGE;
}

int dispatch_run(const struct command *table, int argc, char **argv, FILE *err)
{
	_cleanup_(call_done) struct command_call c = COMMAND_CALL_NONE;
	char **words = argv + 2;
	int r;

	if (argc < 2)
		return refuse_missing(NULL, err);
	run_options_init(&c.run);
	c.words = argv + 1;
	c.command = dispatch_find(table, dispatch_name(argv[1]));
	if (!c.command)
		return dispatch_refuse(table, NULL, argv[1], err);
	if (c.command->subs) {
		c.group = c.command;
		if (!*words)
			return refuse_missing(c.group, err);
		if (is_help(*words))
			return command_help_print(NULL, c.group, stdout);
		c.command = dispatch_find(c.group->subs, strcmp(*words, "list") == 0 ? "ls" : *words);
		if (!c.command)
			return dispatch_refuse(c.group->subs, c.group, *words, err);
		words++;
	}
	r = run_call(&c, words, err);
	return r;
}
