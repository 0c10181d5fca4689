/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "subject/operand-path.h"
#include "subject/operand.h"
#include "subject/subject.h"
#include "tap.h"
#include "unprivileged.h"

static char tree[] = "/tmp/custody-test-operand.XXXXXX";
static char layer[] = "/tmp/custody-test-operand-layer.XXXXXX";
static char *no_env[] = { NULL };

static struct profile plain(enum profile_workspace mode)
{
	return (struct profile){
		.name = (char *)"test",
		.workspace = mode,
		.workspace_source = tree,
		.workspace_target = (char *)"/work",
		.process_init = true,
		.layers = LAYER_BIT(_LAYER_MAX) - 1,
	};
}

static void put(const char *path, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	(void)!write(fd, text, strlen(text));
	(void)fchmod(fd, mode);
}

/* A tree with one of everything; the working directory of the test. */
static void lay_out(void)
{
	int dir = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(dir, tree + strlen("/tmp/"), NULL);
	(void)!path_remove_tree(dir, layer + strlen("/tmp/"), NULL);
	fd_close(dir);
	(void)mkdir(tree, 0755);
	(void)mkdir(layer, 0755);
	(void)!chdir(tree);
	(void)mkdir("sub", 0750);
	(void)mkdir("sub/deep", 0755);
	put("run.sh", "#!/bin/sh\necho one\n", 0755);
	put("sub/b.sh", "echo two\n", 0644);
	put("sub/deep/c", "three", 04755);
	put("data", "four", 0600);
	(void)symlink("sub/b.sh", "link");
	(void)symlink("sub", "way");
	(void)symlink("/work/run.sh", "inside");
	(void)symlink("/etc/passwd", "out");
	(void)symlink("../../../etc/passwd", "up");
	(void)symlink("loop", "loop");
	(void)mkfifo("fifo", 0644);
}

static int build(struct profile *p, enum operand_seal seal, char *const *env, const char *cwd,
		 const char *const *argv, struct subject **ret, struct fault *f)
{
	struct subject_request rq = { .argv = (char *const *)argv,
				      .env = env ? env : no_env,
				      .environ = no_env,
				      .workdir = cwd,
				      .seal = seal };

	return subject_build(p, &rq, ret, f);
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SETUP(mode)                                 \
	_cleanup_fault_ struct fault f = { 0 };     \
	_cleanup_subject_ struct subject *s = NULL; \
	struct profile p = plain(mode);             \
	lay_out()
#define BUILD(...) build(&p, OPERAND_SEAL_NAMED, NULL, NULL, ARGS(__VA_ARGS__), &s, &f)
#define REFUSED(call, code, words)                                    \
	do {                                                          \
		int _r = (call);                                      \
		if (_r != -(code) || !strstr(fault_text(&f), words))  \
			printf("# got %d: %s\n", _r, fault_text(&f)); \
		CHECK(_r == -(code));                                 \
		CHECK(strstr(fault_text(&f), words));                 \
	} while (0)

static bool is_hash_of(const struct operand *o, const char *text)
{
	struct digest d;

	digest_bytes(text, strlen(text), &d);
	return digest_equal(&d, &o->sha256) && o->size == strlen(text);
}

static void GOV_9_command_and_named_files_are_found_and_hashed(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(BUILD("./run.sh", "-v", "data", "--file=sub/b.sh", "x=/work/data",
		    "/work/../work/./sub//deep/c", "nothing", "sub", "run.sh/") == 0);
	CHECK(s->n_operands == 5);
	CHECK(strcmp(s->operands[0].path, "run.sh") == 0 && s->operands[0].arg == 0 &&
	      s->operands[0].use == OPERAND_RUNS && s->operands[0].mode == 0755);
	CHECK(is_hash_of(&s->operands[0], "#!/bin/sh\necho one\n"));
	CHECK(strcmp(s->operands[1].path, "data") == 0 && s->operands[1].arg == 2 &&
	      s->operands[1].use == OPERAND_DATA);
	CHECK(strcmp(s->operands[2].path, "sub/b.sh") == 0 && s->operands[2].at == strlen("--file="));
	CHECK(strcmp(s->operands[3].path, "data") == 0 && s->operands[3].again && s->operands[3].at == 2);
	/* Set-id is never sealed. */
	CHECK(strcmp(s->operands[4].path, "sub/deep/c") == 0 && s->operands[4].mode == 0755);
}

static void GOV_9_links_are_resolved_as_inside_and_kept(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(BUILD("sh", "link", "way/deep/c", "inside") == 0);
	CHECK(s->n_operands == 3 && s->n_operand_links == 3);
	CHECK(strcmp(s->operands[0].path, "sub/b.sh") == 0);
	CHECK(strcmp(s->operands[1].path, "sub/deep/c") == 0);
	CHECK(strcmp(s->operands[2].path, "run.sh") == 0);
	CHECK(strcmp(s->operand_links[0].path, "link") == 0 &&
	      strcmp(s->operand_links[0].text, "sub/b.sh") == 0);
	CHECK(strcmp(s->operand_links[1].path, "way") == 0);
	CHECK(strcmp(s->operand_links[2].path, "inside") == 0);
}

static void GOV_9_only_files_of_the_tree_are_operands(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(BUILD("cat", "out", "up", "loop", "fifo", "sub", "/etc/passwd", "", "-", "../x", "=",
		    "a=", "sub/none") == 0);
	CHECK(s->n_operands == 0 && !operand_needs_lower(s));
}

static void GOV_9_the_host_path_of_the_tree_means_nothing_inside(void)
{
	_cleanup_free_ char *host = path_join(tree, "run.sh");

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(BUILD("cat", host) == 0);
	CHECK(s->n_operands == 0);
}

static void GOV_9_words_are_relative_to_the_working_directory(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(build(&p, OPERAND_SEAL_NAMED, NULL, "sub", ARGS("sh", "b.sh", "../data", "data"), &s, &f) == 0);
	CHECK(s->n_operands == 2);
	CHECK(strcmp(s->operands[0].path, "sub/b.sh") == 0 && strcmp(s->operands[1].path, "data") == 0);
}

static void GOV_9_a_mount_over_the_tree_hides_its_files(void)
{
	struct profile_tmpfs t = { .path = (char *)"/work/sub" };

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	p.fs_tmpfs = &t;
	p.n_fs_tmpfs = 1;
	CHECK(BUILD("sh", "sub/b.sh", "link", "data") == 0);
	CHECK(s->n_operands == 1 && strcmp(s->operands[0].path, "data") == 0);
}

static void GOV_9_path_may_lead_into_the_tree(void)
{
	char *first[] = { (char *)"PATH=/work/sub/deep:/usr/bin", NULL };
	char *last[] = { (char *)"PATH=/usr/bin:sub/deep", NULL };

	SETUP(PROFILE_WORKSPACE_RW);
	CHECK(build(&p, OPERAND_SEAL_NAMED, first, NULL, ARGS("c"), &s, &f) == 0);
	CHECK(s->n_operands == 1 && s->operands[0].use == OPERAND_RUNS);
	subject_free(TAKE_PTR(s));
	/* Something in /usr/bin may come first: not to be redirected. */
	CHECK(build(&p, OPERAND_SEAL_NAMED, last, NULL, ARGS("c"), &s, &f) == 0);
	CHECK(s->n_operands == 1 && s->operands[0].use == OPERAND_DATA);
	subject_free(TAKE_PTR(s));
	CHECK(BUILD("c") == 0);
	CHECK(s->n_operands == 0);
}

/* clang-format off */
static const struct {
	const char *argv[8];
	int word;	  /* finds sub/deep/c through PATH; -1: not */
	enum operand_use use;
} searched[] = {
	{ { "env", "c" }, 1, OPERAND_RUNS },
	{ { "env", "-u", "X", "A=b", "c", "x" }, 4, OPERAND_RUNS },
	{ { "timeout", "5", "c" }, 2, OPERAND_RUNS },
	{ { "timeout", "-s", "KILL", "5", "c" }, 4, OPERAND_RUNS },
	{ { "nice", "-n", "5", "nohup", "c" }, 4, OPERAND_RUNS },
	{ { "bash", "c" }, 1, OPERAND_RUNS },
	{ { "env", "bash", "-x", "c", "c" }, 3, OPERAND_RUNS },
	/* How a program uses its words is unknown: sealed, but not replaced. */
	{ { "flock", "lock", "c" }, 2, OPERAND_DATA },
	{ { "echo", "c" }, 1, OPERAND_DATA },
	{ { "env", "grep", "c" }, 2, OPERAND_DATA },
	{ { "bash", "-c", "c" }, 2, OPERAND_DATA },
	{ { "env", "PATH=/usr/bin", "c" }, -1, OPERAND_DATA },
	{ { "env", "-i", "c" }, -1, OPERAND_DATA },
	{ { "env", "./c" }, -1, OPERAND_DATA },
};
/* clang-format on */

static void GOV_9_wrappers_and_shells_search_path_as_well(void)
{
	char *env[] = { (char *)"PATH=/work/sub/deep:/usr/bin", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(searched); i++) {
		SETUP(PROFILE_WORKSPACE_RW);
		const struct operand *o;

		CHECK(build(&p, OPERAND_SEAL_NAMED, env, NULL, searched[i].argv, &s, &f) == 0);
		o = searched[i].word < 0 ? s->operands : operand_at(s, (size_t)searched[i].word);
		if ((searched[i].word < 0) != (s->n_operands == 0) ||
		    (searched[i].word >= 0 && (!o || !o->searched || o->use != searched[i].use)))
			printf("# %s %s: %zu operands\n", searched[i].argv[0], searched[i].argv[1],
			       s->n_operands);
		CHECK((searched[i].word < 0) == (s->n_operands == 0));
		CHECK(searched[i].word < 0 ||
		      (o && o->searched && o->use == searched[i].use && strcmp(o->path, "sub/deep/c") == 0));
		CHECK(operand_require_same(s, &f) == 0);
	}
}

static void GOV_9_a_file_in_the_working_directory_does_not_hide_the_one_in_path(void)
{
	char *env[] = { (char *)"PATH=/work/sub/deep", NULL };

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	put("c", "another\n", 0755);
	CHECK(build(&p, OPERAND_SEAL_NAMED, env, NULL, ARGS("env", "c"), &s, &f) == 0);
	CHECK(s->n_operands == 2 && strcmp(s->operands[0].path, "sub/deep/c") == 0 &&
	      s->operands[0].searched);
	CHECK(strcmp(s->operands[1].path, "c") == 0 && !s->operands[1].searched);
	subject_free(TAKE_PTR(s));
	/* A shell takes its script from the working directory first. */
	CHECK(build(&p, OPERAND_SEAL_NAMED, env, NULL, ARGS("bash", "c"), &s, &f) == 0);
	CHECK(s->n_operands == 2 && strcmp(s->operands[0].path, "c") == 0 && s->operands[1].searched);
	(void)unlink("c");
}

static void GOV_9_a_file_that_appears_earlier_in_path_is_refused(void)
{
	char *env[] = { (char *)"PATH=/work/sub:/work/sub/deep", NULL };
	static const char *const argvs[][3] = { { "c" }, { "env", "c" }, { "bash", "c" }, { "flock", "c" } };

	for (size_t i = 0; i < ARRAY_SIZE(argvs); i++) {
		SETUP(PROFILE_WORKSPACE_OVERLAY);
		CHECK(build(&p, OPERAND_SEAL_NAMED, env, NULL, argvs[i], &s, &f) == 0);
		CHECK(s->n_operands == 1 && operand_require_same(s, &f) == 0);
		put("sub/c", "another\n", 0755);
		REFUSED(operand_require_same(s, &f), EBADMSG, "names a file of the worktree now");
		(void)unlink("sub/c");
	}
}

/* clang-format off */
static const struct {
	const char *argv[8];
	int runs; /* which word, -1: none */
} programs[] = {
	{ { "./run.sh", "data" }, 0 },
	{ { "sh", "run.sh", "data" }, 1 },
	{ { "/bin/bash", "-x", "run.sh" }, 2 },
	{ { "bash", "-o", "pipefail", "run.sh" }, 3 },
	{ { "python3.11", "-u", "data", "run.sh" }, 2 },
	{ { "sh", "-c", "run.sh", "data" }, -1 },
	{ { "perl", "-e", "1", "data" }, -1 },
	{ { "bash", "-e", "run.sh", "data" }, 2 },
	{ { "sh", "-ec", "rm \"$1\"", "data" }, -1 },
	{ { "python3", "-m", "mod", "data" }, -1 },
	{ { "env", "-i", "A=b", "sh", "run.sh" }, 4 },
	{ { "timeout", "5", "./run.sh", "data" }, 2 },
	{ { "nice", "-n", "5", "env", "python3", "data" }, 5 },
	{ { "touch", "data" }, -1 },
	{ { "env", "touch", "data" }, -1 },
	{ { "sed", "-i", "s/a/b/", "data" }, -1 },
	{ { "cp", "run.sh", "data" }, -1 },
	/* the value of an option is also the name of a file */
	{ { "bash", "-euo", "data", "run.sh" }, 3 },
	{ { "bash", "+o", "data", "run.sh" }, 3 },
	{ { "python3", "-W", "data", "run.sh" }, 3 },
	{ { "stdbuf", "--output", "data", "sh", "run.sh" }, 4 },
	{ { "timeout", "--signal", "data", "5", "sh", "run.sh" }, 5 },
	{ { "bash", "--rcfile", "data", "run.sh" }, 3 },
	{ { "perl", "-i", "-pe", "1", "data" }, -1 },
	{ { "python3", "-Ic", "1", "data" }, -1 },
};
/* clang-format on */

static void GOV_9_programs_are_distinguished_from_data(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		SETUP(PROFILE_WORKSPACE_RW);
		CHECK(build(&p, OPERAND_SEAL_NAMED, NULL, NULL, programs[i].argv, &s, &f) == 0);
		for (size_t k = 0; s->argv[k]; k++) {
			_cleanup_free_ char *word = operand_word(s, k);
			bool moved = str_starts(word, OPERAND_DIR "/");

			if (moved != ((int)k == programs[i].runs))
				printf("# %s: word %zu is '%s'\n", programs[i].argv[0], k, word);
			CHECK(moved == ((int)k == programs[i].runs));
		}
		CHECK(operand_needs_lower(s) == (programs[i].runs >= 0));
	}
}

static void GOV_9_only_a_rw_tree_changes_the_command_line(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	_cleanup_free_ char *word = NULL;

	CHECK(BUILD("./run.sh") == 0);
	word = operand_word(s, 0);
	CHECK(strcmp(word, "./run.sh") == 0);
}

static void limits_are_refused_and_name_the_way_out(void)
{
	_cleanup_close_ int fd = -EBADF;
	char names[OPERAND_FILES_MAX + 1][16];
	const char *argv[OPERAND_FILES_MAX + 3] = { "cat" };

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	for (int i = 0; i <= OPERAND_FILES_MAX; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%d", i);
		put(names[i], "x", 0644);
		argv[1 + i] = names[i];
	}
	REFUSED(build(&p, OPERAND_SEAL_NAMED, NULL, NULL, argv, &s, &f), E2BIG, "--no-seal");
	fault_done(&f);
	CHECK(build(&p, OPERAND_SEAL_NONE, NULL, NULL, argv, &s, &f) == 0 && s->n_operands == 0);
	subject_free(TAKE_PTR(s));
	argv[1 + OPERAND_FILES_MAX] = "f0"; /* the 64th file again is no 65th */
	CHECK(build(&p, OPERAND_SEAL_NAMED, NULL, NULL, argv, &s, &f) == 0);
	subject_free(TAKE_PTR(s));
	fd = open("data", O_WRONLY | O_CLOEXEC);
	CHECK(ftruncate(fd, (off_t)OPERAND_BYTES_MAX + 1) == 0);
	REFUSED(BUILD("cat", "data"), EFBIG, "--no-seal");
	CHECK(!s);
}

static void build_with_an_unreadable_operand(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(chmod("data", 0111) == 0);
	REFUSED(BUILD("./data"), EACCES, "data");
}

static void an_unreadable_operand_is_refused(void)
{
	tap_unprivileged(build_with_an_unreadable_operand);
}

static struct operand_ids own_ids(void)
{
	return (struct operand_ids){ .rootless = geteuid() != 0,
				     .from_uid = geteuid(),
				     .to_uid = 4242,
				     .from_gid = getegid(),
				     .to_gid = 4243 };
}

static void GOV_9_the_layer_has_content_links_and_looks_of_the_tree(void)
{
	struct timespec old[2] = { { .tv_sec = 978307200, .tv_nsec = 5 },
				   { .tv_sec = 978307200, .tv_nsec = 5 } };
	struct operand_ids ids = own_ids();
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	char text[64] = "";
	bool attrs;

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	attrs = setxattr("sub", "user.note", "kept", 4, 0) == 0;
	(void)setxattr("sub", "user.overlay.opaque", "y", 1, 0);
	CHECK(utimensat(AT_FDCWD, "sub", old, 0) == 0 && utimensat(AT_FDCWD, "sub/deep/c", old, 0) == 0);
	CHECK(BUILD("sh", "way/deep/c", "link") == 0);
	/* All of it is removed: the sealed directory needs nothing of the tree any more. */
	(void)unlink("sub/deep/c");
	put("sub/b.sh", "evil", 0644);
	(void)unlink("way");
	(void)symlink("/etc", "way");
	fd = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(operand_lower_write(s, fd, &ids, &f) == 0);
	CHECK(operand_lower_verify(s, fd, &f) == 0);
	CHECK(fstatat(fd, "sub", &st, 0) == 0 && (st.st_mode & 07777) == 0750 &&
	      st.st_mtim.tv_sec == old[0].tv_sec && st.st_mtim.tv_nsec == 5);
	CHECK(geteuid() != 0 || (st.st_uid == 4242 && st.st_gid == 4243));
	CHECK(fstatat(fd, "sub/deep/c", &st, 0) == 0 && (st.st_mode & 07777) == 0755 &&
	      st.st_mtim.tv_nsec == 5);
	CHECK(readlinkat(fd, "way", text, sizeof(text) - 1) == 3 && strcmp(text, "sub") == 0);
	CHECK(fchdir(fd) == 0);
	memset(text, 0, sizeof(text));
	CHECK(!attrs || (getxattr("sub", "user.note", text, sizeof(text)) == 4 && strcmp(text, "kept") == 0));
	CHECK(getxattr("sub", "user.overlay.opaque", text, sizeof(text)) < 0);
	CHECK(access("run.sh", F_OK) < 0);
}

/* Each damages a valid sealed directory, which must then be refused with these words. */
static void change_content(void)
{
	put("run.sh", "#!/bin/sh\necho 0ne\n", 0755);
}
static void change_length(void)
{
	put("run.sh", "x", 0755);
}
static void add_file(void)
{
	put("sub/more", "x", 0644);
}
static void remove_file(void)
{
	(void)unlink("run.sh");
}
static void change_link(void)
{
	(void)unlink("link");
	(void)symlink("sub/deep/c", "link");
}
static void make_dir(void)
{
	(void)mkdir("other", 0755);
}
static void make_link_of_file(void)
{
	(void)unlink("run.sh");
	(void)symlink("/etc/passwd", "run.sh");
}
static void make_set_id(void)
{
	(void)chmod("run.sh", 04755);
}

static void GOV_9_a_lower_on_disk_is_checked_entry_by_entry(void)
{
	static const struct {
		void (*spoil)(void);
		const char *words;
	} cases[] = {
		{ change_content, "differs from the approved content" },
		{ change_length, "bytes" },
		{ add_file, "was not approved" },
		{ remove_file, "3 sealed copies expected" },
		{ change_link, "link" },
		{ make_dir, "was not approved" },
		{ make_link_of_file, "link" },
		{ make_set_id, "set-id" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct operand_ids ids = own_ids();
		_cleanup_close_ int fd = -EBADF;

		SETUP(PROFILE_WORKSPACE_OVERLAY);
		CHECK(BUILD("./run.sh", "link") == 0);
		fd = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(operand_lower_write(s, fd, &ids, &f) == 0 && operand_lower_verify(s, fd, &f) == 0);
		CHECK(fchdir(fd) == 0);
		cases[i].spoil();
		REFUSED(operand_lower_verify(s, fd, &f), EBADMSG, cases[i].words);
	}
}

static void GOV_9_an_argument_that_becomes_a_file_is_refused(void)
{
	SETUP(PROFILE_WORKSPACE_OVERLAY);
	CHECK(BUILD("sh", "later", "data") == 0);
	CHECK(operand_require_same(s, &f) == 0);
	put("data", "changed", 0644); /* sealed: its copy is used */
	CHECK(operand_require_same(s, &f) == 0);
	put("later", "evil", 0644);
	REFUSED(operand_require_same(s, &f), EBADMSG, "'later' names a file");
}

static void GOV_9_data_of_a_rw_tree_must_be_as_judged(void)
{
	SETUP(PROFILE_WORKSPACE_RW);
	CHECK(BUILD("sh", "run.sh", "data") == 0);
	put("run.sh", "changed", 0644); /* runs from its copy */
	CHECK(operand_require_same(s, &f) == 0);
	put("data", "changed", 0600);
	REFUSED(operand_require_same(s, &f), EBADMSG, "operand 'data' changed");
	fault_done(&f);
	(void)unlink("data");
	REFUSED(operand_require_same(s, &f), EBADMSG, "'data' was removed");
}

static void touch_time(void)
{
	struct timespec t[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	(void)utimensat(AT_FDCWD, "data", t, 0);
}
static void chmod_data(void)
{
	(void)chmod("data", 0644);
}
static void rewrite_deep(void)
{
	put("sub/deep/c", "THREE", 04755);
}
static void turn_link(void)
{
	(void)unlink("out");
	(void)symlink("/etc/group", "out");
}

static void GOV_9_a_sealed_tree_is_refused_when_anything_changed(void)
{
	static const struct {
		void (*change)(void);
		const char *words; /* NULL: no change that counts */
	} cases[] = {
		{ touch_time, NULL },
		{ chmod_data, "'data'" },
		{ rewrite_deep, "'sub/deep/c'" },
		{ turn_link, "'out'" },
		{ add_file, "'sub/more'" },
		{ make_dir, "'other'" },
		{ remove_file, "the worktree" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		SETUP(PROFILE_WORKSPACE_OVERLAY);
		CHECK(build(&p, OPERAND_SEAL_TREE, NULL, NULL, ARGS("true"), &s, &f) == 0);
		CHECK(operand_require_same(s, &f) == 0);
		cases[i].change();
		if (cases[i].words)
			REFUSED(operand_require_same(s, &f), EBADMSG, cases[i].words);
		else
			CHECK(operand_require_same(s, &f) == 0);
	}
}

static void a_tree_digest_does_not_depend_on_the_order_of_making(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct digest da, db;

	SETUP(PROFILE_WORKSPACE_OVERLAY);
	put("z", "1", 0644);
	put("new\nline\\", "2", 0644);
	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(operand_digest_tree(fd, &da, &a, &f) == 0);
	CHECK(strstr(a, " new\\nline\\\\\n") && strstr(a, "o 0644 - fifo\n"));
	lay_out();
	fd_close(fd);
	put("new\nline\\", "2", 0644);
	put("z", "1", 0644);
	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(operand_digest_tree(fd, &db, &b, &f) == 0);
	CHECK(strcmp(a, b) == 0 && digest_equal(&da, &db));
	CHECK(!s && p.name);
}

static void seals_have_names(void)
{
	enum operand_seal s = OPERAND_SEAL_NONE;

	CHECK(operand_seal_parse("tree", &s) == 0 && s == OPERAND_SEAL_TREE);
	CHECK(operand_seal_parse(operand_seal_name(OPERAND_SEAL_NAMED), &s) == 0 && s == OPERAND_SEAL_NAMED);
	CHECK(operand_seal_parse("all", &s) == -EINVAL);
}

static void clean_up(void)
{
	int dir = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)!chdir("/");
	CHECK(path_remove_tree(dir, tree + strlen("/tmp/"), NULL) == 0);
	CHECK(path_remove_tree(dir, layer + strlen("/tmp/"), NULL) == 0);
	fd_close(dir);
}

static void make_directories(void)
{
	CHECK(mkdtemp(tree) && mkdtemp(layer));
}

TAP_MAIN(T(make_directories), T(GOV_9_command_and_named_files_are_found_and_hashed),
	 T(GOV_9_links_are_resolved_as_inside_and_kept), T(GOV_9_only_files_of_the_tree_are_operands),
	 T(GOV_9_the_host_path_of_the_tree_means_nothing_inside),
	 T(GOV_9_words_are_relative_to_the_working_directory), T(GOV_9_a_mount_over_the_tree_hides_its_files),
	 T(GOV_9_path_may_lead_into_the_tree), T(GOV_9_wrappers_and_shells_search_path_as_well),
	 T(GOV_9_a_file_in_the_working_directory_does_not_hide_the_one_in_path),
	 T(GOV_9_a_file_that_appears_earlier_in_path_is_refused),
	 T(GOV_9_programs_are_distinguished_from_data), T(GOV_9_only_a_rw_tree_changes_the_command_line),
	 T(limits_are_refused_and_name_the_way_out), T(an_unreadable_operand_is_refused),
	 T(GOV_9_the_layer_has_content_links_and_looks_of_the_tree),
	 T(GOV_9_a_lower_on_disk_is_checked_entry_by_entry),
	 T(GOV_9_an_argument_that_becomes_a_file_is_refused), T(GOV_9_data_of_a_rw_tree_must_be_as_judged),
	 T(GOV_9_a_sealed_tree_is_refused_when_anything_changed),
	 T(a_tree_digest_does_not_depend_on_the_order_of_making), T(seals_have_names), T(clean_up))
