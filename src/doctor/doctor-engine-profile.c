/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "config/config.h"
#include "doctor/doctor-engine.h"
#include "policy/policy.h"
#include "profile/profile.h"

/* As custody-runtime loads it: no worktree, because the current directory is the engine's bundle. */
static int load(const struct dirs *d, const char *name, struct profile **ret, struct fault *f)
{
	const char *dirs[4] = { d->profiles_admin };
	const struct profile_sources src = { .dirs = dirs };
	const struct profile_vars vars = { .cwd = "/",
					   .home = d->home,
					   .user = d->user,
					   .session = "doctor",
					   .workspace = "/",
					   .uid = geteuid() };
	size_t n = 1;

	if (d->profiles_user)
		dirs[n++] = d->profiles_user;
	dirs[n] = d->profiles_shipped;
	return profile_load(name, &src, &vars, ret, f);
}

void doctor_check_engine_profile(struct doctor_report *r, const struct dirs *d, const char *engine)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (config_load(d, &c, &f) < 0) {
		doctor_add(r, "ENGINE-PROFILE", DOCTOR_MISSING, DOCTOR_ERROR, NULL,
			   "every container is refused: %s", fault_text(&f));
		return;
	}
	if (load(d, c->sandbox.profile, &p, &f) < 0)
		doctor_add(r, "ENGINE-PROFILE", DOCTOR_MISSING, DOCTOR_ERROR,
			   "custody profile ls; then set \"sandbox\": {\"profile\": NAME} in custody.json",
			   "every governed container that names no profile is refused: %s", fault_text(&f));
	else if (!c->sandbox.enabled && c->engine_security == SECURITY_OFF)
		doctor_add(r, "ENGINE-PROFILE", DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "'%s'; sandbox.enabled is false and security_profile is off: containers are not "
			   "governed",
			   p->name);
	else
		doctor_add(r, "ENGINE-PROFILE", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "'%s' (%s), for containers that name no profile; user namespace %s, network %s",
			   p->name, p->path,
			   p->container_user_namespace == PROFILE_CONTAINER_USER_REQUIRE
				   ? "required"
				   : "as the engine chooses",
			   p->container_network == PROFILE_CONTAINER_NETWORK_ENGINE ? "as the engine chooses"
										    : "none");
	if (p && (c->sandbox.enabled || c->engine_security != SECURITY_OFF))
		doctor_check_engine_exec(r, c, p, engine);
}
