/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "ledger/ledger-claim.h"
#include "session/session.h"

#include "tap.h"

#define ID_A "20261116T031500Z-aaaaaaaa"
#define ID_B "20261116T031500Z-bbbbbbbb"
#define NO_SESSION                                 \
	{                                          \
		.run_fd = -EBADF, .ids_fd = -EBADF \
	}

static struct lane_pass *pass; /* of the sandbox lane */
static char root[] = "/tmp/custody-session-XXXXXX";

static int load(struct dirs *d)
{
	return setenv("CUSTODY_ROOT", root, 1) == 0 ? dirs_load(d, NULL) : -1;
}

static bool exists(const char *path)
{
	return path && access(path, F_OK) == 0;
}

/* As after a reboot. */
static bool run_dir_goes(const char *run)
{
	_cleanup_free_ char *stamp = path_join(run, LANE_STAMP);

	return stamp && unlink(stamp) == 0 && rmdir(run) == 0;
}

static void two_sessions_share_nothing(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session a = NO_SESSION, b = NO_SESSION;

	CHECK(load(&d) == 0);
	CHECK(session_open(&d, pass, ID_A, &a, NULL) == 0);
	CHECK(session_open(&d, pass, ID_B, &b, NULL) == 0);
	CHECK(strcmp(a.run, b.run) != 0);
	if (!d.rootless) {
		CHECK(a.uid_base >= SESSION_ID_BASE &&
		      a.uid_base % SESSION_IDS == SESSION_ID_BASE % SESSION_IDS);
		CHECK(a.uid_base != b.uid_base);
		CHECK(a.n_ids == SESSION_IDS);
	} else {
		CHECK(a.uid_base == geteuid() && a.n_ids == 1);
	}
	CHECK(session_remove(&a, NULL) == 0 && session_remove(&b, NULL) == 0);
	CHECK(!exists(a.run) && !exists(b.run));
}

static void name_is_taken_once(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session a = NO_SESSION, b = NO_SESSION;

	CHECK(load(&d) == 0);
	CHECK(session_open(&d, pass, ID_A, &a, NULL) == 0);
	CHECK(session_open(&d, pass, ID_A, &b, NULL) == -EEXIST);
	CHECK(b.run == NULL);
	CHECK(session_remove(&a, NULL) == 0);
}

static void directories_are_private(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session a = NO_SESSION;
	struct stat st;

	CHECK(load(&d) == 0);
	CHECK(session_open(&d, pass, ID_A, &a, NULL) == 0);
	CHECK(session_make_state(&a, &d, NULL) == 0);
	CHECK(stat(a.run, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(stat(a.state, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(session_remove(&a, NULL) == 0);
	CHECK(!exists(a.state));
}

static int released;

static int note_release(void *arg, const char *id, int run_fd, struct fault *f)
{
	(void)arg, (void)f;
	released += strcmp(id, ID_B) == 0 && fcntl(run_fd, F_GETFD) >= 0;
	return 0;
}

/* As if its supervisor had been killed: all files exist, no process holds the lock. */
static bool make_stale(const struct dirs *d)
{
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_free_ char *state = NULL;

	if (session_open(d, pass, ID_B, &s, NULL) < 0 || session_make_state(&s, d, NULL) < 0)
		return false;
	return asprintf(&state, "%s/left", s.state) > 0 && mkdir(state, 0700) == 0;
}

/* The end of a dead session and its evidence belong in the ledger of its own lane. */
static void LANE_5_a_dead_session_of_the_other_lane_is_left_to_it(void)
{
	_cleanup_dirs_ struct dirs d = { 0 }, prod = { 0 };
	_cleanup_free_ char *run = NULL, *stamp = NULL, *state = NULL;
	FILE *file;

	CHECK(load(&d) == 0 && dirs_load_lane(LANE_PROD, &prod, NULL) == 0 && make_stale(&d));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0 && asprintf(&stamp, "%s/lane", run) > 0 &&
	      asprintf(&state, "%s/sessions/" ID_B, d.state) > 0);
	/* As prod stamped it: both lanes have their running sessions side by side. */
	CHECK((unlink(stamp) == 0 || errno == ENOENT) && (file = fopen(stamp, "we")) != NULL);
	CHECK(fputs("prod\n", file) >= 0 && fclose(file) == 0);
	released = 0;
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 0 && released == 0);
	CHECK(exists(run) && exists(state));
	/* Its own lane takes it. */
	CHECK(session_sweep(&prod, note_release, NULL, NULL) == 1 && released == 1 && !exists(run));
	CHECK(session_sweep(&d, NULL, NULL, NULL) >= 0);
}

static void sweep_takes_the_dead_and_leaves_the_living(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session a = NO_SESSION;
	_cleanup_free_ char *run = NULL, *state = NULL;

	CHECK(load(&d) == 0);
	CHECK(session_open(&d, pass, ID_A, &a, NULL) == 0 && session_make_state(&a, &d, NULL) == 0);
	CHECK(make_stale(&d));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0 &&
	      asprintf(&state, "%s/sessions/" ID_B, d.state) > 0);
	CHECK(exists(run) && exists(state));
	released = 0;
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 1);
	CHECK(released == 1);
	CHECK(!exists(run) && !exists(state));
	CHECK(exists(a.run) && exists(a.state));
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 0);
	CHECK(session_remove(&a, NULL) == 0);
}

static void state_without_a_session_is_swept(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_free_ char *run = NULL, *state = NULL;

	CHECK(load(&d) == 0);
	CHECK(make_stale(&d));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0 &&
	      asprintf(&state, "%s/sessions/" ID_B, d.state) > 0);
	/* A reboot empties the one and not the other. */
	CHECK(run_dir_goes(run));
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 1);
	CHECK(!exists(state));
}

/* Its end is not recorded yet: the source of its evidence is still needed. */
static void state_of_an_open_record_stays(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_free_ char *run = NULL, *state = NULL, *open_dir = NULL, *claim = NULL;

	CHECK(load(&d) == 0);
	CHECK(make_stale(&d));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0 &&
	      asprintf(&state, "%s/sessions/" ID_B, d.state) > 0 &&
	      asprintf(&open_dir, "%s/" CLAIM_DIR, d.state) > 0 &&
	      asprintf(&claim, "%s/" CLAIM_DIR "/" ID_B, d.state) > 0);
	CHECK(run_dir_goes(run));
	CHECK(mkdir(open_dir, 0700) == 0 && mkdir(claim, 0700) == 0);
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 0);
	CHECK(exists(state));
	CHECK(rmdir(claim) == 0 && rmdir(open_dir) == 0);
	CHECK(session_sweep(&d, note_release, NULL, NULL) == 1);
	CHECK(!exists(state));
}

static int refuse_release(void *arg, const char *id, int run_fd, struct fault *f)
{
	(void)arg, (void)id, (void)run_fd;
	return fault_set(f, EBUSY, "still there");
}

static void an_upper_that_cannot_be_released_stays(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *run = NULL;

	CHECK(load(&d) == 0);
	CHECK(make_stale(&d));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0);
	CHECK(session_sweep(&d, refuse_release, NULL, &f) == -EBUSY);
	CHECK(f.text && strstr(f.text, ID_B));
	CHECK(exists(run));
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 1);
}

/* ID_B only. */
static int refuse_one(void *arg, const char *id, int run_fd, struct fault *f)
{
	return strcmp(id, ID_B) == 0 ? refuse_release(arg, id, run_fd, f) : 0;
}

static void one_that_stays_does_not_keep_the_others(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *run = NULL;

	CHECK(load(&d) == 0);
	/* Before and behind it, whatever order the directory has. */
	for (int i = 0; i < 8; i++) {
		_cleanup_session_ struct session s = NO_SESSION;
		char id[SESSION_ID_SIZE];

		CHECK(snprintf(id, sizeof(id), "20261116T03150%dZ-00000000", i) == SESSION_ID_SIZE - 1);
		CHECK(session_open(&d, pass, id, &s, NULL) == 0);
	}
	CHECK(make_stale(&d));
	CHECK(session_sweep(&d, refuse_one, NULL, &f) == -EBUSY);
	CHECK(f.text && strstr(f.text, ID_B));
	CHECK(asprintf(&run, "%s/sessions/" ID_B, d.run) > 0 && exists(run));
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 1);
}

static void ids_are_free_again_after_their_holder(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	int status;
	pid_t pid;

	CHECK(load(&d) == 0);
	/* Blocks run out only with as many live holders: 300 dead ones do not matter. */
	for (int i = 0; i < 300; i++) {
		_cleanup_session_ struct session s = NO_SESSION;

		CHECK(session_open(&d, pass, ID_A, &s, NULL) == 0);
		CHECK(session_remove(&s, NULL) == 0);
	}
	pid = fork();
	if (pid == 0) {
		struct session s = NO_SESSION;

		_exit(session_open(&d, pass, ID_B, &s, NULL) < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 1);
}

static void relative_root_is_refused(void)
{
	struct dirs d = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(setenv("CUSTODY_ROOT", "here", 1) == 0);
	CHECK(dirs_load(&d, &f) == -EINVAL);
	CHECK(f.text && strstr(f.text, "CUSTODY_ROOT"));
}

static void start(void)
{
	CHECK(mkdtemp(root));
	CHECK(lane_gate(&(struct lane_ask){ .lane = LANE_SANDBOX }, &pass, NULL) == 0);
}

static void finish(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	lane_pass_free(pass);
	CHECK(path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0);
}

TAP_MAIN(T(start), T(two_sessions_share_nothing), T(name_is_taken_once), T(directories_are_private),
	 T(sweep_takes_the_dead_and_leaves_the_living),
	 T(LANE_5_a_dead_session_of_the_other_lane_is_left_to_it), T(state_without_a_session_is_swept),
	 T(state_of_an_open_record_stays), T(an_upper_that_cannot_be_released_stays),
	 T(one_that_stays_does_not_keep_the_others), T(ids_are_free_again_after_their_holder),
	 T(relative_root_is_refused), T(finish))
