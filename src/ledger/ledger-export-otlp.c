/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-export-impl.h"

static void open_attribute(struct strbuf *b, const char *key, const char *type)
{
	strbuf_puts(b, ",{\"key\":\"custody.");
	strbuf_puts(b, key);
	strbuf_puts(b, "\",\"value\":{\"");
	strbuf_puts(b, type);
	strbuf_puts(b, "\":\"");
}

static void put_attribute(struct strbuf *b, const char *key, struct span content)
{
	if (!content.at || content.len == 0)
		return;
	open_attribute(b, key, "stringValue");
	strbuf_add(b, content.at, content.len);
	strbuf_puts(b, "\"}}");
}

/* 64-bit numbers are strings in this encoding. */
static void put_number(struct strbuf *b, const char *key, uint64_t value)
{
	open_attribute(b, key, "intValue");
	strbuf_number(b, value);
	strbuf_puts(b, "\"}}");
}

/* d is JSON of ASCII: as a string it needs only two escapes. */
static void put_details(struct strbuf *b, struct span d)
{
	open_attribute(b, "d", "stringValue");
	for (size_t i = 0; i < d.len; i++) {
		if (d.at[i] == '"' || d.at[i] == '\\')
			strbuf_putc(b, '\\');
		strbuf_putc(b, d.at[i]);
	}
	strbuf_puts(b, "\"}}");
}

static void put_severity(struct strbuf *b, enum export_severity s)
{
	static const struct {
		unsigned int number;
		const char *text;
	} of[] = {
		[SEVERITY_INFO] = { 9, "INFO" },       [SEVERITY_LOW] = { 10, "INFO2" },
		[SEVERITY_MEDIUM] = { 13, "WARN" },    [SEVERITY_HIGH] = { 17, "ERROR" },
		[SEVERITY_CRITICAL] = { 21, "FATAL" },
	};

	strbuf_printf(b, "\"severityNumber\":%u,\"severityText\":\"%s\"", of[s].number, of[s].text);
}

static void put_times(struct strbuf *b, uint64_t us)
{
	/* A number with three zeros, not a product: it cannot overflow. */
	strbuf_puts(b, "{\"timeUnixNano\":\"");
	strbuf_number(b, us);
	strbuf_puts(b, us ? "000\",\"observedTimeUnixNano\":\"" : "\",\"observedTimeUnixNano\":\"");
	strbuf_number(b, us);
	strbuf_puts(b, us ? "000\"," : "\",");
}

void export_put_otlp(const struct record *r, struct strbuf *b)
{
	const struct export_kind *k = export_kind_of(r);

	strbuf_puts(b,
		    "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
		    "{\"stringValue\":\"custody\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"custody.ledger\","
		    "\"version\":\"1\"},\"logRecords\":[");
	put_times(b, export_time_us(r));
	put_severity(b, export_severity_of(k, export_outcome_of(r)));
	strbuf_puts(b, ",\"eventName\":\"");
	strbuf_add(b, r->kind.at, r->kind.len);
	strbuf_puts(b, "\",\"body\":{\"stringValue\":\"");
	if (k->name)
		strbuf_puts(b, k->name);
	else
		strbuf_add(b, r->kind.at, r->kind.len);
	strbuf_puts(b, "\"},\"attributes\":[{\"key\":\"custody.seq\",\"value\":{\"intValue\":\"");
	strbuf_number(b, r->seq);
	strbuf_puts(b, "\"}}");
	put_attribute(b, "h", (struct span){ r->head, 64 });
	put_attribute(b, "prev", (struct span){ r->prev, 64 });
	put_attribute(b, "kind", r->kind);
	put_attribute(b, "session", r->session);
	put_attribute(b, "agent", r->agent);
	put_attribute(b, "worker", r->worker);
	put_attribute(b, "status", r->status);
	put_attribute(b, "boot", (struct span){ r->boot, 8 });
	put_number(b, "bt", r->boot_ns);
	put_details(b, r->d);
	strbuf_puts(b, "]}]}]}]}\n");
}
