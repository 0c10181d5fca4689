/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "ledger/ledger-impl.h"

#define CHUNK ((size_t)4 * LEDGER_LINE_MAX)

int ledger_torn_move(struct ledger *l, uint64_t seq, uint64_t from, struct ledger_torn *torn, struct fault *f)
{
	_cleanup_close_ int out = -EBADF;
	_cleanup_free_ char *chunk = NULL;
	struct digest d;
	size_t len;
	int r;

	(void)snprintf(torn->name, sizeof(torn->name), "torn-%020" PRIu64 "-%" PRIu64, seq, l->wall_us());
	out = openat(l->dirfd, torn->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return fault_errno(f, errno, "create '%s'", torn->name);
	chunk = malloc(CHUNK);
	if (!chunk)
		return fault_errno(f, ENOMEM, "copy buffer");
	for (uint64_t at = from;; at += len) {
		r = segment_read(l->segfd, at, chunk, CHUNK, &len, f);
		if (r == 0 && len > 0)
			r = fd_write_all(out, chunk, len, f);
		if (r < 0) {
			(void)unlinkat(l->dirfd, torn->name, 0);
			return r;
		}
		torn->bytes = at + len - from;
		if (len < CHUNK)
			break;
	}
	if (fsync(out) < 0 || fsync(l->dirfd) < 0 || lseek(out, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "sync '%s'", torn->name);
	r = digest_fd(out, &d, f);
	if (r < 0)
		return r;
	digest_to_hex(&d, torn->sha256);
	if (ftruncate(l->segfd, (off_t)from) < 0)
		return fault_errno(f, errno, "truncate the torn end");
	return 0;
}

int ledger_torn_record(struct ledger *l, struct seal *s, const struct ledger_torn *torn, uint64_t lost,
		       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct ledger_event e = { .kind = "ledger.recovered", .status = "noted", .d = d, .verbatim = true };

	jdoc_set_int(d, "bytes", (int64_t)torn->bytes);
	jdoc_set_int(d, "lost", (int64_t)lost);
	if (torn->bytes > 0) {
		jdoc_set_string(d, "file", torn->name);
		jdoc_set_string(d, "sha256", torn->sha256);
		jdoc_set_string(d, "why", torn->why);
	}
	return ledger_put_event(l, s, &e, f);
}
