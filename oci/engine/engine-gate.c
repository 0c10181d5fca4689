/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-gate-impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-span.h"
#include "base/path.h"
#include "base/str.h"
#include "config/config-redact.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-record.h"
#include "subject/own-dirs.h"
#include "subject/subject-digest.h"

static void gate_done(struct engine_gate *g)
{
	warden_start_done(&g->warden);
	session_done(&g->session);
	decision_done(&g->decision);
	engine_container_done(&g->engine);
	engine_broker_files_done(&g->broker);
	broker_tools_done(&g->tools);
	profile_free(g->profile);
	digest_key_done(&g->key);
	config_free(g->config);
	dirs_done(&g->dirs);
	free(g->document);
	free(g->container);
	free(g->bundle);
}

void engine_gate_free(struct engine_gate *g)
{
	if (g)
		gate_done(g);
	free(g);
}

/* 0: both switches are off.  1: *RET_LANE is the container's. */
static int configure(const struct engine_call *call, struct engine_gate *g, enum lane *ret_lane,
		     struct fault *f)
{
	int r = dirs_load(&g->dirs, f);

	if (r >= 0)
		r = config_load(&g->dirs, &g->config, f);
	if (r < 0)
		return fault_wrap(f, r, "not created");
	if (!g->config->sandbox.enabled && g->config->engine_security == SECURITY_OFF)
		return 0;
	r = config_lane(g->config, call->lane, ret_lane, f);
	return r < 0 ? r : 1;
}

static int locate(struct engine_gate *g, enum lane lane, struct fault *f)
{
	int r;

	dirs_done(&g->dirs);
	r = dirs_load_lane(lane, &g->dirs, f);
	g->decision.dirs = &g->dirs;
	g->decision.config = g->config;
	g->decision.run = (struct ledger_run){ .action = "create",
					       .session = g->id,
					       .lane = lane_name(lane),
					       .sandbox = g->config->sandbox.enabled };
	return r < 0 ? r : decision_redact(&g->decision, NULL, f);
}

static int enter(struct engine_gate *g, struct fault *f)
{
	const struct lane_ask ask = { .lane = g->dirs.lane,
				      .allow_prod = g->call->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV) };

	return decision_enter(&g->decision, &ask, f);
}

static int start_warden(struct engine_gate *g, struct fault *f)
{
	g->decision.refused = "setup-failed";
	return warden_start_begin(&g->warden, g->dirs.libexec, f);
}

/* `root.path`, absolute; heap. */
static char *find_rootfs(const struct engine_call *call)
{
	struct jspan root, section, value;
	_cleanup_free_ char *path = NULL;

	if (jspan_root(call->text, call->len, &root) < 0 || jspan_get(root, "root", &section) != 1 ||
	    jspan_get(section, "path", &value) != 1)
		return NULL;
	path = jspan_string(value);
	if (path && path[0] == '/')
		return TAKE_PTR(path);
	return path ? path_join(call->bundle, path) : NULL;
}

static int hash_document(struct engine_gate *g, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = subject_digest(g->engine.document, &g->digest, f);

	if (r >= 0)
		r = jdoc_write(g->engine.document, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	g->document = strbuf_take(&text);
	return g->document ? 0 : fault_errno(f, ENOMEM, "container");
}

static int load_profile(struct engine_gate *g, struct fault *f)
{
	_cleanup_strv_ char **flags = NULL;
	int r;

	g->decision.refused = "profile";
	r = engine_gate_load_profile(g, f);
	if (r < 0)
		return r;
	g->decision.run.profile = g->profile->name;
	r = config_redact_flags(g->profile, &flags, f);
	return r < 0 ? r : decision_redact(&g->decision, flags, f);
}

static int read_container(const struct engine_gate *g, struct engine_container *ret, struct fault *f)
{
	_cleanup_free_ char *rootfs = find_rootfs(g->call);
	_cleanup_own_dirs_ struct own_dirs own;
	const struct engine_input in = { .text = g->call->text,
					 .len = g->call->len,
					 .id = g->call->id,
					 .bundle = g->call->bundle,
					 .rootfs = rootfs,
					 .lane = g->dirs.lane,
					 .profile = g->profile,
					 .home = g->dirs.home,
					 .own = &own,
					 .redact = g->decision.run.redact,
					 .preserved = g->call->preserved,
					 .no_cgroup = g->call->no_cgroup,
					 .broker = g->tools.section,
					 .broker_source = g->dirs.run,
					 .isolate = g->config->sandbox.enabled };

	own_dirs_init(&own, &g->dirs);
	if (!rootfs)
		return fault_set(f, EINVAL, "config.json has no 'root.path'");
	return engine_read(&in, &g->key, ret, f);
}

/* The merged configuration, the subject and its digest. */
static int merge(struct engine_gate *g, struct fault *f)
{
	int r;

	g->decision.refused = "config";
	r = digest_key_load(&g->dirs, g->config->digest_key, true, &g->key, f);
	if (r < 0)
		return r;
	decision_redact_with(&g->decision, &g->key);
	r = read_container(g, &g->engine, f);
	if (r >= 0)
		r = engine_gate_locate_tools(g, f);
	if (r < 0)
		return r;
	g->engine.facts.image_unknown = !g->engine.image;
	g->decision.run.argv = g->engine.argv;
	g->decision.run.image = g->engine.image;
	g->decision.run.cwd = g->engine.facts.cwd;
	g->decision.run.env = g->engine.facts.env;
	return hash_document(g, f);
}

/* The answer to a question of an hour ago: program, image and sources of mounts must be those of then. */
static int require_unchanged(struct engine_gate *g, struct fault *f)
{
	_cleanup_engine_container_ struct engine_container now = { 0 };
	struct digest digest;
	int r;

	if (g->engine.wait_s == 0 || !g->decision.reserved)
		return 0;
	g->decision.refused = "digest";
	r = read_container(g, &now, f);
	if (r >= 0)
		r = subject_digest(now.document, &digest, f);
	if (r < 0)
		return fault_wrap(f, r, "after the wait for the approval");
	if (digest_equal(&digest, &g->digest))
		return 0;
	return fault_set(f, EACCES,
			 "not created: the program, the image or a mount changed while an approval was "
			 "waited for; create it again");
}

static int decide(struct engine_gate *g, struct fault *f)
{
	const struct decision_question q = {
		.facts = &g->engine.facts,
		.argv = g->engine.argv,
		.document = g->engine.document,
		.digest = &g->digest,
		.security = SECURITY_OFF,
		.governance = g->profile->sections[PROFILE_SECTION_GOVERNANCE],
		.exempt = g->engine.pause ? "pause container" : NULL,
		.once = !g->engine.image,
		.grant = g->engine.grant,
		.wait_s = g->engine.wait_s,
		.owner = g->warden.pid,
	};
	int r = decision_judge(&g->decision, &q, f);

	if (r < 0)
		return r;
	/* A reservation belongs to the warden, so it must run before one is made. */
	g->decision.refused = "setup-failed";
	r = warden_start_require(&g->warden, f);
	if (r >= 0)
		r = decision_approve(&g->decision, &q, f);
	return r < 0 ? r : require_unchanged(g, f);
}

static int open_session(struct engine_gate *g, struct fault *f)
{
	int r = decision_intend(&g->decision, f);

	if (r < 0)
		return r;
	g->decision.refused = "setup-failed";
	r = session_open(&g->dirs, g->decision.pass, g->id, &g->session, f);
	return r < 0 ? r : engine_gate_make_broker(g, f);
}

int engine_gate_refuse(struct engine_gate *g, int r, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };

	if (g->handed_over)
		return r;
	if (!g->decision.refused)
		g->decision.refused = g->decision.run.intended ? "setup-failed" : NULL;
	warden_start_done(&g->warden);
	(void)!decision_release(&g->decision, g->decision.refused ? g->decision.refused : "setup-failed",
				NULL);
	if (decision_refuse(&g->decision, fault_text(f), &why) < 0)
		r = fault_wrap(f, r, "not recorded (%s)", fault_text(&why));
	if (g->session.run)
		(void)!session_remove(&g->session, NULL);
	return r;
}

/* The order of the steps before libcrun. */
static int pass(struct engine_gate *g, enum lane lane, struct fault *f)
{
	int r;

	r = locate(g, lane, f);
	if (r < 0)
		return r;
	r = enter(g, f);
	if (r >= 0)
		r = decision_open(&g->decision, f);
	/* Needed last, started now: its exec takes as long as the steps up to decision_approve. */
	if (r >= 0)
		r = start_warden(g, f);
	if (r >= 0)
		r = load_profile(g, f);
	if (r >= 0)
		r = merge(g, f);
	if (r >= 0)
		r = decide(g, f);
	if (r >= 0)
		r = open_session(g, f);
	return r < 0 ? engine_gate_refuse(g, r, f) : 0;
}

static int copy_call(struct engine_gate *g, struct fault *f)
{
	g->container = strdup(g->call->id);
	g->bundle = strdup(g->call->bundle);
	g->preserved = g->call->preserved;
	return g->container && g->bundle ? 0 : fault_errno(f, ENOMEM, "container");
}

static void gate_init(struct engine_gate *g, const struct engine_call *call)
{
	g->call = call;
	g->session.run_fd = g->session.ids_fd = -EBADF;
	g->decision = DECISION_NONE;
	g->warden = WARDEN_START_NONE;
	g->broker = ENGINE_BROKER_FILES_NONE;
	g->warden.apart = call->stays;
}

int engine_gate_open(const struct engine_call *call, struct engine_gate **ret, struct fault *f)
{
	_cleanup_engine_gate_ struct engine_gate *g = calloc(1, sizeof(*g));
	enum lane lane = LANE_SANDBOX;
	int r;

	if (!g)
		return fault_errno(f, ENOMEM, "container");
	gate_init(g, call);
	*ret = NULL;
	r = configure(call, g, &lane, f);
	if (r <= 0)
		return r;
	r = clock_session_id(g->id, f);
	if (r >= 0)
		r = copy_call(g, f);
	if (r >= 0)
		r = pass(g, lane, f);
	g->call = NULL;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(g);
	return 0;
}

/* The lane's gate is first, as in pass(). */
static int forbid(struct engine_gate *g, enum lane lane, const char *verb, const char *why, struct fault *f)
{
	int r = locate(g, lane, f);

	if (r < 0)
		return r;
	g->decision.run.action = verb;
	r = enter(g, f);
	if (r >= 0)
		r = decision_open(&g->decision, f);
	if (r >= 0) {
		g->decision.refused = "unsupported";
		r = fault_set(f, EPERM, "%s: %s", verb, why);
	}
	return engine_gate_refuse(g, r, f);
}

int engine_gate_forbid(const struct engine_call *call, const char *verb, const char *why, struct fault *f)
{
	_cleanup_engine_gate_ struct engine_gate *g = calloc(1, sizeof(*g));
	enum lane lane = LANE_SANDBOX;
	int r;

	if (!g)
		return fault_errno(f, ENOMEM, "container");
	gate_init(g, call);
	r = configure(call, g, &lane, f);
	if (r <= 0)
		return r;
	r = clock_session_id(g->id, f);
	return r < 0 ? r : forbid(g, lane, verb, why, f);
}

const char *engine_gate_text(const struct engine_gate *g)
{
	return g->engine.text;
}

char *engine_gate_parent(const struct engine_gate *g)
{
	return path_join(g->dirs.libexec, "custody-parent");
}

struct jdoc *engine_gate_record(const struct engine_gate *g)
{
	struct jdoc *r = engine_record_make(&g->dirs, g->id);
	const struct jdoc *was = engine_at(g->engine.engine, "linux.resources"),
			  *is = engine_at(g->engine.merged, "linux.resources");
	_cleanup_strbuf_ struct strbuf text = { 0 };

	/* Some engines repeat them with each update.  Longer ones are refused then, as a person's are. */
	if (r && was && is && !jdoc_equal(was, is) && jdoc_write(was, JDOC_CANONICAL, &text, NULL) >= 0 &&
	    text.len <= ENGINE_RECORD_RESOURCES_MAX)
		jdoc_set(r, "resources", jdoc_copy(was));
	return r;
}
