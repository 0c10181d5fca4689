/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/output.h"
#include "cli/cmd-ledger.h"
#include "cli/record-print.h"
#include "base/exit-status.h"
#include "ledger/ledger-lines.h"
#include "ledger/ledger-peer-sink.h"
#include "ledger/ledger-peer.h"

struct printing {
	const struct ledger_filter *filter;
	FILE *out;
	enum { PEOPLE, JSON } how;
	struct record_print people;
	uint64_t n;
};

static int print_one(const struct record *r, void *arg)
{
	struct printing *p = arg;

	if (!ledger_filter_has(p->filter, r))
		return 0;
	if (p->how == PEOPLE) {
		record_print_put(&p->people, r);
	} else {
		fprintf(p->out, "%s\n    ", p->n > 0 ? "," : "");
		(void)fwrite(r->line, 1, r->len - 1, p->out);
	}
	p->n++;
	return ferror(p->out) ? 1 : 0;
}

int ledger_report_damage(const struct ledger_lines *l)
{
	if (l->damaged == 0)
		return STATUS_OK;
	fprintf(stderr,
		PACKAGE_NAME " ledger: %" PRIu64
			     " lines are not records; 'custody ledger verify' lists them\n",
		l->damaged);
	return STATUS_NO;
}

static int print_records(const struct command_call *c, const struct ledger_filter *x, struct printing *p,
			 struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	struct ledger_lines l = { .each = print_one, .arg = p };
	int r;

	p->filter = x;
	r = ledger_open_reader(c, &s, f);
	if (r < 0)
		return r;
	if (p->how == PEOPLE)
		record_print_init(&p->people, false, p->out);
	if (p->how == JSON)
		fprintf(p->out, "{\n  \"schema_version\": 1,\n  \"records\": [");
	r = ledger_lines_read(&s, &l, f);
	if (p->how == JSON)
		fprintf(p->out, "%s]\n}\n", p->n > 0 ? "\n  " : "");
	if (p->how == PEOPLE) {
		table_end(&p->people.table, NULL);
		table_done(&p->people.table);
	}
	ledger_lines_done(&l);
	return r < 0 ? r : ledger_report_damage(&l);
}

static int print_key(const struct command_call *c, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	int r;

	r = ledger_open_reader(c, &s, f);
	if (r < 0)
		return r;
	if (!s.public)
		return fault_set(f, ENOENT, "no public key beside the records");
	if (!c->json) {
		puts(s.public);
		return STATUS_OK;
	}
	d = jdoc_new_object();
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(d, "public", s.public);
	r = output_print(d, f);
	return r < 0 ? r : STATUS_OK;
}

static int describe_peer(const struct command_call *c, const struct peer *p, struct jdoc *list, FILE *out,
			 struct fault *f)
{
	struct peer_state st;
	struct jdoc *d;
	int r;

	r = peer_state(c->dirs.state, p, &st, f);
	if (r < 0)
		return r;
	if (!list) {
		_cleanup_free_ char *error = str_escape(st.error), *path = str_escape(p->path);
		_cleanup_strbuf_ struct strbuf lost = { 0 };

		if (st.lost > 0)
			strbuf_printf(&lost, ", %" PRIu64 " lost", st.lost);
		fprintf(out, "%-16s %-6s %-11s %" PRIu64 " records behind%s%s%s (%s)\n", p->name,
			sink_of(p->type)->name, p->records ? "records" : "checkpoints", st.behind,
			lost.text ? lost.text : "", st.error[0] ? ": " : "", error ? error : "",
			path ? path : "?");
		return 0;
	}
	d = jdoc_append_object(list);
	jdoc_set_string(d, "name", p->name);
	jdoc_set_string(d, "type", sink_of(p->type)->name);
	jdoc_set_string(d, "path", p->path);
	jdoc_set_string(d, "send", p->records ? "records" : "checkpoints");
	jdoc_set_int(d, "sent", (int64_t)st.sent);
	jdoc_set_int(d, "behind", (int64_t)st.behind);
	jdoc_set_int(d, "lost", (int64_t)st.lost);
	jdoc_set_string(d, "error", str_is_utf8(st.error, strlen(st.error)) ? st.error : "?");
	return 0;
}

int ledger_print_peers(const struct command_call *c, FILE *out, struct fault *f)
{
	_cleanup_peers_ struct peers p = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct jdoc *list = NULL;
	int r;

	r = peer_load(c->dirs.state, &p, f);
	if (r < 0)
		return r;
	if (c->json) {
		d = jdoc_new_object();
		jdoc_set_int(d, "schema_version", 1);
		list = jdoc_set_array(d, "peers");
	}
	for (size_t i = 0; i < p.n && r == 0; i++)
		r = describe_peer(c, &p.items[i], list, out, f);
	if (r == 0 && c->json)
		r = output_print(d, f);
	return r;
}

int ledger_cmd_show(const struct command_call *c, struct fault *f)
{
	struct printing p = { .out = stdout, .how = c->json ? JSON : PEOPLE };
	struct ledger_filter x;
	int r;

	if (c->show_key)
		return print_key(c, f);
	if (c->peers) {
		r = ledger_print_peers(c, stdout, f);
		return r < 0 ? r : STATUS_OK;
	}
	r = ledger_filter_init(c, &x);
	if (r == 0)
		r = print_records(c, &x, &p, f);
	ledger_filter_done(&x);
	return r;
}
