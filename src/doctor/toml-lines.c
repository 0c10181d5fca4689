/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "doctor/toml-lines.h"

struct line_reader {
	const char *file, *at;
	unsigned int line;
	char *table;
	int (*each)(const struct toml_line *l, void *arg);
	void *arg;
};

static int refuse(const struct line_reader *r, unsigned int line, const char *what, struct fault *f)
{
	return fault_set(f, EINVAL, "%s:%u: %s", r->file, line, what);
}

/* Blanks, line ends and comments. */
static void skip_space(struct line_reader *r)
{
	for (;; r->at++) {
		if (*r->at == '#')
			r->at += strcspn(r->at, "\n");
		if (*r->at == '\n')
			r->line++;
		else if (*r->at == '\0' || !strchr(" \t\r", *r->at))
			return;
	}
}

/* A dotted name without quotes and blanks. */
static void put_name(struct strbuf *b, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("\"' \t\r", text[i]))
			strbuf_putc(b, text[i]);
}

/* AT is a quote.  An escaped character is taken literally: no escape sequence occurs in paths and names. */
static int read_string(struct line_reader *r, char ***words, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *word = NULL;
	unsigned int line = r->line;
	char quote = *r->at;
	bool triple = r->at[1] == quote && r->at[2] == quote;

	for (r->at += triple ? 3 : 1; *r->at; r->at++) {
		if (*r->at == quote && (!triple || (r->at[1] == quote && r->at[2] == quote)))
			break;
		if (*r->at == '\n' && !triple)
			return refuse(r, line, "unterminated string", f);
		if (*r->at == '\\' && quote == '"' && r->at[1] != '\0' && r->at[1] != '\n')
			r->at++;
		r->line += *r->at == '\n';
		strbuf_putc(&b, *r->at);
	}
	if (*r->at == '\0')
		return refuse(r, line, "unterminated string", f);
	r->at += triple ? 3 : 1;
	word = strbuf_take(&b);
	if (!word || strv_append(words, word) < 0)
		return fault_errno(f, ENOMEM, "%s", r->file);
	return 0;
}

/* To the end of the line, or of the list that starts on it. */
static int read_value(struct line_reader *r, char ***words, struct fault *f)
{
	unsigned int line = r->line;
	int depth = 0, e;

	while (*r->at && (*r->at != '\n' || depth > 0)) {
		switch (*r->at) {
		case '#':
			r->at += strcspn(r->at, "\n");
			continue;
		case '"':
		case '\'':
			e = read_string(r, words, f);
			if (e < 0)
				return e;
			continue;
		case '[':
		case '{':
			depth++;
			break;
		case ']':
		case '}':
			depth--;
			break;
		case '\n':
			r->line++;
			break;
		default:
			break;
		}
		r->at++;
	}
	return depth == 0 ? 0 : refuse(r, line, depth > 0 ? "unterminated list" : "']' without '['", f);
}

/* "[table]" or "[[table]]" */
static int read_table(struct line_reader *r, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t len;

	r->at += strspn(r->at, "[");
	len = strcspn(r->at, "]\n");
	if (r->at[len] != ']')
		return refuse(r, r->line, "'[' without ']'", f);
	put_name(&b, r->at, len);
	r->at += len + strspn(r->at + len, "]");
	free(r->table);
	r->table = strbuf_take(&b);
	if (!r->table)
		return fault_errno(f, ENOMEM, "%s", r->file);
	return r->each(&(struct toml_line){ r->file, r->line, r->table, NULL }, r->arg);
}

static int read_key(struct line_reader *r, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_strv_ char **words = NULL;
	unsigned int line = r->line;
	size_t len = strcspn(r->at, "=\n");
	int e;

	if (r->at[len] != '=')
		return refuse(r, line, "expected [TABLE] or KEY = VALUE", f);
	if (r->table && *r->table)
		strbuf_printf(&b, "%s.", r->table);
	put_name(&b, r->at, len);
	r->at += len + 1;
	e = read_value(r, &words, f);
	if (e < 0)
		return e;
	if (b.broken || !b.text)
		return b.broken ? fault_errno(f, ENOMEM, "%s", r->file)
				: refuse(r, line, "missing key before '='", f);
	return r->each(&(struct toml_line){ r->file, line, b.text, words }, r->arg);
}

int toml_lines_read(const char *path, int (*each)(const struct toml_line *l, void *arg), void *arg,
		    struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	/* O_NONBLOCK: a FIFO of this name must not block. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct line_reader r = { .file = path, .line = 1, .each = each, .arg = arg };
	size_t len;
	int e;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	e = fd_read_all(fd, TOML_SIZE_MAX, &text, &len, f);
	if (e < 0)
		return fault_wrap(f, e, "'%s'", path);
	if (strlen(text) != len)
		return fault_set(f, EINVAL, "'%s' is not a text file: it contains a NUL byte", path);
	r.at = text;
	for (skip_space(&r); e == 0 && *r.at; skip_space(&r)) {
		e = *r.at == '[' ? read_table(&r, f) : read_key(&r, f);
		if (e == -ENOMEM && f && !f->code)
			(void)fault_errno(f, ENOMEM, "%s", path);
	}
	free(r.table);
	return e;
}
