/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "oci/libcrun/libcrun-wrap.h"

/*
 * libcrun can keep compiled filters in the state root, by a checksum of the configuration; 1.21 and 1.28 of Debian do so.  The
 * checksum joins names without a separator, so two profiles can have the same one, and the second container would get the
 * filter of the first.  That cache is off; seccomp-cache.c has ours.
 */
#define SKIP_CACHE (1U << 1) /* LIBCRUN_SECCOMP_SKIP_CACHE */

int __wrap_libcrun_open_seccomp_bpf(struct libcrun_seccomp_gen_ctx_s *ctx, int *fd, libcrun_error_t *err)
{
	ctx->options |= SKIP_CACHE;
	return __real_libcrun_open_seccomp_bpf(ctx, fd, err);
}

/*
 * The archive of 1.28 refers to libblake3, for that checksum alone; Debian has no static archive of it.  A call would use a checksum
 * that was not computed: the process ends instead.
 */
#ifdef LIBCRUN_NEEDS_BLAKE3
void blake3_hasher_init(void *hasher);
void blake3_hasher_update(void *hasher, const void *bytes, size_t len);
void blake3_hasher_finalize(const void *hasher, uint8_t *ret, size_t len);

__attribute__((noreturn)) static void refuse(void)
{
	(void)fputs("custody: libcrun uses its cache of filters, which is off\n", stderr);
	abort();
}

void blake3_hasher_init(void *hasher)
{
	(void)hasher;
	refuse();
}

void blake3_hasher_update(void *hasher, const void *bytes, size_t len)
{
	(void)hasher;
	(void)bytes;
	(void)len;
	refuse();
}

void blake3_hasher_finalize(const void *hasher, uint8_t *ret, size_t len)
{
	(void)hasher;
	(void)ret;
	(void)len;
	refuse();
}
#endif
