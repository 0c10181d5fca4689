/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/review-ask.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/str.h"
#include "review/review-judge.h"

#define NAME_ROOM 256 /* NAME_MAX and its end */

/* Files that a service or a program of the user obeys as soon as they are there. */
static const char *const names[] = {
	/* CI: runs with the secrets of the project. */
	".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab/ci", ".circleci", ".travis.yml",
	"Jenkinsfile", "azure-pipelines.yml", ".azure-pipelines", "bitbucket-pipelines.yml", ".drone.yml",
	".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".forgejo/workflows", ".gitea/workflows",
	".buildkite", ".cirrus.yml", "appveyor.yml", ".appveyor.yml", ".teamcity", ".tekton",
	"cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml", ".builds", ".build.yml", ".semaphore",
	/* Settings, servers and instructions of agents. */
	".claude", ".claude.json", ".mcp.json", "mcp.json", ".cursor", ".cursorrules", ".codex", ".gemini",
	".aider.conf.yml", ".continue", ".windsurf", ".windsurfrules", ".clinerules", ".roo", ".roomodes",
	".kiro", ".amazonq", ".opencode", "opencode.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md",
	"GEMINI.md", ".github/copilot-instructions.md", ".custody",
	/* Editors: tasks, debuggers, and settings that name programs. */
	".vscode", "*.code-workspace", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json",
	".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".gdbinit", ".lldbinit", ".pdbrc",
	".gitpod.yml", ".replit",
	/* Run when a user enters the directory or commits, or name what a package manager executes at any command. */
	".envrc", ".mise.toml", "mise.toml", ".tool-versions", ".husky", ".pre-commit-config.yaml",
	"lefthook.yml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".bazelrc", NULL
};

const char *const *review_ask_names(void)
{
	return names;
}

/* One name of a pattern and of a path, each LEN bytes. */
static bool matches_name(const char *pattern, size_t pattern_len, const char *name, size_t len)
{
	char p[NAME_ROOM], n[NAME_ROOM];

	/* No file has such a name. */
	if (pattern_len >= sizeof(p) || len >= sizeof(n))
		return false;
	memcpy(p, pattern, pattern_len);
	p[pattern_len] = '\0';
	memcpy(n, name, len);
	n[len] = '\0';
	return fnmatch(p, n, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

/* Can a name that begins with C match a pattern that begins with P?  Most cannot, and fnmatch is slow. */
static bool may_match(unsigned char p, unsigned char c)
{
	return !p || strchr("*?[/", p) || (p | c) >= 0x80 || tolower(p) == tolower(c);
}

/*
 * Compares name by name.  Bytes of PATH that the whole PATTERN matched, or 0.  PATH may end first: *RET_PARENT is then
 * set, PATH is a directory above a name of the pattern.
 */
static size_t match_from(const char *pattern, const char *path, bool *ret_parent)
{
	const char *at = path;

	*ret_parent = false;
	if (!may_match((unsigned char)*pattern, (unsigned char)*path))
		return 0;
	for (;;) {
		size_t pn = strcspn(pattern, "/"), n = strcspn(at, "/");

		if (!matches_name(pattern, pn, at, n))
			return 0;
		pattern += pn;
		at += n;
		if (!*pattern)
			return (size_t)(at - path);
		if (!*at) {
			*ret_parent = true;
			return 0;
		}
		pattern++;
		at++;
	}
}

/* *RET_PARENT: PATH is above a place of PATTERN. */
static size_t match(const char *pattern, const char *path, bool *ret_parent)
{
	bool parent;

	*ret_parent = false;
	for (const char *p = path; *p;) {
		size_t n = match_from(pattern, p, &parent);

		if (n)
			return (size_t)(p - path) + n;
		*ret_parent = *ret_parent || parent;
		p += strcspn(p, "/");
		p += *p == '/';
	}
	return 0;
}

bool review_ask_matches(const char *pattern, const char *path, size_t *ret_end)
{
	bool parent;
	size_t n = match(pattern, path, &parent);

	if (ret_end)
		*ret_end = n;
	return n > 0;
}

static bool stays_directory(const struct change *ch)
{
	return S_ISDIR(ch->new.mode) && ch->kind != CHANGE_REPLACED;
}

/* A link or a file in the place of a directory above it changes what the name means. */
static bool touches(const struct change *ch, const char *pattern)
{
	bool parent;

	return match(pattern, ch->path, &parent) > 0 || (parent && !stays_directory(ch));
}

/*
 * ALLOW takes NAME from the list, or allows the path.  A link above an allowed file is not allowed: it changes other names of its
 * directory too.
 */
static bool is_allowed(const struct change *ch, const char *name, char *const *allow)
{
	for (; allow && *allow; allow++)
		if (strcasecmp(*allow, name) == 0 || review_ask_matches(*allow, ch->path, NULL))
			return true;
	return false;
}

static const char *find(const struct change *ch, const char *const *patterns, char *const *allow)
{
	for (; patterns && *patterns; patterns++)
		if (touches(ch, *patterns) && !is_allowed(ch, *patterns, allow))
			return *patterns;
	return NULL;
}

static const char *find_alias(const struct change *ch, const struct review_gate *g)
{
	for (size_t i = 0; i < g->n_aliases; i++) {
		const struct review_alias *a = &g->aliases[i];

		if (review_is_below(ch->path, a->path) ||
		    (review_is_below(a->path, ch->path) && !stays_directory(ch)))
			return a->name;
	}
	return NULL;
}

/* The profile's own names are asked for, whatever it allows: a parent may allow and a child ask. */
static const char *find_asked(const struct change *ch, const struct review_gate *g)
{
	const char *found = find(ch, (const char *const *)g->ask, NULL);

	if (!found)
		found = find(ch, names, g->allow);
	if (!found)
		found = find_alias(ch, g);
	for (size_t i = 0; found && g->paths && g->paths[i]; i++)
		if (review_is_below(ch->path, g->paths[i]))
			found = NULL;
	return found;
}

bool review_is_deletion(const struct change *ch)
{
	return ch->picked && !ch->refused && (ch->kind == CHANGE_DELETED || ch->kind == CHANGE_REPLACED);
}

size_t review_count_deletions(const struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += review_is_deletion(&c->items[i]);
	return n;
}

void review_ask(struct changes *c, const struct review_gate *g, struct review_question *ret)
{
	struct review_question q = { .deletions = g->more + review_count_deletions(c) };

	for (size_t i = 0; i < c->n; i++) {
		struct change *ch = &c->items[i];

		ch->asks = NULL;
		if (!ch->picked || ch->refused)
			continue;
		/* A new directory has no effect; its entries have changes of their own. */
		if (ch->kind != CHANGE_ADDED || !S_ISDIR(ch->new.mode))
			ch->asks = find_asked(ch, g);
		q.names += ch->asks != NULL;
	}
	q.too_many = q.deletions > g->limit && q.deletions > g->deletions;
	*ret = q;
}
