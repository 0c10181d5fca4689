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

struct doctor_options {
	bool json, schema;
	const char *explain, *profile, *engine;
};

/* "--name VALUE" and "--name=VALUE". */
static int take_value(int argc, char **argv, int *i, const char *name, const char **ret, struct fault *f)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0 || (argv[*i][n] != '\0' && argv[*i][n] != '='))
		return 0;
	if (argv[*i][n] == '=') {
		*ret = argv[*i] + n + 1;
		return 1;
	}
	if (*i + 1 >= argc)
		return fault_set(f, EINVAL, "%s needs a value", name);
	*ret = argv[++*i];
	return 1;
}

static int parse(struct doctor_options *o, int argc, char **argv, struct fault *f)
{
	for (int i = 1; i < argc; i++) {
		_cleanup_free_ char *shown = NULL;
		int r = 0;

		if (strcmp(argv[i], "--json") == 0) {
			o->json = true;
			continue;
		}
		if (strcmp(argv[i], "--config-schema") == 0) {
			o->schema = true;
			continue;
		}
		r = take_value(argc, argv, &i, "--explain", &o->explain, f);
		if (r == 0)
			r = take_value(argc, argv, &i, "--profile", &o->profile, f);
		if (r == 0)
			r = take_value(argc, argv, &i, "--engine", &o->engine, f);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		shown = str_escape(argv[i]);
		return fault_set(
			f, EINVAL,
			"no option '%s'; usage: custody doctor [--json] [--explain ID] [--config-schema] "
			"[--profile PROFILE | --engine ENGINE]",
			shown ? shown : "?");
	}
	if (o->engine && o->profile)
		return fault_set(
			f, EINVAL,
			"--engine looks at files of an engine, --profile runs a container: one of them");
	return 0;
}

/* Wrapped at blanks, continued below where it began. */
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
	_cleanup_free_ char *text = str_escape(c->text), *remedy = c->remedy ? str_escape(c->remedy) : NULL;

	printf("%-8s %-28s ", doctor_state_name(c->state), c->id);
	print_wrapped(text ? text : "?", TEXT_INDENT);
	if (!remedy)
		return;
	printf("%*s-> ", TEXT_INDENT, "");
	print_wrapped(remedy, TEXT_INDENT + 3);
}

/* HOLDS: what it means that no check failed. */
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
		printf("\n%zu of %zu checks failed; custody doctor --explain ID says more about one\n", bad,
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

int cmd_doctor(int argc, char **argv, struct fault *f)
{
	_cleanup_doctor_ struct doctor_report report = { 0 };
	_cleanup_dirs_ struct dirs dirs = { 0 };
	struct doctor_options o = { 0 };
	int r;

	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	r = parse(&o, argc, argv, f);
	if (r == 0 && o.engine)
		r = doctor_require_engine(o.engine, f);
	if (r == 0 && o.explain)
		r = explain(o.explain, f);
	if (r < 0) {
		log_init(PACKAGE_NAME " doctor", LOG_LEVEL_INFO);
		log_error("%s", fault_text(f));
		return STATUS_USAGE;
	}
	if (o.explain)
		return STATUS_OK;
	if (o.schema)
		return print_schema(f);
	r = dirs_load(&dirs, f);
	if (r < 0)
		return r;
	if (o.engine)
		doctor_check_engine(&report, &dirs, o.engine);
	else
		r = check_host(&report, &dirs, o.profile, f);
	if (r < 0)
		return r;
	r = o.json ? print_json(&report, &dirs, f)
		   : print_report(
			     &report,
			     o.engine ? "the engine knows custody-runtime" : "every required layer holds", f);
	if (r < 0)
		return r;
	return doctor_has_errors(&report) ? STATUS_NO : STATUS_OK;
}
