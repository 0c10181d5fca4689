/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/json.h"

struct writer {
	struct strbuf *out;
	bool pretty;
	struct fault *f;
};

static void put_escape(struct strbuf *out, unsigned char c)
{
	/* clang-format off */
	static const char short_form[0x20] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};
	/* clang-format on */

	strbuf_putc(out, '\\');
	if (c == '"' || c == '\\')
		strbuf_putc(out, (char)c);
	else if (short_form[c])
		strbuf_putc(out, short_form[c]);
	else
		strbuf_printf(out, "u%04x", c);
}

/* Length of the prefix of TEXT that needs no escape: most text, copied at once. */
static size_t plain_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= 0x20 && text[n] <= 0x7e && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

void jdoc_quote(struct strbuf *out, const char *text)
{
	size_t len = strlen(text);

	strbuf_putc(out, '"');
	while (len > 0) {
		unsigned char c = (unsigned char)*text;
		size_t step = plain_len(text, len);

		if (step > 0) {
			strbuf_add(out, text, step);
			text += step;
			len -= step;
			continue;
		}
		step = str_utf8_step(text, len);
		if (step == 0) {
			strbuf_puts(out, "\xef\xbf\xbd");
			step = 1;
		} else if (c < 0x20 || c == '"' || c == '\\') {
			put_escape(out, c);
		} else {
			strbuf_add(out, text, step);
		}
		text += step;
		len -= step;
	}
	strbuf_putc(out, '"');
}

static void put_break(const struct writer *w, unsigned int depth)
{
	static const char blanks[] = "\n                                ";
	const unsigned int at_once = (sizeof(blanks) - 2) / 2;
	unsigned int n = depth < at_once ? depth : at_once;

	if (!w->pretty)
		return;
	strbuf_add(w->out, blanks, 1 + 2 * (size_t)n);
	for (; n < depth; n++)
		strbuf_add(w->out, "  ", 2);
}

/* Without printf, which takes a thousand instructions per number. */
static void put_int(struct strbuf *out, const struct jdoc *d)
{
	uint64_t bits = (uint64_t)d->integer;
	bool negative = d->integer < 0 && !d->wide;

	if (negative)
		strbuf_putc(out, '-');
	strbuf_number(out, negative ? -bits : bits);
}

static int put_value(const struct writer *w, const struct jdoc *d, unsigned int depth);

static int put_array(const struct writer *w, const struct jdoc *d, unsigned int depth)
{
	strbuf_putc(w->out, '[');
	for (size_t i = 0; i < d->n_items; i++) {
		int r;

		if (i > 0)
			strbuf_putc(w->out, ',');
		put_break(w, depth + 1);
		r = put_value(w, d->items[i], depth + 1);
		if (r < 0)
			return r;
	}
	if (d->n_items > 0)
		put_break(w, depth);
	strbuf_putc(w->out, ']');
	return 0;
}

static int put_object(const struct writer *w, const struct jdoc *d, unsigned int depth)
{
	strbuf_putc(w->out, '{');
	for (size_t i = 0; i < d->n_members; i++) {
		int r;

		if (i > 0)
			strbuf_putc(w->out, ',');
		put_break(w, depth + 1);
		jdoc_quote(w->out, d->members[i].key);
		strbuf_puts(w->out, w->pretty ? ": " : ":");
		r = put_value(w, d->members[i].value, depth + 1);
		if (r < 0)
			return r;
	}
	if (d->n_members > 0)
		put_break(w, depth);
	strbuf_putc(w->out, '}');
	return 0;
}

/* Recursion is bounded by the depth that the reader accepts: every written document can be read back. */
static int put_value(const struct writer *w, const struct jdoc *d, unsigned int depth)
{
	if (d->broken)
		return fault_set(w->f, ENOMEM,
				 "document is incomplete: no memory, or text that is not UTF-8");
	if (depth >= JDOC_DEPTH_MAX && (d->type == JDOC_ARRAY || d->type == JDOC_OBJECT))
		return fault_set(w->f, EINVAL, "document is nested more than %d levels deep", JDOC_DEPTH_MAX);
	switch (d->type) {
	case JDOC_NULL:
		strbuf_puts(w->out, "null");
		return 0;
	case JDOC_BOOL:
		strbuf_puts(w->out, d->boolean ? "true" : "false");
		return 0;
	case JDOC_INT:
		put_int(w->out, d);
		return 0;
	case JDOC_STRING:
		jdoc_quote(w->out, d->string);
		return 0;
	case JDOC_ARRAY:
		return put_array(w, d, depth);
	case JDOC_OBJECT:
		return put_object(w, d, depth);
	}
	return fault_set(w->f, EINVAL, "document has a value of unknown type (%d)", (int)d->type);
}

int jdoc_write(const struct jdoc *d, enum jdoc_style style, struct strbuf *out, struct fault *f)
{
	const struct writer w = { .out = out, .pretty = style == JDOC_PRETTY, .f = f };
	size_t before = out->len;
	int r;

	if (!d)
		return fault_errno(f, ENOMEM, "document");
	r = put_value(&w, d, 0);
	if (r == 0 && w.pretty)
		strbuf_putc(out, '\n');
	if (r == 0 && out->broken)
		r = fault_errno(f, ENOMEM, "text of document");
	/* Discard a partial document. */
	if (r < 0 && out->text) {
		out->len = before;
		out->text[before] = '\0';
	}
	return r;
}
