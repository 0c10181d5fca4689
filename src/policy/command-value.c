/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * Values that the words show: x=/; rm -rf $x, eval "$(echo rm -rf /)", read x <<< 'rm -rf /'; $x. The text is
 * read again with the values in their places, and only an unbounded delete counts: this can raise a level,
 * never lower one. Values that a program computes stay unknown.
 */
#define VALUES_NESTED_MAX 3
#define VALUES_READ_MAX 24 /* combinations */
#define VALUES_EACH_MAX 8
#define VALUES_MAX 512
#define EXPANSIONS_MAX 64

/* --- texts that are printed ---------------------------------------------------------------------------------- */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* One escape of printf or `echo -e`, after the backslash. */
static const char *copy_escape(char **out, const char *p)
{
	static const char from[] = "abefnrtv\\\"'", to[] = "\a\b\033\f\n\r\t\v\\\"'";
	const char *known = *p ? strchr(from, *p) : NULL;
	int value = 0;

	if (known) {
		*(*out)++ = to[known - from];
		return p + 1;
	}
	if (*p == 'x' && hex_value(p[1]) >= 0) {
		for (p++; hex_value(*p) >= 0 && value < 16; p++)
			value = value * 16 + hex_value(*p);
	} else if (is_octal(*p)) {
		for (size_t n = 0; is_octal(*p) && n < 4 && value < 32; p++, n++)
			value = value * 8 + (*p - '0');
	} else {
		*(*out)++ = '\\';
		return p;
	}
	if (value > 5 && value < 256)
		*(*out)++ = (char)value;
	return p;
}

/* One pass over the format; *AT is the next argument. True if it used one. */
static bool print_format(char **out, const struct shell_word *w, size_t n, const char *format, size_t *at)
{
	bool used = false;

	for (const char *p = format; *p;) {
		if (*p == '\\') {
			p = copy_escape(out, p + 1);
			continue;
		}
		if (*p != '%') {
			*(*out)++ = *p++;
			continue;
		}
		p += 1 + strspn(p + 1, "-+ #0123456789.*'lhjzt");
		if (*p == '%') {
			*(*out)++ = '%';
		} else if (*p && *at < n) {
			for (const char *a = w[(*at)++].text; *a;)
				if (*p == 'b' && *a == '\\')
					a = copy_escape(out, a + 1);
				else
					*(*out)++ = *a++;
			used = true;
		}
		p += *p != '\0';
	}
	return used;
}

static char *print_words(struct classifier *k, const struct shell_word *w, size_t n, bool format)
{
	size_t room = 1, at = 1;
	char *text, *out;

	for (size_t i = 0; i < n; i++)
		room += strlen(w[i].text) + 1;
	/* A format is used again until no argument is left. */
	room = format && n > 0 ? (strlen(w[0].text) + 1) * n + room : room;
	if (!classifier_spend(k, room))
		return NULL;
	text = out = arena_alloc(k->arena, room);
	if (!text)
		return NULL;
	if (format && n > 0)
		while (print_format(&out, w, n, w[0].text, &at) && at < n)
			;
	for (size_t i = 0; !format && i < n; i++) {
		if (i > 0)
			*out++ = ' ';
		for (const char *p = w[i].text; *p;)
			if (*p == '\\')
				p = copy_escape(&out, p + 1);
			else
				*out++ = *p++;
	}
	*out = '\0';
	return text;
}

/* What echo, printf or a print of the working directory writes. */
char *classifier_printed_text(struct classifier *k, const struct shell_command *c)
{
	const char *name = c->n_words > 0 ? command_base(c->words[0].text, &(bool){ false }) : "";
	size_t skip = 1;
	static char here[] = ".";

	if (str_eq(name, "pwd"))
		return here;
	if (str_eq(name, "git") && c->n_words == 3 && str_eq(c->words[2].text, "--show-toplevel"))
		return here;
	if ((str_eq(name, "realpath") || str_eq(name, "readlink")) && c->n_words > 1)
		return print_words(k, c->words + c->n_words - 1, 1, false);
	if (str_eq(name, "cat") && c->n_words == 1 && c->redirects &&
	    c->redirects->kind == SHELL_REDIRECT_HERE)
		return print_words(k, &c->redirects->word, 1, false);
	if (str_eq(name, "echo")) {
		while (skip < c->n_words && c->words[skip].text[0] == '-' && c->words[skip].text[1] &&
		       strspn(c->words[skip].text + 1, "neE") == strlen(c->words[skip].text + 1))
			skip++;
		return print_words(k, c->words + skip, c->n_words - skip, false);
	}
	if (!str_eq(name, "printf"))
		return NULL;
	if (skip < c->n_words && str_eq(c->words[skip].text, "-v"))
		skip += 2;
	if (skip < c->n_words && str_eq(c->words[skip].text, "--"))
		skip++;
	return skip < c->n_words ? print_words(k, c->words + skip, c->n_words - skip, true) : NULL;
}

/* --- values of variables ------------------------------------------------------------------------------------- */

static bool has_value(const struct classifier *k, const struct shell_command *commands, const char *name,
		      const char *text, size_t len)
{
	for (const struct classifier_value *v = k->values; v; v = v->next)
		if (v->commands == commands && str_eq(v->name, name) && strlen(v->text) == len &&
		    memcmp(v->text, text, len) == 0)
			return true;
	return false;
}

/* An unknown value is kept as "\x01": it may become known when the text is read again. */
static void add_value(struct classifier *k, const struct shell_command *commands, const char *name,
		      const char *text, size_t at)
{
	struct classifier_value *v;
	size_t len;
	char *copy;

	if (!text || k->n_values >= VALUES_MAX || !classifier_spend(k, strlen(text) + 8))
		return;
	if (command_text_is_unknown(text))
		text = "\x01";
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (has_value(k, commands, name, text, len))
		return;
	k->n_values++;
	v = arena_alloc(k->arena, sizeof(*v));
	copy = arena_text(k->arena, text, len);
	if (!v || !copy)
		return;
	*v = (struct classifier_value){ k->values, name, copy, commands, at };
	k->values = v;
}

static void add_appended(struct classifier *k, const struct shell_command *commands,
			 const struct shell_assignment *a)
{
	const struct classifier_value *v = k->values;
	size_t n = 0;

	for (; v && n < VALUES_EACH_MAX; v = v->next) {
		const struct shell_word both[2] = { { v->text, 0 }, a->value };
		char *text;

		if (!str_eq(v->name, a->name))
			continue;
		n++;
		text = arena_alloc(k->arena, strlen(v->text) + strlen(a->value.text) + 1);
		if (!text)
			return;
		memcpy(text, both[0].text, strlen(both[0].text));
		memcpy(text + strlen(both[0].text), both[1].text, strlen(both[1].text) + 1);
		add_value(k, commands, a->name, text, a->at);
	}
	if (n == 0)
		add_value(k, commands, a->name, a->value.text, a->at);
}

/* The Nth field of TEXT; the last variable of `read` gets all that is left. */
static char *take_field(struct classifier *k, const char *text, size_t n, bool last)
{
	text += strspn(text, " \t\n");
	while (n-- > 0) {
		text += strcspn(text, " \t\n");
		text += strspn(text, " \t\n");
	}
	return arena_text(k->arena, text, last ? strlen(text) : strcspn(text, " \t\n"));
}

/* read, mapfile: each text that a command of this text prints, and each here-document, may be the input. */
static void add_read(struct classifier *k, const struct shell_command *first, const struct shell_command *c)
{
	size_t from = 1;

	while (from < c->n_words && c->words[from].text[0] == '-')
		from += strpbrk(c->words[from].text, "adinNptu") && !c->words[from].text[2] ? 2 : 1;
	if (from > c->n_words)
		return;
	for (const struct shell_command *o = c->redirects ? c : first; o; o = c->redirects ? NULL : o->next) {
		const char *texts[2] = { o == c ? NULL : classifier_printed_text(k, o), NULL };

		for (const struct shell_redirect *d = o->redirects; d; d = d->next)
			if (d->kind == SHELL_REDIRECT_HERE)
				texts[1] = d->word.text;
		for (size_t t = 0; t < 2; t++)
			for (size_t i = from; texts[t] && i < c->n_words; i++)
				add_value(k, first, c->words[i].text,
					  take_field(k, texts[t], i - from, i + 1 == c->n_words), c->at);
	}
}

static bool declares(const char *name)
{
	return str_eq(name, "export") || str_eq(name, "declare") || str_eq(name, "typeset") ||
	       str_eq(name, "local") || str_eq(name, "readonly") || str_eq(name, "env") ||
	       str_eq(name, "sudo");
}

/* declare x=/, export x=/, printf -v x ... */
static void add_declared(struct classifier *k, const struct shell_command *first,
			 const struct shell_command *c)
{
	if (str_eq(c->words[0].text, "printf") && c->n_words > 3 && str_eq(c->words[1].text, "-v")) {
		add_value(k, first, c->words[2].text, classifier_printed_text(k, c), c->at);
		return;
	}
	for (size_t i = 1; declares(c->words[0].text) && i < c->n_words; i++) {
		const char *equals = strchr(c->words[i].text, '=');
		char *name =
			equals ? arena_text(k->arena, c->words[i].text, (size_t)(equals - c->words[i].text))
			       : NULL;

		if (name)
			add_value(k, first, name, equals + 1, c->at);
	}
}

static void add_params(struct classifier *k, const struct shell_command *first, const struct shell_word *w,
		       size_t n, size_t at)
{
	static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
	char *all = n > 1 ? classifier_join_words(k, w + 1, n - 1) : NULL;

	for (size_t i = 1; i < n && i < 10; i++)
		add_value(k, first, names[i], w[i].text, at);
	if (!all)
		return;
	add_value(k, first, "@", all, at);
	add_value(k, first, "*", all, at);
}

void classifier_collect_values(struct classifier *k, const struct shell *parsed)
{
	const struct shell_command *first = parsed->first;

	if (k->n_params > 0) {
		add_value(k, first, "0", k->params[0].text, 0);
		add_params(k, first, k->params, k->n_params, 0);
	}
	for (const struct shell_command *c = first; c; c = c->next) {
		for (const struct shell_assignment *a = c->assignments; a; a = a->next)
			if (a->append)
				add_appended(k, first, a);
			else
				add_value(k, first, a->name, a->value.text, a->at);
		for (size_t i = 0; c->variable && i < c->n_words; i++)
			add_value(k, first, c->variable, c->words[i].text, c->at);
		if (c->variable && c->n_words > 1)
			add_value(k, first, c->variable, classifier_join_words(k, c->words, c->n_words),
				  c->at);
		if (c->n_words == 0 || c->perhaps)
			continue;
		if (str_eq(c->words[0].text, "read") || str_eq(c->words[0].text, "mapfile") ||
		    str_eq(c->words[0].text, "readarray"))
			add_read(k, first, c);
		else if (str_eq(c->words[0].text, "set") && c->n_words > 1)
			add_params(k, first, c->words + (str_eq(c->words[1].text, "--") ? 1 : 0),
				   c->n_words - (str_eq(c->words[1].text, "--") ? 1 : 0), c->at);
		else if (!command_row_find(c->words[0].text))
			add_params(k, first, c->words, c->n_words, 0); /* a function's arguments */
		else
			add_declared(k, first, c);
	}
}

/* --- the text with values ------------------------------------------------------------------------------------ */

struct filling {
	const char *text;
	const struct shell *parsed;
	const struct shell_expansion *e[EXPANSIONS_MAX]; /* in the order of the text, outer ones first */
	size_t n;
};

static void sort_expansions(struct filling *f)
{
	for (const struct shell_expansion *e = f->parsed->expansions; e && f->n < EXPANSIONS_MAX;
	     e = e->next) {
		size_t i = f->n++;

		for (; i > 0 && (f->e[i - 1]->from > e->from ||
				 (f->e[i - 1]->from == e->from && f->e[i - 1]->to < e->to));
		     i--)
			f->e[i] = f->e[i - 1];
		f->e[i] = e;
	}
}

static const char *place_value(const char *name)
{
	return str_eq(name, "HOME") ? "~" : str_eq(name, "PWD") ? "." : NULL;
}

/* The values that E may have. The first is the one of straight-line code: the last assignment before it. */
static size_t values_of(struct classifier *k, const struct filling *f, const struct shell_expansion *e,
			const char *ret[VALUES_EACH_MAX])
{
	size_t n = 0, latest = 0;

	if (!e->name) {
		for (const struct shell_command *c = f->parsed->first; c && n < VALUES_EACH_MAX;
		     c = c->next) {
			char *text = c->scope == e->scope ? classifier_printed_text(k, c) : NULL;

			if (text && !command_text_is_unknown(text))
				ret[n++] = text;
			/* tr a b <<< 'rm -rf /': perhaps it prints what it reads. */
			for (const struct shell_redirect *d = c->scope == e->scope ? c->redirects : NULL;
			     d && n < VALUES_EACH_MAX; d = d->next)
				if (d->kind == SHELL_REDIRECT_HERE && !command_text_is_unknown(d->word.text))
					ret[n++] = d->word.text;
		}
		return n;
	}
	if (place_value(e->name))
		ret[n++] = place_value(e->name);
	for (const struct classifier_value *v = k->values; v && n < VALUES_EACH_MAX; v = v->next) {
		bool here = v->commands == f->parsed->first;

		if (!str_eq(v->name, e->name) || !classifier_spend(k, 1))
			continue;
		ret[n++] = v->text;
		/* Newest first: the first one before the expansion is the latest. */
		if ((!here || v->at < e->from) && latest == 0) {
			latest = n;
			ret[n - 1] = ret[0];
			ret[0] = v->text;
		}
	}
	return n;
}

/* VALUE as it must be spelled at E so that the shell reads these characters. */
static char *spell(char *out, const struct shell_expansion *e, const char *value)
{
	bool words = e->quoted && e->name && (*e->name == '@');

	for (const char *p = value; *p; p++) {
		if (e->quoted ? strchr("\"$`\\", *p) != NULL : strchr(";|&<>()$`\"'\\#{}", *p) != NULL)
			*out++ = '\\';
		else if (!e->quoted && e->assigned && strchr(" \t\n*?[", *p))
			*out++ = '\\';
		if (words && *p == ' ') {
			memcpy(out, "\" \"", 3);
			out += 3;
		} else {
			*out++ = *p == '\n' && !e->quoted ? ' ' : *p;
		}
	}
	return out;
}

/* Expansions of the same variable get the same value. */
static size_t stride_of(const struct filling *f, const size_t strides[], size_t i)
{
	for (size_t o = 0; o < i; o++)
		if (f->e[i]->name && f->e[o]->name && str_eq(f->e[i]->name, f->e[o]->name) && strides[o])
			return strides[o];
	return 0;
}

/*
 * Chooses the values of combination CHOICE. *RET_MOST is the number of values of one expansion, *RET_ALL that of
 * combinations; 0 if no value is known.
 */
static size_t choose(struct classifier *k, const struct filling *f, size_t choice,
		     const char *ret[EXPANSIONS_MAX], size_t *ret_most, size_t *ret_all)
{
	size_t strides[EXPANSIONS_MAX] = { 0 }, all = 1, most = 1, room = 0;
	bool any = false;

	for (size_t i = 0; i < f->n; i++) {
		const char *values[VALUES_EACH_MAX + 1];
		size_t n = values_of(k, f, f->e[i], values);

		ret[i] = NULL;
		if (f->e[i]->instead)
			values[n++] = f->e[i]->instead;
		if (n == 0)
			continue;
		strides[i] = stride_of(f, strides, i);
		if (strides[i] == 0) {
			strides[i] = all;
			all = all < VALUES_READ_MAX ? all * n : all;
		}
		/* First each variable's value of the same age, then every combination. */
		if (choice < VALUES_EACH_MAX)
			ret[i] = values[choice < n ? choice : n - 1];
		else
			ret[i] = values[(choice - VALUES_EACH_MAX) / strides[i] % n];
		most = n > most ? n : most;
		any = true;
		if (command_text_is_unknown(ret[i]))
			ret[i] = NULL;
		else
			room += 4 * strlen(ret[i]) + 4;
	}
	*ret_most = any ? most : 0;
	*ret_all = any ? all : 0;
	return room;
}

/* The text with the values of combination CHOICE; NULL if CHOICE is not one of them. */
static char *fill(struct classifier *k, const struct filling *f, size_t choice, bool *ret_more)
{
	const char *chosen[EXPANSIONS_MAX];
	size_t most, all, done = 0, room = strlen(f->text) + 1 + choose(k, f, choice, chosen, &most, &all);
	char *text, *out;

	*ret_more = choice < VALUES_EACH_MAX ? most > 0 : choice - VALUES_EACH_MAX < all;
	if (choice < VALUES_EACH_MAX ? choice >= most : choice - VALUES_EACH_MAX >= all || all == most)
		return NULL;
	if (!classifier_spend(k, room))
		return NULL;
	text = out = arena_alloc(k->arena, room);
	for (size_t i = 0; text && i < f->n; i++) {
		size_t before = f->e[i]->from - done;

		if (!chosen[i] || f->e[i]->from < done)
			continue;
		memcpy(out, f->text + done, before);
		out += before;
		done = f->e[i]->to;
		if (chosen[i] == f->e[i]->instead) {
			memcpy(out, chosen[i], strlen(chosen[i]));
			out += strlen(chosen[i]);
		} else {
			out = spell(out, f->e[i], chosen[i]);
		}
	}
	if (!text)
		return NULL;
	memcpy(out, f->text + done, strlen(f->text + done) + 1);
	return text;
}

void classifier_probe_values(struct classifier *k, const char *text, const struct shell *parsed)
{
	struct filling f = { .text = text, .parsed = parsed };
	bool more = true;

	if (k->filled >= VALUES_NESTED_MAX || !parsed->expansions)
		return;
	sort_expansions(&f);
	k->filled++;
	for (size_t i = 0; more && i < VALUES_EACH_MAX + VALUES_READ_MAX && k->fuel / 8 > strlen(text); i++) {
		const char *filled = fill(k, &f, i, &more);

		if (filled)
			classifier_probe_text(k, filled);
	}
	k->filled--;
}
