/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-export.h"

#include <errno.h>
#include <string.h>

#include "ledger/ledger-export-impl.h"
#include "ledger/ledger-lines.h"

static void put_jsonl(const struct record *r, struct strbuf *b)
{
	strbuf_add(b, r->line, r->len);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*put)(const struct record *r, struct strbuf *b);
} formats[_EXPORT_FORMAT_MAX] = {
	[EXPORT_JSONL] = { "jsonl",     put_jsonl },
	[EXPORT_OCSF]  = { "ocsf",      export_put_ocsf },
	[EXPORT_CEF]   = { "cef",       export_put_cef },
	[EXPORT_OTLP]  = { "otlp-json", export_put_otlp },
};
/* clang-format on */

enum export_format export_format_parse(const char *name)
{
	for (int i = EXPORT_NONE + 1; i < _EXPORT_FORMAT_MAX; i++)
		if (str_eq(name, formats[i].name))
			return (enum export_format)i;
	return EXPORT_NONE;
}

void export_record(enum export_format format, const struct record *r, struct strbuf *out)
{
	formats[format].put(r, out);
}

struct walk {
	const struct export_options *o;
	const struct ledger_lines *lines;
	const struct seal *seal; /* NULL: none */
	struct export_result result;
	bool begun;
	struct digest head;
	struct strbuf out; /* one line, its room is used again */
	struct fault *f;
	int error;
};

/* Without the record before it only the first of a ledger has a known prev. */
static const char *begin(struct walk *w, const struct record *r)
{
	if (r->seq > w->o->from)
		return "the records before it are missing";
	if (r->seq > 0)
		record_prev(r, &w->head);
	w->begun = true;
	w->result.next = r->seq;
	return NULL;
}

static const char *check_place(struct walk *w, const struct record *r)
{
	const char *why = w->begun ? NULL : begin(w, r);

	if (why)
		return why;
	if (!record_hash_verify(r))
		return "wrong hash";
	if (r->seq != w->result.next)
		return "unexpected seq";
	if (!record_prev_is(r, &w->head))
		return "prev is not the hash of the previous record";
	return NULL;
}

static const char *check(struct walk *w, const struct record *r)
{
	const char *why = w->lines->damaged > 0 ? "not a record" : check_place(w, r);
	struct digest head;

	if (why)
		return why;
	record_head(r, &head);
	if (w->seal && r->seq + 1 == w->seal->index && memcmp(&w->seal->head, &head, sizeof(head)) != 0)
		return "differs from the last sealed record: rewritten here or before";
	w->head = head;
	w->result.next = r->seq + 1;
	return NULL;
}

static int take(const struct record *r, void *arg)
{
	struct walk *w = arg;

	w->result.why = check(w, r);
	if (w->result.why)
		return 1;
	if (r->seq < w->o->from || (w->o->want && !w->o->want(w->o->arg, r)))
		return 0;
	w->out.len = 0;
	export_record(w->o->format, r, &w->out);
	if (w->out.broken)
		return -ENOMEM;
	w->error = w->o->put(w->o->arg, w->out.text, w->out.len, w->f);
	w->result.exported += w->error == 0;
	return w->error == 0 ? 0 : 1;
}

static const char *check_end(const struct walk *w, const struct ledger_lines *l)
{
	if (l->damaged > 0)
		return "not a record";
	if (l->carried > 0)
		return "the last record is incomplete";
	if (w->seal && w->result.next < w->seal->index)
		return "missing, but the seal covers it";
	return NULL;
}

int ledger_export(struct ledger_reader *s, const struct export_options *o, struct export_result *ret,
		  struct fault *f)
{
	struct walk w = { .o = o, .seal = s->has_seal ? &s->seal : NULL, .f = f };
	struct ledger_lines l = { .each = take, .arg = &w };
	int r;

	w.lines = &l;
	ledger_reader_skip_to(s, o->from);
	r = ledger_lines_read(s, &l, f);
	if (r == 0 && w.error == 0 && !w.result.why)
		w.result.why = check_end(&w, &l);
	ledger_lines_done(&l);
	strbuf_done(&w.out);
	if (r < 0 || w.error < 0)
		return r < 0 ? r : w.error;
	*ret = w.result;
	return 0;
}
