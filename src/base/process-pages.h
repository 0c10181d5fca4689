/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * For a process that waits for a long time: gives back free heap and the mapped pages of its code and constants, of which the start
 * of a run uses more than the wait.  The kernel maps them again from the file when they are used.
 */
void process_release_pages(void);
