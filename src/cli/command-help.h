/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"

/* Texts that are generated from the command table.  GROUP is the command that C is a sub-command of, or NULL. */

/* "custody show [--json] [--lane LANE] SESSION". */
void command_help_usage(struct strbuf *b, const struct command *group, const struct command *c);
/* "-m, --memory SIZE"; MARK ("**" or "") stands around names, SLANT ("*" or "") around values. */
void command_help_option(struct strbuf *b, const struct option *o, const char *mark, const char *slant);
/* Help text with the parts that the table implies: "may be repeated". */
void command_help_text(struct strbuf *b, const struct option *o);

/* Output of `custody help`, and of `custody help COMMAND`; exit status. */
int command_help_list(const struct command *table, FILE *out);
int command_help_print(const struct command *group, const struct command *c, FILE *out);

/* Sections of the manual pages, for one command with its sub-commands. */
int command_help_synopsis(const struct command *c, FILE *out);
int command_help_options(const struct command *group, const struct command *c, FILE *out);

/* The whole table; heap. */
struct jdoc *command_help_describe(const struct command *table);

/* Name of a kind of candidates: "session"; NULL for CANDIDATES_NONE. */
const char *command_candidates_name(enum candidates kind);
