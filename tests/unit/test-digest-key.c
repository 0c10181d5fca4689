/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "state/digest-key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "tap.h"
#include "unprivileged.h"

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char dir[64];
static struct dirs d;

static void begin(void)
{
	struct fault f = { 0 };

	(void)snprintf(dir, sizeof(dir), "/tmp/test-digest-key.XXXXXX");
	if (!mkdtemp(dir) || setenv("CUSTODY_ROOT", dir, 1) < 0 || dirs_load(&d, &f) < 0) {
		printf("Bail out! no directory: %s\n", fault_text(&f));
		exit(1);
	}
}

static void end(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirs_done(&d);
	d = (struct dirs){ 0 };
	if (tmp < 0 || path_remove_tree(tmp, dir + strlen("/tmp/"), NULL) < 0)
		printf("# '%s' is left\n", dir);
}

static int load(bool create, struct digest_key *ret, char text[256])
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = digest_key_load(&d, NULL, create, ret, &f);

	if (text)
		(void)snprintf(text, 256, "%s", r < 0 ? fault_text(&f) : "");
	return r;
}

static const char *key_path(void)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/" DIGEST_KEY_FILE, d.state);
	return path;
}

/* A key file with TEXT, where a good one was. */
static bool put(const char *text, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;

	(void)unlink(key_path());
	fd = open(key_path(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 && fd_write_all(fd, text, len, NULL) == 0 && fchmod(fd, mode) == 0;
}

static void the_first_use_makes_it_and_the_next_ones_read_it(void)
{
	struct digest_key a = { 0 }, b = { 0 };
	struct stat st;

	begin();
	CHECK(load(false, &a, NULL) == -ENOENT);
	CHECK(access(d.state, F_OK) < 0);
	CHECK(load(true, &a, NULL) == 0);
	CHECK(stat(key_path(), &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_size == 65 &&
	      st.st_nlink == 1);
	CHECK(load(false, &b, NULL) == 0);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0);
	CHECK(load(true, &b, NULL) == 0);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0);
	end();
	begin();
	CHECK(load(true, &b, NULL) == 0);
	CHECK(memcmp(&a, &b, sizeof(a)) != 0);
	end();
}

static void those_that_start_at_once_agree(void)
{
	enum { N = 16 };
	struct digest_key keys[N];
	int out[2], go[2], n = 0;
	pid_t pids[N];

	begin();
	CHECK(pipe2(out, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct digest_key k;
			char c;

			(void)close(go[1]);
			(void)!read(go[0], &c, 1); /* all at once: the end of the pipe */
			if (load(true, &k, NULL) < 0 || write(out[1], &k, sizeof(k)) != (ssize_t)sizeof(k))
				_exit(1);
			_exit(0);
		}
	}
	(void)close(go[0]);
	(void)close(go[1]);
	(void)close(out[1]);
	for (int i = 0; i < N; i++) {
		int status = -1;

		(void)waitpid(pids[i], &status, 0);
		n += status == 0;
	}
	CHECK(n == N);
	CHECK(read(out[0], keys, sizeof(keys)) == (ssize_t)sizeof(keys));
	(void)close(out[0]);
	for (int i = 1; i < N; i++)
		CHECK(memcmp(&keys[0], &keys[i], sizeof(keys[0])) == 0);
	end();
}

static void an_invalid_key_is_refused(void)
{
	static const char good[] = HEX "\n";
	/* clang-format off */
	static const struct { const char *text; size_t len; mode_t mode; int r; } rows[] = {
		{ good, 65, 0600, 0 },
		{ good, 65, 0400, 0 },
		{ good, 65, 0640, -EPERM },
		{ good, 65, 0604, -EPERM },
		{ good, 65, 0620, -EPERM },
		{ good, 64, 0600, -EINVAL },
		{ good, 10, 0600, -EINVAL },
		{ good, 0, 0600, -EINVAL },
		{ HEX "\n\n", 66, 0600, -EINVAL },
		{ HEX "00\n", 67, 0600, -EINVAL },
		{ HEX " ", 65, 0600, -EINVAL },
		{ "AA112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n", 65, 0600, -EINVAL },
		{ "zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n", 65, 0600, -EINVAL },
	};
	/* clang-format on */
	struct digest_key k, before = { .bytes = { 5 } };

	begin();
	CHECK(load(true, &k, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[256];
		int r;

		k = before;
		CHECK(put(rows[i].text, rows[i].len, rows[i].mode));
		r = load(true, &k, text);
		if (r != rows[i].r)
			printf("# row %zu: %d %s\n", i, r, text);
		CHECK(r == rows[i].r);
		/* The path and what to do; never the key. */
		CHECK(r == 0 || (strstr(text, DIGEST_KEY_FILE) && !strstr(text, "00112233")));
		CHECK(r == 0 || memcmp(&k, &before, sizeof(k)) == 0);
	}
	end();
}

static void another_kind_of_file_is_refused_and_left_alone(void)
{
	struct digest_key k;
	struct stat st;

	begin();
	CHECK(load(true, &k, NULL) == 0);
	CHECK(unlink(key_path()) == 0 && symlink("/etc/hostname", key_path()) == 0);
	CHECK(load(true, &k, NULL) < 0);
	CHECK(lstat(key_path(), &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(unlink(key_path()) == 0 && mkfifo(key_path(), 0600) == 0);
	CHECK(load(true, &k, NULL) == -EINVAL);
	CHECK(unlink(key_path()) == 0 && mkdir(key_path(), 0700) == 0);
	CHECK(load(true, &k, NULL) == -EINVAL);
	end();
}

static void a_foreign_owner_is_refused(void)
{
	struct digest_key k;

	begin();
	CHECK(load(true, &k, NULL) == 0);
	if (geteuid() != 0) {
		end();
		return;
	}
	CHECK(chown(key_path(), 64321, 64321) == 0);
	CHECK(load(true, &k, NULL) == -EPERM);
	end();
}

static void the_configured_one_wins(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct digest_key a, k;

	begin();
	CHECK(digest_key_load(&d, HEX, true, &k, &f) == 0);
	CHECK(k.bytes[0] == 0 && k.bytes[1] == 0x11 && k.bytes[31] == 0xff);
	CHECK(access(d.state, F_OK) < 0); /* none is made */
	CHECK(load(true, &a, NULL) == 0);
	CHECK(digest_key_load(&d, HEX, true, &k, &f) == 0 && memcmp(&a, &k, sizeof(a)) != 0);
	CHECK(digest_key_load(&d, "", true, &k, &f) == -EINVAL);
	CHECK(strstr(fault_text(&f), "digest_key"));
	fault_done(&f);
	f = (struct fault){ 0 };
	CHECK(digest_key_load(&d, HEX "0", true, &k, &f) == -EINVAL && !strstr(fault_text(&f), "0011"));
	end();
}

static void load_from_a_read_only_directory(void)
{
	struct digest_key k;
	struct stat st;

	begin();
	CHECK(load(true, &k, NULL) == 0 && unlink(key_path()) == 0 && chmod(d.state, 0500) == 0);
	CHECK(load(true, &k, NULL) == -EACCES);
	CHECK(stat(key_path(), &st) < 0);
	CHECK(chmod(d.state, 0700) == 0);
	end();
}

static void nothing_of_a_key_is_left_when_the_directory_is_read_only(void)
{
	tap_unprivileged(load_from_a_read_only_directory);
}

TAP_MAIN(T(the_first_use_makes_it_and_the_next_ones_read_it), T(those_that_start_at_once_agree),
	 T(an_invalid_key_is_refused), T(another_kind_of_file_is_refused_and_left_alone),
	 T(a_foreign_owner_is_refused), T(the_configured_one_wins),
	 T(nothing_of_a_key_is_left_when_the_directory_is_read_only))
