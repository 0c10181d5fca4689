/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-broker.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/broker-credential.h"
#include "container/container-info.h"
#include "session/session.h"
#include "warden/container-watch.h"
#include "warden/warden-protect.h"

#define BACKLOG 64
#define RECORDS_MAX 32 /* of one step */
#define UMASK 022

static int refuse_info(struct fault *f)
{
	return fault_set(f, EINVAL,
			 "the container was created by another version of custody-runtime; create it again");
}

static int copy_places(const struct jdoc *list, char ***ret, struct fault *f)
{
	if (!list || list->type != JDOC_ARRAY)
		return refuse_info(f);
	for (size_t i = 0; i < list->n_items; i++) {
		if (list->items[i]->type != JDOC_STRING)
			return refuse_info(f);
		if (strv_append(ret, list->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "tools");
	}
	return 0;
}

/* A section of a profile, with the names of the tools in place of their declarations. */
static struct jdoc *name_tools(const struct jdoc *judged)
{
	struct jdoc *section = jdoc_copy(judged), *names = jdoc_new_array();
	const struct jdoc *tools = jdoc_get(judged, "tools");

	for (size_t i = 0; tools && tools->type == JDOC_ARRAY && i < tools->n_items; i++) {
		const char *name = jdoc_get_string(tools->items[i], "name");

		if (name)
			jdoc_append_string(names, name);
	}
	jdoc_set(section, "tools", names);
	return section;
}

/* custody.json may have changed since create: only tools as they were approved are executed. */
static int resolve(const struct container_watch *w, const struct jdoc *info, struct broker_tools *ret,
		   struct fault *f)
{
	const struct jdoc *judged = jdoc_get(info, "tools");
	_cleanup_jdoc_ struct jdoc *section = judged ? name_tools(judged) : NULL;
	_cleanup_strv_ char **places = NULL;
	struct profile p = { .name = w->request.profile };
	int r;

	if (!section || section->broken)
		return judged ? fault_errno(f, ENOMEM, "tools") : refuse_info(f);
	p.sections[PROFILE_SECTION_BROKER] = section;
	r = copy_places(jdoc_get(info, "places"), &places, f);
	if (r == 0)
		r = broker_tools_resolve(w->config, &p, w->request.lane, ret, f);
	if (r == 0 && !jdoc_equal(ret->section, judged))
		r = fault_set(f, EACCES,
			      "custody.json has other tools or limits of the broker than when the container "
			      "was created; create it again");
	if (r == 0)
		r = broker_tools_locate(ret, w->dirs.libexec, places, f);
	return r < 0 ? r : broker_credentials_require(ret, &w->dirs, places, f);
}

/* For tools, and so for the broker: the kernel may kill them, and their files are those of an ordinary program. */
static void set_ordinary(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "0", 1);
	(void)umask(UMASK);
}

static int fork_broker(struct container_watch *w, const struct broker_job *job, struct fault *f)
{
	const mode_t mask = umask(077);
	int r;

	set_ordinary();
	r = broker_start(job, &w->broker.process, f);
	warden_protect();
	(void)umask(mask);
	return r;
}

static int start(struct container_watch *w, const struct container_info *info, struct fault *f)
{
	_cleanup_broker_tools_ struct broker_tools tools = { 0 };
	_cleanup_close_ int state = -EBADF;
	const struct jdoc *shared = jdoc_get(info->broker, "pid_shared");
	const char *hex = jdoc_get_string(info->broker, "token_sha256");
	struct broker_job job = { .tools = &tools,
				  .dirs = &w->dirs,
				  .config = w->config,
				  .run = &w->decision.run,
				  .governance = jdoc_get(info->broker, "governance"),
				  .listen_fd = warden_request_broker(&w->request),
				  .init = w->request.pid,
				  .cgroup = jdoc_get_string(info->broker, "cgroup"),
				  .pid_shared = !shared || shared->type != JDOC_BOOL || shared->boolean };
	bool made = false;
	int r;

	if (!hex || digest_from_hex(hex, &job.token) < 0 || !job.cgroup)
		return refuse_info(f);
	r = decision_redact(&w->decision, info->redact, f);
	if (r >= 0)
		r = resolve(w, info->broker, &tools, f);
	if (r < 0)
		return r;
	state = session_make_dir(&w->dirs, w->request.session, &made, f);
	if (state < 0)
		return state;
	job.state_fd = state;
	if (listen(job.listen_fd, BACKLOG) < 0)
		return fault_errno(f, errno, "socket of the broker");
	return fork_broker(w, &job, f);
}

int container_broker_start(struct container_watch *w, struct fault *f)
{
	_cleanup_container_info_ struct container_info info = { 0 };
	int r;

	if (!w->request.broker)
		return 0;
	r = container_info_read(WARDEN_SESSION, &info, f);
	if (r >= 0)
		r = start(w, &info, f);
	/* With the broker the socket is gone: connecting fails. */
	(void)close(warden_request_broker(&w->request));
	container_info_done(&info);
	(void)malloc_trim(0);
	return r < 0 ? fault_wrap(f, r, "broker") : 0;
}

struct pollfd container_broker_poll(const struct container_broker *b)
{
	return (struct pollfd){ .fd = b->process.link, .events = POLLIN };
}

/* The broker itself has recorded it in the lane's ledger; a container has no chain of its own.  As broker_receive. */
static int receive(struct container_broker *b, bool wait)
{
	_cleanup_broker_record_ struct broker_record r = { 0 };
	const int got = broker_receive(&b->process, wait, &r);

	const enum broker_notice notice = got > 0 ? broker_record_notice(&r) : BROKER_NOTICE_NONE;

	b->over_budget |= notice == BROKER_NOTICE_BUDGET;
	b->inspected |= notice == BROKER_NOTICE_INSPECTION;
	return got;
}

/* A flood of calls must not keep the warden from its other work. */
void container_broker_step(struct container_watch *w)
{
	int got = 1;

	for (int n = 0; got > 0 && n < RECORDS_MAX; n++)
		got = receive(&w->broker, false);
	if (got > 0 || got == -EAGAIN)
		return;
	broker_done(&w->broker.process);
	if (w->ended)
		return;
	w->broker.lost = true;
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
}

void container_broker_end(struct container_watch *w)
{
	struct container_broker *b = &w->broker;

	if (b->process.link < 0)
		return;
	broker_finish(&b->process);
	while (receive(b, true) > 0)
		;
	broker_done(&b->process);
}
