/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "subject/program-missing.h"
#include "warden/filter-record.h"
#include "warden/warden-state.h"

#define FULL_BYTES ((uint64_t)64 * 1024)
#define FULL_FILES 16

static void send_event(const struct warden *w, struct jdoc *o)
{
	_cleanup_jdoc_ struct jdoc *doc = o;
	_cleanup_strbuf_ struct strbuf line = { 0 };

	if (w->job->status_fd < 0)
		return;
	jdoc_set_string(doc, "session", w->job->session->id);
	if (jdoc_write(doc, JDOC_CANONICAL, &line, NULL) < 0)
		return;
	strbuf_putc(&line, '\n');
	/* A reader that closed its end does not stop the run. */
	if (!line.broken)
		(void)!fd_write_all(w->job->status_fd, line.text, line.len, NULL);
}

static struct jdoc *event(const char *name)
{
	struct jdoc *o = jdoc_new_object();

	jdoc_set_string(o, "event", name);
	return o;
}

void warden_send_created(const struct warden *w)
{
	struct jdoc *o;

	if (w->job->status_fd < 0)
		return;
	o = event("created");
	jdoc_set_int(o, "pid", w->init);
	send_event(w, o);
}

void warden_send_started(const struct warden *w)
{
	if (w->job->status_fd >= 0)
		send_event(w, event("started"));
}

static void send_exited(const struct warden *w)
{
	struct jdoc *o;

	if (w->job->status_fd < 0)
		return;
	o = event("exited");
	jdoc_set_string(o, "reason", exit_reason_name(w->ret->exit.reason));
	jdoc_set_int(o, "code", w->ret->exit.code);
	send_event(w, o);
}

/* Frequent mistakes: programs of the host, shell command lines, files without mode +x. */
static const char *hint(const char *command, int err)
{
	if (err == ENOENT && strpbrk(command, " ;|&"))
		return "; for a shell command line: custody run -- sh -c 'LINE'";
	if (err == ENOENT && strchr(command, '/'))
		return ", or its interpreter is missing; -v mounts more of the host";
	if (err == ENOENT)
		return " in the PATH inside; -v mounts more of the host";
	if (err == EACCES)
		return "; it must be a file with mode +x; or call its interpreter: custody run -- sh "
		       "FILE";
	if (err == ENOEXEC)
		return "; it has no #! line: custody run -- sh FILE";
	return "";
}

char *warden_explain_exec(const struct subject *s, int err)
{
	const char *command = s->argv[0];
	_cleanup_free_ char *missing =
		err == ENOENT ? subject_explain_missing(s, getenv("PATH"), getenv("HOME")) : NULL;
	char *text = NULL;

	if (asprintf(&text, "cannot execute '%s' inside: %s%s", command, missing ? missing : strerror(err),
		     missing ? "" : hint(command, err)) < 0)
		return NULL;
	return text;
}

/*
 * On a full disk overlayfs mounts read-only, or not at all, and the error names the layer: the reason is the disk.  A run
 * needs about as many blocks and inodes for its own directories.
 */
static bool is_full(const char *dir)
{
	struct statvfs fs;

	if (!dir || statvfs(dir, &fs) < 0)
		return false;
	/* f_bavail also for root: ext4 keeps blocks back that not even root can use. */
	return (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES ||
	       (fs.f_files > 0 && fs.f_favail < FULL_FILES);
}

static int describe_refusal(const struct warden *w, char **ret)
{
	if (w->ret->layers[LAYER_WORKTREE] == LAYER_STATE_REFUSED && w->job->layer_dir &&
	    is_full(w->job->session->state))
		return asprintf(
			ret,
			"nothing was executed: no space is left for the overlay of the worktree: free "
			"space in '%s' (custody discard, custody evidence prune)",
			w->job->session->state);
	return asprintf(ret, "nothing was executed: %s", fault_text(&w->fault));
}

static char *describe(const struct warden *w)
{
	char *text = NULL;
	int n = 0;

	switch (w->ret->exit.reason) {
	case EXIT_REASON_SETUP_FAILED:
		n = describe_refusal(w, &text);
		break;
	case EXIT_REASON_TIMEOUT:
		n = asprintf(&text, "stopped after %llu s (limits.time)", (unsigned long long)w->job->time_s);
		break;
	case EXIT_REASON_OOM:
		n = asprintf(&text,
			     "out of memory: the kernel killed a process over %llu bytes (limits.memory)",
			     (unsigned long long)w->job->limits.memory);
		break;
	case EXIT_REASON_PIDS_LIMIT:
		n = asprintf(&text, "a process could not be created: limit of %llu reached (limits.pids)",
			     (unsigned long long)w->job->limits.pids);
		break;
	case EXIT_REASON_DISK_LIMIT:
		n = asprintf(&text,
			     w->disk.unexplained
				     ? "the file system of its worktree lost more than %llu bytes "
				       "(limits.disk), and its own files do not explain what it wrote"
				     : "wrote more than %llu bytes to its worktree (limits.disk)",
			     (unsigned long long)w->job->disk);
		break;
	case EXIT_REASON_DEPTH_LIMIT:
		n = asprintf(&text,
			     "created more than %d levels of directories, deeper than limits.disk can count",
			     DISK_DEPTH_MAX);
		break;
	case EXIT_REASON_SECCOMP:
		n = asprintf(&text, "killed by the system call filter (seccomp)");
		break;
	case EXIT_REASON_BUDGET:
		n = asprintf(&text, "asked for more tool calls than its budget "
				    "(max_tool_calls_per_session)");
		break;
	case EXIT_REASON_INSPECTION:
		n = asprintf(&text, "inspection refused a tool call: its records (tool.refused, tool.result) "
				    "have rule and place");
		break;
	case EXIT_REASON_LOST:
		if (w->facts.side_lost)
			text = strdup(
				w->side_over[0] && w->job->sides[0]
					? "its broker exited: the command was killed"
					: "the observer of its system calls exited: the command was killed");
		else
			n = asprintf(&text,
				     "exit status of the command is unknown (init and container disagree)");
		break;
	case EXIT_REASON_EXITED:
		if (w->facts.exec_failed)
			text = warden_explain_exec(w->job->subject, w->facts.exec_errno);
		else if (w->ret->output_error)
			n = asprintf(&text, "output could not be written, some of it is lost: %s",
				     strerror(w->ret->output_error));
		else if (w->ret->exit.code != 0)
			text = full_watch_text(&w->full);
		break;
	case EXIT_REASON_SIGNALED: /* a mapping of a file on a full tmpfs: SIGBUS */
		text = full_watch_text(&w->full);
		break;
	case EXIT_REASON_CANCELLED:
	case EXIT_REASON_VIOLATION:
	case EXIT_REASON_DENIED:
	case EXIT_REASON_OPERATOR:
	case _EXIT_REASON_MAX:
		break;
	}
	return n < 0 ? NULL : text;
}

static const char *disk_mechanism(enum profile_workspace mode)
{
	switch (mode) {
	case PROFILE_WORKSPACE_OVERLAY:
		return "watch";
	case PROFILE_WORKSPACE_TMPFS:
		return "tmpfs-size";
	case PROFILE_WORKSPACE_RO:
	case PROFILE_WORKSPACE_RW:
		break;
	}
	return "file-size";
}

/* What the supervisor measured, and what the kernel recorded: a payload can choose the signal that it dies of. */
static void take_measurements(struct warden *w)
{
	const struct session *s = w->job->session;

	if (w->phase == WARDEN_OVER && w->start_ns && disk_watch_exceeds(&w->disk, true))
		w->facts.disk_exceeded = true;
	full_watch_look(&w->full);
	w->ret->full = full_watch_list(&w->full);
	w->facts.too_deep = w->disk.size_at_walk == DISK_TOO_DEEP;
	w->facts.file_at_limit = w->disk.limit && w->disk.largest_at_walk >= w->disk.limit;
	w->facts.filter_killed = w->filter_log >= 0 && w->facts.reported && WIFSIGNALED(w->facts.status) &&
				 WTERMSIG(w->facts.status) == SIGSYS &&
				 filter_record_find(w->filter_log, s->uid_base, s->n_ids);
}

int warden_conclude(struct warden *w, struct fault *f)
{
	int r;

	r = cgroup_count(w->job->cgroup, &w->facts.counters, f);
	if (r < 0)
		return r;
	take_measurements(w);
	w->facts.typed = w->keys.signal;
	/* Never released and no reason known: init exited by itself, or the creator's message was lost. */
	if (!w->released && !w->facts.exec_failed && !w->facts.reported && !w->facts.cancelled &&
	    !w->facts.stopped) {
		w->facts.setup_failed = true;
		if (!w->fault.text)
			(void)fault_set(&w->fault, EIO,
					"the first process of the container exited before it reported");
	}
	w->ret->exit = exit_decide(&w->facts);
	if (w->job->disk) {
		w->ret->disk_by = disk_mechanism(w->job->subject->profile->workspace);
		w->ret->disk_bytes = w->job->disk;
	}
	w->ret->ended_us = clock_wall_us();
	w->ret->duration_ms = w->start_ns ? (clock_boot_ns() - w->start_ns) / 1000000 : 0;
	free(w->ret->detail);
	w->ret->detail = describe(w);
	send_exited(w);
	return 0;
}
