/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "review/reflog.h"
#include "tap.h"

#define OLD "0000000000000000000000000000000000000000"
#define NEW "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
#define LONG NEW "b2b2b2b2b2b2b2b2b2b2b2b2"

static bool is(const struct reflog_span *s, const char *text)
{
	return s->len == strlen(text) && (!s->len || memcmp(s->text, text, s->len) == 0);
}

static void lines_that_git_writes(void)
{
	static const struct {
		const char *line, *new, *name, *action, *subject;
		int64_t time;
	} rows[] = {
		{ OLD " " NEW " A B <a@b.c> 1700000000 +0100\tcommit (initial): One: two", NEW, "A B",
		  "commit (initial)", "One: two", 1700000000 },
		{ LONG " " LONG " A <> 0 -0930\tcheckout: moving from a to b", LONG, "A", "checkout",
		  "moving from a to b", 0 },
		{ OLD " " NEW "  <a@b.c> 1700000000 +0000\tcommit: ", NEW, "", "commit", "", 1700000000 },
		{ OLD " " NEW " A <b <c@d> 12 +0000\tbranch", NEW, "A <b", "branch", "", 12 },
		{ OLD " " NEW " A <a@b.c> 1700000000 +0000", NEW, "A", "", "", 1700000000 },
		{ OLD " " NEW " A <a@b.c> 1 +0000\tcommit: x\ty", NEW, "A", "commit", "x\ty", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct reflog_entry e = { 0 };

		printf("# %s\n", rows[i].line);
		CHECK(reflog_parse(rows[i].line, strlen(rows[i].line), &e) == 0);
		CHECK(is(&e.new, rows[i].new) && is(&e.name, rows[i].name) && is(&e.action, rows[i].action) &&
		      is(&e.subject, rows[i].subject) && e.time == rows[i].time);
	}
}

static void other_lines_are_refused(void)
{
	static const char *const lines[] = {
		"",
		OLD,
		OLD " " NEW,
		OLD " " NEW " ",
		OLD " " NEW " A <a@b.c> 1 +0000 ",
		OLD " " LONG " A <a@b.c> 1 +0000\tcommit: x",
		OLD "  " NEW " A <a@b.c> 1 +0000\tcommit: x",
		OLD "0 " NEW " A <a@b.c> 1 +0000\tcommit: x",
		"0A00000000000000000000000000000000000000 " NEW " A <a@b.c> 1 +0000\tcommit: x",
		OLD " " NEW " A a@b.c> 1 +0000\tcommit: x",
		OLD " " NEW " A <a@b.c 1 +0000\tcommit: x",
		OLD " " NEW " A <a@b.c>1 +0000\tcommit: x",
		OLD " " NEW " A <a@b.c> +0000\tcommit: x",
		OLD " " NEW " A <a@b.c> 1 0000\tcommit: x",
		OLD " " NEW " A <a@b.c> 1 +00x0\tcommit: x",
		OLD " " NEW " A <a@b.c> 1234567890123 +0000\tcommit: x",
		OLD " " NEW " A <a@b.c> 1 +0000\tcommit: x\n",
	};
	struct reflog_entry e;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		printf("# %s\n", lines[i]);
		CHECK(reflog_parse(lines[i], strlen(lines[i]), &e) == -EINVAL);
	}
	CHECK(reflog_parse("a\0b", 3, &e) == -EINVAL);
}

TAP_MAIN(T(lines_that_git_writes), T(other_lines_are_refused))
