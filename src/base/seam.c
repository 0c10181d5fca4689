/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/seam.h"

/* Alone in its archive member: whoever brings a seam() of his own gets none of this. */
void seam(const char *point)
{
	(void)point;
}
