/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/json-text.h"
#include "base/str.h"

/*
 * Explains why yajl refused a text. yajl decides; this only finds the message, from the first token that it
 * did not accept.
 */
struct trouble {
	const struct jdoc_text *t;
	const struct jdoc_context *c;
	struct jdoc_place p; /* of the token in question */
	struct fault *f;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *container_name(char open)
{
	return open == '[' ? "array" : "object";
}

static bool at_end(const struct trouble *x)
{
	return x->p.offset >= x->t->len;
}

/* The current byte; NUL at the end. */
static char here(const struct trouble *x)
{
	return at_end(x) ? '\0' : x->t->bytes[x->p.offset];
}

/* "WANTED expected, found ..." */
static bool found_instead(const struct trouble *x, const char *wanted)
{
	const char *s = x->t->bytes + x->p.offset;
	size_t step = str_utf8_step(s, x->t->len - x->p.offset);

	if ((unsigned char)*s < 0x20 || *s == 0x7f)
		jdoc_refuse(x->t, &x->p, x->f, "%s expected, found control character U+%04X", wanted,
			    (unsigned char)*s);
	else
		jdoc_refuse(x->t, &x->p, x->f, "%s expected, found '%.*s'", wanted, (int)step, s);
	return true;
}

static bool explain_end(const struct trouble *x)
{
	if (x->c->inside)
		jdoc_refuse(x->t, &x->p, x->f, "text ends inside the %s that opens at %u:%u",
			    container_name(x->c->inside), x->c->line, x->c->column);
	else
		jdoc_refuse(x->t, &x->p, x->f, "text is empty: a JSON document is expected");
	return true;
}

/* An unclosed comment, or one that is not allowed here. */
static bool explain_comment(const struct trouble *x)
{
	const char *s = x->t->bytes + x->p.offset;

	if (x->t->len - x->p.offset < 2 || s[0] != '/' || (s[1] != '/' && s[1] != '*'))
		return false;
	jdoc_refuse(x->t, &x->p, x->f, "%s",
		    x->t->comments ? "comment is never closed: end it with */"
				   : "comments are not allowed here: remove it");
	return true;
}

static bool explain_escape(const struct trouble *x, size_t at)
{
	const char *s = x->t->bytes + at;
	size_t left = x->t->len - at;
	struct jdoc_place p = x->p;

	jdoc_place_move(x->t, &p, at);
	if (left >= 2 && s[1] == 'u')
		jdoc_refuse(x->t, &p, x->f, "\\u needs four hex digits");
	else if (left >= 2 && s[1] >= 0x20 && s[1] < 0x7f)
		jdoc_refuse(x->t, &p, x->f, "unknown escape '\\%c': for a backslash write two", s[1]);
	else
		jdoc_refuse(x->t, &p, x->f, "unknown escape: for a backslash write two");
	return true;
}

static bool is_escape(const char *s, size_t left)
{
	if (left < 2 || !s[1])
		return false;
	if (s[1] != 'u')
		return strchr("\"\\/bfnrt", s[1]);
	if (left < 6)
		return false;
	for (int i = 2; i < 6; i++)
		if (!s[i] || !strchr("0123456789abcdefABCDEF", s[i]))
			return false;
	return true;
}

static bool explain_string(const struct trouble *x)
{
	const char *bytes = x->t->bytes;
	struct jdoc_place p = x->p;

	for (size_t i = x->p.offset + 1; i < x->t->len; i++) {
		if (bytes[i] == '"')
			return false;
		if (bytes[i] == '\\') {
			if (i + 1 < x->t->len && !is_escape(bytes + i, x->t->len - i))
				return explain_escape(x, i);
			i++;
		} else if ((unsigned char)bytes[i] < 0x20) {
			jdoc_place_move(x->t, &p, i);
			jdoc_refuse(x->t, &p, x->f, "control character U+%04X in a string: write \\u%04x",
				    (unsigned char)bytes[i], (unsigned char)bytes[i]);
			return true;
		}
	}
	jdoc_refuse(x->t, &x->p, x->f, "string is never closed");
	return true;
}

static bool explain_word(const struct trouble *x)
{
	const char *s = x->t->bytes + x->p.offset;
	size_t n = 0, left = x->t->len - x->p.offset;

	while (n < left && n < 32 && (is_letter(s[n]) || is_digit(s[n])))
		n++;
	/* Valid words are refused too, because of the text after them, which is not explained here. */
	if ((n == 4 && (memcmp(s, "true", n) == 0 || memcmp(s, "null", n) == 0)) ||
	    (n == 5 && memcmp(s, "false", n) == 0))
		return false;
	jdoc_refuse(x->t, &x->p, x->f,
		    "unknown word '%.*s': text takes double quotes, other words are true, false, null",
		    (int)n, s);
	return true;
}

static bool explain_value(const struct trouble *x)
{
	char c = here(x);

	if (at_end(x))
		return explain_end(x);
	if (explain_comment(x))
		return true;
	if (c == '"')
		return explain_string(x);
	if (c == '-' || is_digit(c)) {
		jdoc_refuse(x->t, &x->p, x->f, "malformed number");
		return true;
	}
	if (is_letter(c))
		return explain_word(x);
	if (c == '\'') {
		jdoc_refuse(x->t, &x->p, x->f, "text takes double quotes, not single ones");
		return true;
	}
	return found_instead(x, "value");
}

static bool explain_key(const struct trouble *x)
{
	if (at_end(x))
		return explain_end(x);
	if (explain_comment(x))
		return true;
	if (here(x) == '"')
		return explain_string(x);
	return found_instead(x, "key in double quotes");
}

/* After a comma. */
static bool explain_next(struct trouble *x)
{
	const struct jdoc_place comma = x->p;
	bool array = x->c->inside == '[';

	jdoc_place_move(x->t, &x->p, x->p.offset + 1);
	jdoc_place_skip(x->t, &x->p);
	if (here(x) == (array ? ']' : '}')) {
		jdoc_refuse(x->t, &comma, x->f, "trailing comma after the last %s of the %s, remove it",
			    array ? "item" : "member", container_name(x->c->inside));
		return true;
	}
	return array ? explain_value(x) : explain_key(x);
}

static bool explain_after_value(struct trouble *x)
{
	char c = here(x);

	if (at_end(x) && x->c->inside)
		return explain_end(x);
	if (at_end(x))
		return false;
	if (explain_comment(x))
		return true;
	if (x->p.offset == x->c->at.offset && is_digit(c) && is_digit(x->t->bytes[x->p.offset - 1])) {
		jdoc_refuse(x->t, &x->p, x->f, "malformed number: it starts with a zero");
		return true;
	}
	if (!x->c->inside) {
		jdoc_refuse(x->t, &x->p, x->f, "unexpected text after the end of the document");
		return true;
	}
	if (c == ',')
		return explain_next(x);
	return found_instead(x, x->c->inside == '[' ? "',' or ']'" : "',' or '}'");
}

bool jdoc_explain(const struct jdoc_text *t, const struct jdoc_context *c, struct fault *f)
{
	struct trouble x = { .t = t, .c = c, .p = c->at, .f = f };

	jdoc_place_skip(t, &x.p);
	switch (c->last) {
	case JDOC_LAST_NOTHING:
		return explain_value(&x);
	case JDOC_LAST_OPEN:
		return c->inside == '[' ? explain_value(&x) : explain_key(&x);
	case JDOC_LAST_KEY:
		if (at_end(&x))
			return explain_end(&x);
		if (explain_comment(&x))
			return true;
		if (here(&x) != ':')
			return found_instead(&x, "':' after the key");
		jdoc_place_move(t, &x.p, x.p.offset + 1);
		jdoc_place_skip(t, &x.p);
		return explain_value(&x);
	case JDOC_LAST_VALUE:
		return explain_after_value(&x);
	}
	return false;
}
