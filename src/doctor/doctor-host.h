/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/dirs.h"
#include "doctor/doctor.h"

/* HOST-* checks: none changes anything outside its own namespaces. */
void doctor_check_kernel(struct doctor_report *r, const struct dirs *d);
void doctor_check_cgroups(struct doctor_report *r);
void doctor_check_files(struct doctor_report *r, const struct dirs *d);
void doctor_check_libcrun(struct doctor_report *r);
/* HOST-LIBCRUN of that version.  Pure. */
void doctor_describe_libcrun(struct doctor_report *r, const char *version);
void doctor_check_ledger(struct doctor_report *r, const struct dirs *d);
/* HOST-EVIDENCE: evidence that is staged for a share. */
void doctor_check_evidence(struct doctor_report *r, const struct dirs *d);
/* APPROVAL-*: which keys can approve here. */
void doctor_check_approval(struct doctor_report *r, const struct dirs *d);
/* CONFIG-*, STATE-*: custody.json with its overrides, and the states of the lanes. */
void doctor_check_config(struct doctor_report *r, const struct dirs *d);
/* Adds "config": every key with its value, its source and the replaced value. */
void doctor_describe_config(struct jdoc *report, const struct dirs *d);
