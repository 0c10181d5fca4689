/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-grammar.h"

/* Private to command-grammar*.c: the position in a command and the parts that were read. */
struct grammar_reader {
	struct classifier *k;
	const struct grammar_row *row;
	const struct shell_word *w;
	size_t n, i;
	size_t operands;
	const char *object; /* the first operand of ip */
	bool ended;	    /* only operands from here on */
	bool script;	    /* an option gave the script of sed */
};

/* May W turn out to be an option when the command runs? */
bool grammar_may_be_option(const struct grammar_reader *r, const struct shell_word *w);
bool grammar_is_listed(const char *list, const char *word); /* LIST has blanks between its words */
bool grammar_is_number(const char *text);
bool grammar_kind_has_separate_value(int kind);

/* Is the operand at r->i - 1 one that the row lists? */
bool grammar_operand_is_listed(struct grammar_reader *r, const struct shell_word *w);
bool grammar_test_is_listed(const struct grammar_reader *r); /* all words of test and [ */
