/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"
#include "config/config-redact.h"
#include "container/container-info.h"
#include "container/warden-call.h"
#include "oci/engine/engine-exec-basis.h"
#include "oci/engine/engine-gate-impl.h"
#include "session/exit-reason.h"

/* Descriptors of a container that was just created. */
struct handover {
	int pidfd, call, parent;
	uint64_t start, exe_dev, exe_ino;
	struct container_tree tree;
};

static void handover_done(struct handover *h)
{
	h->pidfd = fd_close(h->pidfd);
	h->call = fd_close(h->call);
	warden_held_done(&h->tree.held);
}

static int pin(pid_t pid, struct handover *h, struct fault *f)
{
	char path[32];
	struct stat st;
	int r;

	h->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (h->pidfd < 0)
		return fault_errno(f, errno, "the container's first process %d", (int)pid);
	r = process_start_time(pid, &h->start);
	/* Before create returns: from then on it may be started, by whatever program. */
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st) == 0) {
		h->exe_dev = st.st_dev;
		h->exe_ino = st.st_ino;
	}
	/* The process of PIDFD is still alive, so /proc/PID was its own. */
	if (r != 1 || syscall(SYS_pidfd_send_signal, h->pidfd, 0, NULL, 0) < 0)
		return fault_set(f, ESRCH, "the container's first process %d has exited", (int)pid);
	return 0;
}

/* Engines take the system's words, "No such file or directory", for a missing command. */
static int refuse_tree(const struct engine_gate *g, int r, struct fault *why, struct fault *f)
{
	if (r == -ENOENT)
		return fault_set(f, ENOENT,
				 "annotation custody.worktree: the container has no directory '%s'",
				 g->engine.worktree);
	return fault_set(f, -r, "annotation custody.worktree: %s", fault_text(why));
}

/* A directory that an annotation names must exist; the working directory may be made by the command. */
static int open_tree(struct engine_gate *g, pid_t pid, struct handover *h, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = container_tree_open(pid, g->engine.worktree, &h->tree, &why);

	/* Removed with the container, as a tmpfs is: it does not keep its changes. */
	if (r >= 0 && g->engine.worktree_made)
		h->tree.mode = PROFILE_WORKSPACE_TMPFS;
	if (r >= 0)
		return 0;
	if (jdoc_get(jdoc_get(g->engine.merged, "annotations"), "custody.worktree"))
		return refuse_tree(g, r, &why, f);
	h->tree = CONTAINER_TREE_NONE;
	return 0;
}

/* {"subject": DOCUMENT}, as in the subject.json of a bundle. */
static int put_subject(const struct engine_gate *g, struct strbuf *out, struct fault *f)
{
	strbuf_printf(out, "{\"subject\":%s}", g->document);
	return out->broken ? fault_errno(f, ENOMEM, "container") : 0;
}

/* Engines end a pause container with a signal, which is its normal end, and it can change nothing. */
static struct jdoc *make_pause_forensics(void)
{
	struct jdoc *forensics = jdoc_new_object();

	jdoc_append_string(jdoc_set_array(forensics, "on"), exit_reason_name(EXIT_REASON_VIOLATION));
	return forensics;
}

static int write_info(const struct engine_gate *g, pid_t pid, const struct handover *h, struct fault *f)
{
	_cleanup_strv_ char **argv = redact_argv(g->engine.argv, g->decision.run.redact), **flags = NULL;
	_cleanup_strbuf_ struct strbuf subject = { 0 };
	_cleanup_jdoc_ struct jdoc *pause = g->engine.pause ? make_pause_forensics() : NULL;
	_cleanup_jdoc_ struct jdoc *exec = engine_exec_basis_make(&g->engine, g->profile),
				   *broker = engine_gate_describe_broker(g);
	struct container_info d = {
		.container = g->container,
		.bundle = g->bundle,
		.pid = pid,
		.start = h->start,
		.digest = g->digest,
		.profile = g->profile->name,
		.profile_digest = g->profile->digest,
		.argv = argv,
		.engine = true,
		.image = g->engine.image,
		.exec = exec,
		.broker = broker,
		.verdict = (struct jdoc *)g->decision.run.approval.verdict,
		.forensics = pause ? pause : (struct jdoc *)g->profile->sections[PROFILE_SECTION_FORENSICS],
		.workspace = h->tree.mode,
		.work = g->engine.worktree,
		.config = g->engine.text,
		.config_len = g->engine.len,
	};
	int r = put_subject(g, &subject, f);

	if (r >= 0 && (!argv || !exec || (g->engine.broker.open && !broker)))
		r = fault_errno(f, ENOMEM, "container");
	if (r >= 0)
		r = config_redact_flags(g->profile, &flags, f);
	if (r < 0)
		return r;
	d.redact = flags;
	d.subject = subject.text;
	d.subject_len = subject.len;
	return container_info_write(g->session.run_fd, &d, f);
}

static int send_request(struct engine_gate *g, pid_t pid, const struct handover *h, struct fault *f)
{
	const struct warden_held *held = &h->tree.held;
	struct warden_request request = { .kind = WARDEN_ENGINE,
					  .lane = g->dirs.lane,
					  .container = g->container,
					  .level = g->decision.verdict->level,
					  .reserved = g->decision.reserved,
					  .digest = g->digest,
					  .uid = geteuid(),
					  .user = g->dirs.user,
					  .pid = pid,
					  .profile = g->profile->name,
					  .once = !g->engine.image,
					  .isolate = g->config->sandbox.enabled,
					  .layers = g->engine.layers,
					  .optional = g->profile->optional,
					  .preserved = g->preserved,
					  .exe_dev = h->exe_dev,
					  .exe_ino = h->exe_ino,
					  .tree = held->tree >= 0,
					  .upper = held->upper >= 0,
					  .broker = g->broker.socket >= 0,
					  .parent = h->parent >= 0 };
	int fds[WARDEN_FDS_MAX] = { h->pidfd, g->session.run_fd, g->decision.claim.fd, h->call };
	int n = WARDEN_FDS, r;

	if (g->decision.reserved)
		request.governance = (struct jdoc *)g->profile->sections[PROFILE_SECTION_GOVERNANCE];
	memcpy(request.session, g->id, sizeof(request.session));
	if (request.tree)
		fds[n++] = held->tree;
	if (request.upper)
		fds[n++] = held->upper;
	if (request.broker)
		fds[n++] = g->broker.socket;
	if (request.parent)
		fds[n++] = h->parent;
	r = warden_start_release(&g->warden, &request, fds, f);
	g->handed_over = g->warden.pid < 0;
	return r;
}

int engine_gate_hand_over(struct engine_gate *g, pid_t pid, int parent, struct fault *f)
{
	_cleanup_(handover_done) struct handover h = { .pidfd = -EBADF,
						       .call = -EBADF,
						       .parent = parent, /* borrowed */
						       .tree = CONTAINER_TREE_NONE };
	int r;

	g->decision.refused = "setup-failed";
	r = pin(pid, &h, f);
	if (r >= 0)
		r = engine_pins_require(&g->engine.pins, g->engine.merged, pid, f);
	if (r >= 0)
		r = open_tree(g, pid, &h, f);
	if (r >= 0)
		r = write_info(g, pid, &h, f);
	if (r < 0)
		return r;
	h.call = warden_call_listen(g->session.run_fd, f);
	r = h.call < 0 ? h.call : send_request(g, pid, &h, f);
	if (!g->handed_over)
		return r;
	/* Locks that the warden shares: its exit must free them, also while `run` waits for the container. */
	session_done(&g->session);
	claim_done(&g->decision.claim);
	/* With the broker the socket must be gone. */
	engine_broker_files_done(&g->broker);
	return r;
}
