/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "ledger/ledger-impl.h"

void segment_name(uint64_t first, char name[SEGMENT_NAME_SIZE])
{
	(void)snprintf(name, SEGMENT_NAME_SIZE, "%020" PRIu64 ".ndjson", first);
}

static bool parse_name(const char *name, uint64_t *ret_first)
{
	char digits[21];

	if (strlen(name) != SEGMENT_NAME_SIZE - 1 || strcmp(name + 20, ".ndjson") != 0)
		return false;
	memcpy(digits, name, 20);
	digits[20] = '\0';
	return str_to_u64(digits, ret_first) == 0;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int segment_list(int dirfd, uint64_t **ret, size_t *ret_n, struct fault *f)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n = 0, room = 0;
	const struct dirent *entry;
	int fd, saved;
	DIR *dir;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		saved = errno;
		fd_close(fd);
		return fault_errno(f, saved, "open the ledger's directory");
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		uint64_t first, *grown;

		if (!parse_name(entry->d_name, &first))
			continue;
		if (n == room) {
			room = room ? room * 2 : 16;
			grown = reallocarray(list, room, sizeof(*list));
			if (!grown) {
				errno = ENOMEM;
				break;
			}
			list = grown;
		}
		list[n++] = first;
	}
	saved = errno;
	(void)closedir(dir);
	if (saved)
		return fault_errno(f, saved, "list the ledger's directory");
	if (n > 0)
		qsort(list, n, sizeof(*list), by_number);
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

/*
 * A complete segment has mode 0400, so its owner cannot open it for writing, unless that is root; the writer
 * may have been killed before the seal.
 */
static int open_complete(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0600) < 0)
		return -1;
	return openat(dirfd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
}

/* The directory entry is durable before a record relies on it. */
int segment_open(struct ledger *l, uint64_t first, bool create, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char name[SEGMENT_NAME_SIZE];
	bool made = false;

	if (l->segfd >= 0 && l->segment == first)
		return 0;
	segment_name(first, name);
	fd = openat(l->dirfd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		fd = open_complete(l->dirfd, name);
	if (fd < 0 && errno == ENOENT && create) {
		fd = openat(l->dirfd, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		made = true;
	}
	if (fd < 0)
		return fault_errno(f, errno, "open the ledger's segment '%s'", name);
	if (made && fsync(l->dirfd) < 0)
		return fault_errno(f, errno, "sync the ledger's directory");
	fd_close(l->segfd);
	l->segfd = TAKE_FD(fd);
	l->segment = first;
	return 0;
}

/* Rare, so it may sync under the lock: everything before a new segment is on the disk. */
int segment_rotate(struct ledger *l, struct seal *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct ledger_event e = { .kind = "ledger.rotate", .d = d, .verbatim = true };
	int r;

	jdoc_set_int(d, "bytes", (int64_t)s->offset);
	jdoc_set_int(d, "next", (int64_t)(s->index + 1));
	jdoc_set_int(d, "segment", (int64_t)s->segment);
	/* Written to the seal together with the record: after a kill the next process continues from here. */
	s->rotated = 1;
	r = ledger_put_event(l, s, &e, f);
	if (r < 0) {
		s->rotated = 0;
		return r;
	}
	r = segment_enter_next(l, s, f);
	return r < 0 ? r : seal_write(l->sealfd, s, f);
}

int segment_enter_next(struct ledger *l, struct seal *s, struct fault *f)
{
	int r;

	if (fdatasync(l->segfd) < 0)
		return fault_errno(f, errno, "sync the ledger's segment");
	(void)fchmod(l->segfd, 0400); /* complete: a hint, not a protection */
	r = segment_open(l, s->index, true, f);
	if (r < 0)
		return r;
	s->segment = s->synced_index = s->index;
	s->offset = s->synced_offset = s->last_len = s->rotated = 0;
	l->rotated = true;
	return 0;
}

int segment_read(int fd, uint64_t offset, void *bytes, size_t len, size_t *ret_len, struct fault *f)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *)bytes + got, len - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read the ledger");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*ret_len = got;
	return 0;
}
