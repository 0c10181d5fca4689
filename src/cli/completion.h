/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "cli/command.h"

/* Completion scripts, generated from the command table. */
void completion_print_bash(const struct command *table, FILE *out);
void completion_print_zsh(const struct command *table, FILE *out);
void completion_print_fish(const struct command *table, FILE *out);

/* Prints the candidates of KIND in the lane LANE (NULL: the default one), one per line.  Prints nothing on failure. */
void completion_print_values(const char *kind, const char *lane, FILE *out);

/* The words of an enumeration "none|host", separated by blanks. */
void completion_print_words(const char *words, FILE *out);
