/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-ledger.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "cli/dispatch.h"
#include "config/config.h"
#include "base/exit-status.h"

struct verb {
	const char *name, *args, *help;
	const char *options; /* words with a blank around each */
	bool path;	     /* takes one */
	int (*run)(const struct ledger_call *c, struct fault *f);
};

#define LANE " --lane "
#define FILTERS LANE "--since --until --session --agent --kind --status "

/* clang-format off */
static const struct verb verbs[] = {
	{ "init",       "[--k0-file FILE] [--json]", "make the ledger, show its first seal key once",
	  LANE "--json --k0-file ", false, ledger_cmd_init },
	{ "show",       "[FILTERS] [--json] [--key] [--peers] [PATH]", "print records",
	  FILTERS "--json --key --peers ", true, ledger_cmd_show },
	{ "tail",       "[-n N] [-f] [FILTERS] [PATH]", "print the last records, and those to come",
	  FILTERS "-n -f ", true, ledger_cmd_tail },
	{ "verify",     "[--k0 FILE] [--from-checkpoint FILE] [--seal FILE] [--key KEY] [--anchor N:HEAD] [--json] [PATH|-]",
	  "say whether records were changed or are missing",
	  LANE "--k0 --from-checkpoint --seal --key --anchor --json ", true, ledger_cmd_verify },
	{ "export",     "[FILTERS] [-o FILE] [PATH]", "copy records as they stand, a line each",
	  FILTERS "-o ", true, ledger_cmd_export },
	{ "repair",     "[--accept-loss | --new-seal | --new-key] [--json]", "end a torn tail; go on after a loss",
	  LANE "--accept-loss --new-seal --new-key --json ", false, ledger_cmd_repair },
	{ "checkpoint", "[--json]", "sign the ledger as it is, send what peers lack",
	  LANE "--json ", false, ledger_cmd_checkpoint },
	{ 0 },
};

static const struct option {
	const char *name;
	enum { FLAG, TEXT, LIST } kind;
	size_t at;
} options[] = {
	{ "--json", FLAG, offsetof(struct ledger_call, json) },
	{ "-f", FLAG, offsetof(struct ledger_call, follow) },
	{ "--peers", FLAG, offsetof(struct ledger_call, peers) },
	{ "--accept-loss", FLAG, offsetof(struct ledger_call, accept_loss) },
	{ "--new-seal", FLAG, offsetof(struct ledger_call, new_seal) },
	{ "--new-key", FLAG, offsetof(struct ledger_call, new_key) },
	{ "--lane", TEXT, offsetof(struct ledger_call, lane) },
	{ "--since", TEXT, offsetof(struct ledger_call, since) },
	{ "--until", TEXT, offsetof(struct ledger_call, until) },
	{ "--session", TEXT, offsetof(struct ledger_call, session) },
	{ "--agent", TEXT, offsetof(struct ledger_call, agent) },
	{ "--kind", TEXT, offsetof(struct ledger_call, kind) },
	{ "--status", TEXT, offsetof(struct ledger_call, status) },
	{ "-n", TEXT, offsetof(struct ledger_call, lines) },
	{ "-o", TEXT, offsetof(struct ledger_call, output) },
	{ "--k0-file", TEXT, offsetof(struct ledger_call, k0_file) },
	{ "--seal", TEXT, offsetof(struct ledger_call, seal) },
	{ "--anchor", TEXT, offsetof(struct ledger_call, anchor) },
	{ "--k0", LIST, offsetof(struct ledger_call, k0) },
	{ "--from-checkpoint", LIST, offsetof(struct ledger_call, from_checkpoint) },
	{ 0 },
};
/* clang-format on */

int ledger_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, PACKAGE_NAME " ledger: ");
	(void)vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return STATUS_USAGE;
}

static void print_help(FILE *out)
{
	for (const struct verb *v = verbs; v->name; v++)
		fprintf(out, "  custody ledger %-10s %s\n%28s%s\n", v->name, v->args, "", v->help);
	fprintf(out, "\nFILTERS: --since TIME --until TIME (2026-11-16, 2026-11-16T03:15, 90m ago as 90m) "
		     "--session S\n"
		     "         --agent A --kind K (session.end, session.*) --status S\n"
		     "Each verb takes --lane sandbox|prod.\n");
}

static const struct verb *find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

static bool accepts(const struct verb *v, const char *name)
{
	const char *hit = v->options;
	size_t len = strlen(name);

	while ((hit = strstr(hit, name))) {
		if (hit[-1] == ' ' && hit[len] == ' ')
			return true;
		hit += len;
	}
	return false;
}

/* `verify --key KEY` takes a value, `show --key` none. */
static int set_key(struct ledger_call *c, const struct verb *v, const char *value, bool *ret_used)
{
	*ret_used = v->run == ledger_cmd_verify;
	if (!*ret_used) {
		c->key = true;
		return 0;
	}
	if (!value)
		return ledger_usage("--key needs a value");
	c->pin = value;
	return 0;
}

static int set(struct ledger_call *c, const struct option *o, const char *value)
{
	char *base = (char *)c;

	switch (o->kind) {
	case FLAG:
		*(bool *)(base + o->at) = true;
		return 0;
	case TEXT:
		*(const char **)(base + o->at) = value;
		return 0;
	case LIST:
		return strv_append((char ***)(base + o->at), value) < 0 ? STATUS_FAILED : 0;
	}
	return 0;
}

/* One option at argv[*I], its value behind '=' or in the next word. */
static int take_option(struct ledger_call *c, const struct verb *v, int argc, char **argv, int *i)
{
	const char *equals = str_starts(argv[*i], "--") ? strchr(argv[*i], '=') : NULL;
	const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[*i + 1] : NULL;
	char name[32];
	bool used = true;
	int r;

	(void)snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - argv[*i]) : 31, argv[*i]);
	if (!accepts(v, name)) {
		_cleanup_free_ char *shown = str_escape(argv[*i]);

		return ledger_usage("no option '%s'; usage: custody ledger %s %s", shown ? shown : "?",
				    v->name, v->args);
	}
	if (strcmp(name, "--key") == 0) {
		r = set_key(c, v, value, &used);
	} else {
		const struct option *o = options;

		while (strcmp(o->name, name) != 0)
			o++;
		used = o->kind != FLAG;
		if (used && !value)
			return ledger_usage("%s needs a value", name);
		if (!used && equals)
			return ledger_usage("%s takes no value", name);
		r = set(c, o, value);
	}
	*i += used && !equals;
	return r;
}

static int take_words(struct ledger_call *c, const struct verb *v, int argc, char **argv)
{
	bool words = false;

	for (int i = 0; i < argc; i++) {
		int r = 0;

		if (!words && strcmp(argv[i], "--") == 0)
			words = true;
		else if (!words && argv[i][0] == '-' && argv[i][1])
			r = take_option(c, v, argc, argv, &i);
		else if (!v->path || c->path)
			r = ledger_usage("usage: custody ledger %s %s", v->name, v->args);
		else
			c->path = argv[i];
		if (r != 0)
			return r;
	}
	return 0;
}

int ledger_print(const struct jdoc *d, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r = jdoc_write(d, JDOC_PRETTY, &b, f);

	return r < 0 ? r : command_put_json(&b, f);
}

int ledger_open_source(const struct ledger_call *c, struct ledger_reader *ret, struct fault *f)
{
	return c->path ? ledger_reader_open_path(c->path, ret, f)
		       : ledger_reader_open_live(c->dirs.state, ret, f);
}

/* With --lane the configuration is not asked: a mistake there must not hide what was recorded. */
static int load(struct ledger_call *c, struct fault *f)
{
	_cleanup_config_ struct config *config = NULL;
	enum lane lane = LANE_SANDBOX;
	int r;

	if (!c->lane)
		return config_open(NULL, &c->dirs, &config, f);
	r = lane_parse(c->lane, &lane, f);
	return r < 0 ? fault_wrap(f, r, "--lane") : dirs_load_lane(lane, &c->dirs, f);
}

int cmd_ledger(int argc, char **argv, struct fault *f)
{
	struct ledger_call c = { 0 };
	const struct verb *v = argc > 1 ? find(argv[1]) : NULL;
	int r;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(stdout);
		return STATUS_OK;
	}
	if (!v) {
		_cleanup_free_ char *shown = str_escape(argv[1]);

		fprintf(stderr, PACKAGE_NAME " ledger: no verb '%s'; 'custody help ledger' lists them\n",
			shown ? shown : "?");
		return STATUS_USAGE;
	}
	r = take_words(&c, v, argc - 2, argv + 2);
	if (r == 0)
		r = load(&c, f);
	if (r == 0)
		r = v->run(&c, f);
	strv_free(c.k0);
	strv_free(c.from_checkpoint);
	dirs_done(&c.dirs);
	return r;
}
