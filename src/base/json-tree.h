/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/* Inside the json files only: room for one more element behind the last.  False on ENOMEM. */
bool jdoc_grow_items(struct jdoc *array);
bool jdoc_grow_members(struct jdoc *object);
