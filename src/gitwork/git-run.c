/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "gitwork/git-box.h"

#define ARGS_MAX 24
#define CREDENTIAL_FD 9 /* as the helper below has it */

/* clang-format off */
static const char *const fixed[] = {
	"PATH=/usr/bin:/bin",
	"LC_ALL=C",
	"HOME=/nonexistent",
	"XDG_CONFIG_HOME=/nonexistent",
	"GIT_DIR=.",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_SYSTEM=/dev/null",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS=/bin/false",
	"SSH_ASKPASS=/bin/false",
	"GIT_SSH_COMMAND=/bin/false",
	"GIT_PROTOCOL_FROM_USER=0",
	"GIT_LITERAL_PATHSPECS=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_PAGER=cat",
	"GIT_EDITOR=/bin/false",
	"GIT_AUTHOR_NAME=custody", "GIT_AUTHOR_EMAIL=custody@invalid",
	"GIT_COMMITTER_NAME=custody", "GIT_COMMITTER_EMAIL=custody@invalid",
};
/* clang-format on */

static char **make_env(const struct git_box *b)
{
	_cleanup_strv_ char **env = NULL;
	int r = strv_appendf(&env, "GIT_ALLOW_PROTOCOL=%s", b->protocol ? b->protocol : "none");

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(fixed); i++)
		r = strv_append(&env, fixed[i]);
	if (r == 0 && b->credential)
		r = strv_append(&env, "GIT_CONFIG_COUNT=1");
	if (r == 0 && b->credential)
		r = strv_append(&env, "GIT_CONFIG_KEY_0=credential.helper");
	if (r == 0 && b->credential)
		r = strv_append(&env, "GIT_CONFIG_VALUE_0=!f() { test \"$1\" != get || cat <&9; }; f");
	if (r == 0 && b->ca)
		r = strv_appendf(&env, "GIT_SSL_CAINFO=%s", b->ca);
	/* Otherwise the system's certificates would count as well. */
	if (r == 0 && b->ca)
		r = strv_append(&env, "GIT_SSL_CAPATH=" GIT_NO_CERTIFICATES);
	return r < 0 ? NULL : TAKE_PTR(env);
}

static void set_limit(int what, rlim_t value)
{
	struct rlimit l;

	if (getrlimit((__rlimit_resource_t)what, &l) == 0 && l.rlim_max > value)
		(void)setrlimit((__rlimit_resource_t)what, &(struct rlimit){ value, value });
}

static _Noreturn void become(const struct git_box *b, int dir, char *const *argv, char *const *env, int in,
			     int out, int secret)
{
	_cleanup_close_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	process_forbid_core();
	set_limit(RLIMIT_FSIZE, GIT_FILE_MAX);
	set_limit(RLIMIT_AS, GIT_MEMORY_MAX);
	set_limit(RLIMIT_DATA, GIT_DATA_MAX);
	(void)umask(0077);
	process_restore_signals();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0 && fchdir(dir) == 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(null, 2) >= 0 &&
	    fd_mark_cloexec(3, NULL) == 0 && (secret < 0 || dup2(secret, CREDENTIAL_FD) >= 0))
		(void)execve(b->program, argv, env);
	_exit(STATUS_NOT_EXECUTABLE);
}

/* In memory: git may read it at any pace. */
static int make_input(const struct strbuf *in, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (!in)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	else
		fd = in->broken ? -1 : memfd_create("git", MFD_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, in && in->broken ? ENOMEM : errno, "input of git");
	r = in ? fd_write_all(fd, in->text ? in->text : "", in->len, f) : 0;
	if (r < 0)
		return r;
	(void)lseek(fd, 0, SEEK_SET);
	return TAKE_FD(fd);
}

int git_start(const struct git_box *b, const char *name, const char *const *argv, const struct strbuf *in,
	      struct git_child *ret, struct fault *f)
{
	_cleanup_close_ int input = make_input(in, f), out = -EBADF, out_git = -EBADF, dir = -EBADF;
	_cleanup_close_ int secret = -EBADF;
	_cleanup_strv_ char **env = make_env(b);
	const char *words[ARGS_MAX + 2] = { "git" };
	int ends[2];
	pid_t pid;

	if (input < 0)
		return input;
	for (size_t i = 0; argv[i]; i++) {
		if (i == ARGS_MAX)
			return fault_set(f, E2BIG, "too many arguments for git");
		words[i + 1] = argv[i];
	}
	if (b->credential) {
		int fd = b->credential(b->credential_arg, f);

		if (fd < 0)
			return fd;
		/* Not where the helper's descriptor goes. */
		secret = fcntl(fd, F_DUPFD_CLOEXEC, CREDENTIAL_FD + 1);
		(void)fd_close(fd);
		if (secret < 0)
			return fault_errno(f, errno, "start git");
	}
	dir = openat(b->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!env || dir < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(f, env ? errno : ENOMEM, "start git");
	out = ends[0];
	out_git = ends[1];
	pid = fork();
	if (pid == 0)
		become(b, dir, (char *const *)words, env, input, out_git, secret);
	if (pid < 0)
		return fault_errno(f, errno, "start git");
	*ret = (struct git_child){ .pid = pid, .out = TAKE_FD(out) };
	return 0;
}

int git_finish(struct git_child *c)
{
	int status = 0;

	c->out = fd_close(c->out);
	while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SIGNAL_BASE + WTERMSIG(status);
}

void git_child_done(struct git_child *c)
{
	if (c->pid > 0)
		(void)kill(c->pid, SIGKILL);
	(void)git_finish(c);
}

static int read_output(int fd, struct strbuf *out, struct fault *f)
{
	char part[65536];

	for (;;) {
		ssize_t n = read(fd, part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read the output of git");
		if (n == 0)
			return out->broken ? fault_errno(f, ENOMEM, "output of git") : 0;
		strbuf_add(out, part, (size_t)n);
		if (out->len > GIT_OUTPUT_MAX)
			return fault_set(f, EFBIG, "git wrote more than %zu MiB: the change is too large",
					 GIT_OUTPUT_MAX >> 20);
	}
}

int git_run_status(const struct git_box *b, const char *name, const char *const *argv,
		   const struct strbuf *in, struct strbuf *ret, struct fault *f)
{
	_cleanup_git_child_ struct git_child c = GIT_CHILD_NONE;
	_cleanup_strbuf_ struct strbuf out = { 0 };
	int r = git_start(b, name, argv, in, &c, f);

	if (r == 0)
		r = read_output(c.out, &out, f);
	if (r < 0)
		return r;
	if (ret) {
		strbuf_done(ret);
		*ret = out;
		out = (struct strbuf){ 0 };
	}
	return git_finish(&c);
}

int git_run(const struct git_box *b, const char *name, const char *const *argv, const struct strbuf *in,
	    struct strbuf *ret, struct fault *f)
{
	int r = git_run_status(b, name, argv, in, ret, f);

	return r > 0 ? fault_set(f, EREMOTEIO, "'git %s' failed with status %d", argv[0], r) : r;
}

int git_run_oid(const struct git_box *b, const char *name, const char *const *argv, char ret[GIT_OID_SIZE],
		struct fault *f)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	int r = git_run(b, name, argv, NULL, &out, f);

	if (r < 0)
		return r;
	if (out.len != GIT_OID_SIZE || out.text[GIT_OID_SIZE - 1] != '\n')
		return fault_set(f, EREMOTEIO, "unexpected output of 'git %s'", argv[0]);
	out.text[GIT_OID_SIZE - 1] = '\0';
	if (!git_oid_is_valid(out.text))
		return fault_set(f, EREMOTEIO, "unexpected output of 'git %s'", argv[0]);
	memcpy(ret, out.text, GIT_OID_SIZE);
	return 0;
}
