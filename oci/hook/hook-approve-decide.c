/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/policy-input.h"
#include "layer/layer.h"

static int read_bundle(struct approve *a, struct fault *f)
{
	int r;

	r = bundle_read(a->state->bundle, &a->bundle, f);
	if (r < 0)
		return r;
	subject_digest_to_text(&a->bundle.digest, a->digest);
	a->run.digest = a->digest;
	if (a->bundle.lane != a->terms.lane)
		return fault_set(f, EPERM, "the bundle's subject is of lane '%s', its hook of lane '%s'",
				 lane_name(a->bundle.lane), lane_name(a->terms.lane));
	r = digest_key_load(&a->dirs, a->config->digest_key, false, &a->key, f);
	if (r < 0)
		return fault_wrap(f, r, "the lane's digest key");
	a->bundle.approve = a->args;
	a->bundle.run = a->dirs.run;
	r = bundle_verify(&a->bundle, &a->key, "/proc/self/exe", f);
	if (r < 0)
		return r;
	a->run.profile = a->bundle.subject->profile->name;
	a->run.argv = a->bundle.subject->argv;
	a->run.env = a->bundle.subject->env;
	a->run.cwd = a->bundle.subject->cwd;
	return 0;
}

static int require_sealed(const struct approve *a, struct fault *f)
{
	const struct subject *s = a->bundle.subject;
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = subject_require_sources(s, f);
	if (r >= 0)
		r = operand_require_same(s, f);
	if (r < 0 || !operand_needs_lower(s))
		return r;
	fd = openat(a->bundle.dirfd, "operands", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "bundle's 'operands'");
	return operand_lower_verify(s, fd, f);
}

static int judge(struct approve *a, struct fault *f)
{
	_cleanup_policy_input_ struct policy_input facts = { 0 };
	int r;

	r = policy_input_build(a->bundle.subject, a->config, a->terms.taints, &facts, f);
	if (r < 0)
		return r;
	/* Zero is the strictest. */
	if (a->terms.security < facts.policy.security)
		facts.policy.security = a->terms.security;
	r = policy_decide(&facts.policy, &a->verdict, f);
	if (r < 0)
		return r;
	a->told = verdict_to_json(a->verdict);
	if (!a->told)
		return fault_errno(f, ENOMEM, "verdict");
	a->run.approval.level = a->verdict->level;
	a->run.approval.verdict = a->told;
	if (a->verdict->decision == DECISION_DENY)
		return fault_set(f, EACCES, "denied by policy: %s",
				 a->verdict->n_reasons ? a->verdict->reasons[0].text : "no reason was given");
	return 0;
}

/* The site's lists and the profile's, on top of those that are built in. */
static int set_redact(struct approve *a, struct fault *f)
{
	for (char **flag = a->config->redact_flags; flag && *flag; flag++)
		if (strv_append(&a->terms.redact, *flag) < 0)
			return fault_errno(f, ENOMEM, "words to redact");
	a->redact = (struct redact){ .flags = a->terms.redact, .headers = a->config->redact_headers };
	a->run.redact = &a->redact;
	return 0;
}

int approve_decide(struct approve *a, struct fault *f)
{
	const struct subject *s;
	int r;

	a->refusal = "bundle";
	r = config_load(&a->dirs, &a->config, f);
	if (r >= 0)
		r = set_redact(a, f);
	if (r >= 0)
		r = read_bundle(a, f);
	if (r >= 0)
		r = require_sealed(a, f);
	if (r < 0)
		return r;
	s = a->bundle.subject;
	r = hook_pin(a->state->pid, s->layers & LAYER_BIT(LAYER_PID_NS), &a->pidfd, &a->began, f);
	if (r < 0)
		return r;
	a->refusal = "policy";
	return judge(a, f);
}
