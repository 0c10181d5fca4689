/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"
#include "ledger/ledger-record.h"

struct verb {
	const char *name, *args, *help;
	int min_args, max_args;
	const char *options; /* words with a blank around each */
	int (*run)(const struct profile_call *c, struct fault *f);
};

/* clang-format off */
static const struct verb verbs[] = {
	{ "ls",     "[--json]",                        "list the profiles that can be named", 0, 0,
	  " --json ", profile_ls },
	{ "show",   "[--origin] [--json] NAME",        "print a profile with its parents merged", 1, 1,
	  " --json --origin ", profile_show },
	{ "check",  "[--json] FILE...",                "say whether files are valid profiles", 1, -1,
	  " --json ", profile_check },
	{ "diff",   "[--json] A B",                    "say in which keys two profiles differ", 2, 2,
	  " --json ", profile_diff },
	{ "schema", "",                                "print the JSON Schema of profiles", 0, 0,
	  " --json ", profile_print_schema },
	{ "trust",  "[--rm] PATH",                     "let a file in a worktree loosen, as it is now", 1, 1,
	  " --rm ", profile_change_trust },
	{ 0 },
};
/* clang-format on */

int profile_place_init(struct profile_place *p, struct fault *f)
{
	size_t n = 0;
	int r;

	*p = (struct profile_place){ 0 };
	r = dirs_load(&p->dirs, f);
	if (r < 0)
		return r;
	p->cwd = getcwd(NULL, 0);
	if (!p->cwd)
		return fault_errno(
			f, errno,
			"the current directory is the worktree, and it is gone: cd to one that is there");
	p->trust = path_join(p->dirs.config, "trust.json");
	if (!p->trust)
		return fault_errno(f, ENOMEM, "profile");
	p->labels[n] = "admin";
	p->search[n++] = p->dirs.profiles_admin;
	if (p->dirs.profiles_user) {
		p->labels[n] = "user";
		p->search[n++] = p->dirs.profiles_user;
	}
	p->labels[n] = "shipped";
	p->search[n] = p->dirs.profiles_shipped;
	p->src = (struct profile_sources){ .dirs = p->search, .worktree = p->cwd, .trust_file = p->trust };
	p->vars = (struct profile_vars){
		.cwd = p->cwd, .home = p->dirs.home, .user = p->dirs.user, .uid = geteuid()
	};
	return 0;
}

void profile_place_done(struct profile_place *p)
{
	dirs_done(&p->dirs);
	free(p->cwd);
	free(p->trust);
}

char *profile_as_path(const char *name)
{
	return strchr(name, '/') ? strdup(name) : path_join(".", name);
}

int profile_flush(struct fault *f)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return fault_errno(f, errno ? errno : EIO, "write to stdout");
	return 0;
}

int profile_print(const struct jdoc *doc, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	r = jdoc_write(doc, JDOC_PRETTY, &b, f);
	if (r == 0)
		r = command_put_json(&b, f);
	return r < 0 ? r : profile_flush(f);
}

void profile_set_digest(struct jdoc *object, const char *key, const struct digest *d)
{
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	digest_to_hex(d, text + strlen(text));
	jdoc_set_string(object, key, text);
}

/* For people: on a terminal in ASCII, as JSON is (command_put_json). */
char *profile_value_text(const struct jdoc *v)
{
	_cleanup_strbuf_ struct strbuf b = { 0 }, ascii = { 0 };

	if (jdoc_write(v, JDOC_CANONICAL, &b, NULL) < 0)
		return NULL;
	if (!isatty(STDOUT_FILENO))
		return strbuf_take(&b);
	record_put_ascii(&ascii, b.text, b.len);
	return strbuf_take(&ascii);
}

static void print_help(FILE *out)
{
	for (const struct verb *v = verbs; v->name; v++)
		fprintf(out, "  custody profile %-6s %-26s %s\n", v->name, v->args, v->help);
}

static const struct verb *find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

void profile_say(const char *where, const char *text)
{
	_cleanup_free_ char *shown = str_escape(text);

	fprintf(stderr, "custody profile %s: %s\n", where, shown ? shown : "out of memory");
}

static int usage(const struct verb *v)
{
	fprintf(stderr, "usage: custody profile %s %s\n", v->name, v->args);
	return STATUS_USAGE;
}

static bool has_option(const struct verb *v, const char *option)
{
	const char *hit = strstr(v->options, option);

	return hit && hit[-1] == ' ' && hit[strlen(option)] == ' ';
}

/* Options may stand anywhere before "--". */
static int take_options(const struct verb *v, int argc, char **argv, struct profile_call *c)
{
	int n = 0;
	bool words = false;

	for (int i = 0; i < argc; i++) {
		char *a = argv[i];

		if (words || a[0] != '-' || !a[1]) {
			argv[n++] = a;
		} else if (strcmp(a, "--") == 0) {
			words = true;
		} else if (!has_option(v, a)) {
			fprintf(stderr, "custody profile %s: no option '%s'\n", v->name, a);
			return usage(v);
		} else {
			c->json |= strcmp(a, "--json") == 0;
			c->origin |= strcmp(a, "--origin") == 0;
			c->rm |= strcmp(a, "--rm") == 0;
		}
	}
	argv[n] = NULL;
	c->args = argv;
	c->n_args = n;
	if (n < v->min_args || (v->max_args >= 0 && n > v->max_args))
		return usage(v);
	return 0;
}

int cmd_profile(int argc, char **argv, struct fault *f)
{
	struct profile_call c = { 0 };
	const struct verb *v;
	int r;

	if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(stdout);
		return STATUS_OK;
	}
	v = argc >= 2 ? find(argv[1]) : NULL;
	if (!v) {
		_cleanup_free_ char *shown = argc >= 2 ? str_escape(argv[1]) : NULL;

		fprintf(stderr, PACKAGE_NAME " profile: no verb '%s'; 'custody help profile' lists them\n",
			shown ? shown : "");
		return STATUS_USAGE;
	}
	r = take_options(v, argc - 2, argv + 2, &c);
	return r != 0 ? r : v->run(&c, f);
}
