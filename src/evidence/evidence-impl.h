/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence.h"

/* Shared by the writers of a store; private to this room. */
#define EVIDENCE_NAMES_MAX 100 /* of one session */

/* The Nth directory name for a session: SESSION, then SESSION-2 ...; heap. */
char *evidence_name(const char *session, unsigned int n, const char *suffix);

/* Within STORE; never replaces a directory: -EEXIST. */
int evidence_rename(int store, const char *from, const char *to);

/* A name of evidence: not hidden, not partial, not being removed. */
bool evidence_is_name(const char *name);
