/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/* Private to the json files: makes room for one more element. False on ENOMEM. */
bool jdoc_grow_items(struct jdoc *array);
bool jdoc_grow_members(struct jdoc *object);
