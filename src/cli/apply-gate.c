/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apply-gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/exit-status.h"
#include "base/str.h"
#include "review/review-ask.h"
#include "review/review-judge.h"
#include "tty/prompt.h"

#define SHOWN_MAX 50	 /* deletions listed before apply begins; diff has all */
#define RECORDED_MAX 100 /* names in the record */
#define ALLOW_MAX 20	 /* --allow of files in a suggested command line; beyond it of their directories */

static void put_deletions(const struct changes *c, const char *before, size_t *shown, struct strbuf *b)
{
	for (size_t i = 0; i < c->n && *shown < SHOWN_MAX; i++) {
		_cleanup_free_ char *name = NULL;

		if (!review_is_deletion(&c->items[i]))
			continue;
		strbuf_printf(b, "to %s: %s%s\n", c->items[i].kind == CHANGE_REPLACED ? "replace" : "delete",
			      before, review_quote(c->items[i].path, &name));
		(*shown)++;
	}
}

/* Deletions first, then the names of the list. */
static void put_list(const struct review_call *r, const struct review_question *q, struct strbuf *b)
{
	size_t shown = 0;

	if (r->repository)
		put_deletions(&r->repository->changes, "repository: ", &shown, b);
	put_deletions(&r->changes, "", &shown, b);
	if (q->deletions > shown)
		strbuf_printf(b, "to delete: %zu more, see custody diff %s\n", q->deletions - shown,
			      r->kept.session);
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];
		_cleanup_free_ char *name = NULL, *rule = NULL;

		if (ch->asks)
			strbuf_printf(b, "to confirm: %s %s (%s)\n", changes_kind_name(ch->kind),
				      review_quote(ch->path, &name), review_quote(ch->asks, &rule));
	}
}

/* "the removal of 12 entries (the limit is 10) and the change of 2 files that other programs obey" */
static void put_question(const struct review_call *r, const struct review_question *q, struct strbuf *b)
{
	uint64_t limit =
		r->kept.ask_deletions > r->call->deletions ? r->kept.ask_deletions : r->call->deletions;

	if (q->too_many)
		strbuf_printf(b, "the removal of %zu files and directories (the limit is %llu)", q->deletions,
			      (unsigned long long)limit);
	if (q->too_many && q->names)
		strbuf_puts(b, " and ");
	if (q->names)
		strbuf_printf(b, "%zu change%s of files that other programs obey", q->names,
			      q->names == 1 ? "" : "s");
}

/* What --allow has to name: the path, or of many the entry that the list names. */
static size_t allow_length(const struct change *ch, bool many)
{
	size_t end = 0;

	return many && review_ask_matches(ch->asks, ch->path, &end) ? end : strlen(ch->path);
}

static void put_allows(const struct review_call *r, const struct review_question *q, struct strbuf *b)
{
	_cleanup_free_ char *last = NULL;

	for (size_t i = 0; q->names && i < r->changes.n; i++) {
		const struct change *ch = &r->changes.items[i];
		char *path = ch->asks ? strndup(ch->path, allow_length(ch, q->names > ALLOW_MAX)) : NULL;

		/* A directory is listed before its entries. */
		if (path && !(last && review_is_below(path, last))) {
			strbuf_puts(b, " --allow ");
			strbuf_put_word(b, path);
			free(last);
			last = path;
			path = NULL;
		}
		free(path);
	}
}

/* The command line that would have worked, with the options and the answers of this one. */
static void put_command(const struct review_call *r, const struct review_question *q, struct strbuf *b)
{
	const struct command_call *c = r->call;

	strbuf_printf(b, "custody apply %s", r->kept.session);
	for (size_t i = 0; r->paths && r->paths[i]; i++) {
		strbuf_putc(b, ' ');
		strbuf_put_word(b, *r->paths[i] ? r->paths[i] : ".");
	}
	if (c->lane)
		strbuf_printf(b, " --lane %s", lane_name(c->dirs.lane));
	strbuf_puts(b, c->allow_prod ? " --allow-prod" : "");
	strbuf_puts(b, c->skip_refused ? " --skip-refused" : "");
	strbuf_puts(b, c->restarted ? " --restarted" : "");
	strbuf_puts(b, " --yes");
	if (q->too_many || c->deletions)
		strbuf_printf(b, " --deletions %llu",
			      q->too_many ? (unsigned long long)q->deletions
					  : (unsigned long long)c->deletions);
	for (size_t i = 0; c->allow && c->allow[i]; i++) {
		strbuf_puts(b, " --allow ");
		strbuf_put_word(b, c->allow[i]);
	}
	put_allows(r, q, b);
}

/* 1: yes, 0: no, -ENXIO or -EBUSY: no terminal to ask at. */
static int ask(const struct review_call *r, const struct review_question *q, struct fault *f)
{
	_cleanup_prompt_ struct prompt p = PROMPT_NONE;
	_cleanup_strbuf_ struct strbuf list = { 0 }, question = { 0 };
	char answer[16];
	int e = prompt_open(&p, f);

	if (e < 0)
		return e;
	put_list(r, q, &list);
	strbuf_printf(&question, "Apply the changes of session %s: ", r->kept.session);
	put_question(r, q, &question);
	strbuf_puts(&question, "? [y/N] ");
	if (!list.text || !question.text)
		return fault_errno(f, ENOMEM, "ask");
	e = prompt_show(&p, list.text, f);
	if (e == 0)
		e = prompt_ask(&p, question.text, true, 0, answer, sizeof(answer), f);
	/* An interrupted or too long answer is a No. */
	if (e == -ECANCELED || e == -EMSGSIZE) {
		fault_done(f);
		return 0;
	}
	return e < 0 ? e : str_eq(answer, "y") || str_eq(answer, "yes");
}

static int record(struct review_call *r, const struct review_question *q, const char *answer, bool approved,
		  struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = review_describe(r);
	struct jdoc *paths = jdoc_set_array(d, "paths");
	size_t n = 0;

	for (size_t i = 0; i < r->changes.n && n < RECORDED_MAX; i++)
		if (r->changes.items[i].asks) {
			jdoc_append(paths, ledger_text(r->changes.items[i].path));
			n++;
		}
	jdoc_set_int(d, "names", (int64_t)q->names);
	jdoc_set_int(d, "deletions", (int64_t)q->deletions);
	jdoc_set_int(d, "limit", (int64_t)r->kept.ask_deletions);
	jdoc_set_string(d, "answer", answer);
	return review_record(r, "review.ask", approved ? "approved" : "unapproved", d, f);
}

static int refuse(struct review_call *r, const struct review_question *q, const char *answer, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf what = { 0 }, line = { 0 };
	_cleanup_free_ char *shown = NULL;
	int e = r->call->dry_run ? 0 : record(r, q, answer, false, f);

	if (e < 0)
		return e;
	put_question(r, q, &what);
	put_command(r, q, &line);
	if (!what.text || !line.text)
		return fault_errno(f, ENOMEM, "apply");
	shown = str_escape(line.text);
	fprintf(stderr, PACKAGE_NAME " apply: %s: %s needs an answer: %s\n",
		r->call->dry_run ? "would ask" : "nothing was applied", what.text,
		shown ? shown : "out of memory");
	return STATUS_UNAPPROVED;
}

/* Paths of --allow in the form of the list.  The root would allow names that no one saw. */
static int set_allowed(struct review_call *r, char ***ret, struct fault *f)
{
	for (size_t i = 0; r->call->allow && r->call->allow[i]; i++) {
		_cleanup_free_ char *path = NULL;
		int e = review_path(r->call->allow[i], &path, f);

		if (e < 0 || !*path)
			return fault_set(f, EINVAL,
					 "--allow '%s' is not a path below the worktree '%s': name the files",
					 r->call->allow[i], r->kept.worktree);
		e = strv_append(ret, path);
		if (e < 0)
			return fault_errno(f, ENOMEM, "paths");
	}
	return 0;
}

static bool is_open(const struct review_question *q)
{
	return q->too_many || q->names;
}

static void show_deletions(const struct review_call *r, const struct review_question *q)
{
	_cleanup_strbuf_ struct strbuf list = { 0 };

	put_list(r, q, &list);
	if (list.text && !r->call->dry_run)
		fputs(list.text, stderr);
}

/* At the terminal, or not at all: --yes answers for nothing that it does not name. */
static int answer(struct review_call *r, const struct review_question *q, struct fault *f)
{
	bool asks = !r->call->yes && !r->call->dry_run;
	int e = asks ? ask(r, q, f) : -ENXIO;

	if (e == -ENXIO || e == -EBUSY) {
		fault_done(f);
		show_deletions(r, q);
		return refuse(r, q, "none", f);
	}
	if (e < 0)
		return e;
	if (e == 0)
		return refuse(r, q, "no", f);
	return record(r, q, "terminal", true, f);
}

static int judge(struct review_call *r, struct review_gate g, char *const *allowed, struct fault *f)
{
	struct review_question q;

	g.deletions = r->call->deletions;
	g.paths = allowed;
	/* Of the repository beside a worktree the number counts: its own files have no names of the list. */
	g.more = r->repository ? review_count_deletions(&r->repository->changes) : 0;
	review_ask(&r->changes, &g, &q);
	if (is_open(&q))
		return answer(r, &q, f);
	show_deletions(r, &q);
	/* Was it the command line that answered? */
	g.deletions = 0;
	g.paths = NULL;
	review_ask(&r->changes, &g, &q);
	return is_open(&q) && !r->call->dry_run ? record(r, &q, "command-line", true, f) : STATUS_OK;
}

int apply_gate(struct review_call *r, struct fault *f)
{
	_cleanup_strv_ char **allowed = NULL;
	struct review_gate g = { .limit = r->kept.ask_deletions, .ask = r->kept.ask, .allow = r->kept.allow };
	struct review_alias *aliases = NULL;
	int e = set_allowed(r, &allowed, f);

	if (e == 0)
		e = review_alias_find(&r->changes, r->base, &g, &aliases, &g.n_aliases, f);
	if (e < 0)
		return e;
	g.aliases = aliases;
	e = judge(r, g, allowed, f);
	review_alias_free(aliases, g.n_aliases);
	return e;
}
