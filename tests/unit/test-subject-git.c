/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "subject/subject-git.h"
#include "tap.h"

#define PLAIN                                                                                             \
	"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = " \
	"true\n"                                                                                          \
	"[remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = "                              \
	"+refs/heads/*:refs/remotes/origin/*\n"                                                           \
	"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"

static void GOV_16_a_configuration_is_plain_only_with_listed_keys(void)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{ "", true },
		{ PLAIN, true },
		{ "# x\n; y\n\n[user]\n\tname = a\n\temail = b\n", true },
		{ "[CORE]\n\tFileMode = true\n", true },
		{ "[core]\n\tfsmonitor = ./x\n", false },
		{ "[core]\n\tpager = ./x\n", false },
		{ "[core] fsmonitor = ./x\n", false },
		{ "[core]\n\thooksPath = x\n", false },
		{ "[core]\n\tsshCommand = ./x\n", false },
		{ "[core]\n\tworktree = /\n", false },
		{ "[core]\n\tbare = true\n", false },
		{ "[filter \"x\"]\n\tclean = ./x\n", false },
		{ "[diff \"x\"]\n\ttextconv = ./x\n", false },
		{ "[diff]\n\texternal = ./x\n", false },
		{ "[include]\n\tpath = x\n", false },
		{ "[includeIf \"gitdir:x\"]\n\tpath = x\n", false },
		{ "[alias]\n\tstatus = !./x\n", false },
		{ "[extensions]\n\tworktreeConfig = true\n", false },
		{ "[gpg]\n\tprogram = ./x\n", false },
		{ "[log]\n\tshowSignature = true\n", false },
		{ "[remote \"x\"]\n\turl = ext::./x\n", false },
		{ "[remote \"x\"]\n\tuploadpack = ./x\n", false },
		{ "[user]\n\tname = a\\\n[core]\n", false },
		{ "[user]\n\tname\n", false },
		{ "[user\n\tname = a\n", false },
		{ "[remote \"a\\\"]\n[core]\n\tfsmonitor=x\"]\n", false },
		{ "name = a\n", false },
		{ "[core.x]\n\tfilemode = true\n", false },
		{ "\xef\xbb\xbf[core]\n\tfilemode = true\n", false },
		{ "[core]\n\tfilemode = true\n\tfsmonitor=x", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (git_config_is_plain(rows[i].text) != rows[i].want) {
			printf("# %s\n", rows[i].text);
			CHECK(false);
		}
}

/* An index with one entry: MODE, a name of N characters. */
static size_t make_index(unsigned char *b, unsigned int version, unsigned int mode, size_t n)
{
	size_t len = 12 + 62, size;

	memset(b, 0, 256);
	memcpy(b, "DIRC", 4);
	b[7] = (unsigned char)version;
	b[11] = 1;
	b[12 + 26] = (unsigned char)(mode >> 8);
	b[12 + 27] = (unsigned char)mode;
	if (version == 4)
		len++;
	memset(b + len, 'a', n);
	size = len - 12 + n;
	return (version == 4 ? 12 + size + 1 : 12 + ((size + 8) & ~(size_t)7)) + 20;
}

/* Before the checksum; returns the new length. */
static size_t add_extension(unsigned char *b, size_t len, const char *name, unsigned char size)
{
	memset(b + len - 20, 0, 28U + size);
	memcpy(b + len - 20, name, 4);
	b[len - 20 + 7] = size;
	return len + 8 + size;
}

static void GOV_16_an_index_with_entries_elsewhere_is_not_plain(void)
{
	unsigned char b[512];
	size_t len = make_index(b, 2, 0100644, 3);

	len = add_extension(b, len, "TREE", 9);
	CHECK(git_index_is_plain(b, len));
	CHECK(!git_index_is_plain(b, add_extension(b, len, "link", 4)));
	CHECK(!git_index_is_plain(b, add_extension(b, len, "sdir", 0)));
	CHECK(!git_index_is_plain(b, add_extension(b, len, "XXXX", 0)));
	CHECK(git_index_is_plain(b, add_extension(b, len, "UNTR", 2)));
	len = add_extension(b, len, "REUC", 2);
	b[len - 20 - 3]++; /* longer than the file */
	CHECK(!git_index_is_plain(b, len));
}

static void GOV_16_a_submodule_in_the_index_is_found(void)
{
	unsigned char b[256];
	size_t len;

	for (unsigned int version = 2; version <= 4; version++)
		for (size_t n = 1; n < 20; n++) {
			len = make_index(b, version, 0100644, n);
			CHECK(git_index_is_plain(b, len));
			CHECK(!git_index_is_plain(b, add_extension(b, len, "link", 0)));
			len = make_index(b, version, 0040000, n);
			CHECK(!git_index_is_plain(b, len));
			len = make_index(b, version, 0160000, n);
			CHECK(!git_index_is_plain(b, len));
		}
	len = make_index(b, 2, 0100644, 3);
	for (size_t cut = 0; cut < len - 20; cut++)
		CHECK(!git_index_is_plain(b, cut) || cut >= len - 20);
	b[7] = 5;
	CHECK(!git_index_is_plain(b, len));
	CHECK(!git_index_is_plain(b, 0));
}

static char tree[] = "/tmp/custody-test-git.XXXXXX";

static const char *in_tree(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", tree, name);
	return path;
}

static void put(const char *name, const char *text)
{
	int fd = open(in_tree(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

/* What git itself requires of .git. */
static void make_repository(void)
{
	CHECK(mkdir(in_tree(".git/objects"), 0755) == 0 && mkdir(in_tree(".git/refs"), 0755) == 0);
	put(".git/HEAD", "ref: refs/heads/main\n");
}

static void remove_repository(void)
{
	CHECK(unlink(in_tree(".git/HEAD")) == 0 && rmdir(in_tree(".git/objects")) == 0 &&
	      rmdir(in_tree(".git/refs")) == 0 && rmdir(in_tree(".git")) == 0 && rmdir(tree) == 0);
}

static void GOV_16_hooks_links_and_other_configurations_are_not_plain(void)
{
	struct subject s = { .worktree = tree, .home = (char *)"/home/sandbox" };
	struct subject_mount home = { .kind = SUBJECT_MOUNT_BIND,
				      .target = (char *)"/home/sandbox",
				      .rw = true };

	CHECK(mkdtemp(tree));
	CHECK(!subject_git_is_plain(&s));
	CHECK(mkdir(in_tree(".git"), 0755) == 0 && mkdir(in_tree(".git/hooks"), 0755) == 0);
	CHECK(!subject_git_is_plain(&s)); /* no config */
	put(".git/config", PLAIN);
	put(".git/hooks/pre-commit.sample", "x");
	CHECK(!subject_git_is_plain(&s)); /* git would go on to the root, as a repository of its own */
	make_repository();
	CHECK(subject_git_is_plain(&s));
	put(".git/hooks/post-index-change", "x");
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/hooks/post-index-change")) == 0);
	put(".git/commondir", "..");
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/commondir")) == 0);
	put(".git/config.worktree", "");
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/config.worktree")) == 0);
	put(".git/index", "x");
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/index")) == 0 && subject_git_is_plain(&s));
	s.mounts = &home;
	s.n_mounts = 1;
	CHECK(!subject_git_is_plain(&s)); /* ~/.gitconfig of a run before */
	s.n_mounts = 0;
	CHECK(rename(in_tree(".git/config"), "/tmp/custody-test-git-config") == 0 &&
	      symlink("/tmp/custody-test-git-config", in_tree(".git/config")) == 0);
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink("/tmp/custody-test-git-config") == 0 && unlink(in_tree(".git/config")) == 0);
	put(".git/config", "[core]\n\tfsmonitor = ./x\n");
	CHECK(!subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/config")) == 0 && unlink(in_tree(".git/hooks/pre-commit.sample")) == 0 &&
	      rmdir(in_tree(".git/hooks")) == 0);
	remove_repository();
}

/* NAME in .git makes it not plain until it is removed. */
static void check_spoiled_by(const struct subject *s, const char *name)
{
	CHECK(!subject_git_is_plain(s));
	CHECK(unlink(in_tree(name)) == 0 && subject_git_is_plain(s));
}

static void GOV_16_git_writes_no_file_of_the_tree_through_a_link(void)
{
	struct subject s = { .worktree = tree, .home = (char *)"/home/sandbox" };
	char other[512];

	(void)snprintf(tree, sizeof(tree), "/tmp/custody-test-git.XXXXXX");
	CHECK(mkdtemp(tree) && mkdir(in_tree(".git"), 0755) == 0);
	make_repository();
	put(".git/config", PLAIN);
	put("other", "x");
	(void)snprintf(other, sizeof(other), "%s/other", tree);
	CHECK(subject_git_is_plain(&s));
	CHECK(symlink("../other", in_tree(".git/COMMIT_EDITMSG")) == 0);
	check_spoiled_by(&s, ".git/COMMIT_EDITMSG");
	CHECK(link(other, in_tree(".git/refs/x")) == 0);
	check_spoiled_by(&s, ".git/refs/x");
	CHECK(mkfifo(in_tree(".git/refs/y"), 0644) == 0);
	check_spoiled_by(&s, ".git/refs/y");
	CHECK(symlink("../..", in_tree(".git/objects/ab")) == 0);
	check_spoiled_by(&s, ".git/objects/ab");
	CHECK(link(other, in_tree(".git/objects/cd")) == 0 && subject_git_is_plain(&s));
	CHECK(unlink(in_tree(".git/objects/cd")) == 0);
	put("HEAD", "ref: refs/heads/main\n");
	check_spoiled_by(&s, "HEAD");
	put(".git/HEAD", "x\n");
	CHECK(!subject_git_is_plain(&s));
	put(".git/HEAD", "0123456789012345678901234567890123456789\n");
	CHECK(subject_git_is_plain(&s));
	CHECK(chmod(in_tree(".git/refs"), 0) == 0 && !subject_git_is_plain(&s));
	CHECK(chmod(in_tree(".git/refs"), 0755) == 0 && subject_git_is_plain(&s));
	CHECK(unlink(other) == 0 && unlink(in_tree(".git/config")) == 0);
	remove_repository();
}

TAP_MAIN(T(GOV_16_a_configuration_is_plain_only_with_listed_keys),
	 T(GOV_16_a_submodule_in_the_index_is_found), T(GOV_16_an_index_with_entries_elsewhere_is_not_plain),
	 T(GOV_16_hooks_links_and_other_configurations_are_not_plain),
	 T(GOV_16_git_writes_no_file_of_the_tree_through_a_link))
