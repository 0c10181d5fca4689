/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>

#include "credential/credential.h"

/* Private to the room. */
#define CREDENTIAL_DIR "credentials"
#define CREDENTIAL_EXEC_MS 10000 /* for one call of a program */
#define CREDENTIAL_OUTPUT_MAX CREDENTIAL_VALUE_MAX
#define CREDENTIAL_KEEP_S 300 /* a token without an expiry is kept this long */

#define CREDENTIAL_KEEP_MAX_S 86400 /* and one with a later expiry this long */

/* credential.c: how long a token that lives for LEFT_US more is kept. */
uint64_t credential_keep_ns(uint64_t left_us);

/* credential-store.c: the directory; -ENOENT without a fault if it is missing.  MAKE: created and stamped. */
int credential_store_open(const struct dirs *d, bool make, struct fault *f) _must_check_;

/* credential-store-file.c: one file.  VALUE NULL: the header alone. */
int credential_file_write(int dirfd, const struct credential_info *i, const struct secret *value,
			  struct fault *f) _must_check_;
int credential_file_read(int dirfd, const char *name, enum lane lane, struct credential_info *ret,
			 struct secret **value, struct fault *f) _must_check_;
#define CREDENTIAL_SUFFIX ".credential"
#define CREDENTIAL_USE_SUFFIX ".use"
#define CREDENTIAL_FILE_SIZE (CREDENTIAL_NAME_MAX + sizeof(CREDENTIAL_SUFFIX))
void credential_file_name(const char *name, const char *suffix, char file[CREDENTIAL_FILE_SIZE]);

/* Time of the last use and the expiry: of no importance, so a failure is ignored. */
void credential_note_use(int dirfd, const char *name, uint64_t expires_us);
void credential_read_use(int dirfd, struct credential_info *i);

/* credential-source.c */
struct credential_loaded {
	struct secret *value;
	uint64_t expires_us; /* 0: none */
};
int credential_load(const struct dirs *d, const struct credential_info *i, struct credential_loaded *ret,
		    struct fault *f) _must_check_;
/*
 * PATH (absolute, links resolved: *RET_REAL, which may be NULL) and each directory above it belong to root or the caller, and
 * no other user can write them.  Opens it for reading.
 */
int credential_open_trusted(const char *path, char **ret_real, struct fault *f) _must_check_;

/* credential-exec.c: what PATH prints. */
int credential_exec(const char *path, const char *name, unsigned int timeout_ms, struct secret **ret,
		    struct fault *f) _must_check_;
