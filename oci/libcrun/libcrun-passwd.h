/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pwd.h>
#include <stddef.h>

/* PW = an entry of UID that holds only NAME (NULL: the number as text), stored in BUF.  ERANGE: BUF is too small. */
int passwd_fill(struct passwd *pw, char *buf, size_t size, uid_t uid, const char *name);
