/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect-impl.h"

void inspect_found_done(struct inspect_found *found)
{
	for (size_t i = 0; i < found->n; i++)
		free(found->items[i].place);
	*found = (struct inspect_found){ .options = found->options };
}

static bool is_allowed(const struct inspect_found *found, enum inspect_rule rule)
{
	return found->options && !inspect_rule_is_fixed(rule) && found->options->allow >> rule & 1;
}

static bool has(const struct inspect_found *found, enum inspect_rule rule, const char *place)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->items[i].rule == rule && str_eq(found->items[i].place, place))
			return true;
	return false;
}

/* PLACE, or its beginning: a path may be as long as a record. */
static char *cut(const char *place)
{
	char *text = strndup(place, INSPECT_PLACE_MAX);

	if (text && strlen(place) > INSPECT_PLACE_MAX)
		memcpy(text + INSPECT_PLACE_MAX - 3, "...", 3);
	return text;
}

void inspect_add(struct inspect_found *found, enum inspect_rule rule, const char *place)
{
	_cleanup_free_ char *shown = cut(place);

	if (is_allowed(found, rule) || (shown && has(found, rule, shown)))
		return;
	found->total++;
	if (found->n < INSPECT_FINDINGS_MAX)
		found->items[found->n++] = (struct inspect_finding){ .rule = rule, .place = TAKE_PTR(shown) };
}

/* No rule could say so without memory: the total alone refuses. */
void inspect_broken(struct inspect_found *found)
{
	found->total++;
}

/* Line of byte AT.  From the last report on: many of them in a long line must not each count the lines before it. */
static size_t find_line(const struct inspect_scan *s, size_t at)
{
	struct inspect_state *state = s->state;
	const char *p, *lf, *end = s->top + at;

	if (at < state->at || state->line == 0) {
		state->at = 0;
		state->line = 1;
	}
	for (p = s->top + state->at; p < end && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
		state->line++;
	state->at = at;
	return state->line;
}

void inspect_report(const struct inspect_scan *s, enum inspect_rule rule, size_t at)
{
	_cleanup_strbuf_ struct strbuf place = { 0 };

	if (is_allowed(s->found, rule))
		return;
	/* Only those that are kept have a line. */
	if (s->found->n == INSPECT_FINDINGS_MAX) {
		s->found->total++;
		return;
	}
	strbuf_puts(&place, s->place);
	if (s->lines)
		strbuf_printf(&place, ":%zu", find_line(s, s->depth > 0 ? s->at : at));
	if (place.broken)
		inspect_broken(s->found);
	else
		inspect_add(s->found, rule, place.text ? place.text : "");
}

static void put_finding(struct strbuf *b, const struct inspect_finding *i)
{
	strbuf_printf(b, "%s in %s", inspect_rule_name(i->rule), i->place ? i->place : "(out of memory)");
}

char *inspect_found_describe(const struct inspect_found *found)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (size_t i = 0; i < found->n; i++) {
		strbuf_puts(&b, i > 0 ? ", " : "");
		put_finding(&b, &found->items[i]);
	}
	if (found->n == 0 && found->total > 0)
		strbuf_puts(&b, "no end: out of memory");
	else if (found->total > found->n)
		strbuf_printf(&b, " and %zu more", found->total - found->n);
	return strbuf_take(&b);
}

struct jdoc *inspect_found_to_json(const struct inspect_found *found)
{
	struct jdoc *list = jdoc_new_array();

	for (size_t i = 0; i < found->n; i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		put_finding(&b, &found->items[i]);
		jdoc_append_string(list, b.broken ? NULL : b.text);
	}
	return list;
}

void inspect_scan_bytes(const struct inspect_scan *s, const char *p, size_t len)
{
	inspect_known(s, p, len);
	inspect_triggers(s, p, len);
	inspect_environ(s, p, len);
	inspect_runs(s, p, len);
	inspect_hex(s, p, len);
	inspect_wide(s, p, len);
	inspect_view_lines(s, p, len);
}

/* Binary data has no lines. */
static void check_lines(const struct inspect_scan *s, const char *p, size_t len)
{
	size_t at = 0;

	if (memchr(p, '\0', len))
		return;
	while (len - at > INSPECT_LINE_MAX) {
		const char *lf = memrchr(p + at, '\n', INSPECT_LINE_MAX + 1);

		if (!lf) {
			inspect_report(s, INSPECT_LINE_LONG, at);
			return;
		}
		at = (size_t)(lf - p) + 1;
	}
}

void inspect_value(const struct inspect_scan *s, const char *p, size_t len)
{
	struct inspect_scan scan = *s;
	struct inspect_state state;

	if (len > INSPECT_TEXT_MAX) {
		inspect_add(s->found, INSPECT_TEXT_LARGE, s->place);
		len = INSPECT_TEXT_MAX;
	}
	if (len == 0)
		return;
	inspect_state_init(&state);
	scan.state = &state;
	scan.top = p;
	inspect_scan_bytes(&scan, p, len);
	check_lines(&scan, p, len);
}

void inspect_text(const char *place, const char *bytes, size_t len, struct inspect_found *found)
{
	inspect_value(&(struct inspect_scan){ .found = found, .place = place, .lines = true }, bytes, len);
}
