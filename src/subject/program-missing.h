/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "subject/subject.h"

/*
 * That S's command, which is not found inside, is outside only, and the command that shows it.  SEARCH is the caller's
 * PATH, HOME the caller's home, both may be NULL.  Files are looked at, never executed.  Heap; NULL: not known.
 */
char *subject_explain_missing(const struct subject *s, const char *search, const char *home);
