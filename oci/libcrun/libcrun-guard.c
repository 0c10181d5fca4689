/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-guard.h"

/* libcrun's function; both programs wrap it (--wrap, see local.mk), so that its constructor copies nothing. */
int __real_ensure_cloned_binary(void);

int guard_by_copy(void)
{
	return __real_ensure_cloned_binary();
}
