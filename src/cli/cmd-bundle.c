/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "run/run-plan.h"
#include "run/run-options.h"
#include "base/exit-status.h"
#include "oci/bundle/hook-args.h"
#include "oci/bundle/bundle-dir.h"

#define USAGE "usage: custody bundle -o DIR [--force] [OPTIONS of run] -- COMMAND [ARGUMENTS]"

struct bundle_options {
	const char *dir;
	bool force;
	char **rest; /* what `run` understands, borrowed texts */
	int n_rest;
};

static void bundle_options_done(struct bundle_options *o)
{
	free(o->rest);
}

/* Takes our own options out of ARGV; everything from "--" on, and all others, are those of `run`. */
static int split_options(int argc, char **argv, struct bundle_options *o, struct fault *f)
{
	int i;

	o->rest = calloc((size_t)argc + 1, sizeof(*o->rest));
	if (!o->rest)
		return fault_errno(f, ENOMEM, "options");
	for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--force") == 0) {
			o->force = true;
		} else if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) {
			if (i + 1 >= argc)
				return fault_set(f, EINVAL, "%s needs a directory; " USAGE, argv[i]);
			o->dir = argv[++i];
		} else if (str_starts(argv[i], "--output=")) {
			o->dir = argv[i] + strlen("--output=");
		} else {
			o->rest[o->n_rest++] = argv[i];
		}
	}
	for (; i < argc; i++)
		o->rest[o->n_rest++] = argv[i];
	return 0;
}

static int require_fitting(const struct bundle_options *b, const struct run_options *o, struct fault *f)
{
	if (!b->dir || !b->dir[0])
		return fault_set(f, EINVAL, "no directory; " USAGE);
	if (!o->argv)
		return fault_set(f, EINVAL, "no command; " USAGE);
	if (o->dry_run)
		return fault_set(f, ENOTSUP,
				 "--dry-run: 'custody run --dry-run' prints config.json, a bundle is "
				 "there to be written");
	if (o->detach)
		return fault_set(f, ENOTSUP, "-d: whoever runs a bundle decides whether to wait for it");
	if (o->terminal)
		return fault_set(f, ENOTSUP, "-t: a bundle's terminal is up to whoever runs it");
	if (o->json || o->result || o->status_fd >= 0)
		return fault_set(f, ENOTSUP,
				 "--json, --result, --status-fd: a bundle has no result until it runs");
	if (o->sandbox)
		return fault_set(f, ENOTSUP,
				 "--sandbox: a sandbox root is held by 'custody run' as long as it is used, "
				 "and nobody "
				 "would hold it for a bundle");
	if (o->wait || o->grants || o->yes)
		return fault_set(f, ENOTSUP,
				 "--wait, --grant, --yes: a bundle is approved when it is started");
	return 0;
}

/* Whose state its hook will ask, and how strictly. */
static int write_terms(const struct run_options *o, const struct run_plan *d, char ***ret, struct fault *f)
{
	_cleanup_hook_args_ struct hook_args t = { .lane = d->dirs.lane,
						   .allow_prod = o->allow_prod,
						   .security = d->verdict->axes.profile };
	const struct jdoc *governance = d->profile->sections[PROFILE_SECTION_GOVERNANCE];
	const struct jdoc *forensics = d->profile->sections[PROFILE_SECTION_FORENSICS];
	const struct jdoc *redact = jdoc_get(d->profile->sections[PROFILE_SECTION_AUDIT], "redact");
	int r;

	if (o->provenance) {
		t.taints = strv_copy(o->provenance);
		if (!t.taints)
			return fault_errno(f, ENOMEM, "bundle");
	}
	if (governance)
		t.governance = jdoc_copy(governance);
	if (forensics)
		t.forensics = jdoc_copy(forensics);
	if ((governance && !t.governance) || (forensics && !t.forensics))
		return fault_errno(f, ENOMEM, "bundle");
	for (size_t i = 0; redact && redact->type == JDOC_ARRAY && i < redact->n_items; i++)
		if (strv_append(&t.redact, redact->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, "bundle");
	r = hook_args_take_env(&t, f);
	return r < 0 ? r : hook_args_write(&t, ret, f);
}

static int write_bundle(const struct bundle_options *b, const struct run_options *o, const struct run_plan *d,
			struct fault *f)
{
	_cleanup_strv_ char **approve = NULL;
	_cleanup_free_ char *init = path_join(d->dirs.libexec, "custody-init"),
			    *hook = path_join(d->dirs.libexec, "custody-hook");
	struct bundle_request rq = { .dir = b->dir,
				     .init = init,
				     .hook = hook,
				     .run = d->dirs.run,
				     .key = &d->key,
				     .force = b->force };
	int r;

	if (!init || !hook)
		return fault_errno(f, ENOMEM, "bundle");
	if (access(init, X_OK) < 0 || access(hook, X_OK) < 0)
		return fault_errno(f, errno, "custody-init and custody-hook in '%s': run 'make install'",
				   d->dirs.libexec);
	r = write_terms(o, d, &approve, f);
	rq.approve = approve;
	return r < 0 ? r : bundle_write(&rq, d->subject, f);
}

static int parse(int argc, char **argv, struct bundle_options *b, struct run_options *o, struct fault *f)
{
	int r;

	r = split_options(argc, argv, b, f);
	if (r >= 0)
		r = options_parse(o, b->n_rest, b->rest, f);
	return r < 0 ? r : require_fitting(b, o, f);
}

static int make(const struct bundle_options *b, const struct run_options *o, struct fault *f)
{
	_cleanup_run_plan_ struct run_plan d = { 0 };
	int r;

	/* `${session}` names the session that runs a profile; a bundle has none yet. */
	r = run_plan_open(o, "bundle", &d, f);
	if (r >= 0)
		r = profile_require_portable(d.profile, f);
	if (r >= 0)
		r = run_plan_judge(&d, o, f);
	return r < 0 ? r : write_bundle(b, o, &d, f);
}

int cmd_bundle(int argc, char **argv, struct fault *f)
{
	_cleanup_options_ struct run_options o;
	_cleanup_(bundle_options_done) struct bundle_options b = { 0 };
	int r;

	if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		puts(USAGE "\n\nOptions of run:");
		options_print(stdout);
		return STATUS_OK;
	}
	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	options_init(&o);
	r = parse(argc, argv, &b, &o, f);
	if (r < 0) {
		log_init(PACKAGE_NAME " bundle", LOG_LEVEL_INFO);
		log_error("%s", fault_text(f));
		return STATUS_USAGE;
	}
	r = make(&b, &o, f);
	return r < 0 ? r : STATUS_OK;
}
