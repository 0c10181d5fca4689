/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "run/run-recover.h"
#include "cli/cmd-options.h"
#include "base/exit-status.h"
#include "state/sandbox-clear.h"
#include "state/sandbox-log.h"

#define ARGS                                                                                          \
	"[--sandbox NAME] [--logs] [--dry-run] [--json] [--lane LANE] [--allow-prod] [--agent NAME] " \
	"[--worker NAME]"

struct reset {
	const char *name, *lane, *agent, *worker;
	bool logs, dry_run, json, allow_prod;
	char **words; /* as given, verb first */
	struct dirs dirs;
	struct config *config;
	struct lane_pass *pass;
	struct sandbox_root *root;
	struct run_ledger record; /* for the ledger, and to find who died */
	char id[SESSION_ID_SIZE];
	struct sandbox_survey found;
};

static void reset_done(struct reset *s)
{
	sandbox_root_free(s->root);
	run_ledger_done(&s->record);
	lane_pass_free(s->pass);
	config_free(s->config);
	dirs_done(&s->dirs);
}

static int usage(const char *what, const char *word)
{
	_cleanup_free_ char *shown = word ? str_escape(word) : NULL;

	fprintf(stderr, PACKAGE_NAME " reset: %s%s%s%s\nusage: " PACKAGE_NAME " reset " ARGS "\n", what,
		word ? " '" : "", shown ? shown : "", word ? "'" : "");
	return STATUS_USAGE;
}

static bool take_flag(struct reset *s, const char *word)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = { { "--logs", &s->logs },
		      { "--dry-run", &s->dry_run },
		      { "--json", &s->json },
		      { "--allow-prod", &s->allow_prod } };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (str_eq(word, flags[i].name))
			return *flags[i].flag = true;
	return false;
}

/* STATUS_USAGE, or 0. */
static int parse(struct reset *s, int argc, char **argv)
{
	const struct {
		const char *name;
		const char **value;
	} texts[] = { { "--sandbox", &s->name },
		      { "--lane", &s->lane },
		      { "--agent", &s->agent },
		      { "--worker", &s->worker } };

	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "="), at = 0;

		if (take_flag(s, argv[i]))
			continue;
		while (at < 4 && (strlen(texts[at].name) != len || memcmp(texts[at].name, argv[i], len) != 0))
			at++;
		if (at == 4)
			return usage("no option", argv[i]);
		if (argv[i][len] == '=')
			*texts[at].value = argv[i] + len + 1;
		else if (i + 1 < argc)
			*texts[at].value = argv[++i];
		else
			return usage("needs a value:", argv[i]);
		if (!str_is_utf8(*texts[at].value, strlen(*texts[at].value)))
			return usage("not UTF-8:", *texts[at].value);
	}
	return 0;
}

/* The lane's two keys: what is removed in prod is nobody's plaything. */
static int enter(struct reset *s, struct fault *f)
{
	int r = config_open(s->lane, &s->dirs, &s->config, f);
	const struct lane_ask ask = { .lane = s->dirs.lane,
				      .allow_prod = s->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = s->words };

	if (r == 0)
		r = sandbox_name_require(s->name, f);
	if (r == 0)
		r = lane_gate(&ask, &s->pass, f);
	if (r == 0)
		r = clock_session_id(s->id, f);
	if (r < 0)
		return r;
	s->record.state = s->dirs.state;
	s->record.dirs = &s->dirs;
	s->record.config = s->config;
	s->record.run = (struct ledger_run){ .action = "reset",
					     .session = s->id,
					     .agent = s->agent,
					     .worker = s->worker,
					     .lane = lane_name(s->dirs.lane),
					     .argv = s->words };
	return 0;
}

static int survey(struct reset *s, struct fault *f)
{
	const struct sandbox_root *root = s->root;
	int r;

	r = sandbox_survey(root, SANDBOX_WORKSPACE, root->workspace_fd, &s->found, f);
	if (r == 0)
		r = sandbox_survey(root, SANDBOX_TMP, root->tmp_fd, &s->found, f);
	if (r == 0 && s->logs)
		r = sandbox_survey(root, SANDBOX_LOGS, root->logs_fd, &s->found, f);
	return r;
}

static int report(const struct reset *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = NULL;
	_cleanup_free_ char *path = str_escape(s->root->path);

	if (!s->json) {
		printf("%s: %llu entries, %llu KB %s; logs %s\n", path ? path : s->name,
		       (unsigned long long)s->found.entries, (unsigned long long)(s->found.bytes / 1024),
		       s->dry_run ? "would be removed" : "removed", s->logs ? "too" : "stay");
		return 0;
	}
	o = jdoc_new_object();
	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_string(o, "sandbox", s->name);
	jdoc_set(o, "path", ledger_text(s->root->path));
	jdoc_set_bool(o, "dry_run", s->dry_run);
	jdoc_set_bool(o, "logs", s->logs);
	jdoc_set_int(o, "entries", (int64_t)s->found.entries);
	jdoc_set_int(o, "bytes", (int64_t)s->found.bytes);
	return verb_print(o, f);
}

/* --- records ------------------------------------------------------------------------------------------------------- */

static int tell(struct reset *s, const char *kind, const char *status, const char *why,
		enum ledger_class class, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = kind,
					.session = s->id,
					.agent = s->agent,
					.worker = s->worker,
					.status = status,
					.d = d };

	jdoc_set_string(d, "sandbox", s->name);
	if (s->root)
		jdoc_set(d, "path", ledger_text(s->root->path));
	jdoc_set_bool(d, "logs", s->logs);
	jdoc_set_int(d, "entries", (int64_t)s->found.entries);
	jdoc_set_int(d, "bytes", (int64_t)s->found.bytes);
	jdoc_set(d, "by", ledger_text(s->dirs.user));
	if (why)
		jdoc_set(d, "why", ledger_text(why));
	return ledger_append(s->record.ledger, &e, 1, class, NULL, f);
}

static int tell_log(const struct reset *s, int logs_fd, const char *path, const char *operation,
		    const char *status, struct fault *f)
{
	const struct sandbox_line l = {
		.agent = s->agent, .worker = s->worker, .operation = operation, .path = path, .status = status
	};
	int r = sandbox_log_write(logs_fd, &l, f);

	return r < 0 ? fault_wrap(f, r, "log of sandbox root '%s' ('custody reset --logs' makes it anew)",
				  s->name)
		     : 0;
}

/* The refusal itself is what the caller hears; what of it could not be recorded is said aloud. */
static void tell_refusal(struct reset *s, const char *why)
{
	_cleanup_sandbox_root_ struct sandbox_root *seen = NULL;
	const struct sandbox_root *root = s->root;
	_cleanup_fault_ struct fault f = { 0 };

	if (tell(s, "sandbox.reset", "denied", why, LEDGER_DECIDED, &f) < 0) {
		log_error("this refusal could not be recorded: %s", fault_text(&f));
		fault_done(&f);
	}
	/* The lock was not had, but a line needs none. */
	if (!root && sandbox_root_open(&s->dirs, s->name, SANDBOX_LOOK, &seen, NULL) == 0)
		root = seen;
	if (root && tell_log(s, root->logs_fd, root->path, "reset", "denied: busy", &f) < 0)
		log_error("%s", fault_text(&f));
}

/* --- the act -------------------------------------------------------------------------------------------------------- */

/* Whoever lost its supervisor may still have processes here: they are ended, and its evidence is kept, before that goes. */
static int end_dead(struct reset *s, struct fault *f)
{
	int r = run_ledger_sweep(&s->record, &s->dirs, f);

	if (r == 0)
		r = session_recover_dead(&s->record, &s->dirs, f);
	return r < 0 ? fault_wrap(f, r, "nothing was removed, for a dead session may still work there") : 0;
}

static int clear(const struct reset *s, struct fault *f)
{
	const struct sandbox_root *root = s->root;
	int r;

	r = sandbox_clear(root, SANDBOX_WORKSPACE, root->workspace_fd, f);
	if (r == 0)
		r = sandbox_clear(root, SANDBOX_TMP, root->tmp_fd, f);
	if (r == 0 && s->logs)
		r = sandbox_clear(root, SANDBOX_LOGS, root->logs_fd, f);
	return r;
}

/* A log that is to go is no reason not to: --logs is how one that cannot be written is got rid of. */
static int announce(struct reset *s, struct fault *f)
{
	int r;

	r = lane_record(s->pass, s->record.ledger, &s->record.run, f);
	if (r == 0)
		r = tell(s, "sandbox.reset", "ok", NULL, LEDGER_DECIDED, f);
	if (r == 0 && !s->logs)
		r = tell_log(s, s->root->logs_fd, s->root->path, "reset", "allowed", f);
	return r < 0 ? fault_wrap(f, r, "nothing was removed, for it could not be recorded") : 0;
}

static int conclude(struct reset *s, int done, struct fault *f)
{
	_cleanup_fault_ struct fault unsaid = { 0 };
	const char *why = done < 0 ? fault_text(f) : NULL;
	int r = tell(s, "sandbox.cleared", done < 0 ? "failed" : "ok", why, LEDGER_CLOSING, &unsaid);

	if (r == 0)
		r = tell_log(s, s->root->logs_fd, s->root->path, s->logs ? "reset" : "end",
			     done < 0 ? "failed" : "cleared", &unsaid);
	if (r < 0 && done == 0)
		return fault_set(f, -r, "it is cleared, but that could not be recorded: %s",
				 fault_text(&unsaid));
	if (r < 0)
		log_error("the failure could not be recorded: %s", fault_text(&unsaid));
	return done;
}

static int refuse(struct reset *s, int r, struct fault *f)
{
	_cleanup_free_ char *text = NULL;

	if (r != -EBUSY && r != -ENOENT)
		return r;
	if (r == -EBUSY)
		tell_refusal(s, fault_text(f));
	text = str_escape(fault_text(f));
	fprintf(stderr, PACKAGE_NAME " reset: %s\n", text ? text : "out of memory");
	fault_done(f);
	return STATUS_NO;
}

static int act(struct reset *s, struct fault *f)
{
	int r;

	/* Without a ledger nothing is touched, not even a mode repaired. */
	r = run_ledger_open(&s->record, f);
	if (r < 0)
		return r;
	r = sandbox_root_open(&s->dirs, s->name, SANDBOX_RESET, &s->root, f);
	if (r == 0)
		r = end_dead(s, f);
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

static int look(struct reset *s, struct fault *f)
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

int cmd_reset(int argc, char **argv, struct fault *f)
{
	_cleanup_(reset_done) struct reset s = { .name = SANDBOX_DEFAULT,
						 .words = argv,
						 .record = RUN_LEDGER_NONE };
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	r = parse(&s, argc, argv);
	if (r != 0)
		return r;
	r = enter(&s, f);
	if (r < 0)
		return r;
	r = s.dry_run ? look(&s, f) : act(&s, f);
	return r < 0 ? r : r == STATUS_NO ? STATUS_NO : STATUS_OK;
}
