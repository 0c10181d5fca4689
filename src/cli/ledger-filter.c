/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cli/dispatch.h"
#include "base/clock.h"
#include "base/str.h"
#include "cli/cmd-ledger.h"
#include "ledger/ledger-session.h"

/* A time in the format of records, or a prefix of one; "90m", "2h": relative to now. */
static int read_time(const struct command_call *c, const char *option, const char *text, char ret[32])
{
	static const char shape[] = "0000-00-00T00:00:00.000000Z";
	size_t len = strlen(text);
	uint64_t seconds;

	if (str_to_seconds(text, &seconds) == 0 && (len < 4 || strspn(text, "0123456789") < len)) {
		uint64_t now = clock_wall_us();

		clock_format(now > seconds * 1000000 ? now - seconds * 1000000 : 0, ret);
		return 0;
	}
	if (len >= sizeof(shape) || len < 4)
		return dispatch_usage(c,
				      "%s: invalid time '%s' (use 2026-11-16, 2026-11-16T03:15:00 (UTC), or "
				      "90m for 90 minutes ago)",
				      option, text);
	for (size_t i = 0; i < len; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		/* A time without a fraction may have a Z. */
		if (shape[i] == '0' ? digit : text[i] == shape[i] || (shape[i] == 'T' && text[i] == ' '))
			continue;
		if (i == 19 && text[i] == 'Z' && i + 1 == len) {
			len--;
			break;
		}
		return dispatch_usage(c,
				      "%s: invalid time '%s' (use 2026-11-16, 2026-11-16T03:15:00 (UTC), or "
				      "90m for 90 minutes ago)",
				      option, text);
	}
	memcpy(ret, text, len);
	ret[len] = '\0';
	if (len > 10)
		ret[10] = 'T';
	return 0;
}

/* TEXT escaped as in a JSON string of a record. */
static char *spell(const char *text)
{
	_cleanup_strbuf_ struct strbuf quoted = { 0 }, ascii = { 0 };

	jdoc_quote(&quoted, text);
	if (quoted.broken)
		return NULL;
	record_put_ascii(&ascii, quoted.text + 1, quoted.len - 2);
	return strbuf_take(&ascii);
}

int ledger_filter_init(const struct command_call *c, struct ledger_filter *ret)
{
	int r = 0;

	*ret = (struct ledger_filter){ .kind = c->kind };
	if (c->since)
		r = read_time(c, "--since", c->since, ret->since);
	if (r == 0 && c->until)
		r = read_time(c, "--until", c->until, ret->until);
	if (r != 0)
		return r;
	ret->session = c->session ? spell(c->session) : NULL;
	ret->agent = c->agent ? spell(c->agent) : NULL;
	ret->status = c->status ? spell(c->status) : NULL;
	ret->any = c->since || c->until || c->kind || c->session || c->agent || c->status;
	return 0;
}

void ledger_filter_done(struct ledger_filter *x)
{
	free(x->session);
	free(x->agent);
	free(x->status);
}

/* "session.*" matches every kind with this prefix. */
static bool kind_is(struct span kind, const char *wanted)
{
	size_t len = strlen(wanted);

	if (len > 0 && wanted[len - 1] == '*')
		return kind.len >= len - 1 && memcmp(kind.at, wanted, len - 1) == 0;
	return span_is(kind, wanted);
}

bool ledger_filter_has(const struct ledger_filter *x, const struct record *r)
{
	if (*x->since && strncmp(r->t, x->since, strlen(x->since)) < 0)
		return false;
	if (*x->until && strncmp(r->t, x->until, strlen(x->until)) > 0)
		return false;
	return (!x->kind || kind_is(r->kind, x->kind)) &&
	       (!x->session || ledger_session_has(x->session, r)) &&
	       (!x->agent || span_is(r->agent, x->agent)) && (!x->status || span_is(r->status, x->status));
}
