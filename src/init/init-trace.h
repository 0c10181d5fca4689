/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Takes the filter from the supervisor, installs it on top of the runtime's, and passes the descriptor of its notifications back.
 * It stays for this process and all that it starts.  0, or the exit status.
 */
int trace_install(void);
