/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/delivery.h"

/* For people: what was delivered on stdout, why something waits on stderr. */
void delivery_tell(const struct delivery_report *r);
