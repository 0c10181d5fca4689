/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/credential.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "credential/credential-impl.h"

#define SEEN_MAX 8 /* values that are still redacted after newer ones */

struct credential {
	struct credential_info info;
	struct dirs dirs;	       /* only lane and state are set; STATE is owned */
	struct secret *seen[SEEN_MAX]; /* the newest first */
	size_t n_seen;
	uint64_t refresh_ns; /* CLOCK_BOOTTIME; 0: load at each call */
};

void credential_free(struct credential *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_seen; i++)
		secret_free(c->seen[i]);
	credential_info_done(&c->info);
	free(c->dirs.state);
	free(c);
}

static int require_host(const struct credential_info *i, const char *host, struct fault *f)
{
	if (!host || credential_host_fits(i->hosts, host))
		return 0;
	return fault_set(
		f, EACCES,
		"credential '%s' is not for host '%s': custody credential add %s --host HOST says for which",
		i->name, host, i->name);
}

int credential_open(const struct dirs *d, const char *name, const char *host, struct credential **ret,
		    struct fault *f)
{
	_cleanup_credential_ struct credential *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return fault_errno(f, ENOMEM, "credential");
	c->dirs.lane = d->lane;
	c->dirs.state = strdup(d->state);
	if (!c->dirs.state)
		return fault_errno(f, ENOMEM, "credential");
	r = credential_read_info(d, name, &c->info, f);
	if (r == 0)
		r = require_host(&c->info, host, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

const struct credential_info *credential_info(const struct credential *c)
{
	return &c->info;
}

/* S becomes the value; the oldest one is forgotten. */
static void take_value(struct credential *c, struct secret *s)
{
	if (c->n_seen == SEEN_MAX)
		secret_free(c->seen[--c->n_seen]);
	memmove(c->seen + 1, c->seen, c->n_seen * sizeof(*c->seen));
	c->seen[0] = s;
	c->n_seen++;
}

static bool is_same(const struct secret *a, const struct secret *b)
{
	return secret_len(a) == secret_len(b) && memcmp(secret_bytes(a), secret_bytes(b), secret_len(a)) == 0;
}

/* 80 % of it.  The product cannot overflow. */
uint64_t credential_keep_ns(uint64_t left_us)
{
	const uint64_t max_us = (uint64_t)CREDENTIAL_KEEP_MAX_S * 1000000, keep_us = left_us / 10 * 8;

	return (keep_us < max_us ? keep_us : max_us) * 1000;
}

static int keep_until(struct credential *c, uint64_t expires_us, uint64_t asked_us, struct fault *f)
{
	uint64_t keep_ns = (uint64_t)CREDENTIAL_KEEP_S * 1000000000;

	if (expires_us > 0 && expires_us <= asked_us)
		return fault_set(f, EKEYEXPIRED, "credential '%s': its program returned an expired token",
				 c->info.name);
	if (expires_us > 0)
		keep_ns = credential_keep_ns(expires_us - asked_us);
	c->info.expires_us = expires_us;
	c->refresh_ns = clock_boot_ns() + keep_ns;
	return 0;
}

int credential_value(struct credential *c, const struct secret **ret, struct fault *f)
{
	struct credential_loaded l = { 0 };
	uint64_t asked_us = clock_wall_us();
	int r;

	if (c->n_seen > 0 && c->refresh_ns > clock_boot_ns()) {
		*ret = c->seen[0];
		return 0;
	}
	c->refresh_ns = 0;
	r = credential_load(&c->dirs, &c->info, &l, f);
	if (r == 0 && c->info.kind == CREDENTIAL_EXEC)
		r = keep_until(c, l.expires_us, asked_us, f);
	if (r == 0)
		r = secret_hide(l.value, f);
	if (r < 0) {
		secret_free(l.value);
		return r;
	}
	if (c->n_seen > 0 && is_same(c->seen[0], l.value))
		secret_free(l.value);
	else
		take_value(c, l.value);
	*ret = c->seen[0];
	return 0;
}

void credential_redact(const struct credential *c, struct redact_secret *secrets, size_t max,
		       struct redact *rules)
{
	for (size_t i = 0; i < c->n_seen && rules->n_secrets < max; i++)
		secrets[rules->n_secrets++] =
			(struct redact_secret){ secret_bytes(c->seen[i]), secret_len(c->seen[i]) };
	rules->secrets = secrets;
}

static int put_record(const char *kind, const char *status, struct ledger *l, const struct credential_use *u,
		      struct jdoc *d, struct fault *f)
{
	const struct ledger_event e = { .kind = kind,
					.session = u->session,
					.agent = u->agent,
					.worker = u->worker,
					.status = status,
					.d = d };
	int r;

	if (u->to)
		jdoc_set(d, "to", ledger_text(u->to));
	if (u->tool)
		jdoc_set(d, "tool", ledger_text(u->tool));
	r = ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, f);
	if (r == 0 && u->copy)
		u->copy(u->copy_arg, &e);
	return r;
}

int credential_record_use(const struct credential *c, struct ledger *l, const struct credential_use *u,
			  struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_close_ int dirfd = -EBADF;
	char expires[CLOCK_TEXT_SIZE];
	int r;

	jdoc_set_string(d, "name", c->info.name);
	jdoc_set_string(d, "source", credential_kind_name(c->info.kind));
	jdoc_set_string(d, "class", network_class_name(c->info.class));
	if (c->info.expires_us > 0) {
		clock_format(c->info.expires_us, expires);
		jdoc_set_string(d, "expires", expires);
	}
	r = put_record("credential.use", NULL, l, u, d, f);
	if (r < 0)
		return fault_wrap(f, r, "credential '%s' was not used", c->info.name);
	dirfd = credential_store_open(&c->dirs, false, NULL);
	if (dirfd >= 0)
		credential_note_use(dirfd, c->info.name, c->info.expires_us);
	return 0;
}

int credential_record_refusal(const char *name, struct ledger *l, const struct credential_use *u,
			      const char *why, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	jdoc_set(d, "name", ledger_text(name));
	jdoc_set(d, "why", ledger_text(why));
	return put_record("credential.refused", "denied", l, u, d, f);
}
