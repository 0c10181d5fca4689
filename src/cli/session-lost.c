/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/path.h"
#include "core/evidence-prune.h"
#include "cli/session-evidence.h"
#include "core/ledger-audit.h"

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
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct jdoc *v = jdoc_get(jdoc_get(intent, "d"), known[i]);

		if (v)
			jdoc_set(o, known[i], jdoc_copy(v));
	}
	jdoc_set_string(e, "reason", end->reason);
	jdoc_set_string(e, "source", end->source);
	jdoc_set_int(e, "code", end->code);
	jdoc_set(e, "signal", jdoc_new_null());
	jdoc_set_bool(o, "abnormal", true);
	jdoc_set_string(o, "scope", "changes");
	return o;
}

static int take(struct session_lost *l, const char *store, const struct ledger_run *names,
		const struct ledger_end *end, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *intent = NULL, *metadata = NULL;
	_cleanup_free_ char *layer = NULL, *audit_path = NULL;
	_cleanup_close_ int upper = -EBADF, audit = -EBADF;
	struct capture_options limits = evidence_limits(l->config);

	if (asprintf(&layer, "%s/sessions/%s/u", l->dirs->state, names->session) < 0 ||
	    asprintf(&audit_path, "%s/sessions/%s/" AUDIT_NAME, l->dirs->state, names->session) < 0)
		return fault_errno(f, ENOMEM, "evidence");
	/* O_PATH: the payload may have shut it. */
	upper = open(layer, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	audit = open(audit_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	limits.upper = true;
	intent = read_intent(audit);
	limits.ids = guess_ids(l, upper, intent);
	metadata = describe(l, names, end, intent);
	return evidence_take(
		&(struct evidence_ask){
			.store = store,
			.session = names->session,
			.tree = upper,
			.why = "its supervisor died, and no layer of changes was left",
			.metadata = metadata,
			/* The others were in the supervisor's memory. */
			.sides = (struct evidence_side[]){ { .name = AUDIT_NAME, .fd = audit },
							   { .name = "subject.json", .fd = -EBADF },
							   { .name = "config.json", .fd = -EBADF },
							   { .name = "stdio.log", .fd = -EBADF } },
			.n_sides = 4,
			.limits = &limits },
		&l->taken, f);
}

/* Nobody was released, and nobody wrote anything: there is nothing to be evidence of. */
static bool is_untouched(const struct session_lost *l, const char *session)
{
	_cleanup_free_ char *layer = NULL;
	const struct dirent *e;
	bool empty = true;
	DIR *d;

	if (asprintf(&layer, "%s/sessions/%s/u", l->dirs->state, session) < 0) {
		layer = NULL;
		return false;
	}
	d = opendir(layer);
	if (!d)
		return errno == ENOENT;
	while ((e = readdir(d)))
		empty &= str_eq(e->d_name, ".") || str_eq(e->d_name, "..");
	(void)closedir(d);
	return empty;
}

void session_evidence_lost(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end)
{
	struct session_lost *l = lost;
	_cleanup_free_ char *store = evidence_store_path(l->dirs, l->config);
	_cleanup_fault_ struct fault f = { 0 };
	int r = store ? 0 : fault_errno(&f, ENOMEM, "evidence");

	if (!started && is_untouched(l, names->session)) {
		log_info("session '%s' had lost its supervisor before anything was started", names->session);
		return;
	}
	/* Who died between the evidence and its record has left it. */
	if (r == 0)
		r = evidence_adopt(store, l->dirs->lane, names->session, &l->taken, &f);
	if (r == 0)
		r = take(l, store, names, end, &f);
	if (r < 0) {
		log_error("no evidence of session '%s' was kept: %s", names->session, fault_text(&f));
		l->error = strdup(fault_text(&f));
		end->evidence_error = l->error;
		return;
	}
	end->evidence = l->taken.path;
	end->evidence_digest = &l->taken.metadata;
	log_info("session '%s' had lost its supervisor; evidence: %s", names->session, l->taken.path);
}
