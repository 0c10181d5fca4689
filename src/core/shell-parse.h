/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/shell-split.h"

/*
 * Inside of shell-split: one text being read.  Functions return 0, -EBADMSG (not understood, `why` says what),
 * -E2BIG (past a limit) or -ENOMEM.
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
	struct shell_command **tail;
	struct shell_heredoc *heredocs; /* announced on this line, read after it */
	const char *why;
	unsigned int depth, loops, scope, scopes;
	bool no_newline; /* a here-document of an outer level waits: shells disagree where it begins */
};

struct shell_words {
	struct shell_word *v;
	size_t n, room;
};

int shell_bad(struct shell_parse *x, const char *why);
int shell_enter(struct shell_parse *x);
void shell_leave(struct shell_parse *x);

/* Commands up to a ')' that is left alone, or the end.  In shell-split.c; words call it for substitutions. */
int shell_list(struct shell_parse *x);

bool shell_is_end(char c); /* ends an unquoted word */
int shell_read_word(struct shell_parse *x, struct shell_words *out, bool assignment);
int shell_read_arithmetic(struct shell_parse *x);  /* after "((", through "))" */
int shell_read_parenthesis(struct shell_parse *x); /* after "$(" or "<(", through ")" */
int shell_read_delimiter(struct shell_parse *x, const char **ret, bool *ret_quoted);
int shell_read_heredocs(struct shell_parse *x); /* after the newline */
