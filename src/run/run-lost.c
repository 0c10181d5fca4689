/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "container/container-evidence.h"
#include "evidence/evidence-capture.h"
#include "evidence/evidence-ledger.h"
#include "ledger/ledger-audit.h"
#include "run/run-recovery-files.h"
#include "session/session-owners.h"
#include "session/session.h"
#include "tty/progress.h"

#define FIRST_LINE_MAX LEDGER_LINE_MAX

void run_lost_done(struct run_lost *l)
{
	evidence_taken_done(&l->taken);
	free(l->error);
	l->error = NULL;
}

/* The first record of the session's own ledger; NULL: missing or invalid. */
static struct jdoc *read_intent(int audit)
{
	_cleanup_free_ char *line = malloc(FIRST_LINE_MAX + 1);
	struct jdoc *doc = NULL;
	ssize_t n = line && audit >= 0 ? pread(audit, line, FIRST_LINE_MAX, 0) : -1;

	if (n <= 0)
		return NULL;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return jdoc_parse(line, strlen(line), AUDIT_NAME, NULL, &doc, NULL) < 0 ? NULL : doc;
}

/* The ids of the dead session own the upper and everything in it. */
static struct capture_ids guess_ids(const struct run_lost *l, int upper, const struct jdoc *intent)
{
	const char *worktree = jdoc_get_string(jdoc_get(intent, "d"), "cwd");
	struct stat layer, tree = { .st_uid = geteuid(), .st_gid = getegid() };

	if (l->dirs->rootless || fstat(upper, &layer) < 0)
		return (struct capture_ids){ 0 };
	if (worktree && worktree[0] == '/')
		(void)!stat(worktree, &tree);
	return (struct capture_ids){ .set = true,
				     .uid_from = layer.st_uid,
				     .uid_to = tree.st_uid,
				     .gid_from = layer.st_gid,
				     .gid_to = tree.st_gid };
}

/* Key of the intent's details; NULL: unknown or not a string. */
static const char *text_of(const struct jdoc *intent, const char *key)
{
	return jdoc_get_string(jdoc_get(intent, "d"), key);
}

static struct session_summary summary_of(const struct run_lost *l, const struct ledger_run *names,
					 const struct ledger_end *end, const struct jdoc *intent)
{
	return (struct session_summary){
		.kind = SESSION_SUMMARY_LOST,
		.session = names->session,
		.lane = lane_name(l->dirs->lane),
		.profile = text_of(intent, "profile"),
		.digest = text_of(intent, "digest"),
		.command = jdoc_get(jdoc_get(intent, "d"), "command"),
		.agent = names->agent,
		.worker = names->worker,
		.issue = text_of(intent, "issue"),
		.end = *end,
	};
}

static int capture(struct run_lost *l, int state, const struct ledger_run *names,
		   const struct ledger_end *end, struct fault *f)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	/* O_PATH: the payload may have taken its permissions away. */
	_cleanup_close_ int upper = openat(state, SESSION_UPPER,
					   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    audit = openat(state, AUDIT_NAME, O_RDONLY | flags),
			    output = openat(state, SESSION_LOG, O_RDONLY | flags),
			    subject = openat(l->run_dir, RECOVERY_SUBJECT, O_RDONLY | flags),
			    config = openat(l->run_dir, RECOVERY_CONFIG, O_RDONLY | flags);
	_cleanup_jdoc_ struct jdoc *intent = read_intent(audit);
	_cleanup_session_note_ struct session_note n = { 0 };
	struct session_summary summary = summary_of(l, names, end, intent);
	_cleanup_progress_ struct progress progress;
	struct ledger_mark mark;
	const bool has_mark = audit_read_mark(state, AUDIT_NAME, &mark) == 0;

	if (session_note_read(state, &n, NULL) == 0)
		summary.chain = n.chain;
	progress_init(&progress, "capturing evidence of a lost session");
	/* Files that are missing were in the memory of the supervisor, or in /run before a restart of the machine. */
	return evidence_capture(
		&(struct evidence_case){
			.dirs = l->dirs,
			.config = l->config,
			.summary = &summary,
			.scope = EVIDENCE_SCOPE_CHANGES,
			.workspace = PROFILE_WORKSPACE_OVERLAY,
			.tree = -EBADF,
			.upper = upper,
			.missing = "its supervisor died, and the upper of its overlay is missing",
			.worktree = text_of(intent, "cwd"),
			.ids = guess_ids(l, upper, intent),
			.audit_end = has_mark ? &mark : NULL,
			.audit = { .fd = audit },
			.subject = { .fd = subject },
			.oci_config = { .fd = config },
			.output = { .fd = output },
			.progress = progress_tell,
			.progress_arg = &progress,
		},
		&l->taken, f);
}

static int capture_orphan(struct run_lost *l, const char *session, const struct ledger_end *end,
			  struct fault *f)
{
	const struct container_case c = { .dirs = l->dirs,
					  .config = l->config,
					  .info = &l->orphan->info,
					  .session = session,
					  .end = end,
					  .tree = l->orphan->tree,
					  .upper = l->orphan->upper,
					  .scope = EVIDENCE_SCOPE_ALL,
					  .why = l->orphan->why };

	return container_evidence_capture(&c, &l->taken, f);
}

/* session.json gets the same end as the ledger.  An error here is ignored: the record is authoritative. */
static void note(int state, const struct run_lost *l, const struct ledger_end *end)
{
	_cleanup_session_note_ struct session_note n = { 0 };

	if (session_note_read(state, &n, NULL) < 0 || session_note_end(&n, end, NULL) < 0)
		return;
	n.changed = session_has_changes(state);
	n.kept = n.changed && run_lost_keep_upper(l->dirs, l->config, &n, l->run_dir, state);
	(void)!session_note_write(state, &n, NULL);
}

void run_lost_capture(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	struct run_lost *l = lost;
	_cleanup_close_ int state = session_note_open_dir(l->dirs, names->session, NULL);
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	/* The payload was not released and nothing was written: no evidence, and no session for `custody sessions`. */
	if (!started && (state == -ENOENT || (state >= 0 && !session_has_changes(state)))) {
		(void)unlinkat(state, SESSION_NOTE, 0);
		log_info("session '%s': its supervisor died before anything was started", names->session);
		return;
	}
	if (state >= 0 && session_owners_return(state, &f) < 0) {
		log_error("session '%s': %s", names->session, fault_text(&f));
		fault_done(&f);
	}
	/* The supervisor may have died after it wrote the evidence and before it recorded it. */
	r = evidence_adopt(l->dirs, l->config, names->session, &l->taken, &f);
	if (r == 0)
		r = l->orphan ? capture_orphan(l, names->session, end, &f)
			      : capture(l, state, names, end, &f);
	if (r < 0) {
		log_error("cannot capture evidence of session '%s': %s", names->session, fault_text(&f));
		l->error = strdup(fault_text(&f));
		end->evidence_error = l->error;
	} else {
		evidence_ledger_end(&l->taken, end);
		log_info("session '%s': its supervisor died; evidence: %s", names->session, l->taken.path);
	}
	note(state, l, end);
}
