/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "subject/git-identity.h"
#include "tap.h"

static void ISO_12_name_and_email_are_read_as_git_reads_them(void)
{
	static const struct {
		const char *text, *name, *email;
	} rows[] = {
		{ "", NULL, NULL },
		{ "[user]\n\tname = A B\n\temail = a@b.c\n", "A B", "a@b.c" },
		{ "[USER]\r\n\tName=A \r\n\tEMAIL = a@b.c\r\n", "A", "a@b.c" },
		{ "\xef\xbb\xbf[user] name = A # x\n", "A", NULL },
		{ "[user]\nname = \"A; # B \" ; x\n", "A; # B ", NULL },
		{ "[user]\nname = A \\\"x\\\" \\\\\n", "A \"x\" \\", NULL },
		{ "[user]\nname = A \\\n  B\n", "A   B", NULL },
		{ "[user]\nname = A\n[core]\nname = B\n[user]\nname = C", "C", NULL },
		{ "[core \"x]\\\"\"]\n\tname = B\n[user]\nname = \xc3\x84\n", "\xc3\x84", NULL },
		{ "[user \"x\"]\nname = A\n", NULL, NULL },
		{ "[user.x]\nname = A\n", NULL, NULL },
		{ "[users]\nname = A\n", NULL, NULL },
		{ "[include]\n\tpath = other\n[user]\nsigningkey = k\n", NULL, NULL },
		{ "[user]\nname\nemail =\n", NULL, NULL },
		{ "[user]\nnames = A\nnam = B\n", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_git_identity_ struct git_identity g = { 0 };

		git_identity_parse(rows[i].text, &g);
		if (!str_eq(g.name, rows[i].name) || !str_eq(g.email, rows[i].email)) {
			printf("# %s\n", rows[i].text);
			CHECK(false);
		}
	}
}

static void ISO_12_a_malformed_file_sets_nothing(void)
{
	static const char *const rows[] = {
		"[user]\nname = \"A\n",	      "[user]\nname = A\\x\n", "[user]\nname = A\n[core\n",
		"[user]\nname = A\n=\n",      "[user]\nname A\n",      "[user]\nname = A\n[]\n",
		"[user]\nname = A\n[x \"y\n", "[user]\nname = A\\",    "[user]\nname = A\n<html>\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_git_identity_ struct git_identity g = { .name = strdup("before") };

		git_identity_parse(rows[i], &g);
		CHECK(str_eq(g.name, "before") && !g.email);
	}
}

static void ISO_12_a_value_that_a_person_could_not_see_is_not_passed(void)
{
	static const char *const values[] = { "\"A\\nB\"",
					      "\"A\\tB\"",
					      "A\\bB",
					      "A\x1b[31m",
					      "A\x7f",
					      "A\xe2\x80\xae"
					      "B",
					      "A\xff",
					      "A\xc2\x9bx" };
	char text[1024], ones[300];

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		/* Also not the value of the file before: git would not use that one. */
		_cleanup_git_identity_ struct git_identity g = { .name = strdup("before") };

		(void)snprintf(text, sizeof(text), "[user]\nname = %s\nemail = e\n", values[i]);
		git_identity_parse(text, &g);
		CHECK(!g.name && str_eq(g.email, "e"));
	}
	for (size_t len = 256; len <= 257; len++) {
		_cleanup_git_identity_ struct git_identity g = { 0 };

		memset(ones, '1', len);
		(void)snprintf(text, sizeof(text), "[user]\nname = %.*s\n", (int)len, ones);
		git_identity_parse(text, &g);
		CHECK(!g.name == (len > 256));
	}
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool has(const char *dir, const char *xdg, const char *name, const char *email)
{
	_cleanup_git_identity_ struct git_identity g;

	git_identity_load(dir, xdg, &g);
	return str_eq(g.name, name) && str_eq(g.email, email);
}

static void ISO_12_only_an_own_small_regular_file_is_read(void)
{
	char dir[] = "/tmp/test-identity.XXXXXX", xdg[64];
	static char large[GIT_IDENTITY_FILE_MAX + 2];

	CHECK(mkdtemp(dir) && chdir(dir) == 0 && mkdir(".config", 0700) == 0);
	CHECK(mkdir(".config/git", 0700) == 0 && mkdir("x", 0700) == 0 && mkdir("x/git", 0700) == 0);
	(void)snprintf(xdg, sizeof(xdg), "%s/x", dir);
	CHECK(has(dir, NULL, NULL, NULL) && has(NULL, NULL, NULL, NULL) && has("", "", NULL, NULL));
	put(".config/git/config", "[user]\nname = C\nemail = c\n");
	put("x/git/config", "[user]\nname = X\nemail = x\n");
	CHECK(has(dir, NULL, "C", "c") && has(dir, xdg, "X", "x") && has(".", NULL, NULL, NULL));
	put(".gitconfig", "[user]\nname = G\n[include]\npath = x/git/config\n");
	CHECK(has(dir, NULL, "G", "c") && has(dir, xdg, "G", "x"));
	if (geteuid() == 0) {
		CHECK(chown(".gitconfig", 12345, 12345) == 0);
		CHECK(has(dir, NULL, "C", "c"));
	}
	memset(large, '\n', GIT_IDENTITY_FILE_MAX + 1);
	memcpy(large, "[user]\nname = L", 15);
	put(".gitconfig", large);
	CHECK(has(dir, NULL, "C", "c"));
	CHECK(unlink(".gitconfig") == 0 && symlink("x/git/config", ".gitconfig") == 0);
	CHECK(has(dir, NULL, "C", "c"));
	CHECK(unlink(".gitconfig") == 0 && mkfifo(".gitconfig", 0600) == 0);
	CHECK(has(dir, NULL, "C", "c"));
	CHECK(unlink(".gitconfig") == 0 && mkdir(".gitconfig", 0700) == 0);
	CHECK(has(dir, NULL, "C", "c"));
	CHECK(rmdir(".gitconfig") == 0 && unlink(".config/git/config") == 0 && unlink("x/git/config") == 0);
	CHECK(rmdir(".config/git") == 0 && rmdir(".config") == 0 && rmdir("x/git") == 0 && rmdir("x") == 0 &&
	      rmdir(dir) == 0);
}

TAP_MAIN(T(ISO_12_name_and_email_are_read_as_git_reads_them), T(ISO_12_a_malformed_file_sets_nothing),
	 T(ISO_12_a_value_that_a_person_could_not_see_is_not_passed),
	 T(ISO_12_only_an_own_small_regular_file_is_read))
