/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"

enum kind {
	KIND_FLAG,
	KIND_TEXT,
	KIND_LIST,
	KIND_SIZE,
	KIND_TIME,
	KIND_CPUS,
	KIND_COUNT,
	KIND_FD,
	KIND_WAIT,	 /* a flag that may have a time behind '=' */
	KIND_LATER_TEXT, /* of a later capability */
};

struct option {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;	  /* 0: none */
	enum kind kind;
	size_t at;     /* offset of the value */
	size_t set_at; /* offset of the "was given" flag, 0: none */
	const char *arg, *help;
};

#define MEMORY_MIN (UINT64_C(1) << 20) /* as a profile's limits.memory */

#define AT(field) offsetof(struct run_options, field)

/* clang-format off */
static const struct option table[] = {
	{ "profile",    'p', KIND_TEXT,  AT(profile),     0,               "NAME",      "what the command may do (default: offline)" },
	{ "timeout",     0,  KIND_TIME,  AT(timeout_s),   AT(set_timeout), "TIME",      "end it after TIME (90s, 30m, 2h); 0: no limit" },
	{ "memory",     'm', KIND_SIZE,  AT(memory),      AT(set_memory),  "SIZE",      "limit of memory and swap (512M, 2G)" },
	{ "cpus",        0,  KIND_CPUS,  AT(cpu_percent), AT(set_cpu),     "N",         "limit of processors (0.5, 2)" },
	{ "pids-limit",  0,  KIND_COUNT, AT(pids),        AT(set_pids),    "N",         "limit of processes, init included" },
	{ "network",     0,  KIND_TEXT,  AT(network),     0,               "none|host", "network that it sees" },
	{ "env",        'e', KIND_LIST,  AT(env),         0,               "N[=VALUE]", "set or pass a variable" },
	{ "volume",     'v', KIND_LIST,  AT(volumes),     0,               "SRC:DST[:ro|rw]", "show it a directory or file of the host" },
	{ "workdir",    'w', KIND_TEXT,  AT(workdir),     0,               "DIR",       "directory inside to start in" },
	{ "sandbox",     0,  KIND_TEXT,  AT(sandbox),     0,               "NAME",      "work in the sandbox root NAME, which stays; 'default' is the shared one" },
	{ "hostname",    0,  KIND_TEXT,  AT(hostname),    0,               "NAME",      "host name inside" },
	{ "detach",     'd', KIND_FLAG,  AT(detach),      0,               NULL,        "print the session's id and let it run by itself; see 'custody logs', 'custody stop'" },
	{ "tty",        't', KIND_FLAG,  AT(terminal),    0,               NULL,        "give it a terminal of its own" },
	{ "name",        0,  KIND_TEXT,  AT(name),        0,               "NAME",      "name of the run, for the result and 'custody sessions'" },
	{ "agent",       0,  KIND_TEXT,  AT(agent),       0,               "NAME",      "on whose behalf, for the result" },
	{ "worker",      0,  KIND_TEXT,  AT(worker),      0,               "NAME",      "which worker of the agent" },
	{ "issue",       0,  KIND_TEXT,  AT(issue),       0,               "ID",        "what it is about" },
	{ "lane",        0,  KIND_TEXT,  AT(lane),        0,               "NAME",      "sandbox (default) or prod" },
	{ "allow-prod",  0,  KIND_FLAG,  AT(allow_prod),  0,               NULL,        "one of the two keys of the lane prod; CUSTODY_ALLOW_PROD is the other" },
	{ "provenance",  0,  KIND_LIST,  AT(provenance),  0,               "NAME",      "where the command comes from: tool_output, web_content or unknown; may only raise the level" },
	{ "wait",        0,  KIND_WAIT,  AT(wait_s),      AT(wait),        "[=TIME]",   "wait until somebody approves, instead of ending with 114" },
	{ "grant",       0,  KIND_LIST,  AT(grants),      0,               "FILE",      "an approval that was signed elsewhere" },
	{ "no-seal",     0,  KIND_FLAG,  AT(no_seal),     0,               NULL,        "do not seal the files that the command names" },
	{ "seal-tree",   0,  KIND_FLAG,  AT(seal_tree),   0,               NULL,        "hash the whole worktree into what is approved" },
	{ "yes",        'y', KIND_FLAG,  AT(yes),         0,               NULL,        "answer the question of a level B with yes; never that of a C" },
	{ "dry-run",     0,  KIND_FLAG,  AT(dry_run),     0,               NULL,        "print config.json, run nothing, write nothing" },
	{ "json",        0,  KIND_FLAG,  AT(json),        0,               NULL,        "print the result as the last line of stdout" },
	{ "result",      0,  KIND_TEXT,  AT(result),      0,               "FILE",      "write the result to FILE" },
	{ "status-fd",   0,  KIND_FD,    AT(status_fd),   0,               "N",         "write events to descriptor N, a line of JSON each" },
	{ "quiet",      'q', KIND_FLAG,  AT(quiet),       0,               NULL,        "say nothing of our own on stderr" },
	{ "verbose",     0,  KIND_FLAG,  AT(verbose),     0,               NULL,        "say more on stderr" },
	{ "help",       'h', KIND_FLAG,  AT(help),        0,               NULL,        "list the options" },
	{ "project",     0,  KIND_LATER_TEXT, 0, 0, NULL, NULL },
	{ "intent",      0,  KIND_LATER_TEXT, 0, 0, NULL, NULL },
	{ "task",        0,  KIND_LATER_TEXT, 0, 0, NULL, NULL },
	{ 0 },
};
/* clang-format on */

void options_init(struct run_options *o)
{
	*o = (struct run_options){
		.profile = "offline", .status_fd = -EBADF, .detach_fd = -EBADF, .stdio = { 0, 1, 2 }
	};
}

void options_done(struct run_options *o)
{
	strv_free(o->env);
	strv_free(o->volumes);
	strv_free(o->grants);
	strv_free(o->provenance);
	o->env = o->volumes = o->grants = o->provenance = NULL;
}

static const struct option *find_name(const char *name, size_t len)
{
	for (const struct option *e = table; e->name; e++)
		if (strlen(e->name) == len && memcmp(e->name, name, len) == 0)
			return e;
	return NULL;
}

static const struct option *find_letter(char letter)
{
	for (const struct option *e = table; e->name; e++)
		if (e->letter && e->letter == letter)
			return e;
	return NULL;
}

static int refuse_unknown(const char *word, struct fault *f)
{
	const char *names[ARRAY_SIZE(table)] = { 0 };
	_cleanup_free_ char *name = strndup(word + 2, strcspn(word + 2, "="));
	size_t n = 0;
	int near;

	for (const struct option *e = table; e->name; e++)
		if (e->help)
			names[n++] = e->name;
	near = name && str_starts(word, "--") ? str_nearest(name, names) : -1;
	if (near >= 0)
		return fault_set(f, EINVAL, "no option '%s'; did you mean '--%s'?", word, names[near]);
	return fault_set(f, EINVAL, "no option '%s'; 'custody help run' lists them", word);
}

/* "1.5" -> 150. */
static int parse_cpus(const char *text, uint64_t *ret)
{
	uint64_t whole = 0, part = 0;
	const char *c = text;

	for (; isdigit((unsigned char)*c); c++)
		if ((whole = whole * 10 + (uint64_t)(*c - '0')) > 100000)
			return -ERANGE;
	if (c == text)
		return -EINVAL;
	if (*c == '.') {
		c++;
		for (uint64_t weight = 10; isdigit((unsigned char)*c); c++, weight /= 10)
			part += weight * (uint64_t)(*c - '0');
	}
	if (*c)
		return -EINVAL;
	*ret = whole * 100 + part;
	/* Less than a hundredth of a processor is not nothing: it would read as "no limit". */
	return *ret || strspn(text, "0.") == strlen(text) ? 0 : -ERANGE;
}

/* Docker writes 512m, profiles 512M. */
static int parse_size(const char *text, uint64_t *ret)
{
	_cleanup_free_ char *upper = strdup(text);

	if (!upper)
		return -ENOMEM;
	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return str_to_size(upper, ret);
}

static int parse_fd(const char *text, int *ret)
{
	uint64_t fd = 0;

	if (str_to_u64(text, &fd) < 0 || fd > 65535 || fcntl((int)fd, F_GETFD) < 0)
		return -EBADF;
	*ret = (int)fd;
	return 0;
}

static const char *kind_text(enum kind kind)
{
	if (kind == KIND_SIZE)
		return "size: 512M, 2G, or bytes";
	if (kind == KIND_CPUS)
		return "number of processors: 2, 0.5, or 0 for no limit";
	return kind == KIND_TIME || kind == KIND_WAIT ? "time: 90s, 30m, 2h, or seconds" : "number";
}

static int set_value(struct run_options *o, const struct option *e, const char *value, struct fault *f)
{
	char *base = (char *)o;
	int r = 0;

	switch (e->kind) {
	case KIND_FLAG:
		*(bool *)(base + e->at) = true;
		break;
	case KIND_TEXT:
		*(const char **)(base + e->at) = value;
		break;
	case KIND_LIST:
		r = strv_append((char ***)(base + e->at), value);
		break;
	case KIND_SIZE:
		r = parse_size(value, (uint64_t *)(base + e->at));
		break;
	case KIND_TIME:
		r = str_to_seconds(value, (uint64_t *)(base + e->at));
		break;
	case KIND_WAIT:
		r = value ? str_to_seconds(value, (uint64_t *)(base + e->at)) : 0;
		break;
	case KIND_CPUS:
		r = parse_cpus(value, (uint64_t *)(base + e->at));
		break;
	case KIND_COUNT:
		r = str_to_u64(value, (uint64_t *)(base + e->at));
		break;
	case KIND_FD:
		r = parse_fd(value, (int *)(base + e->at));
		if (r < 0)
			return fault_set(f, EBADF, "--%s %s: no open descriptor has this number", e->name,
					 value);
		break;
	case KIND_LATER_TEXT:
		return fault_set(f, ENOTSUP, "--%s is not in this version of custody", e->name);
	}
	/* All of these end in the result, which is JSON. */
	if (value && !str_is_utf8(value, strlen(value)))
		return fault_set(f, EILSEQ, "--%s: '%s' is not UTF-8", e->name, value);
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "--%s", e->name);
	if (r < 0)
		return fault_set(f, EINVAL, "--%s: '%s' is no %s", e->name, value, kind_text(e->kind));
	if (e->set_at)
		*(bool *)(base + e->set_at) = true;
	return 0;
}

static bool wants_value(const struct option *e)
{
	return e->kind != KIND_FLAG && e->kind != KIND_WAIT && e->kind != KIND_LATER_TEXT;
}

static int parse_long(struct run_options *o, char **argv, int *i, struct fault *f)
{
	const char *word = argv[*i], *name = word + 2, *equals = strchr(name, '=');
	const struct option *e = find_name(name, equals ? (size_t)(equals - name) : strlen(name));
	const char *value = equals ? equals + 1 : NULL;

	if (!e)
		return refuse_unknown(word, f);
	if (!wants_value(e) && value && e->kind == KIND_FLAG)
		return fault_set(f, EINVAL, "--%s takes no value", e->name);
	if (wants_value(e) && !value) {
		value = argv[*i + 1];
		if (!value)
			return fault_set(f, EINVAL, "--%s needs a value: %s", e->name, e->arg);
		(*i)++;
	}
	return set_value(o, e, value, f);
}

static int parse_letters(struct run_options *o, char **argv, int *i, struct fault *f)
{
	const char *word = argv[*i];

	for (const char *c = word + 1; *c; c++) {
		const struct option *e = find_letter(*c);
		const char *value = c + 1;
		int r;

		if (!e)
			return refuse_unknown(word, f);
		if (!wants_value(e)) {
			r = set_value(o, e, NULL, f);
			if (r < 0)
				return r;
			continue;
		}
		if (!*value) {
			value = argv[*i + 1];
			if (!value)
				return fault_set(f, EINVAL, "-%c needs a value: %s", *c, e->arg);
			(*i)++;
		}
		return set_value(o, e, value, f);
	}
	return 0;
}

int options_parse(struct run_options *o, int argc, char **argv, struct fault *f)
{
	int i, r;

	o->words = argv;
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		r = argv[i][1] == '-' ? parse_long(o, argv, &i, f) : parse_letters(o, argv, &i, f);
		if (r < 0)
			return r;
	}
	if (o->network && strcmp(o->network, "none") != 0 && strcmp(o->network, "host") != 0)
		return fault_set(f, EINVAL, "--network: '%s' is neither none nor host", o->network);
	if (o->memory && o->memory < MEMORY_MIN)
		return fault_set(f, ERANGE,
				 "--memory: %" PRIu64 " bytes are too few: at least 1M, or 0 for no limit",
				 o->memory);
	if (o->no_seal && o->seal_tree)
		return fault_set(f, EINVAL, "--no-seal and --seal-tree contradict each other");
	if (o->detach && o->terminal)
		return fault_set(f, EINVAL,
				 "-d and -t contradict each other: who detaches leaves no terminal behind");
	/* It may not be needed; who names it means it all the same. */
	for (char **file = o->grants; file && *file; file++)
		if (access(*file, R_OK) < 0)
			return fault_errno(f, errno, "--grant '%s'", *file);
	o->argv = i < argc ? argv + i : NULL;
	return 0;
}

void options_print(FILE *out)
{
	for (const struct option *e = table; e->name; e++) {
		char left[48];

		if (!e->help)
			continue;
		(void)snprintf(left, sizeof(left), "%c%c%c --%s%s%s", e->letter ? '-' : ' ',
			       e->letter ? e->letter : ' ', e->letter ? ',' : ' ', e->name,
			       e->kind == KIND_WAIT ? "" : " ", e->arg ? e->arg : "");
		fprintf(out, "  %-32s %s\n", left, e->help);
	}
}
