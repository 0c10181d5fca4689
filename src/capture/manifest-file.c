/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/manifest-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define LINE_MAX_LEN ((size_t)24 * 1024 * 1024) /* the longest path, as base64, and its attributes */
#define STEP ((size_t)64 * 1024)

struct manifest_file {
	int fd;
	char *buf;
	size_t room, at, len; /* read, not parsed yet: from AT to LEN */
	uint64_t offset;      /* offset of AT in the file */
	uint64_t lines;
};

void manifest_close(struct manifest_file *m)
{
	if (!m)
		return;
	fd_close(m->fd);
	free(m->buf);
	free(m);
}

int manifest_open(int evidence, struct manifest_file **ret, struct fault *f)
{
	_cleanup_manifest_ struct manifest_file *m = calloc(1, sizeof(*m));
	struct stat st;

	if (!m)
		return fault_errno(f, ENOMEM, "manifest");
	m->fd = openat(evidence, MANIFEST_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (m->fd < 0 || fstat(m->fd, &st) < 0)
		return fault_errno(f, errno, "open " MANIFEST_NAME);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EBADMSG, MANIFEST_NAME " is not a regular file");
	*ret = TAKE_PTR(m);
	return 0;
}

void manifest_seek(struct manifest_file *m, uint64_t offset)
{
	m->offset = offset;
	m->at = m->len = 0;
}

static int fill(struct manifest_file *m, struct fault *f)
{
	ssize_t n;

	if (m->at > 0) {
		memmove(m->buf, m->buf + m->at, m->len - m->at);
		m->len -= m->at;
		m->at = 0;
	}
	if (m->room - m->len < STEP) {
		size_t room = m->room ? m->room * 2 : 2 * STEP;
		char *grown = room <= 2 * LINE_MAX_LEN ? realloc(m->buf, room) : NULL;

		if (!grown)
			return fault_set(f, EMSGSIZE, MANIFEST_NAME " has a line that is too long");
		m->buf = grown;
		m->room = room;
	}
	do
		n = pread(m->fd, m->buf + m->len, m->room - m->len, (off_t)(m->offset + m->len));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "read " MANIFEST_NAME);
	m->len += (size_t)n;
	return n > 0;
}

int manifest_next(struct manifest_file *m, struct manifest_entry *ret, uint64_t *ret_offset, struct fault *f)
{
	size_t searched = 0;
	const char *end;
	int r;

	while (!(end = m->len > m->at ? memchr(m->buf + m->at + searched, '\n', m->len - m->at - searched)
				      : NULL)) {
		searched = m->len - m->at;
		r = fill(m, f);
		if (r < 0)
			return r;
		if (r == 0 && m->len == m->at)
			return 0;
		if (r == 0)
			return fault_set(f, EBADMSG, MANIFEST_NAME " ends in the middle of a line");
	}
	r = manifest_read(m->buf + m->at, (size_t)(end - m->buf) - m->at, ret, f);
	if (r < 0)
		return fault_wrap(f, r, "at byte %llu", (unsigned long long)m->offset);
	if (ret_offset)
		*ret_offset = m->offset;
	m->offset += (uint64_t)(end - m->buf) - m->at + 1;
	m->at = (size_t)(end - m->buf) + 1;
	return 1;
}
