/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/prompt-rate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "tap.h"

#define SECOND UINT64_C(1000000000)

static char dir[] = "/tmp/custody-prompt-rate.XXXXXX";
static struct moment now = { .boot_ns = 1000 * SECOND, .boot = "0a1b2c3d" };
static struct approval_store store = { .dirfd = -EBADF, .now = &now };

static bool take(unsigned int per_minute)
{
	bool allowed = false;

	return prompt_rate_take(&store, PROMPT_RATE_CARDS, per_minute, &allowed, NULL) == 0 && allowed;
}

static void in_a_state_of_its_own(void)
{
	CHECK(mkdtemp(dir));
	store.state = dir;
	store.dirfd = open(dir, O_DIRECTORY | O_CLOEXEC);
	CHECK(store.dirfd >= 0);
}

static void as_many_as_a_minute_has_and_no_more(void)
{
	CHECK(take(3) && take(3) && take(3));
	CHECK(!take(3));
	now.boot_ns += 59 * SECOND;
	CHECK(!take(3));
	now.boot_ns += SECOND;
	CHECK(take(3));
}

static void refused_requests_do_not_count(void)
{
	now.boot_ns += 60 * SECOND;
	CHECK(take(1));
	for (unsigned int i = 0; i < 50; i++)
		CHECK(!take(1));
	now.boot_ns += 60 * SECOND;
	CHECK(take(1));
}

static void another_boot_starts_over(void)
{
	CHECK(!take(1));
	now.boot[0] = 'f';
	now.boot_ns = 5 * SECOND;
	CHECK(take(1));
	CHECK(!take(1));
}

static void cards_and_notices_are_counted_apart(void)
{
	bool allowed = false;

	CHECK(!take(1));
	CHECK(prompt_rate_take(&store, PROMPT_RATE_NOTICES, 1, &allowed, NULL) == 0 && allowed);
}

static void of_many_processes_together_no_more_pass(void)
{
	int passed = 0;
	pid_t pids[16];

	now.boot_ns += 60 * SECOND;
	for (int i = 0; i < 16; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(take(5) ? 0 : 1);
		CHECK(pids[i] > 0);
	}
	for (int i = 0; i < 16; i++) {
		int status = -1;

		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		passed += status == 0;
	}
	CHECK(passed == 5);
}

static void a_file_that_others_may_write_is_refused(void)
{
	bool allowed = true;

	now.boot_ns += 60 * SECOND;
	CHECK(fchmodat(store.dirfd, PROMPT_RATE_CARDS, 0666, 0) == 0);
	CHECK(prompt_rate_take(&store, PROMPT_RATE_CARDS, 9, &allowed, NULL) < 0);
	CHECK(unlinkat(store.dirfd, PROMPT_RATE_CARDS, 0) == 0 &&
	      symlinkat("elsewhere", store.dirfd, PROMPT_RATE_CARDS) == 0);
	CHECK(prompt_rate_take(&store, PROMPT_RATE_CARDS, 9, &allowed, NULL) < 0);
	CHECK(faccessat(store.dirfd, "elsewhere", F_OK, 0) < 0);
	CHECK(unlinkat(store.dirfd, PROMPT_RATE_CARDS, 0) == 0);
}

static void nonsense_in_it_is_no_question(void)
{
	static const char text[] =
		"x\n\n0a1b2c3d\nffffffff 1\nf 99999999999999999999999999\n0a1b2c3d 18446744073709551615";
	_cleanup_close_ int fd = openat(store.dirfd, PROMPT_RATE_CARDS, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0);
	CHECK(take(1));
	CHECK(!take(1));
}

static void remove_all(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_DIRECTORY | O_CLOEXEC);

	store.dirfd = fd_close(store.dirfd);
	CHECK(path_remove_tree(tmp, dir + strlen("/tmp/"), NULL) == 0);
}

TAP_MAIN(T(in_a_state_of_its_own), T(as_many_as_a_minute_has_and_no_more), T(refused_requests_do_not_count),
	 T(another_boot_starts_over), T(cards_and_notices_are_counted_apart),
	 T(of_many_processes_together_no_more_pass), T(a_file_that_others_may_write_is_refused),
	 T(nonsense_in_it_is_no_question), T(remove_all))
