/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/seam.h"
#include "setup/setup-cgroup.h"

/* The first of PATHS that is a program, with WORDS behind it; RET_NAME for messages. */
static int call(const char *const *paths, const char *const *words, struct fault *f)
{
	static char *const env[] = {
		(char *)"LC_ALL=C",
		(char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL
	};
	char *argv[6] = { NULL };
	int status = 0, r;
	pid_t pid;

	while (*paths && access(*paths, X_OK) < 0)
		paths++;
	if (!*paths)
		return fault_set(f, ENOENT, "'%s' is missing", paths[-1]);
	argv[0] = (char *)*paths;
	for (size_t i = 0; words[i] && i + 2 < ARRAY_SIZE(argv); i++)
		argv[i + 1] = (char *)words[i];
	r = posix_spawn(&pid, argv[0], NULL, NULL, argv, env);
	if (r != 0)
		return fault_errno(f, r, "start '%s'", argv[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return fault_set(f, EIO, "'%s %s' failed: repair that, then repeat this command", argv[0],
				 words[0]);
	return 0;
}

static int reload_systemd(struct fault *f)
{
	static const char *const paths[] = { "/usr/bin/systemctl", "/bin/systemctl", NULL };
	static const char *const words[] = { "daemon-reload", NULL };

	return call(paths, words, f);
}

/* -r: load, -R: unload */
static int load_apparmor(const char *option, struct fault *f)
{
	static const char *const paths[] = { "/usr/sbin/apparmor_parser", "/sbin/apparmor_parser", NULL };
	const char *const words[] = { option, SETUP_APPARMOR_FILE, NULL };

	return call(paths, words, f);
}

static bool has_unit(const struct setup_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_starts(l->items[i].path, SETUP_UNIT_DIR "/"))
			return true;
	return false;
}

/* The record is on the disk before the first change, with those of earlier, interrupted setups. */
static int record(struct setup_plan *p, struct fault *f)
{
	for (size_t i = 0; i < p->changes.n; i++) {
		int r = setup_list_find(&p->record.changes, &p->changes.items[i])
				? 0
				: setup_list_add(&p->record.changes, &p->changes.items[i], f);

		if (r < 0)
			return r;
	}
	if (p->record.changes.n == 0)
		return 0;
	p->record.user.uid = p->user.uid;
	/* The uid may have been another user's. */
	free(p->record.user.name);
	p->record.user.name = strdup(p->user.name);
	if (!p->record.user.name)
		return fault_errno(f, ENOMEM, "setup");
	return setup_record_save(p->dir, &p->record, f);
}

int setup_apply(struct setup_plan *p, struct fault *f)
{
	int r = record(p, f);

	for (size_t i = 0; r == 0 && i < p->changes.n; i++) {
		struct setup_change *c = &p->changes.items[i];

		if (!c->done)
			r = setup_change_make(c, &p->user, f);
		if (r == 0 && c->kind == SETUP_CGROUP)
			r = setup_cgroup_enter(c, &p->user, f);
	}
	/* Also when the files were there: an earlier setup may have been interrupted before this. */
	if (r == 0 && has_unit(&p->changes))
		r = reload_systemd(f);
	if (r == 0 && setup_list_has_path(&p->changes, SETUP_APPARMOR_FILE))
		r = load_apparmor("-r", f);
	return r;
}

int setup_is_shared(const struct setup_plan *p, const struct setup_change *c, struct fault *f)
{
	if (c->kind != SETUP_FILE && c->kind != SETUP_SYSCTL)
		return 0;
	return setup_record_shares(p->dir, p->user.uid, c->path, f);
}

static int undo_one(const struct setup_plan *p, const struct setup_change *c, struct fault *f)
{
	int r = setup_is_shared(p, c, f);

	if (r != 0)
		return r < 0 ? r : 0;
	/* One that the administrator changed stays, and stays loaded. */
	if (str_eq(c->path, SETUP_APPARMOR_FILE))
		r = setup_change_is_made(c, &p->user, f);
	if (r > 0)
		r = load_apparmor("-R", f);
	return r < 0 ? r : setup_change_undo(c, &p->user, f);
}

/* In reverse order; one that fails stays in the record, and the others are undone all the same. */
int setup_undo(struct setup_plan *p, char ***ret_left, struct fault *f)
{
	_cleanup_setup_record_ struct setup_record left = { .user.uid = p->user.uid };
	const bool unit = has_unit(&p->record.changes);
	int r = 0;

	left.user.name = strdup(p->user.name);
	if (!left.user.name)
		return fault_errno(f, ENOMEM, "setup");
	for (size_t i = p->record.changes.n; r == 0 && i-- > 0;) {
		const struct setup_change *c = &p->record.changes.items[i];
		_cleanup_fault_ struct fault why = { 0 };

		if (undo_one(p, c, &why) == 0) {
			/* It has one of the others. */
			if (c->kind == SETUP_DIRECTORY && left.changes.n && access(c->path, F_OK) == 0)
				r = setup_list_add(&left.changes, c, f);
			continue;
		}
		r = strv_append(ret_left, fault_text(&why)) < 0 ? fault_errno(f, ENOMEM, "setup")
								: setup_list_add(&left.changes, c, f);
	}
	if (r == 0 && unit)
		r = reload_systemd(f);
	if (r < 0)
		return r;
	return left.changes.n ? setup_record_save(p->dir, &left, f)
			      : setup_record_remove(p->dir, p->user.uid, f);
}
