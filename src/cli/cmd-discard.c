/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "base/exit-status.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "cli/cmd-review.h"
#include "cli/confirm.h"
#include "cli/dispatch.h"
#include "review/apply.h"

/* Only the next apply knows the directories with leftovers, and a discarded session has no next one. */
static void report_leftovers(const struct review_call *r)
{
	_cleanup_strbuf_ struct strbuf tree = { 0 };
	char leftovers[APPLY_LEFTOVER_SIZE];

	if (!apply_is_marked(r->dir))
		return;
	strbuf_put_word(&tree, r->kept.worktree);
	apply_leftovers(r->kept.session, leftovers);
	fprintf(stderr,
		PACKAGE_NAME " discard: an apply of session %s was killed; to remove what it left: "
			     "find %s -name '%s*' -prune -exec rm -rf {} +\n",
		r->kept.session, tree.broken ? "." : tree.text, leftovers);
	apply_unmark(r->dir);
}

static int discard(struct review_call *r, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	int e;

	if (r->call->dry_run) {
		printf("would discard the changes of session %s\n", r->kept.session);
		return STATUS_OK;
	}
	/* Without the record nothing is discarded. */
	d = review_describe(r);
	jdoc_set_int(d, "bytes", (int64_t)r->kept.bytes);
	e = review_record(r, "review.discard", NULL, d, f);
	if (e == 0)
		e = review_drop(r->dir, f);
	if (e < 0)
		return e;
	report_leftovers(r);
	printf("discarded the changes of session %s\n", r->kept.session);
	return STATUS_OK;
}

/* All words are resolved before the first session is touched: a mistake in one discards nothing. */
static int resolve(struct command_call *c, char ***ids, struct fault *f)
{
	size_t i = 0;

	do {
		_cleanup_session_note_ struct session_note n = { 0 };
		int r = review_find(c, c->args[i], &n, f);

		if (r != STATUS_OK)
			return r;
		if (!strv_has(*ids, n.session) && strv_append(ids, n.session) < 0)
			return fault_errno(f, ENOMEM, "sessions");
	} while (c->args[i] && c->args[++i]);
	return STATUS_OK;
}

/* Of every directory.  If the clock was set back, no upper is old. */
static bool is_meant(const struct command_call *c, const struct session_upper *k, uint64_t now_us)
{
	return !c->set_older || (k->ended_us < now_us && (now_us - k->ended_us) / 1000000 >= c->older_s);
}

static int collect(struct command_call *c, char ***ids, struct fault *f)
{
	_cleanup_session_upper_list_ struct session_upper_list l = { 0 };
	const uint64_t now_us = clock_wall_us();
	char question[128], size[UNIT_TEXT_SIZE];
	uint64_t bytes = 0;
	int r = session_upper_list(&c->dirs, &l, f);

	for (size_t i = 0; r == 0 && i < l.n; i++)
		if (is_meant(c, &l.items[i], now_us)) {
			bytes += l.items[i].bytes;
			r = strv_append(ids, l.items[i].session) < 0 ? fault_errno(f, ENOMEM, "sessions") : 0;
		}
	if (r < 0)
		return r;
	if (!*ids) {
		fprintf(stderr, PACKAGE_NAME " discard: no changes of lane '%s' are %s\n",
			lane_name(c->dirs.lane), c->set_older ? "that old" : "kept");
		return STATUS_OK;
	}
	(void)snprintf(question, sizeof(question), "Discard the changes of %zu sessions, %s?", strv_len(*ids),
		       unit_text_bytes(bytes, size));
	r = c->dry_run ? 1 : confirm(c, question, f);
	return r < 0 ? r : r ? STATUS_OK : STATUS_NO;
}

/* The newest first, by their ends: a session that continues another one is discarded before it. */
static int sort(struct command_call *c, char ***ids, struct fault *f)
{
	_cleanup_session_upper_list_ struct session_upper_list l = { 0 };
	_cleanup_strv_ char **sorted = NULL;
	int r = session_upper_list(&c->dirs, &l, f);

	for (size_t i = l.n; r == 0 && i-- > 0;)
		if (strv_has(*ids, l.items[i].session))
			r = strv_append(&sorted, l.items[i].session);
	for (char **id = *ids; r == 0 && id && *id; id++)
		if (!strv_has(sorted, *id))
			r = strv_append(&sorted, *id);
	if (r < 0)
		return f->code ? r : fault_errno(f, ENOMEM, "sessions");
	strv_free(*ids);
	*ids = TAKE_PTR(sorted);
	return 0;
}

/* One failure does not stop the others; the status is that of the worst. */
static int discard_each(struct command_call *c, char *const *ids, struct fault *f)
{
	int worst = STATUS_OK, error = 0;

	for (; ids && *ids; ids++) {
		_cleanup_fault_ struct fault why = { 0 };
		_cleanup_free_ char *text = NULL;
		int r = review_run_on(c, *ids, discard, &why);

		if (r > worst)
			worst = r;
		if (r >= 0)
			continue;
		if (r == -LANE_REFUSED || !ids[1]) /* the only, the last, or the same for all */
			return fault_set(f, -r, "%s", fault_text(&why));
		text = str_escape(fault_text(&why));
		fprintf(stderr, PACKAGE_NAME " discard: session %s: %s\n", *ids,
			text ? text : "out of memory");
		error = r;
	}
	return error < 0 ? STATUS_FAILED : worst;
}

int cmd_discard(struct command_call *c, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	int r;

	if ((c->all || c->set_older) && c->n_args)
		return dispatch_usage(c, "unexpected argument '%s': --all and --older name the sessions",
				      c->args[0]);
	r = c->all || c->set_older ? collect(c, &ids, f) : resolve(c, &ids, f);
	if (r == STATUS_OK && ids)
		r = sort(c, &ids, f);
	return r != STATUS_OK ? r : discard_each(c, ids, f);
}
