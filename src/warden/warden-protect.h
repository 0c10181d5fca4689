/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A container without its supervisor is killed, so custody-warden is the last to be killed for memory, and outlives the terminal
 * and the engine that it was started from.
 */
void warden_protect(void);
