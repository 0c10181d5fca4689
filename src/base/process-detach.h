/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Work that goes on after its caller has exited.  Forks twice, so that the caller has no child to wait for.  0: in the new
 * process, which has a session of its own, / as directory, default signals, /dev/null as stdio and no other descriptor but KEEP
 * (-EBADF: none); it leaves by _exit.  1: in the caller.  Negative: no process was made.
 */
int process_detach(const char *name, int keep);
