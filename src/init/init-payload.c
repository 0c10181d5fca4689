/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-payload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "init/init-pty.h"
#include "init/init-rt.h"
#include "layer/inherit-table.h"

static const char *find_path(char **env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/bin:/bin";
}

/* One candidate "DIR/NAME"; an empty DIR is the current directory, as in every shell. */
static long exec_in(const char *dir, size_t dir_len, char **command, char **env)
{
	char path[PATH_MAX];
	size_t name_len = strlen(command[0]);

	if (dir_len + name_len + 2 > sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, dir_len);
	if (dir_len)
		path[dir_len++] = '/';
	memcpy(path + dir_len, command[0], name_len + 1);
	return SYS(execve, path, command, env);
}

/* As execvpe(3), but ENOEXEC does not start a shell. Returns only on failure, negative errno. */
static long exec_search(char **command, char **env)
{
	bool forbidden = false;
	long r = -ENOENT;

	if (!command[0][0])
		return -ENOENT;
	if (strchr(command[0], '/'))
		return SYS(execve, command[0], command, env);
	for (const char *dir = find_path(env), *end; dir; dir = *end ? end + 1 : NULL) {
		end = strchr(dir, ':');
		if (!end)
			end = dir + strlen(dir);
		r = exec_in(dir, (size_t)(end - dir), command, env);
		if (r == -EACCES)
			forbidden = true;
		else if (r != -ENOENT && r != -ENOTDIR && r != -ENAMETOOLONG)
			return r;
	}
	return forbidden ? -EACCES : -ENOENT;
}

/* Init blocks all signals; their actions are the default since it started. */
static long unblock_signals(void)
{
	uint64_t none = 0;

	return SYS(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* The rows of process-state that only this process can show, as late as possible. */
static long require_state(const struct payload_start *s)
{
	const struct inherit_asked asked = { .death_signal = s->dies_with_us ? SIGKILL : 0 };

	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		char text[128];
		struct line why = LINE(text);
		const char *wrong;
		long long value;

		if (!inherit_is_checked((enum inherit)i, INHERIT_BY_COMMAND))
			continue;
		wrong = inherit_check((enum inherit)i, NULL, &asked, &value);
		if (!wrong)
			continue;
		line_put(&why, "the command is not executed: in its process: ");
		line_put(&why, wrong);
		line_put(&why, " ");
		line_put_num(&why, value);
		rt_print(text);
		return -EPERM;
	}
	return 0;
}

static long become_payload(const struct payload_start *s)
{
	struct rlimit core;
	long r;

	if (s->dies_with_us) {
		r = SYS(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (r < 0)
			return r;
	}
	r = SYS(setsid);
	if (r < 0)
		return r;
	for (int fd = 0; s->slave >= 0 && fd <= 2; fd++) {
		if (!(s->tty & 1U << fd))
			continue;
		r = SYS(dup3, s->slave, fd, 0);
		if (r < 0)
			return r;
	}
	if (s->slave >= 0 || s->terminal) {
		r = pty_control(s->slave >= 0 ? s->slave : 0);
		if (r < 0)
			return r;
	}
	if (SYS(prlimit64, 0, RLIMIT_CORE, NULL, &core) == 0) {
		core.rlim_cur = s->core_soft;
		(void)SYS(prlimit64, 0, RLIMIT_CORE, &core, NULL);
	}
	r = unblock_signals();
	if (r == 0)
		r = require_state(s);
	if (r < 0)
		return r;
	return exec_search(s->command, s->environment);
}

long payload_start(const struct payload_start *s, int *ret_pipe)
{
	int ends[2];
	long pid, r;

	r = SYS(pipe2, ends, O_CLOEXEC);
	if (r < 0)
		return r;
	pid = SYS(clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		int err = (int)-become_payload(s);

		(void)SYS(write, ends[1], &err, sizeof(err));
		rt_exit(127);
	}
	(void)SYS(close, ends[1]);
	if (pid < 0) {
		(void)SYS(close, ends[0]);
		return pid;
	}
	*ret_pipe = ends[0];
	return pid;
}
