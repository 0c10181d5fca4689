/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * From here on a container that this process creates in a new user namespace gets at most half of the inotify instances
 * and watches that the host grants a user.
 */
void counters_limit(void);
