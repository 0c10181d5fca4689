/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence as one file, made and read by the real custody-pack, and by ones that misbehave. */
#include "base/array.h"
#include "capture/pack.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "evidence/evidence-store.h"
#include "evidence/evidence-verify.h"
#include "capture/restore.h"
#include "tap.h"
#include "tree-fixture.h"

#define SESSION "20261116T031500Z-1a2b3c4d"

/* The programs of this build, or those of DIR. */
static bool use(const char *dir)
{
	const char *build = getenv("BUILDDIR");
	_cleanup_free_ char *path = realpath(dir ? dir : build ? build : ".", NULL);

	return path && setenv("CUSTODY_LIBEXEC", path, 1) == 0;
}

static bool put_random(int dirfd, const char *name, size_t len)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char bytes[4096];

	for (; len > 0; len -= sizeof(bytes))
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes) ||
		    fd_write_all(fd, bytes, sizeof(bytes), NULL) < 0)
			return false;
	return true;
}

static int take_form(int tree, const char *store, enum evidence_form form, uint64_t deadline_ns,
		     struct evidence_taken *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *metadata = jdoc_new_object();
	const struct capture_options limits = { .deadline_ns = deadline_ns };

	jdoc_set_string(metadata, "lane", "sandbox");
	return evidence_write(&(struct evidence_request){ .store = store,
							  .session = SESSION,
							  .tree = tree,
							  .metadata = metadata,
							  .form = form,
							  .limits = &limits },
			      ret, f);
}

static int take(int tree, const char *store, uint64_t deadline_ns, struct evidence_taken *ret,
		struct fault *f)
{
	return take_form(tree, store, EVIDENCE_ARCHIVE, deadline_ns, ret, f);
}

static bool is_kept(const struct tree *store)
{
	return faccessat(store->fd, SESSION, F_OK, 0) == 0;
}

static int open_kept(const struct tree *store)
{
	return openat(store->fd, SESSION, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void ISO_5_the_odd_tree_comes_back_exactly_from_an_archive(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, store = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_free_ char *was = NULL, *is = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_close_ int dir = -EBADF;
	const bool root = geteuid() == 0;

	CHECK(use(NULL) && pack_is_available());
	CHECK(tree_make(&t) && tree_make(&store) && tree_make(&back) && tree_make_odd(&t, root));
	was = tree_portrait(t.fd, root);
	if (take(t.fd, store.path, 0, &taken, &f) < 0)
		printf("# %s\n", fault_text(&f));
	CHECK(taken.path);
	/* Without permission for a file its owner reads it in a user namespace. */
	if (taken.stats.missing)
		printf("# %llu missing\n", (unsigned long long)taken.stats.missing);
	CHECK(taken.stats.missing == 0);
	dir = open_kept(&store);
	CHECK(dir >= 0 && faccessat(dir, PACK_NAME, F_OK, 0) == 0);
	CHECK(faccessat(dir, CAPTURE_WORKTREE, F_OK, 0) < 0 && faccessat(dir, CAPTURE_ODD, F_OK, 0) < 0);
	CHECK(evidence_verify(dir, &c, &f) == 0 && c.damaged == 0 && c.strange == 0 && c.files > 20);
	if (!root)
		return;
	CHECK(restore_tree(dir, back.fd, &(struct restore_options){ .exact = true }, &restored, &f) == 0);
	if (restored.first)
		printf("# %s\n", restored.first);
	CHECK(restored.damaged == 0 && restored.left_out == 0 && restored.entries == taken.stats.entries);
	is = tree_portrait(back.fd, true);
	CHECK(was && is && strcmp(was, is) == 0);
}

/* The stock tools see the same files, and have nothing to complain of. */
static void ISO_5_tar_reads_it(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, store = { .fd = -EBADF };
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	char command[512];

	CHECK(use(NULL) && tree_make(&t) && tree_make(&store) && mkdirat(t.fd, "d", 0700) == 0);
	CHECK(tree_put(t.fd, "d/a", "right\n", 0644) && take(t.fd, store.path, 0, &taken, NULL) == 0);
	(void)snprintf(command, sizeof(command),
		       "cd %s && sha256sum -c --quiet " EVIDENCE_SUMS
		       " && { ! command -v zstd >/dev/null || [ \"$(zstd -dcq " PACK_NAME
		       " | tar -xOf - worktree/d/a 2>&1)\" = right ]; }",
		       taken.path);
	CHECK(system(command) == 0);
}

/* One byte, anywhere: found by verify, and nothing wrong is restored. */
static void each_changed_byte_is_found(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, store = { .fd = -EBADF };
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_close_ int dir = -EBADF, file = -EBADF;
	struct stat st;

	CHECK(use(NULL) && tree_make(&t) && tree_make(&store) && put_random(t.fd, "a", 8192));
	CHECK(tree_put(t.fd, "b", "b", 0644) && take(t.fd, store.path, 0, &taken, NULL) == 0);
	dir = open_kept(&store);
	file = openat(dir, PACK_NAME, O_RDWR | O_CLOEXEC);
	CHECK(dir >= 0 && file >= 0 && fstat(file, &st) == 0 && st.st_size > 8192);
	for (off_t at = 0; at < st.st_size; at += 499 * (off_t)tap_stride()) {
		_cleanup_tree_ struct tree back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };
		_cleanup_evidence_check_ struct evidence_check c = { 0 };
		struct stat whole = { 0 };
		char was, is;

		CHECK(tree_make(&back) && pread(file, &was, 1, at) == 1);
		is = (char)(was ^ 0x55);
		CHECK(pwrite(file, &is, 1, at) == 1);
		CHECK(evidence_verify(dir, &c, NULL) == 0 && c.damaged > 0);
		CHECK(restore_tree(dir, back.fd, &(struct restore_options){ 0 }, &restored, NULL) == 0);
		CHECK(fstatat(back.fd, "a", &whole, 0) < 0 || whole.st_size == 8192);
		CHECK(pwrite(file, &was, 1, at) == 1);
	}
}

/* Writes SHA256SUMS of the evidence DIR again, as a person does who changed a file. */
static bool sum_again(const char *path)
{
	char command[512];

	(void)snprintf(command, sizeof(command),
		       "cd %s && sed 's/^[0-9a-f]*  //' " EVIDENCE_SUMS
		       " | xargs sha256sum >sums && mv sums " EVIDENCE_SUMS,
		       path);
	return system(command) == 0;
}

/* The archive of another tree with the same names and lengths: only the digests in the manifest differ. */
static void an_archive_with_new_sums_does_not_match_its_manifest(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, u = { .fd = -EBADF }, store = { .fd = -EBADF },
				   other = { .fd = -EBADF }, back = { .fd = -EBADF };
	_cleanup_taken_ struct evidence_taken taken = { 0 }, second = { 0 };
	_cleanup_restore_stats_ struct restore_stats restored = { 0 };
	_cleanup_evidence_check_ struct evidence_check c = { 0 }, whole = { 0 };
	_cleanup_close_ int dir = -EBADF;
	char command[512];

	CHECK(use(NULL) && tree_make(&t) && tree_make(&u) && tree_make(&store) && tree_make(&other) &&
	      tree_make(&back));
	CHECK(tree_put(t.fd, "a", "right\n", 0644) && tree_put(u.fd, "a", "wrong\n", 0644));
	CHECK(take(t.fd, store.path, 0, &taken, NULL) == 0 && take(u.fd, other.path, 0, &second, NULL) == 0);
	dir = open_kept(&store);
	CHECK(sum_again(taken.path) && evidence_verify(dir, &whole, NULL) == 0 && whole.damaged == 0);
	(void)snprintf(command, sizeof(command), "cp %s/" PACK_NAME " %s/" PACK_NAME, second.path,
		       taken.path);
	CHECK(system(command) == 0 && sum_again(taken.path));
	CHECK(evidence_verify(dir, &c, NULL) == 0 && c.damaged == 1 && c.first &&
	      strstr(c.first, "worktree/a"));
	CHECK(restore_tree(dir, back.fd, &(struct restore_options){ 0 }, &restored, NULL) == 0);
	CHECK(restored.damaged == 1 && faccessat(back.fd, "a", F_OK, 0) < 0);
}

static void a_file_that_the_manifest_does_not_tell_of_is_found(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, store = { .fd = -EBADF };
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	_cleanup_close_ int dir = -EBADF;
	char command[256];

	CHECK(use(NULL) && tree_make(&t) && tree_make(&store) && tree_put(t.fd, "a", "a", 0644));
	CHECK(tree_put(t.fd, "b", "b", 0644) && take(t.fd, store.path, 0, &taken, NULL) == 0);
	(void)snprintf(command, sizeof(command), "cd %s && sed -i '$d' " MANIFEST_NAME, taken.path);
	dir = open_kept(&store);
	CHECK(system(command) == 0 && evidence_verify(dir, &c, NULL) == 0 && c.strange == 1 &&
	      c.damaged == 1);
}

static void ISO_4_a_full_target_keeps_nothing_under_its_name(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, at = { .fd = -EBADF };
	int status;
	pid_t pid;

	CHECK(use(NULL) && tree_make(&t) && tree_make(&at) && put_random(t.fd, "a", 1024 * 1024));
	if (geteuid() != 0)
		return;
	pid = fork();
	if (pid == 0) {
		_cleanup_taken_ struct evidence_taken taken = { 0 };
		_cleanup_fault_ struct fault f = { 0 };
		struct tree store = { .fd = -EBADF };

		if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
		    mount("full", at.path, "tmpfs", 0, "size=256k,mode=0700") < 0 ||
		    !tree_make_in(&store, at.path))
			_exit(2);
		_exit(take(t.fd, store.path, 0, &taken, &f) == -ENOSPC && !is_kept(&store) ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
}

/* In a mount namespace of its own: what an SMB share cannot do, exFAT cannot either. */
static int through_exfat(const struct tree *t, const struct tree *at, const char *was)
{
	static const enum evidence_form forms[] = { EVIDENCE_MIRROR, EVIDENCE_ARCHIVE };
	char command[512];
	int bad = 0;

	/* Detached at once: the device is released with the mount. */
	(void)snprintf(command, sizeof(command),
		       "cd %s && mkdir m && truncate -s 64M i && mkfs.exfat i >/dev/null 2>&1 && "
		       "L=$(losetup -f --show i) && { mount.exfat-fuse $L m >/dev/null 2>&1; R=$?; losetup "
		       "-d $L; exit $R; }",
		       at->path);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
	    system(command) != 0)
		return 2;
	for (size_t i = 0; i < 2 && !bad; i++) {
		_cleanup_tree_ struct tree back = { .fd = -EBADF };
		_cleanup_restore_stats_ struct restore_stats restored = { 0 };
		_cleanup_evidence_check_ struct evidence_check c = { 0 };
		_cleanup_taken_ struct evidence_taken taken = { 0 };
		_cleanup_free_ char *is = NULL, *store = NULL;
		_cleanup_fault_ struct fault f = { 0 };
		_cleanup_close_ int dir = -EBADF;

		if (!tree_make(&back) || asprintf(&store, "%s/m/s%zu", at->path, i) < 0)
			return 1;
		bad = take_form(t->fd, store, forms[i], 0, &taken, &f) < 0;
		dir = bad ? -EBADF : open(taken.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bad = dir < 0 || evidence_verify(dir, &c, &f) < 0 || c.damaged || c.strange ||
		      restore_tree(dir, back.fd, &(struct restore_options){ .exact = true }, &restored, &f) <
			      0 ||
		      restored.damaged || restored.left_out;
		is = tree_portrait(back.fd, true);
		bad |= !is || strcmp(was, is) != 0;
		if (bad)
			printf("# form %zu: %s %s %s\n", i, fault_text(&f), c.first ? c.first : "",
			       restored.first ? restored.first : "");
	}
	(void)snprintf(command, sizeof(command), "umount %s/m", at->path);
	return system(command) != 0 || bad ? 1 : 0;
}

static void ISO_5_the_odd_tree_comes_back_exactly_through_exfat(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, at = { .fd = -EBADF };
	_cleanup_free_ char *was = NULL;
	int status;
	pid_t pid;

	if (geteuid() != 0 || access("/dev/fuse", R_OK) < 0 ||
	    system("command -v mkfs.exfat mount.exfat-fuse >/dev/null") != 0) {
		printf("# skipped: needs root, exfatprogs and exfat-fuse\n");
		return;
	}
	CHECK(use(NULL) && tree_make(&t) && tree_make(&at) && tree_make_odd(&t, true));
	was = tree_portrait(t.fd, true);
	CHECK(was);
	pid = fork();
	if (pid == 0)
		_exit(through_exfat(&t, &at, was));
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		printf("# skipped: no exFAT can be mounted here\n");
	else
		CHECK(WEXITSTATUS(status) == 0);
}

static bool put_helper(struct tree *dir, const char *body)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_printf(&text, "#!/bin/sh\n%s\n", body);
	return tree_make(dir) && text.text && tree_put(dir->fd, "custody-pack", text.text, 0755) &&
	       use(dir->path);
}

/* A share that blocks, blocks the one that writes to it: the deadline is the caller's. */
static void ISO_4_a_target_that_hangs_is_left_after_the_deadline(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, dir = { .fd = -EBADF };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_pack_ struct pack *p = NULL;
	const struct capture_options o = { 0 };
	struct capture_options with = o;
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && put_random(t.fd, "a", 4 * 1024 * 1024));
	CHECK(put_helper(&dir, "kill -STOP $$"));
	/* Over already: however slow this machine is, only the deadline ends it. */
	CHECK(pack_create(out.fd, clock_boot_ns(), &p, &f) == 0);
	with.pack = p;
	CHECK(capture_tree(t.fd, out.fd, &with, &s, &f) == -ETIMEDOUT);
}

static void ISO_4_a_helper_that_dies_keeps_nothing_under_its_name(void)
{
	static const char *const bodies[] = { "kill -9 $$", "exit 28", "head -c 1000 >/dev/null; exit 5",
					      "cat >/dev/null; exit 122" };

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		_cleanup_tree_ struct tree t = { .fd = -EBADF }, store = { .fd = -EBADF },
					   dir = { .fd = -EBADF };
		_cleanup_taken_ struct evidence_taken taken = { 0 };
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(tree_make(&t) && tree_make(&store) && put_random(t.fd, "a", 1024 * 1024));
		CHECK(put_helper(&dir, bodies[i]) && take(t.fd, store.path, 0, &taken, &f) < 0 &&
		      !is_kept(&store));
	}
}

/* custody was killed: what it has not finished must not look finished. */
static void ISO_4_a_stream_without_its_end_is_an_error(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	char command[256];

	CHECK(use(NULL) && tree_make(&t));
	(void)snprintf(command, sizeof(command), "\"$CUSTODY_LIBEXEC\"/custody-pack pack </dev/null >%s/a",
		       t.path);
	CHECK(system(command) != 0);
}

TAP_MAIN(T(ISO_5_the_odd_tree_comes_back_exactly_from_an_archive), T(ISO_5_tar_reads_it),
	 T(ISO_5_the_odd_tree_comes_back_exactly_through_exfat), T(each_changed_byte_is_found),
	 T(an_archive_with_new_sums_does_not_match_its_manifest),
	 T(a_file_that_the_manifest_does_not_tell_of_is_found),
	 T(ISO_4_a_full_target_keeps_nothing_under_its_name),
	 T(ISO_4_a_target_that_hangs_is_left_after_the_deadline),
	 T(ISO_4_a_helper_that_dies_keeps_nothing_under_its_name),
	 T(ISO_4_a_stream_without_its_end_is_an_error))
