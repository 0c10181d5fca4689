/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "init/init-gate.h"
#include "init/init-network.h"
#include "init/init-options.h"
#include "init/init-payload.h"
#include "init/init-prove.h"
#include "init/init-pty.h"
#include "init/init-reap.h"
#include "init/init-release.h"
#include "init/init-rt.h"
#include "init/init-trace.h"

/*
 * custody-init.  Rules of this program:
 *
 * 1. No other program runs before every layer is proven and, with a supervisor or a gate, before its GO.
 * 2. It MUST NOT execute after a failed read or send: it exits with 125.
 * 3. Every descriptor that it opens is closed on exec.
 * 4. It MUST be PID 1 of its namespace: before it exits it kills every process that it can see, which from any
 *    other process would be those of the host.
 * 5. It holds no privilege and is not dumpable: a payload of the same id can neither trace it nor read its memory.
 */

/* Makes descriptors 0-2 exist, so that no file opened here becomes stdin, stdout or stderr. */
static long require_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (SYS(fcntl, fd, F_GETFD, 0) >= 0)
			continue;
		if (SYS(openat, AT_FDCWD, "/dev/null", O_RDWR) != fd)
			return -EBADF;
	}
	return 0;
}

static long harden(uint64_t *ret_core_soft)
{
	uint64_t all = ~0ULL;
	struct rlimit core;
	long r;

	r = SYS(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (r < 0)
		return r;
	r = SYS(prlimit64, 0, RLIMIT_CORE, NULL, &core);
	if (r < 0)
		return r;
	*ret_core_soft = core.rlim_cur;
	core.rlim_cur = 0;
	r = SYS(prlimit64, 0, RLIMIT_CORE, &core, NULL);
	if (r < 0)
		return r;
	return SYS(rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
}

/* Is descriptor 3 the supervisor's socket?  From here on it is closed on exec. */
static long take_socket(void)
{
	socklen_t len = sizeof(int);
	int type = 0;
	long r;

	r = SYS(getsockopt, INIT_FD, SOL_SOCKET, SO_TYPE, &type, &len);
	if (r < 0)
		return r;
	if (type != SOCK_SEQPACKET)
		return -EPROTOTYPE;
	return SYS(fcntl, INIT_FD, F_SETFD, FD_CLOEXEC);
}

/*
 * Without a supervisor init compares the proofs itself. 0, or the exit status after naming the first missing
 * layer.
 */
static int require_layers(const struct init_options *o, const struct init_msg *report)
{
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		char text[512];
		struct line why = LINE(text);
		const struct layer_info *info;

		if (!(o->require & LAYER_BIT(l)) || report->proof[l].holds)
			continue;
		info = layer_info((enum layer)l);
		line_put(&why, "layer '");
		line_put(&why, info->name);
		line_put(&why, "' is missing: ");
		line_put(&why, report->proof[l].detail);
		line_put(&why, "; it needs ");
		line_put(&why, info->needs);
		rt_print(text);
		return STATUS_FAILED;
	}
	return 0;
}

/* Everything before GO. 0, or the exit status. */
static int prepare(struct init_options *o, struct init_msg *msg, struct payload_start *start)
{
	long r;

	if (o->gate) {
		o->gate_fd = gate_connect();
		if (o->gate_fd < 0)
			return STATUS_FAILED;
	}
	if (o->report) {
		r = take_socket();
		if (r < 0)
			return release_fail("--report: descriptor 3 is not the supervisor's socket", r);
	} else {
		r = pty_release();
		if (r < 0)
			return release_fail("cannot release the controlling terminal", r);
		start->terminal = r > 0;
	}
	if (o->egress) {
		int failed = network_wait(msg);

		if (failed)
			return failed;
	}
	init_prove(o, msg);
	if (!o->report) {
		int refused = require_layers(o, msg);

		return refused || !o->gate ? refused : gate_pass(o->gate_fd);
	}
	if (o->trace) {
		int failed = trace_install();

		if (failed)
			return failed;
	}
	return release_wait(o, msg, start);
}

int init_main(int argc, char **argv, char **envp)
{
	static struct init_msg msg;
	static struct init_options options;
	struct payload_start start = { .slave = -1 };
	char text[256] = "";
	struct line why = LINE(text);
	struct reap reap = { .pipe = -1, .msg = &msg };
	int status;
	long r;

	(void)argc;
	r = require_stdio();
	if (r < 0)
		return STATUS_FAILED;
	if (SYS(getpid) != 1)
		return release_fail("refused: not PID 1 of a PID namespace", 0);
	inherit_prepare();
	r = harden(&start.core_soft);
	if (r < 0)
		return release_fail("cannot make itself non-dumpable", r);
	if (options_parse(argv, envp, &options, &why) < 0)
		return release_fail(text, 0);
	status = prepare(&options, &msg, &start);
	if (status != 0)
		return status;

	start.command = options.command;
	start.environment = options.environment;
	start.tty = options.tty;
	r = reap_signals();
	if (r < 0)
		return release_fail("cannot create a signalfd", r);
	reap.signals = (int)r;
	reap.socket = options.report ? INIT_FD : -1;
	reap.name = options.command[0];
	reap.options = options.report ? &options : NULL;
	reap.core_soft = start.core_soft;
	reap.time_ms = options.time_ms;
	reap.grace_ms = options.grace_ms;
	reap.payload = payload_start(&start, &reap.pipe);
	if (reap.payload < 0)
		return release_fail("cannot start the command", reap.payload);
	if (start.slave >= 0)
		(void)SYS(close, start.slave);
	return reap_run(&reap);
}
