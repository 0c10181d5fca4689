/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-record.h"

/*
 * The details of a record on one line for people: "exited 3, evidence /path".  Known kinds have a template, others list
 * their members.  Long digests are shortened: --json prints the record itself.  Heap; NULL on ENOMEM.  Not escaped.
 */
char *record_text(const struct record *r);
