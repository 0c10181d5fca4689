/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uppers that the kernel made above each other: their sum shows the same tree, and apply makes it. */
#include <dirent.h>
#include <sys/xattr.h>

#include "overlay-play.h"
#include "tap.h"
#include "worktree/overlay-manifest.h"
#include "worktree/overlay-sum.h"

#define ROUNDS 40
#define STEPS 150
#define RUNS 4 /* of one chain */

/* FROZEN NULL: the first run, on the worktree alone.  UPPER NULL: only to look. */
static bool mount_on(const char *frozen, const char *upper)
{
	char options[256];

	(void)snprintf(options, sizeof(options), "lowerdir=%s%sl%s%s%s,userxattr", frozen ? frozen : "",
		       frozen ? ":" : "", upper ? ",upperdir=" : "", upper ? upper : "",
		       upper ? ",workdir=w" : "");
	if (mount("overlay", "m", "overlay", 0, options) == 0)
		return true;
	printf("# mount %s: %s\n", options, strerror(errno));
	return false;
}

static bool add_up(const char *lower, const char *upper, const char *out)
{
	_cleanup_close_ int a = open(lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    b = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC), c = -EBADF;
	_cleanup_close_ int tree = open("l", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fault_ struct fault f = { 0 };

	c = mkdir(out, 0700) == 0 ? open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (a >= 0 && b >= 0 && c >= 0 &&
	    overlay_sum_make(&(struct overlay_sum_ask){ .lower = a, .upper = b, .out = c, .worktree = tree },
			     &f) == 0)
		return true;
	printf("# sum: %s\n", fault_text(&f));
	return false;
}

static bool is_equal(const char *what, const char *seen, const char *made)
{
	if (seen && made && strcmp(seen, made) == 0)
		return true;
	printf("# %s, seen:\n%s\n# made:\n%s\n", what, seen ? seen : "?", made ? made : "?");
	return false;
}

/* Names that are listed and cannot be looked up. */
static bool has_ghosts(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool found = !d;

	while (!found && (e = readdir(d))) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		found = fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			(S_ISDIR(st.st_mode) && has_ghosts(dirfd(d), e->d_name));
		if (found)
			printf("# '%s' is listed and not there\n", e->d_name);
	}
	if (d)
		(void)closedir(d);
	return found;
}

/* One run above FROZEN ("": none), which becomes the name of the sum. */
static bool run_once(int number, char frozen[16], unsigned int *seed, char **seen)
{
	_cleanup_free_ char *made = NULL, *before = *frozen ? overlay_portrait(frozen) : NULL, *after = NULL;
	char upper[16], sum[16];
	bool ok;

	(void)snprintf(upper, sizeof(upper), "u%d", number);
	(void)snprintf(sum, sizeof(sum), "s%d", number);
	if (mkdir(upper, 0755) < 0 || !mount_on(*frozen ? frozen : NULL, upper))
		return false;
	for (int i = 0; i < STEPS; i++)
		play_step(seed, true);
	free(*seen);
	*seen = overlay_portrait("m");
	if (has_ghosts(AT_FDCWD, "m") || umount("m") < 0)
		return false;
	/* The work directory is that of one mount. */
	if (!*frozen) {
		(void)snprintf(frozen, 16, "%s", upper);
		return *seen;
	}
	ok = add_up(frozen, upper, sum) && mount_on(sum, NULL);
	if (ok) {
		made = overlay_portrait("m");
		ok = !has_ghosts(AT_FDCWD, "m");
		ok = umount("m") == 0 && ok && is_equal("sum", *seen, made);
	}
	after = overlay_portrait(frozen);
	ok = ok && is_equal("frozen upper", before, after);
	(void)snprintf(frozen, 16, "%s", sum);
	return ok;
}

static bool play(const char *options, unsigned int seed)
{
	_cleanup_free_ char *seen = NULL, *made = NULL;
	char frozen[16] = "";
	struct overlay o;
	bool ok;

	if (!overlay_make(&o, options) || rmdir("m") < 0 || rename("l", "m") < 0)
		return false;
	for (int i = 0; i < STEPS; i++)
		play_step(&seed, true);
	ok = rename("m", "l") == 0 && mkdir("m", 0755) == 0 && rmdir("u") == 0;
	(void)clock_gettime(CLOCK_REALTIME, &o.since);
	for (int i = 1; ok && i <= RUNS; i++)
		ok = run_once(i, frozen, &seed, &seen);
	/* And the review takes the sum for one upper. */
	ok = ok && rename(frozen, "u") == 0 && overlay_record(&o) && overlay_apply(&o, NULL, true);
	made = ok ? overlay_portrait("l") : NULL;
	ok = ok && is_equal("applied", seen, made);
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void ISO_3_a_sum_of_uppers_gives_the_merged_view(void)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed += (unsigned int)tap_stride()) {
		printf("# seed %u\n", seed);
		CHECK(overlay_in_child(play, "userxattr", seed));
	}
}

static bool put(const char *path, const char *text, mode_t mode)
{
	return tree_put(AT_FDCWD, path, text, mode);
}

static bool has_digest(const char *dir, struct digest *ret)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && overlay_manifest_digest(fd, ret, NULL) == 0;
}

/* The digest of DIR is another one than OLD, which becomes it. */
static bool is_other(const char *dir, struct digest *old)
{
	struct digest now;
	bool other = has_digest(dir, &now) && !digest_equal(&now, old);

	*old = now;
	return other;
}

static void a_manifest_depends_on_content_alone(void)
{
	struct overlay o;
	struct digest one, two;
	bool ok;

	CHECK(overlay_make(&o, "userxattr"));
	ok = put("u/file", "text", 0644) && mkdir("u/dir", 0755) == 0 && put("l/file", "text", 0644) &&
	     mkdir("l/dir", 0755) == 0 && has_digest("u", &one) && has_digest("l", &two) &&
	     digest_equal(&one, &two);
	/* Times, links and the marks of an origin are not content. */
	ok = ok && link("u/file", "w/other") == 0 &&
	     utimensat(AT_FDCWD, "u/file", (struct timespec[2]){ { .tv_sec = 1 }, { .tv_sec = 1 } }, 0) ==
		     0 &&
	     setxattr("u/dir", "user.overlay.origin", "x", 1, 0) == 0 && has_digest("u", &two) &&
	     digest_equal(&one, &two);
	ok = ok && put("u/file", "texu", 0644) && is_other("u", &one) && chmod("u/file", 0755) == 0 &&
	     is_other("u", &one) && rename("u/file", "u/other") == 0 && is_other("u", &one) &&
	     symlink("a", "u/link") == 0 && is_other("u", &one) &&
	     setxattr("u/dir", "user.overlay.opaque", "y", 1, 0) == 0 && is_other("u", &one) &&
	     setxattr("u/other", "user.note", "y", 1, 0) == 0 && is_other("u", &one) &&
	     mknod("u/gone", S_IFCHR, 0) == 0 && is_other("u", &one);
	(void)!chdir("/");
	tree_done(&o.tree);
	CHECK(ok);
}

static bool refuses(const char *name, const char *value)
{
	_cleanup_close_ int a = -EBADF, b = -EBADF, c = -EBADF;
	struct overlay o;
	bool ok;

	if (!overlay_make(&o, "userxattr"))
		return false;
	ok = mkdir("u/dir", 0755) == 0 && setxattr("u/dir", name, value, strlen(value), 0) == 0 &&
	     mkdir("s", 0755) == 0;
	a = open("l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b = open("u", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c = open("s", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok = ok && overlay_sum_make(
			   &(struct overlay_sum_ask){ .lower = a, .upper = b, .out = c, .worktree = -EBADF },
			   NULL) == -ENOTSUP;
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void a_sum_refuses_marks_that_custody_never_makes(void)
{
	CHECK(refuses("user.overlay.redirect", "/elsewhere"));
	CHECK(refuses("user.overlay.opaque", "x"));
}

/* A directory that replaces a whiteout, or a file, of the lower upper hides the worktree's. */
static void a_sum_hides_what_the_lower_upper_hid(void)
{
	_cleanup_close_ int a = -EBADF, b = -EBADF, c = -EBADF;
	struct overlay o;
	char value[2] = "";
	bool ok;

	CHECK(overlay_make(&o, "userxattr"));
	ok = mknod("l/gone", S_IFCHR, 0) == 0 && put("l/file", "text", 0644) && mkdir("u/gone", 0755) == 0 &&
	     mkdir("u/file", 0755) == 0 && mkdir("u/new", 0755) == 0 && mkdir("s", 0755) == 0;
	a = open("l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b = open("u", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c = open("s", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok = ok && overlay_sum_make(
			   &(struct overlay_sum_ask){ .lower = a, .upper = b, .out = c, .worktree = -EBADF },
			   NULL) == 0;
	ok = ok && getxattr("s/gone", "user.overlay.opaque", value, 1) == 1 && value[0] == 'y';
	ok = ok && getxattr("s/file", "user.overlay.opaque", value, 1) == 1 && value[0] == 'y';
	ok = ok && getxattr("s/new", "user.overlay.opaque", value, 1) < 0;
	(void)!chdir("/");
	tree_done(&o.tree);
	CHECK(ok);
}

static bool add_moment(const char *lower, const char *upper, const char *out)
{
	_cleanup_close_ int a = open(lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    b = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC), c = -EBADF;

	c = mkdir(out, 0700) == 0 ? open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return a >= 0 && b >= 0 && c >= 0 &&
	       overlay_sum_make(
		       &(struct overlay_sum_ask){
			       .lower = a, .upper = b, .out = c, .moment = true, .worktree = -EBADF },
		       NULL) == 0;
}

#define HOLE ((off_t)256 << 20)

/* A hole of 256 MiB, some bytes, and a hole again; two names. */
static bool put_sparse(const char *path, const char *second)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);

	return fd >= 0 && pwrite(fd, "text", 4, HOLE) == 4 && ftruncate(fd, 2 * HOLE) == 0 &&
	       link(path, second) == 0;
}

static void a_copy_needs_no_more_space_than_the_upper(void)
{
	_cleanup_close_ int fd = -EBADF;
	char text[6] = "";
	struct stat one, two;
	struct overlay o;
	bool ok;

	CHECK(overlay_make(&o, "userxattr"));
	ok = put_sparse("u/sparse", "u/name") && put("u/file", "text", 0600) && add_moment("l", "u", "s") &&
	     stat("s/sparse", &one) == 0 && stat("s/name", &two) == 0;
	ok = ok && one.st_size == 2 * HOLE && one.st_blocks < 4096 && one.st_mode == (S_IFREG | 0640);
	ok = ok && one.st_ino == two.st_ino && one.st_nlink == 2;
	fd = open("s/name", O_RDONLY | O_CLOEXEC);
	ok = ok && pread(fd, text, 5, HOLE - 1) == 5 && memcmp(text, "\0text", 5) == 0;
	/* No link to the upper. */
	ok = ok && stat("u/file", &one) == 0 && one.st_nlink == 1 && stat("s/file", &one) == 0 &&
	     one.st_size == 4;
	(void)!chdir("/");
	tree_done(&o.tree);
	CHECK(ok);
}

#define NAMES 66000

/* u/NUMBER, as many as the file system allows, at most NAMES. */
static int put_names(const char *first)
{
	char path[32];
	int n = 0;

	for (; n < NAMES; n++) {
		(void)snprintf(path, sizeof(path), "%s%d", first, n);
		if (link(first, path) < 0)
			return errno == EMLINK ? n : -1;
	}
	return n;
}

static int count_names(const char *prefix, int n, ino_t not_inode)
{
	char path[32];
	struct stat st;
	int found = 0;

	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s%d", prefix, i);
		found += lstat(path, &st) == 0 && st.st_ino != not_inode && st.st_nlink > 1;
	}
	return found;
}

static void a_file_with_the_most_names_is_copied_once(void)
{
	struct stat file, link, fifo;
	int files = -1, links = -1, fifos = -1;
	struct overlay o;
	bool ok;

	CHECK(overlay_make(&o, "userxattr"));
	ok = put("u/f", "text", 0640) && symlink("elsewhere", "u/l") == 0 && mkfifo("u/p", 0622) == 0 &&
	     chmod("u/p", 0622) == 0 && (files = put_names("u/f")) > 0 && (links = put_names("u/l")) > 0 &&
	     (fifos = put_names("u/p")) > 0 && lstat("u/f", &file) == 0 && lstat("u/l", &link) == 0 &&
	     lstat("u/p", &fifo) == 0 && add_up("l", "u", "s");
	/* On a file system with a limit, all are copies of one file. */
	if (ok && files < NAMES)
		ok = count_names("s/f", files, file.st_ino) == files &&
		     count_names("s/l", links, link.st_ino) == links &&
		     count_names("s/p", fifos, fifo.st_ino) == fifos;
	ok = ok && lstat("s/f1", &file) == 0 && file.st_mode == (S_IFREG | 0640) && file.st_size == 4 &&
	     lstat("s/l1", &link) == 0 && S_ISLNK(link.st_mode) && link.st_size == 9 &&
	     lstat("s/p1", &fifo) == 0 && fifo.st_mode == (S_IFIFO | 0622);
	ok = ok && file.st_nlink > 1000;
	(void)!chdir("/");
	tree_done(&o.tree);
	CHECK(ok);
}

TAP_MAIN(T(ISO_3_a_sum_of_uppers_gives_the_merged_view), T(a_manifest_depends_on_content_alone),
	 T(a_sum_refuses_marks_that_custody_never_makes), T(a_sum_hides_what_the_lower_upper_hid),
	 T(a_copy_needs_no_more_space_than_the_upper), T(a_file_with_the_most_names_is_copied_once))
