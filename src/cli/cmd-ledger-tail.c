/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/cmd-ledger.h"
#include "cli/record-print.h"
#include "base/exit-status.h"
#include "ledger/ledger-follow.h"
#include "ledger/ledger-lines.h"

#define LINES_DEFAULT 10

/* Ring buffer of the last N matching records. */
struct last {
	const struct ledger_filter *filter;
	char **lines;
	size_t n, at; /* AT never wraps */
};

static int keep(const struct record *r, void *arg)
{
	struct last *l = arg;
	char *copy;

	if (!ledger_filter_has(l->filter, r) || l->n == 0)
		return 0;
	copy = strndup(r->line, r->len);
	if (!copy)
		return -ENOMEM;
	free(l->lines[l->at % l->n]);
	l->lines[l->at++ % l->n] = copy;
	return 0;
}

/* The table, or with --json the records as they are, one per line. */
struct tail_out {
	const struct ledger_filter *filter;
	struct record_print people;
	bool json;
};

static void print_one(struct tail_out *o, const struct record *r)
{
	if (o->json)
		(void)fwrite(r->line, 1, r->len, stdout);
	else
		record_print_put(&o->people, r);
}

static void print_last(struct tail_out *o, const struct last *l)
{
	size_t have = l->at < l->n ? l->at : l->n;

	for (size_t i = l->at - have; i < l->at; i++) {
		const char *line = l->lines[i % l->n], *why;
		struct record r;

		if (record_parse(line, strlen(line), &r, &why) == 0)
			print_one(o, &r);
	}
}

static int read_last(struct ledger_reader *s, struct last *l, struct fault *f)
{
	struct ledger_lines lines = { .each = keep, .arg = l };
	int r = ledger_lines_read(s, &lines, f);

	ledger_lines_done(&lines);
	return r;
}

static int print_new(const struct record *r, void *arg)
{
	struct tail_out *o = arg;

	if (ledger_filter_has(o->filter, r))
		print_one(o, r);
	return 0;
}

static int flush(void *arg, struct fault *f)
{
	struct tail_out *o = arg;

	table_flush(&o->people.table);
	return fflush(stdout) != 0 ? fault_errno(f, errno, "write to stdout") : 0;
}

static int tail(const struct command_call *c, const struct ledger_filter *x, size_t n, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	struct tail_out o = { .filter = x, .json = c->json };
	struct last l = { .filter = x, .n = n, .lines = calloc(n + 1, sizeof(char *)) };
	int r;

	if (!l.lines)
		return fault_errno(f, ENOMEM, "ledger");
	r = ledger_open_reader(c, &s, f);
	/* The newest segment usually holds enough records. */
	if (r == 0 && !x->any)
		ledger_reader_skip_to(&s, UINT64_MAX);
	if (r == 0)
		r = read_last(&s, &l, f);
	if (r == 0 && l.at < n && !x->any && s.n > 1) {
		l.at = 0;
		ledger_reader_done(&s);
		s = (struct ledger_reader){ .dirfd = -EBADF, .fd = -EBADF };
		r = ledger_open_reader(c, &s, f);
		if (r == 0)
			r = read_last(&s, &l, f);
	}
	record_print_init(&o.people, false, stdout);
	if (r == 0)
		print_last(&o, &l);
	if (r == 0 && !c->follow)
		table_end(&o.people.table, NULL);
	if (r == 0 && c->follow)
		r = ledger_follow(&s,
				  &(struct ledger_follow){ .each = print_new, .caught_up = flush, .arg = &o },
				  c->args[0] ? c->args[0] : c->dirs.state, f);
	for (size_t i = 0; i < n; i++)
		free(l.lines[i]);
	free(l.lines);
	table_done(&o.people.table);
	return r < 0 ? r : STATUS_OK;
}

int ledger_cmd_tail(const struct command_call *c, struct fault *f)
{
	struct ledger_filter x;
	const uint64_t n = c->set_lines ? c->lines : LINES_DEFAULT;
	int r;

	r = ledger_filter_init(c, &x);
	if (r == 0)
		r = tail(c, &x, (size_t)n, f);
	ledger_filter_done(&x);
	return r;
}
