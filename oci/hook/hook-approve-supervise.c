/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "container/container-evidence.h"
#include "container/container-info.h"
#include "container/warden-handover.h"
#include "subject/subject-hidden.h"

/* The command and config.json without the secrets of the command.  Most have none: then the text stays as it is. */
static int hide_secrets(const struct hook_approve_job *a, struct container_info *d, struct strbuf *config,
			struct fault *f)
{
	int r;

	if (!a->bundle.subject->shown)
		return 0;
	r = container_evidence_hide(a->bundle.config, a->bundle.config_len, a->bundle.document, config, f);
	d->config = config->text;
	d->config_len = config->len;
	return r;
}

/* The data that evidence needs, independent of the bundle from here on. */
static int write_info(const struct hook_approve_job *a, struct fault *f)
{
	const struct subject *s = a->bundle.subject;
	const struct placement *p = &a->bundle.placement;
	_cleanup_strv_ char **hidden = NULL, **argv = redact_argv(s->argv, a->decision.run.redact);
	_cleanup_strbuf_ struct strbuf config = { 0 };
	struct container_info d = {
		.container = a->state->id,
		.bundle = a->state->bundle,
		.pid = a->state->pid,
		.start = a->began,
		.digest = a->bundle.digest,
		.profile = s->profile->name,
		.profile_digest = s->profile->digest,
		.argv = argv,
		.redact = a->terms.redact,
		.verdict = (struct jdoc *)a->decision.run.approval.verdict,
		.forensics = a->terms.forensics,
		.workspace = s->profile->workspace,
		.work = (char *)subject_work_target(s),
		.ids = { .set = !p->rootless,
			 .uid_from = p->uid_base + s->uid,
			 .uid_to = s->worktree ? s->owner_uid : geteuid(),
			 .gid_from = p->gid_base + s->gid,
			 .gid_to = s->worktree ? s->owner_gid : getegid() },
		.subject = a->bundle.text,
		.subject_len = a->bundle.text_len,
		.config = a->bundle.config,
		.config_len = a->bundle.config_len,
	};
	int r;

	if (!argv)
		return fault_errno(f, ENOMEM, "container");
	r = subject_hidden_list(s, s->profile->fs_hide, &hidden, f);
	d.hide = hidden;
	if (r >= 0)
		r = hide_secrets(a, &d, &config, f);
	return r < 0 ? r : container_info_write(a->session.run_fd, &d, f);
}

static int start_warden(struct hook_approve_job *a, struct fault *f)
{
	struct warden_request request = { .lane = a->terms.lane,
					  .container = a->state->id,
					  .level = a->decision.verdict->level,
					  .reserved = a->decision.reserved,
					  .digest = a->bundle.digest,
					  .uid = geteuid(),
					  .user = a->dirs.user,
					  .pid = a->state->pid,
					  .init = a->bundle.subject->profile->process_init,
					  .profile = a->bundle.subject->profile->name,
					  .governance = a->decision.reserved ? a->terms.governance : NULL };
	_cleanup_close_ int handover = -EBADF;
	int r;

	memcpy(request.session, a->id, sizeof(request.session));
	r = write_info(a, f);
	if (r < 0)
		return r;
	handover = warden_handover_make(a->session.run_fd, a->state->id, f);
	if (handover < 0)
		return handover;
	r = warden_start_release(&a->warden, &request,
				 (const int[]){ a->pidfd, a->session.run_fd, a->decision.claim.fd, handover },
				 f);
	a->handed_over = a->warden.pid < 0;
	return r;
}

int hook_approve_supervise(struct hook_approve_job *a, struct fault *f)
{
	int r;

	a->decision.refused = "setup-failed";
	r = session_open(&a->dirs, a->decision.pass, a->id, &a->session, f);
	return r < 0 ? r : start_warden(a, f);
}
