/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "shell/shell-split.h"

/*
 * Private to shell-split: the parser's state. Functions return 0, -EBADMSG (syntax error, reason in `why`),
 * -E2BIG (limit reached) or -ENOMEM.
 */
struct shell_heredoc {
	struct shell_heredoc *next;
	struct shell_redirect *redirect;
	const char *delimiter;
	bool quoted, tabs;
};

struct shell_parse {
	struct arena *arena;
	const char *at, *end;
	const char *base; /* start of the text; NULL: offsets in it are not known */
	struct shell_command **tail;
	struct shell_expansion **expansions;
	bool assigning;			/* in the value of an assignment */
	struct shell_heredoc *heredocs; /* here-documents of this line, read after it */
	const char *why;
	unsigned int depth, loops, scope, scopes;
	bool functions;	 /* one was defined */
	bool bash_only;	 /* see struct shell */
	bool no_newline; /* a here-document of an outer level is pending: shells disagree where it begins */
};

struct shell_words {
	struct shell_word *v;
	size_t n, room;
};

/* A word being built. */
struct shell_text {
	char *bytes;
	size_t len, room;
	unsigned int flags;
};

/* Markers for unquoted braces and $IFS until the word is complete. */
#define SHELL_BRACE_OPEN '\x02'
#define SHELL_BRACE_COMMA '\x03'
#define SHELL_BRACE_CLOSE '\x04'
#define SHELL_FIELD_BREAK '\x05'

/* --- shell-scan.c: position */
int shell_fail(struct shell_parse *x, const char *why);
int shell_enter(struct shell_parse *x);
void shell_leave(struct shell_parse *x);
char shell_peek(const struct shell_parse *x, size_t ahead);
void shell_skip_blanks(struct shell_parse *x);
int shell_skip_lines(struct shell_parse *x);
size_t
shell_plain_length(const struct shell_parse *x); /* of the unquoted plain word at the position, else 0 */
bool shell_is_word(const struct shell_parse *x, const char *word);
bool shell_take_word(struct shell_parse *x, const char *word);
int shell_require_word(struct shell_parse *x, const char *word, const char *why);

size_t shell_offset(const struct shell_parse *x); /* 0 if not known */

/* --- shell-split.c: lists */
int shell_list(struct shell_parse *x); /* up to a closing word or ')', not consumed, or the end */
int shell_read_process(struct shell_parse *x, bool and_then, bool *ret_simple);

/* --- shell-compound.c */
int shell_read_keyword(struct shell_parse *x); /* 1: a compound command was read; 0: none begins here */
int shell_read_condition(struct shell_parse *x);
bool shell_at_function(const struct shell_parse *x);
int shell_read_function(struct shell_parse *x);

/* --- shell-simple.c */
int shell_new_command(struct shell_parse *x, struct shell_command **ret);
void shell_emit(struct shell_parse *x, struct shell_command *c, const struct shell_words *w);
int shell_emit_perhaps(struct shell_parse *x, const struct shell_words *w, const char *variable);
bool shell_at_process(const struct shell_parse *x); /* "<(" or ">(" */
size_t shell_assignment_length(const struct shell_parse *x, size_t *ret_name);
int shell_read_simple(struct shell_parse *x, bool and_then);
int shell_read_tail(struct shell_parse *x); /* redirections after a compound command */

/* --- shell-word.c */
bool shell_is_end(char c); /* ends an unquoted word */
int shell_read_word(struct shell_parse *x, struct shell_words *out, bool assignment);
int shell_add(struct shell_parse *x, struct shell_text *t, char c);
int shell_add_literal(struct shell_parse *x, struct shell_text *t, char c);
int shell_add_unknown(struct shell_parse *x, struct shell_text *t, bool quoted);
int shell_check_newline(struct shell_parse *x); /* inside a word */

/* --- shell-quote.c: each begins at its quote */
int shell_read_single(struct shell_parse *x, struct shell_text *t);
int shell_read_double(struct shell_parse *x, struct shell_text *t);
int shell_read_ansi(struct shell_parse *x, struct shell_text *t); /* after "$'" */

/* --- shell-expand.c */
int shell_read_dollar(struct shell_parse *x, struct shell_text *t, bool quoted);
int shell_read_backquote(struct shell_parse *x, bool quoted);
int shell_read_arithmetic(struct shell_parse *x);  /* after "((", through "))" */
int shell_read_parenthesis(struct shell_parse *x); /* after "$(" or "<(", through ")" */

/* --- shell-field.c: one text becomes words */
int shell_push_word(struct shell_parse *x, struct shell_words *out, const char *text, unsigned int flags);
int shell_push_fields(struct shell_parse *x, struct shell_words *out, struct shell_text *t, bool assignment);

/* --- shell-heredoc.c */
int shell_read_delimiter(struct shell_parse *x, const char **ret, bool *ret_quoted);
int shell_read_heredocs(struct shell_parse *x); /* after the newline */
