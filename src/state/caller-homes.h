/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Directories that hold the caller's keys, settings and history, resolved: the home by passwd, $HOME if it is an absolute path of
 * a directory (root may have kept it, as with sudo -E), and under sudo the home of the user who called it.  A variable can
 * add a directory, never remove one.
 *
 * PASSWD_HOME may be NULL.  Heap; an empty list if none exists; NULL: -ENOMEM.
 */
char **caller_homes_find(const char *passwd_home);
