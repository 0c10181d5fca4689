/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "subject/subject.h"

/*
 * Why S's command is not found inside, and the command that shows it: the file is outside only, or the
 * interpreter of its #! line or ELF header is missing.  SEARCH is the caller's PATH, HOME the caller's home, both may be
 * NULL.  Files are looked at, never executed.  Heap; NULL: not known.
 */
char *subject_explain_missing(const struct subject *s, const char *search, const char *home);
