/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence.h"

/* What those who write into a store share. */
#define EVIDENCE_NAMES_MAX 100 /* of one session */

/* The Nth name of a session: its own, then with a number; heap. */
char *evidence_name(const char *session, unsigned int n, const char *suffix);

/* Within STORE, never onto another one: -EEXIST. */
int evidence_rename(int store, const char *from, const char *to);

/* Nothing hidden, half, or on its way out. */
bool evidence_is_name(const char *name);
