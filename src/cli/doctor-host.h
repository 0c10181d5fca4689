/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/dirs.h"
#include "core/doctor.h"

/* HOST-* checks: each looks, none changes anything outside of namespaces of its own. */
void doctor_check_kernel(struct doctor_report *r, const struct dirs *d);
void doctor_check_cgroups(struct doctor_report *r);
void doctor_check_files(struct doctor_report *r, const struct dirs *d);
void doctor_check_libcrun(struct doctor_report *r);
void doctor_check_ledger(struct doctor_report *r, const struct dirs *d);
