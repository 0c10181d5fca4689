/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/confirm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tty/prompt.h"

int confirm(const struct command_call *c, const char *question, struct fault *f)
{
	_cleanup_prompt_ struct prompt p = PROMPT_NONE;
	_cleanup_free_ char *text = NULL;
	char answer[16];
	int r;

	if (c->yes || !isatty(STDIN_FILENO))
		return 1;
	if (asprintf(&text, "%s [y/N] ", question) < 0) {
		text = NULL;
		return fault_errno(f, ENOMEM, "ask");
	}
	r = prompt_open(&p, f);
	if (r == 0)
		r = prompt_ask(&p, text, true, 0, answer, sizeof(answer), f);
	/* An interrupted or too long answer is a No. */
	if (r == -ECANCELED || r == -EMSGSIZE) {
		fault_done(f);
		return 0;
	}
	return r < 0 ? r : str_eq(answer, "y") || str_eq(answer, "yes");
}
