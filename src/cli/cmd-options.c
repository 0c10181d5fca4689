/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"

/* clang-format off */
static const struct {
	const char *name;
	enum { FLAG, TEXT } kind;
	size_t at;
} options[] = {
	{ "-f",       FLAG, offsetof(struct verb_call, follow) },
	{ "--follow", FLAG, offsetof(struct verb_call, follow) },
	{ "--raw",    FLAG, offsetof(struct verb_call, raw) },
	{ "--time",   TEXT, offsetof(struct verb_call, grace) },
	{ "--all",    FLAG, offsetof(struct verb_call, all) },
	{ "--json",   FLAG, offsetof(struct verb_call, json) },
	{ "--reset",  FLAG, offsetof(struct verb_call, reset) },
	{ "--yes",    FLAG, offsetof(struct verb_call, yes) },
	{ "--as",     TEXT, offsetof(struct verb_call, as) },
	{ "--for",    TEXT, offsetof(struct verb_call, time) },
	{ "--lane",   TEXT, offsetof(struct verb_call, lane) },
	{ "--output", TEXT, offsetof(struct verb_call, output) },
	{ "--pin-fd", TEXT, offsetof(struct verb_call, pin_fd) },
	{ "--reason", TEXT, offsetof(struct verb_call, reason) },
	{ "--uses",   TEXT, offsetof(struct verb_call, uses) },
};
/* clang-format on */
#define N_OPTIONS ARRAY_SIZE(options)

static int complain(const char *name, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL, *shown = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	shown = text ? str_escape(text) : NULL;
	fprintf(stderr, PACKAGE_NAME " %s: %s\n", name, shown ? shown : "out of memory");
	return STATUS_USAGE;
}

int verb_usage(const struct verb *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)complain(v->name, fmt, ap);
	va_end(ap);
	fprintf(stderr, "usage: " PACKAGE_NAME " %s %s\n", v->name, v->args);
	return STATUS_USAGE;
}

static bool accepts(const struct verb *v, const char *name)
{
	_cleanup_strbuf_ struct strbuf word = { 0 };

	strbuf_printf(&word, " %s ", name);
	return !word.broken && strstr(v->options, word.text);
}

/* One option at argv[*I], its value behind '=' or in the next word. */
static int take_option(struct verb_call *c, const struct verb *v, int argc, char **argv, int *i)
{
	const char *equals = strchr(argv[*i], '=');
	size_t len = equals ? (size_t)(equals - argv[*i]) : strlen(argv[*i]), at = 0;
	const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[*i + 1] : NULL;

	while (at < N_OPTIONS &&
	       (strlen(options[at].name) != len || memcmp(options[at].name, argv[*i], len) != 0))
		at++;
	if (at == N_OPTIONS || !accepts(v, options[at].name))
		return verb_usage(v, "no option '%s'", argv[*i]);
	if (options[at].kind == FLAG) {
		if (equals)
			return verb_usage(v, "%s takes no value", options[at].name);
		*(bool *)((char *)c + options[at].at) = true;
		return 0;
	}
	if (!value)
		return verb_usage(v, "%s needs a value", options[at].name);
	*(const char **)((char *)c + options[at].at) = value;
	*i += !equals;
	return 0;
}

static int take_words(struct verb_call *c, const struct verb *v, int argc, char **argv)
{
	bool words = false;
	size_t n = 0;

	for (int i = 0; i < argc; i++) {
		int r = 0;

		if (!words && strcmp(argv[i], "--") == 0)
			words = true;
		else if (!words && argv[i][0] == '-' && argv[i][1])
			r = take_option(c, v, argc, argv, &i);
		else if (n == v->max_words || n == ARRAY_SIZE(c->words))
			r = verb_usage(v, "'%s' is too much", argv[i]);
		else
			c->words[n++] = argv[i];
		if (r != 0)
			return r;
	}
	return n < v->min_words ? verb_usage(v, "not enough arguments") : 0;
}

int verb_run(const struct verb *v, int argc, char **argv, struct fault *f)
{
	struct verb_call c = { 0 };
	int r = take_words(&c, v, argc, argv);

	if (r == 0)
		r = config_open(c.lane, &c.dirs, &c.config, f);
	if (r == 0)
		r = v->run(&c, f);
	config_free(c.config);
	dirs_done(&c.dirs);
	return r;
}

int verb_run_of(const struct verb *row, int argc, char **argv, struct fault *f)
{
	for (const struct verb *v = row; v->name && argc > 1; v++) {
		const char *word = strchr(v->name, ' ');

		if (word && strcmp(word + 1, argv[1]) == 0)
			return verb_run(v, argc - 2, argv + 2, f);
	}
	for (const struct verb *v = row; v->name; v++)
		fprintf(stderr, "usage: " PACKAGE_NAME " %s %s\n", v->name, v->args);
	return STATUS_USAGE;
}

int verb_print(const struct jdoc *d, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r = jdoc_write(d, JDOC_PRETTY, &b, f);

	return r < 0 ? r : command_put_json(&b, f);
}
