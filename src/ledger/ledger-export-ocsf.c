/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "ledger/ledger-export-impl.h"

/* The attributes used here have the same meaning in all versions from this one on. */
#define OCSF_VERSION "1.3.0"

static void put_number(struct strbuf *b, const char *name, uint64_t value)
{
	strbuf_puts(b, ",\"");
	strbuf_puts(b, name);
	strbuf_puts(b, "\":");
	strbuf_number(b, value);
}

static void put_text(struct strbuf *b, const char *name, const char *value)
{
	strbuf_puts(b, ",\"");
	strbuf_puts(b, name);
	strbuf_puts(b, "\":\"");
	strbuf_puts(b, value);
	strbuf_putc(b, '"');
}

static void put_metadata(const struct record *r, struct strbuf *b)
{
	strbuf_puts(b, ",\"metadata\":{\"version\":\"" OCSF_VERSION "\",\"product\":{\"name\":\"custody\","
		       "\"vendor_name\":\"custody\"},\"log_name\":\"ledger\",\"log_version\":\"1\"");
	export_put_member(b, "uid", (struct span){ r->head, 64 });
	put_number(b, "sequence", r->seq);
	export_put_member(b, "event_code", r->kind);
	export_put_member(b, "original_time", (struct span){ r->t, 27 });
	export_put_member(b, "correlation_uid", r->session);
	strbuf_putc(b, '}');
}

static void put_actor(const struct record *r, struct strbuf *b)
{
	struct span by = export_get_text(r, "by"), name = by.at ? by : export_get_text(r, "approver");

	strbuf_puts(b, ",\"actor\":{\"app_name\":\"");
	if (r->agent.at && r->agent.len > 0)
		strbuf_add(b, r->agent.at, r->agent.len);
	else
		strbuf_puts(b, "custody");
	strbuf_putc(b, '"');
	export_put_member(b, "app_uid", r->worker);
	if (r->session.at && r->session.len > 0) {
		strbuf_puts(b, ",\"session\":{\"uid\":\"");
		strbuf_add(b, r->session.at, r->session.len);
		strbuf_puts(b, "\"}");
	}
	if (name.at && name.len > 0) {
		strbuf_puts(b, ",\"user\":{\"name\":\"");
		strbuf_add(b, name.at, name.len);
		strbuf_puts(b, "\"}");
	}
	strbuf_putc(b, '}');
}

static void put_process(const struct record *r, struct strbuf *b)
{
	_cleanup_strbuf_ struct strbuf line = { 0 };
	struct span code = record_get(r, "code");
	uint64_t pid;

	strbuf_puts(b, ",\"process\":{\"uid\":\"");
	if (r->session.at)
		strbuf_add(b, r->session.at, r->session.len);
	strbuf_putc(b, '"');
	if (record_get_u64(r, "pid", &pid))
		put_number(b, "pid", pid);
	export_put_command(&line, r);
	if (line.len > 0)
		export_put_member(b, "cmd_line", (struct span){ line.text, line.len });
	b->broken |= line.broken;
	strbuf_putc(b, '}');
	if (code.at && *code.at != '"' && *code.at != '{' && *code.at != '[') {
		strbuf_puts(b, ",\"exit_code\":");
		strbuf_add(b, code.at, code.len);
	}
}

static void put_entity(const struct record *r, const struct export_kind *k, struct strbuf *b)
{
	strbuf_puts(b, ",\"entity\":{\"name\":\"");
	strbuf_puts(b, k->entity);
	strbuf_putc(b, '"');
	put_text(b, "type", k->entity);
	export_put_member(b, "uid", k->id ? export_get_text(r, k->id) : r->session);
	strbuf_putc(b, '}');
}

static void put_user(const struct record *r, struct strbuf *b)
{
	struct span name = export_get_text(r, "approver");

	strbuf_puts(b, ",\"user\":{\"name\":\"");
	if (name.at)
		strbuf_add(b, name.at, name.len);
	else
		strbuf_puts(b, "unknown");
	strbuf_putc(b, '"');
	export_put_member(b, "uid", export_get_text(r, "key_id"));
	strbuf_puts(b, "},\"service\":{\"name\":\"custody\"}");
}

static void put_api(const struct record *r, struct strbuf *b)
{
	struct span host = export_get_text(r, "to");

	strbuf_puts(b, ",\"api\":{\"operation\":\"");
	strbuf_add(b, r->kind.at, r->kind.len);
	strbuf_puts(b, "\"},\"src_endpoint\":{\"name\":\"custody\"}");
	if (host.at && host.len > 0) {
		strbuf_puts(b, ",\"dst_endpoint\":{\"name\":\"");
		strbuf_add(b, host.at, host.len);
		strbuf_puts(b, "\"}");
	}
}

/* What its class requires. */
static void put_class(const struct record *r, const struct export_kind *k, struct strbuf *b)
{
	switch (k->class) {
	case CLASS_BASE:
		break;
	case CLASS_PROCESS:
		put_actor(r, b);
		/* Of the host only the boot id is in the record. */
		strbuf_puts(b, ",\"device\":{\"type_id\":0,\"instance_uid\":\"");
		strbuf_add(b, r->boot, 8);
		strbuf_puts(b, "\"}");
		put_process(r, b);
		break;
	case CLASS_FINDING:
		strbuf_puts(b, ",\"finding_info\":{\"title\":\"");
		strbuf_puts(b, k->name);
		strbuf_putc(b, '"');
		export_put_member(b, "uid", (struct span){ r->head, 64 });
		strbuf_putc(b, '}');
		break;
	case CLASS_AUTHENTICATION:
		put_actor(r, b);
		put_user(r, b);
		break;
	case CLASS_ENTITY:
		put_actor(r, b);
		put_entity(r, k, b);
		break;
	case CLASS_API:
		put_actor(r, b);
		put_api(r, b);
		break;
	}
}

/* Everything of the record that has no attribute, and all that is needed to find and check its line. */
static void put_unmapped(const struct record *r, struct strbuf *b)
{
	strbuf_puts(b, ",\"unmapped\":{\"seq\":");
	strbuf_number(b, r->seq);
	export_put_member(b, "prev", (struct span){ r->prev, 64 });
	export_put_member(b, "h", (struct span){ r->head, 64 });
	export_put_member(b, "boot", (struct span){ r->boot, 8 });
	put_number(b, "bt", r->boot_ns);
	export_put_member(b, "agent", r->agent);
	export_put_member(b, "worker", r->worker);
	strbuf_puts(b, ",\"d\":");
	strbuf_add(b, r->d.at, r->d.len);
	strbuf_putc(b, '}');
}

void export_put_ocsf(const struct record *r, struct strbuf *b)
{
	const struct export_kind *k = export_kind_of(r);
	enum export_outcome o = export_outcome_of(r);
	struct span name = k->name ? (struct span){ k->name, strlen(k->name) } : r->kind;

	strbuf_puts(b, "{\"class_uid\":");
	strbuf_number(b, (uint64_t)k->class);
	put_number(b, "category_uid", (uint64_t)k->class / 1000);
	put_number(b, "activity_id", k->activity);
	if (k->activity == ACTIVITY_OTHER)
		export_put_member(b, "activity_name", name);
	put_number(b, "type_uid", (uint64_t)k->class * 100 + k->activity);
	put_number(b, "time", export_time_us(r) / 1000);
	put_number(b, "severity_id", (uint64_t)export_severity_of(k, o));
	put_number(b, "status_id", (uint64_t)o);
	export_put_member(b, "status", r->status);
	export_put_member(b, "status_detail", export_get_text(r, "why"));
	export_put_member(b, "message", name);
	put_metadata(r, b);
	put_class(r, k, b);
	put_unmapped(r, b);
	strbuf_puts(b, "}\n");
}
