/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "init/init-dir.h"
#include "init/init-prove.h"

/*
 * The owner cannot open a file of mode 000 without CAP_DAC_OVERRIDE. A memfd, so that no writable mount is
 * needed.
 */
static long try_dac_override(void)
{
	char path[32];
	struct line l = LINE(path);
	long fd, r;

	fd = SYS(memfd_create, "custody", MFD_CLOEXEC);
	if (fd < 0)
		return 0; /* the filter refuses memfd_create: the capability sets alone are the proof */
	line_put(&l, "/proc/self/fd/");
	line_put_num(&l, fd);
	r = SYS(fchmod, fd, 0);
	if (r == 0) {
		r = SYS(openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
		if (r >= 0)
			(void)SYS(close, r);
	}
	(void)SYS(close, fd);
	return r > 0 ? 1 : r;
}

static void prove_capabilities(struct prove *p)
{
	struct line d = proof_line(p, LAYER_CAPABILITIES);
	const struct facts_status *s = &p->status;
	const struct {
		const char *name;
		uint64_t set;
	} sets[] = { { "CapEff ", s->cap_eff },
		     { "CapPrm ", s->cap_prm },
		     { "CapInh ", s->cap_inh },
		     { "CapBnd ", s->cap_bnd },
		     { "CapAmb ", s->cap_amb } };
	long tried = try_dac_override();

	for (unsigned int i = 0; i < ARRAY_SIZE(sets); i++) {
		if (!sets[i].set)
			continue;
		line_put(&d, sets[i].name);
		line_put_hex(&d, sets[i].set);
		proof_set(p, LAYER_CAPABILITIES, false, tried);
		return;
	}
	line_put(&d,
		 tried == 1 ? "sets empty, but a file of mode 000 could be opened" : "all five sets empty");
	proof_set(p, LAYER_CAPABILITIES, tried != 1, tried);
}

/*
 * Calls that no shipped filter allows, with arguments that an unfiltered kernel refuses with errno
 * UNFILTERED: any other result proves the filter.
 */
static const struct {
	long nr, argument;
	int unfiltered;
} seccomp_tries[] = {
	{ __NR_keyctl, -1, EOPNOTSUPP },
	{ __NR_setns, -1, EBADF },
	{ __NR_unshare, -1, EINVAL },
};

static long make_call(unsigned int i)
{
	return sys_call(seccomp_tries[i].nr, seccomp_tries[i].argument, 0, 0, 0, 0, 0);
}

/*
 * In a child, because the filter kills: its death is the proof. A fork costs more than all other tests
 * together.
 */
static long make_call_in_child(unsigned int i)
{
	int status = 0;
	long pid, r;

	pid = SYS(clone, SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		return 0;
	if (pid == 0) {
		r = make_call(i);
		rt_exit(r < 0 && r > -256 ? (int)-r : 0);
	}
	do
		r = SYS(wait4, pid, &status, 0, NULL);
	while (r == -EINTR);
	if (r != pid)
		return 0;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? -EPERM : 0;
	return -WEXITSTATUS(status);
}

/* The errno of the filter; 0 if the call reached the kernel. */
static long try_seccomp_call(const struct prove *p, unsigned int i)
{
	long r = p->options->seccomp_kills ? make_call_in_child(i) : make_call(i);

	return r < 0 && r != -seccomp_tries[i].unfiltered ? r : 0;
}

static void prove_seccomp(struct prove *p)
{
	struct line d = proof_line(p, LAYER_SECCOMP);
	long tried = 0;

	line_put(&d, "Seccomp: ");
	line_put_num(&d, p->status.seccomp);
	line_put(&d, ", filters: ");
	line_put_num(&d, p->status.seccomp_filters);
	for (unsigned int i = 0; p->status.seccomp == 2 && tried == 0 && i < ARRAY_SIZE(seccomp_tries); i++)
		tried = try_seccomp_call(p, i);
	if (p->status.seccomp == 2 && tried == 0)
		line_put(&d, ", forbidden calls reached the kernel");
	proof_set(p, LAYER_SECCOMP, p->status.seccomp == 2 && tried < 0, tried);
}

static void prove_no_new_privs(struct prove *p)
{
	struct line d = proof_line(p, LAYER_NO_NEW_PRIVS);

	line_put(&d, "NoNewPrivs: ");
	line_put_num(&d, p->status.no_new_privs);
	proof_set(p, LAYER_NO_NEW_PRIVS, p->status.no_new_privs == 1, 0);
}

/* A terminal on another devpts than the container's belongs to the host. */
static int foreign_terminal(void)
{
	struct stat pts, st;
	bool has_pts = SYS(newfstatat, AT_FDCWD, "/dev/pts", &pts, 0) == 0;

	for (int fd = 0; fd <= 2; fd++) {
		unsigned int major;

		if (SYS(fstat, fd, &st) < 0 || !S_ISCHR(st.st_mode))
			continue;
		major = major(st.st_rdev);
		if (major == 4 || (major == 5 && minor(st.st_rdev) < 2) || major == 204)
			return fd;
		if (major >= 136 && major <= 143 && (!has_pts || st.st_dev != pts.st_dev))
			return fd;
	}
	return -1;
}

static void prove_session(struct prove *p)
{
	struct line d = proof_line(p, LAYER_SESSION);
	long sid = SYS(getsid, 0), pid = SYS(getpid), tried;
	int fd = foreign_terminal();

	tried = SYS(openat, AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tried >= 0)
		(void)SYS(close, tried);
	line_put(&d, "session ");
	line_put_num(&d, sid);
	line_put(&d, tried < 0 ? ", no terminal" : ", has a terminal");
	if (fd >= 0) {
		line_put(&d, ", a terminal of the host is open as descriptor ");
		line_put_num(&d, fd);
	}
	proof_set(p, LAYER_SESSION, sid == pid && tried < 0 && fd < 0, tried);
}

static bool check_descriptor(void *arg, const char *name, int dir)
{
	struct prove *p = arg;
	struct line d = proof_line(p, LAYER_DESCRIPTORS);
	int fd = 0;
	struct stat st;

	for (const char *c = name; *c; c++)
		fd = fd * 10 + (*c - '0');
	if (fd == dir || (fd == INIT_FD && p->options->report) ||
	    (p->options->gate && fd == p->options->gate_fd))
		return true;
	if (fd > 2) {
		line_put(&d, "descriptor ");
		line_put(&d, name);
		line_put(&d, " is open");
		return false;
	}
	/* An open directory allows openat("..") to escape the root. */
	if (SYS(fstat, fd, &st) < 0 || S_ISDIR(st.st_mode)) {
		line_put(&d, "a directory is open as descriptor ");
		line_put(&d, name);
		return false;
	}
	return true;
}

static void prove_descriptors(struct prove *p)
{
	struct line d = proof_line(p, LAYER_DESCRIPTORS);
	long r = dir_each("/proc/self/fd", check_descriptor, p);

	if (r < 0) {
		line_put(&d, "/proc/self/fd: ");
		line_put_errno(&d, (int)-r);
	} else if (r == 1) {
		line_put(&d, "only stdio");
	}
	proof_set(p, LAYER_DESCRIPTORS, r == 1, 0);
}

/* Name of the variable NAME=VALUE in the comma-separated LIST? */
static bool list_has(const char *list, const char *variable)
{
	size_t n = 0;

	while (variable[n] && variable[n] != '=')
		n++;
	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, variable, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

static void prove_environment(struct prove *p)
{
	struct line d = proof_line(p, LAYER_ENVIRONMENT);
	const char *list = p->options->env;
	unsigned int n = 0, n_list = 0;

	for (char **e = p->options->environment; list && *e; e++, n++) {
		if (list_has(list, *e))
			continue;
		line_put(&d, "not in --env: ");
		line_put_bytes(&d, *e, strchr(*e, '=') ? (size_t)(strchr(*e, '=') - *e) : strlen(*e));
		return;
	}
	for (const char *c = list; c && *c; c++)
		n_list += c == list || c[-1] == ',';
	line_put_num(&d, n);
	line_put(&d, list ? " variables, all in --env" : " variables, --env is missing");
	if (list && n != n_list) {
		line_put(&d, " that has ");
		line_put_num(&d, n_list);
	}
	proof_set(p, LAYER_ENVIRONMENT, list && n == n_list, 0);
}

void prove_process(struct prove *p)
{
	prove_capabilities(p);
	prove_no_new_privs(p);
	prove_seccomp(p);
	prove_session(p);
	prove_descriptors(p);
	prove_environment(p);
}
