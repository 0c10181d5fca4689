/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-options.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"

/* A verb and its arguments.  `in_order`: options end at the first other word (exec ID CMD -x). */
struct verb_spec {
	const char *name;
	const char *args, *help;
	int min_args, max_args; /* -1: unlimited */
	bool in_order;
};

enum kind {
	FLAG,	      /* bool; also --flag=true, --flag=false */
	TEXT,	      /* const char * */
	COUNT,	      /* unsigned int */
	LIST,	      /* struct runtime_list */
	SKIPPED_FLAG, /* accepted and ignored, because engines and scripts pass it */
	SKIPPED_TEXT,
};

struct option_spec {
	const char *name;
	char letter;
	enum kind kind;
	size_t at; /* offset in struct runtime_options */
	uint32_t verbs;
	const char *value, *help;
};

#define V(verb) (UINT32_C(1) << VERB_##verb)
#define AT(field) offsetof(struct runtime_options, field)
#define AT_LIMIT(limit) (AT(limits) + LIMIT_##limit * sizeof(const char *))

/* clang-format off */
static const struct verb_spec verbs[VERB_MAX_] = {
	[VERB_NONE]       = { "",           "",              "",                                          0, -1, true  },
	[VERB_CHECKPOINT] = { "checkpoint", "ID",            "not in this libcrun: always fails",         0, -1, false },
	[VERB_CREATE]     = { "create",     "ID",            "create a container; its process waits",     1,  1, false },
	[VERB_DELETE]     = { "delete",     "ID",            "remove a stopped container",                1,  1, false },
	[VERB_EXEC]       = { "exec",       "ID [CMD...]",   "run a process in a running container",      1, -1, true  },
	[VERB_FEATURES]   = { "features",   "",              "print the features as JSON",                0,  0, false },
	[VERB_HELP]       = { "help",       "[VERB]",        "list the verbs, or the options of one",     0,  1, false },
	[VERB_KILL]       = { "kill",       "ID [SIGNAL]",   "send a signal (TERM) to the first process", 1,  2, false },
	[VERB_LIST]       = { "list",       "",              "list the containers of this state root",    0,  0, false },
	[VERB_PAUSE]      = { "pause",      "ID",            "freeze all processes",                      1,  1, false },
	[VERB_PS]         = { "ps",         "ID",            "list the processes",                        1, -1, true  },
	[VERB_RESTORE]    = { "restore",    "ID",            "not in this libcrun: always fails",         0, -1, false },
	[VERB_RESUME]     = { "resume",     "ID",            "unfreeze all processes",                    1,  1, false },
	[VERB_RUN]        = { "run",        "ID",            "create, start, wait, delete",               1,  1, false },
	[VERB_SPEC]       = { "spec",       "",              "write a default config.json",               0,  0, false },
	[VERB_START]      = { "start",      "ID",            "start the process of a created container",  1,  1, false },
	[VERB_STATE]      = { "state",      "ID",            "print the state as JSON",                   1,  1, false },
	[VERB_UPDATE]     = { "update",     "ID",            "change resource limits",                    1,  1, false },
};

#define MAKES (V(CREATE) | V(RUN))
#define JOINS (V(CREATE) | V(RUN) | V(EXEC))
#define EVERY UINT32_MAX

static const struct option_spec options[] = {
	{ "root",               0,  TEXT, AT(root),            V(NONE), "DIR",   "state root (default /run/custody-runtime)" },
	{ "log",                0,  TEXT, AT(log),             V(NONE), "FILE",  "also write errors to FILE, syslog:NAME or journald:NAME" },
	{ "log-format",         0,  TEXT, AT(log_format),      V(NONE), "FORMAT", "of --log: text or json" },
	{ "log-level",          0,  TEXT, AT(log_level),       V(NONE), "LEVEL", "error, warning, info or debug" },
	{ "debug",              0,  FLAG, AT(debug),           V(NONE), NULL,    "same as --log-level debug" },
	{ "systemd-cgroup",     0,  FLAG, AT(systemd_cgroup),  V(NONE), NULL,    "same as --cgroup-manager systemd" },
	{ "cgroup-manager",     0,  TEXT, AT(cgroup_manager),  V(NONE), "NAME",  "cgroupfs, systemd or disabled" },
	{ "profile",            0,  TEXT, AT(profile),         V(NONE), "NAME",  "of governed containers (default: sandbox.profile of custody.json)" },
	{ "lane",               0,  TEXT, AT(lane),            V(NONE), "LANE",  "of governed containers: sandbox or prod (default: of custody.json)" },
	{ "allow-prod",         0,  FLAG, AT(allow_prod),      V(NONE), NULL,    "one of the two keys of lane prod; the other is $CUSTODY_ALLOW_PROD" },
	{ "rootless",           0,  SKIPPED_TEXT, 0,           V(NONE), "VALUE", "accepted for runc's command lines" },
	{ "criu",               0,  SKIPPED_TEXT, 0,           V(NONE), "PATH",  "accepted for runc's command lines" },
	{ "version",           'v', FLAG, AT(version),         V(NONE), NULL,    "print versions" },
	{ "version",           'V', FLAG, AT(version),         V(NONE), NULL,    NULL },
	{ "help",              'h', FLAG, AT(help),            EVERY,   NULL,    "print this" },
	{ "help",              '?', FLAG, AT(help),            EVERY,   NULL,    NULL },

	{ "bundle",            'b', TEXT, AT(bundle),          MAKES | V(SPEC), "DIR", "bundle (default .)" },
	{ "config",            'f', TEXT, AT(config),          MAKES | V(SPEC), "FILE", "instead of config.json in the bundle" },
	{ "console-socket",     0,  TEXT, AT(console_socket),  JOINS, "SOCKET", "send the terminal's master to this socket" },
	{ "pid-file",           0,  TEXT, AT(pid_file),        JOINS, "FILE",   "write the pid to this file" },
	{ "preserve-fds",       0,  COUNT, AT(preserve_fds),   JOINS, "N",      "pass descriptors 3 to 2+N to the process" },
	{ "notify-socket",      0,  TEXT, AT(notify_socket),   MAKES | V(START), "SOCKET", "instead of $NOTIFY_SOCKET" },
	{ "no-pivot",           0,  FLAG, AT(no_pivot),        MAKES, NULL, "no pivot_root: the root is a ramdisk" },
	{ "no-new-keyring",     0,  FLAG, AT(no_new_keyring),  MAKES, NULL, "keep the session keyring" },
	{ "no-subreaper",       0,  SKIPPED_FLAG, 0,           MAKES, NULL, "accepted for runc's command lines" },
	{ "no-mt",              0,  SKIPPED_FLAG, 0,           MAKES, NULL, NULL },
	{ "keep",               0,  FLAG, AT(keep),            V(RUN), NULL, "do not delete it after it exits" },
	{ "detach",            'd', FLAG, AT(detach),          V(RUN) | V(EXEC), NULL, "do not wait for the exit" },

	{ "tty",               't', FLAG, AT(tty),             V(EXEC), NULL,     "give it a terminal" },
	{ "process",           'p', TEXT, AT(process),         V(EXEC), "FILE",   "read the process from this JSON file" },
	{ "cwd",                0,  TEXT, AT(cwd),             V(EXEC), "DIR",    "working directory" },
	{ "user",              'u', TEXT, AT(user),            V(EXEC), "UID[:GID]", "ids of the process" },
	{ "additional-gids",   'g', LIST, AT(gids),            V(EXEC), "GID",    "supplementary group; may be repeated" },
	{ "env",               'e', LIST, AT(env),             V(EXEC), "NAME=VALUE", "may be repeated" },
	{ "cap",               'c', LIST, AT(caps),            V(EXEC), "CAP",    "add a capability; may be repeated" },
	{ "no-new-privs",       0,  FLAG, AT(no_new_privs),    V(EXEC), NULL,     "set no_new_privs" },
	{ "process-label",      0,  TEXT, AT(process_label),   V(EXEC), "LABEL",  "SELinux label" },
	{ "apparmor",           0,  TEXT, AT(apparmor),        V(EXEC), "PROFILE", "AppArmor profile" },
	{ "cgroup",             0,  TEXT, AT(cgroup),          V(EXEC), "PATH",   "sub-cgroup of the container's" },
	{ "ignore-paused",      0,  FLAG, AT(ignore_paused),   V(EXEC), NULL,     "also into a paused container" },

	{ "all",               'a', FLAG, AT(all),             V(KILL), NULL, "all processes, not only the first" },
	{ "force",             'f', FLAG, AT(force),           V(DELETE), NULL, "kill it first; a missing container is no error" },
	{ "regex",             'r', FLAG, AT(regex),           V(KILL) | V(DELETE), NULL, "ID is an extended regular expression" },
	{ "format",            'f', TEXT, AT(format),          V(LIST) | V(PS), "FORMAT", "table or json" },
	{ "quiet",             'q', FLAG, AT(quiet),           V(LIST), NULL, "only the ids" },
	{ "rootless",           0,  FLAG, AT(rootless),        V(SPEC), NULL, "for a user without privileges" },

	{ "resources",         'r', TEXT, AT(resources),       V(UPDATE), "FILE", "read them from this JSON file, - is stdin" },
	{ "blkio-weight",       0,  TEXT, AT_LIMIT(BLKIO_WEIGHT), V(UPDATE), "N", "10 to 1000" },
	{ "cpu-period",         0,  TEXT, AT_LIMIT(CPU_PERIOD), V(UPDATE), "USEC", "CFS period" },
	{ "cpu-quota",          0,  TEXT, AT_LIMIT(CPU_QUOTA), V(UPDATE), "USEC", "CFS time in a period, -1 without limit" },
	{ "cpu-burst",          0,  TEXT, AT_LIMIT(CPU_BURST), V(UPDATE), "USEC", "CFS burst time" },
	{ "cpu-idle",           0,  TEXT, AT_LIMIT(CPU_IDLE),  V(UPDATE), "0|1",  "SCHED_IDLE for the cgroup" },
	{ "cpu-share",          0,  TEXT, AT_LIMIT(CPU_SHARES), V(UPDATE), "N",   "relative weight" },
	{ "cpu-rt-period",      0,  TEXT, AT_LIMIT(CPU_RT_PERIOD), V(UPDATE), "USEC", "realtime period" },
	{ "cpu-rt-runtime",     0,  TEXT, AT_LIMIT(CPU_RT_RUNTIME), V(UPDATE), "USEC", "realtime time in a period" },
	{ "cpuset-cpus",        0,  TEXT, AT_LIMIT(CPUSET_CPUS), V(UPDATE), "LIST", "processors" },
	{ "cpuset-mems",        0,  TEXT, AT_LIMIT(CPUSET_MEMS), V(UPDATE), "LIST", "memory nodes" },
	{ "kernel-memory",      0,  TEXT, AT_LIMIT(KERNEL_MEMORY), V(UPDATE), "SIZE", "kernel memory" },
	{ "kernel-memory-tcp",  0,  TEXT, AT_LIMIT(KERNEL_MEMORY_TCP), V(UPDATE), "SIZE", "TCP buffers" },
	{ "memory",             0,  TEXT, AT_LIMIT(MEMORY),    V(UPDATE), "SIZE", "memory" },
	{ "memory-reservation", 0,  TEXT, AT_LIMIT(MEMORY_RESERVATION), V(UPDATE), "SIZE", "soft limit" },
	{ "memory-swap",        0,  TEXT, AT_LIMIT(MEMORY_SWAP), V(UPDATE), "SIZE", "memory and swap, -1 without limit" },
	{ "pids-limit",         0,  TEXT, AT_LIMIT(PIDS),      V(UPDATE), "N", "processes, -1 without limit" },
	{ 0 },
};
/* clang-format on */

const char *runtime_verb_name(enum runtime_verb verb)
{
	return verbs[verb].name;
}

static const struct option_spec *find_option(enum runtime_verb verb, const char *name, size_t len)
{
	for (const struct option_spec *o = options; o->name; o++) {
		if (!(o->verbs & (UINT32_C(1) << verb)))
			continue;
		if (len == 1 ? o->letter == *name : strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	}
	return NULL;
}

static const struct option_spec *nearest_option(enum runtime_verb verb, const char *name)
{
	const char *names[ARRAY_SIZE(options)];
	size_t n = 0;
	int i;

	for (const struct option_spec *o = options; o->name; o++)
		if (o->verbs & (UINT32_C(1) << verb))
			names[n++] = o->name;
	names[n] = NULL;
	i = str_nearest(name, names);
	return i < 0 ? NULL : find_option(verb, names[i], strlen(names[i]));
}

static int refuse_option(enum runtime_verb verb, const char *word, struct fault *f)
{
	const char *of = verb == VERB_NONE ? "custody-runtime" : verbs[verb].name;
	const struct option_spec *near = nearest_option(verb, word + strspn(word, "-"));

	if (near)
		return fault_set(f, EINVAL, "%s: unknown option '%s', did you mean --%s?", of, word,
				 near->name);
	return fault_set(f, EINVAL, "%s: unknown option '%s'; custody-runtime help%s%s lists them", of, word,
			 verb == VERB_NONE ? "" : " ", verbs[verb].name);
}

static int set_flag(const struct option_spec *o, const char *value, bool *ret, struct fault *f)
{
	static const char *const yes[] = { "true", "1", "t", "yes", NULL };
	static const char *const no[] = { "false", "0", "f", "no", NULL };

	*ret = true;
	if (!value)
		return 0;
	for (size_t i = 0; yes[i]; i++)
		if (str_eq(value, yes[i]))
			return 0;
	*ret = false;
	for (size_t i = 0; no[i]; i++)
		if (str_eq(value, no[i]))
			return 0;
	return fault_set(f, EINVAL, "--%s takes true or false, not '%s'", o->name, value);
}

static int set_count(const struct option_spec *o, const char *value, unsigned int *ret, struct fault *f)
{
	uint64_t n;

	if (str_to_u64(value, &n) < 0 || n > RUNTIME_FDS_MAX)
		return fault_set(f, EINVAL, "--%s takes a number, not '%s'", o->name, value);
	*ret = (unsigned int)n;
	return 0;
}

static int add_item(struct runtime_list *l, const char *value, struct fault *f)
{
	const char **more = reallocarray(l->items, l->n + 2, sizeof(*more));

	if (!more)
		return fault_errno(f, ENOMEM, "command line");
	l->items = more;
	l->items[l->n++] = value;
	l->items[l->n] = NULL;
	return 0;
}

static bool takes_value(const struct option_spec *o)
{
	return o->kind != FLAG && o->kind != SKIPPED_FLAG;
}

static int set_option(struct runtime_options *ret, const struct option_spec *o, const char *value,
		      struct fault *f)
{
	void *field = (char *)ret + o->at;

	switch (o->kind) {
	case FLAG:
		return set_flag(o, value, field, f);
	case TEXT:
		*(const char **)field = value;
		return 0;
	case COUNT:
		return set_count(o, value, field, f);
	case LIST:
		return add_item(field, value, f);
	case SKIPPED_FLAG:
	case SKIPPED_TEXT:
		return 0;
	}
	return 0;
}

/* -abc: letters of flags; the last may have the rest of the word or the next word as its value. */
static int parse_letters(struct runtime_options *ret, enum runtime_verb verb, char **argv, struct fault *f)
{
	const char *word = argv[0];

	for (const char *c = word + 1; *c; c++) {
		const struct option_spec *o = find_option(verb, c, 1);
		const char *value = NULL;
		int r;

		if (!o)
			return refuse_option(verb, word, f);
		if (c[1] == '=')
			value = c + 2;
		else if (takes_value(o))
			value = c[1] ? c + 1 : argv[1];
		if (takes_value(o) && !value)
			return fault_set(f, EINVAL, "-%c needs a value: %s", *c, o->value);
		r = set_option(ret, o, value, f);
		if (r < 0)
			return r;
		if (value)
			return value == argv[1] ? 2 : 1;
	}
	return 1;
}

/* Returns the number of words of ARGV that the option used. */
static int parse_option(struct runtime_options *ret, enum runtime_verb verb, char **argv, struct fault *f)
{
	const char *name = argv[0] + (argv[0][1] == '-' ? 2 : 1);
	size_t len = strcspn(name, "=");
	const struct option_spec *o = len > 1 ? find_option(verb, name, len) : NULL;
	const char *value = name[len] ? name + len + 1 : NULL;
	bool next = false;
	int r;

	if (!o && argv[0][1] != '-')
		return parse_letters(ret, verb, argv, f);
	if (!o)
		return refuse_option(verb, argv[0], f);
	if (takes_value(o) && !value) {
		value = argv[1];
		next = true;
	}
	if (takes_value(o) && !value)
		return fault_set(f, EINVAL, "--%s needs a value: %s", o->name, o->value);
	r = set_option(ret, o, value, f);
	return r < 0 ? r : 1 + next;
}

/* Options of VERB up to the end, or up to the first other word; other words are appended to ret->args. */
static int parse_words(struct runtime_options *ret, enum runtime_verb verb, char **argv, struct fault *f)
{
	char **at = argv;

	while (*at) {
		int r;

		if (str_eq(*at, "--")) {
			at++;
			break;
		}
		if ((*at)[0] != '-' || !(*at)[1]) {
			if (verbs[verb].in_order)
				break;
			ret->args[ret->n_args++] = *at++;
			continue;
		}
		r = parse_option(ret, verb, at, f);
		if (r < 0)
			return r;
		at += r;
	}
	while (*at)
		ret->args[ret->n_args++] = *at++;
	ret->args[ret->n_args] = NULL;
	return 0;
}

static int find_verb(const char *name, enum runtime_verb *ret, struct fault *f)
{
	const char *names[VERB_MAX_] = { 0 };
	int near;

	for (int i = VERB_NONE + 1; i < VERB_MAX_; i++) {
		names[i - 1] = verbs[i].name;
		if (str_eq(name, verbs[i].name)) {
			*ret = i;
			return 0;
		}
	}
	near = str_nearest(name, names);
	if (near >= 0)
		return fault_set(f, EINVAL, "unknown command '%s', did you mean %s?", name, names[near]);
	return fault_set(f, EINVAL, "unknown command '%s'; custody-runtime help lists them", name);
}

static int check_counts(const struct runtime_options *o, struct fault *f)
{
	const struct verb_spec *v = &verbs[o->verb];

	if (o->n_args < (size_t)v->min_args)
		return fault_set(f, EINVAL,
				 "%s: missing container id; usage: custody-runtime %s [OPTION...] %s",
				 v->name, v->name, v->args);
	if (v->max_args >= 0 && o->n_args > (size_t)v->max_args)
		return fault_set(f, EINVAL,
				 "%s: unexpected argument '%s'; "
				 "usage: custody-runtime %s [OPTION...] %s",
				 v->name, o->args[v->max_args], v->name, v->args);
	return 0;
}

int runtime_options_parse(int argc, char **argv, struct runtime_options *ret, struct fault *f)
{
	int r;

	*ret = (struct runtime_options){ 0 };
	ret->args_room = ret->args = calloc((size_t)argc + 1, sizeof(*ret->args));
	if (!ret->args)
		return fault_errno(f, ENOMEM, "command line");

	r = parse_words(ret, VERB_NONE, argv + (argc > 0), f);
	if (r < 0 || ret->version || ret->help)
		return r;
	if (ret->n_args == 0)
		return fault_set(f, EINVAL, "missing command; custody-runtime help lists them");
	r = find_verb(ret->args[0], &ret->verb, f);
	/* Neither is supported, so neither has options: podman runs `checkpoint --help` to find out. */
	if (r < 0 || ret->verb == VERB_CHECKPOINT || ret->verb == VERB_RESTORE)
		return r;

	/* Parse the words after the verb again, with the verb's options; args shrinks in place. */
	argv += argc - (int)ret->n_args + 1;
	ret->n_args = 0;
	r = parse_words(ret, ret->verb, argv, f);
	if (r < 0 || ret->help)
		return r;
	return check_counts(ret, f);
}

void runtime_options_done(struct runtime_options *o)
{
	free(o->env.items);
	free(o->caps.items);
	free(o->gids.items);
	free(o->args_room);
	*o = (struct runtime_options){ 0 };
}

static void print_options(enum runtime_verb verb, FILE *out)
{
	for (const struct option_spec *o = options; o->name; o++) {
		char left[48];

		if (!(o->verbs & (UINT32_C(1) << verb)) || !o->help)
			continue;
		(void)snprintf(left, sizeof(left), "--%s%s%s", o->name, o->value ? " " : "",
			       o->value ? o->value : "");
		(void)fprintf(out, "  %c%c %-28s %s\n", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			      left, o->help);
	}
}

void runtime_options_help(enum runtime_verb verb, FILE *out)
{
	if (verb != VERB_NONE) {
		(void)fprintf(out, "usage: custody-runtime [GLOBAL OPTION...] %s [OPTION...] %s\n%s\n\n",
			      verbs[verb].name, verbs[verb].args, verbs[verb].help);
		print_options(verb, out);
		return;
	}
	(void)fprintf(out, "usage: custody-runtime [GLOBAL OPTION...] COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (int i = VERB_NONE + 1; i < VERB_MAX_; i++)
		(void)fprintf(out, "  %-11s %-12s %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
	(void)fprintf(out, "\nglobal options:\n");
	print_options(VERB_NONE, out);
}
