/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/path.h"
#include "broker/broker-git-credential.h"
#include "broker/broker-inspect.h"
#include "broker/broker-remote.h"
#include "gitwork/git-box.h"
#include "gitwork/git-diff.h"
#include "gitwork/git-fetch.h"
#include "gitwork/git-push.h"
#include "gitwork/git-remote.h"

/*
 * The git tools are functions of custody in a process of their own, behind the same keeper as declared tools.  It answers with one
 * document: {"data":...} or {"error":"..."}.  docs/design/broker-git.md.
 */
#define MS UINT64_C(1000000)

enum git_stage {
	GIT_WHOLE,   /* a call of one step */
	GIT_PREPARE, /* git.push until it is known what would be sent: nothing has been recorded or approved */
	GIT_SEND,    /* the approved commits; PARAMS is the document that the first step made */
};

struct git_work {
	const struct broker_server *server;
	const struct broker_tool *tool;
	const struct jdoc *params;
	enum git_stage stage;
};

/* The worktree as the session has it, which may be an overlay that only its own mounts show. */
static int open_worktree(const struct broker_server *s, struct fault *f)
{
	const struct broker_peers *p = &s->peers;
	_cleanup_close_ int root = -EBADF;
	char path[sizeof("/proc//root") + 3 * sizeof(pid_t)];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)s->job->init);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* After it was opened: the number is still that of the session's first process. */
	if (root < 0 || (p->ns_ino && !broker_peer_is_below(s->job->init, p->ns_dev, p->ns_ino)))
		return fault_set(f, EIO, "the session's files cannot be opened");
	if (!s->job->worktree)
		return fault_set(f, ENOENT, "the session has no worktree");
	fd = path_open_in_root(root, s->job->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, NULL);
	return fd < 0 ? fault_set(f, EIO, "the worktree cannot be opened") : fd;
}

/* The session's directory, which is the lane's own. */
static int open_state(const struct broker_server *s, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/sessions/%s", s->job->dirs->state, s->values.session) < 0)
		path = NULL;
	fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	return fd < 0 ? fault_set(f, EIO, "the session's directory cannot be opened") : fd;
}

static bool leave_groups(void)
{
	/* A user namespace that denies it has no groups to lose. */
	return geteuid() != 0 || setgroups(0, NULL) == 0 || errno == EPERM;
}

static struct git_remote find_remote(const struct git_work *w, struct broker_git_credential *secret)
{
	const struct config_remote *r = broker_remote_find(w->tool, jdoc_get_string(w->params, "remote"));
	struct git_remote remote;

	if (!r)
		return (struct git_remote){ 0 };
	*secret = (struct broker_git_credential){ .server = w->server, .tool = w->tool, .remote = r };
	remote = (struct git_remote){
		.name = r->name, .url = r->url, .ca = r->ca, .branches = r->branches, .force = r->force
	};
	if (r->credential) {
		remote.credential = broker_git_credential_open;
		remote.credential_arg = secret;
	}
	return remote;
}

/* The secrets that the broker knows, and the rules that the operator allows for this remote. */
static int prepare(const struct git_work *w, const struct git_call *call, struct jdoc **ret,
		   struct jdoc **ret_found, struct fault *f)
{
	const struct config_remote *r = broker_remote_find(w->tool, call->remote->name);
	_cleanup_inspect_found_ struct inspect_found found = { 0 };
	struct broker_inspection i;
	int e;

	broker_inspection_init(w->server, w->tool, &i);
	found.options = &i.options;
	e = inspect_rules_parse(r->inspect_allow, &i.options.allow, f);
	if (e == 0)
		e = git_push_prepare(call, &found, ret, f);
	if (e < 0 && found.total)
		*ret_found = inspect_found_to_json(&found);
	return e;
}

static int run_stage(const struct git_work *w, struct git_call *call, struct jdoc **ret,
		     struct jdoc **ret_found, struct fault *f)
{
	if (w->tool->config && !call->remote->name)
		return fault_set(f, ENOENT, "parameter 'remote' names no remote of this lane");
	switch (w->stage) {
	case GIT_PREPARE:
		return prepare(w, call, ret, ret_found, f);
	case GIT_SEND:
		return git_push_send(call, ret, f);
	case GIT_WHOLE:
		break;
	}
	return w->tool->builtin == BROKER_GIT_FETCH ? git_fetch(call, ret, f) : git_diff(call, ret, f);
}

static int perform(const struct git_work *w, struct jdoc **ret, struct jdoc **ret_found, struct fault *f)
{
	_cleanup_close_ int top = w->stage == GIT_SEND ? -EBADF : open_worktree(w->server, f), state = -EBADF;
	struct broker_git_credential secret;
	const struct git_remote remote = find_remote(w, &secret);
	struct git_call call = {
		.program = w->tool->program, .top = top, .params = w->params, .remote = &remote
	};
	int r;

	if (top < 0 && w->stage != GIT_SEND)
		return top;
	state = call.state = open_state(w->server, f);
	if (state < 0)
		return state;
	r = run_stage(w, &call, ret, ret_found, f);
	/* The inspected commits stay until they are sent. */
	if (r == 0 && w->stage == GIT_PREPARE)
		return 0;
	if (git_box_remove(state, r < 0 ? NULL : f) < 0 && r == 0)
		r = -EIO;
	return r;
}

static int work(void *arg)
{
	const struct git_work *w = arg;
	_cleanup_jdoc_ struct jdoc *reply = jdoc_new_object(), *data = NULL, *found = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (!leave_groups())
		return STATUS_FAILED;
	if (perform(w, &data, &found, &f) < 0)
		jdoc_set_string(reply, "error", fault_text(&f));
	else
		jdoc_set(reply, "data", TAKE_PTR(data));
	if (found)
		jdoc_set(reply, "found", TAKE_PTR(found));
	if (jdoc_write(reply, JDOC_CANONICAL, &text, NULL) < 0)
		return STATUS_FAILED;
	return fd_write_all(1, text.text, text.len, NULL) < 0 ? STATUS_FAILED : STATUS_OK;
}

/* They share a directory, and each may need a gigabyte of the disk. */
static bool is_busy(const struct broker_server *s, const struct broker_client *own)
{
	for (size_t i = 0; i < BROKER_CLIENTS; i++)
		if (&s->clients[i] != own && s->clients[i].state == BROKER_RUNNING &&
		    broker_builtin_is_git(s->clients[i].tool->builtin))
			return true;
	return false;
}

static int start(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		 enum git_stage stage, struct fault *f)
{
	struct git_work w = { .server = s, .tool = c->tool, .params = params, .stage = stage };

	if (is_busy(s, c))
		return fault_set(f, EBUSY,
				 "another git call of this session is running: repeat this one later");
	if (broker_process_start_work(work, &w, &c->process, NULL) < 0)
		return fault_set(f, EIO, "the tool cannot be started");
	c->process.in = fd_close(c->process.in);
	c->failed = NULL;
	c->output_max = BROKER_GIT_OUTPUT_MAX;
	c->preparing = stage == GIT_PREPARE;
	c->state = BROKER_RUNNING;
	c->until_ns = clock_boot_ns() + BROKER_GIT_MS * MS;
	return 1;
}

int broker_git_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		     struct fault *f)
{
	return start(s, c, params, c->tool->builtin == BROKER_GIT_PUSH ? GIT_SEND : GIT_WHOLE, f);
}

int broker_git_prepare(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		       struct fault *f)
{
	return start(s, c, params, GIT_PREPARE, f);
}

void broker_git_drop(const struct broker_server *s)
{
	(void)!git_box_remove(s->job->state_fd, NULL);
}

int broker_git_read(const struct broker_client *c, struct jdoc **ret_data, struct jdoc **ret_found,
		    struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const char *error;

	if (!c->output.text || jdoc_parse(c->output.text, c->output.len, "git", NULL, &d, NULL) < 0)
		return fault_set(f, EREMOTEIO, "the tool failed");
	error = jdoc_get_string(d, "error");
	if (ret_found && jdoc_get(d, "found")) {
		jdoc_free(*ret_found);
		*ret_found = jdoc_copy(jdoc_get(d, "found"));
	}
	if (error || !jdoc_get(d, "data"))
		return fault_set(f, EREMOTEIO, "%s", error ? error : "the tool failed");
	*ret_data = jdoc_copy(jdoc_get(d, "data"));
	return 0;
}
