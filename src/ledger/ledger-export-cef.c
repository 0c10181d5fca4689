/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "ledger/ledger-export-impl.h"

#define TEXT_MAX 4000 /* characters of a custom string of CEF */
#define NAME_MAX_CEF 512

/* Header: '|' and '\' are escaped, and it has no line end.  Extension: '=' and '\' are, line ends are \n and \r. */
enum part { HEADER, EXTENSION };

static void put_char(struct strbuf *b, enum part part, char c)
{
	unsigned char u = (unsigned char)c;

	if (c == '\\' || (part == HEADER && c == '|') || (part == EXTENSION && c == '=')) {
		strbuf_putc(b, '\\');
		strbuf_putc(b, c);
	} else if (part == EXTENSION && (c == '\n' || c == '\r')) {
		strbuf_puts(b, c == '\n' ? "\\n" : "\\r");
	} else {
		strbuf_putc(b, u < 0x20 || u == 0x7f ? ' ' : c);
	}
}

/* Bytes of a character that some readers take for a line end, or a terminal for a command: C1, U+2028, U+2029.  0: another one. */
static size_t control_len(const char *at, size_t left)
{
	const unsigned char *u = (const unsigned char *)at;

	if (left >= 2 && u[0] == 0xc2 && u[1] >= 0x80 && u[1] <= 0x9f)
		return 2;
	return left >= 3 && u[0] == 0xe2 && u[1] == 0x80 && (u[2] == 0xa8 || u[2] == 0xa9) ? 3 : 0;
}

/* TEXT up to MAX bytes, not within a character; the number of bytes behind it follows. */
static void put_escaped(struct strbuf *b, enum part part, const char *text, size_t len, size_t max)
{
	size_t n = len < max ? len : max;

	while (n < len && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++) {
		size_t control = control_len(text + i, n - i);

		put_char(b, part, control ? ' ' : text[i]);
		i += control ? control - 1 : 0;
	}
	if (n < len)
		strbuf_printf(b, "[+%zu bytes]", len - n);
}

static void put_content(struct strbuf *b, enum part part, struct span content, size_t max)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	export_put_decoded(&text, content.at, content.len);
	if (text.len > 0)
		put_escaped(b, part, text.text, text.len, max);
	b->broken |= text.broken;
}

static void put_field(struct strbuf *b, const char *key, struct span content)
{
	if (!content.at || content.len == 0)
		return;
	strbuf_putc(b, ' ');
	strbuf_puts(b, key);
	strbuf_putc(b, '=');
	put_content(b, EXTENSION, content, TEXT_MAX);
}

/* A custom string has a key for its value and one for its name. */
static void put_custom(struct strbuf *b, unsigned int n, const char *label, struct span content)
{
	char key[8] = "cs?";

	if (!content.at || content.len == 0)
		return;
	key[2] = (char)('0' + n);
	strbuf_printf(b, " %sLabel=%s", key, label);
	put_field(b, key, content);
}

static unsigned int severity(enum export_severity s)
{
	static const unsigned char of[] = {
		[SEVERITY_INFO] = 1, [SEVERITY_LOW] = 3,       [SEVERITY_MEDIUM] = 5,
		[SEVERITY_HIGH] = 8, [SEVERITY_CRITICAL] = 10,
	};

	return of[s];
}

static void put_header(const struct record *r, const struct export_kind *k, enum export_outcome o,
		       struct strbuf *b)
{
	strbuf_puts(b, "CEF:0|custody|custody|1|");
	put_content(b, HEADER, r->kind, NAME_MAX_CEF);
	strbuf_putc(b, '|');
	if (k->name)
		strbuf_puts(b, k->name);
	else
		put_content(b, HEADER, r->kind, NAME_MAX_CEF);
	strbuf_printf(b, "|%u|", severity(export_severity_of(k, o)));
}

void export_put_cef(const struct record *r, struct strbuf *b)
{
	const struct export_kind *k = export_kind_of(r);
	enum export_outcome o = export_outcome_of(r);
	struct span by = export_get_text(r, "by");
	uint64_t pid;

	put_header(r, k, o, b);
	strbuf_puts(b, "rt=");
	strbuf_number(b, export_time_us(r) / 1000);
	strbuf_puts(b, " externalId=");
	strbuf_number(b, r->seq);
	put_field(b, "act", r->kind);
	put_field(b, "outcome",
		  o == OUTCOME_SUCCESS	 ? (struct span){ "success", 7 }
		  : o == OUTCOME_FAILURE ? (struct span){ "failure", 7 }
					 : r->status);
	put_field(b, "reason", export_get_text(r, "why"));
	put_field(b, "suser", by.at ? by : export_get_text(r, "approver"));
	if (record_get_u64(r, "pid", &pid)) {
		strbuf_puts(b, " dpid=");
		strbuf_number(b, pid);
	}
	put_custom(b, 1, "h", (struct span){ r->head, 64 });
	put_custom(b, 2, "session", r->session);
	put_custom(b, 3, "agent", r->agent);
	put_custom(b, 4, "worker", r->worker);
	put_custom(b, 5, "status", r->status);
	strbuf_puts(b, " cs6Label=d cs6=");
	put_escaped(b, EXTENSION, r->d.at, r->d.len, TEXT_MAX);
	strbuf_putc(b, '\n');
}
