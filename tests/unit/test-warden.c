/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "tap.h"
#include "layer/init-proto.h"
#include "warden/warden.h"

/*
 * The supervisor without a container: the runtime is a fork, and the first process plays an init that does not do
 * what custody-init does.  No cgroup, no namespaces.
 */
#define SCENES_MAX 16

enum act { SAY_EXECED = 1, SAY_EXITED = 2, SAY_NONSENSE = 4, CLOSE = 8, STAY = 16, DIE = 32, NO_REPORT = 64 };

struct scene {
	const char *name;
	unsigned int acts;
	int said, status; /* reported wait status of the payload; exit status of init */
	enum exit_reason reason;
	int code;
};

static struct scene playing; /* what the forked init does */

static void say(uint32_t type, int value)
{
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = type, .value = value };

	for (unsigned int n = 0; n < _INIT_NS_MAX; n++)
		m.ns[n] = 100 + n;
	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		m.proof[l].holds = 1;
	(void)!send(INIT_FD, &m, sizeof(m), MSG_NOSIGNAL);
}

static void play_init(const struct scene *s)
{
	struct init_msg go;

	alarm(300); /* whatever fails, no process stays for ever */
	if (!(s->acts & NO_REPORT)) {
		say(INIT_MSG_REPORT, 0);
		if (recv(INIT_FD, &go, sizeof(go), 0) != sizeof(go) || go.type != INIT_MSG_GO)
			_exit(99);
	}
	if (s->acts & SAY_EXECED)
		say(INIT_MSG_EXECED, 0);
	if (s->acts & SAY_EXITED)
		say(INIT_MSG_EXITED, s->said);
	if (s->acts & SAY_NONSENSE)
		(void)!send(INIT_FD, "?", 1, MSG_NOSIGNAL);
	if (s->acts & CLOSE)
		close(INIT_FD);
	if (s->acts & DIE)
		raise(SIGKILL);
	while (s->acts & STAY)
		pause();
	_exit(s->status);
}

static int fake_create(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f)
{
	(void)rq;
	(void)f;
	*ret_pid = fork();
	if (*ret_pid == 0) {
		/* Only its own end: a copy of the creator's would keep the supervisor waiting. */
		close_range(INIT_FD + 1, ~0U, 0);
		play_init(&playing);
	}
	return *ret_pid < 0 ? -EAGAIN : 0;
}

static int fake_start(const struct runtime_request *rq, struct fault *f)
{
	(void)rq;
	(void)f;
	return 0;
}

static int fake_prepare(void *arg, struct runtime_request *rq, struct fault *f)
{
	(void)arg;
	(void)rq;
	(void)f;
	return 0;
}

static void play(const struct scene *s)
{
	static char *argv[] = { (char *)"true", NULL };
	const struct runtime_ops ops = { .create = fake_create, .start = fake_start };
	struct profile profile = { .limit_grace_s = 1 };
	struct subject subject = { .argv = argv, .profile = &profile, .layers = LAYER_BIT(LAYER_PID_NS) };
	struct session session = { 0 };
	struct cgroup cgroup = { 0 };
	struct run_result result = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Longer than anything takes up to the point where init stays. */
	const uint64_t stay_ms = 3000, start = clock_boot_ns();
	struct warden_job job = { .ops = &ops,
				  .session = &session,
				  .subject = &subject,
				  .cgroup = &cgroup,
				  .prepare = fake_prepare,
				  .stdio = { null, null, null },
				  .status_fd = -EBADF,
				  .timeout_ms = s->acts & STAY ? stay_ms : 0 };

	playing = *s;
	CHECK(warden_run(&job, &result, &f) == 0);
	/* An init that does not exit was killed, by the supervisor and not by its own alarm. */
	CHECK(clock_boot_ns() - start < 200 * UINT64_C(1000000000));
	if (result.exit.reason != s->reason || result.exit.code != s->code)
		printf("# %s: %s, %d\n", s->name, exit_reason_name(result.exit.reason), result.exit.code);
	CHECK(result.exit.reason == s->reason);
	CHECK(result.exit.code == s->code);
	/* No child is left: an init that wanted to stay was killed and reaped, too. */
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	run_result_done(&result);
	close(null);
}

/* Side by side, each in a process of its own: those who stay take their time. */
static void play_all(const struct scene *s, size_t n)
{
	pid_t pids[SCENES_MAX];
	int status;

	CHECK(n <= SCENES_MAX && fflush(stdout) == 0);
	for (size_t i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			play(&s[i]);
			(void)fflush(stdout);
			_exit(!tap_ok);
		}
	}
	for (size_t i = 0; i < n; i++)
		CHECK(pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && status == 0);
}
#define PLAY(scenes) play_all(scenes, ARRAY_SIZE(scenes))

/* clang-format off */
static void init_that_keeps_to_the_words_is_believed(void)
{
	const struct scene s[] = {
		{ "status 0", SAY_EXECED | SAY_EXITED, 0, 0, EXIT_REASON_EXITED, 0 },
		{ "status 3", SAY_EXECED | SAY_EXITED, 3 << 8, 3, EXIT_REASON_EXITED, 3 },
		{ "a signal", SAY_EXECED | SAY_EXITED, SIGTERM, 128 + SIGTERM, EXIT_REASON_SIGNALED, 128 + SIGTERM },
	};

	PLAY(s);
}

static void init_that_falls_silent_after_go_is_lost(void)
{
	const struct scene s[] = {
		{ "ends well", 0, 0, 0, EXIT_REASON_LOST, 125 },
		{ "ends badly", 0, 0, 7, EXIT_REASON_LOST, 125 },
		{ "is killed", DIE, 0, 0, EXIT_REASON_LOST, 125 },
		{ "stays", STAY, 0, 0, EXIT_REASON_LOST, 125 },
		{ "hangs up and stays", CLOSE | STAY, 0, 0, EXIT_REASON_LOST, 125 },
		{ "executes, ends well", SAY_EXECED, 0, 0, EXIT_REASON_LOST, 125 },
		{ "executes, is killed", SAY_EXECED | DIE, 0, 0, EXIT_REASON_LOST, 125 },
		{ "executes, hangs up and stays", SAY_EXECED | CLOSE | STAY, 0, 0, EXIT_REASON_LOST, 125 },
	};

	PLAY(s);
}

static void init_whose_status_contradicts_its_report_is_lost(void)
{
	const struct scene s[] = {
		{ "0, then 3", SAY_EXECED | SAY_EXITED, 0, 3, EXIT_REASON_LOST, 125 },
		{ "3, then 0", SAY_EXECED | SAY_EXITED, 3 << 8, 0, EXIT_REASON_LOST, 125 },
		{ "0, then killed", SAY_EXECED | SAY_EXITED | DIE, 0, 0, EXIT_REASON_LOST, 125 },
		{ "0, then stays", SAY_EXECED | SAY_EXITED | STAY, 0, 0, EXIT_REASON_LOST, 125 },
		{ "nonsense", SAY_NONSENSE, 0, 0, EXIT_REASON_LOST, 125 },
		{ "nonsense, then stays", SAY_EXECED | SAY_NONSENSE | STAY, 0, 0, EXIT_REASON_LOST, 125 },
	};

	PLAY(s);
}

static void init_that_never_reports_executed_nothing(void)
{
	const struct scene s[] = {
		{ "ends", NO_REPORT, 0, 0, EXIT_REASON_SETUP_FAILED, 125 },
		{ "is killed", NO_REPORT | DIE, 0, 0, EXIT_REASON_SETUP_FAILED, 125 },
		{ "stays", NO_REPORT | STAY, 0, 0, EXIT_REASON_SETUP_FAILED, 125 },
		{ "hangs up and stays", NO_REPORT | CLOSE | STAY, 0, 0, EXIT_REASON_SETUP_FAILED, 125 },
		{ "nonsense", NO_REPORT | SAY_NONSENSE, 0, 0, EXIT_REASON_SETUP_FAILED, 125 },
	};

	PLAY(s);
}
/* clang-format on */

static pid_t *unnamed; /* shared: the first process, whose pid the supervisor never receives */

/* Dies when the first process exists and has all descriptors of the creator, before it has reported its pid. */
static int die_in_create(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f)
{
	pid_t pid = fork();

	(void)rq, (void)ret_pid, (void)f;
	if (pid == 0) {
		alarm(60);
		for (;;)
			pause();
	}
	*unnamed = pid; /* not in the child, which sees the same memory */
	raise(SIGKILL);
	return -EIO;
}

static void end_unnamed(void *arg)
{
	(void)arg;
	CHECK(*unnamed > 0 && kill(*unnamed, SIGKILL) == 0 && waitpid(*unnamed, NULL, 0) == *unnamed);
}

static void creator_that_dies_does_not_keep_the_supervisor(void)
{
	static char *argv[] = { (char *)"true", NULL };
	const struct runtime_ops ops = { .create = die_in_create, .start = fake_start };
	struct profile profile = { .limit_grace_s = 1 };
	struct subject subject = { .argv = argv, .profile = &profile };
	struct session session = { 0 };
	struct cgroup cgroup = { 0 };
	struct run_result result = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct warden_job job = { .ops = &ops,
				  .session = &session,
				  .subject = &subject,
				  .cgroup = &cgroup,
				  .prepare = fake_prepare,
				  .orphan = end_unnamed,
				  .stdio = { null, null, null },
				  .status_fd = -EBADF };

	unnamed = mmap(NULL, sizeof(*unnamed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(unnamed != MAP_FAILED);
	/* Without a time limit: a missing event is waited for until the test is killed. */
	CHECK(warden_run(&job, &result, &f) == 0);
	CHECK(result.exit.reason == EXIT_REASON_SETUP_FAILED && result.exit.code == 125);
	CHECK(result.detail && strstr(result.detail, "without reporting an error"));
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	run_result_done(&result);
	(void)munmap(unnamed, sizeof(*unnamed));
	close(null);
}

TAP_MAIN(T(init_that_keeps_to_the_words_is_believed), T(init_that_falls_silent_after_go_is_lost),
	 T(init_whose_status_contradicts_its_report_is_lost), T(init_that_never_reports_executed_nothing),
	 T(creator_that_dies_does_not_keep_the_supervisor))
