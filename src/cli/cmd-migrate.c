/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"
#include "state/migrate.h"

static void print_item(const struct migrate_item *i)
{
	_cleanup_free_ char *from = str_escape(i->from), *to = i->to ? str_escape(i->to) : NULL;
	_cleanup_free_ char *why = i->why ? str_escape(i->why) : NULL;

	printf("%-8s %s", migrate_action_name(i->action), from ? from : "?");
	if (to)
		printf(" -> %s", to);
	if (why)
		printf(": %s", why);
	putchar('\n');
}

static void print_end(const struct migrate_plan *p, bool applied)
{
	size_t n = migrate_count(p, MIGRATE_MOVE) + migrate_count(p, MIGRATE_POINT);
	_cleanup_free_ char *dir = str_escape(p->dir);

	if (p->n == 0)
		printf("nothing to migrate in '%s'\n", dir ? dir : "?");
	else
		printf("%zu %s, %zu left, %zu in conflict%s\n", n, applied ? "migrated" : "to migrate",
		       migrate_count(p, MIGRATE_LEAVE), migrate_count(p, MIGRATE_CONFLICT),
		       applied || n == 0 ? "" : "; nothing was written: run custody migrate --apply");
}

static int print_json(const struct migrate_plan *p, bool applied, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = migrate_describe(p, applied);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = jdoc_write(d, JDOC_PRETTY, &text, f);

	if (r == 0)
		(void)fputs(text.text, stdout);
	return r;
}

/* Entries of prod change its state: both keys, as for every command that does. */
static int apply(const struct command_call *c, struct migrate_plan *p, struct fault *f)
{
	const struct lane_ask ask = { .lane = LANE_PROD,
				      .allow_prod = c->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV),
				      .program = program_invocation_name,
				      .argv = c->words,
				      .changes_state = true,
				      .no_lane_option = true };
	const struct ledger_run run = { .action = "migrate", .lane = lane_name(LANE_PROD), .argv = c->words };
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	int r = migrate_has_work(p, LANE_PROD) ? lane_gate(&ask, &pass, f) : 0;

	return r < 0 ? r : migrate_apply(p, pass, &run, f);
}

int cmd_migrate(struct command_call *c, struct fault *f)
{
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };
	_cleanup_dirs_ struct dirs d = { 0 };
	const char *dir = c->args[0];
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	if (dir && dir[0] != '/')
		return dispatch_usage(c, "'%s' is not an absolute path: pointers hold absolute paths", dir);
	r = dirs_load(&d, f);
	if (r == 0)
		r = migrate_plan(dir ? dir : d.base, &p, f);
	if (r == -ENOENT && !dir && !p.dir) {
		printf("nothing to migrate: '%s' does not exist\n", d.base);
		return STATUS_OK;
	}
	if (r == 0 && c->apply)
		r = apply(c, &p, f);
	if (r < 0)
		return r;
	if (c->json) {
		r = print_json(&p, c->apply, f);
	} else {
		for (size_t i = 0; i < p.n; i++)
			print_item(&p.items[i]);
		print_end(&p, c->apply);
	}
	if (r < 0)
		return r;
	return migrate_count(&p, MIGRATE_CONFLICT) ? STATUS_NO : STATUS_OK;
}
