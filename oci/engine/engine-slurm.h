/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * Variables that Slurm sets anew for each job and step.  A container is a step if its id is the one of contrib/slurm/oci.conf,
 * NODE.USER.JOB.STEP.TASK, and JOB is its SLURM_JOB_ID.
 */

/* Removes from ENV, a copy, those whose value has the form that Slurm gives it: a number, names of nodes, an address. */
void engine_slurm_strip(const struct engine_work *w, struct jdoc *env);
