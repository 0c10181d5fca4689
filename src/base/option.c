/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LISTED_MAX 128
#define CHOICES_MAX 16
#define GROUPS_MAX 8

struct parser {
	const struct option_set *set;
	char *const *at; /* the word that is parsed */
	char *values;
	const struct option *groups[GROUPS_MAX]; /* the option that was given of each group */
	uint64_t required;			 /* rows of required options that were given */
};

bool option_takes_value(const struct option *o)
{
	return o->kind > OPTION_REFUSED;
}

bool option_is_listed(const struct option *o)
{
	return o->kind != OPTION_REFUSED && !(o->flags & OPTION_HIDDEN);
}

const char *option_kind_name(enum option_kind kind)
{
	static const char *const names[] = {
		[OPTION_FLAG] = "flag",		[OPTION_IGNORED] = "ignored", [OPTION_REFUSED] = "refused",
		[OPTION_TEXT] = "text",		[OPTION_CHOICE] = "choice",   [OPTION_NUMBER] = "number",
		[OPTION_SIZE] = "size",		[OPTION_FD] = "fd",	      [OPTION_PERCENT] = "decimal",
		[OPTION_DURATION] = "duration",
	};

	return names[kind];
}

static const struct option *find_name(const struct option *table, const char *name, size_t len)
{
	for (const struct option *o = table; o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct option *find_letter(const struct option *table, char letter)
{
	for (const struct option *o = table; o->name; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static int refuse_unknown(const struct parser *p, const char *word, struct fault *f)
{
	const char *names[LISTED_MAX + 1] = { 0 };
	const char *name = word + strspn(word, "-");
	_cleanup_free_ char *typed = strndup(name, strcspn(name, "="));
	size_t n = 0;
	int near = -1;

	for (const struct option *o = p->set->options; o->name && n < LISTED_MAX; o++)
		if (option_is_listed(o))
			names[n++] = o->name;
	/* A single letter is near to nothing. */
	if (typed && typed[0] && typed[1])
		near = str_nearest(typed, names);
	if (near >= 0)
		return fault_set(f, EINVAL, "unknown option '%s'; did you mean '--%s'? (see: %s)", word,
				 names[near], p->set->help);
	return fault_set(f, EINVAL, "unknown option '%s' (see: %s)", word, p->set->help);
}

/* --- values -------------------------------------------------------------------------------------------------------- */

/* "1.5" -> 150. */
static int parse_percent(const char *text, uint64_t *ret)
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
	/* Less than a hundredth must not become 0, which means "no limit". */
	return *ret || strspn(text, "0.") == strlen(text) ? 0 : -ERANGE;
}

/* Docker writes 512m, 2GB or 2GiB, which are all powers of 1024; profiles write 512M. */
static int parse_size(const char *text, uint64_t *ret)
{
	_cleanup_free_ char *upper = strdup(text);
	size_t n;

	if (!upper)
		return -ENOMEM;
	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	n = strlen(upper);
	if (n > 1 && upper[n - 1] == 'B') {
		upper[--n] = '\0';
		if (n > 1 && upper[n - 1] == 'I' && strchr("KMGTPE", upper[n - 2]))
			upper[--n] = '\0';
	}
	return str_to_size(upper, ret);
}

static int set_fd(const struct option *o, const char *text, int *ret, struct fault *f)
{
	uint64_t fd = 0;

	if (str_to_u64(text, &fd) < 0 || fd > 65535)
		return fault_set(f, EINVAL, "--%s: invalid descriptor '%s'", o->name, text);
	if (fcntl((int)fd, F_GETFD) < 0)
		return fault_set(f, EBADF, "--%s: descriptor %s is not open", o->name, text);
	*ret = (int)fd;
	return 0;
}

static int set_choice(const struct option *o, const char *text, const char **ret, struct fault *f)
{
	_cleanup_free_ char *words = strdup(o->value);
	const char *names[CHOICES_MAX + 1] = { 0 };
	char *rest = words, *word;
	size_t n = 0;
	int near;

	if (!words)
		return fault_errno(f, ENOMEM, "--%s", o->name);
	while (n < CHOICES_MAX && (word = strsep(&rest, "|"))) {
		if (strcmp(word, text) == 0) {
			*ret = text;
			return 0;
		}
		names[n++] = word;
	}
	near = str_nearest(text, names);
	if (near >= 0)
		return fault_set(f, EINVAL, "--%s: invalid value '%s'; did you mean '%s'? (use %s)", o->name,
				 text, names[near], o->value);
	return fault_set(f, EINVAL, "--%s: invalid value '%s' (use %s)", o->name, text, o->value);
}

static const char *describe_kind(enum option_kind kind)
{
	if (kind == OPTION_SIZE)
		return "size (use 512M, 2G, or bytes)";
	if (kind == OPTION_DURATION)
		return "duration (use 90s, 30m, 2h, 1d, or seconds)";
	return kind == OPTION_PERCENT ? "decimal number (use 2, 0.5, or 0 for no limit)" : "number";
}

static int set_number(const struct option *o, const char *text, uint64_t *ret, struct fault *f)
{
	uint64_t n = 0;
	int r = o->kind == OPTION_SIZE	     ? parse_size(text, &n)
		: o->kind == OPTION_DURATION ? str_to_seconds(text, &n)
		: o->kind == OPTION_PERCENT  ? parse_percent(text, &n)
					     : str_to_u64(text, &n);

	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "--%s", o->name);
	if (r < 0)
		return fault_set(f, EINVAL, "--%s: '%s' is not a %s", o->name, text, describe_kind(o->kind));
	if (n == 0 && (o->flags & OPTION_NOT_ZERO))
		return fault_set(f, ERANGE, "--%s: 0 is not allowed", o->name);
	if (n != 0 && n < o->min)
		return fault_set(f, ERANGE,
				 "--%s: '%s' is too small (at least %" PRIu64 ", or 0 for no limit)", o->name,
				 text, o->min);
	if (o->max && n > o->max)
		return fault_set(f, ERANGE, "--%s: '%s' is too large (at most %" PRIu64 ")", o->name, text,
				 o->max);
	*ret = n;
	return 0;
}

static int set_text(const struct option *o, const char *text, void *at, struct fault *f)
{
	if (!(o->flags & OPTION_LIST)) {
		*(const char **)at = text;
		return 0;
	}
	return strv_append(at, text) < 0 ? fault_errno(f, ENOMEM, "--%s", o->name) : 0;
}

static int store(const struct option *o, const char *text, void *at, struct fault *f)
{
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		return 0;
	case OPTION_IGNORED:
		return 0;
	case OPTION_REFUSED:
		return fault_set(f, ENOTSUP, "--%s: %s", o->name, o->help);
	case OPTION_TEXT:
		return set_text(o, text, at, f);
	case OPTION_CHOICE:
		return set_choice(o, text, at, f);
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_PERCENT:
		return set_number(o, text, at, f);
	case OPTION_FD:
		return set_fd(o, text, at, f);
	}
	return 0;
}

/* VALUE is NULL for a flag, and for an optional value that was not given. */
static int set_option(struct parser *p, const struct option *o, const char *value, struct fault *f)
{
	const struct option **other = o->group ? &p->groups[o->group % GROUPS_MAX] : NULL;
	int r = 0;

	if (other && *other && *other != o)
		return fault_set(f, EINVAL, "--%s and --%s cannot be used together", (*other)->name, o->name);
	if (other)
		*other = o;
	if (value && (o->flags & OPTION_UTF8) && !str_is_utf8(value, strlen(value)))
		return fault_set(f, EILSEQ, "--%s: '%s' is not UTF-8", o->name, value);
	if (value && o->check)
		r = o->check(value, f);
	if (r == 0 && (value || !option_takes_value(o)))
		r = store(o, value, p->values + o->at, f);
	if (r < 0)
		return r;
	if (o->given)
		*(bool *)(p->values + o->given) = true;
	if (o->flags & OPTION_REQUIRED)
		p->required |= UINT64_C(1) << ((size_t)(o - p->set->options) % 64);
	return 0;
}

/* --- words --------------------------------------------------------------------------------------------------------- */

static bool needs_value(const struct option *o)
{
	return option_takes_value(o) && !(o->flags & OPTION_OPTIONAL_VALUE);
}

static int parse_long(struct parser *p, struct fault *f)
{
	const char *word = *p->at, *name = word + 2, *equals = strchr(name, '=');
	const struct option *o =
		find_name(p->set->options, name, equals ? (size_t)(equals - name) : strlen(name));
	const char *value = equals ? equals + 1 : NULL;

	if (!o && strcmp(name, "help") == 0)
		return OPTION_HELP;
	if (!o)
		return refuse_unknown(p, word, f);
	if (value && !option_takes_value(o) && o->kind != OPTION_REFUSED)
		return fault_set(f, EINVAL, "--%s takes no value", o->name);
	if (needs_value(o) && !value) {
		value = p->at[1];
		if (!value)
			return fault_set(f, EINVAL, "--%s needs a value: %s", o->name, o->value);
		p->at++;
	}
	return set_option(p, o, value, f);
}

static int parse_letters(struct parser *p, struct fault *f)
{
	const char *word = *p->at;

	for (const char *c = word + 1; *c; c++) {
		const struct option *o = find_letter(p->set->options, *c);
		const char *value = NULL;
		int r;

		if (!o && *c == 'h')
			return OPTION_HELP;
		if (!o)
			return refuse_unknown(p, word, f);
		if (needs_value(o)) {
			value = c[1] ? c + 1 : p->at[1];
			if (!value)
				return fault_set(f, EINVAL, "-%c needs a value: %s", *c, o->value);
			if (!c[1])
				p->at++;
			return set_option(p, o, value, f);
		}
		r = set_option(p, o, NULL, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int require_given(const struct parser *p, struct fault *f)
{
	for (const struct option *o = p->set->options; o->name; o++)
		if ((o->flags & OPTION_REQUIRED) &&
		    !(p->required & UINT64_C(1) << ((size_t)(o - p->set->options) % 64)))
			return fault_set(f, EINVAL, "missing option --%s %s (see: %s)", o->name,
					 o->value ? o->value : "", p->set->help);
	return 0;
}

int option_parse(const struct option_set *s, char *const *words, void *values, char ***ret_args,
		 struct fault *f)
{
	struct parser p = { .set = s, .at = words, .values = values };
	_cleanup_free_ char **args = calloc(strv_len(words) + 1, sizeof(*args));
	bool ended = false;
	size_t n = 0;
	int r;

	if (!args)
		return fault_errno(f, ENOMEM, "command line");
	for (; *p.at; p.at++) {
		const char *word = *p.at;

		if (ended || word[0] != '-' || !word[1]) {
			args[n++] = *p.at;
			ended = ended || s->end_at_first_argument;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			ended = true;
			continue;
		}
		r = word[1] == '-' ? parse_long(&p, f) : parse_letters(&p, f);
		if (r != 0)
			return r;
	}
	r = require_given(&p, f);
	if (r < 0)
		return r;
	*ret_args = TAKE_PTR(args);
	return 0;
}
