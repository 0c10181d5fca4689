/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A named point of a run, for tests: here, and nowhere in the product, nothing happens.  The test program
 * tests/custody-seamed is made of the same objects and a seam() of its own, which ends the process at the point that it
 * is asked for.  A point is an event that has just happened; tests/lib/seam-points lists all of them with what must
 * then be true.
 */
void seam(const char *point);
