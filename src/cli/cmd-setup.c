/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "run/run-limits.h"
#include "base/exit-status.h"
#include "setup/setup.h"
#include "state/passwd.h"

static int require_root(const struct command_call *c, struct fault *f)
{
	_cleanup_free_ char *program = run_limits_program();
	_cleanup_strbuf_ struct strbuf line = { 0 }, shown = { 0 };

	if (geteuid() == 0)
		return 0;
	strbuf_puts(&line, "sudo ");
	strbuf_put_word(&line, program ? program : PACKAGE_NAME);
	for (char *const *word = c->words; *word; word++) {
		strbuf_putc(&line, ' ');
		strbuf_put_word(&line, *word);
	}
	strbuf_put_command(&shown, line.text ? line.text : "");
	if (line.broken || shown.broken)
		return fault_errno(f, ENOMEM, "setup");
	return fault_set(f, EPERM, "only root may change the host for a user: %s", shown.text);
}

/* By name, or by number for a user whom /etc/passwd does not have; RECORD -EBADF: none is looked at. */
static int find_user(const char *word, const char *base, bool removes, struct setup_user *ret,
		     struct fault *f)
{
	_cleanup_passwd_entry_ struct passwd_entry e = { 0 };
	_cleanup_free_ char *shown = str_escape(word);
	uint64_t number = UINT64_MAX;
	int r = passwd_find(word, 0, &e);

	if (r == 0 && str_to_u64(word, &number) == 0 && number < UINT32_MAX)
		r = passwd_find(NULL, (uid_t)number, &e);
	if (r > 0)
		*ret = (struct setup_user){ .name = TAKE_PTR(e.name), .uid = e.uid, .gid = e.gid };
	else if (r == 0 && number < UINT32_MAX) {
		/* Not WORD, which may have zeros in front. */
		*ret = (struct setup_user){ .uid = (uid_t)number, .gid = (gid_t)number };
		if (asprintf(&ret->name, "%u", (unsigned int)number) < 0)
			ret->name = NULL;
		r = ret->name ? 0 : -ENOMEM;
	} else if (r == 0 && removes) {
		_cleanup_close_ int dir = setup_record_look(base, f);

		if (dir < 0 && dir != -ENOENT)
			return dir;
		r = setup_record_find(dir, word, &ret->uid, f);
		ret->name = r > 0 ? strdup(word) : NULL;
	}
	if (r >= 0 && !ret->name)
		return fault_set(f, ENOENT, "no user '%s' in /etc/passwd", shown ? shown : "?");
	if (r >= 0 && ret->uid == 0)
		return fault_set(f, EINVAL,
				 "root needs no setup: runs of root have their own cgroups and ids");
	return r < 0 && !f->text ? fault_errno(f, -r, "setup") : r < 0 ? r : 0;
}

static void print_text(const char *text, const char *prefix)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, len), *shown = line ? str_escape(line) : NULL;

		printf("%s%s\n", prefix, shown ? shown : "?");
		text += len + (text[len] == '\n');
	}
}

static void print_change(const struct setup_change *c, bool undo)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	setup_change_describe(c, undo, &text);
	print_text(text.text ? text.text : "out of memory", "");
}

static int set_up(const struct command_call *c, const struct setup_user *u, const struct dirs *d,
		  struct fault *f)
{
	_cleanup_free_ char *program = run_limits_find_program();
	_cleanup_setup_plan_ struct setup_plan p = SETUP_PLAN_NONE;
	size_t todo = 0;
	int r = setup_plan_make(u, d->base, program ? program : PACKAGE_NAME, c->dry_run, &p, f);

	if (r < 0)
		return r;
	for (size_t i = 0; i < p.changes.n; i++) {
		if (!p.changes.items[i].done)
			print_change(&p.changes.items[i], false);
		todo += !p.changes.items[i].done;
	}
	if (!c->dry_run)
		r = setup_apply(&p, f);
	if (r < 0)
		return r;
	for (char **n = p.notes; n && *n; n++)
		print_text(*n, "note: ");
	if (todo == 0)
		printf("everything is set up for '%s'\n", u->name);
	else
		printf("%s\n", c->dry_run ? "nothing was changed (--dry-run)"
					  : "done; to undo it: custody setup --remove");
	return STATUS_OK;
}

static int undo(const struct command_call *c, const struct setup_user *u, const struct dirs *d,
		struct fault *f)
{
	_cleanup_setup_plan_ struct setup_plan p = SETUP_PLAN_NONE;
	_cleanup_strv_ char **left = NULL;
	int r = setup_plan_load(u, d->base, c->dry_run, &p, f);

	if (r < 0)
		return r;
	if (p.record.changes.n == 0) {
		printf("nothing to undo: no record of a setup for '%s'\n", u->name);
		return STATUS_OK;
	}
	for (size_t i = p.record.changes.n; i-- > 0;) {
		const struct setup_change *change = &p.record.changes.items[i];

		r = setup_is_shared(&p, change, f);
		if (r < 0)
			return r;
		if (r > 0)
			printf("%s: stays, for another user\n", change->path);
		else
			print_change(change, true);
	}
	if (c->dry_run) {
		printf("nothing was changed (--dry-run)\n");
		return STATUS_OK;
	}
	r = setup_undo(&p, &left, f);
	if (r < 0)
		return r;
	for (char **line = left; line && *line; line++)
		log_error("%s", *line);
	printf("%s\n", left ? "the rest is undone" : "done");
	return left ? STATUS_NO : STATUS_OK;
}

int cmd_setup(struct command_call *c, struct fault *f)
{
	struct setup_user user = { 0 };
	_cleanup_dirs_ struct dirs d = { 0 };
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	r = require_root(c, f);
	if (r == 0)
		r = dirs_load(&d, f);
	if (r == 0)
		r = find_user(c->args[0], d.base, c->rm, &user, f);
	if (r == 0)
		r = c->rm ? undo(c, &user, &d, f) : set_up(c, &user, &d, f);
	free(user.name);
	return r;
}
