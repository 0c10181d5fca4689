/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>

#include "init/init-prove.h"
#include "layer/inherit-table.h"

void inherit_prepare(void)
{
	inherit_reset();
	(void)SYS(umask, 022);
	for (int sig = 1; sig <= 64; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)rt_default_signal(sig);
}

void prove_inherited(struct prove *p)
{
	const struct inherit_asked asked = { .files = p->options->files, .file_size = p->options->file_size };
	struct line d = proof_line(p, LAYER_PROCESS);
	unsigned int n = 0;

	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		const char *wrong;
		long long value;

		if (!inherit_is_checked((enum inherit)i, INHERIT_BY_INIT))
			continue;
		wrong = inherit_check((enum inherit)i, p->status_text, &asked, &value);
		if (wrong) {
			line_put(&d, wrong);
			line_put(&d, " ");
			line_put_num(&d, value);
			return;
		}
		n++;
	}
	line_put_num(&d, n);
	line_put(&d, " attributes as required");
	proof_set(p, LAYER_PROCESS, true, 0);
}
