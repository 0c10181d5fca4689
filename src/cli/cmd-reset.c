/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cmd-reset.h"
#include "cli/dispatch.h"
#include "run/run-ledger.h"
#include "run/run-recover.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "state/sandbox-clear.h"
#include "state/sandbox-log.h"

struct reset {
	struct command_call *call;
	const char *name; /* of the sandbox root */
	struct dirs dirs;
	struct config *config;
	struct lane_pass *pass;
	struct sandbox_root *root;
	struct decision decision; /* for the ledger, and to recover lost sessions */
	char id[SESSION_ID_SIZE];
	struct sandbox_survey found;
};

static void reset_done(struct reset *s)
{
	sandbox_root_free(s->root);
	decision_done(&s->decision);
	lane_pass_free(s->pass);
	config_free(s->config);
	dirs_done(&s->dirs);
}

/* Checks the two keys of the lane before anything of prod is removed. */
static int enter(struct reset *s, struct fault *f)
{
	int r = config_open(s->call->lane, &s->dirs, &s->config, f);
	const struct lane_ask ask = { .lane = s->dirs.lane,
				      .allow_prod = s->call->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = s->call->words,
				      .changes_state = true };

	if (r == 0)
		r = sandbox_name_require(s->name, f);
	if (r == 0)
		r = lane_gate(&ask, &s->pass, f);
	if (r == 0)
		r = clock_session_id(s->id, f);
	if (r < 0)
		return r;
	s->decision.dirs = &s->dirs;
	s->decision.config = s->config;
	s->decision.run = (struct ledger_run){ .action = "reset",
					       .session = s->id,
					       .agent = s->call->agent,
					       .worker = s->call->worker,
					       .lane = lane_name(s->dirs.lane),
					       .argv = s->call->words };
	return 0;
}

static int survey(struct reset *s, struct fault *f)
{
	const struct sandbox_root *root = s->root;
	int r;

	r = sandbox_survey(root, SANDBOX_WORKSPACE, root->workspace_fd, &s->found, f);
	if (r == 0)
		r = sandbox_survey(root, SANDBOX_TMP, root->tmp_fd, &s->found, f);
	if (r == 0 && s->call->logs)
		r = sandbox_survey(root, SANDBOX_LOGS, root->logs_fd, &s->found, f);
	return r;
}

static int report(const struct reset *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = NULL;
	_cleanup_free_ char *path = str_escape(s->root->path);

	if (!s->call->json) {
		printf("%s: %llu entries, %llu KB %s; logs %s\n", path ? path : s->name,
		       (unsigned long long)s->found.entries, (unsigned long long)(s->found.bytes / 1024),
		       s->call->dry_run ? "would be removed" : "removed", s->call->logs ? "too" : "stay");
		return 0;
	}
	o = jdoc_new_object();
	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_string(o, "sandbox", s->name);
	jdoc_set(o, "path", ledger_text(s->root->path));
	jdoc_set_bool(o, "dry_run", s->call->dry_run);
	jdoc_set_bool(o, "logs", s->call->logs);
	jdoc_set_int(o, "entries", (int64_t)s->found.entries);
	jdoc_set_int(o, "bytes", (int64_t)s->found.bytes);
	return output_print(o, f);
}

/* --- records ------------------------------------------------------------------------------------------------------- */

static int write_record(struct reset *s, const char *kind, const char *status, const char *why,
			enum ledger_class class, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = kind,
					.session = s->id,
					.agent = s->call->agent,
					.worker = s->call->worker,
					.status = status,
					.d = d };

	jdoc_set_string(d, "sandbox", s->name);
	if (s->root)
		jdoc_set(d, "path", ledger_text(s->root->path));
	jdoc_set_bool(d, "logs", s->call->logs);
	jdoc_set_int(d, "entries", (int64_t)s->found.entries);
	jdoc_set_int(d, "bytes", (int64_t)s->found.bytes);
	jdoc_set(d, "by", ledger_text(s->dirs.user));
	if (why)
		jdoc_set(d, "why", ledger_text(why));
	return ledger_append(s->decision.ledger, &e, 1, class, NULL, f);
}

static int write_log(const struct reset *s, int logs_fd, const char *path, const char *operation,
		     const char *status, struct fault *f)
{
	const struct sandbox_line l = { .agent = s->call->agent,
					.worker = s->call->worker,
					.operation = operation,
					.path = path,
					.status = status };
	int r = sandbox_log_write(logs_fd, &l, f);

	return r < 0 ? fault_wrap(f, r, "log of sandbox root '%s' ('custody reset --logs' creates it again)",
				  s->name)
		     : 0;
}

/* The caller gets the refusal as the error; a failure to record it is logged. */
static void record_refusal(struct reset *s, const char *why)
{
	_cleanup_sandbox_root_ struct sandbox_root *seen = NULL;
	const struct sandbox_root *root = s->root;
	_cleanup_fault_ struct fault f = { 0 };

	if (write_record(s, "sandbox.reset", "denied", why, LEDGER_DECIDED, &f) < 0) {
		log_error("cannot record this refusal: %s", fault_text(&f));
		fault_done(&f);
	}
	/* The root is locked by another process; appending to its log needs no lock. */
	if (!root && sandbox_root_open(&s->dirs, s->name, SANDBOX_LOOK, &seen, NULL) == 0)
		root = seen;
	if (root && write_log(s, root->logs_fd, root->path, "reset", "denied: busy", &f) < 0)
		log_error("%s", fault_text(&f));
}

/* --- reset ---------------------------------------------------------------------------------------------------------- */

/* Sessions without a supervisor may still have processes here: kill them and keep their evidence first. */
static int recover_dead(struct reset *s, struct fault *f)
{
	int r = run_recover_claims(&s->decision, f);

	if (r == 0)
		r = run_recover_sessions(&s->decision, f);
	return r < 0 ? fault_wrap(f, r,
				  "nothing was removed: processes of a dead session may still run there")
		     : 0;
}

static int clear(const struct reset *s, struct fault *f)
{
	const struct sandbox_root *root = s->root;
	int r;

	r = sandbox_root_return(root, f);
	if (r == 0)
		r = sandbox_clear(root, SANDBOX_WORKSPACE, root->workspace_fd, f);
	if (r == 0)
		r = sandbox_clear(root, SANDBOX_TMP, root->tmp_fd, f);
	if (r == 0 && s->call->logs)
		r = sandbox_clear(root, SANDBOX_LOGS, root->logs_fd, f);
	return r;
}

/* With --logs an unwritable log is no error: the log is removed. */
static int announce(struct reset *s, struct fault *f)
{
	int r;

	r = lane_record(s->pass, s->decision.ledger, &s->decision.run, f);
	if (r == 0)
		r = write_record(s, "sandbox.reset", "ok", NULL, LEDGER_DECIDED, f);
	if (r == 0 && !s->call->logs)
		r = write_log(s, s->root->logs_fd, s->root->path, "reset", "allowed", f);
	return r < 0 ? fault_wrap(f, r, "nothing was removed: cannot record it") : 0;
}

static int conclude(struct reset *s, int done, struct fault *f)
{
	_cleanup_fault_ struct fault second = { 0 };
	const char *why = done < 0 ? fault_text(f) : NULL;
	int r = write_record(s, "sandbox.cleared", done < 0 ? "failed" : "ok", why, LEDGER_CLOSING, &second);

	if (r == 0)
		r = write_log(s, s->root->logs_fd, s->root->path, s->call->logs ? "reset" : "end",
			      done < 0 ? "failed" : "cleared", &second);
	if (r < 0 && done == 0)
		return fault_set(f, -r, "cleared, but cannot record it: %s", fault_text(&second));
	if (r < 0)
		log_error("cannot record the failure: %s", fault_text(&second));
	return done;
}

static int refuse(struct reset *s, int r, struct fault *f)
{
	_cleanup_free_ char *text = NULL;

	if (r != -EBUSY && r != -ENOENT)
		return r;
	if (r == -EBUSY)
		record_refusal(s, fault_text(f));
	text = str_escape(fault_text(f));
	fprintf(stderr, PACKAGE_NAME " reset: %s\n", text ? text : "out of memory");
	fault_done(f);
	return STATUS_NO;
}

static int reset_root(struct reset *s, struct fault *f)
{
	int r;

	/* Opened first: without a ledger nothing is changed, not even a mode. */
	r = run_ledger_open(&(struct run_ledger){ .decision = &s->decision }, f);
	if (r < 0)
		return r;
	r = sandbox_root_open(&s->dirs, s->name, SANDBOX_RESET, &s->root, f);
	if (r == 0)
		r = recover_dead(s, f);
	if (r == 0)
		r = survey(s, f);
	if (r < 0)
		return refuse(s, r, f);
	r = announce(s, f);
	if (r < 0)
		return r;
	r = conclude(s, clear(s, f), f);
	return r < 0 ? r : report(s, f);
}

static int preview(struct reset *s, struct fault *f)
{
	int r = sandbox_root_open(&s->dirs, s->name, SANDBOX_LOOK, &s->root, f);

	if (r == 0)
		r = survey(s, f);
	if (r == -ENOENT || r == -EBUSY) {
		_cleanup_free_ char *text = str_escape(fault_text(f));

		fprintf(stderr, PACKAGE_NAME " reset: %s\n", text ? text : "out of memory");
		fault_done(f);
		return STATUS_NO;
	}
	return r < 0 ? r : report(s, f);
}

int cmd_reset(struct command_call *c, struct fault *f)
{
	_cleanup_(reset_done) struct reset s = { .call = c,
						 .name = c->sandbox ? c->sandbox : SANDBOX_DEFAULT,
						 .decision = DECISION_NONE };
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	if (c->set_home && (c->sandbox || c->logs))
		return dispatch_usage(c, "--home empties a home, which has no root and no logs: omit %s",
				      c->sandbox ? "--sandbox" : "--logs");
	if (c->set_home)
		return cmd_reset_home(c, f);
	r = enter(&s, f);
	if (r < 0)
		return r;
	r = c->dry_run ? preview(&s, f) : reset_root(&s, f);
	return r < 0 ? r : r == STATUS_NO ? STATUS_NO : STATUS_OK;
}
