/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <dirent.h>

#include "base/cleanup.h"

static inline void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}
#define _cleanup_dir_ _cleanup_(dir_closep)
