/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "tap.h"

/* The process between broker and program, for a program with credentials. */
#define VALUE "t0ken-of-a-test"

static bool has_programs(void)
{
	return !tap_has("CUSTODY_TEST_VALGRIND", "1");
}

static bool says_why;

struct outcome {
	int status;
	char output[256]; /* with the verdict */
};

/* SCRIPT gets SENT in VARIABLE, or from descriptor 3; SENT NULL: it is refused. */
static bool start(const char *script, const char *variable, const char *sent, size_t output_max,
		  struct broker_process *ret)
{
	const struct broker_credential credential = { .name = (char *)"gh", .variable = (char *)variable };
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	char *const env[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	r = broker_process_start(
		&(const struct broker_program){
			.path = "/bin/sh",
			.argv = argv,
			.env = env,
			.credentials = &credential,
			.fds = &(const struct broker_credential_fds){ .fd = { pair[0] }, .n = 1 },
			.output_max = output_max,
			.says_why = says_why },
		ret, NULL);
	(void)fd_close(pair[0]);
	if (r == 0 && sent)
		r = send(pair[1], sent, strlen(sent), MSG_NOSIGNAL) < 0 ? -errno : 0;
	(void)fd_close(pair[1]);
	ret->in = fd_close(ret->in);
	return r == 0 && ret->judged;
}

static struct outcome finish(struct broker_process *p)
{
	struct pollfd end = { .fd = p->pidfd, .events = POLLIN };
	struct outcome o = { .status = -1 };
	size_t len = 0;
	ssize_t n;

	if (poll(&end, 1, 60000) != 1)
		return o;
	while (len < sizeof(o.output) - 1 &&
	       (n = read(p->out, o.output + len, sizeof(o.output) - 1 - len)) > 0)
		len += (size_t)n;
	o.status = broker_process_reap(p);
	return o;
}

static struct outcome run(const char *script, const char *variable, const char *sent, size_t output_max)
{
	struct broker_process p = BROKER_PROCESS_NONE;

	if (!start(script, variable, sent, output_max, &p))
		return (struct outcome){ .status = -1 };
	return finish(&p);
}

static bool is(const struct outcome *o, int status, const char *output)
{
	if (o->status == status && strcmp(o->output, output) == 0)
		return true;
	printf("# %d '%s'\n", o->status, o->output);
	return false;
}

static void ISO_12_a_program_gets_a_value_by_variable_or_descriptor_alone(void)
{
	struct outcome o;

	if (!has_programs())
		return;
	o = run("test ${#A} = 15 && ! grep -qF \"$A\" /proc/$$/cmdline && ls /proc/self/fd | wc -l", "A",
		VALUE, 100);
	/* Stdio, and the directory that ls reads. */
	CHECK(is(&o, 0, "o4\n"));
	o = run("v=$(cat <&3); test ${#v} = 15 && ! env | grep -qF \"$v\"", NULL, VALUE, 100);
	CHECK(is(&o, 0, "o"));
}

static void ISO_12_without_a_value_a_program_does_not_start(void)
{
	struct outcome o;

	if (!has_programs())
		return;
	o = run("echo started", "A", NULL, 100);
	CHECK(is(&o, 0, "r"));
}

static void ISO_12_output_with_a_value_stops_here(void)
{
	struct outcome o;

	if (!has_programs())
		return;
	o = run("echo \"{\\\"a\\\":\\\"$A\\\"}\"", "A", VALUE, 100);
	CHECK(is(&o, 0, "f"));
	o = run("printf %s \"$A\" | base64", "A", VALUE, 100);
	CHECK(is(&o, 0, "f"));
	o = run("cat <&3", NULL, VALUE, 100);
	CHECK(is(&o, 0, "f"));
	/* More output than allowed is not passed on either. */
	o = run("yes \"$A\"", "A", VALUE, 100);
	CHECK(is(&o, 0, "m"));
	/* Nor is any of a failure, but for a program whose sentence is the reason; and that has no value. */
	o = run("echo fine; exit 3", "A", VALUE, 100);
	CHECK(is(&o, 3, "o"));
	says_why = true;
	o = run("echo fine; exit 3", "A", VALUE, 100);
	CHECK(is(&o, 3, "ofine\n"));
	o = run("echo fine; echo \"$A\"; exit 3", "A", VALUE, 100);
	CHECK(is(&o, 3, "o"));
	says_why = false;
	/* Processes of the program end with it. */
	o = run("sleep 1000 & echo fine", "A", VALUE, 100);
	CHECK(is(&o, 0, "ofine\n"));
}

/* FD is readable before the process END has ended. */
static bool is_first(int fd, int end)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = end, .events = POLLIN } };

	return poll(p, 2, 60000) > 0 && p[0].revents;
}

static void a_program_ends_with_its_call_and_so_do_its_processes(void)
{
	char dir[] = "/tmp/relay-XXXXXX", fifo[64], script[256], text[32] = "";
	struct broker_process p = BROKER_PROCESS_NONE;
	_cleanup_close_ int fd = -EBADF;
	struct outcome o;
	uint64_t pid = 0;

	if (!has_programs())
		return;
	CHECK(mkdtemp(dir) && snprintf(fifo, sizeof(fifo), "%s/fifo", dir) > 0 && mkfifo(fifo, 0600) == 0);
	(void)snprintf(script, sizeof(script), "(setsid sleep 1000) & echo $! >%s; echo \"$A\"; wait", fifo);
	/* For both directions, so that a program which does not start cannot make this wait. */
	fd = open(fifo, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && start(script, "A", VALUE, 100, &p));
	CHECK(is_first(fd, p.pidfd) && read(fd, text, sizeof(text) - 1) > 0);
	text[strcspn(text, "\n")] = '\0';
	CHECK(str_to_u64(text, &pid) == 0 && pid > 1 && kill((pid_t)pid, 0) == 0);
	broker_process_kill(&p);
	o = finish(&p);
	CHECK(is(&o, 128 + SIGKILL, ""));
	CHECK(kill((pid_t)pid, 0) < 0 && errno == ESRCH);
	CHECK(unlink(fifo) == 0 && rmdir(dir) == 0);
}

static void a_call_can_end_while_its_value_is_awaited(void)
{
	struct broker_process p = BROKER_PROCESS_NONE;
	struct broker_credential credential = { .name = (char *)"gh", .variable = (char *)"A" };
	char *const argv[] = { (char *)"true", NULL }, *const env[] = { NULL };
	struct broker_credential_fds fds = { .n = 1 };
	struct broker_program program = { .path = "/bin/true",
					  .argv = argv,
					  .env = env,
					  .credentials = &credential,
					  .fds = &fds,
					  .output_max = 100 };
	struct outcome o;
	int pair[2];

	if (!has_programs())
		return;
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	fds.fd[0] = pair[0];
	CHECK(broker_process_start(&program, &p, NULL) == 0);
	broker_process_kill(&p);
	o = finish(&p);
	CHECK(o.output[0] == '\0' && o.status >= 128);
	(void)fd_close(pair[0]);
	(void)fd_close(pair[1]);
}

TAP_MAIN(T(ISO_12_a_program_gets_a_value_by_variable_or_descriptor_alone),
	 T(ISO_12_without_a_value_a_program_does_not_start), T(ISO_12_output_with_a_value_stops_here),
	 T(a_program_ends_with_its_call_and_so_do_its_processes),
	 T(a_call_can_end_while_its_value_is_awaited))
