/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "state/lane.h"
#include "ledger/ledger-session.h"

struct lane_pass {
	enum lane lane;
	bool recorded;
};

void lane_pass_free(struct lane_pass *p)
{
	free(p);
}

static bool is_yes(const char *value)
{
	static const char *const words[] = { "1", "true", "yes", "y", "on" };

	for (size_t i = 0; value && i < ARRAY_SIZE(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

static void put_word(struct strbuf *b, const char *word)
{
	strbuf_putc(b, ' ');
	strbuf_put_word(b, word);
}

static bool names_lane(char *const *argv)
{
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--lane") == 0 || str_starts(argv[i], "--lane="))
			return true;
	return false;
}

/*
 * The lane may come from the environment or a file: the command line names it, so that it works in any shell.
 */
static void put_command(struct strbuf *b, const struct lane_ask *ask)
{
	size_t i = 0;

	strbuf_puts(b, LANE_ALLOW_ENV "=1");
	put_word(b, ask->program ? ask->program : "custody");
	do
		put_word(b, ask->argv[i++]);
	while (i < ask->n_verbs && ask->argv[i]);
	if (!ask->allow_prod)
		strbuf_puts(b, " --allow-prod");
	if (!ask->no_lane_option && !names_lane(ask->argv))
		strbuf_puts(b, " --lane prod");
	while (ask->argv[i])
		put_word(b, ask->argv[i++]);
}

#define TO_START "; to start it: "
#define TO_DO "; to do it: "

size_t lane_reason_len(const char *text)
{
	const char *start = strstr(text, TO_START), *end = strstr(text, TO_DO);

	if (!end || (start && start < end))
		end = start;
	return end ? (size_t)(end - text) : strlen(text);
}

static int refuse(const struct lane_ask *ask, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf line = { 0 }, text = { 0 };
	_cleanup_free_ char *value = ask->allow_env ? str_escape(ask->allow_env) : NULL;
	bool armed = is_yes(ask->allow_env);

	strbuf_puts(&text, "lane 'prod' needs both --allow-prod and " LANE_ALLOW_ENV "; missing: ");
	if (!ask->allow_prod)
		strbuf_puts(&text, "--allow-prod");
	if (!ask->allow_prod && !armed)
		strbuf_puts(&text, " and ");
	if (!armed)
		strbuf_puts(&text, LANE_ALLOW_ENV);
	if (!armed && value && *value)
		strbuf_printf(&text, " (it is '%s', not one of 1, true, yes, y, on)", value);
	strbuf_printf(&text, "; nothing was %s", ask->changes_state ? "changed" : "started");
	if (ask->argv && ask->argv[0]) {
		put_command(&line, ask);
		strbuf_puts(&text, ask->changes_state ? TO_DO : TO_START);
		strbuf_put_command(&text, line.text ? line.text : "");
	}
	if (line.broken || text.broken)
		return fault_set(f, LANE_REFUSED, "lane 'prod' needs both --allow-prod and " LANE_ALLOW_ENV);
	return fault_set(f, LANE_REFUSED, "%s", text.text);
}

int lane_gate(const struct lane_ask *ask, struct lane_pass **ret, struct fault *f)
{
	struct lane_pass *p;

	if (ask->lane != LANE_SANDBOX && ask->lane != LANE_PROD)
		return fault_set(f, LANE_REFUSED, "no lane number %d", (int)ask->lane);
	if (ask->lane == LANE_PROD && (!ask->allow_prod || !is_yes(ask->allow_env)))
		return refuse(ask, f);
	p = calloc(1, sizeof(*p));
	if (!p)
		return fault_errno(f, ENOMEM, "lane");
	*p = (struct lane_pass){ .lane = ask->lane };
	*ret = p;
	return 0;
}

int lane_pass_require(const struct lane_pass *p, enum lane lane, struct fault *f)
{
	if (!p)
		return fault_set(f, LANE_REFUSED,
				 "internal error: session opened without passing the lane gate");
	if (p->lane != lane)
		return fault_set(f, LANE_REFUSED,
				 "the gate was passed for lane '%s', this is lane '%s': refused",
				 lane_name(p->lane), lane_name(lane));
	if (lane == LANE_PROD && !p->recorded)
		return fault_set(f, LANE_REFUSED,
				 "refused: the override of lane 'prod' is not recorded in the ledger");
	return 0;
}

int lane_record(struct lane_pass *p, struct ledger *l, const struct ledger_run *run, struct fault *f)
{
	int r;

	if (p->lane == LANE_SANDBOX || p->recorded)
		return 0;
	r = ledger_override(l, run, f);
	if (r < 0)
		return fault_wrap(f, r, "record the override of lane 'prod'");
	p->recorded = true;
	return 0;
}
