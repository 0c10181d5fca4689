/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-options.h"

#include <errno.h>

#include "base/array.h"
#include "base/str.h"

void run_options_init(struct run_options *o)
{
	*o = (struct run_options){ .status_fd = -EBADF, .detach_fd = -EBADF, .stdio = { 0, 1, 2 } };
}

void run_options_done(struct run_options *o)
{
	strv_free(o->env);
	strv_free(o->volumes);
	strv_free(o->without);
	strv_free(o->grants);
	strv_free(o->provenance);
	o->env = o->volumes = o->without = o->grants = o->provenance = NULL;
}
