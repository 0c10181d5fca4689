/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd-review.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/userns.h"
#include "base/exit-status.h"
#include "cli/review-chain.h"
#include "cli/session-print.h"
#include "ledger/ledger-session.h"
#include "review/base-record.h"
#include "review/review-judge.h"
#include "session/session-owners.h"
#include "state/sandbox-log.h"
#include "tty/progress.h"

static void review_done(struct review_call *r)
{
	review_free_repository(r->repository);
	strv_free(r->paths);
	changes_done(&r->changes);
	git_changes_done(&r->git);
	tree_at_done(&r->reader.base);
	tree_at_done(&r->reader.upper);
	fd_close(r->upper);
	fd_close(r->base);
	if (r->moment[0])
		(void)!path_remove_tree(r->dir, r->moment, NULL);
	fd_close(r->dir);
	session_upper_done(&r->kept);
	session_note_done(&r->note);
	sandbox_root_free(r->root);
	ledger_free(r->ledger);
	lane_pass_free(r->pass);
}
#define _cleanup_review_ _cleanup_(review_done)

static int refuse(const struct review_call *r, const char *fmt, ...) _printf_(2, 3);

static int refuse(const struct review_call *r, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *shown = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	shown = text ? str_escape(text) : NULL;
	fprintf(stderr, PACKAGE_NAME " %s: %s\n", r->call->command->name, shown ? shown : "out of memory");
	return STATUS_NO;
}

static const char *describe_action(const struct command_call *c)
{
	if (str_eq(c->command->name, "diff"))
		return "changes of";
	if (str_eq(c->command->name, "discard"))
		return c->dry_run ? "would discard the changes of" : "discard the changes of";
	return c->dry_run ? "would apply the changes of" : "apply the changes of";
}

/* A word that is no session may be the first PATH. */
static void explain_paths(const struct command_call *c)
{
	struct stat st;
	_cleanup_free_ char *path = c->n_args && lstat(c->args[0], &st) == 0 ? str_escape(c->args[0]) : NULL;

	if (path && !str_eq(c->command->name, "discard"))
		fprintf(stderr, "to name paths of the newest session: custody %s last %s\n", c->command->name,
			path);
}

int review_find(struct command_call *c, const char *word, struct session_note *ret, struct fault *f)
{
	const struct session_print_ask ask = { .verb = c->command->name,
					       .word = word,
					       .action = describe_action(c),
					       .fit = SESSION_FIT_CHANGES };
	int status, e = session_print_find(&c->dirs, &ask, ret, &status, f);

	if (e == 0 && status != STATUS_OK)
		explain_paths(c);
	return e < 0 ? e : status;
}

static bool is_reader(const struct review_call *r)
{
	return str_eq(r->call->command->name, "diff");
}

static int find(struct review_call *r, struct fault *f)
{
	int e = review_find(r->call, r->word, &r->note, f);

	if (e != STATUS_OK)
		return e;
	r->running = r->note.state == SESSION_RUNNING && is_reader(r);
	if (r->note.state == SESSION_RUNNING && !r->running)
		return refuse(r, "session '%s' is still running: custody stop %s", r->note.session,
			      r->note.session);
	if (r->note.state == SESSION_LOST)
		return refuse(r, "session '%s' lost its supervisor: run custody recover", r->note.session);
	return 0;
}

static const char *explain_missing(const struct session_note *n)
{
	if (!str_eq(n->workspace, "overlay") && !str_eq(n->workspace, "overlay-fuse"))
		return "its worktree was no overlay";
	if (n->container)
		return "it ran under another runtime, and its changes were in memory; after an abnormal exit "
		       "they are in its evidence";
	if (!n->changed)
		return "it changed nothing";
	if (str_eq(n->reason, "lost"))
		return "its changes were applied, discarded or have expired, or the machine was restarted "
		       "after its "
		       "supervisor died; then they are in its evidence";
	return "its changes were applied, discarded or have expired, or the profile has workspace.keep false";
}

/* Names to compare with the list; no path is resolved. */
static int set_paths(struct review_call *r, struct fault *f)
{
	for (size_t i = 0; r->paths && r->paths[i]; i++) {
		char *path = NULL;
		/* An empty path is refused: an empty shell variable must not select everything. */
		int e = *r->paths[i] ? review_path(r->paths[i], &path, f) : -EINVAL;

		if (e < 0)
			return fault_set(f, EINVAL,
					 "'%s' is not a path in the worktree '%s': use a path relative to it",
					 r->paths[i], r->kept.worktree);
		free(r->paths[i]);
		r->paths[i] = path;
	}
	return 0;
}

static int lock(struct review_call *r, struct fault *f)
{
	int e;

	if (r->running) {
		e = review_open_running(r, f);
		return e != 0 ? e : set_paths(r, f);
	}
	r->dir = is_reader(r) ? session_upper_lock_shared(&r->call->dirs, r->note.session, f)
			      : session_upper_lock(&r->call->dirs, r->note.session, f);
	if (r->dir == -EBUSY)
		return refuse(r, "%s", fault_text(f));
	if (r->dir < 0)
		return r->dir;
	e = lane_require_stamp(r->dir, r->call->dirs.lane, r->note.session, f);
	if (e < 0)
		return e;
	e = session_upper_read(r->dir, &r->kept, f);
	if (e == -ENOENT)
		return refuse(r, "no changes of session '%s' are kept: %s", r->note.session,
			      explain_missing(&r->note));
	if (e == 0 && !str_eq(r->kept.session, r->note.session))
		e = fault_set(f, EINVAL, "'%s' belongs to another session", SESSION_UPPER_FILE);
	if (e == 0 && !is_reader(r))
		e = review_require_last(r, f);
	return e != 0 ? e : set_paths(r, f);
}

static bool acts(const struct review_call *r)
{
	return !r->call->dry_run && strcmp(r->call->command->name, "diff") != 0;
}

/* Reading needs no keys; apply and discard in prod need both, as a run and a reset do. */
static int enter(struct review_call *r, struct fault *f)
{
	const struct lane_ask ask = { .lane = r->call->dirs.lane,
				      .allow_prod = r->call->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = r->call->words,
				      .changes_state = true };

	return acts(r) ? lane_gate(&ask, &r->pass, f) : 0;
}

/* A writer locks the sandbox root; a missing root needs no lock. */
static int hold_root(struct review_call *r, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	int e;

	if (!acts(r))
		return 0;
	e = sandbox_name_of(&r->call->dirs, r->kept.worktree, &name, f);
	if (e > 0)
		e = sandbox_root_open(&r->call->dirs, name, SANDBOX_HOLD, &r->root, f);
	if (e == -ENOENT) {
		fault_done(f);
		e = 0;
	}
	return e;
}

static int run(struct review_call *r, int (*act)(struct review_call *r, struct fault *f), struct fault *f)
{
	int e = enter(r, f);

	if (e == 0)
		e = find(r, f);
	if (e == 0)
		e = lock(r, f);
	if (e == 0)
		e = hold_root(r, f);
	return e == 0 ? act(r, f) : e;
}

int review_run_on(struct command_call *c, const char *word,
		  int (*act)(struct review_call *r, struct fault *f), struct fault *f)
{
	_cleanup_review_ struct review_call r = REVIEW_NONE;

	r.call = c;
	r.word = word;
	return run(&r, act, f);
}

int review_run(struct command_call *c, int (*act)(struct review_call *r, struct fault *f), struct fault *f)
{
	_cleanup_review_ struct review_call r = REVIEW_NONE;

	r.call = c;
	r.word = c->args[0];
	if (c->n_args > 1) {
		r.paths = strv_copy(c->args + 1);
		if (!r.paths)
			return fault_errno(f, ENOMEM, "paths");
	}
	return run(&r, act, f);
}

/*
 * A user's payload may have removed the permissions of its own files, and files of a run with subordinate ids belong to these
 * while it lasts.  In a user namespace that maps only such ids, the process has CAP_DAC_OVERRIDE over their files and no others.
 * Without user namespaces the files stay unreadable and are reported.
 */
static void enter_user_namespace(const struct review_call *r)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct id_map ids = { 0 };

	if (geteuid() == 0)
		return;
	if (session_owners_read(r->dir, &ids, &f) < 0 || userns_enter_map(&ids, &f) < 0)
		log_verbose("%s, ignoring", fault_text(&f));
}

/* The same directory that the session used, by device and inode. */
static int open_base(struct review_call *r, struct fault *f)
{
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	const char *path = r->kept.worktree;
	struct stat st;

	r->base = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (r->base < 0)
		return fault_errno(f, errno, "worktree '%s'", path);
	if (fstat(r->base, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", path);
	if (st.st_dev != r->kept.device || st.st_ino != r->kept.inode)
		return fault_set(f, ESTALE, "worktree '%s' is not the directory that session '%s' used", path,
				 r->kept.session);
	return 0;
}

/* Before the user namespace, whose uid 0 is not the owner's. */
static int read_record(const struct review_call *r, struct base_record **ret, struct fault *f)
{
	int e = base_record_read(r->dir, ret, f);

	if (e == -ENOENT && !acts(r)) {
		fault_done(f);
		e = 0;
	}
	return e < 0 ? fault_wrap(f, e,
				  "cannot compare the worktree with the one that session '%s' saw: copy what "
				  "you need of 'custody diff %s', then custody discard %s",
				  r->kept.session, r->kept.session, r->kept.session)
		     : 0;
}

static int load(struct review_call *r, const struct base_record *record, struct fault *f)
{
	struct changes_ask ask = { .xattrs = r->kept.notes,
				   .ids = r->kept.ids,
				   .record = record,
				   .since = { .tv_sec = (time_t)(r->kept.since_us / 1000000),
					      .tv_nsec = (long)(r->kept.since_us % 1000000) * 1000 },
				   .progress = progress_tell };
	_cleanup_progress_ struct progress progress = { .fd = -EBADF };
	int e = open_base(r, f);

	if (e < 0)
		return e;
	r->upper = review_open_layer(r, f);
	if (r->upper < 0)
		return r->upper;
	progress_init(&progress, "reading the changes");
	ask.progress_arg = &progress;
	ask.upper = r->upper;
	ask.base = r->base;
	return changes_collect(&ask, &r->changes, f);
}

static int judge(struct review_call *r, char *const *paths, struct fault *f)
{
	return review_judge(
		&r->changes,
		&(struct review_ask){
			.base = r->base, .paths = paths, .protect = r->kept.protect, .own = r->kept.own },
		f);
}

int review_load(struct review_call *r, struct fault *f)
{
	_cleanup_base_record_ struct base_record *record = NULL, *second = NULL;
	struct review_call *g;
	int e = review_open_repository(r, f);

	g = r->repository;
	if (e == 0)
		e = read_record(r, &record, f);
	if (e == 0 && g)
		e = read_record(g, &second, f);
	if (e < 0)
		return e;
	enter_user_namespace(r);
	e = load(r, record, f);
	if (e == 0)
		e = judge(r, r->paths, f);
	if (e == 0 && g)
		e = load(g, second, f);
	/* Paths select in the worktree: nothing of the repository is picked then. */
	if (e == 0 && g && !r->paths)
		e = judge(g, NULL, f);
	return e;
}

/* In a sandbox root the operation is written to the root's log. */
static int write_log(const struct review_call *r, const char *kind, const char *status, struct fault *f)
{
	const char *operation = strchr(kind, '.') ? strchr(kind, '.') + 1 : kind;
	bool done = strcmp(operation, "applied") == 0;
	const struct sandbox_line l = { .agent = r->note.agent,
					.worker = r->note.worker,
					.operation = done ? "end" : operation,
					.path = r->kept.worktree,
					.status = status ? status
						  : done ? operation
							 : "allowed" };
	int e = r->root ? sandbox_log_write(r->root->logs_fd, &l, f) : 0;

	return e < 0 ? fault_wrap(f, e, "log of sandbox root '%s'", r->root->name) : 0;
}

int review_record(struct review_call *r, const char *kind, const char *status, const struct jdoc *d,
		  struct fault *f)
{
	const struct ledger_event e = { .kind = kind,
					.session = r->kept.session,
					.agent = r->note.agent,
					.worker = r->note.worker,
					.status = status,
					.d = d };
	const struct ledger_run run = { .action = r->call->words[0],
					.session = r->kept.session,
					.agent = r->note.agent,
					.worker = r->note.worker,
					.lane = lane_name(r->call->dirs.lane),
					.argv = r->call->words };
	int x;

	if (!r->ledger) {
		x = ledger_open(r->call->dirs.state, &(struct ledger_options){ .create = true }, &r->ledger,
				NULL, f);
		if (x < 0)
			return x;
	}
	x = r->pass ? lane_record(r->pass, r->ledger, &run, f) : 0;
	if (x == 0)
		x = ledger_append(r->ledger, &e, 1, LEDGER_DECIDED, NULL, f);
	return x < 0 ? x : write_log(r, kind, status, f);
}

struct jdoc *review_describe(const struct review_call *r)
{
	struct jdoc *d = jdoc_new_object();

	jdoc_set(d, "by", ledger_text(r->call->dirs.user));
	jdoc_set(d, "worktree", ledger_text(r->kept.worktree));
	return d;
}

const char *review_quote(const char *path, char **ret)
{
	_cleanup_free_ char *shown = str_escape(path);
	_cleanup_strbuf_ struct strbuf b = { 0 };

	*ret = NULL;
	if (!*path)
		return ".";
	if (shown && strcmp(shown, path) == 0 && !strpbrk(path, "\"\\"))
		return path;
	/* Quoted as git does, so that patch programs can read it. */
	strbuf_putc(&b, '"');
	for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_printf(&b, "\\%c", *c);
		else if (*c < 0x20 || *c >= 0x7f)
			strbuf_printf(&b, "\\%03o", *c);
		else
			strbuf_putc(&b, (char)*c);
	}
	strbuf_putc(&b, '"');
	*ret = strbuf_take(&b);
	return *ret ? *ret : "(out of memory)";
}
