/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/str.h"
#include "cli/apply-gate.h"
#include "cli/dispatch.h"
#include "cli/cmd-review.h"
#include "cli/review-chain.h"
#include "review/apply.h"
#include "base/exit-status.h"
#include "tty/progress.h"

#define NAMES_MAX 100  /* names that a record lists; its digest covers all */
#define LATER_MIN 2048 /* changes; the removal of as many takes a moment */

static bool is_wanted(const struct change *ch)
{
	return ch->picked && !ch->refused;
}

static void print_change(const char *before, const struct change *ch)
{
	_cleanup_free_ char *name = NULL;

	printf("%s%s %s\n", before, changes_kind_name(ch->kind), review_quote(ch->path, &name));
}

struct talk {
	const char *before;	  /* the path of a change */
	struct progress progress; /* may be on the same terminal */
};

static void print_applied(void *arg, const struct change *ch)
{
	struct talk *t = arg;

	progress_pause(&t->progress);
	print_change(t->before, ch);
}

/* Before the path of a change. */
static const char *in_repository(const struct review_call *r)
{
	return r->kept.own ? "repository: " : "";
}

static size_t print_refused(const struct review_call *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];
		_cleanup_free_ char *name = NULL, *why = NULL;

		if (!ch->refused)
			continue;
		why = str_escape(ch->refused);
		fprintf(stderr, "refused %s%s: %s\n", in_repository(r), review_quote(ch->path, &name),
			why ? why : "?");
		n++;
	}
	return n;
}

/* The planned changes: their number, names, and a digest of all. */
static void describe(const struct review_call *r, struct jdoc *d)
{
	struct jdoc *names = jdoc_set_array(d, "paths");
	_cleanup_strbuf_ struct strbuf all = { 0 };
	char hex[DIGEST_HEX_SIZE];
	struct digest digest;
	size_t n = 0;

	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];

		if (!is_wanted(ch))
			continue;
		strbuf_printf(&all, "%s %o %llu ", changes_kind_name(ch->kind), (unsigned int)ch->new.mode,
			      (unsigned long long)ch->new.size);
		strbuf_add(&all, ch->path, strlen(ch->path) + 1);
		if (n++ < NAMES_MAX)
			jdoc_append(names, ledger_text(ch->path));
	}
	digest_bytes(all.text ? all.text : "", all.len, &digest);
	digest_to_hex(&digest, hex);
	jdoc_set_int(d, "changes", (int64_t)n);
	jdoc_set_string(d, "list", hex);
}

static size_t count_left(const struct review_call *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->changes.n; i++)
		n += r->changes.items[i].kind != CHANGE_SAME && !is_wanted(&r->changes.items[i]);
	return n;
}

static void report_left(const struct review_call *r, size_t left)
{
	if (left)
		fprintf(stderr, "%zu change%s left: custody diff %s, or custody discard %s\n", left,
			left == 1 ? " is" : "s are", r->kept.session, r->kept.session);
}

/* The outcome, complete or not: written after the changes. */
static int conclude(struct review_call *r, const struct apply_stats *s, size_t left, const char *error,
		    struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = review_describe(r);

	jdoc_set_int(d, "written", (int64_t)s->written);
	jdoc_set_int(d, "deleted", (int64_t)s->deleted);
	jdoc_set_int(d, "modes", (int64_t)s->modes);
	jdoc_set_int(d, "left", (int64_t)left);
	if (error)
		jdoc_set(d, "error", ledger_text(error));
	return review_record(r, "review.applied", error ? "failed" : NULL, d, f);
}

static int apply_tree(struct review_call *r, size_t left, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = review_describe(r);
	struct talk talk = { .before = in_repository(r), .progress = { .fd = -EBADF } };
	const struct apply_ask ask = { .upper = r->upper,
				       .base = r->base,
				       .session = r->kept.session,
				       .as_root = geteuid() == 0,
				       .has_owner = geteuid() == 0 && r->kept.ids.set,
				       .owner = r->kept.ids.uid_to,
				       .applied = print_applied,
				       .arg = &talk,
				       .progress = progress_tell,
				       .progress_arg = &talk.progress };
	_cleanup_fault_ struct fault second = { 0 };
	struct apply_stats stats = { 0 };
	int e, x;

	describe(r, d);
	e = review_record(r, "review.apply", NULL, d, f);
	if (e < 0)
		return e;
	progress_init(&talk.progress, "applying");
	e = apply_mark(r->dir, f);
	if (e == 0)
		e = apply_changes(&r->changes, &ask, &stats, f);
	progress_done(&talk.progress);
	apply_unmark(r->dir);
	x = conclude(r, &stats, left, e < 0 ? fault_text(f) : NULL, e < 0 ? &second : f);
	if (e < 0)
		return fault_wrap(f, e,
				  "stopped; applied changes stay; run the same command again to continue");
	return x;
}

/* The repository first: HEAD of the worktree may name its new commits. */
static int apply_all(struct review_call *r, struct fault *f)
{
	struct review_call *g = r->repository;
	size_t left = count_left(r), more = g ? count_left(g) : 0;
	int e = 0;

	if (g)
		g->ledger = r->ledger;
	if (g && review_count_changes(g, false))
		e = apply_tree(g, more, f);
	if (e == 0)
		e = apply_tree(r, left, f);
	if (e < 0)
		return e;
	report_left(r, left + more);
	if (left + more)
		return 0;
	e = r->changes.n < LATER_MIN ? review_drop(r->dir, f) : review_drop_later(r->dir, f);
	return e < 0 ? e : review_drop_chain(r, f);
}

static void print_planned(const struct review_call *r, bool deletions)
{
	for (size_t i = 0; i < r->changes.n; i++)
		if (is_wanted(&r->changes.items[i]) &&
		    (r->changes.items[i].kind == CHANGE_DELETED) == deletions)
			print_change(r->kept.own ? "repository: would be " : "would be ",
				     &r->changes.items[i]);
}

static int print_plan(struct review_call *r, size_t refused, struct fault *f)
{
	if (r->repository) {
		print_planned(r->repository, true);
		print_planned(r->repository, false);
	}
	print_planned(r, true);
	print_planned(r, false);
	return refused && !r->call->skip_refused ? STATUS_NO : apply_gate(r, f);
}

/* The upper was never synced: after a crash of the machine its files may be empty. */
static int require_boot(const struct review_call *r)
{
	_cleanup_fault_ struct fault f = { 0 };
	char boot[9];

	if (r->call->restarted || (clock_boot_id(boot, &f) == 0 && strcmp(boot, r->kept.boot) == 0))
		return 0;
	fprintf(stderr,
		PACKAGE_NAME
		" apply: the machine was restarted since session %s ended; after a crash the "
		"kept changes may be incomplete: check 'custody diff %s', then use --restarted\n",
		r->kept.session, r->kept.session);
	return STATUS_NO;
}

/* Each hard link becomes a file of its own: a small upper can exceed the free space. */
static int require_room(const struct review_call *r, struct fault *f)
{
	uint64_t sum = 0, room;
	struct statvfs fs;

	if (fstatvfs(r->base, &fs) < 0)
		return fault_errno(f, errno, "statvfs the worktree");
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];

		if (!is_wanted(ch) || !ch->bytes || !S_ISREG(ch->new.mode) || ch->new.nlink < 2)
			continue;
		if (ch->new.size > room - sum)
			return fault_set(f, ENOSPC,
					 "files with several hard links need more than the %llu bytes that "
					 "are free in "
					 "the worktree: name the paths to apply",
					 (unsigned long long)room);
		sum += ch->new.size;
	}
	return 0;
}

static int apply(struct review_call *r, struct fault *f)
{
	size_t refused;
	int e = require_boot(r);

	if (e != 0)
		return e;
	/* Opened first: an ordinary user leaves the host's user namespace for the rest. */
	if (!r->call->dry_run) {
		e = ledger_open(r->call->dirs.state, &(struct ledger_options){ .create = true }, &r->ledger,
				NULL, f);
		if (e < 0)
			return e;
	}
	e = review_load(r, f);
	if (e < 0)
		return e;
	refused = print_refused(r) + (r->repository ? print_refused(r->repository) : 0);
	if (r->call->dry_run)
		return print_plan(r, refused, f);
	if (refused && !r->call->skip_refused) {
		fprintf(stderr, "nothing was applied: name the paths to apply, or use --skip-refused\n");
		return STATUS_NO;
	}
	e = require_room(r, f);
	if (e == 0 && r->repository)
		e = require_room(r->repository, f);
	if (e == 0)
		e = apply_gate(r, f);
	if (e != 0)
		return e;
	e = apply_all(r, f);
	return e < 0 ? e : STATUS_OK;
}

int cmd_apply(struct command_call *c, struct fault *f)
{
	return review_run(c, apply, f);
}
