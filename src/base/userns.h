/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * A user namespace in which we keep our one id and have every capability over what belongs to it: a user's own directory
 * without permissions can be read there, and nothing has to be changed for it.  Owners other than ourselves look like
 * nobody (65534).  For a process with one thread that ends soon: there is no way back.
 */
int userns_enter(struct fault *f) _must_check_;
