/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * PATHS (NULL at the end; must stay valid): resolved paths of the host.  From here on this process and its children mount
 * them without following a link: they were checked by name, and a command of another run that may write their parent
 * directory can place a link there since.
 */
void source_pin(const char *const *paths);
