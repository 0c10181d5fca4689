/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/capture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/capture-entry.h"
#include "capture/manifest-file.h"
#include "capture/restore.h"
#include "tap.h"
#include "tree-fixture.h"

static const struct capture_options plain = { .any_names = true };

/* The first line where two portraits differ, for the message of a failure. */
static bool is_same(const char *a, const char *b)
{
	if (a && b && strcmp(a, b) == 0)
		return true;
	while (a && b && *a && *b) {
		size_t n = strcspn(a, "\n");

		if (n != strcspn(b, "\n") || memcmp(a, b, n) != 0) {
			_cleanup_free_ char *x = strndup(a, n), *y = strndup(b, strcspn(b, "\n"));
			_cleanup_free_ char *was = str_escape(x), *is = str_escape(y);

			printf("# was %s\n# is  %s\n", was, is);
			break;
		}
		a += n + 1;
		b += n + 1;
	}
	return false;
}

static bool find_entry(int evidence, const char *path, struct manifest_entry *ret)
{
	_cleanup_manifest_ struct manifest_file *m = NULL;

	if (manifest_open(evidence, &m, NULL) < 0)
		return false;
	for (;;) {
		struct manifest_entry e = { 0 };

		if (manifest_next(m, &e, NULL, NULL) <= 0)
			return false;
		if (str_eq(e.path, path)) {
			*ret = e;
			return true;
		}
		manifest_entry_done(&e);
	}
}

static void the_odd_tree_comes_back_exactly(const struct capture_options *o)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	_cleanup_free_ char *was = NULL, *is = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const bool root = geteuid() == 0;
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_make(&back) && tree_make_odd(&t, root));
	was = tree_portrait(t.fd, root);
	CHECK(was && capture_tree(t.fd, out.fd, o, &s, &f) == 0);
	CHECK(s.missing == (root ? 0 : 1) && s.unstable == 0 && s.entries > 30 && !s.cut_short);
	if (!root)
		return;
	CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ .exact = true }, &restored, &f) == 0);
	CHECK(restored.damaged == 0 && restored.left_out == 0 && restored.entries == s.entries);
	is = tree_portrait(back.fd, true);
	CHECK(is_same(was, is));
}

static void ISO_5_the_odd_tree_comes_back_exactly(void)
{
	the_odd_tree_comes_back_exactly(&plain);
}

static void ISO_5_through_a_target_that_knows_no_names_and_no_links(void)
{
	the_odd_tree_comes_back_exactly(&(struct capture_options){ .threads = 1 });
}

/* More names than one thread gets at once, large files among them, and subdirectories in between. */
static bool make_wide(int fd, unsigned int n)
{
	static char bytes[200000];

	for (unsigned int i = 0; i < n; i++) {
		_cleanup_close_ int file = -EBADF, below = -EBADF;
		char name[16];

		(void)snprintf(name, sizeof(name), "f%u", i);
		memset(bytes, (int)('a' + i % 26), sizeof(bytes));
		file = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (file < 0 || fd_write_all(file, bytes, i % 40 ? i : sizeof(bytes), NULL) < 0)
			return false;
		(void)snprintf(name, sizeof(name), "d%u", i);
		if (i % 20 == 0 && (mkdirat(fd, name, 0700) < 0 ||
				    (below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
				    !tree_put(below, "inside", name, 0600)))
			return false;
	}
	return true;
}

/* Deeper than names are gathered while their subdirectories are walked. */
static bool make_ladder(int fd, unsigned int levels)
{
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	bool good = at >= 0;

	for (unsigned int i = 0; good && i < levels; i++) {
		int next = -EBADF;

		good = tree_put(at, "before", "x", 0600) && mkdirat(at, "m", 0700) == 0 &&
		       tree_put(at, "z", "behind", 0600) &&
		       (next = openat(at, "m", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0;
		fd_close(at);
		at = next;
	}
	fd_close(at);
	return good;
}

static void wide_and_deep_trees_are_kept_by_any_number_of_threads(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_free_ char *was = NULL;

	CHECK(tree_make(&t) && make_wide(t.fd, 300) && make_ladder(t.fd, 80));
	was = tree_portrait(t.fd, false);
	CHECK(was);
	for (unsigned int threads = 1; threads <= CAPTURE_THREADS_MAX; threads += 3) {
		_cleanup_tree_ struct tree out = { .fd = -EBADF }, back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };
		struct capture_options o = { .any_names = true, .threads = threads };
		_cleanup_free_ char *is = NULL;
		struct capture_stats s;

		CHECK(tree_make(&out) && tree_make(&back));
		CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.missing == 0 && s.unstable == 0);
		CHECK(s.files == 300 + 15 + 160 && s.entries == s.files + 15 + 80 + 1);
		CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ .exact = true }, &restored,
				   NULL) == 0 &&
		      restored.damaged == 0 && restored.entries == s.entries);
		is = tree_portrait(back.fd, false);
		CHECK(is_same(was, is));
	}
}

/* By default nothing comes back that could be run or opened by mistake. */
static void ISO_5_a_plain_restore_is_harmless(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	_cleanup_walk_ struct walk *w = NULL;
	struct capture_stats s;
	struct walk_entry e;
	int r;

	CHECK(tree_make(&t) && tree_make(&out) && tree_make(&back) && tree_make_odd(&t, geteuid() == 0));
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0);
	CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ 0 }, &restored, NULL) == 0);
	CHECK(restored.left_out >= 2 && restored.damaged == 0 && restored.first);
	CHECK(walk_new(back.fd, 0, &w, NULL) == 0);
	while ((r = walk_next(w, &e, NULL)) > 0) {
		mode_t type = e.stx.stx_mode & S_IFMT;

		CHECK(r == WALK_LEAVE || type == S_IFREG || type == S_IFDIR || type == S_IFLNK);
		CHECK(r == WALK_LEAVE || type == S_IFLNK || !(e.stx.stx_mode & 07000));
		CHECK(r == WALK_LEAVE || e.stx.stx_uid == geteuid());
	}
	CHECK(r == 0);
}

static void the_mirror_never_has_set_id_bits(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	struct capture_stats s;
	struct stat st;

	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "suid", "x", 06755));
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0);
	CHECK(fstatat(out.fd, "worktree/suid", &st, 0) == 0 && !(st.st_mode & 07000));
	CHECK(find_entry(out.fd, "suid", &e) && e.mode == 06755);
}

/* Mode, owner and access list of the worktree's root are the payload's choice. */
static void ISO_5_the_target_of_a_restore_keeps_its_own_access(void)
{
	/* struct posix_acl_xattr_header, and five entries: owner, user 64321, group, mask, others */
	static const unsigned char list[] = { 2,   0,	0,   0,	  1,   0,    7,	   0,	255, 255, 255,
					      255, 2,	0,   7,	  0,   0x41, 0xfb, 0,	0,   4,	  0,
					      7,   0,	255, 255, 255, 255,  16,   0,	7,   0,	  255,
					      255, 255, 255, 32,  0,   7,    0,	   255, 255, 255, 255 };
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "a", "a", 04755));
	CHECK(fchmod(t.fd, 07777) == 0);
	if (fsetxattr(t.fd, "system.posix_acl_access", list, sizeof(list), 0) < 0)
		CHECK(errno == EOPNOTSUPP);
	CHECK(geteuid() != 0 || fchown(t.fd, 64321, 64321) == 0);
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0);
	for (int exact = 0; exact < 2; exact++) {
		_cleanup_tree_ struct tree back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };
		_cleanup_fault_ struct fault f = { 0 };
		struct stat st;

		CHECK(tree_make(&back) && fchmod(back.fd, 0700) == 0);
		CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ .exact = exact }, &restored,
				   &f) == 0);
		CHECK(fstat(back.fd, &st) == 0 && (st.st_mode & 07777) == 0700 && st.st_uid == geteuid());
		CHECK(fgetxattr(back.fd, "system.posix_acl_access", NULL, 0) < 0);
		CHECK(fstatat(back.fd, "a", &st, 0) == 0 && (st.st_mode & 07777) == (exact ? 04755 : 0755));
	}
	for (mode_t open = 01; open <= 070; open <<= 1) {
		_cleanup_tree_ struct tree back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };

		CHECK(tree_make(&back) && fchmod(back.fd, 0700 | open) == 0);
		CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ .exact = true }, &restored,
				   NULL) == -EPERM);
		CHECK(faccessat(back.fd, "a", F_OK, 0) < 0);
	}
}

static void a_directory_with_other_names_in_it_gets_none_of_the_tree(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	static const char *const names[] = { "other", ".hidden", "b" };
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "a", "a", 0644) &&
	      mkdirat(t.fd, "b", 0755) == 0 && capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_tree_ struct tree back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };

		CHECK(tree_make(&back) && mkdirat(back.fd, names[i], 0700) == 0);
		CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ 0 }, &restored, NULL) ==
		      -ENOTEMPTY);
		CHECK(faccessat(back.fd, "a", F_OK, 0) < 0);
	}
}

static void a_changed_copy_is_not_restored(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_make(&back));
	CHECK(tree_put(t.fd, "a", "right", 0644) && tree_put(t.fd, "b", "other", 0644));
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0);
	CHECK(tree_put(out.fd, "worktree/a", "wrong", 0644));
	CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ 0 }, &restored, NULL) == 0);
	CHECK(restored.damaged == 1 && str_starts(restored.first, "a: "));
	CHECK(faccessat(back.fd, "a", F_OK, 0) < 0 && faccessat(back.fd, "b", F_OK, 0) == 0);
}

/* A manifest is untrusted input: nothing is created outside the target, whatever its content. */
static void a_bent_manifest_makes_nothing_outside(void)
{
	static const char *const bent[] = {
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"../"
		"x\",\"size\":0,\"t\":\"d\",\"uid\":0}\n",
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"/"
		"x\",\"size\":0,\"t\":\"d\",\"uid\":0}\n",
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"a/../"
		"x\",\"size\":0,\"t\":\"d\",\"uid\":0}\n",
		/* A link, and then something behind it. */
		"{\"alloc\":0,\"gid\":0,\"link\":\"..\",\"mode\":\"0777\",\"mtime\":[0,0],\"p\":\"l\","
		"\"size\":0,\"t\":\"l\",\"uid\":0}\n"
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"l/"
		"x\",\"size\":0,\"t\":\"d\",\"uid\":0}\n",
		/* Bytes from outside. */
		"{\"alloc\":0,\"at\":\"../"
		"secret\",\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"y\",\"size\":1,\"t\":\"f\","
		"\"uid\":0}\n",
		/* An unknown key, a number for a text, half a line. */
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"x\",\"size\":0,\"t\":\"d\","
		"\"uid\":0,\"z\":1}\n",
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":7,\"size\":0,\"t\":\"d\","
		"\"uid\":0}\n",
		"{\"alloc\":0,\"gid\":0,\"mode\":\"0755\",\"mtime\":[0,0],\"p\":\"x\",\"size\":0,\"t\":\"d\","
		"\"uid\":0}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bent); i++) {
		_cleanup_tree_ struct tree outer = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };
		_cleanup_close_ int evidence = -EBADF, target = -EBADF;

		CHECK(tree_make(&outer) && mkdirat(outer.fd, "ev", 0700) == 0 &&
		      mkdirat(outer.fd, "to", 0700) == 0);
		CHECK(tree_put(outer.fd, "secret", "s", 0600));
		evidence = openat(outer.fd, "ev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		target = openat(outer.fd, "to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(tree_put(evidence, MANIFEST_NAME, bent[i], 0600));
		CHECK(restore_tree(evidence, target, &(struct restore_options){ 0 }, &restored, NULL) < 0 ||
		      restored.damaged == 1);
		CHECK(faccessat(outer.fd, "x", F_OK, 0) < 0 && faccessat(target, "y", F_OK, 0) < 0);
	}
}

static void limits_cut_and_say_so(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	struct capture_options o = plain;
	struct capture_stats s;
	struct stat st;
	char big[20001];

	memset(big, 'x', 20000);
	big[20000] = '\0';
	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "big", big, 0600));
	o.max_file = 5000;
	CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.missing == 1 && s.bytes == 5000);
	CHECK(fstatat(out.fd, "worktree/big", &st, 0) == 0 && st.st_size == 5000);
	CHECK(find_entry(out.fd, "big", &e) && e.size == 20000 && e.why && str_starts(e.why, "limit: "));
}

static void enough_data_and_enough_entries(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, few = { .fd = -EBADF };
	struct capture_options o = plain;
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_make(&few));
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%d", i);
		CHECK(tree_put(t.fd, name, "0123456789", 0600));
	}
	o.max_bytes = 55;
	CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.entries == 21 && s.bytes == 55 &&
	      s.missing == 15);
	o = plain;
	o.max_entries = 7;
	CHECK(capture_tree(t.fd, few.fd, &o, &s, NULL) == 0 && s.entries == 7 && s.cut_short);
}

/* Paths are as long as their directories are deep: what costs the payload nothing must not cost us a disk. */
static void a_deep_tree_does_not_fill_the_manifest(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	struct capture_options o = plain;
	struct capture_stats s;
	char name[201];
	int fd;

	CHECK(tree_make(&t) && tree_make(&out));
	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fd = dup(t.fd);
	for (int i = 0; i < 200 && fd >= 0; i++) {
		int below = mkdirat(fd, name, 0700) == 0 ? openat(fd, name, O_RDONLY | O_DIRECTORY) : -1;

		close(fd);
		fd = below;
	}
	CHECK(fd >= 0);
	close(fd);
	o.max_manifest = 100000;
	CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.cut_short && s.entries > 10 &&
	      s.entries < 40);
	CHECK(s.manifest_bytes > 100000 && s.manifest_bytes < 120000);
}

/* Where a file may have any number of attributes they could be longer than everything else. */
static void attributes_of_one_file_end_somewhere(void)
{
	_cleanup_tree_ struct tree out = { .fd = -EBADF };
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	char dir[] = "/dev/shm/custody-capture-XXXXXX", name[32], value[60000] = "";
	struct capture_stats s;
	int tree, fd, n = 0;

	CHECK(tree_make(&out));
	if (!mkdtemp(dir))
		return;
	tree = open(dir, O_RDONLY | O_DIRECTORY);
	fd = openat(tree, "file", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 40; i++) {
		(void)snprintf(name, sizeof(name), "trusted.a%d", i);
		n += fsetxattr(fd, name, value, sizeof(value), 0) == 0;
	}
	if (n == 40) {
		CHECK(capture_tree(tree, out.fd, &plain, &s, NULL) == 0 && s.missing == 1 &&
		      s.manifest_bytes < 2000000);
		CHECK(find_entry(out.fd, "file", &e) && e.why && strstr(e.why, "attributes") &&
		      e.n_xattrs > 10);
	}
	CHECK(unlinkat(tree, "file", 0) == 0 && rmdir(dir) == 0);
	close(fd);
	close(tree);
}

/* More pieces than are recorded: the holes between the last ones are written as data, and counted. */
static void holes_that_are_written_count(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	const off_t size = (off_t)256 * 1024 * 1024;
	struct capture_options o = plain;
	struct capture_stats s;
	int fd;

	CHECK(tree_make(&t) && tree_make(&out));
	fd = openat(t.fd, "holes", O_RDWR | O_CREAT, 0600);
	for (off_t i = 0; i < MANIFEST_EXTENTS_MAX + 1; i++)
		CHECK(pwrite(fd, "x", 1, i * 65536) == 1);
	CHECK(pwrite(fd, "x", 1, size - 1) == 1 && close(fd) == 0);
	o.max_bytes = (uint64_t)6 * 1024 * 1024;
	CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.bytes <= o.max_bytes && s.missing == 1);
	CHECK(find_entry(out.fd, "holes", &e) && e.why && strstr(e.why, "beginning") && e.n_extents > 1000);
}

/* What overlayfs leaves of a removed name is no device. */
static void a_removed_name_in_an_upper_layer_is_gone(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	_cleanup_manifest_entry_ struct manifest_entry gone = { 0 }, there = { 0 };
	struct capture_options o = plain;
	struct capture_stats s;

	if (geteuid() != 0)
		return;
	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "new", "n", 0600));
	CHECK(mknodat(t.fd, "removed", S_IFCHR, makedev(0, 0)) == 0);
	CHECK(fchownat(t.fd, "new", 70000, 70001, 0) == 0);
	o.upper = true;
	o.ids = (struct capture_ids){
		.set = true, .uid_from = 70000, .uid_to = 5, .gid_from = 70001, .gid_to = 6
	};
	CHECK(capture_tree(t.fd, out.fd, &o, &s, NULL) == 0 && s.missing == 0);
	CHECK(find_entry(out.fd, "removed", &gone) && gone.type == MANIFEST_GONE);
	CHECK(find_entry(out.fd, "new", &there) && there.uid == 5 && there.gid == 6);
}

/* Deeper than a path is long: kept, and restored. */
static void ten_thousand_levels_are_kept(void)
{
	const int deep = tap_stride() > 1 ? 200 : 10000;
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && tree_make(&back));
	fd = dup(t.fd);
	for (int i = 0; i < deep; i++) {
		_cleanup_close_ int up = TAKE_FD(fd);

		CHECK((i % 100 || tree_put(up, "a", "x", 0600)) && mkdirat(up, "level", 0700) == 0);
		fd = openat(up, "level", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(fd >= 0);
	}
	CHECK(tree_put(fd, "last", "down there", 0600));
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0 && s.missing == 0);
	CHECK(s.entries == (uint64_t)deep + 2 + (uint64_t)deep / 100 && s.files == (uint64_t)deep / 100 + 1);
	CHECK(restore_tree(out.fd, back.fd, &(struct restore_options){ 0 }, &restored, NULL) == 0);
	CHECK(restored.entries == s.entries && restored.left_out == 0 && restored.damaged == 0);
}

/* Another process exchanges a directory with a link that leads out and a file with a pipe, all the time. */
static void ISO_5_a_living_tree_never_leads_outside_or_hangs(void)
{
	const int rounds = tap_is_full() ? 500 : tap_stride() > 1 ? 5 : 100;
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, outside = { .fd = -EBADF };
	int status, bad = 0;
	pid_t pid;

	CHECK(tree_make(&t) && tree_make(&outside) && tree_make(&out) &&
	      tree_put(outside.fd, "in", "secret", 0600));
	CHECK(mkdirat(t.fd, "d", 0700) == 0 && tree_put(t.fd, "d/in", "mine", 0600) &&
	      symlinkat(outside.path, t.fd, "l") == 0 && mkfifoat(t.fd, "p", 0600) == 0 &&
	      tree_put(t.fd, "f", "file", 0600));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		for (;;) {
			(void)renameat2(t.fd, "d", t.fd, "l", RENAME_EXCHANGE);
			(void)renameat2(t.fd, "f", t.fd, "p", RENAME_EXCHANGE);
		}
	for (int i = 0; i < rounds; i++) {
		char name[16];
		_cleanup_close_ int to = -EBADF;
		_cleanup_free_ char *text = NULL;
		struct capture_stats s;
		_cleanup_close_ int kept = -EBADF;
		size_t len;

		(void)snprintf(name, sizeof(name), "%d", i);
		if (mkdirat(out.fd, name, 0700) < 0)
			bad++;
		to = openat(out.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (capture_tree(t.fd, to, &plain, &s, NULL) < 0)
			bad++;
		kept = openat(to, "worktree/d/in", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (kept >= 0 && fd_read_all(kept, 100, &text, &len, NULL) == 0)
			bad += !str_eq(text, "mine");
	}
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	CHECK(bad == 0);
}

/* It is written to for as long as it is read. */
static void a_growing_file_ends(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	char chunk[4096] = "";
	struct capture_stats s;
	int status;
	pid_t pid;

	CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "log", "begin", 0600));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		_cleanup_close_ int fd = openat(t.fd, "log", O_WRONLY | O_APPEND | O_CLOEXEC);

		for (int i = 0; i < 100000; i++)
			if (write(fd, chunk, sizeof(chunk)) < 0)
				_exit(1);
		_exit(0);
	}
	CHECK(capture_tree(t.fd, out.fd, &plain, &s, NULL) == 0 && s.files == 1);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
}

/* The target gets full: copied files are right, missing ones are named. */
static void a_full_target_loses_files_and_names_them(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, at = { .fd = -EBADF };
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	CHECK(tree_make(&t) && tree_make(&at));
	for (int i = 0; i < 40; i++) {
		char name[16];
		_cleanup_close_ int fd = -EBADF;
		static char bytes[50000];

		(void)snprintf(name, sizeof(name), "%d", i);
		memset(bytes, 'a' + i % 26, sizeof(bytes));
		fd = openat(t.fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		CHECK(fd >= 0 && fd_write_all(fd, bytes, sizeof(bytes), NULL) == 0);
		for (int j = 0; i == 0 && j < 60; j++) /* one is larger than the whole target */
			CHECK(fd_write_all(fd, bytes, sizeof(bytes), NULL) == 0);
	}
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		_cleanup_close_ int fd = -EBADF;
		struct capture_stats s;

		if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
		    mount("full", at.path, "tmpfs", 0, "size=1m") < 0)
			_exit(1);
		fd = open(at.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (capture_tree(t.fd, fd, &plain, &s, NULL) < 0)
			_exit(2);
		_exit(s.entries == 41 && s.missing > 5 && s.missing < 35 ? 0 : 3);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void names_are_encoded_and_never_two_alike(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "a.c", "a.c" },   { "a:b", "a%3Ab" },	    { "dot.", "dot%2E" },	  { "sp ", "sp%20" },
		{ "CON", "%43ON" }, { "con.x", "%63on.x" }, { "COM1", "%43OM1" },	  { "com", "com" },
		{ "%41", "%2541" }, { "\xff", "%FF" },	    { "new\nline", "new%0Aline" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = capture_encode_name(rows[i].name);

		CHECK(str_eq(got, rows[i].want));
	}
}

TAP_MAIN(T(ISO_5_the_odd_tree_comes_back_exactly), T(ISO_5_through_a_target_that_knows_no_names_and_no_links),
	 T(ISO_5_a_plain_restore_is_harmless), T(ISO_5_the_target_of_a_restore_keeps_its_own_access),
	 T(a_directory_with_other_names_in_it_gets_none_of_the_tree), T(the_mirror_never_has_set_id_bits),
	 T(a_changed_copy_is_not_restored), T(a_bent_manifest_makes_nothing_outside),
	 T(limits_cut_and_say_so), T(a_removed_name_in_an_upper_layer_is_gone),
	 T(enough_data_and_enough_entries), T(a_deep_tree_does_not_fill_the_manifest),
	 T(attributes_of_one_file_end_somewhere), T(holes_that_are_written_count),
	 T(ten_thousand_levels_are_kept), T(ISO_5_a_living_tree_never_leads_outside_or_hangs),
	 T(a_growing_file_ends), T(a_full_target_loses_files_and_names_them),
	 T(names_are_encoded_and_never_two_alike), T(wide_and_deep_trees_are_kept_by_any_number_of_threads))
