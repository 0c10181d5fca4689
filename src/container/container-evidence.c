/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-evidence.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "evidence/delivery.h"
#include "evidence/evidence-config.h"
#include "evidence/evidence-prune.h"
#include "ledger/ledger-audit.h"
#include "subject/subject-digest.h"

#define RESULT_SCHEMA 1 /* session/run-result.h */

static void put_time(struct jdoc *o, const char *key, uint64_t us)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(us, text);
	jdoc_set(o, key, us ? jdoc_new_string(text) : jdoc_new_null());
}

static void put_exit(struct jdoc *o, const struct ledger_end *end)
{
	struct jdoc *e = jdoc_set_object(o, "exit");

	jdoc_set_string(e, "reason", end->reason);
	jdoc_set_string(e, "source", end->source);
	jdoc_set_int(e, "code", end->code);
	jdoc_set(e, "signal", end->signal ? jdoc_new_int(end->signal) : jdoc_new_null());
	jdoc_set_bool(o, "abnormal", end->abnormal);
}

/* "2h" or a number, checked when the profile was read. */
static void put_retention(struct jdoc *o, const struct container_info *d)
{
	const struct jdoc *v = jdoc_get(d->forensics, "retention");
	uint64_t seconds;

	if (v && v->type == JDOC_INT)
		jdoc_set_int(o, "retention_s", v->integer);
	else if (v && v->type == JDOC_STRING && str_to_seconds(v->string, &seconds) == 0)
		jdoc_set_int(o, "retention_s", (int64_t)seconds);
}

static struct jdoc *describe(const struct container_case *c, bool upper)
{
	const struct container_info *d = c->info;
	struct jdoc *o = jdoc_new_object(), *argv;
	char digest[SUBJECT_DIGEST_SIZE];

	jdoc_set_int(o, "schema_version", RESULT_SCHEMA);
	jdoc_set_string(o, "session", c->session);
	jdoc_set_string(o, "lane", lane_name(c->dirs->lane));
	jdoc_set_string(o, "container", d->container);
	jdoc_set_string(o, "bundle", d->bundle);
	jdoc_set_string(o, "profile", d->profile);
	subject_digest_to_text(&d->profile_digest, digest);
	jdoc_set_string(o, "profile_digest", digest);
	subject_digest_to_text(&d->digest, digest);
	jdoc_set_string(o, "digest", digest);
	jdoc_set(o, "verdict", d->verdict ? jdoc_copy(d->verdict) : jdoc_new_null());
	argv = jdoc_set_array(o, "command");
	for (char **word = d->argv; word && *word; word++)
		jdoc_append_string(argv, *word);
	put_exit(o, c->end);
	put_time(o, "started", c->started_us);
	put_time(o, "ended", clock_wall_us());
	jdoc_set_int(o, "duration_ms", (int64_t)c->wall_ms);
	jdoc_set_string(o, "scope", upper ? "changes" : "all");
	put_retention(o, d);
	return o;
}

/* What is to be read, or a reason why nothing is. */
struct source {
	int fd;
	bool upper;
	const char *why;
};

static struct source choose(const struct container_case *c)
{
	struct source s = { .fd = c->tree, .why = c->why ? c->why : "the worktree was not there yet" };

	if (c->all || c->info->workspace == PROFILE_WORKSPACE_TMPFS)
		return s;
	switch (c->info->workspace) {
	case PROFILE_WORKSPACE_OVERLAY:
		s.upper = c->upper >= 0;
		s.fd = s.upper ? c->upper : c->tree;
		break;
	case PROFILE_WORKSPACE_RO:
		s = (struct source){ .fd = -EBADF, .why = "the worktree was read-only: nothing was changed" };
		break;
	case PROFILE_WORKSPACE_RW:
	case PROFILE_WORKSPACE_TMPFS:
		s = (struct source){ .fd = -EBADF,
				     .why = "the worktree was written in place: what was changed is there" };
		break;
	}
	return s;
}

/* The document that was approved, as own runs keep it: not where the bundle lay. */
static int write_subject(const struct container_info *d, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *file = NULL;
	const struct jdoc *document;
	int r;

	r = jdoc_parse(d->subject, d->subject_len, "subject.json", NULL, &file, f);
	if (r < 0)
		return r;
	document = jdoc_get(file, "subject");
	return document ? jdoc_write(document, JDOC_CANONICAL, out, f)
			: fault_set(f, EINVAL, "subject.json has no 'subject'");
}

/* The one that was just taken stays.  That others could not go is not this container's fault. */
static void prune(const struct container_case *c, const char *path)
{
	_cleanup_free_ char *store = strndup(path, (size_t)(strrchr(path, '/') - path));
	const struct evidence_prune p = {
		.dirs = c->dirs, .config = c->config, .store = store, .keep = strrchr(path, '/') + 1
	};

	if (store)
		(void)!evidence_prune(&p, NULL);
}

static int take(const struct container_case *c, const struct strbuf *subject, const struct strbuf *config,
		struct evidence_taken *ret, struct fault *f)
{
	const struct source src = choose(c);
	_cleanup_jdoc_ struct jdoc *metadata = describe(c, src.upper);
	struct capture_options limits = evidence_limits(c->config);
	const struct evidence_side sides[] = {
		{ .name = "subject.json", .fd = -EBADF, .text = subject->text, .len = subject->len },
		{ .name = "config.json", .fd = -EBADF, .text = config->text, .len = config->len },
		{ .name = AUDIT_NAME, .fd = -EBADF },
		{ .name = "stdio.log", .fd = -EBADF },
	};

	limits.upper = src.upper;
	limits.skip = c->info->hide;
	limits.ids = c->info->ids;
	return delivery_take(c->dirs, c->config,
			     &(struct evidence_ask){ .session = c->session,
						     .tree = src.fd,
						     .why = src.fd < 0 ? src.why : NULL,
						     .metadata = metadata,
						     .sides = sides,
						     .n_sides = ARRAY_SIZE(sides),
						     .limits = &limits },
			     ret, f);
}

int container_evidence_take(const struct container_case *c, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf subject = { 0 }, config = { 0 };
	int r;

	r = write_subject(c->info, &subject, f);
	if (r >= 0)
		r = evidence_config_write(c->info->config, c->info->config_len, &config, f);
	if (r >= 0)
		r = take(c, &subject, &config, ret, f);
	if (r >= 0)
		prune(c, ret->path);
	return r;
}
