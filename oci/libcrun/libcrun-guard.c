/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-guard.h"

#include "oci/libcrun/libcrun-wrap.h"

/* Both programs wrap it, so that libcrun's constructor copies nothing. */
int guard_by_copy(void)
{
	return __real_ensure_cloned_binary();
}
