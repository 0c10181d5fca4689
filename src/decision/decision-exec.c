/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision-exec.h"

#include <errno.h>

#include "base/array.h"
#include "base/str.h"

static const char *const words[] = {
	[CONFIG_EXEC_DENY] = "deny",
	[CONFIG_EXEC_ASK] = "ask",
	[CONFIG_EXEC_ALLOW] = "allow",
};

/* An unknown word denies. */
enum config_exec decision_exec_rule(const struct config *c, const struct jdoc *governance)
{
	const char *word = jdoc_get_string(governance, "exec");
	enum config_exec rule = CONFIG_EXEC_DENY;

	if (!word)
		return (enum config_exec)c->exec;
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(word, words[i]))
			rule = (enum config_exec)i;
	return rule < c->exec ? rule : (enum config_exec)c->exec;
}

int decision_exec_require(struct decision *d, const struct jdoc *governance, struct fault *f)
{
	d->refused = "exec";
	if (decision_exec_rule(d->config, governance) != CONFIG_EXEC_DENY)
		return 0;
	d->status = STATUS_DENIED;
	return fault_set(
		f, EACCES,
		"nothing was started: commands in running sessions are denied (\"exec\": \"deny\" in %s)",
		d->config->exec == CONFIG_EXEC_DENY ? "custody.json"
						    : "the governance section of the profile");
}

void decision_exec_exempt(const struct decision *d, struct decision_question *q)
{
	if (d->verdict->level == 'B' && decision_exec_rule(d->config, q->governance) == CONFIG_EXEC_ALLOW)
		q->exempt = "custody.json";
}
