/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "base/path.h"
#include "base/pidfd-status.h"
#include "doctor/doctor-engine.h"

#define ID "ENGINE-EXIT-STATUS"

/* Where custody-warden gets the exit status of a process that is not its child. */
void doctor_check_engine_status(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_free_ char *parent = path_join(d->libexec, "custody-parent");

	if (pidfd_end_supported())
		doctor_add(r, ID, DOCTOR_OK, DOCTOR_INFO, NULL,
			   "the kernel keeps the exit status of governed containers for custody-warden");
	else if (!parent || access(parent, X_OK) < 0)
		doctor_add(r, ID, DOCTOR_MISSING, DOCTOR_ERROR, "run 'make install'",
			   "every governed container is refused: no program '%s', which keeps its exit "
			   "status on "
			   "kernels before Linux 6.15",
			   parent ? parent : "custody-parent");
	else
		doctor_add(
			r, ID, DOCTOR_OK, DOCTOR_INFO, NULL,
			"custody-parent keeps the exit status of governed containers (Linux before 6.15); of "
			"a bundle that another runtime runs it may be lost");
}
