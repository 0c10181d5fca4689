/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "ledger/ledger-record.h"

void record_print(const struct record *r, FILE *out); /* one line of text */
