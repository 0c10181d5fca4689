/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In its own pages, which are locked and left out of dumps as a whole. */
struct secret {
	size_t size; /* of the mapping */
	size_t room, len;
	char bytes[];
};

int secret_new(size_t room, struct secret **ret, struct fault *f)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = (sizeof(struct secret) + room + 1 + page - 1) / page * page;
	struct secret *s;
	int e;

	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return fault_errno(f, errno, "memory for a credential");
	if (mlock(s, size) < 0 || madvise(s, size, MADV_DONTDUMP) < 0) {
		e = errno;
		(void)munmap(s, size);
		return fault_errno(
			f, e,
			"lock %zu bytes of memory for a credential, so that it is never swapped out "
			"(raise the limit: ulimit -l)",
			size);
	}
	s->size = size;
	s->room = room;
	*ret = s;
	return 0;
}

int secret_hide(struct secret *s, struct fault *f)
{
	return madvise(s, s->size, MADV_DONTFORK) < 0 ? fault_errno(f, errno, "memory for a credential") : 0;
}

void secret_free(struct secret *s)
{
	if (!s)
		return;
	explicit_bzero(s->bytes, s->size - sizeof(*s));
	(void)munmap(s, s->size);
}

const char *secret_bytes(const struct secret *s)
{
	return s->bytes;
}

size_t secret_len(const struct secret *s)
{
	return s->len;
}

char *secret_room(struct secret *s, size_t *ret_left)
{
	*ret_left = s->room - s->len;
	return s->bytes + s->len;
}

void secret_grow(struct secret *s, size_t len)
{
	s->len += len;
}

void secret_cut(struct secret *s, size_t from, size_t len)
{
	memmove(s->bytes, s->bytes + from, len);
	explicit_bzero(s->bytes + len, s->len - len);
	s->len = len;
}

void secret_cut_line_end(struct secret *s)
{
	size_t len = s->len;

	if (len > 0 && s->bytes[len - 1] == '\n')
		len--;
	if (len > 0 && s->bytes[len - 1] == '\r')
		len--;
	secret_cut(s, 0, len);
}

int secret_add(struct secret *s, const char *bytes, size_t len, struct fault *f)
{
	if (len > s->room - s->len)
		return fault_set(f, EMSGSIZE, "a credential has at most %zu bytes", s->room);
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
	return 0;
}

int secret_read(int fd, size_t max, struct secret **ret, struct fault *f)
{
	_cleanup_secret_ struct secret *s = NULL;
	int r = secret_new(max + 1, &s, f);

	while (r == 0 && s->len <= max) {
		ssize_t n = read(fd, s->bytes + s->len, s->room - s->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read");
		if (n == 0)
			break;
		s->len += (size_t)n;
	}
	if (r < 0)
		return r;
	if (s->len > max)
		return fault_set(f, EMSGSIZE, "more than %zu bytes", max);
	*ret = TAKE_PTR(s);
	return 0;
}
