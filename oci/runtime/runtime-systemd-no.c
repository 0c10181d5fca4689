/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-verbs.h"

const bool runtime_has_systemd = false;
