/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-ids.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/id-map-write.h"
#include "oci/libcrun/libcrun-wrap.h"

static char reason[512];
static struct id_map_helper first = ID_MAP_HELPER_NONE;

const char *libcrun_ids_reason(void)
{
	return reason;
}

/* Both at once: libcrun calls one after the other, and nothing in between depends on the first, whose failure is the second's. */
static int map_both(bool uid, char **args, struct fault *f)
{
	const char *program = uid ? ID_MAP_NEWUIDMAP : ID_MAP_NEWGIDMAP;
	_cleanup_id_map_helper_ struct id_map_helper second = ID_MAP_HELPER_NONE;
	int r;

	if (first.pid < 0)
		return id_map_start(&first, program, args, f);
	r = id_map_start(&second, program, args, f);
	if (r == 0)
		r = id_map_finish(&first, f);
	if (r == 0)
		r = id_map_finish(&second, f);
	id_map_helper_done(&first);
	return r;
}

/*
 * A user's libcrun first runs newgidmap and newuidmap, and only then writes the one-id map that it may write itself.  For a
 * single id report their failure at once: ARGS are "newXidmap PID INSIDE OUTSIDE COUNT".  Several ids the kernel accepts
 * from these programs only, so the container is not created without them.
 */
int __wrap_run_process(char **args, libcrun_error_t *err)
{
	const char *name = strrchr(args[0], '/');
	_cleanup_fault_ struct fault f = { 0 };
	bool uid;

	name = name ? name + 1 : args[0];
	uid = strcmp(name, "newuidmap") == 0;
	if (!uid && strcmp(name, "newgidmap") != 0)
		return __real_run_process(args, err);
	if (args[1] && args[2] && args[3] && args[4] && !args[5] && strcmp(args[4], "1") == 0)
		return 1;
	if (map_both(uid, args, &f) == 0)
		return 0;
	(void)snprintf(reason, sizeof(reason), "%s", fault_text(&f));
	return 1;
}
