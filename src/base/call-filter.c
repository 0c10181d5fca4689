/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/call-filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nettle/base64.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

int call_filter_install(const char *base64, struct fault *f)
{
	const size_t len = strlen(base64);
	_cleanup_free_ uint8_t *bytes = malloc(BASE64_DECODE_LENGTH(len) + 1);
	struct base64_decode_ctx ctx;
	struct sock_fprog program;
	size_t n = BASE64_DECODE_LENGTH(len);

	if (!bytes)
		return fault_errno(f, ENOMEM, "decode the system call filter");
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, bytes, len, base64) || !base64_decode_final(&ctx) || n == 0 ||
	    n % sizeof(struct sock_filter) != 0 || n / sizeof(struct sock_filter) > BPF_MAXINSNS)
		return fault_set(f, EINVAL, "the system call filter is not a BPF program");
	program = (struct sock_fprog){ .len = (unsigned short)(n / sizeof(struct sock_filter)),
				       .filter = (struct sock_filter *)(void *)bytes };
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fault_errno(f, errno, "install the system call filter");
	return 0;
}
