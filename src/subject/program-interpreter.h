/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTERPRETER_HEAD 4096 /* first bytes of a program that are looked at */

/*
 * The interpreter that the kernel starts for a program whose first LEN bytes are HEAD: of its #! line, or of its ELF
 * header.  False: it has none, or its name is not in these bytes or longer than SIZE.  HEAD is untrusted.
 */
bool interpreter_parse(const char *head, size_t len, char *ret, size_t size);

/* The same of the regular file at PATH, no component of which may be a link. */
bool interpreter_read(const char *path, char *ret, size_t size);
