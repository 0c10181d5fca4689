/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <limits.h>

#include "subject/subject.h"

/*
 * Is there a file that argv[0] would execute inside, by its path or through PATH?  Mounts, links of the root and links
 * in the trees are followed as inside.  False only if no such file can exist when the command starts: a question about
 * the command would then be for nothing.  Anything that cannot be read counts as present: execve decides.
 */
bool subject_has_program(const struct subject *s);

/* The same for NAME, a path or looked for in PATH.  HOST: the file on the host, no link in it; "": not known. */
bool subject_find_program(const struct subject *s, const char *name, char host[PATH_MAX]);
