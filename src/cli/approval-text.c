/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/approval-text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/card.h"

static void put_variable(struct strbuf *out, const char *name)
{
	const char *value = getenv(name);

	if (!value || !*value)
		return;
	strbuf_printf(out, "%s=", name);
	card_put_word(out, value);
	strbuf_putc(out, ' ');
}

void approval_put_command(struct strbuf *out, const struct desk *d, const char *verb, const char *word)
{
	const char *root = getenv("CUSTODY_ROOT");

	if (root && *root)
		put_variable(out, "CUSTODY_ROOT");
	else if (geteuid() != 0)
		put_variable(out, "XDG_STATE_HOME");
	strbuf_printf(out, PACKAGE_NAME " %s", verb);
	if (word) {
		strbuf_putc(out, ' ');
		card_put_word(out, word);
	}
	/* The other terminal may have another default. */
	if (strcmp(d->lane, "sandbox") != 0 || getenv("CUSTODY_LANE"))
		strbuf_printf(out, " --lane %s", d->lane);
}
