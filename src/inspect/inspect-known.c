/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/inspect-impl.h"

void inspect_known(const struct inspect_scan *s, const char *p, size_t len)
{
	const struct inspect_options *o = s->found->options;
	bool spelled = false;
	const char *hit;

	if (!o || o->n_secrets == 0)
		return;
	hit = redact_find_secret(p, len, o->secrets, o->n_secrets);
	/* Views are decoded already. */
	if (!hit && s->depth == 0 && redact_find_spelled(p, len, o->secrets, o->n_secrets, &spelled) < 0)
		inspect_broken(s->found);
	if (hit || spelled)
		inspect_report(s, INSPECT_SECRET_KNOWN, hit ? (size_t)(hit - p) : 0);
}
