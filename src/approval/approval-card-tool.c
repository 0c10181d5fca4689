/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "approval/approval-card-impl.h"
#include "tty/card-text.h"

#define SCHEMA "custody.tool/1"

bool approval_card_is_tool(const struct approval_card_facts *k)
{
	return str_eq(jdoc_get_string(k->subject, "schema"), SCHEMA);
}

static void put_credentials(struct strbuf *b, const struct jdoc *names)
{
	for (size_t i = 0; names && names->type == JDOC_ARRAY && i < names->n_items; i++) {
		const struct jdoc *name = names->items[i];

		strbuf_puts(b, i ? ", " : "");
		card_put_word(b, name->type == JDOC_STRING ? name->string : "?");
	}
}

void approval_card_add_tool(struct card *c, const struct approval_card_facts *k)
{
	const char *tool = jdoc_get_string(k->subject, "tool"),
		   *declaration = jdoc_get_string(k->subject, "declaration"),
		   *subject = jdoc_get_string(k->subject, "subject");
	const struct jdoc *params = jdoc_get(k->subject, "params");
	_cleanup_strbuf_ struct strbuf b = { 0 }, all = { 0 };

	card_put_word(&b, tool ? tool : "?");
	strbuf_printf(&b, " outside of the sandbox, as custody.json declares it (%.19s)",
		      declaration ? declaration : "?");
	approval_card_add_built(c, "calls", CARD_WARN, &b);
	put_credentials(&b, jdoc_get(k->subject, "credentials"));
	if (b.len)
		approval_card_add_built(c, "secrets", CARD_WARN, &b);
	for (size_t i = 0; params && params->type == JDOC_OBJECT && i < params->n_members; i++) {
		card_put_word(&b, params->members[i].key);
		strbuf_puts(&b, " = ");
		approval_card_put_json(&b, params->members[i].value);
		strbuf_add(&all, b.text ? b.text : "", b.len);
		approval_card_add_built(c, i ? "" : "with", CARD_PLAIN, &b);
	}
	if (all.broken)
		c->broken = true;
	else if (all.text)
		approval_card_add_letters(c, all.text);
	card_add(c, "for", CARD_PLAIN, "a session with the subject %.19s", subject ? subject : "?");
}

/* With the level of each call where that is not A. */
void approval_card_add_tools(struct card *c, const struct jdoc *broker)
{
	const struct jdoc *tools = jdoc_get(broker, "tools"),
			  *calls = jdoc_get(broker, "max_tool_calls_per_session");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t n = tools && tools->type == JDOC_ARRAY ? tools->n_items : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = jdoc_get_string(tools->items[i], "name"),
			   *level = jdoc_get_string(tools->items[i], "level"),
			   *digest = jdoc_get_string(tools->items[i], "digest");

		strbuf_puts(&b, i ? ", " : "");
		card_put_word(&b, name ? name : "?");
		strbuf_printf(&b, " (level %s, %.19s", level ? level : "?", digest ? digest : "?");
		if (jdoc_get(tools->items[i], "credentials"))
			strbuf_puts(&b, ", with credentials: ");
		put_credentials(&b, jdoc_get(tools->items[i], "credentials"));
		strbuf_putc(&b, ')');
	}
	if (n == 0)
		strbuf_puts(&b, "none");
	if (calls && calls->type == JDOC_INT)
		strbuf_printf(&b, "; at most %" PRId64 " calls", calls->integer);
	approval_card_add_built(c, "tools", n ? CARD_WARN : CARD_PLAIN, &b);
}
