/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "ledger/ledger-reader.h"
#include "ledger/ledger-record.h"

/*
 * Records in the formats of security tools, one line each.  A line is a pure function of the record's bytes: no clock,
 * host name, or version of the program enters it, so that an export can be repeated and compared.  Every line has
 * the record's seq and h: they name the line of the ledger that proves it.
 */
enum export_format {
	EXPORT_NONE,
	EXPORT_JSONL, /* the record itself */
	EXPORT_OCSF,
	EXPORT_CEF,
	EXPORT_OTLP, /* one request of OTLP's JSON encoding per line */
	_EXPORT_FORMAT_MAX,
};

#define EXPORT_FORMATS "jsonl, ocsf, cef and otlp-json"

enum export_format export_format_parse(const char *name); /* EXPORT_NONE: unknown */

/* Appends the line with its LF.  An ENOMEM marks OUT broken. */
void export_record(enum export_format format, const struct record *r, struct strbuf *out);

struct export_options {
	enum export_format format;
	uint64_t from;					 /* seq of the first record */
	bool (*want)(void *arg, const struct record *r); /* NULL: all */
	int (*put)(void *arg, const char *text, size_t len, struct fault *f);
	void *arg;
};

struct export_result {
	uint64_t exported;
	uint64_t next;	 /* records before this one are consistent */
	const char *why; /* the record NEXT is broken or missing; NULL: consistent up to the end */
};

/*
 * Exports the records from FROM on and checks the chain on the way: format, hash, seq, prev, and the seal's end where S has a
 * seal.  Nothing is exported from the first record on that does not hold; the result says which one that is.  Segments
 * before FROM are not read.  Memory is constant.  Negative: S cannot be read, or PUT failed.
 */
int ledger_export(struct ledger_reader *s, const struct export_options *o, struct export_result *ret,
		  struct fault *f) _must_check_;
