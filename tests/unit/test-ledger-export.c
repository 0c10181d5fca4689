/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-export.h"

#include <errno.h>

#include "ledger-fixture.h"
#include "ledger/ledger-export-impl.h"
#include "tap.h"

#define WALL ((uint64_t)1795100346971263) /* 2026-11-19T14:59:06.971263Z */

struct sample {
	const char *kind, *session, *agent, *worker, *status;
	const char *d; /* JSON */
};

/* clang-format off */
static const struct sample samples[] = {
	{ "ledger.open",       NULL,  NULL,    NULL, "ok",       "{\"public\":\"custody/ledger/00+11+22\",\"version\":\"0.1.0\"}" },
	{ "session.intent",    "s-1", "agent", "w",  "ok",       "{\"command\":[\"sh\",\"-c\",\"echo 'it' | cat = \\\\ \\n\",{\"b64\":\"/w==\"},\"\"]}" },
	{ "session.start",     "s-1", "agent", "w",  "ok",       "{\"layers\":[\"seccomp=proven\"],\"pid\":4711}" },
	{ "session.end",       "s-1", "agent", NULL, "abnormal", "{\"code\":137,\"reason\":\"oom\"}" },
	{ "session.refused",   "s-2", NULL,    NULL, "denied",   "{\"refused\":\"policy\",\"why\":\"a=b|c\\\\d\\r\\nnext\"}" },
	{ "pin.result",        NULL,  NULL,    NULL, "denied",   "{\"approver\":\"alice\",\"key_id\":\"12ab\"}" },
	{ "approval.grant",    NULL,  "agent", NULL, "ok",       "{\"approver\":\"alice\",\"grant\":\"feed\"}" },
	{ "evidence.rm",       "s-1", NULL,    NULL, "ok",       "{\"by\":\"b\xc3\xb6" "b\"}" },
	{ "seal.gap",          NULL,  NULL,    NULL, "noted",    "{\"lost\":3}" },
	{ "odd|kind=\\of\nit", "a\"b", "x|y=z\\\n", "\xf0\x9f\x90\xa7\x7f", "p\tq", "{\"nested\":{\"list\":[1,-2,true,null,\"\\\"\"]}}" },
};
/* clang-format on */

static void put_named(struct strbuf *b, const char *key, const char *value)
{
	_cleanup_strbuf_ struct strbuf quoted = { 0 };

	if (!value)
		return;
	jdoc_quote(&quoted, value);
	strbuf_printf(b, "%s\"%s\":", b->len ? "," : "", key);
	record_put_ascii(b, quoted.text, quoted.len);
}

/* One line.  HEAD: of the record before it, then its own.  A writer refuses some of these kinds, a reader does not. */
static bool put_sample(struct strbuf *b, const struct sample *s, uint64_t seq, struct digest *head)
{
	static char line[LEDGER_LINE_MAX];
	_cleanup_strbuf_ struct strbuf body = { 0 }, text = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct record_front front = {
		.seq = seq, .prev = *head, .wall_us = WALL + seq, .boot_ns = 1000 + seq, .boot = "0123abcd"
	};
	size_t len;

	if (jdoc_parse(s->d, strlen(s->d), "sample", NULL, &d, NULL) < 0 ||
	    jdoc_write(d, JDOC_CANONICAL, &text, NULL) < 0)
		return false;
	put_named(&body, "k", s->kind);
	put_named(&body, "session", s->session);
	put_named(&body, "agent", s->agent);
	put_named(&body, "worker", s->worker);
	put_named(&body, "status", s->status);
	strbuf_puts(&body, ",\"d\":");
	record_put_ascii(&body, text.text, text.len);
	len = record_write(line, &front, body.text, body.len, NULL, head);
	strbuf_add(b, line, len);
	return !b->broken;
}

static bool put_samples(struct strbuf *b)
{
	struct digest head = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		if (!put_sample(b, &samples[i], i, &head))
			return false;
	return true;
}

static int keep(void *arg, const char *text, size_t len, struct fault *f)
{
	(void)f;
	strbuf_add(arg, text, len);
	return 0;
}

static bool export_file(const struct place *p, const char *name, const struct export_options *o,
			struct export_result *ret)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	char path[256];

	return place_path(p, name, path) && ledger_reader_open_path(path, &s, NULL) == 0 &&
	       ledger_export(&s, o, ret, NULL) == 0;
}

/* The samples' bytes after the chain was checked. */
static bool export_bytes(const char *bytes, size_t len, enum export_format format, uint64_t from,
			 struct strbuf *out, struct export_result *ret)
{
	_cleanup_place_ struct place p;

	return place_make(&p) && spit(&p, "copy.ndjson", bytes, len) &&
	       export_file(
		       &p, "copy.ndjson",
		       &(struct export_options){ .format = format, .from = from, .put = keep, .arg = out },
		       ret);
}

static char *read_golden(const char *name, size_t *ret_len)
{
	const char *srcdir = getenv("SRCDIR");
	_cleanup_close_ int fd = -EBADF;
	char path[512], *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/tests/data/export/%s", srcdir ? srcdir : ".", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, (size_t)1 << 20, &text, ret_len, NULL) < 0)
		return NULL;
	return text;
}

static bool is_golden(enum export_format format, const char *name)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 }, out = { 0 };
	_cleanup_free_ char *want = NULL;
	struct export_result result;
	size_t len = 0;

	if (!put_samples(&lines) || !export_bytes(lines.text, lines.len, format, 0, &out, &result))
		return false;
	if (result.why || result.exported != ARRAY_SIZE(samples))
		return false;
	want = read_golden(name, &len);
	if (want && len == out.len && memcmp(want, out.text, len) == 0)
		return true;
	printf("# %s should be:\n%s", name, out.text);
	return false;
}

static void DOOR_9_the_lines_of_each_format_are_those_of_the_golden_files(void)
{
	CHECK(is_golden(EXPORT_JSONL, "records.ndjson"));
	CHECK(is_golden(EXPORT_OCSF, "ocsf.ndjson"));
	CHECK(is_golden(EXPORT_CEF, "cef.txt"));
	CHECK(is_golden(EXPORT_OTLP, "otlp.ndjson"));
}

static const struct jdoc *child(const struct jdoc *d, const char *key)
{
	const struct jdoc *v = d ? jdoc_get(d, key) : NULL;

	return v && v->type == JDOC_ARRAY && v->n_items > 0 ? v->items[0] : v;
}

static bool is_ocsf_of(const struct jdoc *d, const struct record *r, const struct export_kind *k)
{
	const struct jdoc *u = child(d, "unmapped"), *m = child(d, "metadata"), *type = child(d, "type_uid");
	const char *h = u ? jdoc_get_string(u, "h") : NULL, *uid = m ? jdoc_get_string(m, "uid") : NULL;

	return h && uid && strncmp(h, r->head, 64) == 0 && strncmp(uid, r->head, 64) == 0 &&
	       child(u, "seq")->integer == (int64_t)r->seq && child(d, "time")->integer > 0 && type &&
	       type->integer == (int64_t)k->class * 100 + k->activity &&
	       child(d, "category_uid")->integer == (int64_t)k->class / 1000 && child(d, "severity_id") &&
	       child(m, "product") && jdoc_get_string(m, "version");
}

static bool exports_everywhere(const struct export_kind *k, const char *status)
{
	const struct sample s = { k->kind ? k->kind : "new.kind",
				  "s",
				  "a",
				  "w",
				  status,
				  "{\"by\":\"b\",\"code\":1,\"command\":[\"x y\"],\"pid\":2,\"why\":\"w\"}" };
	_cleanup_strbuf_ struct strbuf line = { 0 }, out = { 0 }, log = { 0 }, cef = { 0 };
	_cleanup_jdoc_ struct jdoc *ocsf = NULL, *otlp = NULL;
	struct digest head = { 0 };
	struct record r;
	const char *why;

	if (!put_sample(&line, &s, 0, &head) || record_parse(line.text, line.len, &r, &why) < 0)
		return false;
	export_record(EXPORT_OCSF, &r, &out);
	export_record(EXPORT_OTLP, &r, &log);
	export_record(EXPORT_CEF, &r, &cef);
	if (jdoc_parse(out.text, out.len, "ocsf", NULL, &ocsf, NULL) < 0 ||
	    jdoc_parse(log.text, log.len, "otlp", NULL, &otlp, NULL) < 0)
		return false;
	return is_ocsf_of(ocsf, &r, k) && strstr(log.text, "\"custody.h\"") &&
	       memchr(cef.text, '\n', cef.len) == cef.text + cef.len - 1;
}

static void DOOR_9_every_kind_is_exported_with_seq_and_hash(void)
{
	const struct export_kind *k = export_kinds;

	for (;; k++) {
		CHECK(exports_everywhere(k, "ok"));
		CHECK(exports_everywhere(k, "denied"));
		CHECK(exports_everywhere(k, "some status"));
		if (!k->kind)
			break;
	}
	CHECK(k - export_kinds > 40);
}

static void a_failed_record_is_never_less_severe(void)
{
	for (const struct export_kind *k = export_kinds;; k++) {
		CHECK(k->done >= SEVERITY_INFO && k->failed >= k->done && k->failed <= SEVERITY_CRITICAL);
		CHECK((k->entity != NULL) == (k->class == CLASS_ENTITY));
		if (!k->kind)
			break;
	}
}

static char *cef_of(const char *why)
{
	_cleanup_strbuf_ struct strbuf line = { 0 }, d = { 0 }, out = { 0 };
	struct sample s = { .kind = "session.refused", .status = "denied" };
	struct digest head = { 0 };
	const char *reason;
	struct record r;

	strbuf_puts(&d, "{\"why\":");
	jdoc_quote(&d, why);
	strbuf_puts(&d, "}");
	s.d = d.text;
	if (!put_sample(&line, &s, 0, &head) || record_parse(line.text, line.len, &r, &reason) < 0)
		return NULL;
	export_record(EXPORT_CEF, &r, &out);
	return strbuf_take(&out);
}

static void a_long_field_of_cef_is_cut_between_characters(void)
{
	_cleanup_free_ char *out = NULL;
	char text[5000];
	const char *at, *cut;

	/* 3999 bytes, then characters of two bytes. */
	memset(text, 'a', 3999);
	for (size_t i = 3999; i + 1 < sizeof(text) - 1; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[4999] = '\0';
	out = cef_of(text);
	CHECK(out && (at = strstr(out, " reason=")) && (cut = strstr(at, "[+1000 bytes] ")));
	CHECK(cut - at - 8 == 3999 && str_is_utf8(out, strlen(out)));
}

static void cef_fields_cannot_be_forged(void)
{
	_cleanup_free_ char *out = cef_of("x\nCEF:0|a|b|1|forged|f|10| act=forged\\");

	CHECK(out && strstr(out, "reason=x\\nCEF:0|a|b|1|forged|f|10| act\\=forged\\\\ "));
	CHECK(strchr(out, '\n') == out + strlen(out) - 1);
}

/* Readers exist that end a line at these: NEL, other C1 controls, U+2028 and U+2029. */
static void a_line_of_cef_has_no_other_line_end(void)
{
	_cleanup_free_ char *out = cef_of("a\xc2\x85"
					  "b\xc2\x9b"
					  "c\xe2\x80\xa8"
					  "d\xe2\x80\xa9"
					  "e\xc2\xa0\xe2\x80\xa7");

	CHECK(out && strstr(out, "reason=a b c d e\xc2\xa0\xe2\x80\xa7 "));
	CHECK(!strstr(out, "\xc2\x85") && !strstr(out, "\xc2\x9b") && !strstr(out, "\xe2\x80\xa8") &&
	      !strstr(out, "\xe2\x80\xa9"));
}

/* Record AT differs in one byte: only the records before it are exported. */
static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static void nothing_is_exported_from_a_changed_record_on(void)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 }, whole = { 0 };
	struct export_result result;

	CHECK(put_samples(&lines) && export_bytes(lines.text, lines.len, EXPORT_CEF, 0, &whole, &result));
	for (size_t i = 0; i < lines.len; i += tap_stride()) {
		_cleanup_strbuf_ struct strbuf out = { 0 };
		const size_t seq = count_lines(lines.text, i);
		char was = lines.text[i];

		lines.text[i] = (char)(was ^ 1);
		CHECK(export_bytes(lines.text, lines.len, EXPORT_CEF, 0, &out, &result));
		CHECK(result.why && result.exported <= seq && result.next <= seq);
		CHECK(out.len < whole.len && (out.len == 0 || memcmp(out.text, whole.text, out.len) == 0));
		lines.text[i] = was;
	}
}

static void missing_records_end_the_export(void)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 }, out = { 0 };
	struct export_result result;
	const char *second, *third;

	CHECK(put_samples(&lines));
	second = strchr(lines.text, '\n') + 1;
	third = strchr(second, '\n') + 1;
	CHECK(export_bytes(second, lines.len - (size_t)(second - lines.text), EXPORT_OCSF, 0, &out, &result));
	CHECK(result.why && result.exported == 0 && out.len == 0);
	/* From there on the rest is complete. */
	CHECK(export_bytes(second, lines.len - (size_t)(second - lines.text), EXPORT_OCSF, 1, &out, &result));
	CHECK(!result.why && result.exported == ARRAY_SIZE(samples) - 1);
	memmove(lines.text + (second - lines.text), third, lines.len - (size_t)(third - lines.text));
	lines.len -= (size_t)(third - second);
	CHECK(export_bytes(lines.text, lines.len, EXPORT_OCSF, 0, &out, &result));
	CHECK(result.why && result.exported == 1 && result.next == 1);
	/* Half a line at the end. */
	CHECK(export_bytes(lines.text, (size_t)(second - lines.text) - 5, EXPORT_OCSF, 0, &out, &result));
	CHECK(result.why && result.exported == 0);
}

static bool export_live(const struct place *p, uint64_t from, struct strbuf *out, struct export_result *ret)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };

	return ledger_reader_open_live(p->state, &s, NULL) == 0 &&
	       ledger_export(&s,
			     &(struct export_options){
				     .format = EXPORT_JSONL, .from = from, .put = keep, .arg = out },
			     ret, NULL) == 0;
}

static void a_live_ledger_is_exported_in_parts_that_fit(void)
{
	const struct ledger_options o = { .segment_max = 4096 };
	_cleanup_strbuf_ struct strbuf whole = { 0 }, parts = { 0 };
	_cleanup_place_ struct place p;
	struct export_result result;
	size_t at = 0;

	CHECK(place_make(&p) && fill(&p, 100, &o, NULL) && export_live(&p, 0, &whole, &result));
	CHECK(!result.why && result.exported >= 100 && result.exported == result.next);
	for (uint64_t seq = 0; seq < result.next; seq++) {
		struct export_result one;

		parts.len = 0;
		CHECK(export_live(&p, seq, &parts, &one) && !one.why);
		CHECK(one.exported == result.next - seq && parts.len == whole.len - at &&
		      memcmp(parts.text, whole.text + at, parts.len) == 0);
		at += (size_t)(strchr(whole.text + at, '\n') + 1 - (whole.text + at));
	}
	/* Behind the end no record exists yet. */
	CHECK(export_live(&p, result.next + 5, &parts, &result) && !result.why && result.exported == 0);
}

static void a_live_ledger_that_is_shorter_than_its_seal_is_broken(void)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_place_ struct place p;
	struct export_result result;
	size_t len, cut;

	CHECK(place_make(&p) && fill(&p, 5, NULL, NULL) && (text = slurp(&p, FIRST_SEGMENT, &len)));
	cut = len - 1;
	while (text[cut - 1] != '\n')
		cut--;
	CHECK(spit(&p, FIRST_SEGMENT, text, cut) && export_live(&p, 0, &out, &result));
	CHECK(result.why && strstr(result.why, "seal") && result.exported == 4 && result.next == 4);
}

/* Each line is whole, but it does not continue the chain. */
static void a_record_with_another_seq_or_prev_is_not_exported(void)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 }, out = { 0 };
	struct digest head = { 0 }, other = { { 1 } };
	struct export_result result;
	size_t len;

	CHECK(put_sample(&lines, &samples[0], 0, &head));
	len = lines.len;
	CHECK(put_sample(&lines, &samples[1], 1, &other));
	CHECK(export_bytes(lines.text, lines.len, EXPORT_CEF, 0, &out, &result));
	CHECK(result.exported == 1 && result.why && strstr(result.why, "prev"));
	lines.len = len;
	CHECK(put_sample(&lines, &samples[1], 2, &head));
	CHECK(export_bytes(lines.text, lines.len, EXPORT_CEF, 0, &out, &result));
	CHECK(result.exported == 1 && result.why && strstr(result.why, "seq"));
}

/* The last record is replaced, its hash and prev hold. */
static void a_rewritten_end_differs_from_the_seal(void)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 }, out = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_place_ struct place p;
	struct export_result result;
	struct digest head;
	struct record r;
	const char *why;
	size_t len, cut;

	CHECK(place_make(&p) && fill(&p, 5, NULL, NULL) && (text = slurp(&p, FIRST_SEGMENT, &len)));
	cut = len - 1;
	while (text[cut - 1] != '\n')
		cut--;
	CHECK(record_parse(text + cut, len - cut, &r, &why) == 0);
	record_prev(&r, &head);
	strbuf_add(&lines, text, cut);
	CHECK(put_sample(&lines, &samples[1], 4, &head) && spit(&p, FIRST_SEGMENT, lines.text, lines.len));
	CHECK(export_live(&p, 0, &out, &result) && result.exported == 4 && result.why &&
	      strstr(result.why, "sealed"));
}

static int refuse(void *arg, const char *text, size_t len, struct fault *f)
{
	(void)arg;
	(void)text;
	(void)len;
	return fault_set(f, ENOSPC, "full");
}

static void a_failed_write_ends_the_export(void)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_place_ struct place p;
	struct export_result result;

	CHECK(place_make(&p) && fill(&p, 3, NULL, NULL) && ledger_reader_open_live(p.state, &s, NULL) == 0);
	CHECK(ledger_export(&s, &(struct export_options){ .format = EXPORT_CEF, .put = refuse }, &result,
			    &f) == -ENOSPC);
}

TAP_MAIN(T(DOOR_9_the_lines_of_each_format_are_those_of_the_golden_files),
	 T(DOOR_9_every_kind_is_exported_with_seq_and_hash), T(a_failed_record_is_never_less_severe),
	 T(a_long_field_of_cef_is_cut_between_characters), T(cef_fields_cannot_be_forged),
	 T(a_line_of_cef_has_no_other_line_end), T(nothing_is_exported_from_a_changed_record_on),
	 T(missing_records_end_the_export), T(a_live_ledger_is_exported_in_parts_that_fit),
	 T(a_live_ledger_that_is_shorter_than_its_seal_is_broken),
	 T(a_record_with_another_seq_or_prev_is_not_exported), T(a_rewritten_end_differs_from_the_seal),
	 T(a_failed_write_ends_the_export))
