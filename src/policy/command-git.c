/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "policy/command-grammar.h"

/*
 * git by subcommand. Whether a repository's own configuration names programs that even a `git status` runs is a fact
 * that the caller gives.
 */
enum git_kind {
	GIT_READ,
	GIT_KEEP,    /* adds; nothing is lost */
	GIT_SOFT,    /* changes files or refs; the reflog can restore them */
	GIT_LOSES,   /* discards uncommitted changes or history */
	GIT_NETWORK, /* fetches from a remote */
	GIT_PUSH,
	GIT_RUNS,
	GIT_CLEAN,
	GIT_RM,
	GIT_CHECKOUT,
	GIT_RESET,
	GIT_REFS,   /* lists or changes names of commits */
	GIT_SECOND, /* has subcommands of its own */
	GIT_FOREACH,
};

static const struct git_row {
	const char *name;
	enum git_kind kind;
	const char *bad; /* options that turn it into GIT_LOSES */
} rows[] = {
	/* clang-format off */
	{ "status", GIT_READ, NULL }, { "log", GIT_READ, NULL }, { "diff", GIT_READ, NULL },
	{ "show", GIT_READ, NULL }, { "blame", GIT_READ, NULL }, { "annotate", GIT_READ, NULL },
	{ "describe", GIT_READ, NULL }, { "rev-parse", GIT_READ, NULL }, { "rev-list", GIT_READ, NULL },
	{ "ls-files", GIT_READ, NULL }, { "ls-tree", GIT_READ, NULL }, { "cat-file", GIT_READ, NULL },
	{ "shortlog", GIT_READ, NULL }, { "grep", GIT_READ, NULL }, { "merge-base", GIT_READ, NULL },
	{ "name-rev", GIT_READ, NULL }, { "whatchanged", GIT_READ, NULL }, { "version", GIT_READ, NULL },
	{ "help", GIT_READ, NULL }, { "for-each-ref", GIT_READ, NULL }, { "show-ref", GIT_READ, NULL },
	{ "check-ignore", GIT_READ, NULL }, { "count-objects", GIT_READ, NULL }, { "var", GIT_READ, NULL },
	{ "cherry", GIT_READ, NULL }, { "range-diff", GIT_READ, NULL }, { "show-branch", GIT_READ, NULL },
	{ "diff-tree", GIT_READ, NULL }, { "diff-index", GIT_READ, NULL }, { "diff-files", GIT_READ, NULL },
	{ "verify-commit", GIT_READ, NULL }, { "verify-tag", GIT_READ, NULL }, { "fsck", GIT_READ, NULL },
	{ "add", GIT_KEEP, NULL }, { "stage", GIT_KEEP, NULL }, { "commit", GIT_KEEP, NULL },
	{ "init", GIT_KEEP, "template" }, { "notes", GIT_KEEP, NULL }, { "write-tree", GIT_KEEP, NULL },
	{ "hash-object", GIT_KEEP, NULL }, { "mv", GIT_SOFT, NULL }, { "merge", GIT_SOFT, NULL },
	{ "rebase", GIT_SOFT, "exec,x" }, { "cherry-pick", GIT_SOFT, NULL }, { "revert", GIT_SOFT, NULL },
	{ "apply", GIT_SOFT, NULL }, { "am", GIT_SOFT, NULL },
	{ "switch", GIT_SOFT, "f,force,discard-changes,C" }, { "restore", GIT_LOSES, NULL },
	{ "branch", GIT_REFS, "D,d,delete,f,force,M,C" }, { "tag", GIT_REFS, "d,delete,f,force" },
	{ "stash", GIT_SECOND, "drop,clear" }, { "remote", GIT_SECOND, NULL },
	{ "worktree", GIT_SECOND, "remove,prune,f,force" }, { "reflog", GIT_SECOND, "expire,delete" },
	{ "bisect", GIT_RUNS, NULL }, { "config", GIT_RUNS, NULL }, { "reset", GIT_RESET, NULL },
	{ "checkout", GIT_CHECKOUT, NULL }, { "clean", GIT_CLEAN, NULL }, { "rm", GIT_RM, NULL },
	{ "gc", GIT_LOSES, NULL }, { "prune", GIT_LOSES, NULL }, { "update-ref", GIT_LOSES, NULL },
	{ "filter-branch", GIT_RUNS, NULL }, { "filter-repo", GIT_RUNS, NULL },
	{ "clone", GIT_NETWORK, NULL }, { "fetch", GIT_NETWORK, NULL }, { "pull", GIT_NETWORK, NULL },
	{ "ls-remote", GIT_NETWORK, NULL }, { "submodule", GIT_FOREACH, NULL }, { "push", GIT_PUSH, NULL },
	{ "archive", GIT_SOFT, "remote,o,output,exec" }, { "send-email", GIT_PUSH, NULL },
	{ NULL, GIT_RUNS, NULL },
	/* clang-format on */
};

static const struct git_row *find_row(const char *name)
{
	const struct git_row *r = rows;

	while (r->name && !str_eq(r->name, name))
		r++;
	return r;
}

/* Is one of the words (or options) in LIST, comma between, among the operands? */
static bool has_any(const struct simple_command *c, const char *list)
{
	for (size_t i = 1; list && i < c->n; i++) {
		const char *t = c->w[i].text;
		size_t dashes = strspn(t, "-"), len = strcspn(t + dashes, "=");

		if (str_eq(t, "--"))
			break;
		for (const char *p = list, *stop; *p; p = *stop ? stop + 1 : stop) {
			size_t want;

			stop = strchrnul(p, ',');
			want = (size_t)(stop - p);
			if (want == 1 && dashes == 1 && memchr(t + 1, *p, strlen(t + 1)))
				return true;
			if (want > 1 && dashes == 0 && len == want && strncmp(t, p, want) == 0)
				return true;
			if (want > 1 && dashes == 2 && len > 1 && len <= want && strncmp(t + 2, p, len) == 0)
				return true;
		}
		if (command_text_is_unknown(t))
			return true;
	}
	return false;
}

static struct grammar_iter read_sub(const struct simple_command *c, const char *sub)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "git %s", sub);
	return (struct grammar_iter){ .row = grammar_find(name, strlen(name)), .w = c->w, .n = c->n, .i = 1 };
}

/*
 * Is one of the options in LIST ("n dry-run") given, read as git reads it? For options that lower the level; has_any,
 * which also finds words that only look like the option, is for those that raise it.
 */
static bool says(const struct simple_command *c, const char *sub, const char *list)
{
	struct grammar_iter g = read_sub(c, sub);
	struct grammar_item at;

	while (grammar_iter_next(&g, &at))
		if (grammar_item_is(&at, list))
			return true;
	return false;
}

/* As above, and no later word takes it back: --no-dry-run. */
static bool says_finally(const struct simple_command *c, const char *sub, const char *list)
{
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->w[i].text, "--n"))
			return false;
	return says(c, sub, list);
}

/* NULL: none. */
static const char *first_operand(const struct simple_command *c, const char *sub)
{
	struct grammar_iter g = read_sub(c, sub);
	struct grammar_item at;

	while (grammar_iter_next(&g, &at))
		if (at.operand)
			return at.operand;
	return NULL;
}

/* Everything that git changes lies in the working directory. */
static void add_git_change(struct classifier *k, enum outcome o)
{
	classifier_add_change(k, o, DOMAIN_WORKSPACE);
	classifier_add_write(k, ".", o);
}

static void judge_remote_name(struct classifier *k, const struct simple_command *c, enum outcome o)
{
	enum domain worst = DOMAIN_WORKSPACE;

	classifier_add_traits(k, COMMAND_NETWORK);
	classifier_add_finding(k, "network", "", "uses the network");
	for (size_t i = 1; i < c->n; i++) {
		enum domain d =
			c->w[i].text[0] == '-' ? DOMAIN_WORKSPACE : command_url_domain(k, c->w[i].text);

		/* "main:main" looks like host:path; a remote given by name has an unknown host. */
		worst = d < worst ? d : worst;
	}
	classifier_add_change(k, o, worst == DOMAIN_WORKSPACE ? DOMAIN_UNTRUSTED : worst);
}

static void judge_push(struct classifier *k, const struct simple_command *c)
{
	bool forced = has_any(c, "f,force,force-with-lease,d,delete,mirror,prune,all");

	for (size_t i = 1; i < c->n; i++)
		forced = forced || c->w[i].text[0] == '+' || c->w[i].text[0] == ':';
	judge_remote_name(k, c, forced ? OUTCOME_IRREVERSIBLE : OUTCOME_SOFT);
}

/* Deletes untracked files, with -x ignored ones too; the words do not bound how many. */
static void judge_clean(struct classifier *k, const struct simple_command *c)
{
	bool force = has_any(c, "f,force,i,interactive"), wide = has_any(c, "d,x,X"), any = false;
	const char *why, *last = c->w[c->n - 1].text;
	struct option_iter o;
	struct option_word at;

	if (says_finally(c, "clean", "n dry-run") || (!force && !command_text_is_unknown(last)))
		return;
	option_iter_init(&o, &(struct simple_command){ .w = c->w, .n = c->n }, false);
	o.args = "e exclude";
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at)) {
			any = true;
			classifier_add_delete(k, "git clean", at.word);
		}
	add_git_change(k, any ? OUTCOME_SOFT : OUTCOME_IRREVERSIBLE);
	classifier_add_finding(k, "deletes", "git clean", "deletes files");
	if (!any && wide && classifier_path_is_unbounded(k, ".", &why))
		classifier_add_unknown_delete(k, "git clean", "deletes all untracked files");
}

static void judge_git_rm(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;

	add_git_change(k, OUTCOME_SOFT);
	if (says_finally(c, "rm", "n cached,dry-run"))
		return;
	option_iter_init(&o, &(struct simple_command){ .w = c->w, .n = c->n }, false);
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at))
			classifier_add_delete(k, "git rm", at.word);
		else if (at.name && option_word_is(&at, " pathspec-from-file"))
			classifier_add_unknown_delete(k, "git rm", "deletes files whose names are not known");
}

static void judge_loses(struct classifier *k, const char *sub)
{
	add_git_change(k, OUTCOME_IRREVERSIBLE);
	classifier_add_finding(k, "git-loses", sub, "discards changes that git cannot restore");
}

/* "git checkout NAME" may be a branch or a file: only -b is known to lose nothing. */
static void judge_checkout(struct classifier *k, const struct simple_command *c)
{
	bool paths = has_any(c, "f,force,B,ours,theirs,p,patch");

	for (size_t i = 1; i < c->n; i++)
		paths = paths || str_eq(c->w[i].text, "--") || str_eq(c->w[i].text, ".") ||
			strpbrk(c->w[i].text, "*?") || c->w[i].text[0] == ':';
	if (paths)
		judge_loses(k, "git checkout");
	else
		add_git_change(k, says(c, "checkout", "b") ? OUTCOME_REVERSIBLE : OUTCOME_SOFT);
}

/* branch, tag: without a name, or with an option that selects, they list. */
static void judge_refs(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	if (has_any(c, r->bad))
		judge_loses(k, r->name);
	else if (says(c, r->name, "um edit-description,set-upstream-to,unset-upstream,move,c,copy,track"))
		add_git_change(k, OUTCOME_REVERSIBLE);
	else if (first_operand(c, r->name) &&
		 !says(c, r->name,
		       "larn list,all,remotes,contains,no-contains,merged,no-merged,points-at,show-current"))
		add_git_change(k, OUTCOME_REVERSIBLE);
}

/* remote, stash, reflog, worktree: by their own subcommand. */
static void judge_second(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	const char *second = first_operand(c, r->name);

	if (str_eq(r->name, "remote") && second && !str_eq(second, "get-url")) {
		add_git_change(k, OUTCOME_SOFT);
		if (str_eq(second, "update") || str_eq(second, "prune") || str_eq(second, "show"))
			judge_remote_name(k, c, OUTCOME_SOFT);
		return;
	}
	if (has_any(c, r->bad))
		judge_loses(k, r->name);
	else if (second ? !str_eq(second, "list") && !str_eq(second, "show") && !str_eq(second, "get-url")
			: str_eq(r->name, "stash"))
		add_git_change(k, OUTCOME_REVERSIBLE);
}

static void judge_foreach(struct classifier *k, const struct simple_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (str_eq(c->w[i].text, "foreach")) {
			classifier_add_unknown(k, "git submodule foreach",
					       "runs a command in each submodule");
			classifier_probe_command(k, c->w + i + 1, c->n - i - 1);
			for (size_t o = i + 1; o < c->n; o++)
				classifier_probe_text(k, c->w[o].text);
			return;
		}
	if (has_any(c, "deinit"))
		judge_loses(k, "git submodule");
	else
		judge_remote_name(k, c, OUTCOME_SOFT);
}

static bool asks_config(const struct simple_command *c)
{
	const char *t = c->n > 1 ? c->w[1].text : "";

	return str_eq(t, "--get") || str_eq(t, "--get-all") || str_eq(t, "--get-regexp") ||
	       str_eq(t, "--list") || str_eq(t, "-l");
}

/*
 * A repository in a directory of the worktree becomes a submodule in the index. From then on `status`, `diff` and a
 * `commit` that finds no change enter it, and obey the configuration there, which was not read.
 */
static bool puts_in_index(const struct simple_command *c, const struct git_row *r)
{
	const char *first = r->name ? first_operand(c, r->name) : NULL;

	if (!r->name)
		return true;
	if (str_eq(r->name, "commit"))
		return first || says(c, "commit", "a all");
	if (str_eq(r->name, "stash"))
		return !first || (!str_eq(first, "list") && !str_eq(first, "show"));
	if (str_eq(r->name, "checkout"))
		return first || !says(c, "checkout", "b");
	return r->kind != GIT_READ && r->kind != GIT_REFS && r->kind != GIT_PUSH && r->kind != GIT_CLEAN &&
	       r->kind != GIT_RM && !str_eq(r->name, "ls-remote") && !str_eq(r->name, "remote") &&
	       !str_eq(r->name, "worktree") && !str_eq(r->name, "reflog") && !str_eq(r->name, "init") &&
	       !(str_eq(r->name, "config") && asks_config(c));
}

/* stash pop, switch and checkout compare the files with the new index themselves. */
static bool compares_new_index(const struct simple_command *c, const struct git_row *r)
{
	const char *first = r->name ? first_operand(c, r->name) : NULL;

	if (!first)
		return false;
	if (str_eq(r->name, "stash"))
		return str_eq(first, "pop") || str_eq(first, "apply");
	return str_eq(r->name, "checkout") || str_eq(r->name, "switch");
}

static void judge_index(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	if (k->probing)
		return;
	k->gits++;
	k->git_indexes = k->git_indexes || puts_in_index(c, r);
	if (!compares_new_index(c, r) && !(k->gits > 1 && k->git_indexes))
		return;
	classifier_add_finding(k, "git-configuration", "git",
			       "a repository inside the worktree may become a submodule, whose configuration "
			       "names programs");
	classifier_add_traits(k, COMMAND_UNKNOWN | COMMAND_CHANGES);
}

static void judge_kind(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	switch (r->kind) {
	case GIT_READ:
		break;
	case GIT_KEEP:
	case GIT_SOFT:
		if (has_any(c, r->bad))
			judge_loses(k, r->name);
		if (str_eq(r->name, "rebase") && has_any(c, "exec,x"))
			classifier_add_unknown(k, r->name, "runs a command for each commit");
		if (str_eq(r->name, "rebase") && has_any(c, "continue,skip"))
			classifier_add_unknown(k, r->name, "runs the commands in the list of a rebase");
		/* A bare repository lies among the files, and `config` may be one of them. */
		add_git_change(k, r->kind == GIT_KEEP && !says(c, r->name, " bare") ? OUTCOME_REVERSIBLE
										    : OUTCOME_SOFT);
		if (str_eq(r->name, "init") && first_operand(c, "init"))
			classifier_add_write(k, first_operand(c, "init"), OUTCOME_REVERSIBLE);
		break;
	case GIT_LOSES:
		judge_loses(k, r->name);
		break;
	case GIT_NETWORK:
		if (has_any(c, "upload-pack,u,config,c,template,exec") && !str_eq(r->name, "pull"))
			classifier_add_unknown(k, r->name, "an option that runs a program");
		classifier_add_traits(k, COMMAND_FETCHES);
		judge_remote_name(k, c, OUTCOME_SOFT);
		if (!str_eq(r->name, "ls-remote"))
			add_git_change(k, OUTCOME_SOFT);
		/* The directory of a clone is the last word, if two are given. */
		if (str_eq(r->name, "clone") && c->n > 2)
			classifier_add_write(k, c->w[c->n - 1].text, OUTCOME_SOFT);
		break;
	case GIT_PUSH:
		if (has_any(c, "receive-pack,exec"))
			classifier_add_unknown(k, r->name, "an option that runs a program");
		judge_push(k, c);
		break;
	case GIT_CLEAN:
		judge_clean(k, c);
		break;
	case GIT_RM:
		judge_git_rm(k, c);
		break;
	case GIT_CHECKOUT:
		judge_checkout(k, c);
		break;
	case GIT_RESET:
		if (has_any(c, "hard,merge,keep"))
			judge_loses(k, "git reset");
		else
			add_git_change(k, OUTCOME_SOFT);
		break;
	case GIT_REFS:
		judge_refs(k, c, r);
		break;
	case GIT_SECOND:
		judge_second(k, c, r);
		break;
	case GIT_FOREACH:
		judge_foreach(k, c);
		break;
	case GIT_RUNS:
		if (r->name && str_eq(r->name, "config") && asks_config(c))
			break;
		classifier_add_unknown(k, c->w[0].text,
				       r->name ? "configures or runs a program" : "unknown subcommand");
		for (size_t i = 1; i < c->n; i++)
			classifier_probe_text(k, c->w[i].text);
		break;
	}
}

/*
 * A repository's configuration names programs that even `git status` runs: fsmonitor, filters, textconv, hooks. Only
 * that of the worktree's root was read; another directory may have another.
 */
static void judge_configuration(struct classifier *k)
{
	const struct classifier_cwds *s = &k->shell.cwds;
	bool plain = k->place->git_is_plain && !s->unknown && !s->climbed && s->n > 0 && !k->shell.lost;

	for (size_t i = 0; plain && i < s->n; i++)
		plain = k->place->worktree && str_eq(s->v[i], k->place->worktree);
	if (plain)
		return;
	classifier_add_finding(k, "git-configuration", "git",
			       "the repository's configuration may name programs");
	classifier_add_traits(k, COMMAND_UNKNOWN | COMMAND_CHANGES);
}

void command_judge_git(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	const char *base = command_base(c->w[0].text, &(bool){ false });
	struct classifier_cwds cwds = k->shell.cwds;
	struct simple_command sub;
	struct option_iter o;
	struct option_word at;

	if (str_starts(base, "git-")) { /* /usr/lib/git-core/git-clean */
		judge_kind(k, c, find_row(base + 4));
		return;
	}
	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, "C work-tree") && at.value)
			classifier_chdir(k, at.value);
		if (option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text, "an option that may name a program");
		if (option_word_is(&at, "c") && at.value && strchr(at.value, '='))
			classifier_probe_text(k, strchr(at.value, '=') + 1 +
							 strspn(strchr(at.value, '=') + 1, "!"));
		if (!option_word_is_operand(&at))
			continue;
		if (part)
			part->n_global = at.at - 1;
		judge_configuration(k);
		sub = (struct simple_command){ c->row, c->w + at.at, c->n - at.at };
		judge_index(k, &sub, find_row(at.word));
		judge_kind(k, &sub, find_row(at.word));
		break;
	}
	k->shell.cwds = cwds;
}
