/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "evidence/delivery.h"
#include "evidence/evidence-prune.h"
#include "tty/progress.h"
#include "run/run-evidence.h"
#include "run/run-recovery-files.h"
#include "container/container-evidence.h"
#include "ledger/ledger-audit.h"
#include "session/session-note.h"

#define FIRST_LINE_MAX LEDGER_LINE_MAX

void session_lost_done(struct session_lost *l)
{
	evidence_taken_done(&l->taken);
	free(l->error);
	l->error = NULL;
}

/* The first record of the session's own chain; NULL when nobody can say. */
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

/* Everything in the layer belongs to the dead session's ids, as the layer itself does. */
static struct capture_ids guess_ids(const struct session_lost *l, int upper, const struct jdoc *intent)
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

/* The result's shape, as far as anybody knows. */
static struct jdoc *describe(const struct session_lost *l, const struct ledger_run *names,
			     const struct ledger_end *end, const struct jdoc *intent)
{
	static const char *const known[] = { "profile", "digest", "issue", "command" };
	struct jdoc *o = jdoc_new_object(), *e = jdoc_set_object(o, "exit");

	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_string(o, "session", names->session);
	jdoc_set_string(o, "lane", lane_name(l->dirs->lane));
	if (names->agent)
		jdoc_set(o, "agent", ledger_text(names->agent));
	if (names->worker)
		jdoc_set(o, "worker", ledger_text(names->worker));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct jdoc *v = jdoc_get(jdoc_get(intent, "d"), known[i]);

		if (v)
			jdoc_set(o, known[i], jdoc_copy(v));
	}
	if (jdoc_get_string(jdoc_get(intent, "d"), "cwd"))
		jdoc_set_string(o, "worktree", jdoc_get_string(jdoc_get(intent, "d"), "cwd"));
	jdoc_set_string(e, "reason", end->reason);
	jdoc_set_string(e, "source", end->source);
	jdoc_set_int(e, "code", end->code);
	jdoc_set(e, "signal", jdoc_new_null());
	jdoc_set_bool(o, "abnormal", true);
	jdoc_set_string(o, "scope", "changes");
	return o;
}

static int take(struct session_lost *l, int state, const struct ledger_run *names,
		const struct ledger_end *end, struct fault *f)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	/* O_PATH: the payload may have shut it. */
	_cleanup_close_ int upper = openat(state, SESSION_UPPER,
					   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    audit = openat(state, AUDIT_NAME, O_RDONLY | flags),
			    output = openat(state, SESSION_LOG, O_RDONLY | flags),
			    subject = openat(l->run_dir, RECOVERY_SUBJECT, O_RDONLY | flags),
			    config = openat(l->run_dir, RECOVERY_CONFIG, O_RDONLY | flags);
	_cleanup_jdoc_ struct jdoc *intent = read_intent(audit), *metadata = describe(l, names, end, intent);
	struct capture_options limits = evidence_limits(l->config);
	_cleanup_progress_ struct progress progress;
	struct ledger_mark mark;

	if (audit_read_mark(state, AUDIT_NAME, &mark) == 0)
		audit_put_mark(metadata, &mark);
	progress_init(&progress, "keeping evidence of a lost session");
	limits.progress = progress_tell;
	limits.arg = &progress;
	limits.upper = true;
	limits.ids = guess_ids(l, upper, intent);
	return delivery_take(
		l->dirs, l->config,
		&(struct evidence_ask){
			.session = names->session,
			.tree = upper,
			.why = "its supervisor died, and no layer of changes was left",
			.metadata = metadata,
			/* What is not there was in the supervisor's memory, or in the machine's before a restart. */
			.sides = (struct evidence_side[]){ { .name = AUDIT_NAME, .fd = audit },
							   { .name = "subject.json", .fd = subject },
							   { .name = "config.json", .fd = config },
							   { .name = "stdio.log", .fd = output } },
			.n_sides = 4,
			.limits = &limits },
		&l->taken, f);
}

static int take_orphan(struct session_lost *l, const char *session, const struct ledger_end *end,
		       struct fault *f)
{
	const struct container_case c = { .dirs = l->dirs,
					  .config = l->config,
					  .info = &l->orphan->info,
					  .session = session,
					  .end = end,
					  .tree = l->orphan->tree,
					  .upper = -EBADF,
					  .all = true,
					  .why = l->orphan->why };

	return container_evidence_take(&c, &l->taken, f);
}

/* For people: as the record is going to say it.  What cannot be noted is still recorded. */
static void note(int state, const struct session_lost *l, const struct ledger_end *end)
{
	_cleanup_session_note_ struct session_note n = { 0 };

	if (session_note_read(state, &n, NULL) < 0 || session_note_end(&n, end, NULL) < 0)
		return;
	n.changed = session_has_changes(state);
	n.kept = n.changed && session_keep_lost(l->dirs, l->config, &n, l->run_dir, state);
	(void)!session_note_write(state, &n, NULL);
}

void run_evidence_lost(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	struct session_lost *l = lost;
	_cleanup_close_ int state = session_note_open_dir(l->dirs, names->session, NULL);
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	/* Nobody was released, and nobody wrote anything: there is nothing to be evidence of, and no session to be looked for. */
	if (!started && (state == -ENOENT || (state >= 0 && !session_has_changes(state)))) {
		(void)unlinkat(state, SESSION_NOTE, 0);
		log_info("session '%s' had lost its supervisor before anything was started", names->session);
		return;
	}
	/* Who died between the evidence and its record has left it. */
	r = delivery_adopt(l->dirs, l->config, names->session, &l->taken, &f);
	if (r == 0)
		r = l->orphan ? take_orphan(l, names->session, end, &f) : take(l, state, names, end, &f);
	if (r < 0) {
		log_error("no evidence of session '%s' was kept: %s", names->session, fault_text(&f));
		l->error = strdup(fault_text(&f));
		end->evidence_error = l->error;
	} else {
		end->evidence = l->taken.path;
		end->evidence_digest = &l->taken.metadata;
		end->evidence_staged = l->taken.staged;
		log_info("session '%s' had lost its supervisor; evidence: %s", names->session, l->taken.path);
	}
	note(state, l, end);
}
