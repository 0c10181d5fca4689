/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-git-credential.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "credential/credential.h"

/* "https://HOST[:PORT]/...": HOST, and HOST:PORT. */
static char *host_of(const char *url, bool port)
{
	const char *at = strstr(url, "://");

	at = at ? at + 3 : url;
	return strndup(at, strcspn(at, port ? "/" : ":/"));
}

/* A line end would begin another attribute of the helper's answer. */
static int write_answer(int fd, const char *user, const struct secret *value, struct fault *f)
{
	if (memchr(secret_bytes(value), '\n', secret_len(value)) ||
	    memchr(secret_bytes(value), '\0', secret_len(value)))
		return fault_set(f, EINVAL, "its value has several lines");
	if (dprintf(fd, "username=%s\npassword=", user) < 0 ||
	    fd_write_all(fd, secret_bytes(value), secret_len(value), f) < 0 || dprintf(fd, "\n") < 0)
		return fault_set(f, EIO, "it cannot be written");
	return 0;
}

static int use(const struct broker_git_credential *g, struct ledger *l, const struct credential_use *u,
	       const char *host, int to, struct fault *f)
{
	_cleanup_credential_ struct credential *c = NULL;
	const struct secret *value = NULL;
	int r = credential_open(g->server->job->dirs, g->remote->credential, host, &c, f);

	if (r == 0)
		r = credential_value(c, &value, f);
	if (r == 0)
		r = credential_record_use(c, l, u, f);
	return r < 0 ? r : write_answer(to, g->remote->user, value, f);
}

int broker_git_credential_open(void *arg, struct fault *f)
{
	const struct broker_git_credential *g = arg;
	const struct ledger_run *run = g->server->job->run;
	_cleanup_free_ char *host = host_of(g->remote->url, false), *to = host_of(g->remote->url, true);
	const struct credential_use u = { .session = run->session,
					  .agent = run->agent,
					  .worker = run->worker,
					  .to = to,
					  .tool = g->tool->name };
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	int ends[2], r;

	if (!host || !to || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return fault_set(f, EIO, "the credential of the remote cannot be used");
	in = ends[0];
	out = ends[1];
	(void)fcntl(in, F_SETFL, 0);
	r = ledger_open(g->server->job->dirs->state, NULL, &l, NULL, &why);
	if (r == 0)
		r = use(g, l, &u, host, out, &why);
	if (r < 0 && l)
		(void)!credential_record_refusal(g->remote->credential, l, &u, fault_text(&why), NULL);
	/* The reason is in the lane's ledger: it has names of the host. */
	return r < 0 ? fault_set(f, ENOKEY,
				 "the credential of the remote cannot be used: the lane's ledger has the "
				 "reason")
		     : TAKE_FD(in);
}
