/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger.h"

/*
 * A session's own chain, audit.ndjson: seq from 0, prev 64 zeros, no seal. One writer, the session's warden.
 * The lane's session.end records its last hash, so it can be copied with the evidence and still be verified.
 */
#define AUDIT_NAME "audit.ndjson"

struct audit;

/* Creates NAME in DIRFD; -EEXIST if it exists. */
int audit_open(int dirfd, const char *name, struct audit **ret, struct fault *f) _must_check_;
int audit_append(struct audit *a, const struct ledger_event *e,
		 struct fault *f) _must_check_; /* not synced */
struct redact;
void audit_set_redact(struct audit *a, const struct redact *rules); /* as ledger_set_redact */
struct ledger_mark audit_mark(const struct audit *a);
/* The last complete record of a chain that another process wrote. -ENODATA: none. */
int audit_read_mark(int dirfd, const char *name, struct ledger_mark *ret) _must_check_;
/* "audit": {"head", "records"} of D: where the chain ends. */
void audit_put_mark(struct jdoc *d, const struct ledger_mark *mark);
void audit_free(struct audit *a);
DEFINE_CLEANUP(struct audit, audit_free)
#define _cleanup_audit_ _cleanup_(audit_freep)
