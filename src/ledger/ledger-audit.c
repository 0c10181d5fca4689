/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-audit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "ledger/ledger-record.h"

struct audit {
	const struct redact *redact; /* NULL: none */
	int fd;
	struct ledger_mark mark;
	uint64_t bytes;
	char boot[9];
	char line[LEDGER_LINE_MAX];
};

int audit_open(int dirfd, const char *name, struct audit **ret, struct fault *f)
{
	_cleanup_audit_ struct audit *a = NULL;
	_cleanup_close_ int fd = -EBADF;
	char boot[9];
	int r;

	r = clock_boot_id(boot, f);
	if (r < 0)
		return r;
	fd = openat(dirfd, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", name);
	/* LINE stays as it is: to clear it would touch 64 kB in each run. */
	a = malloc(sizeof(*a));
	if (!a)
		return fault_errno(f, ENOMEM, "audit '%s'", name);
	a->redact = NULL;
	a->fd = TAKE_FD(fd);
	a->mark = (struct ledger_mark){ 0 };
	a->bytes = 0;
	memcpy(a->boot, boot, sizeof(boot));
	*ret = TAKE_PTR(a);
	return 0;
}

void audit_set_redact(struct audit *a, const struct redact *rules)
{
	a->redact = rules;
}

int audit_append(struct audit *a, const struct ledger_event *e, struct fault *f)
{
	struct record_front front = {
		.seq = a->mark.size,
		.prev = a->mark.head,
		.wall_us = clock_wall_us(),
		.boot_ns = clock_boot_ns(),
		.boot = a->boot,
	};
	_cleanup_strbuf_ struct strbuf body = { 0 };
	struct digest head;
	size_t len;
	int r;

	r = record_body(e, a->redact, &body, f);
	if (r < 0)
		return fault_wrap(f, r, "audit");
	len = record_write(a->line, &front, body.text, body.len, NULL, &head);
	r = fd_write_all(a->fd, a->line, len, f);
	if (r < 0) {
		(void)!ftruncate(a->fd, (off_t)a->bytes);
		return fault_wrap(f, r, "audit");
	}
	a->bytes += len;
	a->mark.size++;
	a->mark.head = head;
	return 0;
}

struct ledger_mark audit_mark(const struct audit *a)
{
	return a->mark;
}

void audit_put_mark(struct jdoc *d, const struct ledger_mark *mark)
{
	struct jdoc *audit = jdoc_set_object(d, "audit");
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(&mark->head, hex);
	jdoc_set_int(audit, "records", (int64_t)mark->size);
	jdoc_set_string(audit, "head", hex);
}

int audit_read_mark(int dirfd, const char *name, struct ledger_mark *ret)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *bytes = malloc(2 * LEDGER_LINE_MAX);
	const char *line, *why;
	struct record rec;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!bytes)
		return -ENOMEM;
	n = pread(fd, bytes, 2 * LEDGER_LINE_MAX,
		  st.st_size > 2 * LEDGER_LINE_MAX ? st.st_size - 2 * LEDGER_LINE_MAX : 0);
	while (n > 0 && bytes[n - 1] != '\n')
		n--;
	if (n <= 0)
		return -ENODATA;
	line = memrchr(bytes, '\n', (size_t)n - 1);
	line = line ? line + 1 : bytes;
	if (record_parse(line, (size_t)(bytes + n - line), &rec, &why) < 0 || !record_hash_verify(&rec))
		return -ENODATA;
	ret->size = rec.seq + 1;
	record_head(&rec, &ret->head);
	return 0;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	fd_close(a->fd);
	free(a);
}
