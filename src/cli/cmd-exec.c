/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "base/exit-status.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/run-call.h"
#include "cli/session-print.h"
#include "run/exec.h"

/* A refusal has a status of its own and is printed here; a failure is reported by the caller. */
static int refuse(int status, int r, struct fault *f)
{
	_cleanup_free_ char *text = NULL;

	if (status == STATUS_FAILED)
		return r;
	text = str_escape(fault_text(f));
	fprintf(stderr, PACKAGE_NAME " exec: %s\n", text ? text : "out of memory");
	fault_done(f);
	return status;
}

/* SESSION [--] COMMAND: the words behind the session are the command's. */
static int take_command(struct command_call *c, struct fault *f)
{
	char **words = c->args + 1;
	int r = run_call_finish(c, f);

	if (r < 0)
		return r;
	if (str_eq(*words, "--"))
		words++;
	if (!*words)
		return fault_set(f, EINVAL, "missing command; usage: custody exec SESSION -- COMMAND");
	c->run.argv = words;
	c->run.allow_prod = c->allow_prod;
	return 0;
}

static int finish(const struct run_result *res)
{
	if (res->detail)
		log_error("%s", res->detail);
	/* Success requires that all output was written and that the end is recorded. */
	return (res->output_error || res->unrecorded) && res->exit.code == 0 ? STATUS_FAILED : res->exit.code;
}

int cmd_exec(struct command_call *c, struct fault *f)
{
	const struct session_print_ask ask = { .verb = "exec",
					       .word = c->args[0],
					       .action = "run the command in",
					       .fit = SESSION_FIT_RUNNING,
					       .quiet = c->run.quiet };
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_run_result_ struct run_result res = { 0 };
	_cleanup_exec_ struct exec *e = NULL;
	int status, r;

	log_init(PACKAGE_NAME, c->run.quiet	? LOG_LEVEL_QUIET
			       : c->run.verbose ? LOG_LEVEL_VERBOSE
						: LOG_LEVEL_INFO);
	r = take_command(c, f);
	if (r < 0)
		return r;
	r = exec_enter(&c->run, &c->dirs, c->config, &e, &status, f);
	if (r < 0)
		return refuse(status, r, f);
	r = session_print_find(&c->dirs, &ask, &n, &status, f);
	if (r < 0)
		return r;
	/* 1 would look like the command's own. */
	if (status != STATUS_OK)
		return STATUS_FAILED;
	r = exec_run(e, &n, &res, f);
	return r < 0 ? refuse(res.exit.code, r, f) : finish(&res);
}
