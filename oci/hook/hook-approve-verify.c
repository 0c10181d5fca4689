/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/layer.h"

static int read_bundle(struct hook_approve_job *a, struct fault *f)
{
	struct ledger_run *run = &a->decision.run;
	int r;

	r = bundle_read(a->state->bundle, &a->bundle, f);
	if (r < 0)
		return r;
	decision_name_digest(&a->decision, &a->bundle.digest);
	if (a->bundle.lane != a->terms.lane)
		return fault_set(f, EPERM, "the bundle's subject is of lane '%s', its hook is of lane '%s'",
				 lane_name(a->bundle.lane), lane_name(a->terms.lane));
	r = digest_key_load(&a->dirs, a->config->digest_key, false, &a->key, f);
	if (r < 0)
		return fault_wrap(f, r, "digest key of the lane");
	a->bundle.approve = a->args;
	a->bundle.run = a->dirs.run;
	decision_redact_with(&a->decision, &a->key);
	r = bundle_verify(&a->bundle, &a->key, "/proc/self/exe", f);
	/* Also of a refusal: its text may quote them. */
	if (a->bundle.subject)
		run->argv = a->bundle.subject->argv;
	if (r < 0)
		return r;
	run->profile = a->bundle.subject->profile->name;
	run->env = a->bundle.subject->env;
	run->cwd = a->bundle.subject->cwd;
	return 0;
}

static int require_sealed(const struct hook_approve_job *a, struct fault *f)
{
	const struct subject *s = a->bundle.subject;
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = subject_require_bundle(s, a->state->bundle, f);
	if (r >= 0)
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

int hook_approve_verify(struct hook_approve_job *a, struct fault *f)
{
	int r;

	a->decision.refused = "bundle";
	r = read_bundle(a, f);
	if (r >= 0)
		r = require_sealed(a, f);
	if (r < 0)
		return r;
	return hook_pidfd_open(a->state->pid, a->bundle.subject->layers & LAYER_BIT(LAYER_PID_NS), &a->pidfd,
			       &a->began, f);
}
