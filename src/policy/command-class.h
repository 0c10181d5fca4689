/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/policy.h"
#include "shell/shell-split.h"

/*
 * Class of a command line, from its words alone: wrappers are unwrapped, shell text is split, every part is
 * classified, the worst value of each axis counts. Pure, linear in the length of the words, bounded in
 * memory. Its limits are listed in docs/design/governance.md.
 */
enum command_trait {
	COMMAND_UNBOUNDED = 1 << 0,  /* the words spell a delete without a bound */
	COMMAND_UNPARSABLE = 1 << 1, /* shell text that cannot be parsed */
	COMMAND_UNKNOWN = 1 << 2,    /* an unknown program, code or target */
	COMMAND_RUNS = 1 << 3,	     /* may run other programs */
	COMMAND_NETWORK = 1 << 4,
	COMMAND_FETCHES = 1 << 5, /* downloads text or files */
	COMMAND_CHANGES = 1 << 6, /* not read-only */
	COMMAND_UNKNOWN_DELETE =
		1 << 7,		    /* names of deleted files are not known: unbounded unless ephemeral */
	COMMAND_EVALUATES = 1 << 8, /* the shell evaluates a value as code, or obeys a variable that is set */
};

/* Where the command would run, and the paths and hosts that belong to it. */
struct command_place {
	const char *cwd, *home, *worktree, *worktree_host; /* NULL: not known */
	const struct policy_mount *rw;
	size_t n_rw;
	char *const *trusted_hosts;
	char *const *env;
	bool git_is_plain;    /* at the root of the worktree */
	const char *replaced; /* see struct policy_facts */
};

struct command_finding {
	const char *id;	  /* static */
	const char *what; /* words of the command, in the arena */
	const char *why;  /* static */
};

#define COMMAND_FINDINGS_MAX 12

/* One simple command of the command line, for the operator's rules. */
struct command_part {
	struct command_part *next;
	const struct shell_word *words;
	size_t n_words;
	size_t n_global; /* options between the program and its subcommand: "git -C x push" */
	bool clear; /* only wraps other parts (sh -c, nice, env without options); needs no rule of its own */
	bool altered; /* variables are set for it, or a path outside the system directories: an allowing rule does not match */
};

struct command_class {
	enum outcome outcome; /* of the known parts; unknown parts are in `traits` */
	enum domain domain;
	unsigned int traits;
	struct command_finding findings[COMMAND_FINDINGS_MAX]; /* one per id */
	size_t n_findings;
	struct command_part *parts, **parts_tail;
};

/* 0 or -ENOMEM.  Borrows from ARGV and the arena. */
int command_classify(struct arena *a, const struct command_place *place, char *const *argv,
		     struct command_class *ret) _must_check_;

/* Does the program at PATH run code or programs that its arguments name: a shell, an interpreter, a wrapper, a build tool? */
bool command_runs_arguments(const char *path);

/* Does PATTERN ("example.org") match HOST by whole labels? */
bool command_host_matches(const char *host, size_t len, const char *pattern);
