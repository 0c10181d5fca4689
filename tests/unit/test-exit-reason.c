/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "session/exit-reason.h"
#include "session/stop-signal.h"

#include "tap.h"

#define EXIT(code) W_EXITCODE(code, 0)
#define SIG(n) W_EXITCODE(0, n)

static struct exit_facts ended(int status, int init_status)
{
	return (struct exit_facts){
		.reported = true, .status = status, .ended = true, .init_status = init_status
	};
}

static bool is(const struct exit_facts *f, enum exit_reason reason, int code, int signal,
	       enum exit_source source)
{
	struct exit_verdict v = exit_decide(f);

	if (v.reason == reason && v.code == code && v.signal == signal && v.source == source &&
	    v.abnormal == !(reason == EXIT_REASON_EXITED && code == 0))
		return true;
	printf("# got %s code %d signal %d source %s\n", exit_reason_name(v.reason), v.code, v.signal,
	       exit_source_name(v.source));
	return false;
}

static void nothing_known_is_lost(void)
{
	struct exit_facts f = { 0 };

	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_SUPERVISOR));
}

static void own_status_is_passed_through(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_INIT));
	f = ended(EXIT(7), EXIT(7));
	CHECK(is(&f, EXIT_REASON_EXITED, 7, 0, EXIT_SOURCE_INIT));
	f = ended(SIG(SIGKILL), EXIT(137));
	CHECK(is(&f, EXIT_REASON_SIGNALED, 137, SIGKILL, EXIT_SOURCE_INIT));
}

/* Precedence: exits that custody caused, the kernel's counters, then a command that looks as if it ended normally. */
static void ISO_4_more_calls_than_the_budget_are_no_normal_end(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	f.over_budget = true;
	CHECK(is(&f, EXIT_REASON_BUDGET, 0, 0, EXIT_SOURCE_SUPERVISOR));
	f = ended(EXIT(3), EXIT(3));
	f.over_budget = true;
	CHECK(is(&f, EXIT_REASON_BUDGET, 3, 0, EXIT_SOURCE_SUPERVISOR));
	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 3, 0, EXIT_SOURCE_CGROUP));
	f = ended(SIG(SIGSEGV), EXIT(139));
	f.over_budget = f.inspection_failed = true;
	CHECK(is(&f, EXIT_REASON_SIGNALED, 139, SIGSEGV, EXIT_SOURCE_INIT));
}

static void ISO_4_a_failed_inspection_is_no_normal_end(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	f.inspection_failed = true;
	CHECK(is(&f, EXIT_REASON_INSPECTION, 0, 0, EXIT_SOURCE_SUPERVISOR));
	f.over_budget = true;
	CHECK(is(&f, EXIT_REASON_INSPECTION, 0, 0, EXIT_SOURCE_SUPERVISOR));
	f.side_lost = true;
	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_SUPERVISOR));
}

static void ISO_4_a_lost_broker_is_a_lost_session(void)
{
	struct exit_facts f = ended(SIG(SIGKILL), EXIT(137));

	f.side_lost = true;
	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_SUPERVISOR));
	f.stopped = true;
	CHECK(is(&f, EXIT_REASON_OPERATOR, 137, SIGKILL, EXIT_SOURCE_SUPERVISOR));
}

/* Another runtime's container: custody-warden knows the status of the first process, or nothing. */
static void of_a_foreign_container_the_first_process_counts(void)
{
	struct exit_facts f = { .foreign = true, .ended = true, .init_source = EXIT_SOURCE_PIDFD };

	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_PIDFD));
	f.init_status = EXIT(137);
	CHECK(is(&f, EXIT_REASON_EXITED, 137, 0, EXIT_SOURCE_PIDFD));
	f.init_status = SIG(SIGKILL);
	f.init_source = EXIT_SOURCE_PROC;
	CHECK(is(&f, EXIT_REASON_SIGNALED, 137, SIGKILL, EXIT_SOURCE_PROC));
	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 137, SIGKILL, EXIT_SOURCE_CGROUP));
	f.setup_failed = true;
	CHECK(is(&f, EXIT_REASON_SETUP_FAILED, 125, 0, EXIT_SOURCE_WARDEN));
	f.denied = true;
	CHECK(is(&f, EXIT_REASON_DENIED, 114, 0, EXIT_SOURCE_WARDEN));
	f = (struct exit_facts){ .foreign = true, .init_source = EXIT_SOURCE_PIDFD };
	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_WARDEN));
	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 125, 0, EXIT_SOURCE_CGROUP));
}

/* A typed signal explains an end by this signal, and a shell's code for it; no other end. */
static void an_end_by_a_typed_signal_is_cancelled(void)
{
	struct exit_facts f = ended(SIG(SIGINT), EXIT(130));

	CHECK(is(&f, EXIT_REASON_SIGNALED, 130, SIGINT, EXIT_SOURCE_INIT));
	f.typed = SIGINT;
	CHECK(is(&f, EXIT_REASON_CANCELLED, 130, SIGINT, EXIT_SOURCE_INIT));
	f.status = EXIT(130);
	CHECK(is(&f, EXIT_REASON_CANCELLED, 130, 0, EXIT_SOURCE_INIT));
	f = ended(SIG(SIGQUIT), EXIT(131));
	f.typed = SIGINT;
	CHECK(is(&f, EXIT_REASON_SIGNALED, 131, SIGQUIT, EXIT_SOURCE_INIT));
	f.typed = SIGQUIT;
	CHECK(is(&f, EXIT_REASON_CANCELLED, 131, SIGQUIT, EXIT_SOURCE_INIT));
	f = ended(EXIT(7), EXIT(7));
	f.typed = SIGINT;
	CHECK(is(&f, EXIT_REASON_EXITED, 7, 0, EXIT_SOURCE_INIT));
	f = ended(EXIT(0), EXIT(0));
	f.typed = SIGINT;
	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_INIT));
	f = ended(SIG(SIGINT), EXIT(130));
	f.typed = SIGINT;
	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 130, SIGINT, EXIT_SOURCE_CGROUP));
	f.init_status = EXIT(1);
	f.counters.oom_kills = 0;
	CHECK(is(&f, EXIT_REASON_LOST, 125, SIGINT, EXIT_SOURCE_WAIT));
}

static void message_and_end_must_agree(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(1));

	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_WAIT));
	f = ended(EXIT(0), SIG(SIGKILL));
	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_WAIT));
	f = ended(EXIT(0), EXIT(0));
	f.reported = false;
	CHECK(is(&f, EXIT_REASON_LOST, 125, 0, EXIT_SOURCE_WAIT));
}

static void filter_and_file_size_have_their_own_reasons(void)
{
	struct exit_facts f = ended(SIG(SIGSYS), EXIT(159));

	f.filter_killed = true;
	CHECK(is(&f, EXIT_REASON_SECCOMP, 159, SIGSYS, EXIT_SOURCE_INIT));
	f = ended(SIG(SIGXFSZ), EXIT(128 + SIGXFSZ));
	f.file_at_limit = true;
	CHECK(is(&f, EXIT_REASON_DISK_LIMIT, 137, SIGXFSZ, EXIT_SOURCE_INIT));
}

static void signal_number_alone_is_only_a_signal(void)
{
	struct exit_facts f = ended(SIG(SIGSYS), EXIT(159));

	f.file_at_limit = true;
	CHECK(is(&f, EXIT_REASON_SIGNALED, 159, SIGSYS, EXIT_SOURCE_INIT));
	f = ended(SIG(SIGXFSZ), EXIT(128 + SIGXFSZ));
	f.filter_killed = true;
	CHECK(is(&f, EXIT_REASON_SIGNALED, 128 + SIGXFSZ, SIGXFSZ, EXIT_SOURCE_INIT));
	/* Nor does a record make a reason of another end. */
	f = ended(EXIT(0), EXIT(0));
	f.filter_killed = f.file_at_limit = true;
	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_INIT));
}

static void too_many_levels_have_a_reason_of_their_own(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	f.too_deep = true;
	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_INIT));
	f.disk_exceeded = true;
	CHECK(is(&f, EXIT_REASON_DEPTH_LIMIT, 137, 0, EXIT_SOURCE_SUPERVISOR));
	CHECK(exit_reason_name(EXIT_REASON_DEPTH_LIMIT) &&
	      strcmp(exit_reason_name(EXIT_REASON_DEPTH_LIMIT), "depth-limit") == 0);
}

static void command_that_cannot_run(void)
{
	struct exit_facts f = {
		.exec_failed = true, .exec_errno = ENOENT, .ended = true, .init_status = EXIT(127)
	};

	CHECK(is(&f, EXIT_REASON_EXITED, 127, 0, EXIT_SOURCE_INIT));
	f.exec_errno = EACCES;
	f.init_status = EXIT(126);
	CHECK(is(&f, EXIT_REASON_EXITED, 126, 0, EXIT_SOURCE_INIT));
}

static void counters_come_before_the_status(void)
{
	struct exit_facts f = ended(SIG(SIGKILL), EXIT(137));

	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 137, SIGKILL, EXIT_SOURCE_CGROUP));
	f = ended(EXIT(0), EXIT(0));
	f.counters.oom_kills = 1;
	CHECK(is(&f, EXIT_REASON_OOM, 0, 0, EXIT_SOURCE_CGROUP));
	f = ended(EXIT(2), EXIT(2));
	f.counters.pids_refused = 3;
	CHECK(is(&f, EXIT_REASON_PIDS_LIMIT, 2, 0, EXIT_SOURCE_CGROUP));
	/* The kernel may take init itself. */
	f = (struct exit_facts){ .ended = true, .init_status = SIG(SIGKILL), .counters = { .oom_kills = 2 } };
	CHECK(is(&f, EXIT_REASON_OOM, 137, SIGKILL, EXIT_SOURCE_CGROUP));
}

static void refused_fork_that_was_survived_is_no_reason(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	f.counters.pids_refused = 3;
	CHECK(is(&f, EXIT_REASON_EXITED, 0, 0, EXIT_SOURCE_INIT));
}

static void actions_of_the_supervisor_come_first(void)
{
	struct exit_facts f = ended(EXIT(0), EXIT(0));

	f.counters = (struct cgroup_counters){ 1, 1 };
	f.disk_exceeded = true;
	CHECK(is(&f, EXIT_REASON_DISK_LIMIT, 137, 0, EXIT_SOURCE_SUPERVISOR));
	f.timed_out = true;
	CHECK(is(&f, EXIT_REASON_TIMEOUT, 124, 0, EXIT_SOURCE_SUPERVISOR));
	f.setup_failed = true;
	CHECK(is(&f, EXIT_REASON_SETUP_FAILED, 125, 0, EXIT_SOURCE_SUPERVISOR));
	f.cancelled = SIGINT;
	CHECK(is(&f, EXIT_REASON_CANCELLED, 130, 0, EXIT_SOURCE_SUPERVISOR));
	f.cancelled = SIGTERM;
	CHECK(is(&f, EXIT_REASON_CANCELLED, 143, 0, EXIT_SOURCE_SUPERVISOR));
}

static void an_operator_s_stop_is_143_or_137(void)
{
	struct exit_facts f = ended(SIG(SIGTERM), EXIT(143));

	f.stopped = true;
	CHECK(is(&f, EXIT_REASON_OPERATOR, 143, SIGTERM, EXIT_SOURCE_SUPERVISOR));
	/* However it took it. */
	f = ended(EXIT(0), EXIT(0));
	f.stopped = true;
	CHECK(is(&f, EXIT_REASON_OPERATOR, 143, 0, EXIT_SOURCE_SUPERVISOR));
	/* It had to be killed, and the reason is unknown. */
	f = (struct exit_facts){ .ended = true, .init_status = SIG(SIGKILL), .stopped = true };
	CHECK(is(&f, EXIT_REASON_OPERATOR, 137, SIGKILL, EXIT_SOURCE_SUPERVISOR));
	/* Before anything was executed. */
	f = (struct exit_facts){ .stopped = true, .setup_failed = true };
	CHECK(is(&f, EXIT_REASON_OPERATOR, 143, 0, EXIT_SOURCE_SUPERVISOR));
}

static void only_a_queued_mark_is_a_stop(void)
{
	struct signalfd_siginfo si = { .ssi_signo = SIGTERM,
				       .ssi_code = SI_QUEUE,
				       .ssi_int = stop_signal_value(7) };
	uint32_t grace_s = 0;

	CHECK(stop_signal_is(&si, &grace_s) && grace_s == 7);
	si.ssi_int = stop_signal_value(STOP_GRACE_PROFILE);
	CHECK(stop_signal_is(&si, &grace_s) && grace_s == STOP_GRACE_PROFILE);
	si.ssi_code = SI_USER;
	CHECK(!stop_signal_is(&si, &grace_s));
	si = (struct signalfd_siginfo){ .ssi_signo = SIGTERM, .ssi_code = SI_QUEUE };
	CHECK(!stop_signal_is(&si, &grace_s));
	si = (struct signalfd_siginfo){ .ssi_signo = SIGINT,
					.ssi_code = SI_QUEUE,
					.ssi_int = stop_signal_value(7) };
	CHECK(!stop_signal_is(&si, &grace_s));
}

static void every_reason_has_a_name(void)
{
	for (int i = 0; i < _EXIT_REASON_MAX; i++)
		CHECK(exit_reason_name(i) && exit_reason_name(i)[0]);
	CHECK(strcmp(exit_reason_name(0), "lost") == 0);
}

TAP_MAIN(T(nothing_known_is_lost), T(own_status_is_passed_through),
	 T(ISO_4_more_calls_than_the_budget_are_no_normal_end), T(ISO_4_a_failed_inspection_is_no_normal_end),
	 T(ISO_4_a_lost_broker_is_a_lost_session), T(of_a_foreign_container_the_first_process_counts),
	 T(an_end_by_a_typed_signal_is_cancelled), T(message_and_end_must_agree),
	 T(filter_and_file_size_have_their_own_reasons), T(signal_number_alone_is_only_a_signal),
	 T(too_many_levels_have_a_reason_of_their_own), T(command_that_cannot_run),
	 T(counters_come_before_the_status), T(refused_fork_that_was_survived_is_no_reason),
	 T(actions_of_the_supervisor_come_first), T(an_operator_s_stop_is_143_or_137),
	 T(only_a_queued_mark_is_a_stop), T(every_reason_has_a_name))
