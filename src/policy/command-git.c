/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * git by subcommand. A repository's own configuration may name programs (hooks, pagers, filters) that even a
 * `git status` runs: that is not detected here; writing it (.git/, git config) is.
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
	GIT_LIST, /* a read without operands or with an option of `keep`, else a change */
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
	{ "branch", GIT_LIST, "D,d,delete,f,force,M,C" }, { "tag", GIT_LIST, "d,delete,f,force" },
	{ "stash", GIT_LIST, "drop,clear" }, { "remote", GIT_LIST, NULL },
	{ "worktree", GIT_LIST, "remove,prune,f,force" }, { "reflog", GIT_LIST, "expire,delete" },
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
	struct option_iter o;
	struct option_word at;
	const char *why;

	if (has_any(c, "n,dry-run") || !force)
		return;
	option_iter_init(&o, &(struct simple_command){ .w = c->w, .n = c->n }, false);
	o.args = "e exclude";
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at)) {
			any = true;
			classifier_add_delete(k, "git clean", at.word);
		}
	classifier_add_change(k, any ? OUTCOME_SOFT : OUTCOME_IRREVERSIBLE, DOMAIN_WORKSPACE);
	classifier_add_finding(k, "deletes", "git clean", "deletes files");
	if (!any && wide && classifier_path_is_unbounded(k, ".", &why))
		classifier_add_unbounded(k, "git clean", "deletes all untracked files");
}

static void judge_git_rm(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;

	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
	if (has_any(c, "cached,n,dry-run"))
		return;
	option_iter_init(&o, &(struct simple_command){ .w = c->w, .n = c->n }, false);
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at))
			classifier_add_delete(k, "git rm", at.word);
		else if (at.name && option_word_is(&at, " pathspec-from-file"))
			classifier_add_unbounded(k, "git rm", "deletes files whose names are not known");
}

static void judge_loses(struct classifier *k, const char *sub)
{
	classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_WORKSPACE);
	classifier_add_finding(k, "git-loses", sub, "discards changes that git cannot restore");
}

/* "git checkout NAME" may be a branch or a file: only -b is known to lose nothing. */
static void judge_checkout(struct classifier *k, const struct simple_command *c)
{
	bool paths = has_any(c, "f,force,B,ours,theirs,p,patch");

	for (size_t i = 1; i < c->n; i++)
		paths = paths || str_eq(c->w[i].text, "--") || str_eq(c->w[i].text, ".") ||
			strpbrk(c->w[i].text, "*?") || str_starts(c->w[i].text, ":/");
	if (paths)
		judge_loses(k, "git checkout");
	else
		classifier_add_change(k, has_any(c, "b") ? OUTCOME_REVERSIBLE : OUTCOME_SOFT,
				      DOMAIN_WORKSPACE);
}

/* branch, tag, remote, stash ...: without arguments, or listing, they only read. */
static void judge_list(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	if (c->n == 1 ? !str_eq(r->name, "stash")
		      : has_any(c, "l,list,v,verbose,a,all,r,show,get-url,contains,merged"))
		if (!has_any(c, r->bad) &&
		    !has_any(c, "add,set-url,update,rename,m,move,push,save,store,edit-description"))
			return;
	if (has_any(c, r->bad))
		judge_loses(k, r->name);
	else
		classifier_add_change(k, OUTCOME_REVERSIBLE, DOMAIN_WORKSPACE);
	if (str_eq(r->name, "remote") && has_any(c, "update,prune,show"))
		judge_remote_name(k, c, OUTCOME_SOFT);
	if (str_eq(r->name, "remote") && has_any(c, "add,set-url"))
		classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
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
	if (c->n == 1 || has_any(c, "status,summary"))
		return;
	if (has_any(c, "deinit"))
		judge_loses(k, "git submodule");
	else
		judge_remote_name(k, c, OUTCOME_SOFT);
}

static void judge_kind(struct classifier *k, const struct simple_command *c, const struct git_row *r)
{
	switch (r->kind) {
	case GIT_READ:
		if (has_any(c, "output,ext-diff,open-files-in-pager") ||
		    (str_eq(r->name, "grep") && has_any(c, "O")))
			classifier_add_unknown(k, r->name, "an option that runs a program or writes a file");
		break;
	case GIT_KEEP:
	case GIT_SOFT:
		if (has_any(c, r->bad))
			judge_loses(k, r->name);
		if (str_eq(r->name, "rebase") && has_any(c, "exec,x"))
			classifier_add_unknown(k, r->name, "runs a command for each commit");
		classifier_add_change(k, r->kind == GIT_KEEP ? OUTCOME_REVERSIBLE : OUTCOME_SOFT,
				      DOMAIN_WORKSPACE);
		break;
	case GIT_LOSES:
		judge_loses(k, r->name);
		break;
	case GIT_NETWORK:
		if (has_any(c, "upload-pack,u,config,c,template,exec") && !str_eq(r->name, "pull"))
			classifier_add_unknown(k, r->name, "an option that runs a program");
		classifier_add_traits(k, COMMAND_FETCHES);
		judge_remote_name(k, c, OUTCOME_SOFT);
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
			classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
		break;
	case GIT_LIST:
		judge_list(k, c, r);
		break;
	case GIT_FOREACH:
		judge_foreach(k, c);
		break;
	case GIT_RUNS:
		if (str_eq(r->name, "config") && has_any(c, "get,get-all,get-regexp,list,l"))
			break;
		classifier_add_unknown(k, c->w[0].text,
				       r->name ? "configures or runs a program" : "unknown subcommand");
		for (size_t i = 1; i < c->n; i++)
			classifier_probe_text(k, c->w[i].text);
		break;
	}
}

/* -c KEY=VALUE can name a program; only these keys cannot. */
static bool key_is_harmless(const char *key)
{
	return key && (str_starts(key, "user.") || str_starts(key, "color.") || str_starts(key, "advice.") ||
		       str_starts(key, "core.quotepath=") || str_starts(key, "init.defaultBranch="));
}

void command_judge_git(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	const char *base = command_base(c->w[0].text, &(bool){ false });
	struct classifier_cwds cwds = k->shell.cwds;
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
		if (option_word_is(&at, "c") ? !key_is_harmless(at.value) : option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text, "an option that may name a program");
		if (option_word_is(&at, "c") && at.value && strchr(at.value, '='))
			classifier_probe_text(k, strchr(at.value, '=') + 1 +
							 strspn(strchr(at.value, '=') + 1, "!"));
		if (!option_word_is_operand(&at))
			continue;
		if (part)
			part->n_global = at.at - 1;
		judge_kind(k, &(struct simple_command){ c->row, c->w + at.at, c->n - at.at },
			   find_row(at.word));
		break;
	}
	k->shell.cwds = cwds;
}
