/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "ledger/ledger-audit.h"

/* "2h" or a number of seconds; validated when the profile was loaded. */
static void put_retention(struct jdoc *o, const struct jdoc *forensics)
{
	const struct jdoc *v = jdoc_get(forensics, "retention");
	uint64_t seconds;

	if (v && v->type == JDOC_INT)
		jdoc_set_int(o, "retention_s", v->integer);
	else if (v && v->type == JDOC_STRING && str_to_seconds(v->string, &seconds) == 0)
		jdoc_set_int(o, "retention_s", (int64_t)seconds);
}

struct jdoc *evidence_metadata_describe(const struct evidence_case *c, const struct evidence_source *s)
{
	struct jdoc *o = session_summary_to_json(c->summary);

	if (c->audit_end)
		audit_put_mark(o, c->audit_end);
	jdoc_set_string(o, "scope", s->upper ? "changes" : "all");
	if (c->worktree)
		jdoc_set_string(o, "worktree", c->worktree);
	put_retention(o, c->forensics);
	return o;
}

static void put_tree(struct jdoc *o, const struct capture_stats *s, bool archive)
{
	struct jdoc *tree = jdoc_set_object(o, "tree");
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	digest_to_hex(&s->manifest, text + sizeof("sha256:") - 1);
	jdoc_set_string(tree, "manifest", text);
	jdoc_set_string(tree, "form", archive ? "archive" : "mirror");
	jdoc_set_int(tree, "entries", (int64_t)s->entries);
	jdoc_set_int(tree, "files", (int64_t)s->files);
	jdoc_set_int(tree, "bytes", (int64_t)s->bytes);
	jdoc_set_int(tree, "shared", (int64_t)s->shared);
	jdoc_set_int(tree, "missing", (int64_t)s->missing);
	jdoc_set_int(tree, "unstable", (int64_t)s->unstable);
	jdoc_set_int(tree, "manifest_bytes", (int64_t)s->manifest_bytes);
	jdoc_set_bool(tree, "cut_short", s->cut_short != NULL);
}

static const char *explain(const struct evidence_request *r, const struct evidence_taken *taken)
{
	if (taken->status == EVIDENCE_NONE)
		return r->why ? r->why : "no tree to capture";
	if (taken->stats.cut_short)
		return taken->stats.cut_short;
	if (taken->stats.missing)
		return "some entries are not, or not completely, captured: see the manifest";
	return taken->stats.unstable ? "some files changed while they were read: see the manifest" : NULL;
}

/* A comparison must not report these as removed. */
static void put_hidden(struct jdoc *o, char *const *paths)
{
	struct jdoc *list = jdoc_set_array(o, "hidden");

	for (; *paths; paths++)
		if (str_is_utf8(*paths, strlen(*paths)))
			jdoc_append_string(list, *paths);
}

void evidence_metadata_complete(struct jdoc *o, const struct evidence_request *r,
				const struct evidence_taken *taken, const struct evidence_probe *probe)
{
	const char *why = explain(r, taken);
	struct jdoc *target;
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_wall_us(), now);
	jdoc_set_string(o, "taken", now);
	jdoc_set_string(o, "status", evidence_status_name(taken->status));
	jdoc_set(o, "why", why ? jdoc_new_string(why) : jdoc_new_null());
	if (r->limits && r->limits->skip)
		put_hidden(o, r->limits->skip);
	target = jdoc_set_object(o, "target");
	jdoc_set_bool(target, "any_names", probe->any_names);
	jdoc_set_bool(target, "local", probe->local);
	jdoc_set_int(target, "create_us", (int64_t)probe->create_us);
	if (taken->status != EVIDENCE_NONE)
		put_tree(o, &taken->stats, probe->archive);
}

struct jdoc *evidence_metadata_read(int dir)
{
	_cleanup_close_ int fd =
		openat(dir, EVIDENCE_METADATA, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct jdoc *doc = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fd_read_all(fd, EVIDENCE_METADATA_MAX, &text, &len, NULL) < 0 ||
	    jdoc_parse(text, len, EVIDENCE_METADATA, NULL, &doc, NULL) < 0)
		return NULL;
	return doc;
}
