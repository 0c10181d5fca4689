/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * The lines of an engine's TOML file that doctor needs.  Deliberately not a TOML parser: it reads tables, keys and the strings
 * of a value (alone or in a list over any number of lines).  Inline tables, dates and numbers are skipped; the engine
 * validates its file, this only finds our name in it.
 */
struct toml_line {
	const char *file;
	unsigned int line;
	const char *
		name; /* "engine.runtimes.crun": table and key without quotes; for a table header, the table */
	char *const *words; /* strings of the value; NULL: a table header, or a value without strings */
};

#define TOML_SIZE_MAX ((size_t)1024 * 1024)

/* Calls EACH per line until it returns a negative result.  Messages begin with "FILE:LINE: "; -ENOENT: missing file. */
int toml_lines_read(const char *path, int (*each)(const struct toml_line *l, void *arg), void *arg,
		    struct fault *f) _must_check_;
