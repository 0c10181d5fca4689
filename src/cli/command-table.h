/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/command.h"

/* For the rows of command-table.c and command-table-run.c only. */
#define AT(field) offsetof(struct command_call, field)

/* The commands that take the options of `run`; command-table-run.c. */
extern const struct option run_table[], shell_table[], check_table[], bundle_table[], exec_table[];
