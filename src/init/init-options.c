/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-options.h"

#include <errno.h>
#include <string.h>

#include "layer/layer.h"

static int refuse(struct line *why, const char *text, const char *name)
{
	line_put(why, text);
	if (name) {
		line_put(why, " '");
		line_put(why, name);
		line_put(why, "'");
	}
	return -EINVAL;
}

static int parse_require(char *list, struct init_options *o, struct line *why)
{
	while (list && *list) {
		char *comma = strchr(list, ',');
		int layer;

		if (comma)
			*comma = '\0';
		layer = layer_from_name(list);
		if (layer < 0)
			return refuse(why, "--require: unknown layer", list);
		if (layer >= LAYER_MEMORY_LIMIT)
			return refuse(why, "--require: layer cannot be proven from inside:", list);
		o->require |= LAYER_BIT(layer);
		list = comma ? comma + 1 : NULL;
	}
	return 0;
}

static int parse_work(char *value, struct init_options *o, struct line *why)
{
	static const char names[][16] = {
		[INIT_WORK_OVERLAY] = "overlay",
		[INIT_WORK_RO] = "ro",
		[INIT_WORK_RW] = "rw",
		[INIT_WORK_TMPFS] = "tmpfs",
		[INIT_WORK_FUSE] = "overlay-fuse",
	};
	char *colon = NULL;

	for (char *c = value; *c; c++) /* the last one: a path may hold colons */
		if (*c == ':')
			colon = c;
	if (value[0] != '/' || !colon)
		return refuse(why, "--work: expected PATH:MODE, not", value);
	*colon = '\0';
	for (unsigned int m = INIT_WORK_NONE + 1; m < ARRAY_SIZE(names); m++)
		if (strcmp(colon + 1, names[m]) == 0)
			o->work = (enum init_work)m;
	if (o->work == INIT_WORK_NONE)
		return refuse(why, "--work: unknown mode", colon + 1);
	o->work_path = value;
	return 0;
}

/* Whole seconds, as milliseconds. */
static bool take_seconds(const char **at, uint64_t *ret_ms)
{
	uint64_t v = 0;
	const char *c = *at;

	for (; *c >= '0' && *c <= '9' && v < 1000000000; c++)
		v = v * 10 + (unsigned int)(*c - '0');
	if (c == *at)
		return false;
	*at = c;
	*ret_ms = v * 1000;
	return true;
}

static int parse_time(const char *value, struct init_options *o, struct line *why)
{
	const char *at = value;

	if (!take_seconds(&at, &o->time_ms) || *at++ != ':' || !take_seconds(&at, &o->grace_ms) || *at)
		return refuse(why, "--time: expected SECONDS:GRACE, not", value);
	return 0;
}

static int parse_number(const char *value, uint64_t *ret, struct line *why)
{
	uint64_t v = 0;
	const char *c = value;

	for (; *c >= '0' && *c <= '9' && v < UINT64_MAX / 100; c++)
		v = v * 10 + (unsigned int)(*c - '0');
	if (c == value || *c)
		return refuse(why, "not a number:", value);
	*ret = v;
	return 0;
}

static int parse_path(const char *path, const char **list, unsigned int *n, struct line *why)
{
	if (path[0] != '/')
		return refuse(why, "not an absolute path:", path);
	if (*n == INIT_WRITABLE_MAX)
		return refuse(why, "too many mounts at", path);
	list[(*n)++] = path;
	return 0;
}

static int parse_cwd(const char *path, struct init_options *o, struct line *why)
{
	if (path[0] != '/')
		return refuse(why, "not an absolute path:", path);
	o->cwd = path;
	return 0;
}

static int parse_tty(const char *digits, struct init_options *o, struct line *why)
{
	for (const char *c = digits; *c; c++) {
		if (*c < '0' || *c > '2')
			return refuse(why, "--tty: expected descriptors 0 to 2, not", digits);
		o->tty |= 1U << (*c - '0');
	}
	return o->tty ? 0 : refuse(why, "--tty: expected a descriptor", NULL);
}

static char *after(char *arg, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(arg, prefix, n) == 0 ? arg + n : NULL;
}

static int parse_option(char *arg, struct init_options *o, struct line *why)
{
	char *value;

	if (strcmp(arg, "--report") == 0)
		o->report = true;
	else if (strcmp(arg, "--gate") == 0)
		o->gate = true;
	else if (strcmp(arg, "--plain-root") == 0)
		o->plain_root = true;
	else if (strcmp(arg, "--seccomp-kills") == 0)
		o->seccomp_kills = true;
	else if (strcmp(arg, "--trace") == 0)
		o->trace = true;
	else if (strcmp(arg, "--egress") == 0)
		o->egress = true;
	else if ((value = after(arg, "--tty=")))
		return parse_tty(value, o, why);
	else if ((value = after(arg, "--require=")))
		return parse_require(value, o, why);
	else if ((value = after(arg, "--work=")))
		return parse_work(value, o, why);
	else if ((value = after(arg, "--tmpfs=")))
		return parse_path(value, o->tmpfs, &o->n_tmpfs, why);
	else if ((value = after(arg, "--rw=")))
		return parse_path(value, o->rw, &o->n_rw, why);
	else if ((value = after(arg, "--tree=")))
		return parse_path(value, o->tree, &o->n_tree, why);
	else if ((value = after(arg, "--hide=")))
		return parse_path(value, o->hide, &o->n_hide, why);
	else if ((value = after(arg, "--time=")))
		return parse_time(value, o, why);
	else if ((value = after(arg, "--files=")))
		return parse_number(value, &o->files, why);
	else if ((value = after(arg, "--file-size=")))
		return parse_number(value, &o->file_size, why);
	else if ((value = after(arg, "--cwd=")))
		return parse_cwd(value, o, why);
	else if ((value = after(arg, "--env=")))
		o->env = value;
	else if ((value = after(arg, "--uid-map=")))
		o->uid_map = value;
	else if ((value = after(arg, "--gid-map=")))
		o->gid_map = value;
	else
		return refuse(why, "unknown option", arg);
	return 0;
}

int options_parse(char **argv, char **envp, struct init_options *o, struct line *why)
{
	int r;

	o->environment = envp;
	while (argv[0] && *++argv && strcmp(*argv, "--") != 0) {
		r = parse_option(*argv, o, why);
		if (r < 0)
			return r;
	}
	if (!argv[0] || !argv[1])
		return refuse(why, "missing command; usage: custody-init [OPTION]... -- COMMAND [ARG]...",
			      NULL);
	if (o->tty && !o->report)
		return refuse(why, "--tty requires --report: another runtime opens the terminal itself",
			      NULL);
	if (o->trace && !o->report)
		return refuse(why, "--trace requires --report: the supervisor observes", NULL);
	if (o->egress && !o->report)
		return refuse(why, "--egress requires --report: the supervisor prepares the network", NULL);
	if (o->gate && o->report)
		return refuse(why,
			      "--gate and --report exclude each other: one supervisor releases the command",
			      NULL);
	o->command = argv + 1;
	return 0;
}
