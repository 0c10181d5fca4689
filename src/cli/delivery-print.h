/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/delivery.h"

/* Prints the number of deliveries on stdout, the reason of a delay on stderr. */
void delivery_print(const struct delivery_report *r);
