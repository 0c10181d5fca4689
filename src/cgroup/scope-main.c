/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/scope-proto.h"
#include "cgroup/sd-bus.h"

/*
 * custody-scope: asks the user's systemd for the transient scope of one session, and then keeps it alive: it is the process
 * in it that no limit concerns, until the supervisor closes the other end of its socket.  Dynamic: no static libsystemd exists.
 */
#define MANAGER "org.freedesktop.systemd1.Manager"

static uint64_t now_usec(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t left_usec(uint64_t until)
{
	uint64_t now = now_usec();

	return until > now ? until - now : 0;
}

/* Of a peer's text for a terminal: printable ASCII. */
static void set_answer(struct scope_answer *a, int r, const char *what, const char *detail)
{
	a->code = r < 0 ? -r : EIO;
	(void)snprintf(a->text, sizeof(a->text), "%s: %s", what, detail);
	for (char *c = a->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static int new_request(sd_bus *bus, const char *session, pid_t pid, sd_bus_message **ret)
{
	char unit[128], description[128];
	int r;

	(void)snprintf(unit, sizeof(unit), "custody-%s.scope", session);
	(void)snprintf(description, sizeof(description), "custody session %s", session);
	r = sd_bus_message_new_method_call(bus, ret, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
					   MANAGER, "StartTransientUnit");
	if (r < 0)
		return r;
	/* CollectMode: systemd keeps no failed unit of a run that was killed. */
	return sd_bus_message_append(*ret, "ssa(sv)a(sa(sv))", unit, "fail", 4, "Description", "s",
				     description, "Delegate", "b", 1, "CollectMode", "s",
				     "inactive-or-failed", "PIDs", "au", 2, (uint32_t)pid, (uint32_t)getpid(),
				     0);
}

/* 1: M is the end of JOB, in *RET_RESULT as long as M lives. */
static int is_end_of(sd_bus_message *m, const char *job, const char **ret_result)
{
	const char *path = NULL, *unit = NULL;
	uint32_t id;

	if (sd_bus_message_is_signal(m, MANAGER, "JobRemoved") <= 0 ||
	    sd_bus_message_read(m, "uoss", &id, &path, &unit, ret_result) < 0)
		return 0;
	return strcmp(path, job) == 0;
}

/* systemd sends its signals to every process that is connected to its own socket. */
static void wait_job(sd_bus *bus, const char *job, uint64_t until, struct scope_answer *ret)
{
	for (;;) {
		sd_bus_message *m = NULL;
		const char *result = NULL;
		int r = sd_bus_process(bus, &m);

		if (r > 0 && m && is_end_of(m, job, &result)) {
			if (strcmp(result, "done") != 0)
				set_answer(ret, -EIO, "the job of the scope ended", result);
			sd_bus_message_unref(m);
			return;
		}
		sd_bus_message_unref(m);
		if (r == 0) {
			r = left_usec(until) ? sd_bus_wait(bus, left_usec(until)) : -ETIMEDOUT;
			if (r == -EINTR)
				r = 0;
		}
		if (r < 0) {
			set_answer(ret, r, "the scope's job did not end", strerror(-r));
			return;
		}
	}
}

static void start_scope(sd_bus *bus, const char *session, pid_t pid, struct scope_answer *ret)
{
	/* Longer than the supervisor waits: this only ends a process whose supervisor was killed meanwhile. */
	const uint64_t until = now_usec() + UINT64_C(2000) * SCOPE_WAIT_MS;
	sd_bus_message *m = NULL, *reply = NULL;
	sd_bus_error error = { 0 };
	const char *job = NULL;
	int r = new_request(bus, session, pid, &m);

	if (r >= 0)
		r = sd_bus_call(bus, m, left_usec(until), &error, &reply);
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job);
	if (r < 0)
		set_answer(ret, r, "StartTransientUnit", error.message ? error.message : strerror(-r));
	else
		wait_job(bus, job, until, ret);
	sd_bus_message_unref(reply);
	sd_bus_message_unref(m);
}

static sd_bus *open_bus(void)
{
	sd_bus *bus = NULL;

	if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, SCOPE_BUS_FD, SCOPE_BUS_FD) < 0 ||
	    sd_bus_start(bus) < 0)
		return NULL;
	return bus;
}

/* A stop of the scope or a key of the caller's terminal is for the command; this process exits after it. */
static void ignore_signals(void)
{
	static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE };

	(void)setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN);
}

int main(int argc, char **argv)
{
	struct scope_request request = { 0 };
	struct scope_answer answer = { 0 };
	sd_bus *bus;
	ssize_t n;

	if (argc != 2 || strlen(argv[1]) > 64) {
		fprintf(stderr, SCOPE_PROGRAM ": started by custody, with a session's id\n");
		return EXIT_FAILURE;
	}
	ignore_signals();
	(void)close_range(SCOPE_BUS_FD + 1, ~0U, 0);
	/* While the supervisor still prepares: connecting and the greeting. */
	bus = open_bus();
	do
		n = recv(SCOPE_CONTROL_FD, &request, sizeof(request), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(request))
		return EXIT_SUCCESS;
	if (bus)
		start_scope(bus, argv[1], request.pid, &answer);
	else
		set_answer(&answer, -EIO, "StartTransientUnit", "no connection");
	sd_bus_unref(bus);
	if (send(SCOPE_CONTROL_FD, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		return EXIT_FAILURE;
	do
		n = recv(SCOPE_CONTROL_FD, &request, sizeof(request), 0);
	while (n > 0 || (n < 0 && errno == EINTR));
	return EXIT_SUCCESS;
}
