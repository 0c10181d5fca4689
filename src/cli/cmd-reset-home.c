/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cmd-reset.h"
#include "cli/output.h"
#include "run/run-ledger.h"
#include "run/run-recover.h"
#include "state/home-dir.h"
#include "state/project.h"
#include "state/sandbox-clear.h"

struct home_reset {
	struct command_call *call;
	struct dirs dirs;
	struct config *config;
	struct decision decision; /* for the ledger, and to recover lost sessions */
	char session[SESSION_ID_SIZE];
	char id[HOME_ID_SIZE];
	struct home_dir *home;
	int fd; /* of its part, readable */
	struct sandbox_survey found;
};

static void home_reset_done(struct home_reset *s)
{
	(void)fd_close(s->fd);
	home_dir_free(s->home);
	decision_done(&s->decision);
	config_free(s->config);
	dirs_done(&s->dirs);
}

/* The ID of `df`, or a name among the homes of this project. */
static int name_home(struct home_reset *s, struct fault *f)
{
	const char *name = s->call->home ? s->call->home : HOME_DEFAULT;
	_cleanup_project_ struct project p = { 0 };
	int r;

	if (home_id_is_valid(name)) {
		(void)snprintf(s->id, sizeof(s->id), "%s", name);
		return 0;
	}
	if (!home_name_is_valid(name))
		return fault_set(f, EINVAL,
				 "'%s' is neither a name nor an ID of a home: custody df lists them", name);
	r = project_find(s->dirs.caller_homes, &p, f);
	if (r < 0)
		return fault_wrap(f, r, "cannot tell the project; name the home by its ID (custody df)");
	return home_dir_name(p.top, name, s->id, f);
}

static int enter(struct home_reset *s, struct fault *f)
{
	int r = config_open(s->call->lane, &s->dirs, &s->config, f);

	if (r == 0)
		r = name_home(s, f);
	if (r == 0)
		r = clock_session_id(s->session, f);
	if (r < 0)
		return r;
	s->decision.dirs = &s->dirs;
	s->decision.config = s->config;
	s->decision.run = (struct ledger_run){ .action = "reset",
					       .session = s->session,
					       .agent = s->call->agent,
					       .worker = s->call->worker,
					       .lane = lane_name(s->dirs.lane),
					       .argv = s->call->words };
	return 0;
}

/* As the functions that empty a sandbox root see it. */
static struct sandbox_root as_root(const struct home_reset *s)
{
	return (struct sandbox_root){ .path = s->home->path, .fd = s->home->fd };
}

static int open_home(struct home_reset *s, enum home_use use, struct fault *f)
{
	struct sandbox_root root;
	int r = home_dir_open(&s->dirs, s->id, NULL, use, &s->home, f);

	if (r < 0)
		return r;
	s->fd = openat(s->home->home_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return fault_errno(f, errno, "open '%s'", s->home->home);
	root = as_root(s);
	return sandbox_survey(&root, HOME_PART, s->fd, &s->found, f);
}

static int write_record(struct home_reset *s, const char *kind, const char *status, const char *why,
			enum ledger_class class, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = kind,
					.session = s->session,
					.agent = s->call->agent,
					.worker = s->call->worker,
					.status = status,
					.d = d };

	jdoc_set_string(d, "home", s->id);
	jdoc_set_int(d, "entries", (int64_t)s->found.entries);
	jdoc_set_int(d, "bytes", (int64_t)s->found.bytes);
	jdoc_set(d, "by", ledger_text(s->dirs.user));
	if (why)
		jdoc_set(d, "why", ledger_text(why));
	return ledger_append(s->decision.ledger, &e, 1, class, NULL, f);
}

/* Sessions without a supervisor may still have processes that write there. */
static int recover_dead(struct home_reset *s, struct fault *f)
{
	int r = run_recover_claims(&s->decision, f);

	return r < 0 ? r : run_recover_sessions(&s->decision, f);
}

static int empty(struct home_reset *s, struct fault *f)
{
	struct sandbox_root root = as_root(s);
	_cleanup_fault_ struct fault second = { 0 };
	int done, r;

	r = write_record(s, "home.reset", "ok", NULL, LEDGER_DECIDED, f);
	if (r < 0)
		return fault_wrap(f, r, "nothing was removed: cannot record it");
	done = home_dir_return(s->home, f);
	if (done == 0)
		done = sandbox_clear(&root, HOME_PART, s->fd, f);
	r = write_record(s, "home.cleared", done < 0 ? "failed" : "ok", done < 0 ? fault_text(f) : NULL,
			 LEDGER_CLOSING, &second);
	if (r < 0 && done == 0)
		return fault_set(f, -r, "emptied, but cannot record it: %s", fault_text(&second));
	return done;
}

static int report(const struct home_reset *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = NULL;

	if (!s->call->json) {
		printf("home %s: %llu entries, %llu KB %s\n", s->id, (unsigned long long)s->found.entries,
		       (unsigned long long)(s->found.bytes / 1024),
		       s->call->dry_run ? "would be removed" : "removed");
		return 0;
	}
	o = jdoc_new_object();
	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_string(o, "home", s->id);
	jdoc_set(o, "path", ledger_text(s->home->path));
	jdoc_set_bool(o, "dry_run", s->call->dry_run);
	jdoc_set_int(o, "entries", (int64_t)s->found.entries);
	jdoc_set_int(o, "bytes", (int64_t)s->found.bytes);
	return output_print(o, f);
}

static int refuse(struct home_reset *s, int r, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fault_ struct fault second = { 0 };

	if (r != -EBUSY && r != -ENOENT)
		return r;
	if (r == -EBUSY && !s->call->dry_run &&
	    write_record(s, "home.reset", "denied", fault_text(f), LEDGER_DECIDED, &second) < 0)
		log_error("cannot record this refusal: %s", fault_text(&second));
	text = str_escape(fault_text(f));
	fprintf(stderr, PACKAGE_NAME " reset: %s\n", text ? text : "out of memory");
	fault_done(f);
	return STATUS_NO;
}

int cmd_reset_home(struct command_call *c, struct fault *f)
{
	_cleanup_(
		home_reset_done) struct home_reset s = { .call = c, .fd = -EBADF, .decision = DECISION_NONE };
	int r = enter(&s, f);

	if (r < 0)
		return r;
	/* Of lane prod nothing is opened: it has no homes. */
	if (!c->dry_run && s.dirs.lane == LANE_SANDBOX)
		r = run_ledger_open(&(struct run_ledger){ .decision = &s.decision }, f);
	if (r < 0)
		return r;
	r = open_home(&s, c->dry_run ? HOME_LOOK : HOME_CLEAR, f);
	if (r == 0 && !c->dry_run)
		r = recover_dead(&s, f);
	if (r < 0)
		return refuse(&s, r, f);
	r = c->dry_run ? 0 : empty(&s, f);
	if (r == 0)
		r = report(&s, f);
	return r < 0 ? r : STATUS_OK;
}
