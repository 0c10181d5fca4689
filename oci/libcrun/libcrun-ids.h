/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Why newuidmap or newgidmap failed in this process, "" if neither did: libcrun drops the reason. */
const char *libcrun_ids_reason(void);
