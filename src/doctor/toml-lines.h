/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * The lines of an engine's TOML file that doctor asks about.  Deliberately no TOML parser: it knows tables, keys and the
 * strings of a value (alone or in a list over any number of lines).  Inline tables, dates and numbers are passed over;
 * the engine judges its file, this only finds our name in it.
 */
struct toml_line {
	const char *file;
	unsigned int line;
	const char *
		name; /* "engine.runtimes.crun": table and key without quotes; of a table's header, the table */
	char *const *words; /* strings of the value; NULL: a table's header, or a value without strings */
};

#define TOML_SIZE_MAX ((size_t)1024 * 1024)

/* EACH is called per line, a negative result ends.  Messages begin with "FILE:LINE: "; -ENOENT: there is no file. */
int toml_lines_read(const char *path, int (*each)(const struct toml_line *l, void *arg), void *arg,
		    struct fault *f) _must_check_;
