/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/prompt-rate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define MINUTE_NS UINT64_C(60000000000)
#define LINE_MAX_BYTES 40
#define FILE_MAX_BYTES ((size_t)PROMPT_RATE_MAX * LINE_MAX_BYTES)

/* Lines "BOOT NANOSECONDS": entries of another boot, or from before a clock jump, count as old. */
static unsigned int keep_recent(const char *text, const struct moment *now, struct strbuf *out)
{
	unsigned int n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char boot[9];
		uint64_t at;

		if (sscanf(text, "%8[0-9a-f] %" SCNu64, boot, &at) == 2 && strcmp(boot, now->boot) == 0 &&
		    at <= now->boot_ns && now->boot_ns - at < MINUTE_NS) {
			strbuf_add(out, text, len);
			strbuf_putc(out, '\n');
			n++;
		}
		text += len + (text[len] == '\n');
	}
	return n;
}

static int rewrite(int fd, const struct strbuf *b, struct fault *f)
{
	if (b->broken)
		return fault_errno(f, ENOMEM, "limit the rate of prompts");
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "limit the rate of prompts");
	return fd_write_all(fd, b->text, b->len, f);
}

int prompt_rate_take(const struct approval_store *d, const char *file, unsigned int per_minute,
		     bool *ret_allowed, struct fault *f)
{
	const unsigned int limit = per_minute < PROMPT_RATE_MAX ? per_minute : PROMPT_RATE_MAX;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct moment now;
	size_t len;
	int r = approval_store_now(d, &now, f);

	if (r < 0)
		return r;
	fd = openat(d->dirfd, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "%s/%s", d->state, file);
	r = fd_require_private(fd, geteuid(), f);
	if (r < 0)
		return fault_wrap(f, r, "%s/%s", d->state, file);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "%s/%s", d->state, file);
	r = fd_read_all(fd, FILE_MAX_BYTES, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "%s/%s", d->state, file);
	if (keep_recent(text, &now, &b) >= limit) {
		*ret_allowed = false;
		return 0;
	}
	strbuf_printf(&b, "%s %" PRIu64 "\n", now.boot, now.boot_ns);
	r = rewrite(fd, &b, f);
	if (r == 0)
		*ret_allowed = true;
	return r;
}
