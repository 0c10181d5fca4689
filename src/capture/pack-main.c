/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * custody-pack: writes the files of a tree as worktree.tar.zst, and reads them back.  A filter without paths of its own:
 * `pack` reads the stream of capture/pack-proto.h and writes the archive to standard output, `unpack` does the reverse.
 *
 * A separate process, because loading libarchive would slow down every start of custody, because only this process hangs
 * if a share does, and because an archive is untrusted input: unpack drops its rights before it reads a byte.  The exit
 * status is 0, or the errno of the call that failed.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/pack-proto.h"

#define STEP ((size_t)64 * 1024)
#define WRITE_OUT ((off_t)8 * 1024 * 1024)
#define MEMORY_MAX ((rlim_t)512 * 1024 * 1024) /* of address space, mostly libraries */
#define NOBODY 65534
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0 /* sanitizers: their shadow memory would count */
#endif

static int code_of(struct archive *a)
{
	int code = archive_errno(a);

	fprintf(stderr, "custody-pack: %s\n", archive_error_string(a) ?: "failed");
	return code > 0 && code < 256 ? code : EIO;
}

/* Input that is not consumed yet: headers and names are short, and one system call for each would cost more. */
struct input {
	char *bytes; /* STEP bytes */
	size_t at, n;
};

/* 0: input is available; EPIPE: the stream ended in the middle. */
static int fill(struct input *in)
{
	ssize_t n;

	if (in->at < in->n)
		return 0;
	do
		n = read(STDIN_FILENO, in->bytes, STEP);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? errno : EPIPE;
	in->at = 0;
	in->n = (size_t)n;
	return 0;
}

/* At most LEN bytes, in place. */
static const char *take(struct input *in, uint64_t len, size_t *ret)
{
	const char *from = in->bytes + in->at;

	*ret = in->n - in->at < len ? in->n - in->at : (size_t)len;
	in->at += *ret;
	return from;
}

static int read_full(struct input *in, void *to, size_t len)
{
	char *at = to;

	while (len > 0) {
		const char *from;
		size_t step;
		int r = fill(in);

		if (r != 0)
			return r;
		from = take(in, len, &step);
		memcpy(at, from, step);
		at += step;
		len -= step;
	}
	return 0;
}

static int write_full(const void *from, size_t len)
{
	const char *at = from;

	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- pack ----------------------------------------------------------------------------------------------------------- */

static int put_head(struct archive *a, struct archive_entry *e, const struct pack_head *head,
		    const char *name)
{
	archive_entry_clear(e);
	archive_entry_copy_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, (mode_t)head->mode);
	archive_entry_set_size(e, (la_int64_t)head->size);
	archive_entry_set_mtime(e, (time_t)head->mtime_s, (long)head->mtime_ns);
	return archive_write_header(a, e) < ARCHIVE_WARN ? code_of(a) : 0;
}

static int put_data(struct archive *a, struct input *in, uint64_t left)
{
	while (left > 0) {
		const char *from;
		size_t step;
		int r = fill(in);

		if (r != 0)
			return r;
		from = take(in, left, &step);
		if (archive_write_data(a, from, step) != (la_ssize_t)step)
			return code_of(a);
		left -= step;
	}
	return 0;
}

static int put_all(struct archive *a, struct archive_entry *e, struct input *in, char *name)
{
	for (;;) {
		struct pack_head head;
		int r = read_full(in, &head, sizeof(head));

		if (r == 0 && head.type == PACK_END)
			return 0;
		if (r == 0 && head.len > PACK_NAME_MAX)
			r = EBADMSG;
		if (r == 0)
			r = read_full(in, name, head.len);
		if (r == 0) {
			name[head.len] = '\0';
			r = put_head(a, e, &head, name);
		}
		if (r == 0)
			r = put_data(a, in, head.size);
		if (r != 0)
			return r;
	}
}

/* Bytes written, and how many of them writeback was started for. */
struct output {
	off_t written, begun;
};

/* Writeback during compression, else the final fsync would write everything. */
static la_ssize_t write_some(struct archive *a, void *arg, const void *bytes, size_t len)
{
	struct output *out = arg;
	int r = write_full(bytes, len);

	if (r != 0) {
		archive_set_error(a, r, "write");
		return -1;
	}
	out->written += (off_t)len;
	if (out->written - out->begun >= WRITE_OUT) {
		/* Errors are reported by fsync. */
		(void)sync_file_range(STDOUT_FILENO, out->begun, out->written - out->begun,
				      SYNC_FILE_RANGE_WRITE);
		out->begun = out->written;
	}
	return (la_ssize_t)len;
}

/* A share may report ENOSPC only at close. */
static int pack(struct archive *a, struct archive_entry *e, char *buffer, char *name)
{
	struct input in = { .bytes = buffer };
	struct output out = { 0 };
	int r = 0;

	/*
	 * Only a name that is not ASCII gets a pax header; with hdrcharset=BINARY every name would, a fifth of the tar.
	 */
	if (archive_write_set_format_pax_restricted(a) < ARCHIVE_WARN ||
	    archive_write_add_filter_zstd(a) < ARCHIVE_WARN ||
	    archive_write_set_options(a, "zstd:compression-level=1") < ARCHIVE_WARN ||
	    archive_write_set_bytes_per_block(a, (int)STEP) < ARCHIVE_WARN ||
	    archive_write_set_bytes_in_last_block(a, 1) < ARCHIVE_WARN ||
	    archive_write_open(a, &out, NULL, write_some, NULL) != ARCHIVE_OK)
		return code_of(a);
	r = put_all(a, e, &in, name);
	if (r == 0 && archive_write_close(a) != ARCHIVE_OK)
		r = code_of(a);
	if (r == 0 && fsync(STDOUT_FILENO) < 0)
		r = errno;
	if (r == 0 && close(STDOUT_FILENO) < 0)
		r = errno;
	return r;
}

/* --- unpack --------------------------------------------------------------------------------------------------------- */

/* Everything needed is open: drop all rights. */
static int give_rights_away(void)
{
	const struct rlimit nothing = { 0, 0 }, some = { MEMORY_MAX, MEMORY_MAX };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setrlimit(RLIMIT_FSIZE, &nothing) < 0 ||
	    (!SANITIZED && setrlimit(RLIMIT_AS, &some) < 0))
		return errno;
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return errno;
	return setrlimit(RLIMIT_NPROC, &nothing) < 0 ? errno : 0;
}

static int tell_file(struct archive *a, struct archive_entry *e, char *buffer)
{
	const char *name = archive_entry_pathname(e);
	const struct pack_head head = { .type = PACK_FILE,
					.size = (uint64_t)archive_entry_size(e),
					.len = name ? (uint32_t)strnlen(name, PACK_NAME_MAX) : 0 };
	uint64_t left = head.size;
	int r;

	if (!name || archive_entry_size(e) < 0)
		return EBADMSG;
	r = write_full(&head, sizeof(head));
	if (r == 0)
		r = write_full(name, head.len);
	while (r == 0 && left > 0) {
		la_ssize_t n = archive_read_data(a, buffer, left < STEP ? (size_t)left : STEP);

		if (n <= 0)
			return n < 0 ? code_of(a) : EBADMSG;
		r = write_full(buffer, (size_t)n);
		left -= (uint64_t)n;
	}
	return r;
}

/* Read without fstat: a FUSE share may refuse a stat by another uid. */
static la_ssize_t read_some(struct archive *a, void *bytes, const void **ret)
{
	ssize_t n;

	do
		n = read(STDIN_FILENO, bytes, STEP);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		archive_set_error(a, errno, "read");
	*ret = bytes;
	return n;
}

static int unpack(struct archive *a, char *buffer)
{
	const struct pack_head end = { .type = PACK_END };
	_cleanup_free_ char *bytes = malloc(STEP);
	struct archive_entry *e;
	int r = bytes ? give_rights_away() : ENOMEM, got;

	if (r != 0)
		return r;
	if (archive_read_support_filter_zstd(a) < ARCHIVE_WARN ||
	    archive_read_support_format_tar(a) < ARCHIVE_WARN ||
	    archive_read_open(a, bytes, NULL, read_some, NULL) != ARCHIVE_OK)
		return code_of(a);
	while (r == 0 && (got = archive_read_next_header(a, &e)) != ARCHIVE_EOF) {
		if (got < ARCHIVE_WARN)
			return code_of(a);
		if (archive_entry_filetype(e) == AE_IFREG)
			r = tell_file(a, e, buffer);
	}
	return r == 0 ? write_full(&end, sizeof(end)) : r;
}

int main(int argc, char **argv)
{
	bool packing = argc == 2 && strcmp(argv[1], "pack") == 0;
	struct archive *a = packing ? archive_write_new() : archive_read_new();
	struct archive_entry *e = archive_entry_new();
	char *buffer = malloc(STEP), *name = malloc(PACK_NAME_MAX + 1);
	int r;

	if (argc != 2 || (!packing && strcmp(argv[1], "unpack") != 0)) {
		fprintf(stderr, "custody-pack: internal program, started by custody\n");
		return 64;
	}
	if (!a || !e || !buffer || !name)
		return ENOMEM;
	r = packing ? pack(a, e, buffer, name) : unpack(a, buffer);
	/* _exit: freeing a failed archive would write its rest; after dropping rights no cleanup is possible. */
	if (r != 0 || !packing)
		_exit(r);
	(void)archive_free(a);
	archive_entry_free(e);
	free(buffer);
	free(name);
	return 0;
}
