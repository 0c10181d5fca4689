/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "base/exit-status.h"
#include "base/json.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "cli/cmd-evidence.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "evidence/evidence-prune.h"
#include "review/review-prune.h"
#include "state/home-list.h"

struct pruning {
	struct command_call *call;
	struct jdoc *items; /* NULL: lines are printed */
	uint64_t n;
	size_t held;	  /* kept changes that stay: sessions continue them */
	bool is_counting; /* for the question */
};

static void tell(struct pruning *p, const char *kind, const char *id, const char *why, uint64_t bytes)
{
	char size[UNIT_TEXT_SIZE];
	struct jdoc *row;

	p->n++;
	if (p->is_counting)
		return;
	if (!p->items) {
		printf("%s%-8s  %s  %s, %s\n", p->call->dry_run ? "would remove " : "removed ", kind, id,
		       unit_text_bytes(bytes, size), why);
		return;
	}
	row = jdoc_append_object(p->items);
	jdoc_set_string(row, "kind", kind);
	jdoc_set_string(row, "id", id);
	jdoc_set_string(row, "why", why);
	jdoc_set_int(row, "bytes", (int64_t)bytes);
}

static void tell_upper(void *arg, const struct session_upper *k, const char *why)
{
	tell(arg, "changes", k->session, why, k->bytes);
}

static void tell_evidence(void *arg, const struct evidence_item *e, const char *why)
{
	tell(arg, "evidence", e->name, why, e->bytes);
}

static void tell_home(void *arg, const char *id, const char *why, uint64_t bytes)
{
	tell(arg, "home", id, why, bytes);
}

static int prune_homes(struct pruning *p, bool dry_run, struct fault *f)
{
	const struct home_prune rules = { .dirs = &p->call->dirs,
					  .older_s = p->call->set_older ? p->call->older_s : 0,
					  .dry_run = dry_run,
					  .told = tell_home,
					  .arg = p };

	/* No rule of the configuration removes one. */
	return p->call->all || p->call->set_older ? home_prune(&rules, f) : 0;
}

/* A store that does not respond is an error, after everything else was pruned. */
static int prune_evidence(struct pruning *p, bool dry_run, struct fault *f)
{
	struct evidence_call e = { .call = p->call };
	struct evidence_prune rules = { .dirs = &p->call->dirs,
					.config = p->call->config,
					.set_older = p->call->all || p->call->set_older,
					.older_s = p->call->set_older ? p->call->older_s : 0,
					.dry_run = dry_run,
					.told = tell_evidence,
					.arg = p };
	int r = delivery_place(&p->call->dirs, p->call->config, &e.place, f);

	rules.store = e.place.staging;
	if (r == 0)
		r = evidence_prune(&rules, f);
	if (r == 0)
		r = evidence_require_store(&e, f);
	rules.store = e.place.store;
	if (r == 0)
		r = evidence_prune(&rules, f);
	delivery_place_done(&e.place);
	return r;
}

static int prune(struct pruning *p, bool dry_run, struct fault *f)
{
	const struct review_prune rules = { .held = &p->held,
					    .dirs = &p->call->dirs,
					    .config = p->call->config,
					    .set_older = p->call->all || p->call->set_older,
					    .older_s = p->call->set_older ? p->call->older_s : 0,
					    .dry_run = dry_run,
					    .told = tell_upper,
					    .arg = p };
	int r = review_prune(&rules, f);

	if (r == 0)
		r = prune_homes(p, dry_run, f);
	return r < 0 ? r : prune_evidence(p, dry_run, f);
}

/* More than the configured rules remove: counted first, then asked. */
static int ask(struct command_call *c, struct fault *f)
{
	struct pruning p = { .call = c, .is_counting = true };
	char question[96];
	int r = prune(&p, true, f);

	if (r < 0 || p.n == 0)
		return r < 0 ? r : 1;
	(void)snprintf(question, sizeof(question), "Remove %llu kept copies, homes and items of evidence?",
		       (unsigned long long)p.n);
	return confirm(c, question, f);
}

static int print_json(const struct pruning *p, struct jdoc *o, struct fault *f)
{
	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_bool(o, "dry_run", p->call->dry_run);
	if (p->held)
		jdoc_set_int(o, "continued", (int64_t)p->held);
	return output_print(o, f);
}

int cmd_prune(struct command_call *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	struct pruning p = { .call = c, .items = c->json ? jdoc_set_array(o, "pruned") : NULL };
	int r = (c->all || c->set_older) && !c->dry_run ? ask(c, f) : 1;

	if (r <= 0)
		return r < 0 ? r : STATUS_NO;
	r = prune(&p, c->dry_run, f);
	if (r < 0)
		return r;
	if (c->json)
		return print_json(&p, o, f);
	printf("%llu %s\n", (unsigned long long)p.n, c->dry_run ? "would be removed" : "removed");
	if (p.held)
		printf("%zu kept: sessions continue them\n", p.held);
	return STATUS_OK;
}
