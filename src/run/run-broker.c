/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-credential.h"
#include "ledger/ledger-audit.h"
#include "run/run-impl.h"

#define BACKLOG 64
#define RECORDS_MAX 32 /* of one step */

int run_broker_require(struct run *run, struct fault *f)
{
	const struct subject *s = run->plan.subject;
	_cleanup_strv_ char **places = NULL;
	int r;

	if (!run->plan.broker.open)
		return 0;
	run->decision.refused = REFUSED_UNSUPPORTED;
	r = s->worktree ? strv_append(&places, s->worktree) : 0;
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].source && (s->mounts[i].rw || s->mounts[i].kind == SUBJECT_MOUNT_OVERLAY))
			r = strv_append(&places, s->mounts[i].source);
	if (r < 0)
		return fault_errno(f, ENOMEM, "tools");
	r = broker_tools_locate(&run->plan.broker, run->plan.dirs.libexec, places, f);
	return r < 0 ? r : broker_credentials_require(&run->plan.broker, &run->plan.dirs, places, f);
}

int run_broker_open(struct run_broker *b, struct run *run, struct fault *f)
{
	int r;

	if (!run->plan.broker.open)
		return 0;
	r = broker_token_make(b->token, &b->hash, f);
	if (r < 0)
		return r;
	b->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (b->listen_fd < 0)
		return fault_errno(f, errno, "socket of the broker");
	b->run = run;
	return 0;
}

void run_broker_forget(struct run_broker *b)
{
	explicit_bzero(b->token, sizeof(b->token));
}

/* A full disk must not end the run: the lane's ledger has the record. */
static void record(const struct run_broker *b, const struct broker_record *r)
{
	const struct ledger_run *l = &b->run->decision.run;
	const struct ledger_event e = { .kind = r->kind,
					.session = b->run->id,
					.agent = l->agent,
					.worker = l->worker,
					.status = r->status,
					.d = r->d };

	if (l->audit)
		(void)!audit_append(l->audit, &e, NULL);
}

/* The worst of several. */
static enum warden_side_state later_state(enum warden_side_state state, enum broker_notice n)
{
	if (n == BROKER_NOTICE_INSPECTION)
		return WARDEN_SIDE_INSPECTED;
	return n == BROKER_NOTICE_BUDGET && state == WARDEN_SIDE_OK ? WARDEN_SIDE_OVER_BUDGET : state;
}

/* A flood of calls must not keep the supervisor from its other work. */
static enum warden_side_state step(void *arg)
{
	const struct run_broker *b = arg;
	enum warden_side_state state = WARDEN_SIDE_OK;

	for (int n = 0; n < RECORDS_MAX; n++) {
		_cleanup_broker_record_ struct broker_record r = { 0 };
		int e = broker_receive(&b->broker, false, &r);

		/* What it has said counts also if it is gone now: the next step sees that. */
		if (e <= 0)
			return e == -EAGAIN || state != WARDEN_SIDE_OK ? state : WARDEN_SIDE_LOST;
		record(b, &r);
		state = later_state(state, broker_record_notice(&r));
	}
	return state;
}

int run_broker_start(struct run_broker *b, pid_t init, struct fault *f)
{
	struct run *run = b->run;
	char cgroup[sizeof("/custody-") + SESSION_ID_SIZE];
	struct broker_job job;
	int r;

	if (!run)
		return 0;
	if (listen(b->listen_fd, BACKLOG) < 0)
		return fault_errno(f, errno, "socket of the broker");
	b->state_fd = open(run->session.state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->state_fd < 0)
		return fault_errno(f, errno, "open '%s'", run->session.state);
	(void)snprintf(cgroup, sizeof(cgroup), "/custody-%s", run->id);
	job = (struct broker_job){ .tools = &run->plan.broker,
				   .dirs = &run->plan.dirs,
				   .config = run->plan.config,
				   .run = &run->decision.run,
				   .governance = run->plan.profile->sections[PROFILE_SECTION_GOVERNANCE],
				   .token = b->hash,
				   .listen_fd = b->listen_fd,
				   .state_fd = b->state_fd,
				   .init = init,
				   .cgroup = cgroup,
				   .worktree = subject_work_target(run->plan.subject) };
	r = broker_start(&job, &b->broker, f);
	/* With the broker the socket is gone: connecting fails. */
	b->listen_fd = fd_close(b->listen_fd);
	b->state_fd = fd_close(b->state_fd);
	b->side = (struct warden_side){ .fd = b->broker.link, .step = step, .arg = b };
	return r;
}

void run_broker_end(struct run_broker *b)
{
	if (!b->run || b->broker.link < 0)
		return;
	broker_finish(&b->broker);
	for (;;) {
		_cleanup_broker_record_ struct broker_record r = { 0 };

		if (broker_receive(&b->broker, true, &r) <= 0)
			break;
		record(b, &r);
	}
	broker_done(&b->broker);
}

void run_broker_done(struct run_broker *b)
{
	run_broker_forget(b);
	broker_done(&b->broker);
	b->listen_fd = fd_close(b->listen_fd);
	b->state_fd = fd_close(b->state_fd);
}
