/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-capture.h"

#include <errno.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "evidence/delivery.h"
#include "evidence/evidence-metadata.h"
#include "ledger/ledger-audit.h"

#define ENTRIES_MAX 1000000
#define TIME_MAX_NS (UINT64_C(600) * 1000000000)

/* The payload made the tree: data, entries, names and time are limited. */
static struct capture_options limits_of(const struct evidence_case *c, const struct evidence_source *s)
{
	const uint64_t quota = c->config->forensics.quota, item_max = c->config->forensics.item_max;

	return (struct capture_options){
		.max_bytes = item_max ? item_max : quota / 4,
		.max_entries = ENTRIES_MAX,
		.max_manifest = quota / 16,
		.deadline_ns = clock_boot_ns() + TIME_MAX_NS,
		.upper = s->upper,
		.skip = c->hidden,
		.ids = c->ids,
		.progress = c->progress,
		.arg = c->progress_arg,
	};
}

/* One archive if possible, and names that every target accepts: the store may be another kind of file system. */
static int write_staged(const struct delivery_place *p, const struct evidence_request *r,
			struct evidence_taken *ret, struct fault *f)
{
	_cleanup_close_ int staging = dirs_open_own(p->staging, 0700, f);
	struct evidence_request here = *r;
	int e;

	if (staging < 0)
		return staging;
	here.store = p->staging;
	here.form = EVIDENCE_PORTABLE;
	e = evidence_write(&here, ret, f);
	if (e == 0)
		ret->staged = true;
	return e;
}

static int write_somewhere(const struct delivery_place *p, const struct evidence_request *r,
			   struct evidence_taken *ret, struct fault *f)
{
	_cleanup_fault_ struct fault first = { 0 }, second = { 0 };
	struct evidence_request there = *r;
	int e;

	if (!p->direct)
		return write_staged(p, r, ret, f);
	there.store = p->store;
	e = evidence_write(&there, ret, &first);
	/* The store is full, read-only or another user's: that may change before the delivery. */
	if (e == 0 || write_staged(p, r, ret, &second) == 0)
		return 0;
	return fault_set(f, -e, "%s; nor in '%s': %s", fault_text(&first), p->staging, fault_text(&second));
}

int evidence_capture(const struct evidence_case *c, struct evidence_taken *ret, struct fault *f)
{
	const struct evidence_source s =
		evidence_source_choose(c->scope, c->workspace, c->tree, c->upper, c->missing);
	_cleanup_jdoc_ struct jdoc *metadata = evidence_metadata_describe(c, &s);
	const struct capture_share share = { .upper = c->upper };
	struct capture_options limits = limits_of(c, &s);
	const struct evidence_file files[] = {
		{ AUDIT_NAME, c->audit },
		{ "subject.json", c->subject },
		{ "config.json", c->oci_config },
		{ "stdio.log", c->output },
	};
	_cleanup_delivery_place_ struct delivery_place p = { 0 };
	int r;

	limits.share = c->may_share && c->upper >= 0 ? &share : NULL;
	r = delivery_place(c->dirs, c->config, &p, f);
	if (r < 0)
		return r;
	return write_somewhere(&p,
			       &(struct evidence_request){ .session = c->summary->session,
							   .tree = s.fd,
							   .why = s.missing,
							   .metadata = metadata,
							   .files = files,
							   .n_files = ARRAY_SIZE(files),
							   .owners = c->owners,
							   .limits = &limits },
			       ret, f);
}

int evidence_adopt(const struct dirs *d, const struct config *c, const char *session,
		   struct evidence_taken *ret, struct fault *f)
{
	_cleanup_delivery_place_ struct delivery_place p = { 0 };
	int r;

	r = delivery_place(d, c, &p, f);
	if (r < 0)
		return r;
	r = evidence_store_adopt(p.staging, d->lane, session, ret, f);
	if (r > 0)
		ret->staged = true;
	if (r != 0 || !p.direct)
		return r;
	return evidence_store_adopt(p.store, d->lane, session, ret, f);
}
