/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/* metadata.json of the evidence directory DIR; NULL: missing or not valid. */
struct jdoc *evidence_metadata_read(int dir);
