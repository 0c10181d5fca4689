/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/seccomp/seccomp.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>

#include "base/str.h"
#include "layer/layer.h"
#include "oci/seccomp/seccomp-describe.h"
#include "oci/seccomp/seccomp-filter.h"
#include "oci/seccomp/seccomp-program.h"
#include "subject/subject-trace.h"

static struct seccomp_choice choose(const struct subject *s)
{
	return (struct seccomp_choice){
		.notify = subject_traces(s) & TRACE_DENIED,
		.no_setid = subject_writes_host(s),
		.kill = s->profile->seccomp_violation == PROFILE_SECCOMP_KILL,
		.allow = s->profile->seccomp_allow,
		.deny = s->profile->seccomp_deny,
	};
}

static bool has_words(const struct seccomp_choice *c)
{
	return (c->allow && c->allow[0]) || (c->deny && c->deny[0]);
}

/* An unknown name would be a rule that never matches: a typing error must not pass as a filter. */
static int require_names(char *const *names, const char *key, struct fault *f)
{
	for (size_t i = 0; names && names[i]; i++)
		if (seccomp_syscall_resolve_name(names[i]) == __NR_SCMP_ERROR)
			return fault_set(f, EINVAL, "seccomp.%s: unknown system call '%s'", key, names[i]);
	return 0;
}

static int require_choice(const struct seccomp_choice *c, struct fault *f)
{
	int r = require_names(c->allow, "allow", f);

	return r < 0 ? r : require_names(c->deny, "deny", f);
}

int seccomp_encode(const struct subject *s, char **ret, struct fault *f)
{
	struct seccomp_choice c = choose(s);
	int r;

	if (!(s->layers & LAYER_BIT(LAYER_SECCOMP))) {
		*ret = NULL;
		return 0;
	}
	if (has_words(&c)) {
		r = require_choice(&c, f);
		return r < 0 ? r : seccomp_filter_compile(&c, ret, f);
	}
	*ret = strdup(c.notify && !c.kill ? seccomp_notified[c.no_setid]
					  : seccomp_programs[SECCOMP_VARIANT(&c)]);
	return *ret ? 0 : fault_errno(f, ENOMEM, "seccomp program");
}

const char *seccomp_plain(void)
{
	return seccomp_programs[SECCOMP_VARIANT(&(struct seccomp_choice){ 0 })];
}

int seccomp_describe(const struct subject *s, struct jdoc **ret, struct fault *f)
{
	struct seccomp_choice c = choose(s);
	int r;

	*ret = NULL;
	if (!(s->layers & LAYER_BIT(LAYER_SECCOMP)))
		return 0;
	r = require_choice(&c, f);
	return r < 0 ? r : seccomp_describe_choice(&c, ret, f);
}

const char *seccomp_written(const struct subject *s)
{
	struct seccomp_choice c = choose(s);

	if (!(s->layers & LAYER_BIT(LAYER_SECCOMP)) || has_words(&c))
		return NULL;
	return seccomp_texts[SECCOMP_VARIANT(&c)];
}
