/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-trace.h"

#include "base/str.h"
#include "layer/layer.h"
#include "profile/profile.h"

uint32_t subject_traces(const struct subject *s)
{
	const uint32_t needed = LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_NO_NEW_PRIVS);
	const struct profile *p = s->profile;

	if (!TRACE_ARCH || !p->process_init || (s->layers & needed) != needed)
		return 0;
	if (p->seccomp_deny && strv_has(p->seccomp_deny, "seccomp"))
		return 0;
	return trace_words_parse(p->audit_trace);
}
