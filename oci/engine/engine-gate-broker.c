/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "broker/broker-credential.h"
#include "oci/engine/engine-gate-impl.h"

/* The broker of a container: its tools are judged here, its socket is made here, and custody-warden starts it. */

/* They read the worktree through the first process of an own run. */
static int refuse_git(const struct engine_gate *g, struct fault *f)
{
	for (size_t i = 0; i < g->tools.n; i++)
		if (broker_builtin_is_git(g->tools.items[i].builtin))
			return fault_set(f, ENOTSUP,
					 "profile '%s': tool '%s' is not supported in a container: remove it "
					 "from broker.tools of the profile, or use 'custody run'",
					 g->profile->name, g->tools.items[i].name);
	return 0;
}

int engine_gate_resolve_tools(struct engine_gate *g, struct fault *f)
{
	int r;

	if (!g->profile->sections[PROFILE_SECTION_BROKER])
		return 0;
	/* libcrun gets the engine's own text then, which has no socket. */
	if (!g->config->sandbox.enabled)
		return fault_set(f, ENOTSUP,
				 "profile '%s' has 'broker', which needs sandbox.enabled in custody.json: "
				 "enable it, or use a profile without 'broker'",
				 g->profile->name);
	r = broker_tools_resolve(g->config, g->profile, g->dirs.lane, &g->tools, f);
	return r < 0 ? r : refuse_git(g, f);
}

int engine_gate_locate_tools(struct engine_gate *g, struct fault *f)
{
	char *const *places = g->engine.broker.places;
	int r;

	if (!g->engine.broker.open)
		return 0;
	r = broker_tools_locate(&g->tools, g->dirs.libexec, places, f);
	return r < 0 ? r : broker_credentials_require(&g->tools, &g->dirs, places, f);
}

int engine_gate_make_broker(struct engine_gate *g, struct fault *f)
{
	struct stat st;
	int r;

	if (!g->engine.broker.open)
		return 0;
	r = engine_broker_files_make(&g->engine.broker, g->dirs.libexec, &g->broker, f);
	if (r < 0)
		return r;
	if (fstat(g->broker.mount, &st) < 0)
		return fault_errno(f, errno, "the broker's directory");
	engine_pin_broker(&g->engine.pins, g->engine.broker.mount, &st);
	return 0;
}

int engine_gate_keep(const struct engine_gate *g)
{
	return g->broker.mount;
}

int engine_gate_attach(const struct engine_gate *g, struct fault *f)
{
	return g->broker.mount < 0 ? 0 : engine_broker_files_attach(&g->broker, g->dirs.run, f);
}

struct jdoc *engine_gate_describe_broker(const struct engine_gate *g)
{
	const struct jdoc *governance = g->profile->sections[PROFILE_SECTION_GOVERNANCE];
	const struct engine_broker *b = &g->engine.broker;
	_cleanup_jdoc_ struct jdoc *d = b->open ? jdoc_new_object() : NULL;
	char hex[DIGEST_HEX_SIZE];
	struct jdoc *places;

	if (!d)
		return NULL;
	digest_to_hex(&g->broker.token, hex);
	jdoc_set(d, "tools", jdoc_copy(g->tools.section));
	jdoc_set_string(d, "token_sha256", hex);
	jdoc_set_string(d, "cgroup", b->cgroup);
	jdoc_set_bool(d, "pid_shared", b->pid_shared);
	places = jdoc_set_array(d, "places");
	for (char *const *p = b->places; p && *p; p++)
		jdoc_append_string(places, *p);
	if (governance)
		jdoc_set(d, "governance", jdoc_copy(governance));
	return d->broken ? NULL : TAKE_PTR(d);
}
