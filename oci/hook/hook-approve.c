/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-approve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static void approve_done(struct hook_approve_job *a)
{
	warden_start_done(&a->warden);
	session_done(&a->session);
	decision_done(&a->decision);
	bundle_files_done(&a->bundle);
	digest_key_done(&a->key);
	config_free(a->config);
	dirs_done(&a->dirs);
	hook_args_done(&a->terms);
	fd_close(a->pidfd);
}

/* Directories come from the bundle's arguments, not from the environment of the runtime's caller. */
static int locate(struct hook_approve_job *a, struct fault *f)
{
	int r = hook_args_parse(a->args, &a->terms, f);

	if (r >= 0)
		r = hook_args_use_env(&a->terms, f);
	if (r >= 0)
		r = dirs_load_lane(a->terms.lane, &a->dirs, f);
	a->decision.dirs = &a->dirs;
	a->decision.run = (struct ledger_run){
		.action = "create", .session = a->id, .lane = lane_name(a->terms.lane), .sandbox = true
	};
	return r;
}

/* A variable of the runtime's caller: our own environment is the bundle's.  Heap, NULL: not set. */
static char *runtime_env(const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len = 0, n = strlen(name);
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, (size_t)4 * 1024 * 1024, &text, &len, NULL) < 0)
		return NULL;
	for (const char *at = text; at < text + len; at += strlen(at) + 1)
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return strdup(at + n + 1);
	return NULL;
}

static int enter(struct hook_approve_job *a, struct fault *f)
{
	_cleanup_free_ char *allow_env = a->terms.lane == LANE_PROD ? runtime_env(LANE_ALLOW_ENV) : NULL;
	const struct lane_ask ask = { .lane = a->terms.lane,
				      .allow_prod = a->terms.allow_prod,
				      .allow_env = allow_env };

	return decision_enter(&a->decision, &ask, f);
}

static int start_warden(struct hook_approve_job *a, struct fault *f)
{
	a->decision.refused = "setup-failed";
	return warden_start_begin(&a->warden, a->dirs.libexec, f);
}

static int configure(struct hook_approve_job *a, struct fault *f)
{
	int r;

	a->decision.refused = "bundle";
	r = config_load(&a->dirs, &a->config, f);
	a->decision.config = a->config;
	return r < 0 ? r : decision_redact(&a->decision, a->terms.redact, f);
}

static struct decision_question question(const struct hook_approve_job *a)
{
	return (struct decision_question){
		.subject = a->bundle.subject,
		.document = a->bundle.document,
		.digest = &a->bundle.digest,
		.provenance = a->terms.taints,
		.security = a->terms.security,
		.governance = a->terms.governance,
		.owner = a->warden.pid,
	};
}

static int judge(struct hook_approve_job *a, struct fault *f)
{
	const struct decision_question q = question(a);

	return decision_judge(&a->decision, &q, f);
}

/* A reservation belongs to the warden, so it must run before one is made. */
static int approve(struct hook_approve_job *a, struct fault *f)
{
	const struct decision_question q = question(a);
	int r = 0;

	a->decision.refused = "setup-failed";
	if (a->decision.verdict->decision != DECISION_ALLOW)
		r = warden_start_require(&a->warden, f);
	return r < 0 ? r : decision_approve(&a->decision, &q, f);
}

/* The reason is reported in any case; if it cannot be recorded, that is reported as well. */
static int refuse(struct hook_approve_job *a, int r, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };

	if (a->handed_over)
		return r;
	warden_start_done(&a->warden);
	(void)!decision_release(&a->decision, a->decision.refused ? a->decision.refused : "setup-failed",
				NULL);
	if (decision_refuse(&a->decision, fault_text(f), &why) < 0)
		r = fault_wrap(f, r, "not recorded (%s)", fault_text(&why));
	if (a->session.run)
		(void)!session_remove(&a->session, NULL);
	return r;
}

/* The order of `custody-hook approve`. */
static int decide(struct hook_approve_job *a, struct fault *f)
{
	int r;

	r = enter(a, f);
	if (r >= 0)
		r = decision_open(&a->decision, f);
	/* Needed last, started now: its exec takes as long as the steps up to decision_approve. */
	if (r >= 0)
		r = start_warden(a, f);
	if (r >= 0)
		r = configure(a, f);
	if (r >= 0)
		r = hook_approve_verify(a, f);
	if (r >= 0)
		r = judge(a, f);
	if (r >= 0)
		r = approve(a, f);
	if (r >= 0)
		r = decision_intend(&a->decision, f);
	if (r >= 0)
		r = hook_approve_supervise(a, f);
	return r < 0 ? refuse(a, r, f) : r;
}

int hook_approve(const struct hook_state *s, char **args, struct fault *f)
{
	struct hook_approve_job a = { .state = s, .args = args, .pidfd = -EBADF };
	int r;

	a.bundle.dirfd = -EBADF;
	a.session.run_fd = a.session.ids_fd = -EBADF;
	a.decision = DECISION_NONE;
	a.warden = WARDEN_START_NONE;
	r = clock_session_id(a.id, f);
	if (r >= 0)
		r = locate(&a, f);
	if (r >= 0)
		r = decide(&a, f);
	/* Passed: the runtime waits, and process exit frees everything faster than piece by piece. */
	if (r < 0)
		approve_done(&a);
	return r;
}
