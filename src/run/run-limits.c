/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-limits.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/path.h"
#include "base/unit-text.h"
#include "layer/layer.h"
#include "state/passwd.h"

static const enum layer limits[_CGROUP_CONTROLLER_MAX] = {
	[CGROUP_MEMORY] = LAYER_MEMORY_LIMIT,
	[CGROUP_PIDS] = LAYER_PIDS_LIMIT,
	[CGROUP_CPU] = LAYER_CPU_LIMIT,
};

uint32_t run_limits_missing(const struct cgroup *c)
{
	uint32_t set = 0;

	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		set |= c->missing & CGROUP_BIT(i) ? LAYER_BIT(limits[i]) : 0;
	return set;
}

void run_limits_put_names(struct strbuf *b, uint32_t set, const char *separator)
{
	const char *between = "";

	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		if (!(set & LAYER_BIT(l)))
			continue;
		strbuf_printf(b, "%s%s", between, layer_info((enum layer)l)->name);
		between = separator;
	}
}

static int refuse_name(const char *name, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };

	run_limits_put_names(&names, RUN_LIMITS_ALL, ", ");
	if (names.broken)
		return fault_errno(f, ENOMEM, "limits");
	if (layer_from_name(name) >= 0)
		return fault_set(f, EINVAL, "a run cannot go without '%s', only without these limits: %s",
				 name, names.text);
	return fault_set(f, EINVAL, "unknown limit '%s'; these may be named, separated by commas: %s", name,
			 names.text);
}

int run_limits_parse(const char *list, uint32_t *ret, struct fault *f)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *name;
	uint32_t set = 0;

	if (!copy)
		return fault_errno(f, ENOMEM, "limits");
	while ((name = strsep(&rest, ","))) {
		int l = layer_from_name(name);

		if (l < 0 || !(LAYER_BIT(l) & RUN_LIMITS_ALL))
			return refuse_name(name, f);
		set |= LAYER_BIT(l);
	}
	*ret = set;
	return 0;
}

int run_limits_check(const char *list, struct fault *f)
{
	uint32_t set;

	return run_limits_parse(list, &set, f);
}

/* Not /proc/self/exe, which may be the private copy (docs/design/run.md). */
char *run_limits_find_program(void)
{
	const char *name = program_invocation_name, *path = getenv("PATH");
	_cleanup_free_ char *dirs = strdup(path ? path : "");
	char *rest = dirs, *dir;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	while (dirs && (dir = strsep(&rest, ":"))) {
		_cleanup_free_ char *file = path_join(*dir ? dir : ".", name);

		if (file && access(file, X_OK) == 0)
			return realpath(file, NULL);
	}
	return NULL;
}

char *run_limits_program(void)
{
	/* secure_path of sudo, and the PATH of root. */
	static const char *const dirs[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					    "/usr/bin",	       "/sbin",		 "/bin" };
	_cleanup_free_ char *program = run_limits_find_program();
	struct stat ours, there;

	if (!program || stat(program, &ours) < 0)
		return strdup(PACKAGE_NAME);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		char file[PATH_MAX];

		(void)snprintf(file, sizeof(file), "%s/" PACKAGE_NAME, dirs[i]);
		if (stat(file, &there) < 0)
			continue;
		/* The first one is the one that root would start. */
		if (there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
			return strdup(PACKAGE_NAME);
		break;
	}
	return TAKE_PTR(program);
}

char *run_limits_setup_line(bool setup_helps)
{
	_cleanup_free_ char *program = run_limits_program();
	_cleanup_strbuf_ struct strbuf line = { 0 };
	_cleanup_passwd_entry_ struct passwd_entry user = { 0 };
	int r;

	if (geteuid() == 0 || !setup_helps)
		return strdup("");
	r = passwd_find(NULL, geteuid(), &user);
	if (r < 0 || !program)
		return NULL;
	strbuf_puts(&line, "sudo ");
	strbuf_put_word(&line, program);
	strbuf_puts(&line, " setup ");
	if (r > 0)
		strbuf_put_word(&line, user.name);
	else
		strbuf_printf(&line, "%u", (unsigned int)geteuid());
	return strbuf_take(&line);
}

char *run_limits_without_line(uint32_t set, char *const *words)
{
	_cleanup_strbuf_ struct strbuf line = { 0 }, shown = { 0 };

	strbuf_put_word(&line, program_invocation_name);
	strbuf_putc(&line, ' ');
	strbuf_put_word(&line, words[0]);
	strbuf_puts(&line, " --without ");
	run_limits_put_names(&line, set, ",");
	for (size_t i = 1; words[i]; i++) {
		strbuf_putc(&line, ' ');
		strbuf_put_word(&line, words[i]);
	}
	if (line.broken)
		return NULL;
	strbuf_put_command(&shown, line.text);
	return strbuf_take(&shown);
}

static char *describe_remedy(uint32_t refused, bool setup_helps, char *const *words)
{
	_cleanup_free_ char *setup = run_limits_setup_line(setup_helps),
			    *without = words ? run_limits_without_line(refused, words) : NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (setup && *setup)
		strbuf_printf(&b, "to have them in all runs of this user:\n  %s\n", setup);
	if (without)
		strbuf_printf(&b, "to run without them:\n  %s\n", without);
	return strbuf_take(&b);
}

int run_limits_require(const struct cgroup *c, const struct profile *p, char *const *words, char **ret_remedy,
		       struct fault *f)
{
	const uint32_t refused = run_limits_missing(c) & ~p->optional;
	_cleanup_strbuf_ struct strbuf names = { 0 };

	if (!refused)
		return 0;
	run_limits_put_names(&names, refused, "', '");
	*ret_remedy = describe_remedy(refused, c->setup_helps, words);
	return fault_set(f, EPERM, "cannot enforce '%s': %s", names.broken ? "a limit" : names.text, c->why);
}

/* Before Linux 5.14 the processes of a user count on the whole host, not in each user namespace. */
static bool counts_in_namespace(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 14);
}

void run_limits_replace(uint32_t missing, const struct cgroup_limits *want, const struct subject *s,
			struct run_limits_instead *ret)
{
	*ret = (struct run_limits_instead){ 0 };
	if (missing & LAYER_BIT(LAYER_MEMORY_LIMIT))
		ret->data = want->memory;
	if ((missing & LAYER_BIT(LAYER_PIDS_LIMIT)) && (s->layers & LAYER_BIT(LAYER_USER_NS)) &&
	    counts_in_namespace())
		ret->processes = want->pids;
	ret->each_id = !(s->layers & LAYER_BIT(LAYER_CAPABILITIES));
}

static int set_limit(pid_t pid, __rlimit_resource_t resource, uint64_t most, const char *name,
		     struct fault *f)
{
	struct rlimit64 now, l = { .rlim_cur = most, .rlim_max = most };

	if (most == 0)
		return 0;
	if (prlimit64(pid, resource, NULL, &now) < 0)
		return fault_errno(f, errno, "read %s of the container", name);
	/* The caller's own limit may be lower. */
	if (now.rlim_max <= most)
		return 0;
	if (now.rlim_cur < most)
		l.rlim_cur = now.rlim_cur;
	return prlimit64(pid, resource, &l, NULL) < 0 ? fault_errno(f, errno, "set %s of the container", name)
						      : 0;
}

int run_limits_set(const struct run_limits_instead *l, pid_t pid, struct fault *f)
{
	int r;

	r = set_limit(pid, RLIMIT_DATA, l->data, "RLIMIT_DATA", f);
	return r < 0 ? r : set_limit(pid, RLIMIT_NPROC, l->processes, "RLIMIT_NPROC", f);
}

void run_limits_announce(const struct cgroup *c, const struct run_limits_instead *l, const struct subject *s)
{
	const uint32_t others = LAYER_BIT(LAYER_DISK_LIMIT) | LAYER_BIT(LAYER_TIME_LIMIT);
	const uint32_t holds = s->layers & ((RUN_LIMITS_ALL & ~run_limits_missing(c)) | others);
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char size[UNIT_TEXT_SIZE];

	strbuf_puts(&b, "without ");
	run_limits_put_names(&b, run_limits_missing(c), ", ");
	strbuf_printf(&b, ": %s; still applied: ", c->why);
	if (l->data)
		strbuf_printf(&b, "%s of data per process, ", unit_text_bytes(l->data, size));
	if (l->processes)
		strbuf_printf(&b, "%" PRIu64 " processes%s, ", l->processes, l->each_id ? " of each id" : "");
	run_limits_put_names(&b, holds, ", ");
	if (!holds)
		strbuf_puts(&b, "no other limit");
	log_notice("%s", b.broken ? "limits are missing" : b.text);
}
