/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/exit-status.h"
#include "cli/completion.h"
#include "cli/dispatch.h"

int cmd_completion(struct command_call *c, struct fault *f)
{
	static const struct {
		const char *name;
		void (*print)(const struct command *table, FILE *out);
	} shells[] = {
		{ "bash", completion_print_bash },
		{ "zsh", completion_print_zsh },
		{ "fish", completion_print_fish },
	};

	(void)f;
	if (c->values) {
		completion_print_values(c->values, c->lane, stdout);
		return STATUS_OK;
	}
	for (size_t i = 0; c->args[0] && i < ARRAY_SIZE(shells); i++) {
		if (strcmp(c->args[0], shells[i].name) != 0)
			continue;
		shells[i].print(commands, stdout);
		return STATUS_OK;
	}
	return dispatch_usage(c, "unknown shell '%s'; usage: custody completion bash|zsh|fish",
			      c->args[0] ? c->args[0] : "");
}
