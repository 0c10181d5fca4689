/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/command.h"

/* `custody reset --home`: empties a kept home. */
int cmd_reset_home(struct command_call *c, struct fault *f);
