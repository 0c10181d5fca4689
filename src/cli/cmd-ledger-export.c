/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cmd-ledger.h"
#include "ledger/ledger-export.h"

struct output {
	const struct ledger_filter *filter;
	FILE *out;
};

int cmd_ledger_require_format(const char *value, struct fault *f)
{
	_cleanup_free_ char *shown = str_escape(value);

	if (export_format_parse(value) != EXPORT_NONE)
		return 0;
	return fault_set(f, EINVAL, "no format '%s'; the formats are %s", shown ? shown : "?",
			 EXPORT_FORMATS);
}

static int copy_one(const struct record *r, void *arg)
{
	const struct output *o = arg;

	if (ledger_filter_has(o->filter, r))
		(void)fwrite(r->line, 1, r->len, o->out);
	return ferror(o->out) ? 1 : 0;
}

/* Unverified, also of a damaged ledger. */
static int copy_records(struct ledger_reader *s, struct output *o, struct fault *f)
{
	struct ledger_lines l = { .each = copy_one, .arg = o };
	int r = ledger_lines_read(s, &l, f);

	ledger_lines_done(&l);
	return r < 0 ? r : ledger_report_damage(&l);
}

static bool is_wanted(void *arg, const struct record *r)
{
	const struct output *o = arg;

	return ledger_filter_has(o->filter, r);
}

static int put_line(void *arg, const char *text, size_t len, struct fault *f)
{
	const struct output *o = arg;

	return fwrite(text, 1, len, o->out) == len ? 0 : fault_errno(f, errno, "write the export");
}

static int convert_records(const struct command_call *c, uint64_t from, struct ledger_reader *s,
			   struct output *o, struct fault *f)
{
	const struct export_options options = { .format = export_format_parse(c->format),
						.from = from,
						.want = is_wanted,
						.put = put_line,
						.arg = o };
	struct export_result result;
	int r = ledger_export(s, &options, &result, f);

	if (r < 0)
		return r;
	if (!result.why)
		return STATUS_OK;
	fprintf(stderr,
		PACKAGE_NAME " ledger: stopped at record %" PRIu64 ": %s; exported %" PRIu64
			     " records before it. run 'custody ledger verify' for the cause\n",
		result.next, result.why, result.exported);
	return STATUS_NO;
}

static int write_records(const struct command_call *c, uint64_t from, struct output *o, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	int r = ledger_open_reader(c, &s, f);

	if (r < 0)
		return r;
	r = c->format ? convert_records(c, from, &s, o, f) : copy_records(&s, o, f);
	/* An earlier write may have failed even if the last flush succeeds. */
	if ((fflush(o->out) != 0 || ferror(o->out)) && r >= 0)
		r = fault_set(f, EIO, "cannot write all of '%s'%s: free some space",
			      c->output ? c->output : "stdout", c->output ? ", removed it" : "");
	return r;
}

static int write_file(const struct command_call *c, uint64_t from, struct output *o, struct fault *f)
{
	int fd, r;

	fd = open(c->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", c->output);
	o->out = fdopen(fd, "w");
	if (!o->out) {
		fd_close(fd);
		return fault_errno(f, ENOMEM, "'%s'", c->output);
	}
	r = write_records(c, from, o, f);
	if (fclose(o->out) != 0 && r >= 0)
		r = fault_errno(f, errno, "close '%s'", c->output);
	if (r < 0)
		(void)unlink(c->output);
	return r;
}

/* With --format a number is the seq of the first record: where the last export ended. */
static uint64_t take_seq(struct command_call *c)
{
	uint64_t seq = 0;

	if (c->format && c->since && str_to_u64(c->since, &seq) == 0)
		c->since = NULL;
	return seq;
}

int ledger_cmd_export(const struct command_call *call, struct fault *f)
{
	struct command_call c = *call;
	struct ledger_filter x;
	struct output o = { .filter = &x, .out = stdout };
	uint64_t from = take_seq(&c);
	int r;

	r = ledger_filter_init(&c, &x);
	if (r == 0)
		r = c.output ? write_file(&c, from, &o, f) : write_records(&c, from, &o, f);
	if (r == 0 && x.any && !c.format)
		fprintf(stderr, PACKAGE_NAME
			" ledger: a part of the records; only the whole ledger can be verified\n");
	ledger_filter_done(&x);
	return r;
}
