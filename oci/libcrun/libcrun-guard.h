/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* libcrun's protection of the executable: executes it again from a sealed copy.  Negative on failure. */
int guard_by_copy(void);
