/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"

#define LINES_BYTES ((size_t)4 * LEDGER_LINE_MAX)
#define CHECKPOINTS_MAX ((size_t)64 * 1024) /* the end of the file of checkpoints: the newest suffice */

static int list_segments(struct ledger_reader *s, struct fault *f)
{
	int r;

	r = segment_list(s->dirfd, &s->segments, &s->n, f);
	if (r < 0)
		return r;
	s->sizes = calloc(s->n + 1, sizeof(*s->sizes));
	if (!s->sizes)
		return fault_errno(f, ENOMEM, "list of segments");
	for (size_t i = 0; i < s->n; i++) {
		char name[SEGMENT_NAME_SIZE];
		struct stat st;

		segment_name(s->segments[i], name);
		if (fstatat(s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return fault_errno(f, errno, "segment '%s'", name);
		/* A copy comes from elsewhere: reading a FIFO would wait forever. */
		if (!S_ISREG(st.st_mode))
			return fault_set(f, EBADMSG, "segment '%s' is not a regular file", name);
		s->sizes[i] = (uint64_t)st.st_size;
		s->total += s->sizes[i];
	}
	return 0;
}

static void read_checkpoints(struct ledger_reader *s)
{
	_cleanup_close_ int fd =
		openat(s->dirfd, LEDGER_CHECKPOINTS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *start;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	if (st.st_size > (off_t)CHECKPOINTS_MAX &&
	    lseek(fd, st.st_size - (off_t)CHECKPOINTS_MAX, SEEK_SET) < 0)
		return;
	if (fd_read_all(fd, 2 * CHECKPOINTS_MAX, &s->checkpoints, &s->checkpoints_len, NULL) < 0)
		return;
	/* Skip to the first complete checkpoint. */
	if (st.st_size > (off_t)CHECKPOINTS_MAX) {
		start = strstr(s->checkpoints, "\n\n" ORIGIN_PREFIX);
		start = start ? start + 2 : s->checkpoints + s->checkpoints_len;
		s->checkpoints_len -= (size_t)(start - s->checkpoints);
		memmove(s->checkpoints, start, s->checkpoints_len + 1);
	}
}

/* A consistent snapshot of segments, seal and checkpoints: writers wait for a few system calls. */
static int snapshot(struct ledger_reader *s, int keysfd, struct fault *f)
{
	_cleanup_close_ int lock =
		openat(s->dirfd, LEDGER_LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_close_ int seal = -EBADF;
	char boot[9];
	int r;

	/* Without a lock file it is a copy that has no writers. */
	while (lock >= 0 && flock(lock, LOCK_SH) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "lock the ledger");
	/* Checkpoints first: the segments read later then include all records that they cover. */
	read_checkpoints(s);
	if (keysfd >= 0)
		seal = openat(keysfd, SEAL_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (seal >= 0) {
		r = seal_read(seal, &s->seal, f);
		if (r < 0)
			return r;
		s->has_seal = true;
		s->same_boot = clock_boot_id(boot, NULL) < 0 ||
			       memcmp(s->seal.boot, boot, sizeof(s->seal.boot)) == 0;
	}
	r = checkpoint_public_load(s->dirfd, &s->public, f);
	if (r == -ENOENT) {
		ledger_clear_fault(f);
		r = 0;
	}
	return r < 0 ? r : list_segments(s, f);
}

int ledger_reader_open_live(const char *state, struct ledger_reader *ret, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_free_ char *dir = path_join(state, LEDGER_DIR), *keys = path_join(state, LEDGER_KEYS_DIR);
	_cleanup_close_ int keysfd = -EBADF;
	int r;

	if (!dir || !keys)
		return fault_errno(f, ENOMEM, "path");
	s.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dirfd < 0 && errno == ENOENT)
		return fault_set(f, ENOENT, "missing ledger in '%s': 'custody ledger init' creates it",
				 state);
	if (s.dirfd < 0)
		return fault_errno(f, errno, "open '%s'", dir);
	keysfd = open(keys, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = snapshot(&s, keysfd, f);
	if (r < 0)
		return fault_wrap(f, r, "ledger in '%s'", state);
	*ret = s;
	s = (struct ledger_reader){ .dirfd = -EBADF, .fd = -EBADF };
	return 0;
}

int ledger_reader_open_path(const char *path, struct ledger_reader *ret, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	struct stat st;
	int r;

	s.fd = strcmp(path, "-") == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	if (s.fd < 0 || fstat(s.fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (S_ISDIR(st.st_mode)) {
		s.dirfd = TAKE_FD(s.fd);
		r = snapshot(&s, -EBADF, f);
		if (r < 0)
			return fault_wrap(f, r, "'%s'", path);
		if (s.n == 0)
			return fault_set(f, ENOENT, "'%s' contains no segment (<20 digits>.ndjson)", path);
	} else if (S_ISREG(st.st_mode)) {
		s.total = (uint64_t)st.st_size;
	}
	*ret = s;
	s = (struct ledger_reader){ .dirfd = -EBADF, .fd = -EBADF };
	return 0;
}

void ledger_reader_done(struct ledger_reader *s)
{
	fd_close(s->dirfd);
	fd_close(s->fd);
	free(s->segments);
	free(s->sizes);
	free(s->public);
	free(s->checkpoints);
	seal_done(&s->seal);
}

void ledger_reader_skip_to(struct ledger_reader *s, uint64_t seq)
{
	while (s->at + 1 < s->n && s->segments[s->at + 1] <= seq) {
		s->total -= s->sizes[s->at];
		s->at++;
	}
}

static int next_segment(struct ledger_reader *s, struct fault *f)
{
	char name[SEGMENT_NAME_SIZE];

	segment_name(s->segments[s->at], name);
	fd_close(s->fd);
	s->fd = openat(s->dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0)
		return fault_errno(f, errno, "open segment '%s'", name);
	s->left = s->sizes[s->at++];
	return 0;
}

int ledger_reader_read(struct ledger_reader *s, char *bytes, size_t len, size_t *ret_len, uint64_t *ret_first,
		       struct fault *f)
{
	uint64_t first = UINT64_MAX;
	ssize_t n;
	int r;

	if (s->dirfd >= 0) {
		while (s->left == 0) {
			if (s->at == s->n) {
				*ret_len = 0;
				*ret_first = first;
				return 0;
			}
			first = s->segments[s->at];
			r = next_segment(s, f);
			if (r < 0)
				return r;
		}
		len = s->left < len ? (size_t)s->left : len;
	}
	do
		n = read(s->fd, bytes, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "read the ledger");
	if (s->dirfd >= 0) {
		/* The file was truncated since the snapshot: verification reports the missing records. */
		s->left = n == 0 ? 0 : s->left - (uint64_t)n;
		if (n == 0)
			s->at = s->n;
	}
	*ret_len = (size_t)n;
	*ret_first = first;
	return 0;
}

int ledger_reader_load_seal(const char *path, struct seal *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = seal_read(fd, ret, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 0;
}

/* Calls EACH for every complete line; returns their length. */
static size_t call_for_lines(const char *bytes, size_t len, ledger_reader_line *each, void *arg)
{
	size_t done = 0;
	const char *lf;

	while ((lf = memchr(bytes + done, '\n', len - done))) {
		size_t n = (size_t)(lf - bytes) + 1 - done;

		each(arg, bytes + done, n);
		done += n;
	}
	return done;
}

int ledger_reader_each_line(struct ledger_reader *s, ledger_reader_line *each, void *arg, struct fault *f)
{
	_cleanup_free_ char *bytes = malloc(LINES_BYTES);
	size_t have = 0, n = 1;
	uint64_t first;

	if (!bytes)
		return fault_errno(f, ENOMEM, "ledger");
	while (n > 0 && have < LINES_BYTES) {
		size_t done;
		int r = ledger_reader_read(s, bytes + have, LINES_BYTES - have, &n, &first, f);

		if (r < 0)
			return r;
		have += n;
		done = call_for_lines(bytes, have, each, arg);
		memmove(bytes, bytes + done, have - done);
		have -= done;
	}
	return 0;
}
