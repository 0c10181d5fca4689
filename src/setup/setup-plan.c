/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"
#include "setup/setup-cgroup.h"
#include "setup/setup-names.h"
#include "setup/setup-subid.h"
#include "setup/setup.h"

#define SYSCTL_DIR "/etc/sysctl.d"
#define SUBID_START UINT64_C(100000) /* as SUB_UID_MIN and SUB_UID_MAX of login.defs */
#define SUBID_END UINT64_C(600100000)
#define USER_NAMESPACES "15000"

/* Needed.  Not added if it is in place without a record of setup: then it is the administrator's. */
static int need(struct setup_plan *p, enum setup_kind kind, const char *path, const char *text,
		const char *before, struct fault *f)
{
	struct setup_change c = {
		.kind = kind, .path = (char *)path, .text = (char *)text, .before = (char *)before
	};
	const struct setup_change *recorded = setup_list_find(&p->record.changes, &c);
	int made = setup_change_is_made(&c, &p->user, f), shared;

	if (made < 0)
		return made;
	c.done = made;
	if (recorded)
		c.before = recorded->before;
	shared = made && !recorded ? setup_record_shares(p->dir, p->user.uid, path, f) : 0;
	if (shared < 0 || (made && !recorded && !shared))
		return shared;
	if (!made && kind == SETUP_FILE && access(path, F_OK) == 0 &&
	    !setup_list_has_path(&p->record.changes, path))
		return fault_set(
			f, EEXIST,
			"'%s' exists and is not of custody setup: move it away, or merge its content", path);
	return setup_list_add(&p->changes, &c, f);
}

_printf_(3, 4) static int note(struct setup_plan *p, struct fault *f, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return !text || strv_append(&p->notes, text) < 0 ? fault_errno(f, ENOMEM, "setup") : 0;
}

static bool is_systemd(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

/* A line of tmpfiles.d(5) that makes the same directory at each boot. */
static void put_tmpfiles(struct strbuf *b, const char *dir, const struct setup_user *u)
{
	strbuf_printf(b, "d %s 0755 %u %u -\n", dir, (unsigned int)u->uid, (unsigned int)u->gid);
}

/* cgroups do not survive a boot. */
static int make_durable(struct setup_plan *p, const char *tmpfiles, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char path[64];
	int r;

	if (is_systemd()) {
		(void)snprintf(path, sizeof(path), "/etc/tmpfiles.d/custody-user-%u.conf",
			       (unsigned int)p->user.uid);
		return need(p, SETUP_FILE, path, tmpfiles, "", f);
	}
	if (access("/etc/cron.d", W_OK) < 0)
		return note(p, f,
			    "nothing on this host makes the cgroups again after a boot: repeat this command "
			    "then");
	r = setup_require_program(p->program, f);
	if (r < 0)
		return r;
	strbuf_printf(&text, "@reboot root %s setup %s >/dev/null 2>&1\n", p->program, p->user.name);
	(void)snprintf(path, sizeof(path), "/etc/cron.d/custody-user-%u", (unsigned int)p->user.uid);
	return text.broken ? fault_errno(f, ENOMEM, "setup") : need(p, SETUP_FILE, path, text.text, "", f);
}

static int plan_v1(struct setup_plan *p, const struct cgroup_host *h, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf tmpfiles = { 0 };
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < _CGROUP_CONTROLLER_MAX; i++) {
		_cleanup_free_ char *dir =
			h->v1_root[i] ? cgroup_host_user_dir(h->v1_root[i], p->user.uid) : NULL;

		/* cpu and cpuacct, or more, may be one hierarchy. */
		if (!dir || setup_list_has_path(&p->changes, dir))
			continue;
		put_tmpfiles(&tmpfiles, dir, &p->user);
		r = need(p, SETUP_CGROUP, dir, SETUP_CGROUP_V1, "", f);
	}
	if (r < 0 || !tmpfiles.len)
		return r;
	return tmpfiles.broken ? fault_errno(f, ENOMEM, "setup") : make_durable(p, tmpfiles.text, f);
}

/* Does systemd delegate all of them to the manager of this user, as it runs now? */
static bool is_delegated(const struct cgroup_host *h, uid_t uid)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *dir = NULL;
	char text[CGROUP_TEXT_MAX];

	if (asprintf(&dir, "%s/user.slice/user-%u.slice/user@%u.service", h->v2_root, (unsigned int)uid,
		     (unsigned int)uid) < 0) {
		dir = NULL;
		return false;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || cgroup_file_read(fd, "cgroup.controllers", text) < 0)
		return false;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		if (!cgroup_text_has(text, cgroup_controller_name((enum cgroup_controller)i)))
			return false;
	return true;
}

static int plan_systemd(struct setup_plan *p, const struct cgroup_host *h, struct fault *f)
{
	char dir[96], file[128];
	int r;

	(void)snprintf(dir, sizeof(dir), SETUP_UNIT_DIR "/user@%u.service.d", (unsigned int)p->user.uid);
	(void)snprintf(file, sizeof(file), "%s/50-custody.conf", dir);
	if (is_delegated(h, p->user.uid) && !setup_list_has_path(&p->record.changes, file))
		return 0;
	r = need(p, SETUP_DIRECTORY, dir, "", "", f);
	if (r == 0)
		r = need(p, SETUP_FILE, file, "[Service]\nDelegate=cpu memory pids\n", "", f);
	if (r == 0 && !is_delegated(h, p->user.uid))
		r = note(p, f,
			 "the controllers are delegated when %s has logged out everywhere and logs in again",
			 p->user.name);
	return r;
}

/* The controllers of v2 that this host has, separated by blanks. */
static int plan_v2(struct setup_plan *p, const struct cgroup_host *h, struct fault *f)
{
	_cleanup_close_ int root = h->v2_root ? open(h->v2_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	_cleanup_strbuf_ struct strbuf words = { 0 };
	_cleanup_free_ char *dir = NULL;
	char text[CGROUP_TEXT_MAX];
	int r;

	if (root < 0 || cgroup_file_read(root, "cgroup.controllers", text) < 0)
		return 0;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
		const char *name = cgroup_controller_name((enum cgroup_controller)i);

		if (!h->v1_root[i] && cgroup_text_has(text, name))
			strbuf_printf(&words, "%s%s", words.len ? " " : "", name);
	}
	if (!words.len)
		return words.broken ? fault_errno(f, ENOMEM, "setup") : 0;
	if (is_systemd())
		return plan_systemd(p, h, f);
	dir = cgroup_host_user_dir(h->v2_root, p->user.uid);
	if (!dir || words.broken)
		return fault_errno(f, ENOMEM, "setup");
	r = need(p, SETUP_CGROUP, dir, words.text, "", f);
	return r < 0 ? r
		     : note(p, f,
			    "the processes of %s are moved into '%s' now; cgroup v2 allows that to root "
			    "only, so "
			    "repeat this command after a boot and after each new login",
			    p->user.name, dir);
}

static int plan_cgroups(struct setup_plan *p, struct fault *f)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	int r = cgroup_host_load(&h, f);

	if (r == 0)
		r = plan_v1(p, &h, f);
	if (r == 0)
		r = plan_v2(p, &h, f);
	if (r == 0 && !h.v2_root && !h.v1_root[CGROUP_MEMORY] && !h.v1_root[CGROUP_PIDS] &&
	    !h.v1_root[CGROUP_CPU])
		r = note(
			p, f,
			"no cgroup file system is mounted: limits of memory, processes and CPU stay missing");
	return r;
}

/* Of this user, by name: the record of a uid may have the line of an earlier user of that uid. */
static bool is_line_of(const char *line, const struct setup_user *u)
{
	return str_starts(line, u->name) && line[strlen(u->name)] == ':';
}

/* An interrupted setup chose a range: the same one, while it is free. */
static bool find_recorded(const struct setup_plan *p, const struct setup_subid_file *file, const char **ret)
{
	for (size_t i = 0; i < p->record.changes.n; i++) {
		const struct setup_change *c = &p->record.changes.items[i];
		const char *start = strchr(c->text, ':');
		_cleanup_free_ char *number = start ? strndup(start + 1, strcspn(start + 1, ":")) : NULL;
		uint64_t at;

		if (c->kind != SETUP_LINE || !str_eq(c->path, file->path) || !number ||
		    !is_line_of(c->text, &p->user) || str_to_u64(number, &at) < 0 || at >= SUBID_END ||
		    !setup_subid_is_free(file, at))
			continue;
		*ret = c->text;
		return true;
	}
	return false;
}

static int plan_range(struct setup_plan *p, const struct setup_subid_file *file, uint64_t start,
		      struct fault *f)
{
	const char *recorded;
	char line[320];

	(void)snprintf(line, sizeof(line), "%s:%" PRIu64 ":%d", p->user.name, start, SETUP_SUBID_COUNT);
	return need(p, SETUP_LINE, file->path, find_recorded(p, file, &recorded) ? recorded : line,
		    setup_subid_state(file->text, file->exists), f);
}

/* A line of ours that is in place. */
static int plan_recorded(struct setup_plan *p, const struct setup_subid_file *file, struct fault *f)
{
	for (size_t i = 0; i < p->record.changes.n; i++) {
		const struct setup_change *c = &p->record.changes.items[i];
		int r = 0;

		if (c->kind == SETUP_LINE && str_eq(c->path, file->path))
			r = setup_subid_has_line(c->path, c->text, f);
		if (r > 0)
			r = need(p, SETUP_LINE, c->path, c->text, c->before, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The first one for both, so that users and groups get the same numbers. */
static int find_free(const struct setup_subid_file files[2], uint64_t *ret, struct fault *f)
{
	for (*ret = SUBID_START; *ret < SUBID_END; *ret += SETUP_SUBID_COUNT)
		if (setup_subid_is_free(&files[0], *ret) && setup_subid_is_free(&files[1], *ret))
			return 0;
	return fault_set(f, ENOSPC, "'/etc/subuid' and '/etc/subgid' have no free range below %" PRIu64,
			 SUBID_END);
}

static int plan_subids(struct setup_plan *p, struct fault *f)
{
	struct setup_subid_file files[] = {
		{ .path = "/etc/subuid", .accounts = "/etc/passwd", .kind = "user", .self = p->user.uid },
		{ .path = "/etc/subgid", .accounts = "/etc/group", .kind = "group", .self = p->user.gid }
	};
	int has[ARRAY_SIZE(files)] = { 0 }, r = 0;
	uint64_t start = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(files); i++) {
		r = setup_subid_load(&files[i], f);
		if (r == 0)
			r = has[i] = setup_subid_check(&files[i], p->user.name, p->user.uid, f);
	}
	if (r >= 0)
		r = has[0] && has[1] ? 0 : find_free(files, &start, f);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (r == 0)
			r = has[i] ? plan_recorded(p, &files[i], f) : plan_range(p, &files[i], start, f);
		setup_subid_done(&files[i]);
	}
	return r;
}

/* 1 and the value; 0: this kernel has no such file. */
static int read_sysctl(const char *path, char value[32])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, value, 31);

	if (n < 0)
		return 0;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return 1;
}

/* Shared by all users: the setup of a later user needs it too. */
static int plan_sysctl(struct setup_plan *p, const char *key, const char *value, struct fault *f)
{
	char path[96], file[128], text[160], now[32], *c;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/sys/%s", key);
	(void)snprintf(file, sizeof(file), SYSCTL_DIR "/60-custody-%s.conf", strrchr(key, '/') + 1);
	(void)snprintf(text, sizeof(text), "%s = %s\n", key, value);
	c = strchr(text, '/');
	*c = '.';
	if (!read_sysctl(path, now))
		return 0;
	if (!str_eq(now, "0")) {
		r = setup_list_has_path(&p->record.changes, file)
			    ? 1
			    : setup_record_shares(p->dir, p->user.uid, file, f);
		if (r <= 0)
			return r;
	}
	r = need(p, SETUP_FILE, file, text, "", f);
	return r < 0 ? r : need(p, SETUP_SYSCTL, path, value, "0", f);
}

/* As distributions do for the programs that they ship: the profile confines nothing but allows user namespaces. */
static int plan_apparmor(struct setup_plan *p, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	char now[32];
	int r;

	if (!read_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", now) || !str_eq(now, "1"))
		return 0;
	r = setup_require_program(p->program, f);
	if (r < 0)
		return r;
	if (asprintf(&text, "abi <abi/4.0>,\n\nprofile custody-setup %s flags=(unconfined) {\n  userns,\n}\n",
		     p->program) < 0) {
		text = NULL;
		return fault_errno(f, ENOMEM, "setup");
	}
	return need(p, SETUP_FILE, SETUP_APPARMOR_FILE, text, "", f);
}

static int open_records(struct setup_plan *p, const struct setup_user *user, const char *base, bool dry_run,
			struct fault *f)
{
	p->user = (struct setup_user){ .name = strdup(user->name), .uid = user->uid, .gid = user->gid };
	if (!p->user.name)
		return fault_errno(f, ENOMEM, "setup");
	p->dir = dry_run ? setup_record_look(base, f) : setup_record_open(base, f);
	if (p->dir < 0 && p->dir != -ENOENT)
		return p->dir;
	return setup_record_load(p->dir, user->uid, &p->record, f);
}

int setup_plan_load(const struct setup_user *user, const char *base, bool dry_run, struct setup_plan *ret,
		    struct fault *f)
{
	*ret = SETUP_PLAN_NONE;
	return open_records(ret, user, base, dry_run, f);
}

int setup_plan_make(const struct setup_user *user, const char *base, const char *program, bool dry_run,
		    struct setup_plan *ret, struct fault *f)
{
	int r;

	*ret = SETUP_PLAN_NONE;
	ret->program = program;
	r = setup_require_user(user, f);
	if (r == 0)
		r = open_records(ret, user, base, dry_run, f);
	if (r == 0)
		r = plan_subids(ret, f);
	if (r == 0)
		r = plan_sysctl(ret, "user/max_user_namespaces", USER_NAMESPACES, f);
	if (r == 0)
		r = plan_sysctl(ret, "kernel/unprivileged_userns_clone", "1", f);
	if (r == 0)
		r = plan_apparmor(ret, f);
	return r < 0 ? r : plan_cgroups(ret, f);
}

void setup_plan_done(struct setup_plan *p)
{
	p->dir = fd_close(p->dir);
	free(p->user.name);
	setup_record_done(&p->record);
	setup_list_done(&p->changes);
	strv_free(p->notes);
	*p = SETUP_PLAN_NONE;
}
