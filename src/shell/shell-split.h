/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shell/shell-arena.h"

/*
 * Splits shell text into its simple commands, including those in substitutions, groups, loops and
 * here-documents, in textual order. Not a shell: only quotes are removed, and unknown values stay a marker in
 * the word.
 *
 * Text that sh and bash read differently, and malformed text, is refused: `why` is set, the commands found so
 * far are returned, and the caller must treat the whole text as unknown.
 */
#define SHELL_TEXT_MAX ((size_t)128 * 1024)
#define SHELL_DEPTH_MAX 40

/* Marks a value in a word that is known only at run time: a variable, a substitution, arithmetic. */
#define SHELL_UNKNOWN '\x01'

enum shell_word_flag {
	SHELL_WORD_UNKNOWN = 1 << 0, /* contains SHELL_UNKNOWN */
	SHELL_WORD_SPLIT = 1 << 1,   /* unquoted: may become no word, or several */
	SHELL_WORD_BASH = 1 << 2,    /* another word in sh: $'x', $"x", {a,b} */
};

struct shell_word {
	const char *text;
	unsigned int flags;
};

enum shell_redirect_kind {
	SHELL_REDIRECT_READ,
	SHELL_REDIRECT_WRITE,
	SHELL_REDIRECT_APPEND,
	SHELL_REDIRECT_HERE, /* word: the text that is read */
};

struct shell_redirect {
	struct shell_redirect *next;
	enum shell_redirect_kind kind;
	struct shell_word word;
};

struct shell_assignment {
	struct shell_assignment *next;
	const char *name;
	struct shell_word value;
	size_t at;   /* offset in the text; 0 in text between backquotes or of a here-document */
	bool append; /* "name+=value" */
};

/*
 * A variable, or a substitution of commands, with its place in the text: a caller may know the value and read
 * the text again with the value in its place. Only for the text itself, not for text between
 * backquotes, in a here-document or in arithmetic.
 */
struct shell_expansion {
	struct shell_expansion *next;
	size_t from, to;     /* bytes of the text, with "$" and brackets */
	const char *name;    /* variable; NULL: a substitution */
	const char *instead; /* the word of ${name:-word}, as it is spelled; NULL: none */
	unsigned int scope;  /* of the commands of a substitution */
	bool quoted;	     /* between double quotes */
	bool assigned;	     /* in the value of an assignment: not split */
};

struct shell_command {
	struct shell_command *next;
	struct shell_word *words;
	size_t n_words;
	struct shell_assignment *assignments; /* before the command's name */
	struct shell_redirect *redirects;
	bool and_then; /* runs only if the simple command before it succeeded: "cd x && rm y" */
	bool loops;    /* in the body of a loop or of a function */
	bool perhaps;  /* words that may become a command: of an array or a loop, or after "[[ a ||" in sh */
	const char *variable; /* of `perhaps`: the array or the loop's variable that gets these words */
	size_t at;	      /* offset of the first byte in the text, as in struct shell_assignment */
	unsigned int scope;   /* the same number: the same subshell or substitution */
};

struct shell {
	struct shell_command *first;
	const char *why;		    /* static; NULL: the whole text was parsed */
	struct shell_expansion *expansions; /* inner ones before the one around them */
	bool functions;			    /* it defines a function: a name may mean another command */
	bool bash_only;			    /* sh reads it as another command: a+=b, a[0]=b, [[ a > b ]] */
};

/* 0 or -ENOMEM. A syntax error is reported in RET->why. */
int shell_split(struct arena *a, const char *text, size_t len, struct shell *ret) _must_check_;
