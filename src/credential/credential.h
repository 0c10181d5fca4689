/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "credential/secret.h"
#include "ledger/ledger-redact.h"
#include "ledger/ledger.h"
#include "state/dirs.h"

/*
 * Credentials of a lane, for programs that act for a sandbox from outside of it.  None enters a sandbox, and a value is in
 * no argument, variable, message, log, record or core dump: it goes from its source to locked memory, and from there to
 * its use, which is on the record first.  docs/design/credential.md.
 */
#define CREDENTIAL_NAME_MAX 64
#define CREDENTIAL_VALUE_MIN 8 /* a shorter value cannot be found in texts without replacing other words */
#define CREDENTIAL_VALUE_MAX 16384
#define CREDENTIAL_HOSTS_MAX 32

enum credential_kind {
	CREDENTIAL_NONE,
	CREDENTIAL_VALUE,   /* in the store */
	CREDENTIAL_FILE,    /* an absolute path, read at each use */
	CREDENTIAL_SYSTEMD, /* a name in $CREDENTIALS_DIRECTORY, read at each use */
	CREDENTIAL_EXEC,    /* a program that prints a token and its expiry */
	_CREDENTIAL_KIND_MAX,
};

const char *credential_kind_name(enum credential_kind kind);

/* All that may be shown. */
struct credential_info {
	char name[CREDENTIAL_NAME_MAX + 1];
	enum credential_kind kind;
	char *source; /* path or name; NULL for CREDENTIAL_VALUE */
	char **hosts; /* NULL-terminated; NULL: none */
	enum lane lane;
	enum network_class class;
	uint64_t created_us;
	uint64_t used_us;    /* last use; 0: never */
	uint64_t expires_us; /* of the last value; 0: unknown or never */
};

void credential_info_done(struct credential_info *i);
#define _cleanup_credential_info_ _cleanup_(credential_info_done)

struct credential_list {
	struct credential_info *items;
	char **damaged; /* files that are refused, with the reason */
	size_t n;
};

void credential_list_done(struct credential_list *l);
#define _cleanup_credential_list_ _cleanup_(credential_list_done)

bool credential_name_is_valid(const char *name);
bool credential_host_is_valid(const char *host); /* a name of whole labels, or "*." and one */
/* Is HOST one of HOSTS?  Whole labels, case ignored; "*.example.org" is any name below example.org, not itself. */
bool credential_host_fits(char *const *hosts, const char *host);

/*
 * Adds or replaces I->name in the lane of D, durably and at once: a killed process leaves the old one or the new one.
 * VALUE is for CREDENTIAL_VALUE.  *RET_REPLACED: it existed.
 */
int credential_add(const struct dirs *d, const struct credential_info *i, const struct secret *value,
		   bool *ret_replaced, struct fault *f) _must_check_;
int credential_remove(const struct dirs *d, const char *name, struct fault *f) _must_check_; /* -ENOENT */
int credential_read_info(const struct dirs *d, const char *name, struct credential_info *ret,
			 struct fault *f) _must_check_;
int credential_load_list(const struct dirs *d, struct credential_list *ret, struct fault *f) _must_check_;

/* Is the source of I one that may be used?  A file or program is checked again at each use. */
int credential_check_source(const struct credential_info *i, struct fault *f) _must_check_;
/* Checks of a value that any source returned. */
int credential_check_value(const char *bytes, size_t len, struct fault *f) _must_check_;

struct credential;

/*
 * Opens NAME for a use at HOST; HOST NULL: a use that the operator's tool has bound to the credential by name.  Refused:
 * -LANE_REFUSED for another lane's or an unstamped one, -EACCES for a host that is not one of its hosts.  Its value is not
 * loaded yet.
 */
int credential_open(const struct dirs *d, const char *name, const char *host, struct credential **ret,
		    struct fault *f) _must_check_;
void credential_free(struct credential *c);
DEFINE_CLEANUP(struct credential, credential_free)
#define _cleanup_credential_ _cleanup_(credential_freep)

const struct credential_info *credential_info(const struct credential *c);

/* The value now, borrowed until the next call; a token of a program is kept for 80 % of its life. */
int credential_value(struct credential *c, const struct secret **ret, struct fault *f) _must_check_;

/* Adds all values that C has had to RULES, at most MAX in all; SECRETS is the caller's room for them. */
void credential_redact(const struct credential *c, struct redact_secret *secrets, size_t max,
		       struct redact *rules);

struct credential_use {
	const char *session, *agent, *worker; /* NULL: left out */
	const char *to;			      /* where the value goes: "api.example.org:443" */
	const char *tool;		      /* what takes it there; NULL: left out */
	/* Gets the record too, once it is in the ledger; NULL: none. */
	void (*copy)(void *arg, const struct ledger_event *e);
	void *copy_arg;
};

/* Records the use, synced, before the value goes there; the caller must not send it if this fails. */
int credential_record_use(const struct credential *c, struct ledger *l, const struct credential_use *u,
			  struct fault *f) _must_check_;
/* Records that NAME was not used, and why. */
int credential_record_refusal(const char *name, struct ledger *l, const struct credential_use *u,
			      const char *why, struct fault *f) _must_check_;
