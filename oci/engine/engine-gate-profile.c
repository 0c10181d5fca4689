/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json-span.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-gate-impl.h"

#define ANNOTATION "custody.profile"

/* Of the engine's text, before it is merged; heap, NULL: none. */
static char *read_annotation(const char *text, size_t len, const char *name)
{
	struct jspan root, section, value;

	if (jspan_root(text, len, &root) < 0 || jspan_get(root, "annotations", &section) != 1 ||
	    jspan_get(section, name, &value) != 1)
		return NULL;
	return jspan_string(value);
}

/* Of the caller: no project, because the current directory is the engine's bundle. */
static int load(const struct engine_gate *g, const char *name, struct profile **ret, struct fault *f)
{
	_cleanup_free_ char *trust = path_join(g->dirs.config, "trust.json");
	const char *dirs[4] = { g->dirs.profiles_admin };
	const struct profile_sources src = { .dirs = dirs, .trust_file = trust };
	const struct profile_vars vars = { .cwd = "/",
					   .home = g->dirs.home,
					   .user = g->dirs.user,
					   .session = g->id,
					   .workspace = "/",
					   .uid = geteuid() };
	size_t n = 1;

	if (!trust)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	if (g->dirs.profiles_user)
		dirs[n++] = g->dirs.profiles_user;
	dirs[n] = g->dirs.profiles_shipped;
	return profile_load(name, &src, &vars, ret, f);
}

/* An annotation comes from the user of the engine: it may only tighten. */
static int require_tighter(const struct engine_gate *g, const struct engine_profile_choice *c,
			   struct fault *f)
{
	_cleanup_profile_ struct profile *base = NULL;
	int r;

	if (str_eq(engine_profile_base(c), c->annotation))
		return 0;
	r = load(g, engine_profile_base(c), &base, f);
	return r < 0 ? r : engine_profile_require(base, g->profile, f);
}

int engine_gate_load_profile(struct engine_gate *g, struct fault *f)
{
	_cleanup_free_ char *annotation = read_annotation(g->call->text, g->call->len, ANNOTATION);
	const char *slash = strrchr(g->call->argv[0], '/'),
		   *alias = strchr(slash ? slash : g->call->argv[0], '@');
	const struct engine_profile_choice c = { .annotation = annotation,
						 .option = g->call->profile,
						 .alias = alias ? alias + 1 : NULL,
						 .configured = g->config->sandbox.profile };
	int r;

	if (annotation && strchr(annotation, '/'))
		return fault_set(f, EPERM, "annotation '" ANNOTATION "': '%s' is not a profile's name",
				 annotation);
	r = load(g, engine_profile_name(&c), &g->profile, f);
	if (r >= 0 && annotation)
		r = require_tighter(g, &c, f);
	if (r >= 0)
		r = profile_require_lane(g->profile, g->dirs.lane, f);
	if (r >= 0 && g->profile->network == PROFILE_NETWORK_ALLOW)
		r = fault_set(
			f, ENOTSUP,
			"profile '%s': 'network.mode' allow is not supported in a container of an engine, "
			"because only 'custody run' starts custody-egress, which decides about each "
			"connection: set it to none, and 'container.network' to what the engine may do",
			g->profile->name);
	return r < 0 ? r : engine_gate_resolve_tools(g, f);
}
