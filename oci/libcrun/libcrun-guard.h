/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* libcrun's own protection of the executable: executes it anew from a sealed copy.  Negative when it cannot. */
int guard_by_copy(void);
