/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A named point of a run, for tests: in the product this does nothing. The test program tests/custody-seamed
 * links the same objects with its own seam(), which kills the process at a requested point. A point is an
 * event that has just happened; tests/lib/seam-points lists all of them with the condition that must then
 * hold.
 */
void seam(const char *point);
