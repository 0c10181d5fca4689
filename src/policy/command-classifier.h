/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-class.h"

/* Private to the classifier: the state of one classification, and functions that its files share. */

#define CLASSIFIER_CWDS_MAX 4
#define CLASSIFIER_DEPTH_MAX 20
#define CLASSIFIER_FUEL ((size_t)1 << 20) /* words and bytes examined, all levels together */

/* Possible working directories of the shell. Too many, or a `cd` to an unknown directory: `unknown`. */
struct classifier_cwds {
	const char *v[CLASSIFIER_CWDS_MAX];
	size_t n;
	bool unknown;
	bool climbed; /* through "..", which leads elsewhere behind a link */
};

/* State of one shell process.  Text that another shell runs cannot change it. */
struct classifier_shell {
	struct classifier_cwds cwds;
	struct classifier_cwds before; /* directories if the `cd`s of this && list fail */
	unsigned int cd_scope;	       /* scope of the last `cd` of that list */
	bool cd_pending;
	bool lost;    /* HOME or CDPATH is set: `cd` and `~` cannot be resolved */
	bool renamed; /* functions are defined: one may be called `cd` */
};

/* State of the shell text that is being read; at its end the state of the text around it is restored. */
struct classifier_text {
	const struct shell_command *commands;	/* all of this text */
	const struct shell_redirect *redirects; /* of the current command */
	unsigned int depth;
	bool looping; /* the command may run again */
	bool altered; /* variables are set for the current command */
	bool named;   /* the current command is the rm of "cd NAME && rm ..." */
	bool bash;    /* bash reads it; else a shell that may not know bash's extensions */
	bool moves;   /* a command of this text changes the working directory */
};

/* A value that the words give to a variable. */
struct classifier_value {
	const struct classifier_value *next;
	const char *name, *text;
	const struct shell_command *commands; /* text that assigns it */
	size_t at;			      /* offset in that text */
};

/* A new field belongs to TEXT or SHELL, unless it counts for the whole command. */
struct classifier {
	struct arena *arena;
	const struct command_place *place;
	struct command_class *class;
	size_t fuel;
	unsigned int probing; /* only an unbounded delete counts */
	bool links; /* the command created a mount or a link to an unbounded path: paths may lead elsewhere */
	bool mounts;  /* the command mounted something: every name may be a mount point */
	bool strange; /* a command so far may have changed what `cd NAME` means: links, functions, options */
	unsigned int gits; /* commands of git */
	bool git_indexes;  /* one of them may put a repository inside the worktree into the index */
	const struct shell_command *printed; /* texts that these commands print were read */
	const struct classifier_value *values;
	size_t n_values;
	const struct shell_word *params; /* $0, $1 ... of the text of a `sh -c` */
	size_t n_params;
	unsigned int filled; /* nested texts that were read again with values in them */
	struct classifier_shell shell;
	struct classifier_text text;
};

struct simple_command;
struct command_row {
	const char *name;
	void (*judge)(struct classifier *k, const struct simple_command *c);
	enum outcome outcome;
	enum domain domain;
	unsigned int traits;
	const char *args;  /* options that take an argument, for the judge: "ab long,other" */
	const char *bad;   /* options that run programs */
	unsigned int skip; /* operands before the command that a wrapper runs */
};

struct simple_command {
	const struct command_row *row;
	const struct shell_word *w; /* w[0] is the program */
	size_t n;
};

/* How much a path, a pattern or a pathspec may name. */
enum command_reach {
	REACH_NAMED,   /* bounded by a name */
	REACH_UNKNOWN, /* known only at run time */
	REACH_WHOLE,   /* a root, a home, the worktree, everything in a directory */
};

/* --- command-class.c */
void classifier_read_command(struct classifier *k, const struct shell_word *w, size_t n);
void classifier_read_text(struct classifier *k, const char *text, bool same_shell);
char *classifier_join_words(struct classifier *k, const struct shell_word *w, size_t n);

/* --- command-found.c: record a finding, unless probing */
void classifier_add_change(struct classifier *k, enum outcome o, enum domain d);
void classifier_add_domain(struct classifier *k, enum domain d);
void classifier_add_traits(struct classifier *k, unsigned int traits);
void classifier_add_finding(struct classifier *k, const char *id, const char *what, const char *why);
void classifier_add_unknown(struct classifier *k, const char *what, const char *why);
void classifier_add_unlisted(struct classifier *k, const struct command_row *row, const char *what);
void classifier_add_unparsable(struct classifier *k, const char *what, const char *why);
void classifier_add_unbounded(struct classifier *k, const char *what,
			      const char *why); /* counts also in a probe */
void classifier_add_unknown_delete(struct classifier *k, const char *what,
				   const char *why); /* counts also in a probe */
void classifier_add_reach(struct classifier *k, enum command_reach reach, const char *what, const char *why);
bool classifier_spend(struct classifier *k, size_t amount);
struct command_part *classifier_add_part(struct classifier *k, const struct shell_word *w, size_t n);

/* --- command-probe.c: search for an unbounded delete */
void classifier_probe_command(struct classifier *k, const struct shell_word *w, size_t n);
void classifier_probe_text(struct classifier *k, const char *text);
void classifier_probe_arguments(struct classifier *k, const struct shell_word *w, size_t n);
void classifier_probe_raw(struct classifier *k,
			  const char *text); /* for text that is not shell, or malformed */
void classifier_probe_lookalike(struct classifier *k, const struct shell_word *w, size_t n);
void classifier_probe_unnamed(struct classifier *k, const struct shell_word *w, size_t n);

/* --- command-value.c: values that the words show */
char *classifier_printed_text(struct classifier *k,
			      const struct shell_command *c); /* NULL: prints nothing known */
void classifier_collect_values(struct classifier *k, const struct shell *parsed);
void classifier_probe_values(struct classifier *k, const char *text, const struct shell *parsed);

/* --- command-variable.c */
void classifier_read_variable(struct classifier *k, const char *name,
			      const char *value); /* a program gets it */
void classifier_read_local(struct classifier *k, const char *name,
			   const char *value);					  /* only the shell does */
bool classifier_variable_is_obeyed(const struct classifier *k, const char *name); /* by the shell */
bool classifier_variable_is_harmless(const char *name); /* for programs, with any value */
void classifier_read_environment(struct classifier *k);

/* --- command-expansion.c */
void classifier_read_expansions(struct classifier *k, const char *text);

/* --- command-table.c */
const struct command_row *command_row_find(const char *name);
bool command_row_deletes(const struct command_row *row);	/* can this program delete files? */
bool command_row_runs_arguments(const struct command_row *row); /* shells, interpreters, wrappers */
bool command_row_reads(const struct command_row *row); /* changes nothing if its grammar lists all words */
bool command_row_says_version(const struct command_row *row); /* --version and --help run nothing */
const char *command_base(const char *path, bool *ret_own); /* last part; own: not from a system directory */

/* --- command-option.c */
struct option_iter {
	const struct shell_word *w;
	size_t n, i;
	const char *cluster;
	const char *args;
	bool posix;	    /* the first operand ends the options */
	bool ended, dashes; /* dashes: by "--" */
};
struct option_word {
	char c;		  /* short */
	const char *name; /* long, without dashes */
	size_t len;
	const char *value; /* NULL: none */
	const char *word;  /* operand */
	size_t at;	   /* index of its word */
};
void option_iter_init(struct option_iter *o, const struct simple_command *c, bool posix);
bool option_iter_next(struct option_iter *o, struct option_word *ret);
bool option_word_is(const struct option_word *o,
		    const char *list); /* "ab long,other"; long ones also abbreviated */
bool option_word_is_operand(const struct option_word *o);

/* --- command-path.c: lexical, no file is accessed */
bool command_text_is_unknown(const char *text);
char *classifier_join_path(struct classifier *k, const char *base, const char *text, bool *ret_up);
const char *classifier_expand_home(struct classifier *k, const char *text);
enum command_reach classifier_path_reach(struct classifier *k, const char *text, const char **ret_why);
bool classifier_path_is_unbounded(struct classifier *k, const char *text,
				  const char **ret_why);   /* not bounded by a name */
bool command_pattern_is_any(const char *text, size_t len); /* has a character of a pattern */
bool command_pattern_is_broad(const char *text, size_t len);
bool command_is_harmless_device(const char *path); /* /dev/null, /dev/stdout ... */
void classifier_add_write(struct classifier *k, const char *text, enum outcome o);
void classifier_add_system_write(struct classifier *k, const char *text); /* only if it is a system path */
void classifier_add_delete(struct classifier *k, const char *program, const char *text);

/* --- command-cwd.c */
void command_judge_cd(struct classifier *k, const struct simple_command *c);
bool classifier_cwds_equal(const struct classifier_cwds *a, const struct classifier_cwds *b);
void command_judge_popd(struct classifier *k, const struct simple_command *c);
void classifier_chdir(struct classifier *k,
		      const char *dir); /* for the current command; the caller restores */
/* Does "*" after `cd NAME &&` mean the contents of NAME? */
bool classifier_is_in_named_directory(const struct classifier *k, const char *text);
bool classifier_cd_names(const struct classifier *k, const struct shell_command *before,
			 const struct shell_command *c);
bool command_is_tame(const struct shell_word *w, size_t n);
void classifier_settle_cd(struct classifier *k, const struct shell_command *next);

/* --- command-net.c */
enum domain command_host_domain(const struct classifier *k, const char *host, size_t len);
enum domain command_url_domain(const struct classifier *k,
			       const char *text); /* DOMAIN_WORKSPACE: no host in it */
void command_judge_curl(struct classifier *k, const struct simple_command *c);
void command_judge_wget(struct classifier *k, const struct simple_command *c);
void command_judge_ssh(struct classifier *k, const struct simple_command *c);
void command_judge_copy_remote(struct classifier *k, const struct simple_command *c);
void command_judge_rsync(struct classifier *k, const struct simple_command *c);
void command_judge_hosts(struct classifier *k, const struct simple_command *c);

/* --- command-builtin.c */
void command_judge_hash(struct classifier *k, const struct simple_command *c);
void command_judge_alias(struct classifier *k, const struct simple_command *c);
void command_judge_trap(struct classifier *k, const struct simple_command *c);

/* --- command-wrap.c */
const char *classifier_replace(struct classifier *k, const char *text, const char *token, const char *value);
void classifier_probe_inputs(struct classifier *k, const struct shell_word *w, size_t n, const char *token);
void command_judge_wrapper(struct classifier *k, const struct simple_command *c);
void command_judge_env(struct classifier *k, const struct simple_command *c);
void command_judge_su(struct classifier *k, const struct simple_command *c);
void command_judge_xargs(struct classifier *k, const struct simple_command *c);
void command_judge_eval(struct classifier *k, const struct simple_command *c);
void command_judge_builtin(struct classifier *k, const struct simple_command *c);
void command_judge_busybox(struct classifier *k, const struct simple_command *c);
void command_judge_export(struct classifier *k, const struct simple_command *c);
void command_judge_set(struct classifier *k, const struct simple_command *c);

/* --- command-code.c */
void command_judge_shell(struct classifier *k, const struct simple_command *c);
void command_judge_foreign_shell(struct classifier *k, const struct simple_command *c);
void command_judge_at(struct classifier *k, const struct simple_command *c);
void classifier_read_printed(
	struct classifier *k); /* text printed by one command may be the input of a shell */
void command_judge_code(struct classifier *k, const struct simple_command *c);
void command_judge_awk(struct classifier *k, const struct simple_command *c);
void command_judge_sed(struct classifier *k, const struct simple_command *c);

/* --- command-start.c, command-remove.c: programs that start or delete what their words name */
void classifier_probe_started(struct classifier *k, const char *name, const struct shell_word *w, size_t n);
void classifier_probe_removals(struct classifier *k, const char *name, const struct shell_word *w, size_t n);

bool command_is_option(const struct shell_word *w, size_t n, size_t i, const char *list,
		       const char **ret_value);

/* --- command-system.c: acts on the system by abbreviation or output option */
void classifier_read_system(struct classifier *k, const char *name, const struct shell_word *w, size_t n);

/* --- command-delete.c */
void command_judge_rm(struct classifier *k, const struct simple_command *c);
void command_judge_find(struct classifier *k, const struct simple_command *c);

/* --- command-file.c */
void command_judge_read(struct classifier *k, const struct simple_command *c);
void command_judge_fixed(struct classifier *k, const struct simple_command *c);
void command_judge_operands(struct classifier *k, const struct simple_command *c);
void command_judge_mode(struct classifier *k, const struct simple_command *c);
void command_judge_copy(struct classifier *k, const struct simple_command *c);
void command_judge_dd(struct classifier *k, const struct simple_command *c);
void command_judge_tar(struct classifier *k, const struct simple_command *c);

/* --- command-git.c */
void command_judge_git(struct classifier *k, const struct simple_command *c);

/* --- command-sub.c */
void command_judge_sub(struct classifier *k, const struct simple_command *c);
