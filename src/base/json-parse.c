/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/json-text.h"
#include "base/json-tree.h"
#include "base/json.h"

/*
 * yajl splits the text into tokens and checks the grammar; this file builds the tree and applies the other
 * restrictions of the header. Positions are computed here: yajl reports where a token ends, and a token
 * starts after the blanks, comments, commas and colons that follow the previous one.
 */
struct reader {
	struct jdoc_text t;
	yajl_handle yajl;
	struct jdoc_context c;
	struct jdoc *root;
	struct jdoc *open[JDOC_DEPTH_MAX];
	unsigned int depth, depth_max;
	bool wide;
	size_t n_values;
	int r; /* set by the callback that stopped yajl */
	struct fault *f;
};

/* Return value of a callback: yajl stops on 0. */
#define GO_ON 1
#define STOP 0

static int stop(struct reader *rd, int r)
{
	rd->r = r;
	return STOP;
}

static struct jdoc *container(const struct reader *rd)
{
	return rd->depth ? rd->open[rd->depth - 1] : NULL;
}

/* Start of the token that yajl just reported. */
static struct jdoc_place token_start(const struct reader *rd)
{
	struct jdoc_place p = rd->c.at;

	jdoc_place_skip(&rd->t, &p);
	while (p.offset < rd->t.len && (rd->t.bytes[p.offset] == ',' || rd->t.bytes[p.offset] == ':')) {
		jdoc_place_move(&rd->t, &p, p.offset + 1);
		jdoc_place_skip(&rd->t, &p);
	}
	return p;
}

static void token_done(struct reader *rd, const struct jdoc_place *start, size_t end, int last)
{
	const struct jdoc *in;

	rd->c.at = *start;
	jdoc_place_move(&rd->t, &rd->c.at, end);
	rd->c.last = last;
	in = container(rd);
	rd->c.inside = '\0';
	if (in) {
		rd->c.inside = in->type == JDOC_ARRAY ? '[' : '{';
		rd->c.line = in->line;
		rd->c.column = in->column;
	}
}

/* Adds VALUE, which is owned from the call on, to the open container. */
static int add(struct reader *rd, const struct jdoc_place *start, struct jdoc *value)
{
	_cleanup_jdoc_ struct jdoc *owned = value;
	struct jdoc *in = container(rd);

	if (!owned || owned->broken)
		return stop(rd, fault_errno(rd->f, ENOMEM, "%s", rd->t.label));
	if (++rd->n_values > JDOC_VALUES_MAX)
		return stop(rd, jdoc_refuse(&rd->t, start, rd->f, "more than %zu values", JDOC_VALUES_MAX));
	owned->origin = rd->t.label;
	owned->line = start->line;
	owned->column = start->column;
	if (!in) {
		rd->root = TAKE_PTR(owned);
	} else if (in->type == JDOC_OBJECT) {
		in->members[in->n_members - 1].value = TAKE_PTR(owned);
	} else {
		if (!jdoc_grow_items(in))
			return stop(rd, fault_errno(rd->f, ENOMEM, "%s", rd->t.label));
		in->items[in->n_items++] = TAKE_PTR(owned);
	}
	return GO_ON;
}

static int add_scalar(struct reader *rd, struct jdoc *value)
{
	struct jdoc_place start = token_start(rd);

	if (add(rd, &start, value) == STOP)
		return STOP;
	token_done(rd, &start, yajl_get_bytes_consumed(rd->yajl), JDOC_LAST_VALUE);
	return GO_ON;
}

static int on_null(void *ctx)
{
	return add_scalar(ctx, jdoc_new_null());
}

static int on_boolean(void *ctx, int value)
{
	return add_scalar(ctx, jdoc_new_bool(value));
}

/* NULL unless TEXT is a number that this reader allows. */
static struct jdoc *read_number(const struct reader *rd, const char *text)
{
	struct jdoc *d = NULL;
	uint64_t wide;
	int64_t value;

	if (str_to_i64(text, &value) == 0)
		return jdoc_new_int(value);
	if (rd->wide && str_to_u64(text, &wide) == 0)
		d = jdoc_new_int((int64_t)wide);
	if (d)
		d->wide = true;
	return d;
}

static int on_number(void *ctx, const char *digits, size_t len)
{
	char text[sizeof("-9223372036854775808")];
	struct reader *rd = ctx;
	struct jdoc_place start = token_start(rd);
	struct jdoc *value = NULL;

	for (size_t i = 0; i < len; i++)
		if (digits[i] != '-' && (digits[i] < '0' || digits[i] > '9'))
			return stop(rd,
				    jdoc_refuse(&rd->t, &start, rd->f, "number '%.*s': whole numbers only",
						len > 32 ? 32 : (int)len, digits));
	/* JSON has no leading zeros, so a longer number is larger. */
	if (len < sizeof(text)) {
		memcpy(text, digits, len);
		text[len] = '\0';
		value = read_number(rd, text);
	}
	if (!value)
		return stop(rd, jdoc_refuse(&rd->t, &start, rd->f, "number '%.*s' does not fit 64 bits",
					    len > 32 ? 32 : (int)len, digits));
	if (add(rd, &start, value) == STOP)
		return STOP;
	/*
	 * Not from yajl: it reports a number at the end of the text only after the line feed that is added.
	 */
	token_done(rd, &start, start.offset + len, JDOC_LAST_VALUE);
	return GO_ON;
}

/* The string token that yajl reports now, as a heap text. */
static int take_string(struct reader *rd, const struct jdoc_place *start, const unsigned char *bytes,
		       size_t len, char **ret)
{
	int r;

	r = jdoc_check_escapes(&rd->t, start, yajl_get_bytes_consumed(rd->yajl), rd->f);
	if (r < 0)
		return r;
	*ret = strndup((const char *)bytes, len);
	if (!*ret)
		return fault_errno(rd->f, ENOMEM, "%s", rd->t.label);
	return 0;
}

static int on_string(void *ctx, const unsigned char *bytes, size_t len)
{
	_cleanup_free_ char *text = NULL;
	struct reader *rd = ctx;
	struct jdoc_place start = token_start(rd);
	struct jdoc *value;
	int r;

	r = take_string(rd, &start, bytes, len, &text);
	if (r < 0)
		return stop(rd, r);
	value = calloc(1, sizeof(*value));
	if (value)
		*value = (struct jdoc){ .type = JDOC_STRING, .string = TAKE_PTR(text) };
	return add_scalar(rd, value);
}

static int on_key(void *ctx, const unsigned char *bytes, size_t len)
{
	_cleanup_free_ char *key = NULL;
	struct reader *rd = ctx;
	struct jdoc_place start = token_start(rd);
	struct jdoc *in = container(rd);
	int r;

	r = take_string(rd, &start, bytes, len, &key);
	if (r < 0)
		return stop(rd, r);
	if (!jdoc_grow_members(in))
		return stop(rd, fault_errno(rd->f, ENOMEM, "%s", rd->t.label));
	in->members[in->n_members++] = (struct jdoc_member){
		.key = TAKE_PTR(key),
		.line = start.line,
		.column = start.column,
	};
	token_done(rd, &start, yajl_get_bytes_consumed(rd->yajl), JDOC_LAST_KEY);
	return GO_ON;
}

static int open_container(struct reader *rd, struct jdoc *value)
{
	struct jdoc_place start = token_start(rd);

	if (rd->depth >= rd->depth_max) {
		jdoc_free(value);
		return stop(rd, jdoc_refuse(&rd->t, &start, rd->f, "nested more than %u levels deep",
					    rd->depth_max));
	}
	if (add(rd, &start, value) == STOP)
		return STOP;
	rd->open[rd->depth++] = value;
	token_done(rd, &start, yajl_get_bytes_consumed(rd->yajl), JDOC_LAST_OPEN);
	return GO_ON;
}

static int close_container(struct reader *rd)
{
	struct jdoc_place start = token_start(rd);

	rd->depth--;
	token_done(rd, &start, yajl_get_bytes_consumed(rd->yajl), JDOC_LAST_VALUE);
	return GO_ON;
}

static int on_map(void *ctx)
{
	return open_container(ctx, jdoc_new_object());
}

static int on_array(void *ctx)
{
	return open_container(ctx, jdoc_new_array());
}

static bool is_before(const struct jdoc_member *a, const struct jdoc_member *b)
{
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

static int compare_members(const void *a, const void *b)
{
	const struct jdoc_member *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	return is_before(x, y) ? -1 : is_before(y, x);
}

/* Sorting finds duplicates in O(n log n), however many keys the input has. */
static int on_map_end(void *ctx)
{
	struct reader *rd = ctx;
	struct jdoc *object = container(rd);
	const struct jdoc_member *m = object->members, *first = NULL, *again = NULL;

	if (object->n_members > 1)
		qsort(object->members, object->n_members, sizeof(*m), compare_members);
	for (size_t i = 1; i < object->n_members; i++)
		if (strcmp(m[i - 1].key, m[i].key) == 0 && (!again || is_before(m + i, again))) {
			first = m + i - 1;
			again = m + i;
		}
	if (again) {
		const struct jdoc_place p = { .line = again->line, .column = again->column };

		return stop(rd, jdoc_refuse(&rd->t, &p, rd->f, "key '%.64s' again, it is already at %u:%u",
					    again->key, first->line, first->column));
	}
	return close_container(rd);
}

static int on_array_end(void *ctx)
{
	return close_container(ctx);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

/*
 * Bytes that must not occur in the text. yajl's own check of UTF-8 accepts overlong forms and checks strings
 * only.
 */
static int check_bytes(const struct jdoc_text *t, struct fault *f)
{
	struct jdoc_place p = JDOC_PLACE_START;
	size_t at = 0;

	if (t->len >= 3 && memcmp(t->bytes, "\xef\xbb\xbf", 3) == 0)
		return jdoc_refuse(t, &p, f, "text starts with a byte order mark: save it as UTF-8 without");
	while (at < t->len) {
		size_t step = str_ascii_len(t->bytes + at, t->len - at);

		at += step;
		if (at == t->len)
			break;
		step = t->bytes[at] ? str_utf8_step(t->bytes + at, t->len - at) : 0;

		if (step == 0) {
			jdoc_place_move(t, &p, at);
			return jdoc_refuse(t, &p, f, "byte 0x%02x: text must be UTF-8 without NUL",
					   (unsigned char)t->bytes[at]);
		}
		at += step;
	}
	return 0;
}

/* Is everything closed, with only blanks and comments left? Checked here in addition to yajl. */
static bool is_complete(const struct reader *rd)
{
	struct jdoc_place p = rd->c.at;

	jdoc_place_skip(&rd->t, &p);
	return rd->root && rd->depth == 0 && p.offset == rd->t.len;
}

static int run(struct reader *rd)
{
	yajl_status status;

	status = yajl_parse(rd->yajl, (const unsigned char *)rd->t.bytes, rd->t.len);
	/* Terminates a number or a // comment at the end of the text. */
	if (status == yajl_status_ok)
		status = yajl_parse(rd->yajl, (const unsigned char *)"\n", 1);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(rd->yajl);
	if (status == yajl_status_client_canceled)
		return rd->r;
	if (status == yajl_status_ok && is_complete(rd))
		return 0;
	rd->r = -EINVAL;
	if (!jdoc_explain(&rd->t, &rd->c, rd->f))
		return jdoc_refuse(&rd->t, &rd->c.at, rd->f, "not valid JSON from here");
	return rd->r;
}

int jdoc_parse(const char *text, size_t len, const char *label, const struct jdoc_limits *limits,
	       struct jdoc **ret, struct fault *f)
{
	const struct jdoc_limits l = limits ? *limits : (struct jdoc_limits){ 0 };
	struct reader rd = {
		.t = { .bytes = text, .len = len, .label = label, .comments = l.comments },
		.c = { .at = JDOC_PLACE_START },
		.depth_max = l.depth_max && l.depth_max < JDOC_DEPTH_MAX ? l.depth_max : JDOC_DEPTH_MAX,
		.wide = l.wide,
		.f = f,
	};
	size_t size_max = l.size_max && l.size_max < JDOC_SIZE_MAX ? l.size_max : JDOC_SIZE_MAX;
	int r;

	if (len > size_max)
		return fault_set(f, EFBIG, "%s: over %zu bytes", label, size_max);
	r = check_bytes(&rd.t, f);
	if (r < 0)
		return r;
	rd.yajl = yajl_alloc(&callbacks, NULL, &rd);
	if (!rd.yajl)
		return fault_errno(f, ENOMEM, "%s", label);
	(void)yajl_config(rd.yajl, yajl_allow_comments, (int)l.comments);
	r = run(&rd);
	yajl_free(rd.yajl);
	if (r < 0) {
		jdoc_free(rd.root);
		return r;
	}
	*ret = rd.root;
	return 0;
}
