/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-evidence.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "container/container-tree.h"
#include "evidence/evidence-capture.h"
#include "evidence/evidence-config.h"
#include "evidence/evidence-prune.h"
#include "subject/subject-digest.h"

static int parse_subject(const char *text, size_t len, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *file = NULL;
	int r = jdoc_parse(text, len, "subject.json", NULL, &file, f);

	if (r < 0)
		return r;
	*ret = jdoc_get(file, "subject") ? jdoc_copy(jdoc_get(file, "subject")) : NULL;
	return *ret ? 0 : fault_set(f, EINVAL, "missing 'subject' in subject.json");
}

int container_evidence_hide(const char *config, size_t len, const struct jdoc *subject, struct strbuf *out,
			    struct fault *f)
{
	return evidence_config_write(config, len, subject, out, f);
}

static struct jdoc *list_command(const struct container_info *d)
{
	struct jdoc *list = jdoc_new_array();

	for (char **word = d->argv; word && *word; word++)
		jdoc_append_string(list, *word);
	return list;
}

/*
 * The upper of an engine's container is that of its root, with the worktree at the same path: returns the directory with the
 * changes.  A worktree without a descriptor is the root itself: never the whole image.
 */
static int choose_changes(const struct container_case *c, struct evidence_case *e)
{
	int fd;

	if (!c->info->engine)
		return -EBADF;
	if (e->tree < 0 && c->upper < 0 && str_eq(c->info->work, "/"))
		e->missing = CONTAINER_TREE_NO_UPPER;
	if (c->upper < 0)
		return -EBADF;
	if (e->tree < 0)
		e->scope = EVIDENCE_SCOPE_CHANGES;
	fd = container_tree_open_changes(c->upper, c->info->work, NULL);
	e->upper = fd < 0 ? -EBADF : fd;
	if (fd < 0 && e->scope == EVIDENCE_SCOPE_CHANGES) {
		e->tree = -EBADF;
		e->missing = "nothing in the worktree was changed";
	}
	return e->upper;
}

static int capture(const struct container_case *c, const struct strbuf *subject, const struct strbuf *config,
		   struct evidence_taken *ret, struct fault *f)
{
	_cleanup_close_ int changes = -EBADF;
	const struct container_info *d = c->info;
	_cleanup_jdoc_ struct jdoc *command = list_command(d);
	char digest[SUBJECT_DIGEST_SIZE];
	const struct session_summary summary = {
		.kind = SESSION_SUMMARY_CONTAINER,
		.session = c->session,
		.lane = lane_name(c->dirs->lane),
		.container = d->container,
		.bundle = d->bundle,
		.profile = d->profile,
		.profile_digest = &d->profile_digest,
		.digest = digest,
		.verdict = d->verdict,
		.command = command,
		.end = *c->end,
		.started_us = c->started_us,
		.ended_us = clock_wall_us(),
	};
	struct evidence_case e = {
		.dirs = c->dirs,
		.config = c->config,
		.summary = &summary,
		.scope = c->scope,
		.workspace = d->workspace,
		.tree = c->tree,
		.upper = c->upper,
		.missing = c->why ? c->why : "the worktree was not mounted yet",
		.forensics = d->forensics,
		.hidden = d->hide,
		.ids = d->ids,
		.audit = EVIDENCE_CONTENT_NONE,
		.subject = { .fd = -EBADF, .text = subject->text, .len = subject->len },
		.oci_config = { .fd = -EBADF, .text = config->text, .len = config->len },
		.output = EVIDENCE_CONTENT_NONE,
	};

	subject_digest_to_text(&d->digest, digest);
	changes = choose_changes(c, &e);
	return evidence_capture(&e, ret, f);
}

int container_evidence_capture(const struct container_case *c, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf subject = { 0 }, config = { 0 };
	_cleanup_jdoc_ struct jdoc *document = NULL;
	int r;

	/* The approved subject in the form of custody's own runs: without the placement of the bundle. */
	r = parse_subject(c->info->subject, c->info->subject_len, &document, f);
	if (r >= 0)
		r = jdoc_write(document, JDOC_CANONICAL, &subject, f);
	if (r >= 0)
		r = evidence_config_write(c->info->config, c->info->config_len, document, &config, f);
	if (r >= 0)
		r = capture(c, &subject, &config, ret, f);
	/* A failure to prune older evidence does not concern this container. */
	if (r >= 0)
		(void)!evidence_prune_beside(c->dirs, c->config, ret->path, NULL);
	return r;
}
