/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/egress-impl.h"

/*
 * One shape for every refusal that HTTP can carry: 403 with host and port, the nearest rule, and the entry that would allow it.  The id is that
 * of the record.
 */
static void put_remedy(struct jdoc *d, const struct egress_connection *c)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	const char *profile = c->server->config.profile;

	strbuf_printf(&text, "custody profile show --origin %s", profile);
	jdoc_set_string(d, "command", text.text);
	strbuf_done(&text);
	text = (struct strbuf){ 0 };
	if (!*c->name)
		return;
	strbuf_printf(&text, "add {\"host\": \"%s\", \"port\": %u", c->name, (unsigned int)c->port);
	if (c->port == 80 || c->door == EGRESS_DOOR_PROXY)
		strbuf_puts(&text, ", \"protocol\": \"http\"");
	strbuf_printf(&text, "} to network.hosts of profile '%s'", profile);
	jdoc_set_string(d, "remedy", text.text);
}

void egress_reply_refusal(struct egress_connection *c, const char *why, bool failed)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_free_ char *rule = c->rule ? host_rule_text(c->rule) : NULL;
	_cleanup_strbuf_ struct strbuf body = { 0 };
	char id[32];

	egress_id_text(c->id, id);
	jdoc_set_string(d, "error", failed ? "custody: not reachable" : "custody: refused");
	jdoc_set_string(d, "id", id);
	jdoc_set_string(d, "reason", why);
	if (c->detail)
		jdoc_set_string(d, "detail", c->detail);
	jdoc_set(d, "rule", rule ? jdoc_new_string(rule) : jdoc_new_null());
	jdoc_set(d, "host", *c->name ? jdoc_new_string(c->name) : jdoc_new_null());
	jdoc_set_int(d, "port", c->port);
	if (!failed)
		put_remedy(d, c);
	if (jdoc_write(d, JDOC_CANONICAL, &body, NULL) < 0)
		return;
	strbuf_printf(&c->out,
		      "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		      "Connection: close\r\nX-Custody-Id: %s\r\n\r\n%s\n",
		      failed ? "502 Bad Gateway" : "403 Forbidden", body.len + 1, id, body.text);
}

void egress_reply_connected(struct egress_connection *c)
{
	strbuf_puts(&c->out, "HTTP/1.1 200 Connection established\r\n\r\n");
}
