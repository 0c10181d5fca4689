/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "state/sandbox-root.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/sandbox-log.h"
#include "openat2.h"
#include "tap.h"

struct home {
	char path[sizeof("/tmp/custody-test-sandbox.XXXXXX")];
	struct dirs dirs;
};

static void home_done(struct home *h)
{
	dirs_done(&h->dirs);
	if (h->path[0]) {
		_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		(void)!path_remove_tree(tmp, h->path + strlen("/tmp/"), NULL);
	}
}

static bool home_make(struct home *h)
{
	memcpy(h->path, "/tmp/custody-test-sandbox.XXXXXX", sizeof(h->path));
	return mkdtemp(h->path) && setenv("CUSTODY_ROOT", h->path, 1) == 0 && dirs_load(&h->dirs, NULL) == 0;
}

#define WITH_HOME                                             \
	_cleanup_(home_done) struct home h = { 0 };           \
	_cleanup_fault_ struct fault f = { 0 };               \
	_cleanup_sandbox_root_ struct sandbox_root *r = NULL; \
	CHECK(home_make(&h))

/* A path in the home; static, one at a time. */
static const char *at(const struct home *h, const char *rest)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/sandbox/sandbox/%s", h->path, rest);
	return path;
}

static bool has_mode(const char *path, mode_t mode)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == mode;
}

static bool says(const struct fault *f, const char *text)
{
	if (strstr(fault_text(f), text))
		return true;
	printf("# '%s' lacks '%s'\n", fault_text(f), text);
	return false;
}

static void names_are_strict(void)
{
	static const char *const good[] = { "a", "default", "a.b", "a..b", "0", "_x", "-x", "a-b_c.d" };
	static const char *const bad[] = { "",	  ".",	      "..",  ".a", "A",	 "a/b", "../a", "a b",
					   "a\n", "\xc3\xa4", "a\t", "/a", "a/", "~",	"*" };
	char name[SANDBOX_NAME_MAX + 2];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(sandbox_name_is_valid(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!sandbox_name_is_valid(bad[i]));
	memset(name, 'a', sizeof(name));
	name[SANDBOX_NAME_MAX + 1] = '\0';
	CHECK(!sandbox_name_is_valid(name));
	name[SANDBOX_NAME_MAX] = '\0';
	CHECK(sandbox_name_is_valid(name));
}

static void the_first_use_makes_it_and_a_look_does_not(void)
{
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_LOOK, &r, &f) == -ENOENT && says(&f, "'a'"));
	CHECK(access(at(&h, ""), F_OK) < 0);
	fault_done(&f);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RESET, &r, &f) == -ENOENT);
	CHECK(access(at(&h, ""), F_OK) < 0);
	fault_done(&f);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	CHECK(has_mode(at(&h, "a"), 0700) && has_mode(at(&h, "a/workspace"), 0700) &&
	      has_mode(at(&h, "a/logs"), 0700) && has_mode(at(&h, "a/tmp"), 0700));
	CHECK(str_eq(r->workspace, at(&h, "a/workspace")));
}

static void the_next_use_repairs_it(void)
{
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	sandbox_root_free(TAKE_PTR(r));
	CHECK(rmdir(at(&h, "a/tmp")) == 0 && chmod(at(&h, "a/workspace"), 0) == 0 &&
	      chmod(at(&h, "a/logs"), 0777) == 0 && chmod(at(&h, "a"), 0755) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_LOOK, &r, &f) < 0);
	fault_done(&f);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	CHECK(has_mode(at(&h, "a"), 0700) && has_mode(at(&h, "a/workspace"), 0700) &&
	      has_mode(at(&h, "a/logs"), 0700) && has_mode(at(&h, "a/tmp"), 0700));
}

static void a_link_in_place_of_a_directory_is_refused(void)
{
	static const char *const parts[] = { "a/workspace", "a/tmp", "a/logs", "a" };
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	sandbox_root_free(TAKE_PTR(r));
	CHECK(mkdir(at(&h, "elsewhere"), 0700) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char aside[520], link[512];

		(void)snprintf(link, sizeof(link), "%s", at(&h, parts[i]));
		(void)snprintf(aside, sizeof(aside), "%s.aside", link);
		CHECK(rename(link, aside) == 0 && symlink(at(&h, "elsewhere"), link) == 0);
		CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == -ELOOP);
		CHECK(says(&f, link) && says(&f, "rm '"));
		fault_done(&f);
		CHECK(unlink(link) == 0 && rename(aside, link) == 0);
	}
	CHECK(rmdir(at(&h, "elsewhere")) == 0); /* nothing was made in it */
	CHECK(rmdir(at(&h, "a/tmp")) == 0 && close(creat(at(&h, "a/tmp"), 0600)) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == -ENOTDIR &&
	      says(&f, "not a directory"));
}

static void a_root_of_another_user_is_refused(void)
{
	WITH_HOME;

	if (geteuid() != 0) {
		CHECK(true);
		return;
	}
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	sandbox_root_free(TAKE_PTR(r));
	CHECK(chown(at(&h, "a/workspace"), 64321, 64321) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == -EPERM);
	CHECK(says(&f, "uid 64321") && says(&f, "chown -h 0:0 '"));
	fault_done(&f);
	CHECK(chown(at(&h, "a/workspace"), 0, 0) == 0 && chown(at(&h, "a"), 64321, 64321) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == -EPERM);
}

static void runs_share_it_and_a_reset_has_it_alone(void)
{
	_cleanup_sandbox_root_ struct sandbox_root *other = NULL;
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &other, &f) == 0);
	sandbox_root_free(TAKE_PTR(other));
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RESET, &other, &f) == -EBUSY && says(&f, "session"));
	fault_done(&f);
	/* Another one is not concerned. */
	CHECK(sandbox_root_open(&h.dirs, "b", SANDBOX_RUN, &other, &f) == 0);
	sandbox_root_free(TAKE_PTR(other));
	CHECK(sandbox_root_open(&h.dirs, "b", SANDBOX_RESET, &other, &f) == 0);
	sandbox_root_free(TAKE_PTR(other));
	sandbox_root_free(TAKE_PTR(r));
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RESET, &r, &f) == 0);
	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &other, &f) == -EBUSY && says(&f, "reset"));
}

static void another_lanes_root_is_refused(void)
{
	_cleanup_dirs_ struct dirs prod = { 0 };
	char from[512], to[512];
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	sandbox_root_free(TAKE_PTR(r));
	CHECK(dirs_load_lane(LANE_PROD, &prod, &f) == 0);
	CHECK(sandbox_root_open(&prod, "b", SANDBOX_RUN, &r, &f) == 0);
	sandbox_root_free(TAKE_PTR(r));
	(void)snprintf(from, sizeof(from), "%s/prod/sandbox/b", h.path);
	(void)snprintf(to, sizeof(to), "%s", at(&h, "b"));
	CHECK(rename(from, to) == 0);
	CHECK(sandbox_root_open(&h.dirs, "b", SANDBOX_RUN, &r, &f) == -LANE_REFUSED);
	fault_done(&f);
	CHECK(sandbox_root_open(&h.dirs, "b", SANDBOX_RESET, &r, &f) == -LANE_REFUSED);
}

static void nothing_leads_out_of_it(void)
{
	static const struct {
		const char *path, *link;
	} ways[] = {
		{ "..", NULL },
		{ "../logs", NULL },
		{ "a/../../logs", NULL },
		{ "/", NULL },
		{ "/etc/passwd", NULL },
		{ "/proc/self/root/etc/passwd", NULL },
		{ "l", "/etc/passwd" },
		{ "l", "../logs" },
		{ "l", "/" },
		{ "l/passwd", "/etc" },
		{ "l", "/proc/self/root" },
		{ "l/etc/passwd", "/proc/self/root" },
		{ "l", "/proc/self/cwd" },
		{ "l", "../../../../../../../../../../etc/passwd" },
		{ "l", "l" },
	};
	_cleanup_free_ char *real = NULL;
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	CHECK(mkdir(at(&h, "a/workspace/a"), 0755) == 0 && symlink("a", at(&h, "a/workspace/fine")) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (ways[i].link)
			CHECK(symlink(ways[i].link, at(&h, "a/workspace/l")) == 0);
		CHECK(sandbox_root_pin(r, ways[i].path, &real, &f) == -EXDEV);
		CHECK(!real && says(&f, ways[i].path) && says(&f, r->path));
		fault_done(&f);
		if (ways[i].link)
			CHECK(unlink(at(&h, "a/workspace/l")) == 0);
	}
	/* Links that stay in it are accepted. */
	if (!has_openat2())
		return;
	CHECK(sandbox_root_pin(r, "fine", &real, &f) >= 0 && str_eq(real, at(&h, "a/workspace/a")));
	free(TAKE_PTR(real));
	CHECK(sandbox_root_pin(r, "a/../a/./", &real, &f) >= 0 && r->n_pins == 2);
}

static void a_file_with_a_second_name_is_refused(void)
{
	_cleanup_free_ char *real = NULL;
	char outside[512];
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	(void)snprintf(outside, sizeof(outside), "%s/outside", h.path);
	CHECK(close(creat(outside, 0600)) == 0 && link(outside, at(&h, "a/workspace/twin")) == 0);
	CHECK(sandbox_root_pin(r, "twin", &real, &f) == -EXDEV && says(&f, "twin") && says(&f, r->path));
	fault_done(&f);
	CHECK(unlink(outside) == 0 && sandbox_root_pin(r, "twin", &real, &f) >= 0);
}

/* One process exchanges a directory and a link that leads out, as fast as it can. */
static void swap_for_ever(const char *x, const char *y)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)!renameat2(AT_FDCWD, x, AT_FDCWD, y, RENAME_EXCHANGE);
}

static void a_swapped_link_never_leads_out(void)
{
	char x[512], y[512], secret[512];
	unsigned int inside = 0, refused = 0;
	struct stat want;
	pid_t pid;
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	(void)snprintf(x, sizeof(x), "%s", at(&h, "a/workspace/x"));
	(void)snprintf(y, sizeof(y), "%s", at(&h, "a/workspace/y"));
	(void)snprintf(secret, sizeof(secret), "%s/secret", h.path);
	CHECK(mkdir(x, 0700) == 0 && mkdir(secret, 0700) == 0 && symlink(secret, y) == 0);
	CHECK(stat(x, &want) == 0);
	pid = fork();
	if (pid == 0)
		swap_for_ever(x, y);
	CHECK(pid > 0);
	/* Until both were seen often: on one core each appears for long stretches. */
	for (unsigned int i = 0; i < 2000000 && (i < 2000 || inside < 200 || refused < 200); i++) {
		_cleanup_close_ int fd = sandbox_root_resolve(r, r->workspace_fd, "x", O_PATH, &f);
		struct stat st;

		if (fd < 0) {
			refused++;
			if (fd != -EXDEV)
				CHECK(fd == -EXDEV);
		} else if (fstat(fd, &st) == 0 && st.st_ino == want.st_ino && st.st_dev == want.st_dev) {
			inside++;
		} else {
			CHECK(!"something from outside");
			break;
		}
		fault_done(&f);
		if (i % 64 == 63)
			(void)sched_yield();
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	printf("# %u inside, %u refused\n", inside, refused);
	CHECK(inside >= 200 && refused >= 200);
}

static void many_first_uses_at_once_agree(void)
{
	unsigned int good = 0;
	pid_t pids[16];
	WITH_HOME;

	for (size_t i = 0; i < 16; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			_cleanup_fault_ struct fault why = { 0 };
			int e = sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &why);

			if (e < 0)
				printf("# %s\n", fault_text(&why));
			_exit(e < 0);
		}
	}
	/* All of them, before anything is cleaned up. */
	for (size_t i = 0; i < 16; i++) {
		int status = -1;

		good += waitpid(pids[i], &status, 0) == pids[i] && status == 0;
	}
	CHECK(good == 16);
	CHECK(has_mode(at(&h, "a/workspace"), 0700));
}

static void the_name_of_a_worktree_is_found(void)
{
	_cleanup_free_ char *name = NULL;
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	CHECK(sandbox_name_of(&h.dirs, at(&h, "a/workspace"), &name, &f) == 1 && str_eq(name, "a"));
	free(TAKE_PTR(name));
	CHECK(sandbox_name_of(&h.dirs, at(&h, "a/workspace/sub"), &name, &f) == 1 && str_eq(name, "a"));
	free(TAKE_PTR(name));
	CHECK(sandbox_name_of(&h.dirs, at(&h, "a/logs"), &name, &f) == 0);
	CHECK(sandbox_name_of(&h.dirs, at(&h, "a/workspacex"), &name, &f) == 0);
	CHECK(sandbox_name_of(&h.dirs, at(&h, "a"), &name, &f) == 0);
	CHECK(sandbox_name_of(&h.dirs, "/etc", &name, &f) == 0 && !name);
}

static void a_line_has_six_fields_whatever_is_in_them(void)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"echo 'a\tb'\nrm \x1b[2J", (char *)"", NULL };
	char *secret[] = { (char *)"curl", (char *)"--password", (char *)"hunter2", NULL };
	char *longer[] = { NULL, NULL };
	_cleanup_free_ char *text = NULL, *hidden = NULL, *cut = NULL, *big = malloc(100001);
	size_t tabs = 0;

	text = sandbox_log_line_text(&(struct sandbox_line){ .agent = "a\tgent",
							     .worker = "w\norker",
							     .operation = "run",
							     .command = argv,
							     .status = "allowed" });
	CHECK(text && !strpbrk(text, "\n\x1b"));
	for (const char *c = text; c && *c; c++)
		tabs += *c == '\t';
	CHECK(tabs == 4 && str_starts(text, "a\\x09gent\tw\\x0Aorker\trun\tsh -c '"));
	CHECK(str_ends(text, " ''\tallowed"));
	hidden = sandbox_log_line_text(&(struct sandbox_line){ .command = secret, .operation = "run" });
	CHECK(hidden && !strstr(hidden, "hunter2") &&
	      str_eq(hidden, "-\t-\trun\tcurl --password '[redacted]'\t-"));
	CHECK(big != NULL);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	longer[0] = big;
	cut = sandbox_log_line_text(&(struct sandbox_line){ .command = longer, .status = "allowed" });
	CHECK(cut && strlen(cut) < 5000 && str_ends(cut, "...\tallowed"));
}

static void the_log_is_a_plain_file_or_nothing_is_written(void)
{
	const struct sandbox_line l = { .operation = "run", .path = "x", .status = "allowed" };
	char log[512], outside[512];
	struct stat st;
	WITH_HOME;

	CHECK(sandbox_root_open(&h.dirs, "a", SANDBOX_RUN, &r, &f) == 0);
	(void)snprintf(log, sizeof(log), "%s", at(&h, "a/logs/" SANDBOX_LOG));
	(void)snprintf(outside, sizeof(outside), "%s/outside", h.path);
	CHECK(close(creat(outside, 0600)) == 0);
	CHECK(symlink(outside, log) == 0 && sandbox_log_write(r->logs_fd, &l, &f) == -ELOOP);
	fault_done(&f);
	CHECK(unlink(log) == 0 && link(outside, log) == 0 && sandbox_log_write(r->logs_fd, &l, &f) == -EPERM);
	fault_done(&f);
	CHECK(unlink(log) == 0 && mkfifo(log, 0600) == 0 && sandbox_log_write(r->logs_fd, &l, &f) < 0);
	fault_done(&f);
	CHECK(stat(outside, &st) == 0 && st.st_size == 0);
	CHECK(unlink(log) == 0 && sandbox_log_write(r->logs_fd, &l, &f) == 0);
	CHECK(sandbox_log_write_worktree(&h.dirs, r->workspace, &l, &f) == 0 &&
	      sandbox_log_write_worktree(&h.dirs, "/", &l, &f) == 0);
	CHECK(stat(log, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size > 0);
}

TAP_MAIN(T(names_are_strict), T(the_first_use_makes_it_and_a_look_does_not), T(the_next_use_repairs_it),
	 T(a_link_in_place_of_a_directory_is_refused), T(a_root_of_another_user_is_refused),
	 T(runs_share_it_and_a_reset_has_it_alone), T(another_lanes_root_is_refused),
	 T(nothing_leads_out_of_it), T(a_file_with_a_second_name_is_refused),
	 T(a_swapped_link_never_leads_out), T(many_first_uses_at_once_agree),
	 T(the_name_of_a_worktree_is_found), T(a_line_has_six_fields_whatever_is_in_them),
	 T(the_log_is_a_plain_file_or_nothing_is_written))
