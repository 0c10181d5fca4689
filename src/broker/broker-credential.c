/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-credential.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-credential-impl.h"
#include "broker/broker-impl.h"
#include "credential/credential.h"

/* The broker's side: one process for each credential, before the first call. */

void broker_credential_fds_done(struct broker_credential_fds *v)
{
	for (size_t i = 0; i < v->n; i++)
		(void)fd_close(v->fd[i]);
	v->n = 0;
}

static struct broker_credential_process *find(struct broker_server *s, const char *name)
{
	for (size_t i = 0; i < s->n_credentials; i++)
		if (str_eq(s->credentials[i].name, name))
			return &s->credentials[i];
	return NULL;
}

static int start(struct broker_server *s, const char *name, struct fault *f)
{
	struct broker_credential_process *p = &s->credentials[s->n_credentials];
	const pid_t own = getpid();
	int pair[2];

	if (s->n_credentials == BROKER_CREDENTIALS_SESSION_MAX)
		return fault_set(f, E2BIG, "the tools have more than %d credentials",
				 BROKER_CREDENTIALS_SESSION_MAX);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of a credential");
	*p = (struct broker_credential_process){ .name = name, .pid = fork(), .link = pair[0] };
	if (p->pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != own)
			_exit(STATUS_FAILED);
		broker_credential_serve(s->job, name, pair[1], s->link);
	}
	(void)fd_close(pair[1]);
	s->n_credentials++;
	return p->pid < 0 ? fault_errno(f, errno, "start the process of a credential") : 0;
}

int broker_credentials_start(struct broker_server *s, struct fault *f)
{
	const struct broker_tools *tools = s->job->tools;
	int r = 0;

	for (size_t i = 0; i < tools->n; i++)
		for (size_t k = 0; r == 0 && k < tools->items[i].n_credentials; k++)
			if (!find(s, tools->items[i].credentials[k].name))
				r = start(s, tools->items[i].credentials[k].name, f);
	return r;
}

/* One that runs a program is killed with it: nothing waits for its answer any more. */
void broker_credentials_end(struct broker_server *s)
{
	for (size_t i = 0; i < s->n_credentials; i++) {
		struct broker_credential_process *p = &s->credentials[i];

		p->link = fd_close(p->link);
		if (p->pid <= 0)
			continue;
		(void)kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
		p->pid = -1;
	}
}

/* END goes to the process of the credential, which sends the value there.  Never waits. */
static int send_request(int link, const struct broker_credential_request *q, int end)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io = { (void *)q, sizeof(*q) };
	struct msghdr h = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &end, sizeof(int));
	return sendmsg(link, &h, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int ask(struct broker_server *s, const char *name, const struct broker_credential_request *q,
	       struct broker_credential_fds *ret)
{
	const struct broker_credential_process *p = find(s, name);
	int pair[2], r;

	if (!p)
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ret->fd[ret->n++] = pair[0];
	r = send_request(p->link, q, pair[1]);
	(void)fd_close(pair[1]);
	return r;
}

static void copy_record(void *arg, const struct ledger_event *e)
{
	const struct broker_server *s = arg;

	broker_record_send(s->link, e->kind, e->status, jdoc_copy(e->d));
}

static int refuse(struct broker_server *s, const struct broker_client *c, const char *name,
		  const struct broker_execution *x, int error, struct fault *f)
{
	const struct ledger_run *run = s->job->run;
	const struct credential_use use = { .session = run->session,
					    .agent = run->agent,
					    .worker = run->worker,
					    .to = x->to,
					    .tool = c->tool->name,
					    .copy = copy_record,
					    .copy_arg = s };
	const char *why = error == -EAGAIN ? "too many calls wait for it" : "its process cannot be asked";

	(void)!credential_record_refusal(name, s->ledger, &use, why, NULL);
	return fault_set(f, ENOKEY, "credential '%s' cannot be used: %s", name, why);
}

int broker_credentials_ask(struct broker_server *s, const struct broker_client *c,
			   const struct broker_execution *x, struct broker_credential_fds *ret,
			   struct fault *f)
{
	struct broker_credential_request q = { .asked_ns = clock_boot_ns() };

	/* In the session's own chain the call comes before its uses. */
	if (c->tool->n_credentials)
		broker_pending_send(s);
	(void)snprintf(q.tool, sizeof(q.tool), "%s", c->tool->name);
	(void)snprintf(q.to, sizeof(q.to), "%s", x->to ? x->to : "");
	(void)snprintf(q.host, sizeof(q.host), "%s", x->host ? x->host : "");
	for (size_t i = 0; i < c->tool->n_credentials; i++) {
		const char *name = c->tool->credentials[i].name;
		int r = ask(s, name, &q, ret);

		if (r < 0)
			return refuse(s, c, name, x, r, f);
	}
	return 0;
}
