/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"

#define ANSWER_MS 5000

/* clang-format off */
static const struct verb {
	const char *name, *args, *help;
	const char *options; /* words with a blank around each */
	int min_words, max_words;
	int (*run)(const struct evidence_call *c, struct fault *f);
} verbs[] = {
	{ "ls",      "[--json]", "list what is kept, oldest first", " --json ", 0, 0, evidence_cmd_ls },
	{ "show",    "ID [--json]", "say whose it is, how it ended, what is missing", " --json ", 1, 1, evidence_cmd_show },
	{ "verify",  "ID [--json]", "read every byte and compare", " --json ", 1, 1, evidence_cmd_verify },
	{ "restore", "ID DIR [--exact | --sandbox NAME]", "make DIR the worktree that it was", " --exact --sandbox ", 2, 2, evidence_cmd_restore },
	{ "pin",     "ID [--reason TEXT]", "keep it, whatever retention says", " --reason ", 1, 1, evidence_cmd_pin },
	{ "unpin",   "ID", "let retention have it again", " ", 1, 1, evidence_cmd_unpin },
	{ "rm",      "ID [--force]", "remove it; --force: also when it is pinned", " --force ", 1, 1, evidence_cmd_rm },
	{ "prune",   "[--dry-run] [--json]", "remove what retention does not keep", " --dry-run --json ", 0, 0, evidence_cmd_prune },
	{ "diff",    "ID [ID2 | --tree DIR] [--json]", "say what differs from the worktree, a tree, or to another one", " --tree --json ", 1, 2, evidence_cmd_diff },
	{ "deliver", "[--timeout TIME] [--local] [--json]", "bring what is staged to the store, now", " --timeout --local --json ", 0, 0, evidence_cmd_deliver },
	{ 0 },
};
/* clang-format on */

static void print_help(FILE *out)
{
	for (const struct verb *v = verbs; v->name; v++)
		fprintf(out, "  custody evidence %-8s %s\n%28s%s\n", v->name, v->args, "", v->help);
	fprintf(out, "\nAll take --lane LANE.  ID: a session's name, or how it begins.\n");
}

static int usage(const struct verb *v, const char *what, const char *word)
{
	_cleanup_free_ char *shown = str_escape(word);

	fprintf(stderr, PACKAGE_NAME " evidence: %s%s; usage: custody evidence %s %s\n", what,
		shown ? shown : "", v->name, v->args);
	return STATUS_USAGE;
}

static bool accepts(const struct verb *v, const char *name)
{
	char word[32];

	return (size_t)snprintf(word, sizeof(word), " %s ", name) < sizeof(word) &&
	       (strstr(v->options, word) || strcmp(name, "--lane") == 0);
}

/* STATUS_USAGE, or 0. */
static int take_option(struct evidence_call *c, const struct verb *v, int argc, char **argv, int *i)
{
	const char *name = argv[*i];
	const char **value = strcmp(name, "--lane") == 0      ? &c->lane
			     : strcmp(name, "--reason") == 0  ? &c->reason
			     : strcmp(name, "--sandbox") == 0 ? &c->sandbox
			     : strcmp(name, "--timeout") == 0 ? &c->timeout
			     : strcmp(name, "--tree") == 0    ? &c->tree
							      : NULL;

	if (!accepts(v, name))
		return usage(v, "no option ", name);
	if (value && *i + 1 >= argc)
		return usage(v, "no value behind ", name);
	if (value)
		*value = argv[++*i];
	c->json |= strcmp(name, "--json") == 0;
	c->exact |= strcmp(name, "--exact") == 0;
	c->force |= strcmp(name, "--force") == 0;
	c->dry_run |= strcmp(name, "--dry-run") == 0;
	c->local |= strcmp(name, "--local") == 0;
	return 0;
}

static int take_words(struct evidence_call *c, const struct verb *v, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1]) {
			if (take_option(c, v, argc, argv, &i) != 0)
				return STATUS_USAGE;
		} else if (c->n_words < v->max_words) {
			c->words[c->n_words++] = argv[i];
		} else {
			return usage(v, "too much: ", argv[i]);
		}
	}
	return c->n_words < v->min_words ? usage(v, "not enough is said", "") : 0;
}

static int open_lane(struct evidence_call *c, struct fault *f)
{
	enum lane lane;
	int r;

	r = dirs_load(&c->dirs, f);
	if (r >= 0)
		r = config_load(&c->dirs, &c->config, f);
	if (r >= 0)
		r = config_lane(c->config, c->lane, &lane, f);
	if (r < 0)
		return r;
	if (lane != c->dirs.lane) {
		dirs_done(&c->dirs);
		c->dirs = (struct dirs){ 0 };
		r = dirs_load_lane(lane, &c->dirs, f);
	}
	return r < 0 ? r : delivery_place(&c->dirs, c->config, &c->place, f);
}

int evidence_ask_store(const struct evidence_call *c, struct fault *f)
{
	if (c->place.away)
		return fault_set(f, ENOTCONN, "'%s' is on a share (%s) that is not mounted", c->place.store,
				 c->place.type);
	if (c->place.direct || delivery_answers(c->place.store, ANSWER_MS))
		return 0;
	return fault_set(f, ETIMEDOUT, "'%s' (%s) does not answer", c->place.store, c->place.type);
}

int evidence_locate(const struct evidence_call *c, const char *name, char **ret_name, const char **ret_store,
		    struct fault *f)
{
	int dir, r;

	dir = evidence_open(c->place.staging, c->dirs.lane, name, ret_name, NULL);
	if (dir >= 0) {
		if (ret_store)
			*ret_store = c->place.staging;
		return dir;
	}
	r = evidence_ask_store(c, f);
	if (r < 0)
		return r;
	if (ret_store)
		*ret_store = c->place.store;
	return evidence_open(c->place.store, c->dirs.lane, name, ret_name, f);
}

int cmd_evidence(int argc, char **argv, struct fault *f)
{
	struct evidence_call c = { 0 };
	const struct verb *v = verbs;
	int r;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(stdout);
		return STATUS_OK;
	}
	while (v->name && (argc < 2 || strcmp(v->name, argv[1]) != 0))
		v++;
	if (!v->name) {
		_cleanup_free_ char *shown = str_escape(argv[1]);

		fprintf(stderr, PACKAGE_NAME " evidence: no verb '%s'; 'custody help evidence' lists them\n",
			shown ? shown : "?");
		return STATUS_USAGE;
	}
	r = take_words(&c, v, argc - 2, argv + 2);
	if (r == 0)
		r = open_lane(&c, f);
	if (r == 0)
		r = v->run(&c, f);
	delivery_place_done(&c.place);
	config_free(c.config);
	dirs_done(&c.dirs);
	return r;
}
