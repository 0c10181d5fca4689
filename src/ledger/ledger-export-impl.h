/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-export.h"

/* Private to the export: what a kind means, and the parts of a record that several formats need. */
enum export_severity { /* numbers of OCSF */
		       SEVERITY_INFO = 1,
		       SEVERITY_LOW,
		       SEVERITY_MEDIUM,
		       SEVERITY_HIGH,
		       SEVERITY_CRITICAL,
};

enum export_class { /* class_uid of OCSF */
		    CLASS_BASE = 0,
		    CLASS_PROCESS = 1007,
		    CLASS_FINDING = 2004,
		    CLASS_AUTHENTICATION = 3002,
		    CLASS_ENTITY = 3004,
		    CLASS_API = 6003,
};

#define ACTIVITY_OTHER 99

struct export_kind {
	const char *kind; /* NULL: any other */
	const char *name; /* NULL: the kind */
	enum export_class class;
	unsigned int activity;
	enum export_severity done, failed; /* by status */
	const char *entity;		   /* the managed thing; NULL for other classes */
	const char *id;			   /* member of d that names it; NULL: the session */
};

enum export_outcome { /* status_id of OCSF */
		      OUTCOME_SUCCESS = 1,
		      OUTCOME_FAILURE = 2,
		      OUTCOME_OTHER = 99,
};

extern const struct export_kind export_kinds[]; /* ends with the row of any other kind */
const struct export_kind *export_kind_of(const struct record *r);
enum export_outcome export_outcome_of(const struct record *r);
enum export_severity export_severity_of(const struct export_kind *k, enum export_outcome o);

uint64_t export_time_us(const struct record *r); /* since 1970; 0 for an earlier time */

/* Content of a JSON string (escaped, without quotes) as UTF-8; what no text may contain becomes U+FFFD. */
void export_put_decoded(struct strbuf *b, const char *at, size_t len);

/* ,"NAME":"VALUE" of the content of a JSON string; nothing if it is empty or missing. */
void export_put_member(struct strbuf *b, const char *name, struct span value);

/* Like record_get, without the quotes; `at` is NULL unless it is a string. */
struct span export_get_text(const struct record *r, const char *key);

/* d.command as one line for a shell, as content of a JSON string; nothing without a command. */
void export_put_command(struct strbuf *b, const struct record *r);

void export_put_ocsf(const struct record *r, struct strbuf *b);
void export_put_cef(const struct record *r, struct strbuf *b);
void export_put_otlp(const struct record *r, struct strbuf *b);
