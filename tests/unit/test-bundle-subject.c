/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "oci/bundle/bundle-subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "subject/subject-digest.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"
#include "tap.h"

#include "subject-fixture.h"

/* The bundle's two files, without a root: only their contents are checked here. */
static char dir[64], hook[96], init[96];
static int dirfd_ = -EBADF;

static struct placement a_place(void)
{
	bool root = geteuid() == 0;

	return (struct placement){
		.portable = true,
		.rootless = !root,
		.uid_base = root ? BUNDLE_ID_FIRST + 7 * BUNDLE_ID_BLOCK : geteuid(),
		.gid_base = root ? BUNDLE_ID_FIRST + 7 * BUNDLE_ID_BLOCK : getegid(),
		.n_ids = root ? BUNDLE_ID_BLOCK : 1,
		.rootfs = "rootfs",
		.init = init,
		.hook = hook,
		.report_fd = -1,
		.limits = true,
	};
}

static bool put(const char *name, const char *text, size_t len)
{
	return fd_replace_file(dirfd_, name, text, len, 0600, NULL) == 0;
}

static bool write_both(const struct subject *s, const struct placement *p)
{
	_cleanup_strbuf_ struct strbuf subject = { 0 }, text = { 0 };
	_cleanup_jdoc_ struct jdoc *config = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (bundle_subject_write(s, p, &fixture_key, &subject, &f) < 0 ||
	    bundle_config(s, p, &config, &f) < 0 || jdoc_write(config, JDOC_PRETTY, &text, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return put(BUNDLE_SUBJECT, subject.text, subject.len) && put("config.json", text.text, text.len);
}

static struct profile profile;
static struct subject subject;

static bool make_rootfs(const struct placement *p)
{
	_cleanup_close_ int fd = -EBADF;

	if (mkdirat(dirfd_, "rootfs", 0755) < 0)
		return false;
	fd = openat(dirfd_, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && rootfs_build(fd, &subject, p->uid_base, p->gid_base, true, NULL) == 0;
}

static bool begin(void)
{
	struct placement p;

	(void)snprintf(dir, sizeof(dir), "/tmp/test-bundle-subject.XXXXXX");
	if (!mkdtemp(dir))
		return false;
	(void)snprintf(hook, sizeof(hook), "%s/custody-hook", dir);
	(void)snprintf(init, sizeof(init), "%s/custody-init", dir);
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	profile = fixture_profile();
	subject = fixture_subject(&profile);
	p = a_place();
	return dirfd_ >= 0 && chown(dir, geteuid(), getegid()) == 0 && put("custody-hook", "#", 1) &&
	       make_rootfs(&p) && write_both(&subject, &p);
}

static void end(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirfd_ = fd_close(dirfd_);
	(void)!path_remove_tree(tmp, dir + strlen("/tmp/"), NULL);
}

/* 0, or the refusal with its TEXT. */
static int verify(char text[512])
{
	_cleanup_bundle_files_ struct bundle_files b = BUNDLE_FILES_EMPTY;
	_cleanup_fault_ struct fault f = { 0 };
	int r = bundle_read(dir, &b, &f);

	if (r >= 0)
		r = bundle_verify(&b, &fixture_key, hook, &f);
	(void)snprintf(text, 512, "%s", r < 0 ? fault_text(&f) : "");
	return r;
}

static char *slurp(const char *name)
{
	_cleanup_close_ int fd = openat(dirfd_, name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, 1 << 22, &text, &len, NULL) == 0 ? text : NULL;
}

/* The first OLD of a file becomes NEW. */
static bool edit(const char *name, const char *old, const char *new)
{
	_cleanup_free_ char *text = slurp(name);
	_cleanup_strbuf_ struct strbuf t = { 0 };
	char *at = text ? strstr(text, old) : NULL;

	if (!at)
		return false;
	strbuf_add(&t, text, (size_t)(at - text));
	strbuf_puts(&t, new);
	strbuf_puts(&t, at + strlen(old));
	return put(name, t.text, t.len);
}

static void a_written_bundle_is_verified(void)
{
	_cleanup_bundle_files_ struct bundle_files b = BUNDLE_FILES_EMPTY;
	_cleanup_fault_ struct fault f = { 0 };
	struct digest d;

	CHECK(begin());
	CHECK(bundle_read(dir, &b, &f) == 0 && bundle_verify(&b, &fixture_key, hook, &f) == 0);
	CHECK(fixture_digest(&subject, &d) && digest_equal(&d, &b.digest));
	CHECK(b.lane == LANE_SANDBOX && strcmp(b.subject->argv[0], "./run.sh") == 0);
	CHECK(b.placement.portable && strcmp(b.placement.hook, hook) == 0);
	end();
}

/* GOV-9: any change in config.json is refused, and the refusal names it. */
static void an_edited_config_is_refused_by_name(void)
{
	/* clang-format off */
	static const struct { const char *old, *new, *said; } rows[] = {
		{ "\"--in=data.txt\"", "\"--in=/etc/x\"", "process.args[" },
		{ "SECRET=hunter2", "SECRET=hunter3", "SECRET" },
		{ "\"SECRET=hunter2\",", "", "SECRET" },
		{ "\"SECRET=hunter2\",", "\"LD_PRELOAD=x\", \"SECRET=hunter2\",", "LD_PRELOAD" },
		{ "\"noNewPrivileges\": true", "\"noNewPrivileges\": false", "process.noNewPrivileges: was true, is false" },
		{ "\"noNewPrivileges\": true", "\"noNewPrivileges\": true, \"apparmorProfile\": \"x\"", "process.apparmorProfile" },
		{ "\"readonly\": true", "\"readonly\": false", "root.readonly" },
		{ "\"type\": \"pid\"", "\"type\": \"pid\", \"path\": \"/proc/1/ns/pid\"", "linux.namespaces[" },
		{ "\"cwd\": \"/\"", "\"cwd\": \"/work\"", "process.cwd: was '/', is '/work'" },
		{ "\"cwd\": \"/\"", "\"cwd\":  \"/\"", "other formatting" },
		{ "\"--cwd=/work\"", "\"--cwd=/proc/self/fd/6\"", "process.args[" },
		{ "\"ociVersion\"", "\"annotations2\": {}, \"ociVersion\"", "annotations2" },
		{ "\"hooks\": {", "\"hooks\": {\"poststop\": [],", "hooks.poststop" },
		{ "\"custody.bundle\"", "\"run.oci.handler\": \"wasm\", \"custody.bundle\"", "annotations.run.oci.handler" },
		{ "\"process\"", "\"process\": {}, \"process\"", "process" }, /* twice: which one counts? */
		{ "\"hostname\": \"box\"", "\"hostname\": \"\\u0062ox\"", "other formatting" },
		{ "TERM=xterm-256color", "TERM=/tmp/x", "TERM" },
		{ "\"defaultAction\": \"SCMP_ACT_ERRNO\"", "\"defaultAction\": \"SCMP_ACT_ALLOW\"", "linux.seccomp.defaultAction" },
		{ "\"accept\",\n", "\"accept\",\n            \"bpf\",\n", "linux.seccomp.syscalls[" },
		{ "\"seccomp\": {", "\"seccomp\": \"\",\n    \"seccomp2\": {", "linux.seccomp" },
		{ "\n  \"process\": {", "\n  \"process\": {\n    \"env\": [\n      \"A=b\"\n    ]\n  },\n  \"process\": {", "" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[512];
		int r;

		CHECK(begin());
		CHECK(edit("config.json", rows[i].old, rows[i].new));
		r = verify(text);
		if (r == 0 || !strstr(text, rows[i].said))
			printf("# %s -> %s: %d %s\n", rows[i].old, rows[i].new, r, text);
		CHECK(r < 0 && strstr(text, rows[i].said));
		CHECK(!strstr(text, "hunter"));
		end();
	}
}

static void an_edited_subject_is_refused(void)
{
	/* clang-format off */
	static const struct { const char *old, *new; } rows[] = {
		{ "\"--in=data.txt\"", "\"--in=/etc/x\"" },
		{ "\"network\": \"none\"", "\"network\": \"host\"" },
		{ "\"lane\": \"sandbox\"", "\"lane\": \"prod\"" },
		{ "\"lane\": \"sandbox\"", "\"lane\": \"Sandbox\"" },
		{ "\"schema_version\": 1", "\"schema_version\": 2" },
		{ "\"schema_version\": 1", "\"schema_version\": 1, \"more\": 1" },
		{ "\"time_s\": 90\n", "\"time_s\": 91\n" },
		{ "\"digest\": \"sha256:", "\"digest\": \"sha512:" },
		{ "\"rootless\": ", "\"rootless\": null, \"x\": " },
		{ "custody-init", "custody-hook" },
		{ "custody-hook", "custody-init" },
		{ "\"subject\"", "\"subject\": {}, \"subject\"" },
		{ "{", "[" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[512];
		int r;

		CHECK(begin());
		CHECK(edit(BUNDLE_SUBJECT, rows[i].old, rows[i].new));
		r = verify(text);
		if (r == 0)
			printf("# %s -> %s\n", rows[i].old, rows[i].new);
		CHECK(r < 0 && text[0] && !strstr(text, "hunter"));
		end();
	}
}

/* Both files edited consistently: the digest differs, and it has no approval. */
static void two_edited_files_have_another_digest(void)
{
	_cleanup_bundle_files_ struct bundle_files b = BUNDLE_FILES_EMPTY;
	_cleanup_fault_ struct fault f = { 0 };
	struct placement p;
	struct digest d;

	CHECK(begin());
	p = a_place();
	CHECK(fixture_digest(&subject, &d));
	profile.limit_memory *= 2;
	CHECK(write_both(&subject, &p));
	CHECK(bundle_read(dir, &b, &f) == 0 && bundle_verify(&b, &fixture_key, hook, &f) == 0);
	CHECK(!digest_equal(&d, &b.digest));
	end();
}

/* Ids are not in the digest: they must still be ids of bundles, above all not the host's root. */
static void ids_of_another_user_are_refused(void)
{
	const uint32_t first = BUNDLE_ID_FIRST, past = BUNDLE_ID_FIRST + BUNDLE_ID_BLOCKS * BUNDLE_ID_BLOCK;
	/* clang-format off */
	const struct { bool rootless; uint32_t uid, gid, n; } rows[] = {
		{ false, 0, 0, BUNDLE_ID_BLOCK }, { false, 0, 0, 1 }, { false, first, 0, BUNDLE_ID_BLOCK },
		{ false, first - BUNDLE_ID_BLOCK, first - BUNDLE_ID_BLOCK, BUNDLE_ID_BLOCK }, { false, past, past, BUNDLE_ID_BLOCK },
		{ false, first + 1, first + 1, BUNDLE_ID_BLOCK }, { false, 100000, 100000, BUNDLE_ID_BLOCK },
		{ true, 0, 0, 1 }, { true, geteuid() + 1, getegid() + 1, 1 }, { true, geteuid(), 0x7fffffff, 1 }, { true, first, first, BUNDLE_ID_BLOCK },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct placement p;
		char text[512];

		CHECK(begin());
		p = a_place();
		p.rootless = rows[i].rootless;
		p.uid_base = rows[i].uid;
		p.gid_base = rows[i].gid;
		p.n_ids = rows[i].n;
		CHECK(write_both(&subject, &p));
		CHECK(verify(text) == -EPERM);
		CHECK(strstr(text, "ids"));
		end();
	}
}

static void another_program_is_refused(void)
{
	struct placement p;
	char text[512];

	CHECK(begin());
	p = a_place();
	p.init = "/tmp/custody-init";
	CHECK(write_both(&subject, &p) && verify(text) == -EPERM && strstr(text, "/tmp/custody-init"));
	p = a_place();
	p.hook = "/bin/true";
	p.init = "/bin/custody-init";
	CHECK(write_both(&subject, &p) && verify(text) == -EPERM && strstr(text, "/bin/true"));
	end();
}

static void another_kind_of_file_is_refused(void)
{
	static const char *const names[] = { BUNDLE_SUBJECT, "config.json" };

	for (size_t i = 0; i < 2; i++) {
		char text[512];

		CHECK(begin());
		CHECK(renameat(dirfd_, names[i], dirfd_, "moved") == 0);
		CHECK(verify(text) == -ENOENT && strstr(text, names[i]));
		CHECK(symlinkat("moved", dirfd_, names[i]) == 0);
		CHECK(verify(text) < 0);
		CHECK(unlinkat(dirfd_, names[i], 0) == 0 && mkfifoat(dirfd_, names[i], 0600) == 0);
		CHECK(verify(text) < 0);
		end();
	}
}

static void the_runs_own_time_is_checked_as_well(void)
{
	struct placement p;
	char text[512];

	CHECK(begin());
	p = a_place();
	profile.limit_time_s = 5; /* shorter: the run's own */
	CHECK(write_both(&subject, &p) && verify(text) == 0);
	CHECK(edit(BUNDLE_SUBJECT, "\"time_s\": 5\n", "\"time_s\": 90\n"));
	CHECK(verify(text) == -EPERM && strstr(text, "--time=5"));
	end();
}

static bool put_below(const char *path, const char *text)
{
	_cleanup_close_ int fd = openat(dirfd_, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

/* GOV-9: files in the root run as well: the loader's configuration, the names of users. */
static void an_edited_root_is_refused_by_name(void)
{
	/* clang-format off */
	static const struct { const char *said; enum { ADD, CHANGE, GONE, LINK, MODE, OWNER, GROUP, DIR_, FIFO } how; const char *path; } rows[] = {
		{ "rootfs/etc/ld.so.preload", ADD, "rootfs/etc/ld.so.preload" },
		{ "rootfs/etc/passwd", CHANGE, "rootfs/etc/passwd" },
		{ "rootfs/etc/passwd", GONE, "rootfs/etc/passwd" },
		{ "rootfs/etc/passwd", MODE, "rootfs/etc/passwd" },
		{ "rootfs/bin", LINK, "rootfs/bin" },
		{ "rootfs/etc/x", LINK, "rootfs/etc/x" },
		{ "rootfs/new", DIR_, "rootfs/new" },
		{ "rootfs/etc/x", FIFO, "rootfs/etc/x" },
		{ "rootfs/etc", OWNER, "rootfs/etc" },
		{ "rootfs/etc", GROUP, "rootfs/etc" },
		{ "rootfs/x", CHANGE, "rootfs/x" }, /* a mount point */
	};
	/* clang-format on */
	bool root = geteuid() == 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = rows[i].path;
		char text[512];
		bool done = false;

		CHECK(begin());
		CHECK(verify(text) == 0);
		switch (rows[i].how) {
		case ADD:
		case CHANGE:
			done = put_below(path, "edited");
			break;
		case GONE:
			done = unlinkat(dirfd_, path, 0) == 0;
			break;
		case LINK:
			(void)unlinkat(dirfd_, path, 0);
			done = symlinkat("/tmp/evil", dirfd_, path) == 0;
			break;
		case MODE:
			done = fchmodat(dirfd_, path, 04755, 0) == 0;
			break;
		case OWNER:
			done = root ? fchownat(dirfd_, path, 1, (gid_t)-1, 0) == 0
				    : fchmodat(dirfd_, path, 0777, 0) == 0;
			break;
		case GROUP:
			done = root ? fchownat(dirfd_, path, (uid_t)-1, 1, 0) == 0
				    : fchmodat(dirfd_, path, 0700, 0) == 0;
			break;
		case DIR_:
			/* As if it were one of ours in all but its name. */
			done = mkdirat(dirfd_, path, 0755) == 0 &&
			       fchownat(dirfd_, path, a_place().uid_base, a_place().gid_base, 0) == 0;
			break;
		case FIFO:
			done = mkfifoat(dirfd_, path, 0644) == 0;
			break;
		}
		CHECK(done);
		CHECK(verify(text) == -EPERM);
		if (!strstr(text, rows[i].said))
			printf("# %s\n", text);
		CHECK(strstr(text, rows[i].said) && strstr(text, "custody bundle"));
		end();
	}
}

static bool put_byte(int at, const char *path, off_t offset, char c)
{
	_cleanup_close_ int fd = openat(at, path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && pwrite(fd, &c, 1, offset) == 1;
}

/* Longer than one piece of the comparison: the last byte counts, on either side, and so does the length. */
static void a_copy_is_the_hosts_file_to_the_last_byte(void)
{
	enum { SIZE = 40000 };
	char host[] = "/dev/shm/test-bundle-subject.XXXXXX", in_root[96], text[512];
	_cleanup_close_ int fd = mkstemp(host);
	char *copies[] = { host, NULL };
	struct placement p;

	CHECK(begin());
	CHECK(fd >= 0 && ftruncate(fd, SIZE) == 0 && fchmod(fd, 0644) == 0);
	(void)snprintf(in_root, sizeof(in_root), "rootfs%s", host);
	p = a_place();
	subject.copies = copies;
	CHECK(path_remove_tree(dirfd_, "rootfs", NULL) == 0 && make_rootfs(&p) && write_both(&subject, &p));
	CHECK(verify(text) == 0);
	CHECK(put_byte(dirfd_, in_root, SIZE - 1, 'x'));
	CHECK(verify(text) == -EPERM && strstr(text, in_root));
	CHECK(put_byte(AT_FDCWD, host, SIZE - 1, 'x'));
	CHECK(verify(text) == 0);
	CHECK(put_byte(AT_FDCWD, host, 0, 'x'));
	CHECK(verify(text) == -EPERM && strstr(text, in_root));
	CHECK(put_byte(dirfd_, in_root, 0, 'x'));
	CHECK(verify(text) == 0);
	CHECK(ftruncate(fd, SIZE + 1) == 0);
	CHECK(verify(text) == -EPERM && strstr(text, in_root));
	CHECK(unlink(host) == 0);
	CHECK(verify(text) == -EPERM);
	end();
}

static void a_link_to_a_root_is_none(void)
{
	char text[512];

	CHECK(begin());
	CHECK(renameat(dirfd_, "rootfs", dirfd_, "r") == 0 && symlinkat("r", dirfd_, "rootfs") == 0);
	CHECK(verify(text) < 0);
	end();
}

TAP_MAIN(T(a_copy_is_the_hosts_file_to_the_last_byte), T(a_link_to_a_root_is_none),
	 T(an_edited_root_is_refused_by_name), T(a_written_bundle_is_verified),
	 T(an_edited_config_is_refused_by_name), T(an_edited_subject_is_refused),
	 T(two_edited_files_have_another_digest), T(ids_of_another_user_are_refused),
	 T(another_program_is_refused), T(another_kind_of_file_is_refused),
	 T(the_runs_own_time_is_checked_as_well))
