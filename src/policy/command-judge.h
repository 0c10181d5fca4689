/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-class.h"

/* Inside of the classifier: the state of one judgement and what its parts share. */

#define JUDGE_CWDS_MAX 4
#define JUDGE_DEPTH_MAX 20
#define JUDGE_FUEL ((size_t)1 << 20) /* words and bytes looked at, all levels together */

/* Where the shell may stand.  More than fits, or a `cd` to a place that is not known: `unknown`. */
struct judge_cwds {
	const char *v[JUDGE_CWDS_MAX];
	size_t n;
	bool unknown;
};

struct judge {
	struct arena *arena;
	const struct command_place *place;
	struct command_class *class;
	struct judge_cwds cwds;
	struct judge_cwds before; /* where it stands if the `cd`s of this && list fail */
	unsigned int cd_scope;	  /* scope of the last `cd` of that list */
	bool cd_pending;
	unsigned int depth, probing; /* probing: only an unbounded delete counts */
	size_t fuel;
	bool looping; /* the command may run again */
	bool lost;    /* HOME or CDPATH is set: `cd` and `~` lead elsewhere */
	bool links; /* a link to somewhere unbounded, or a mount, was made: paths say less than they seem to */
	bool altered;				/* variables are set for the command that is judged */
	const struct shell_redirect *redirects; /* of the command that is judged */
	const struct shell_command *printed;	/* texts printed there were looked at */
	const struct shell_command *shell; /* all commands of the text that is judged, for what they print */
};

struct command;
struct command_row {
	const char *name;
	void (*judge)(struct judge *j, const struct command *c);
	enum outcome outcome;
	enum domain domain;
	unsigned int traits;
	const char *args;  /* options that take an argument: "ab long,other" */
	const char *bad;   /* options that run or write what the words do not show */
	unsigned int skip; /* operands before the command that a wrapper runs */
};

struct command {
	const struct command_row *row;
	const struct shell_word *w; /* w[0] is the program */
	size_t n;
};

/* --- command-class.c */
void judge_command(struct judge *j, const struct shell_word *w, size_t n);
void judge_shell_text(struct judge *j, const char *text, bool same_shell);
char *judge_join_words(struct judge *j, const struct shell_word *w, size_t n);

/* --- command-found.c: what is found, unless we only probe */
void judge_change(struct judge *j, enum outcome o, enum domain d);
void judge_domain(struct judge *j, enum domain d);
void judge_trait(struct judge *j, unsigned int traits);
void judge_note(struct judge *j, const char *id, const char *what, const char *why);
void judge_unknown(struct judge *j, const char *what, const char *why);
void judge_unparsable(struct judge *j, const char *what, const char *why);
void judge_unbounded(struct judge *j, const char *what, const char *why); /* counts also in a probe */
bool judge_spend(struct judge *j, size_t amount);
struct command_part *judge_part(struct judge *j, const struct shell_word *w, size_t n);

/* --- command-probe.c: is there an unbounded delete in it? */
void judge_probe_command(struct judge *j, const struct shell_word *w, size_t n);
void judge_probe_text(struct judge *j, const char *text);
void judge_probe_arguments(struct judge *j, const struct shell_word *w, size_t n);
void judge_probe_crude(struct judge *j, const char *text); /* for what is no shell text, or a broken one */
void judge_likeness(struct judge *j, const struct shell_word *w, size_t n);
void judge_nameless(struct judge *j, const struct shell_word *w, size_t n);

/* --- command-variable.c */
void judge_variable(struct judge *j, const char *name, const char *value);
void judge_environment(struct judge *j);

/* --- command-table.c */
const struct command_row *command_row_find(const char *name);
bool command_row_deletes(const struct command_row *row);   /* could a delete stand behind this name? */
const char *command_base(const char *path, bool *ret_own); /* last part; own: not from a system directory */

/* --- command-option.c */
struct word_iter {
	const struct shell_word *w;
	size_t n, i;
	const char *cluster;
	const char *args;
	bool posix;	    /* the first operand ends the options */
	bool ended, dashes; /* dashes: by "--" */
};
struct word_read {
	char c;		  /* short */
	const char *name; /* long, without dashes */
	size_t len;
	const char *value; /* NULL: none */
	const char *word;  /* operand */
	size_t at;	   /* index of its word */
};
void words_init(struct word_iter *o, const struct command *c, bool posix);
bool words_next(struct word_iter *o, struct word_read *ret);
bool word_is_option(const struct word_read *o,
		    const char *list); /* "ab long,other"; long ones also abbreviated */
bool word_is_operand(const struct word_read *o);

/* --- command-path.c: lexical, nothing is looked up */
bool text_is_unknown(const char *text);
char *judge_join(struct judge *j, const char *base, const char *text, bool *ret_up);
const char *judge_expand_home(struct judge *j, const char *text);
bool path_is_unbounded(struct judge *j, const char *text, const char **ret_why);
bool pattern_is_any(const char *text, size_t len); /* has a character of a pattern */
bool pattern_is_broad(const char *text, size_t len);
void judge_write(struct judge *j, const char *text, enum outcome o);
void judge_delete(struct judge *j, const char *program, const char *text);

/* --- command-cwd.c */
void judge_cd(struct judge *j, const struct command *c);
void judge_popd(struct judge *j, const struct command *c);
void judge_chdir(struct judge *j, const char *dir); /* for the command that is judged; the caller restores */
void judge_settle(struct judge *j, const struct shell_command *next);

/* --- command-net.c */
enum domain host_domain(const struct judge *j, const char *host, size_t len);
enum domain url_domain(const struct judge *j, const char *text); /* DOMAIN_WORKSPACE: no host in it */
void judge_curl(struct judge *j, const struct command *c);
void judge_wget(struct judge *j, const struct command *c);
void judge_ssh(struct judge *j, const struct command *c);
void judge_copy_remote(struct judge *j, const struct command *c);
void judge_rsync(struct judge *j, const struct command *c);
void judge_hosts(struct judge *j, const struct command *c);

/* --- command-wrap.c */
void judge_wrapper(struct judge *j, const struct command *c);
void judge_env(struct judge *j, const struct command *c);
void judge_su(struct judge *j, const struct command *c);
void judge_xargs(struct judge *j, const struct command *c);
void judge_eval(struct judge *j, const struct command *c);
void judge_command_builtin(struct judge *j, const struct command *c);
void judge_hash(struct judge *j, const struct command *c);
void judge_alias(struct judge *j, const struct command *c);
void judge_trap(struct judge *j, const struct command *c);
void judge_busybox(struct judge *j, const struct command *c);
void judge_export(struct judge *j, const struct command *c);
void judge_set(struct judge *j, const struct command *c);

/* --- command-code.c */
void judge_shell(struct judge *j, const struct command *c);
void judge_foreign_shell(struct judge *j, const struct command *c);
void judge_at(struct judge *j, const struct command *c);
void judge_printed(struct judge *j); /* text that is printed here may be what a shell reads there */
void judge_code(struct judge *j, const struct command *c);
void judge_awk(struct judge *j, const struct command *c);
void judge_sed(struct judge *j, const struct command *c);

/* --- command-delete.c */
void judge_rm(struct judge *j, const struct command *c);
void judge_find(struct judge *j, const struct command *c);

/* --- command-file.c */
void judge_read(struct judge *j, const struct command *c);
void judge_fixed(struct judge *j, const struct command *c);
void judge_operands(struct judge *j, const struct command *c);
void judge_mode(struct judge *j, const struct command *c);
void judge_copy(struct judge *j, const struct command *c);
void judge_dd(struct judge *j, const struct command *c);
void judge_tar(struct judge *j, const struct command *c);

/* --- command-git.c */
void judge_git(struct judge *j, const struct command *c);

/* --- command-sub.c */
void judge_sub(struct judge *j, const struct command *c);
