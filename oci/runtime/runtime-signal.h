/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * A signal as kill takes it: 9, KILL, SIGKILL, kill, RTMIN+1, RTMAX-1; 0 only asks whether the process exists.  libcrun sends 0 for
 * a name that it does not know, and reads the number before other text.
 */
int runtime_signal_parse(const char *text, int *ret, struct fault *f) _must_check_;
