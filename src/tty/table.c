/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "tty/text-width.h"

#define GAP 2	      /* blanks between columns */
#define LAST_LEAST 20 /* columns for the last one, before extra columns are left out */
#define DOTS "..."

size_t table_terminal_width(int fd)
{
	struct winsize size;

	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void table_init(struct table *t, const struct table_column *columns, size_t n, FILE *out)
{
	*t = (struct table){ .columns = columns, .n = n, .out = out, .terminal = isatty(fileno(out)) };
	t->room = t->terminal ? table_terminal_width(fileno(out)) : 0;
	for (size_t i = 0; i < n; i++) {
		size_t title = text_width(columns[i].title);

		t->width[i] = title > columns[i].width ? title : columns[i].width;
	}
}

void table_put(struct table *t, const char *const *cells)
{
	if (!t->cells)
		t->cells = calloc(TABLE_BATCH * t->n, sizeof(*t->cells));
	for (size_t i = 0; i < t->n; i++) {
		char *text = cells[i] && *cells[i] ? str_escape(cells[i]) : NULL;
		size_t columns = text ? text_width(text) : 1;

		t->used[i] |= text && strcmp(text, "-") != 0;
		if (columns > t->width[i])
			t->width[i] = columns;
		if (t->cells)
			t->cells[t->n_rows * t->n + i] = text;
		else
			free(text);
	}
	if (t->cells && ++t->n_rows == TABLE_BATCH)
		table_flush(t);
}

static size_t fixed_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t i = 0; i + 1 < t->n; i++)
		sum += t->hidden[i] ? 0 : t->width[i] + GAP;
	return sum;
}

/* ALL: every row is known, so a column without text can be left out. */
static void choose_columns(struct table *t, bool all)
{
	const unsigned int last = t->columns[t->n - 1].width, least = last ? last : LAST_LEAST;

	if (!t->terminal)
		return;
	for (size_t i = 0; all && i + 1 < t->n; i++)
		t->hidden[i] = t->columns[i].extra && !t->used[i];
	for (size_t i = t->n; t->room && i > 0 && fixed_width(t) + least > t->room; i--)
		t->hidden[i - 1] |= t->columns[i - 1].extra;
}

/* A cell that was cut ends in dots. */
static void put_cut(struct strbuf *b, const char *text, size_t columns)
{
	size_t dots = sizeof(DOTS) - 1;

	if (text_width(text) <= columns) {
		strbuf_puts(b, text);
		return;
	}
	if (columns < dots)
		dots = columns;
	strbuf_add(b, text, text_width_fit(text, columns - dots));
	strbuf_add(b, DOTS, dots);
}

static void put_blanks(struct strbuf *b, size_t n)
{
	while (n-- > 0)
		strbuf_putc(b, ' ');
}

static void print_line(const struct table *t, const char *const *cells)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t left = t->room ? t->room : SIZE_MAX;

	for (size_t i = 0; i < t->n && left > 0; i++) {
		const char *text = cells[i] ? cells[i] : "-";
		size_t columns = text_width(text), blanks = 0;

		if (t->hidden[i])
			continue;
		if (columns < t->width[i] && (i + 1 < t->n || t->columns[i].right))
			blanks = t->width[i] - columns;
		if (columns + blanks > left)
			blanks = columns < left ? left - columns : 0;
		if (t->columns[i].right)
			put_blanks(&b, blanks);
		put_cut(&b, text, left);
		left -= columns + blanks < left ? columns + blanks : left;
		if (i + 1 == t->n)
			break;
		put_blanks(&b, t->columns[i].right ? 0 : blanks);
		blanks = left < GAP ? left : GAP;
		put_blanks(&b, blanks);
		left -= blanks;
	}
	while (b.len > 0 && b.text[b.len - 1] == ' ')
		b.text[--b.len] = '\0';
	fprintf(t->out, "%s\n", b.broken || !b.text ? "(out of memory)" : b.text);
}

static void print_rows(struct table *t, bool all)
{
	if (t->n_rows && !t->headed) {
		const char *titles[TABLE_COLUMNS_MAX];

		choose_columns(t, all);
		for (size_t i = 0; i < t->n; i++)
			titles[i] = t->columns[i].title;
		print_line(t, titles);
		t->headed = true;
	}
	for (size_t i = 0; i < t->n_rows; i++)
		print_line(t, (const char *const *)t->cells + i * t->n);
	for (size_t i = 0; i < t->n_rows * t->n; i++) {
		free(t->cells[i]);
		t->cells[i] = NULL;
	}
	t->n_rows = 0;
}

void table_flush(struct table *t)
{
	print_rows(t, false);
}

bool table_is_empty(const struct table *t)
{
	return !t->headed && t->n_rows == 0;
}

void table_end(struct table *t, const char *legend)
{
	print_rows(t, true);
	if (legend && t->terminal && t->headed) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		put_cut(&b, legend, t->room ? t->room : SIZE_MAX);
		fprintf(t->out, "%s\n", b.text ? b.text : "");
	}
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_rows * t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->n_rows = 0;
}
