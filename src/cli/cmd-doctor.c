/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "doctor/doctor-canary.h"
#include "doctor/doctor-engine.h"
#include "doctor/doctor-host.h"
#include "config/config.h"
#include "base/exit-status.h"

#define TEXT_COLUMNS 110
#define TEXT_INDENT 38

/* Wrapped at blanks; continuation lines are indented. */
static void print_wrapped(const char *text, int indent)
{
	int column = indent;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > indent && column + (int)n >= TEXT_COLUMNS) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)n, text);
		column += (int)n;
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}

static void print_check(const struct doctor_check *c)
{
	_cleanup_free_ char *text = str_escape(c->text), *lines = c->remedy ? strdup(c->remedy) : NULL;
	char *rest = lines, *line;

	printf("%-8s %-28s ", doctor_state_name(c->state), c->id);
	print_wrapped(text ? text : "?", TEXT_INDENT);
	while ((line = strsep(&rest, "\n"))) {
		_cleanup_free_ char *remedy = str_escape(line);

		printf("%*s-> ", TEXT_INDENT, "");
		print_wrapped(remedy ? remedy : "?", TEXT_INDENT + 3);
	}
}

/* HOLDS: last line if no check failed. */
static int print_report(const struct doctor_report *r, const char *holds, struct fault *f)
{
	size_t bad = 0;

	if (r->broken)
		return fault_errno(f, ENOMEM, "doctor");
	for (size_t i = 0; i < r->n_checks; i++) {
		print_check(&r->checks[i]);
		bad += r->checks[i].severity == DOCTOR_ERROR;
	}
	if (bad)
		printf("\n%zu of %zu checks failed; custody doctor --explain ID describes one\n", bad,
		       r->n_checks);
	else
		printf("\n%s\n", holds);
	return 0;
}

static int print_json(const struct doctor_report *r, const struct dirs *dirs, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int e;

	e = doctor_describe(r, &d, f);
	if (e == 0)
		doctor_describe_config(d, dirs);
	if (e == 0)
		e = jdoc_write(d, JDOC_PRETTY, &text, f);
	if (e < 0)
		return e;
	(void)fputs(text.text, stdout);
	return 0;
}

static int explain(const char *id, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = doctor_explain(id, &text, f);

	if (r < 0)
		return r;
	(void)puts(text);
	return 0;
}

static int print_schema(struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = config_schema();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = jdoc_write(d, JDOC_PRETTY, &text, f);

	if (r == 0)
		(void)fputs(text.text, stdout);
	return r;
}

static int check_host(struct doctor_report *report, const struct dirs *dirs, const char *profile,
		      struct fault *f)
{
	doctor_check_kernel(report, dirs);
	doctor_check_cgroups(report);
	doctor_check_files(report, dirs);
	doctor_check_libcrun(report);
	doctor_check_config(report, dirs);
	doctor_check_approval(report, dirs);
	doctor_check_ledger(report, dirs);
	doctor_check_evidence(report, dirs);
	return doctor_run_canary(dirs, profile ? profile : "offline", report, f);
}

int cmd_doctor(struct command_call *c, struct fault *f)
{
	_cleanup_doctor_ struct doctor_report report = { 0 };
	_cleanup_dirs_ struct dirs dirs = { 0 };
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	if (c->explain) {
		r = explain(c->explain, f);
		return r < 0 ? dispatch_usage(c, "%s", fault_text(f)) : STATUS_OK;
	}
	if (c->schema)
		return print_schema(f);
	r = dirs_load(&dirs, f);
	if (r < 0)
		return r;
	if (c->engine)
		doctor_check_engine(&report, &dirs, c->engine);
	else
		r = check_host(&report, &dirs, c->profile, f);
	if (r < 0)
		return r;
	r = c->json ? print_json(&report, &dirs, f)
		    : print_report(&report,
				   c->engine ? "the engine knows custody-runtime"
					     : "every required layer holds",
				   f);
	if (r < 0)
		return r;
	return doctor_has_errors(&report) ? STATUS_NO : STATUS_OK;
}
