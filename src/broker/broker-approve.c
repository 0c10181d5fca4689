/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approval/request.h"
#include "base/str.h"
#include "broker/broker-impl.h"
#include "ledger/ledger-redact.h"

/*
 * Levels B and C by the pipeline of a run: a grant for the digest of tool and parameters is reserved and consumed, or a request
 * is filed.  Nothing here waits for a person: the call is refused, and repeated after the approval.
 */
#define SCHEMA "custody.tool/1"

static int write_text(const struct jdoc *d, struct strbuf *out, struct digest *ret, struct fault *f)
{
	int r = jdoc_write(d, JDOC_CANONICAL, out, f);

	if (r == 0)
		digest_bytes(out->text, out->len, ret);
	return r;
}

/*
 * The parameters as the request shows them.  Only plain values of secrets are redacted, so that an approver reads everything that a
 * program could act upon.
 */
static int show_params(const struct broker_server *s, const struct strbuf *text, struct jdoc **ret,
		       struct fault *f)
{
	struct redact rules = s->job->run->redact ? *s->job->run->redact : (struct redact){ 0 };
	_cleanup_free_ char *shown = NULL;

	rules.plain = true;
	shown = redact_text(text->text, &rules);
	if (!shown)
		return fault_errno(f, ENOMEM, "tool");
	return jdoc_parse(shown, strlen(shown), "params", NULL, ret, f);
}

/* The document that is approved.  It is bound to the true parameters, whatever their text shows. */
static int describe(const struct broker_server *s, const struct broker_tool *t, const struct jdoc *params,
		    struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object(), *shown = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	const struct ledger_run *run = s->job->run;
	char digest[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:", hex[DIGEST_HEX_SIZE];
	struct digest bound;
	int r = write_text(params, &text, &bound, f);

	if (r == 0)
		r = show_params(s, &text, &shown, f);
	if (r < 0)
		return r;
	digest_to_hex(&t->digest, digest + sizeof("sha256:") - 1);
	digest_to_hex(&bound, hex);
	jdoc_set_string(d, "schema", SCHEMA);
	jdoc_set_string(d, "lane", run->lane);
	jdoc_set_string(d, "subject", run->digest ? run->digest : "");
	jdoc_set_string(d, "tool", t->name);
	jdoc_set_string(d, "declaration", digest);
	jdoc_set_string(d, "params_sha256", hex);
	broker_tool_put_credentials(d, t);
	jdoc_set(d, "params", TAKE_PTR(shown));
	if (!d || d->broken)
		return fault_errno(f, ENOMEM, "tool");
	*ret = TAKE_PTR(d);
	return 0;
}

static int digest_of(const struct jdoc *d, struct digest *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	return write_text(d, &text, ret, f);
}

/* The operator has judged the tool: nothing here knows what it does, so the axes keep their worst values. */
static struct verdict *declared_verdict(const struct broker_tool *t)
{
	_cleanup_verdict_ struct verdict *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->decision = DECISION_ASK;
	v->level = t->level;
	v->reasons[0].id = "tool-level";
	if (asprintf(&v->reasons[0].text, "custody.json declares level %c for calls of this tool", t->level) <
	    0) {
		v->reasons[0].text = NULL;
		return NULL;
	}
	v->n_reasons = 1;
	return TAKE_PTR(v);
}

/* All sessions of a lane share its places for requests: one session must not take them all. */
static size_t find_asked(const struct broker_server *s, const struct digest *digest)
{
	size_t i = 0;

	while (i < s->n_asked && !digest_equal(&s->asked[i], digest))
		i++;
	return i;
}

static bool may_ask(const struct broker_server *s, const struct digest *digest)
{
	return find_asked(s, digest) < s->n_asked || s->n_asked < BROKER_ASKED_MAX;
}

static void note_asked(struct broker_server *s, const struct digest *digest, bool approved)
{
	size_t i = find_asked(s, digest);

	if (approved && i < s->n_asked)
		s->asked[i] = s->asked[--s->n_asked];
	else if (!approved && i == s->n_asked && i < BROKER_ASKED_MAX)
		s->asked[s->n_asked++] = *digest;
}

/* In place of a reservation that files a request: a grant that exists counts all the same. */
static int reserve_only(void *arg, struct decision *d, struct fault *f)
{
	const struct grant_owner owner = { .session = d->run.session };
	int r = grant_reserve(&d->approval.store, &d->query, &owner, &d->grants, f);

	(void)arg;
	if (r < 0)
		return r;
	return d->grants.reason == GRANT_VALID ? 0 : fault_set(f, EDQUOT, "nothing was approved");
}

static int obtain(struct decision *d, const struct decision_question *q, struct fault *f)
{
	int r = decision_approve(d, q, f);

	return r < 0 ? r : decision_consume(d, f);
}

/* The text is for a process inside: no path and no name of the host. */
static int explain(const struct broker_server *s, const struct digest *digest, char level, struct fault *f)
{
	char hex[DIGEST_HEX_SIZE];

	if (!may_ask(s, digest))
		return fault_set(
			f, EDQUOT,
			"level %c needs approval, and %d calls of this session wait for one: no request "
			"was filed",
			level, BROKER_ASKED_MAX);
	digest_to_hex(digest, hex);
	return fault_set(f, EACCES,
			 "level %c needs approval of this call: on the host: custody approve %.*s --lane %s, "
			 "then call it again",
			 level, REQUEST_ID_SIZE - 1, hex, s->values.lane);
}

int broker_approve(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	struct broker_server *s = arg;
	const struct broker_job *job = s->job;
	_cleanup_jdoc_ struct jdoc *document = NULL;
	_cleanup_decision_ struct decision d = DECISION_NONE;
	_cleanup_fault_ struct fault why = { 0 };
	char *const argv[] = { (char *)"tool", (char *)t->name, NULL };
	char id[SESSION_ID_SIZE];
	struct digest digest;
	struct decision_question q = { .digest = &digest,
				       .argv = argv,
				       .security = SECURITY_OFF,
				       .governance = job->governance,
				       .once = true };
	int r = describe(s, t, params, &document, &why);

	if (r == 0)
		r = digest_of(document, &digest, &why);
	if (r == 0)
		r = clock_session_id(id, &why);
	if (r < 0)
		return fault_set(f, -r, "the approval cannot be looked up");
	q.document = document;
	q.ask = may_ask(s, &digest) ? NULL : reserve_only;
	d.dirs = job->dirs;
	d.config = job->config;
	d.run = *job->run;
	d.run.audit = NULL;
	/* A reservation of its own: the session's grant is the run's. */
	d.run.session = id;
	d.ledger = s->ledger;
	d.verdict = declared_verdict(t);
	if (d.verdict) {
		r = decision_describe(&d, &digest, &why);
		if (r == 0)
			r = obtain(&d, &q, &why);
		if (r < 0)
			(void)!decision_release(&d, "tool", NULL);
	}
	d.ledger = NULL;
	if (!d.verdict || r < 0)
		r = explain(s, &digest, t->level, f);
	note_asked(s, &digest, r == 0);
	return r;
}
