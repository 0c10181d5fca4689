/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * custody-init's side of the gate (layer/init-proto.h).  Both print the reason of a refusal, which has no other reader
 * inside.
 */

/* The descriptor of the connection, closed on exec; negative: refused. */
int gate_connect(void);

/* Reports that the layers are proven, waits for GO and closes FD.  0, or the exit status. */
int gate_pass(int fd);
