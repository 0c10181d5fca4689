/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/card.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "tty/card-text.h"

#define LABEL_AT 2
#define TEXT_AT 13
#define COLUMNS_FOR_TWO 60 /* narrower: labels have lines of their own */
#define NARROW_LABEL_AT 0
#define NARROW_TEXT_AT 2
#define CELL_SIZE sizeof("\\U0010ffff")

void card_add(struct card *c, const char *label, enum card_tone tone, const char *fmt, ...)
{
	struct card_row *rows = reallocarray(c->rows, c->n_rows + 1, sizeof(*rows));
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (rows)
		c->rows = rows;
	if (n < 0 || !rows) {
		c->broken = true;
		if (n >= 0)
			free(text);
		return;
	}
	c->rows[c->n_rows++] = (struct card_row){ .label = label, .text = text, .tone = tone };
}

void card_done(struct card *c)
{
	for (size_t i = 0; i < c->n_rows; i++)
		free(c->rows[i].text);
	free(c->rows);
	*c = (struct card){ 0 };
}

static bool says_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

struct card_style card_style_of(int fd)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool smart = term && *term && strcmp(term, "dumb") != 0;
	struct winsize size = { 0 };
	struct card_style s = { .utf8 = says_utf8() };

	if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		s.columns = size.ws_col;
	s.color = fd >= 0 && isatty(fd) && smart && !(no_color && *no_color);
	return s;
}

/* A text split into lines, cell by cell: an escape must never be split. */
struct card_lines {
	struct strbuf text; /* of all lines, without indentation */
	struct {
		size_t at, len; /* in TEXT */
		size_t end;	/* bytes of the original shown so far */
	} * line;
	size_t n;
	bool broken;
};

static void lines_done(struct card_lines *l)
{
	strbuf_done(&l->text);
	free(l->line);
}

static void end_line(struct card_lines *l, size_t at, size_t len, size_t end)
{
	void *p = reallocarray(l->line, l->n + 1, sizeof(*l->line));

	if (!p) {
		l->broken = true;
		return;
	}
	l->line = p;
	l->line[l->n].at = at;
	l->line[l->n].len = len;
	l->line[l->n++].end = end;
}

/*
 * One cell.  A C1 control is two bytes of UTF-8; a terminal that is not in UTF-8 executes the second byte
 * alone.  So only ASCII is written to such a terminal.
 */
static size_t put_cell(struct strbuf *out, const char *text, const struct card_char *c, bool utf8)
{
	size_t before = out->len;

	if (c->width > 0 && (utf8 || c->code < 0x80)) {
		strbuf_add(out, text, c->step);
		return c->width;
	}
	card_put_escaped(out, c);
	return out->len - before;
}

/* Breaks after a blank if possible; a break inside a word is marked, so that it is not read as a blank. */
static void wrap(const char *text, size_t columns, bool utf8, struct card_lines *l)
{
	const size_t len = strlen(text), room = columns - 1; /* the last column is for the mark */
	size_t start = 0, used = 0, blank = 0, blank_used = 0, blank_end = 0;

	for (size_t i = 0; i < len;) {
		struct card_char c = card_char_at(text + i, len - i);
		size_t before = l->text.len, width = put_cell(&l->text, text + i, &c, utf8);

		if (l->text.broken)
			return;
		if (used + width > room && blank > start) {
			end_line(l, start, blank - start, blank_end);
			start = blank;
			used -= blank_used;
			blank = 0;
		}
		if (used + width > room) {
			/* Insert the mark in front of the cell that did not fit. */
			_cleanup_strbuf_ struct strbuf cell = { 0 };

			strbuf_add(&cell, l->text.text + before, l->text.len - before);
			l->text.len = before;
			strbuf_putc(&l->text, '\\');
			end_line(l, start, before + 1 - start, i);
			start = before + 1;
			used = 0;
			strbuf_add(&l->text, cell.text ?: "", cell.len);
			l->text.broken |= cell.broken;
		}
		used += width;
		i += c.step;
		if (c.code == ' ') {
			blank = l->text.len;
			blank_used = used;
			blank_end = i;
		}
	}
	end_line(l, start, l->text.len - start, len);
}

struct pen {
	const struct card_style *style;
	struct strbuf *out;
	unsigned int columns, label_at, text_at;
	bool narrow;
};

static void indent(const struct pen *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		strbuf_putc(p->out, ' ');
}

static void put_colored(const struct pen *p, const char *sequence, const char *bytes, size_t len)
{
	if (p->style->color && sequence)
		strbuf_puts(p->out, sequence);
	strbuf_add(p->out, bytes, len);
	if (p->style->color && sequence)
		strbuf_puts(p->out, "\033[0m");
}

static void put_label(const struct pen *p, const char *label)
{
	size_t len = strlen(label);

	if (p->narrow) {
		if (len == 0)
			return;
		put_colored(p, "\033[2m", label, len);
		strbuf_puts(p->out, ":\n");
		return;
	}
	indent(p, p->label_at);
	put_colored(p, len ? "\033[2m" : NULL, label, len);
	indent(p, p->text_at - p->label_at - (unsigned int)len);
}

static void put_line(const struct pen *p, const struct card_lines *l, size_t i, enum card_tone tone)
{
	static const char *const sequences[] = { [CARD_STRONG] = "\033[1m", [CARD_WARN] = "\033[1;33m" };
	const char *text = l->text.text ? l->text.text + l->line[i].at : "";

	put_colored(p, sequences[tone], text, l->line[i].len);
	strbuf_putc(p->out, '\n');
}

static void put_lines(const struct pen *p, const struct card_lines *l, size_t from, size_t to,
		      enum card_tone tone)
{
	for (size_t i = from; i < to; i++) {
		if (i > 0 || p->narrow)
			indent(p, p->text_at);
		put_line(p, l, i, tone);
	}
}

/* MISSING bytes of the row's TOTAL are omitted here. */
static void put_gap(const struct pen *p, size_t missing, size_t total)
{
	_cleanup_(lines_done) struct card_lines l = { 0 };
	_cleanup_strbuf_ struct strbuf cut = { 0 };

	strbuf_printf(&cut, "[%zu of %zu bytes are not shown here; %s]", missing, total,
		      p->style->how_to_see);
	wrap(cut.text ? cut.text : "", p->columns - p->text_at, false, &l);
	if (cut.broken || l.broken || l.text.broken) {
		p->out->broken = true;
		return;
	}
	indent(p, p->narrow ? 0 : p->text_at);
	put_lines(p, &l, 0, l.n, CARD_WARN);
}

static void put_row(const struct pen *p, const struct card_row *row, const struct card_lines *l)
{
	/* Keep beginning and end: the end of a long command is as important as its beginning. */
	const size_t head = CARD_ROW_LINES / 2, tail = CARD_ROW_LINES / 3;

	put_label(p, row->label);
	if (p->style->full || !p->style->how_to_see || l->n <= CARD_ROW_LINES) {
		put_lines(p, l, 0, l->n, row->tone);
		return;
	}
	put_lines(p, l, 0, head, row->tone);
	put_gap(p, l->line[l->n - tail - 1].end - l->line[head - 1].end, strlen(row->text));
	put_lines(p, l, l->n - tail, l->n, row->tone);
}

int card_draw(const struct card *c, const struct card_style *style, struct strbuf *out, struct fault *f)
{
	unsigned int columns = style->columns ? style->columns : 80;
	struct pen p = { .style = style, .out = out };

	p.columns = columns < CARD_COLUMNS_MIN ? CARD_COLUMNS_MIN : columns;
	p.narrow = p.columns < COLUMNS_FOR_TWO;
	p.label_at = p.narrow ? NARROW_LABEL_AT : LABEL_AT;
	p.text_at = p.narrow ? NARROW_TEXT_AT : TEXT_AT;
	for (size_t i = 0; i < c->n_rows && !c->broken; i++) {
		_cleanup_(lines_done) struct card_lines l = { 0 };

		wrap(c->rows[i].text, p.columns - p.text_at, style->utf8, &l);
		if (l.broken || l.text.broken)
			return fault_errno(f, ENOMEM, "card");
		put_row(&p, &c->rows[i], &l);
	}
	if (c->broken || out->broken)
		return fault_errno(f, ENOMEM, "card");
	return 0;
}
