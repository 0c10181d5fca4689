/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/str.h"
#include "decision/decision-exec.h"
#include "doctor/doctor-engine.h"

#define ID "ENGINE-EXEC"
#define ALLOW "annotation custody.exec.allow of the container: a JSON list of commands, each a list of words"

/* What becomes of commands that the engine starts by itself: probes of pods, health checks. */
void doctor_check_engine_exec(struct doctor_report *r, const struct config *c, const struct profile *p,
			      const char *engine)
{
	const enum config_exec rule = decision_exec_rule(c, p->sections[PROFILE_SECTION_GOVERNANCE]);

	if (rule == CONFIG_EXEC_DENY)
		doctor_add(r, ID, DOCTOR_LIMITED, DOCTOR_WARN,
			   "set \"exec\" to \"ask\" where health checks are needed",
			   "commands in running containers are denied, probes and health checks as well");
	else if (rule == CONFIG_EXEC_ALLOW || c->engine_security == SECURITY_OFF)
		doctor_add(r, ID, DOCTOR_OK, DOCTOR_INFO, NULL,
			   "probes and health checks run without a question, unbounded deletes do not");
	else if (str_eq(engine, "docker"))
		doctor_add(
			r, ID, DOCTOR_OK, DOCTOR_INFO, NULL,
			"commands in running containers are asked; health checks belong to their container");
	else
		doctor_add(r, ID, DOCTOR_LIMITED, DOCTOR_WARN, ALLOW,
			   "commands in running containers are asked, and so are %s that the container does "
			   "not list",
			   str_eq(engine, "podman") ? "health checks" : "probes of pods");
}
