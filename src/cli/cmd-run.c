/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cmd-run.h"
#include "cli/command.h"
#include "cli/run-call.h"
#include "cli/run-notice.h"
#include "run/run-detach.h"
#include "run/run.h"
#include "base/exit-status.h"

static int describe(const struct run_options *o, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = run_dry_describe(o, &text, f);

	if (r < 0)
		return r;
	return fd_write_all(STDOUT_FILENO, text, strlen(text), f);
}

/* Links in /dev are the system's. */
static bool is_of_system(const char *path)
{
	return str_starts(path, "/dev/") || str_starts(path, "/proc/self/");
}

/* Opened before the run: an unwritable result fails early. */
static int open_result(const char *path, struct fault *f)
{
	/* Do not follow a symbolic link: in an untrusted worktree it may point anywhere. */
	int nofollow = is_of_system(path) ? 0 : O_NOFOLLOW;
	/* O_NONBLOCK: a FIFO without a reader would block the open. */
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | nofollow | O_CLOEXEC, 0644);

	if (fd < 0 && errno == ELOOP)
		return fault_set(f, ELOOP, "--result '%s' is a symbolic link: name the file itself", path);
	if (fd < 0 && errno == ENXIO)
		return fault_set(f, ENXIO, "--result '%s' is a FIFO without a reader: name a file", path);
	if (fd < 0)
		return fault_errno(f, errno, "--result '%s'", path);
	if (fcntl(fd, F_SETFL, 0) < 0) {
		int r = fault_errno(f, errno, "--result '%s'", path);

		(void)fd_close(fd);
		return r;
	}
	return fd;
}

/* OPEN_LINE: the line before it has no newline, and must not become part of the result. */
static int write_result(int fd, const struct run_result *res, bool open_line, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = run_result_to_json(res);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	if (open_line)
		strbuf_putc(&text, '\n');
	r = jdoc_write(doc, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	strbuf_putc(&text, '\n');
	if (text.broken)
		return fault_errno(f, ENOMEM, "result");
	return fault_wrap(f, fd_write_all(fd, text.text, text.len, f), "write the result");
}

/*
 * In a tree that the command may write, it may have written to the file, or put one of its own in its place, which the
 * caller would read as custody's word.
 */
static int write_result_file(int fd, const char *path, const struct run_result *res, struct fault *f)
{
	struct stat ours, there;
	int r;

	if (fstat(fd, &ours) < 0)
		return fault_errno(f, errno, "--result '%s'", path);
	if (!S_ISREG(ours.st_mode) || is_of_system(path))
		return write_result(fd, res, false, f);
	if (ftruncate(fd, 0) < 0)
		return fault_errno(f, errno, "--result '%s'", path);
	r = write_result(fd, res, false, f);
	if (r < 0)
		return r;
	if (lstat(path, &there) < 0)
		return fault_errno(f, errno, "--result '%s' was removed or moved during the run", path);
	if (there.st_dev != ours.st_dev || there.st_ino != ours.st_ino)
		return fault_set(
			f, EPERM,
			"--result '%s' was replaced during the run: the file there is not the result; "
			"name a file that the command cannot write, and see 'custody show'",
			path);
	return 0;
}

/* The run failed before it had a result: write a minimal one for scripts. */
static void describe_failure(const struct run_options *o, struct run_result *res, const struct fault *f)
{
	*res = (struct run_result){
		.argv = o->argv,
		.profile = o->profile,
		.name = o->name,
		.agent = o->agent,
		.worker = o->worker,
		.issue = o->issue,
		.exit = { .reason = EXIT_REASON_SETUP_FAILED, .code = STATUS_FAILED, .abnormal = true },
		.detail = strdup(fault_text(f)),
		.ended_us = clock_wall_us(),
	};
}

/* Line by line, escaped: a line may quote names of a hostile tree. */
static void print_lines(const char *verb, const char *text, const char *remedy)
{
	_cleanup_strbuf_ struct strbuf all = { 0 };
	const char *lines;

	strbuf_printf(&all, "%s\n%s", text, remedy ? remedy : "");
	lines = all.broken ? "out of memory" : all.text;
	for (const char *line = lines; *line;) {
		size_t len = strcspn(line, "\n");
		_cleanup_free_ char *copy = strndup(line, len);
		_cleanup_free_ char *clean = copy ? str_escape(copy) : NULL;

		if (line == lines)
			fprintf(stderr, PACKAGE_NAME " %s: ", verb);
		fprintf(stderr, "%s%s\n", line == lines ? "" : "  ", clean ? clean : "out of memory");
		line += len + (line[len] == '\n');
	}
}

/* A refusal has a status of its own and is printed here; a failure is reported by the caller. */
static int refuse(const struct run_options *o, const struct run_result *res, int r, struct fault *f)
{
	if (res->exit.code == STATUS_FAILED && !res->remedy)
		return r;
	print_lines(o->words ? o->words[0] : "run", fault_text(f), res->remedy);
	fault_done(f);
	return res->exit.code;
}

int run_command(const struct run_options *o, struct fault *f)
{
	_cleanup_run_ struct run *run = NULL;
	_cleanup_run_result_ struct run_result res = { 0 };
	_cleanup_close_ int result_fd = -EBADF;
	int r;

	log_init(PACKAGE_NAME, o->quiet ? LOG_LEVEL_QUIET : o->verbose ? LOG_LEVEL_VERBOSE : LOG_LEVEL_INFO);
	if (o->dry_run)
		return describe(o, f);
	if (o->result) {
		result_fd = open_result(o->result, f);
		if (result_fd < 0)
			return result_fd;
	}
	r = run_session(o, &res, &run, f);
	if (r < 0) {
		if (!run)
			describe_failure(o, &res, f);
		if (result_fd >= 0)
			(void)!write_result_file(result_fd, o->result, &res, NULL);
		if (o->json)
			(void)!write_result(STDOUT_FILENO, &res, res.open_line, NULL);
		return refuse(o, &res, r, f);
	}
	if (res.detail)
		log_error("%s", res.detail);
	log_verbose("session %s: %s, status %d (%s)", res.session, exit_reason_name(res.exit.reason),
		    res.exit.code, exit_source_name(res.exit.source));
	run_notice_print(o, &res);
	if (result_fd >= 0)
		r = write_result_file(result_fd, o->result, &res, f);
	if (r == 0 && o->json && !o->detach)
		r = write_result(STDOUT_FILENO, &res, res.open_line, f);
	if (r < 0)
		return r;
	/* Success requires that all output was written and that the run is recorded. */
	return (res.output_error || res.unrecorded || res.worktree_lost) && res.exit.code == 0
		       ? STATUS_FAILED
		       : res.exit.code;
}

int cmd_run(struct command_call *c, struct fault *f)
{
	struct run_options *o = &c->run;
	int r;

	r = run_call_finish(c, f);
	if (r < 0)
		return r;
	if (o->detach && !o->dry_run) {
		bool parent;

		r = run_detach(o, &parent, f);
		if (r < 0 || parent)
			return r;
	}
	return run_command(o, f);
}
