/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"
#include "inspect/inspect-rule.h"
#include "ledger/ledger-redact.h"

/*
 * Looks for secrets and for dangerous changes in what leaves a sandbox: bytes in, findings out.  Pure: no file is read.
 * A finding has a rule and a place, never a byte of the secret: a place is plain ASCII, and a name in it that has a secret
 * is replaced.  docs/design/inspection.md.
 *
 * Results are in struct inspect_found, which collects over any number of calls.  A failed allocation counts as a finding.
 */
#define INSPECT_FINDINGS_MAX 16 /* that are kept; the others are counted */

struct inspect_finding {
	enum inspect_rule rule; /* inspect_rule_name() */
	char *place;		/* heap; NULL: out of memory */
};

/* All pointers are borrowed. */
struct inspect_options {
	uint64_t allow;			     /* these rules find nothing: inspect_rules_parse() */
	const struct redact_secret *secrets; /* values that are secret wherever they are, in many spellings */
	size_t n_secrets;
};

struct inspect_found {
	const struct inspect_options *options; /* NULL: all rules, no known secrets */
	struct inspect_finding items[INSPECT_FINDINGS_MAX];
	size_t n;     /* in ITEMS */
	size_t total; /* 0: nothing was found */
};
void inspect_found_done(struct inspect_found *found);
#define _cleanup_inspect_found_ _cleanup_(inspect_found_done)

/*
 * "RULE in PLACE, RULE in PLACE and 3 more", for the reply, the log and the record: heap, NULL on ENOMEM.  Returns "" when nothing
 * was found.
 */
char *inspect_found_describe(const struct inspect_found *found);
/* ["RULE in PLACE", ...]: for a record, at most INSPECT_JSON_MAX bytes.  Borrows nothing. */
#define INSPECT_JSON_MAX ((size_t)7 * 1024)
struct jdoc *inspect_found_to_json(const struct inspect_found *found);

/*
 * Any bytes: rules secret.*, proc.environ, line.long, text.large.  PLACE is shown as it is with ":LINE" behind it: it must not be text
 * of the sandbox (then: inspect_place()).
 */
void inspect_text(const char *place, const char *bytes, size_t len, struct inspect_found *found);

/*
 * Every string and every member name below D; places are JSON pointers with ":LINE" in a string of several lines.  A string that is a
 * path as a whole is inspected by the rules path.* and proc.path as well.
 */
void inspect_params(const struct jdoc *d, struct inspect_found *found);

/* A path of the change, raw bytes of LEN, relative to the top of the repository: rules path.* and secret.*. */
void inspect_path(const char *path, size_t len, struct inspect_found *found);

/* PATH for a place: printable ASCII, others as \xNN; "(path withheld)" if it has a secret.  Heap, NULL on ENOMEM. */
char *inspect_place(const char *path, size_t len, const struct inspect_options *o);

/* One line of `git diff --raw -z`: raw modes, and paths of any bytes but NUL. */
struct inspect_change {
	char status;	      /* 'A', 'M', 'D', 'R', 'C', 'T'; any other is a finding */
	const char *old_path; /* of R and C; else NULL */
	const char *path;
	uint32_t old_mode, mode; /* 0100644, 0120000 ...; 0: no such side */
	const char *oid; /* of the new side, hex; NULL: unknown.  For the caller: nothing here reads it */
};

/*
 * Rules path.* on both names, mode.*, change.*: all that a raw line says.  Of 'D' only the form of the path is checked: the change takes
 * the file away.  It says nothing about the content: call inspect_content() with each new one.
 */
void inspect_change(const struct inspect_change *c, struct inspect_found *found);

/*
 * The new content of C, whole: of a link (mode 0120000) its target, of .gitattributes the drivers that it names, and inspect_text() of
 * all.  Do not call it for a gitlink (0160000), which has none here.
 */
void inspect_content(const struct inspect_change *c, const char *bytes, size_t len,
		     struct inspect_found *found);

/*
 * For content that the caller does not load because it is larger than this: reports text.large at C.  A content that could not be
 * read is an error of the caller, not a finding.
 */
#define INSPECT_TEXT_MAX ((size_t)8 * 1024 * 1024)
void inspect_too_large(const struct inspect_change *c, struct inspect_found *found);
