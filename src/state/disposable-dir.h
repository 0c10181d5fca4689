/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/lane.h"

/*
 * A directory whose parts (subdirectories) are written in place by commands and whose content may be lost at any
 * time: policy counts a writable mount of such a part as ephemeral (docs/design/governance.md, step 3). It carries
 * the stamp DISPOSABLE_STAMP, which is written when the directory is made and at no other time. The stamp lies
 * beside the parts and is never mounted, so that no payload can write it; it names the lane and the identity
 * (inode, birth time) of each part, so that neither a copy of it nor another directory under the name of a part
 * is disposable. Only the sandbox lane has such directories.
 */
#define DISPOSABLE_STAMP "disposable"
#define DISPOSABLE_PARTS_MAX 8

/*
 * Makes NAME in DIRFD, mode 0700, with PARTS (names, NULL-terminated) and the stamp: complete or not at all, also
 * after a kill. DIRFD is a directory of custody's own. 1: made here, 0: NAME exists and is unchanged.
 */
int disposable_dir_make(int dirfd, const char *name, const char *const *parts, enum lane lane,
			struct fault *f) _must_check_;

/*
 * Is PART_FD (O_PATH suffices), open from PART in FD, a disposable part of the directory FD? 1: yes. 0: FD has no
 * stamp. Negative: the stamp cannot be trusted (another owner, mode or type, another lane, another directory in
 * place of the part); the caller refuses. PATH of FD is for messages.
 */
int disposable_dir_check(int fd, const char *path, const char *part, int part_fd, enum lane lane,
			 struct fault *f) _must_check_;
