/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "layer/inherit-table.h"
#include "tap.h"

/*
 * The table of inherited attributes: each row has a test, and docs/design/layers.md prints it.
 * `test-inherit-table --write` replaces the table in that page.
 */

#define PAGE "docs/design/layers.md"
#define BEGIN "<!-- inherit: written by tests/unit/test-inherit-table --write; do not edit -->\n"
#define END "<!-- /inherit -->\n"

static char *read_file(const char *name)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *dir = getenv("SRCDIR");
	char path[4096], block[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		strbuf_add(&b, block, n);
	(void)fclose(f);
	return strbuf_take(&b);
}

static char *make_table(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, BEGIN "| inherited | set by | layer | known by |\n|---|---|---|---|\n");
	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		const struct inherit_info *row = inherit_info((enum inherit)i);

		strbuf_printf(&b, "| %s | %s | %s | %s |\n", row->name, row->set_by,
			      row->layer == INHERIT_UNPROVEN ? "not proven"
							     : layer_info((enum layer)row->layer)->name,
			      row->known);
	}
	strbuf_puts(&b, END);
	return strbuf_take(&b);
}

static void every_row_is_filled(void)
{
	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		const struct inherit_info *row = inherit_info((enum inherit)i);

		if (!row->name || !row->set_by || !row->known || !row->test)
			printf("# row %u\n", i);
		CHECK(row->name && row->set_by && row->known && row->test);
		CHECK(row->layer >= INHERIT_UNPROVEN && row->layer < LAYER_MEMORY_LIMIT);
	}
}

/* FILE:TEXT: in C the test is listed in TAP_MAIN, in bats TEXT is part of its name. */
static bool has_test(const char *where)
{
	const char *colon = strchr(where, ':');
	_cleanup_free_ char *file = colon ? strndup(where, (size_t)(colon - where)) : NULL;
	_cleanup_free_ char *text = file ? read_file(file) : NULL;
	char want[256];

	if (!text)
		return false;
	if (strstr(file, ".bats")) {
		for (char *at = strstr(text, "@test "); at; at = strstr(at + 1, "@test ")) {
			char *end = strchr(at, '\n'), *found = strstr(at, colon + 1);

			if (found && end && found < end)
				return true;
		}
		return false;
	}
	snprintf(want, sizeof(want), "T(%s)", colon + 1);
	return strstr(text, want) != NULL;
}

static void every_row_has_a_test(void)
{
	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		const struct inherit_info *row = inherit_info((enum inherit)i);

		if (!has_test(row->test))
			printf("# %s: no test '%s'\n", row->name, row->test);
		CHECK(has_test(row->test));
	}
	CHECK(!has_test("tests/unit/test-init-run.c:no_such_test") && !has_test("no-such-file.c:x") &&
	      !has_test(""));
}

static void the_page_prints_the_table(void)
{
	_cleanup_free_ char *page = read_file(PAGE), *table = make_table();

	CHECK(page && table);
	if (!strstr(page, table))
		printf("# " PAGE " differs: run tests/unit/test-inherit-table --write\n");
	CHECK(strstr(page, table));
}

/* Rows of process-state have a check; each of the others is another layer's, or not proven. */
static void exactly_the_rows_of_process_state_are_checked(void)
{
	const struct inherit_asked asked = { 0 };

	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		long long value;
		const char *wrong = inherit_check((enum inherit)i, "", &asked, &value);
		bool checked = !wrong || strcmp(wrong, "no check for this attribute") != 0;

		CHECK(checked == (inherit_is_checked((enum inherit)i, INHERIT_BY_INIT) ||
				  inherit_is_checked((enum inherit)i, INHERIT_BY_COMMAND)));
		/* What no check finds, the supervisor compares; nothing is left to the word of a party. */
		CHECK(checked || inherit_is_checked((enum inherit)i, INHERIT_BY_SUPERVISOR) ||
		      (inherit_info((enum inherit)i)->layer != LAYER_PROCESS &&
		       inherit_info((enum inherit)i)->layer != INHERIT_UNPROVEN));
	}
}

static int write_page(void)
{
	_cleanup_free_ char *page = read_file(PAGE), *table = make_table();
	char *begin = page ? strstr(page, BEGIN) : NULL, *end = begin ? strstr(begin, END) : NULL;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/" PAGE, getenv("SRCDIR") ? getenv("SRCDIR") : ".");
	f = end && table ? fopen(path, "we") : NULL;
	if (!f)
		return 1;
	fwrite(page, 1, (size_t)(begin - page), f);
	fputs(table, f);
	fputs(end + strlen(END), f);
	return fclose(f) == 0 ? 0 : 1;
}

int run_tests(void);
#define main run_tests
TAP_MAIN(T(every_row_is_filled), T(every_row_has_a_test), T(the_page_prints_the_table),
	 T(exactly_the_rows_of_process_state_are_checked))
#undef main

int main(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "--write") == 0 ? write_page() : run_tests();
}
