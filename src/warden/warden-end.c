/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "warden/warden-state.h"

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
static const char *hint_for(const char *command, int err)
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

static char *describe(const struct warden *w)
{
	const char *command = w->job->subject->argv[0];
	char *text = NULL;
	int n = 0;

	switch (w->ret->exit.reason) {
	case EXIT_REASON_SETUP_FAILED:
		n = asprintf(&text, "nothing was executed: %s", fault_text(&w->fault));
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
		n = w->disk.size_at_walk == DISK_TOO_DEEP
			    ? asprintf(&text,
				       "created more than %d levels of directories, deeper than limits.disk "
				       "can "
				       "count",
				       DISK_DEPTH_MAX)
			    : asprintf(&text, "wrote more than %llu bytes to its worktree (limits.disk)",
				       (unsigned long long)w->job->disk);
		break;
	case EXIT_REASON_SECCOMP:
		n = asprintf(&text, "killed by the system call filter (seccomp)");
		break;
	case EXIT_REASON_LOST:
		n = asprintf(&text, "exit status of the command is unknown (init and container disagree)");
		break;
	case EXIT_REASON_EXITED:
		if (w->facts.exec_failed)
			n = asprintf(&text, "cannot execute '%s' inside: %s%s", command,
				     strerror(w->facts.exec_errno), hint_for(command, w->facts.exec_errno));
		else if (w->ret->output_error)
			n = asprintf(&text, "output could not be written, some of it is lost: %s",
				     strerror(w->ret->output_error));
		break;
	case EXIT_REASON_SIGNALED:
	case EXIT_REASON_CANCELLED:
	case EXIT_REASON_VIOLATION:
	case EXIT_REASON_BUDGET:
	case EXIT_REASON_INSPECTION:
	case EXIT_REASON_DENIED:
	case EXIT_REASON_OPERATOR:
	case _EXIT_REASON_MAX:
		break;
	}
	return n < 0 ? NULL : text;
}

int warden_conclude(struct warden *w, struct fault *f)
{
	int r;

	r = cgroup_count(w->job->cgroup, &w->facts.counters, f);
	if (r < 0)
		return r;
	if (w->phase == WARDEN_OVER && w->start_ns && disk_watch_exceeds(&w->disk, true))
		w->facts.disk_exceeded = true;
	/* Never released and no reason known: init exited by itself, or the creator's message was lost. */
	if (!w->released && !w->facts.exec_failed && !w->facts.reported && !w->facts.cancelled &&
	    !w->facts.stopped) {
		w->facts.setup_failed = true;
		if (!w->fault.text)
			(void)fault_set(&w->fault, EIO,
					"the first process of the container exited before it reported");
	}
	w->ret->exit = exit_decide(&w->facts);
	w->ret->ended_us = clock_wall_us();
	w->ret->duration_ms = w->start_ns ? (clock_boot_ns() - w->start_ns) / 1000000 : 0;
	free(w->ret->detail);
	w->ret->detail = describe(w);
	send_exited(w);
	return 0;
}
