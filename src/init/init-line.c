/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <errno.h>
#include <string.h>

void line_put_bytes(struct line *l, const char *text, size_t len)
{
	for (size_t i = 0; i < len && l->len + 1 < l->room; i++)
		/* Quoted text may come from a hostile image: no control characters. */
		l->text[l->len++] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	l->text[l->len] = '\0';
}

void line_put(struct line *l, const char *text)
{
	line_put_bytes(l, text, strlen(text));
}

void line_put_num(struct line *l, long long value)
{
	char digits[20];
	size_t n = sizeof(digits);
	unsigned long long v = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;

	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	if (value < 0)
		line_put(l, "-");
	line_put_bytes(l, digits + n, sizeof(digits) - n);
}

void line_put_hex(struct line *l, uint64_t value)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		line_put_bytes(l, &"0123456789abcdef"[(value >> shift) & 15], 1);
}

/* clang-format off */
static const char errno_names[][16] = {
	[EPERM] = "EPERM", [ENOENT] = "ENOENT", [ESRCH] = "ESRCH", [EINTR] = "EINTR", [EIO] = "EIO", [ENXIO] = "ENXIO",
	[E2BIG] = "E2BIG", [ENOEXEC] = "ENOEXEC", [EBADF] = "EBADF", [EAGAIN] = "EAGAIN", [ENOMEM] = "ENOMEM",
	[EACCES] = "EACCES", [EFAULT] = "EFAULT", [EBUSY] = "EBUSY", [EEXIST] = "EEXIST", [EXDEV] = "EXDEV",
	[ENODEV] = "ENODEV", [ENOTDIR] = "ENOTDIR", [EISDIR] = "EISDIR", [EINVAL] = "EINVAL", [ENFILE] = "ENFILE",
	[EMFILE] = "EMFILE", [ENOTTY] = "ENOTTY", [ETXTBSY] = "ETXTBSY", [EFBIG] = "EFBIG", [ENOSPC] = "ENOSPC",
	[EROFS] = "EROFS", [EPIPE] = "EPIPE", [ENOSYS] = "ENOSYS", [ELOOP] = "ELOOP", [EOPNOTSUPP] = "EOPNOTSUPP",
	[ENAMETOOLONG] = "ENAMETOOLONG", [EAFNOSUPPORT] = "EAFNOSUPPORT", [ENETUNREACH] = "ENETUNREACH",
};
/* clang-format on */

void line_put_errno(struct line *l, int err)
{
	if (err > 0 && (size_t)err < ARRAY_SIZE(errno_names) && errno_names[err][0]) {
		line_put(l, errno_names[err]);
		return;
	}
	line_put(l, "errno ");
	line_put_num(l, err);
}
