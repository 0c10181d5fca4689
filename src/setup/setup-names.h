/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "setup/setup-change.h"

/* Names that setup writes to files of /etc, where other programs of root read them. */

/* PROGRAM, an absolute path without links, is of plain signs, and only root can put another program there. */
int setup_require_program(const char *program, struct fault *f) _must_check_;
/* The name is of plain signs, and no other user's uid. */
int setup_require_user(const struct setup_user *u, struct fault *f) _must_check_;
